"""What was done, in one short line: how an episode tells a call, and how a later call is known to be the same. Pure.

A shell call is its command without what only surrounds it: a change of folder before it, a cut of its output behind it.
Any other call is its tool and its file. Absolute paths keep their end: they are the same in another checkout, and no
episode tells where somebody's home is. Both sides are reduced alike, so that equal lines mean equal acts.
"""

import re

LONGEST = 100
SHELL = "shell"
ELLIPSIS = "…"

_BEFORE = re.compile(r"^\s*(?:cd|pushd)\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\S+)\s*(?:&&|;)\s*")
_BEHIND = re.compile(r"\s*(?:\|&?\s*(?:tail|head|cat|less)\b[^|;&\n]*|2>&1|[12]?>\s*/dev/null|\|\|\s*true)\s*$")
_ABSOLUTE = re.compile(r"(?<![\w./~:-])(?:~|/[\w.@+-]+)(?:/[\w.@+-]+)+")
_OF_SYSTEMS = """
EACCES EADDRINUSE EADDRNOTAVAIL EAI_AGAIN EBUSY ECONNABORTED ECONNREFUSED ECONNRESET EEXIST EHOSTUNREACH EINVAL EISDIR
ELOOP EMFILE ENAMETOOLONG ENETUNREACH ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY ENOTFOUND EPERM EPIPE EROFS ETIMEDOUT EXDEV
"""
_SORT = re.compile(
    rf"\b(?:[A-Z]\w{{0,60}}(?:Error|Exception|Warning|Panic|Fault|Failure)|{'|'.join(_OF_SYSTEMS.split())})\b", re.ASCII
)
_LOOKS = """
awk cat cd cut date diff echo egrep export fd fgrep file find grep head help jq less ls man printf ps pwd rg set sleep
sort source stat tail test tree true type uniq wc which
"""
_ONLY_LOOKS = frozenset((*_LOOKS.split(), "read", "search", "web"))  # programs, and tools
_LOOKING = re.compile(
    r"git (?:-[cC] \S+ |-\S+ )*(?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files|grep)\b"
    r"|go (?:doc|list|env)\b|(?:npm|pnpm|yarn) (?:view|info|ls|list|outdated)\b|pip3? (?:show|list|freeze)\b"
)
_GENERAL = re.compile(
    r"(?:(?:npx|pnpm|yarn|bunx?|uv run|poetry run|hatch run|python3? -m)\s+)?"
    r"(?:pytest|py\.test|unittest|jest|vitest|mocha|tox|nox|rspec|phpunit|tsc|mypy|ruff|eslint|prettier|flake8|pylint"
    r"|pyright|black|golangci-lint|go (?:test|build|vet|run)|cargo (?:test|build|check|clippy|fmt|run)"
    r"|(?:npm|pnpm|yarn|bun|make|just|task|mise|poe|invoke|hatch|rake|composer|mix|sbt)(?: run)?"
    r" (?:tests?|check|build|lint|fmt|format|typecheck|ci|all|start|dev|compile|verify)"
    r"|(?:mvn|gradle|\./gradlew|dotnet)\b.{0,20}\b(?:test|build|check)|make(?=\s*$)|python3?|node|bash|sh"
    r"|git (?:commit|push|pull|merge|rebase|checkout|apply|add))(?=\s|$)"
)

_EDITS = re.compile(
    r"(?:edit|write|sed -i|perl -p?i|patch|python3? -|git (?:add|commit|stash|reset|checkout|apply))(?![\w.])"
)


def act_of(tool: str, args: str, path: str | None = None) -> str:
    """The act of a call; empty when nothing of it can be told in a line. `args`: of a shell call its command."""
    if tool != SHELL:
        return _cut(f"{tool} {_ends(path)}") if tool and path else ""
    lines = [line.strip() for line in args.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) > 1 and any("<<" in line for line in lines):  # a document in place: its first line says nothing
        return ""
    line = "; ".join(lines).replace("`", "'")
    while (shorter := _BEFORE.sub("", line, count=1)) != line:
        line = shorter
    while (shorter := _BEHIND.sub("", line)) != line:
        line = shorter
    return _cut(_ends(" ".join(line.split())))


def file_of(path: str) -> str:
    """A file as an episode names it: an absolute path keeps its end."""
    return _ends(path)


def only_looks(act: str) -> bool:
    """Whether an act changes nothing and checks nothing: that it failed is no event, and that it was run no remedy."""
    first = act.partition(" ")[0].rpartition("/")[2]
    return first in _ONLY_LOOKS or act.startswith("sed -n ") or _LOOKING.match(act) is not None


def is_general(act: str) -> bool:
    """Whether an act fails for all sorts of reasons in every project: a test run, a type check, a build."""
    return _GENERAL.match(act) is not None


def is_edit(act: str) -> bool:
    """Whether an act changes text, and so mends one cause: it helps nobody whose cause is another."""
    return _EDITS.match(act) is not None


def sorts_of_error(text: str) -> tuple[str, ...]:
    """Classes of errors that a text names, as they are written, each once."""
    return tuple(dict.fromkeys(_SORT.findall(text)))


def _ends(text: str | None) -> str:
    return _ABSOLUTE.sub(lambda found: _end(found[0]), text or "")


def _end(path: str) -> str:
    parts = [part for part in path.split("/") if part and part != "~"]
    return path if len(parts) < 3 and not path.startswith("~") else f"{ELLIPSIS}/{'/'.join(parts[-2:])}"


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}{ELLIPSIS}"
