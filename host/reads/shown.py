"""N-08: what a command printed, compared with the files it was to print: which bytes of which were shown (pure).

The files are those of now. What they would print must stand in the output, in the order of the command; else they
changed since, and nothing is said about them (invariant 4). White space at either end of an output may be missing:
hosts trim there. Where a host or the log left out the middle, what stands on either side of the gap counts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from host.reads.searches import found_lines
from host.reads.streams import BOM, Redact, Unit, ended, piped, units
from recall.contracts import Frozen, PrintForm, Printing

Span = tuple[int, int]


class File(Frozen, frozen=True):
    """A file as it is now."""

    path: str
    data: bytes


Files = Mapping[str, File]  # by the name that the printing or its output has for it


TRIES = 100  # places of an output at which a text may begin
SURE = 40  # characters that stand nowhere by accident: they need not begin a line
_GAP = re.compile(
    r"…\d+ (?:tokens|chars|characters|bytes) truncated…"
    r"|\n{0,3}\[… \d+ characters left out …\]\n{0,3}"
    r"|\n{0,3}\.\.\. ?\[\d+ (?:lines|characters|chars|bytes) (?:truncated|omitted)\] ?\.\.\.\n{0,3}"
    r"|\n{0,3}\[\.{3}[^\n\]]{0,80}(?:omitted|truncated)[^\n\]]{0,80}\]\n{0,3}"
    r"|(?<=\n)\.\.\.\n</persisted-output>"
)


class Shown(Frozen, frozen=True, kw_only=True):
    """Of one printing, by path: the byte ranges that were shown; and the files that do not read as printed."""

    spans: Mapping[str, tuple[Span, ...]] = {}
    stale: tuple[str, ...] = ()


class _Output:
    """The printed text, and how far it has been gone through."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.place = 0


def shown(printed: Sequence[tuple[Printing, Sequence[Files]]], text: str, redact: Redact | None = None) -> list[Shown]:
    """What each printing showed. Its names may mean other files from another folder: the first that agree count.

    A file that is missing is not ours and is passed over. `redact`: what the text went through before it was stored.
    """
    output = _Output(text)
    return [_first_of([_one(one, files, output, redact) for files in choices]) for one, choices in printed]


def _first_of(results: Sequence[Shown]) -> Shown:
    return next((one for one in results if one.spans), results[0] if results else Shown())


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same bytes in as few ranges as can be, in order."""
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def _one(printing: Printing, files: Files, output: _Output, redact: Redact | None) -> Shown:
    if printing.form is PrintForm.FOUND:
        return _searched(printing, files, output, redact)
    if not files or any(path not in files for path in printing.paths):
        return Shown()
    used = [files[path] for path in printing.paths]
    lines = [unit for file in used for unit in units(file.path, file.data, redact)]
    for stream in [lines, ended(lines)] if len(used) > 1 else [lines]:
        left = piped(stream, printing.filters)
        hits = _whole(left, output) if printing.form is PrintForm.PLAIN else _chosen(left, output)
        if hits is not None:
            return Shown(spans=_spans(hits))
    return Shown(stale=tuple(file.path for file in used))


def _searched(printing: Printing, files: Files, output: _Output, redact: Redact | None) -> Shown:
    lines = [line for line in _GAP.sub("\0", output.text).split("\n") if "\0" not in line]  # whole ones
    streams = {name: piped(units(file.path, file.data, redact), printing.filters) for name, file in files.items()}
    hits, stale = found_lines(lines, streams, printing)
    return Shown(spans=_spans(hits), stale=tuple(files[name].path for name in stale))


def _spans(hits: Iterable[Unit]) -> dict[str, tuple[Span, ...]]:
    found: dict[str, list[Span]] = {}
    for unit in hits:
        found.setdefault(unit.name, []).append((unit.start, unit.end))
    return {name: merged(spans) for name, spans in found.items()}


# ------------------------------------------------------------------------------------------------------- in one piece


def _whole(expected: list[Unit], output: _Output) -> Sequence[Unit] | None:
    """The expected lines as they stand in the output, all or what a gap left of them; None when it says otherwise."""
    text = "".join(unit.text for unit in expected)
    if not text.strip():
        return expected if text in output.text else ()
    for core in (text, text.removeprefix(BOM)):
        end = _stands(core, output)
        if end is not None:
            output.place = end
            return expected
    return _beside_gap(expected, text, output)


def _stands(text: str, output: _Output) -> int | None:
    """Where the text ends in the output, from its place on; white space at its ends may have been trimmed."""
    whole = output.text
    start = _found(text, whole, output.place, text.endswith("\n"))
    if start is not None:
        return start + len(text)
    core = text.rstrip()
    start = _found(core, whole, output.place, not text.endswith("\n"))
    if start is None:
        core = text.strip()
        at = len(whole) - len(whole.lstrip())  # only at the very beginning a blank line may be missing
        start = at if at >= output.place and whole.startswith(core, at) and _line_ends(whole, at + len(core)) else None
    return start + len(core) if start is not None else None


def _found(core: str, whole: str, place: int, anywhere: bool) -> int | None:
    """Where the core begins: a line, the place itself, or anywhere when it is long; it ends a line, or `anywhere`."""
    start = whole.find(core, place)
    for _ in range(TRIES):
        if start < 0:
            return None
        begins = len(core) >= SURE or start == place or whole[start - 1 : start] in ("", "\n")
        if begins and (anywhere or _line_ends(whole, start + len(core))):
            return start
        start = whole.find(core, start + 1)
    return None


def _line_ends(whole: str, place: int) -> bool:
    return place == len(whole) or whole[place] == "\n"


def _beside_gap(expected: list[Unit], text: str, output: _Output) -> Sequence[Unit] | None:
    """What stands before and behind a gap of the output; None when there is no gap, or neither side agrees."""
    gap = _GAP.search(output.text, output.place)
    if gap is None:
        return None
    before = output.text[output.place : gap.start()]
    head = _head(text, before) or _head(text.removeprefix(BOM), before)
    head += head > 0 and text.startswith(BOM) and BOM not in before
    tail = _tail(text, output.text[gap.end() :])
    output.place = gap.start() if head else gap.end()
    if not head and not tail:
        return () if output.text[gap.end() :].strip() else None
    return [*_first(expected, head), *_last(expected, tail)]


def _head(text: str, before: str) -> int:
    """How many characters of the text's beginning end where the gap begins."""
    lead = len(text) - len(text.lstrip("\n"))
    first = text[lead:].partition("\n")[0][:SURE]
    start = before.find(first) if first else -1
    for _ in range(TRIES):
        if start < 0:
            return 0
        if text.startswith(before[start:], lead):
            return lead + len(before) - start
        start = before.find(first, start + 1)
    return 0


def _tail(text: str, behind: str) -> int:
    """How many characters of the text's end begin where the gap ends, up to the end of a line there."""
    core = text.rstrip()
    ends = [len(behind.rstrip())] + [place.start() for place in re.finditer("\n", behind)]
    for end in ends[:TRIES]:
        if end and core.endswith(behind[:end].rstrip()) and behind[:end].strip():
            return len(text) - len(core) + len(behind[:end].rstrip())
    return 0


def _first(expected: list[Unit], count: int) -> list[Unit]:
    """The units of the first `count` characters; the last of them may be a part."""
    found: list[Unit] = []
    for unit in expected:
        if count < len(unit.text):
            part = _within(unit, 0, count) if count > 0 else None
            return [*found, part] if part is not None else found
        found.append(unit)
        count -= len(unit.text)
    return found


def _last(expected: list[Unit], count: int) -> list[Unit]:
    """The units of the last `count` characters; the first of them may be a part."""
    found: list[Unit] = []
    for unit in reversed(expected):
        if count < len(unit.text):
            part = _within(unit, len(unit.text) - count, len(unit.text)) if count > 0 else None
            return [*found, part] if part is not None else found
        found.append(unit)
        count -= len(unit.text)
    return found


def _within(unit: Unit, low: int, high: int) -> Unit | None:
    """A part of a line by its characters; None where those are not the file's own (numbered, not UTF-8)."""
    if not 0 <= unit.end - unit.start - len(unit.text.removesuffix("\n").encode()) <= len("\r\n"):
        return None
    start = unit.start + len(unit.text[:low].encode())
    end = unit.end if high == len(unit.text) else unit.start + len(unit.text[:high].encode())
    return Unit(unit.text[low:high], unit.name, start, end)


# ----------------------------------------------------------------------------------------------------- lines of choice


def _chosen(expected: list[Unit], output: _Output) -> Sequence[Unit] | None:
    """Lines that a command picked: one piece of the file that stands there once, or line by line."""
    text = "".join(unit.text for unit in expected)
    core = output.text.strip("\n")
    start = f"\n{text}\n".find(f"\n{core}\n") if core else -1
    if start >= 0 and f"\n{text}\n".find(f"\n{core}\n", start + 1) < 0:
        return _inside(expected, start, start + len(core))
    printed: dict[str, int] = {}
    for line in output.text.split("\n"):
        printed[line] = printed.get(line, 0) + 1
    there: dict[str, int] = {}
    for unit in expected:
        line = unit.text.removesuffix("\n")
        there[line] = there.get(line, 0) + 1
    hits = [unit for unit in expected if unit.text.strip() and _all_printed(unit, printed, there)]
    return hits or None


def _all_printed(unit: Unit, printed: Mapping[str, int], there: Mapping[str, int]) -> bool:
    """Whether every line that reads like this one was printed: of fewer nobody knows which."""
    line = unit.text.removesuffix("\n")
    return printed.get(line, 0) >= there[line]


def _inside(expected: list[Unit], start: int, end: int) -> list[Unit]:
    """The whole lines of the characters [start, end) of the joined text."""
    found: list[Unit] = []
    place = 0
    for unit in expected:
        if place >= start and place + len(unit.text.removesuffix("\n")) <= end:
            found.append(unit)
        place += len(unit.text)
    return found
