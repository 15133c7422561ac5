"""What well-known programs print of the files that they are given, as far as their arguments tell (pure).

A program is one function: its arguments in, what it is given to print and how out. What changes its lines, counts them
or sorts them is not here, nor is any option that does. Whoever wonders about one more program adds it to PROGRAMS.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from host.reads.sed import awk_script, sed_script
from recall.contracts import Filter, FilterKind, Frozen, PrintForm

Filters = tuple[Filter, ...]
_AWK_NUMBERED = re.compile(r"""(?:[\w\s<>=&]*)\{\s*print\s+F?NR\s*"[:\-\t](?: |)"\s*\$0\s*;?\s*\}""")
_NUMBER = re.compile(r"[+-]?\d+")


class Use(Frozen, frozen=True, kw_only=True):
    """What a program makes of its files, or of what a pipe feeds it.

    `ways`: one piece of output each, one after another. `apart`: each file for itself; else all as one stream.
    """

    paths: tuple[str, ...]
    ways: tuple[Filters, ...] = ((),)
    form: PrintForm = PrintForm.PLAIN
    apart: bool = False


def use(name: str, arguments: Sequence[str]) -> Use | None:
    """What a program prints with these arguments; None when it is not known, or prints no lines of its files."""
    program = PROGRAMS.get(name)
    return program(arguments) if program is not None else None


# ------------------------------------------------------------------------------------------------------------ options


class _Given:
    """Arguments taken apart: options with their values, and operands."""

    def __init__(self, options: list[tuple[str, str]], operands: list[str]) -> None:
        self.options = options
        self.operands = tuple(operands)

    def only(self, *names: str) -> bool:
        """Whether no other options are there."""
        return all(name in names for name, _ in self.options)

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def last(self, *names: str) -> str | None:
        return next((value for name, value in reversed(self.options) if name in names), None)

    def every(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names]


def _given(arguments: Iterable[str], valued: Iterable[str] = ()) -> _Given:
    """`valued`: options that take a value, in the same word or the next."""
    takes = frozenset(valued)
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    waiting, ended = "", False
    for argument in arguments:
        if waiting:
            options.append((waiting, argument))
            waiting = ""
        elif ended or argument == "-" or not argument.startswith("-"):
            operands.append(argument)
        elif argument == "--":
            ended = True
        elif argument.startswith("--"):
            name, equals, value = argument.partition("=")
            waiting = name if name in takes and not equals else ""
            options += [] if waiting else [(name, value)]
        else:
            waiting = _letters(argument, takes, options)
    return _Given(options, operands)


def _letters(argument: str, takes: frozenset[str], options: list[tuple[str, str]]) -> str:
    """The options of one word, `-rn` or `-A2`; the name of one that waits for its value, or nothing."""
    for place in range(1, len(argument)):
        name = f"-{argument[place]}"
        if name in takes:
            if place + 1 < len(argument):
                options.append((name, argument[place + 1 :]))
                return ""
            return name
        options.append((name, ""))
    return ""


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and len(text) < 10 and _NUMBER.fullmatch(text) else None


def _cut(kind: FilterKind, first: int = 1, last: int | None = None) -> Filters:
    return (Filter(kind=kind, first=first, last=last),)


# ----------------------------------------------------------------------------------------------------------- programs


def _cat(arguments: Sequence[str]) -> Use | None:
    given = _given(arguments)
    if not given.only("-u", "-n", "--number", "-b", "--number-nonblank"):
        return None
    filled = _cut(FilterKind.NUMBER_FILLED) if given.has("-b", "--number-nonblank") else ()
    numbered = _cut(FilterKind.NUMBER) if given.has("-n", "--number") else ()
    return Use(paths=given.operands, ways=(filled or numbered,))


def _pager(arguments: Sequence[str]) -> Use | None:
    """`less` and `more` without a terminal: they print."""
    given = _given(arguments)
    return Use(paths=given.operands) if given.only("-F", "-R", "-X", "-S", "-r", "-E") else None


def _bat(arguments: Sequence[str]) -> Use | None:
    given = _given(arguments, ("-r", "--line-range", "-l", "--language", "--style", "--color", "--paging"))
    plain = ("-p", "-P", "--plain", "--style", "--color", "--paging", "-l", "--language", "-r", "--line-range")
    bounds = (given.last("-r", "--line-range") or "").partition(":")
    if not given.only(*plain):
        return None
    if not given.has("-r", "--line-range"):
        return Use(paths=given.operands)
    first, last = _number(bounds[0] or "1"), _number(bounds[2]) if bounds[2] else None
    if first is None or first < 1 or (bounds[2] and (last is None or bounds[2].startswith(("+", "-")))):
        return None
    last = first if not bounds[1] else last
    return Use(paths=given.operands, ways=(_cut(FilterKind.LINES, first, last),), apart=True)


def _head(arguments: Sequence[str]) -> Use | None:
    given = _given(_old_style(arguments), ("-n", "--lines", "-c", "--bytes"))
    if not given.only("-n", "--lines", "-c", "--bytes", "-q", "-v", "--quiet", "--verbose"):
        return None
    in_bytes = given.has("-c", "--bytes")
    count = _number(given.last("-c", "--bytes") if in_bytes else given.last("-n", "--lines") or "10")
    if count is None:
        return None
    kind = FilterKind.BYTES if in_bytes else FilterKind.LINES
    return Use(paths=given.operands, ways=(_cut(kind, 1, count if count >= 0 else count - 1),), apart=True)


def _tail(arguments: Sequence[str]) -> Use | None:
    given = _given(_old_style(arguments), ("-n", "--lines", "-c", "--bytes"))
    if not given.only("-n", "--lines", "-c", "--bytes", "-q", "-v", "--quiet", "--verbose"):
        return None
    in_bytes = given.has("-c", "--bytes")
    said = (given.last("-c", "--bytes") if in_bytes else given.last("-n", "--lines")) or "10"
    count = _number(said)
    if count is None:
        return None
    kind = FilterKind.BYTES if in_bytes else FilterKind.LINES
    if said.startswith("+"):
        return Use(paths=given.operands, ways=(_cut(kind, max(count, 1)),), apart=True)
    nothing = _cut(kind, 1, 0)
    return Use(paths=given.operands, ways=(_cut(kind, -abs(count)) if count else nothing,), apart=True)


def _old_style(arguments: Sequence[str]) -> list[str]:
    """`head -5 file` as `head -n 5 file`; `tail +5` likewise."""
    first = arguments[0] if arguments else ""
    if re.fullmatch(r"-\d+", first):
        return ["-n", first[1:], *arguments[1:]]
    return ["-n", first, *arguments[1:]] if re.fullmatch(r"\+\d+", first) else list(arguments)


def _nl(arguments: Sequence[str]) -> Use | None:
    given = _given(arguments, ("-b", "--body-numbering"))
    if not given.only("-b", "--body-numbering"):
        return None
    style = given.last("-b", "--body-numbering") or "t"
    kinds = {"a": FilterKind.NUMBER, "t": FilterKind.NUMBER_FILLED}
    return Use(paths=given.operands, ways=(_cut(kinds[style]),)) if style in kinds else None


def _sed(arguments: Sequence[str]) -> Use | None:
    given = _given(arguments, ("-e", "--expression"))
    if not given.only("-n", "--quiet", "--silent", "-e", "--expression", "-E", "-r", "--regexp-extended", "-s", "-u"):
        return None
    scripts, operands = given.every("-e", "--expression"), given.operands
    if not scripts:
        scripts, operands = list(operands[:1]), operands[1:]
    quiet = given.has("-n", "--quiet", "--silent")
    return _by_script(sed_script("\n".join(scripts), quiet), operands, apart=given.has("-s"))


def _awk(arguments: Sequence[str]) -> Use | None:
    given = _given(arguments)
    if given.options or not given.operands:
        return None
    if _AWK_NUMBERED.fullmatch(given.operands[0].strip()):
        return Use(paths=given.operands[1:], form=PrintForm.FOUND)
    return _by_script(awk_script(given.operands[0]), given.operands[1:])


def _by_script(ranges: Sequence[Filters] | None, paths: tuple[str, ...], apart: bool = False) -> Use | None:
    """`ranges`: what a script prints; without any, it prints some lines; None, it does something else."""
    if ranges is None:
        return None
    if not ranges:
        return Use(paths=paths, form=PrintForm.CHOSEN)
    return Use(paths=paths, ways=tuple(ranges), apart=apart)


_SEARCH_VALUED = (
    *("-e", "-f", "-m", "-A", "-B", "-C", "-d", "-D", "-g", "-t", "-T", "-j", "-M", "-E"),
    *("--regexp", "--file", "--max-count", "--after-context", "--before-context", "--context", "--glob", "--iglob"),
    *("--type", "--type-not", "--threads", "--max-columns", "--encoding", "--sort", "--sortr", "--max-depth"),
    *("--color", "--colour", "--colors", "--include", "--exclude", "--exclude-dir", "--engine", "--max-filesize"),
)
_NO_LINES = (
    *("-l", "-L", "-c", "-q", "-o", "-b", "-Z", "-z", "--files", "--files-with-matches", "--files-without-match"),
    *("--count", "--count-matches", "--quiet", "--only-matching", "--byte-offset", "--null", "--json", "--vimgrep"),
    *("--column", "--replace", "--passthru", "--stats", "--trim", "--initial-tab", "-T", "--help", "--version"),
)


def _grep(arguments: Sequence[str]) -> Use | None:
    return _search(arguments, tuple(one for one in _SEARCH_VALUED if one not in ("-E", "-g", "-t", "-T", "-j", "-M")))


def _rg(arguments: Sequence[str]) -> Use | None:
    return _search(arguments, (*_SEARCH_VALUED, "-r"))


def _search(arguments: Sequence[str], valued: Sequence[str]) -> Use | None:
    given = _given(arguments, valued)
    if any(given.has(name) for name in _NO_LINES if name not in valued) or ("-r" in valued and given.has("-r")):
        return None
    says_pattern = given.has("-e", "-f", "--regexp", "--file")
    if not (says_pattern or given.operands):
        return None
    return Use(paths=given.operands if says_pattern else given.operands[1:], form=PrintForm.FOUND)


def _git(arguments: Sequence[str]) -> Use | None:
    """`git grep` reads the files as they are; `git show` prints one of some version, that of now perhaps."""
    if arguments[:1] in (["--no-pager"], ["-P"]):
        return _git(arguments[1:])
    if len(arguments) == 2 and arguments[0] == "show" and ":" in arguments[1]:
        return Use(paths=(arguments[1].partition(":")[2],))
    used = _grep(arguments[1:]) if arguments[:1] == ["grep"] else None
    return msgspec.structs.replace(used, paths=used.paths or (".",)) if used is not None else None


PROGRAMS: Mapping[str, Callable[[Sequence[str]], Use | None]] = {
    "cat": _cat,
    "less": _pager,
    "more": _pager,
    "bat": _bat,
    "batcat": _bat,
    "head": _head,
    "tail": _tail,
    "nl": _nl,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "grep": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    "rg": _rg,
    "ripgrep": _rg,
    "ag": _rg,
    "git": _git,
}
