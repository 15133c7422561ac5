"""Files that agent products keep themselves (M-06): which they are, and what of them a product loads by itself. Pure.

A text that a product puts into every context needs no injection, so what is loaded is not given (`already-in-context`).
Where a product's rule depends on settings that we do not see, the text counts as loaded: a reminder that is left out
costs less than one that is said twice.
"""

import re
from collections.abc import Mapping, Sequence

from recall.contracts import Frozen
from recall.legacy import ALWAYS

HOSTS = frozenset({"claude-code", "codex", "gemini-cli", "cursor", "opencode"})  # whose rules are known here
OTHERS = "*"  # a product that is not known here may load any of these files
CODEX_BYTES = 32 * 1024  # of the whole chain of AGENTS.md files; of one file at most as much
MEMORY_LINES, MEMORY_BYTES = 200, 25 * 1024  # of Claude Code's MEMORY.md
MOST_IMPORTS = 16
MEMORY_INDEX = "MEMORY.md"

_IMPORT = re.compile(r"(?:^|(?<=[ \t(]))@((?:\./)?[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*\.md)\b", re.MULTILINE)
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


class Provider(Frozen, frozen=True, kw_only=True):
    """A kind of file, and who loads it.

    `names`: of single files in the repository's top folder, the session's and those between; `folders`: of folders of
    them, at the top. Hosts that load all of it are in `whole`; those that load its beginning, up to a byte, in `start`;
    those that load it when its front matter says so (`alwaysApply`) in `always`, and when that names no paths in
    `without_paths`.
    """

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    start: Mapping[str, int] = {}
    always: tuple[str, ...] = ()
    without_paths: tuple[str, ...] = ()


PROVIDERS: Mapping[str, Provider] = {
    "claude-md": Provider(
        names=("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
        whole=("claude-code", "cursor", "opencode"),  # the last two where there is no AGENTS.md
    ),
    "claude-rules": Provider(folders=(".claude/rules",), without_paths=("claude-code",)),
    "claude-memory": Provider(),  # below the home folder: MEMORY.md from the start, the topic files when asked for
    "agents-md": Provider(
        names=("AGENTS.md", "AGENTS.override.md"),
        whole=("cursor", "opencode"),
        start={"codex": CODEX_BYTES},
    ),
    "gemini-md": Provider(names=("GEMINI.md",), whole=("gemini-cli",)),
    "cursor-rules": Provider(folders=(".cursor/rules",), always=("cursor",)),
    "cursorrules": Provider(names=(".cursorrules",), whole=("cursor",)),
    "copilot": Provider(names=(".github/copilot-instructions.md",)),  # its product is not known here
    "memory-md": Provider(names=("MEMORY.md",)),  # a repository's own: no known product loads it
}


def loaded_by(provider: str, relative: str, line: int, byte: int, tags: Sequence[str] = ()) -> tuple[str, ...]:
    """The hosts whose every context holds what stands at that line (1-based) and byte of a provider's file.

    `provider`: one name of the table or, of a file with two names, several with spaces between; empty for a file that
    is no product's. What begins inside a limit counts as loaded, though its end may be cut off.
    """
    hosts = {OTHERS} if provider else set()
    for name in provider.split():
        kind = PROVIDERS.get(name)
        if kind is None:  # of another version of this table: anybody may load it
            return tuple(sorted(HOSTS | {OTHERS}))
        hosts.update(kind.whole)
        hosts.update(host for host, most in kind.start.items() if byte < most)
        hosts.update(kind.always if ALWAYS in tags else ())
        hosts.update(kind.without_paths if set(tags) <= {ALWAYS} else ())
        if name == "claude-memory" and relative == MEMORY_INDEX and line <= MEMORY_LINES and byte < MEMORY_BYTES:
            hosts.add("claude-code")
    return tuple(sorted(hosts))


def held_by(host: str, loaded: Sequence[str]) -> bool:
    """Whether a session of that host has the text in every context: so has, for all we know, one of a host that is not
    known here. An empty host is nobody's context: a person's search."""
    return host in loaded or (host != "" and host not in HOSTS and bool(loaded))


def imports(text: str) -> tuple[str, ...]:
    """The files that a CLAUDE.md takes in by `@name.md`, relative to its folder: Claude Code loads them with it."""
    if "@" not in text:
        return ()
    found = (match[1].removeprefix("./") for match in _IMPORT.finditer(_FENCED.sub("", text)))
    return tuple(dict.fromkeys(found))[:MOST_IMPORTS]


def slug(path: str) -> str:
    """A project's folder name below Claude Code's `projects`: every character that is no ASCII letter or digit is a
    dash, as many as it has UTF-16 units."""
    return "".join(
        character if character.isascii() and character.isalnum() else "-" * (1 + (ord(character) > 0xFFFF))
        for character in path
    )
