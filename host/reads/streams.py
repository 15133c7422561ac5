"""The lines of files as a pipe would print them, each with the bytes that it shows (pure)."""

from collections.abc import Callable, Iterable, Sequence

from recall.contracts import Filter, FilterKind, Frozen

BOM = "\ufeff"
Redact = Callable[[str], str]


class Unit(Frozen, frozen=True):
    """A line or a part of one: as printed, with "\\n" for its end, and the bytes [start, end) of the file `name`."""

    text: str
    name: str
    start: int
    end: int


def units(name: str, data: bytes, redact: Redact | None = None) -> list[Unit]:
    """The lines of a file. `redact`: what the printed text went through before it was stored."""
    found: list[Unit] = []
    start = 0
    for line in data.splitlines(keepends=True) if b"\r" not in data else _lines(data):
        text = line.decode("utf-8", "replace").replace("\0", "\ufffd")
        text = f"{text[:-2]}\n" if text.endswith("\r\n") else text
        found.append(Unit(redact(text) if redact else text, name, start, start + len(line)))
        start += len(line)
    return found


def ended(stream: Sequence[Unit]) -> list[Unit]:
    """The same with every line ended but the last, as `sed` and `awk` end the last line of a file before the next."""
    inner = [one if one.text.endswith("\n") else Unit(f"{one.text}\n", one.name, one.start, one.end) for one in stream]
    return [*inner[:-1], *stream[-1:]]


def piped(stream: Sequence[Unit], filters: Iterable[Filter]) -> list[Unit]:
    """What is left of the lines behind a pipe's filters."""
    left = list(stream)
    for one in filters:
        match one.kind:
            case FilterKind.LINES:
                left = _kept(left, one.first, one.last)
            case FilterKind.BYTES:
                left = _cut(left, one.first, one.last)
            case FilterKind.NUMBER | FilterKind.NUMBER_FILLED:
                left = _numbered(left, one.kind is FilterKind.NUMBER)
    return left


def _lines(data: bytes) -> list[bytes]:
    """Lines that end with "\\n" alone: a carriage return within one ends nothing."""
    *ended, rest = data.split(b"\n")
    return [line + b"\n" for line in ended] + ([rest] if rest else [])


def _bounds(first: int, last: int | None, total: int) -> tuple[int, int]:
    """Half-open, from 0, within what is there."""
    start = first - 1 if first > 0 else max(0, total + first)
    end = total if last is None else last if last >= 0 else total + last + 1
    return start, max(start, min(end, total))


def _kept(stream: list[Unit], first: int, last: int | None) -> list[Unit]:
    start, end = _bounds(first, last, len(stream))
    return stream[start:end]


def _cut(stream: list[Unit], first: int, last: int | None) -> list[Unit]:
    """Bytes are counted as they stand in the files; a character that is cut through is left out."""
    start, end = _bounds(first, last, sum(one.end - one.start for one in stream))
    found: list[Unit] = []
    place = 0
    for one in stream:
        size = one.end - one.start
        low, high = max(start - place, 0), min(end - place, size)
        if low < high:
            found.append(one if high - low == size else _part(one, low, high))
        place += size
    return found


def _part(one: Unit, low: int, high: int) -> Unit:
    data = one.text.encode("utf-8", "replace")
    data = data if len(data) == one.end - one.start else data.replace(b"\n", b"\r\n")
    text = data[low:high].decode("utf-8", "ignore").replace("\r\n", "\n").removesuffix("\r")
    return Unit(text, one.name, one.start + low, one.start + high)


def _numbered(stream: list[Unit], empty_too: bool) -> list[Unit]:
    """Numbers as `cat -n` and `nl` write them: six wide, then a tab; an empty line gets blanks where it gets none.

    For them a line that ends with CRLF is never empty.
    """
    found: list[Unit] = []
    number = 0
    for one in stream:
        if empty_too or one.text != "\n" or one.end - one.start > 1:
            number += 1
            found.append(Unit(f"{number:6d}\t{one.text}", one.name, one.start, one.end))
        else:
            found.append(Unit("       \n", one.name, one.start, one.end))
    return found
