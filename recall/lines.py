"""The lines of a memory file that mean something: code fences, markers, headings, conflict marks (M-06). Pure.

A file has a hundred thousand lines and ten thousand that matter, so no object is made of a line: patterns look for the
beginnings of lines in a *flat* copy, which has the same length and one kind of line end. Positions are bytes of the
file; a line's `end` is before its line end.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recall.markers import looks_like_marker

BOM = b"\xef\xbb\xbf"
BLANK = b" \t\n\x0b\x0c\0"
MOST_FENCES = (
    20_000  # lines that begin or end one, of a file: a repository may hold files that were made to keep us busy
)

_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]|\Z)")
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>")
_BLOCK = re.compile(rb" {0,3}<!--[ \t]*remora-pre:(begin|end)(?:[ \t]+v\d+)?[ \t]*-->[ \t]*")
_FENCES = rb" {0,3}(?:```|~~~)"
_MARKS = rb" {0,3}(?:<!--[ \t]*(?:memory|remora-pre):|#{1,6}(?:[ \t\n\0]|\Z))"
_CONFLICTS = rb"(?:<<<<<<<|=======|>>>>>>>)(?=[ \t\n\0]|\Z)"
_FIRST_FENCE, _NEXT_FENCE = re.compile(_FENCES), re.compile(b"\n" + _FENCES)
_FIRST_MARK, _NEXT_MARK = re.compile(_MARKS), re.compile(b"\n" + _MARKS)
_FIRST_CONFLICT, _NEXT_CONFLICT = re.compile(_CONFLICTS), re.compile(b"\n" + _CONFLICTS)


class Span(NamedTuple):
    """Bytes from `start` up to `end`."""

    start: int
    end: int


class Anchor(NamedTuple):
    """A line that is, or looks like, a marker."""

    start: int
    end: int


class Heading(NamedTuple):
    """An ATX heading's line."""

    start: int
    end: int
    level: int
    words: str


class Block(NamedTuple):
    """A line that begins or ends a block that we wrote into a file of somebody else's."""

    start: int
    end: int
    begins: bool


Landmark = Anchor | Heading | Block


class Flat:
    """A file's bytes with every line end one LF: a CR before an LF is NUL, which no text file holds."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = data.replace(b"\r\n", b"\0\n").replace(b"\r", b"\n") if b"\r" in data else data
        self.first = len(BOM) if data.startswith(BOM) else 0

    def line_end(self, start: int) -> int:
        """Where the content of the line at `start` ends."""
        end = self.bytes.find(b"\n", start)
        end = len(self.bytes) if end < 0 else end
        return end - 1 if end > start and self.bytes[end - 1] == 0 else end

    def line(self, start: int) -> Span:
        return Span(start, self.line_end(start))

    def trimmed(self, start: int, end: int) -> Span | None:
        """Of whole lines, those from the first to the last that is not blank."""
        region = self.bytes[start:end]
        kept = region.rstrip(BLANK)
        if not kept:
            return None
        indent = len(kept) - len(kept.lstrip(BLANK))
        return Span(start + kept.rfind(b"\n", 0, indent) + 1, self.line_end(start + len(kept) - 1))

    def text(self, span: Span) -> str:
        """What stands there, with LF line ends."""
        raw = self.data[span.start : span.end]
        if b"\r" in raw:
            raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return raw.decode("utf-8")


class Ruler:
    """Line numbers (1-based) of positions; cheap when asked from front to back."""

    def __init__(self, flat: Flat) -> None:
        self._bytes, self._at, self._line = flat.bytes, 0, 1

    def line(self, at: int) -> int:
        if at < self._at:
            self._at, self._line = 0, 1
        self._line += self._bytes.count(b"\n", self._at, at)
        self._at = at
        return self._line


class Fences(NamedTuple):
    """The code fences that are closed, as spans of whole lines, and the first one that nothing closes (it hides
    nothing). `more`: there are more lines of fences than were looked at."""

    closed: Sequence[Span]
    open: bytes
    more: bool = False


def fences(flat: Flat, most: int = MOST_FENCES) -> Fences:
    """The code fences of a file, among its first `most` lines that begin or end one."""
    lines = _lines(flat, _FIRST_FENCE, _NEXT_FENCE, Span(flat.first, len(flat.bytes)))
    found = [
        (line, match[1], match[2].strip())
        for line in itertools.islice(lines, most)
        if (match := _FENCE.fullmatch(flat.data, line.start, line.end))
    ]
    more = next(lines, None) is not None
    longest: list[tuple[int, int]] = [(0, 0)]  # from each fence line on: the longest of "`" and of "~" that can close
    for _, marks, rest in reversed(found):
        ticks, tildes = longest[-1]
        if not rest and marks[:1] == b"`":
            ticks = max(len(marks), ticks)
        elif not rest:
            tildes = max(len(marks), tildes)
        longest.append((ticks, tildes))
    longest.reverse()
    closed: list[Span] = []
    opener, opened, unclosed = b"", 0, b""
    for number, (line, marks, rest) in enumerate(found):
        if opener:
            if marks.startswith(opener) and not rest:
                closed.append(Span(opened, line.end))
                opener = b""
        elif marks[:1] == b"~" or b"`" not in rest:
            if longest[number + 1][marks[:1] == b"~"] >= len(marks):
                opener, opened = marks, line.start
            else:
                unclosed = unclosed or marks
    return Fences(closed, unclosed, more)


def between(flat: Flat, closed: Sequence[Span]) -> Iterator[Span]:
    """What is outside the fences, in order."""
    at = flat.first
    for fence in closed:
        yield Span(at, fence.start)
        at = fence.end
    yield Span(at, len(flat.bytes))


def landmarks(flat: Flat, regions: Iterable[Span], most: int) -> list[Landmark] | None:
    """Markers, headings and block lines in those regions; None when there are more than `most`."""
    found: list[Landmark] = []
    for region in regions:
        for line in _lines(flat, _FIRST_MARK, _NEXT_MARK, region):
            text = flat.data[line.start : line.end]
            if looks_like_marker(text):
                found.append(Anchor(*line))
            elif block := _BLOCK.fullmatch(text):
                found.append(Block(*line, block[1] == b"begin"))
            elif known := heading(text):
                found.append(Heading(*line, *known))
            if len(found) > most:
                return None
    return found


def conflicted(flat: Flat, regions: Iterable[Span]) -> bool:
    """Whether git left a conflict there: its three marks in order."""
    if not all(mark in flat.data for mark in _CONFLICT):
        return False
    expected = list(reversed(_CONFLICT))
    for region in regions:
        for line in _lines(flat, _FIRST_CONFLICT, _NEXT_CONFLICT, region):
            if flat.data.startswith(expected[-1], line.start):
                expected.pop()
                if not expected:
                    return True
    return False


def heading(text: bytes) -> tuple[int, str] | None:
    """(level, words) of an ATX heading's line."""
    match = _HEADING.match(text)
    if match is None:
        return None
    words = text[match.end() :].strip(b" \t")
    closing = words.rstrip(b"#")
    if closing.endswith((b" ", b"\t")):
        words = closing.rstrip(b" \t")
    return len(match[1]), words.decode("utf-8").strip()


def _lines(flat: Flat, first: re.Pattern[bytes], following: re.Pattern[bytes], region: Span) -> Iterator[Span]:
    """The lines of a region that begin as the patterns say: one for the very first line, one with the LF before."""
    if region.start == flat.first and first.match(flat.bytes, region.start, region.end):
        yield flat.line(region.start)
    for match in following.finditer(flat.bytes, region.start, region.end):
        yield flat.line(match.start() + 1)
