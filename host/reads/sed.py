"""Which lines a short script of `sed` or `awk` prints, when it changes none (pure)."""

import re
from collections.abc import Sequence

from recall.contracts import Filter, FilterKind

Filters = tuple[Filter, ...]
Ranges = Sequence[Filters]

_SOME: Ranges = ()  # some lines, which ones the script alone does not tell
_REGEX = r"/(?:[^/\\\n]|\\.)*+/I?"
_ADDRESS = rf"(?:\d{{1,9}}|\$|{_REGEX})"
_COMMAND = re.compile(
    rf"\s*(?:(?P<first>{_ADDRESS})(?:\s*,\s*(?P<last>\+\d{{1,9}}|{_ADDRESS}))?)?\s*(?P<verb>!?[pdq])\s*(?:[;\n]\s*|\Z)",
    re.DOTALL,
)
_AWK_EQUAL = re.compile(r"(?:NR|FNR)\s*==\s*(\d{1,9})(?:\s*,\s*(?:NR|FNR)\s*==\s*(\d{1,9}))?")
_AWK_BOUND = re.compile(r"(?:NR|FNR)\s*(>=?|<=?)\s*(\d{1,9})")
_AWK_PRINT = re.compile(r"\{\s*print(?:\s+\$0)?\s*;?\s*\}")


def sed_script(script: str, quiet: bool) -> Ranges | None:
    """The pieces that a sed script prints, in order; none if they are picked by their text; None for other scripts."""
    commands: list[re.Match[str]] = []
    place = 0
    while place < len(script):
        command = _COMMAND.match(script, place)
        if command is None or command.end() == place:
            return None
        commands.append(command)
        place = command.end()
    if any(command["verb"] == "q" and command["last"] for command in commands):
        return None
    return _printed(commands) if quiet else _left(commands)


def awk_script(script: str) -> Ranges | None:
    """The same for an awk program without an action, or with one that prints the line."""
    condition = _AWK_PRINT.sub("", script, count=1).strip()
    if not condition:
        return ((),) if script.strip() else None
    if equal := _AWK_EQUAL.fullmatch(condition):
        return (_lines(int(equal[1]), int(equal[2] or equal[1])),)
    bounds = [_AWK_BOUND.fullmatch(part.strip()) for part in condition.split("&&")]
    if all(bounds):
        first, last = 1, None
        for bound in bounds:
            if bound is not None and bound[1].startswith(">"):
                first = max(first, int(bound[2]) + (bound[1] == ">"))
            elif bound is not None:
                most = int(bound[2]) - (bound[1] == "<")
                last = most if last is None else min(last, most)
        return (_lines(first, last),)
    return _SOME if re.fullmatch(_REGEX, condition) else None


def _printed(commands: Sequence[re.Match[str]]) -> Ranges | None:
    """`sed -n`: what its `p` commands name. A `q` behind them changes nothing."""
    ranges: list[Filters] = []
    reached = 0
    for command in commands:
        verb, first, last = command["verb"], command["first"], command["last"]
        if verb == "q":
            if not (first or "").isdigit() or int(first) < reached:
                return None
            continue
        if verb != "p" or "/" in f"{first}{last}":
            return _SOME if verb in ("p", "!p") and not any("d" in other["verb"] for other in commands) else None
        bounds = _bounds(first, last)
        if bounds is None or 0 < bounds[0] <= reached or (ranges and bounds[0] < 0):
            return None  # pieces that overlap are printed line by line
        ranges.append(_lines(*bounds))
        reached = bounds[1] if bounds[1] is not None and bounds[1] > 0 else 1_000_000_000
    return ranges or None


def _left(commands: Sequence[re.Match[str]]) -> Ranges | None:
    """`sed`: what its `d` and `q` commands leave of the whole."""
    if not commands:
        return ((),)
    if len(commands) > 1:
        return _SOME if all("d" in command["verb"] for command in commands) else None
    verb, first, last = commands[0]["verb"], commands[0]["first"], commands[0]["last"]
    bounds = _bounds(first, last) if first and "/" not in f"{first}{last}" else None
    match verb:
        case "q" if bounds is not None and bounds[0] > 0:
            return (_lines(1, bounds[0]),)
        case "!d" if bounds is not None:
            return (_lines(*bounds),)
        case "d" if bounds is not None and bounds[0] == 1 and bounds[1] is not None:
            return (_lines(bounds[1] + 1, None),)
        case "d" if bounds is not None and bounds[1] is None and bounds[0] > 0:
            return (_lines(1, bounds[0] - 1),)
        case "d" | "!d" if first:
            return _SOME
    return None


def _bounds(first: str | None, last: str | None) -> tuple[int, int | None] | None:
    """First and last line of two addresses that are numbers; one line when there is one; all without any."""
    if first is None:
        return 1, None
    if first == "$":
        return (-1, None) if last is None else None
    start = int(first)
    if start < 1:
        return None
    if last is None:
        return start, start
    if last == "$":
        return start, None
    end = start + int(last) if last.startswith("+") else int(last)
    return start, max(start, end)


def _lines(first: int, last: int | None) -> Filters:
    return (Filter(kind=FilterKind.LINES, first=first, last=last),)
