"""`<data>/records/<UTC date>.jsonl`: one canonical JSON line for each version of a record, decision, tombstone and move
of a cursor, in the order in which they were committed. From it the tables are made again when they are lost.

A line is there whole and once: it is on the disk before the next thing is done, one that a crash cut is left alone on
its line and reported, and what stands there already is not written again.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from governance.formation.contracts import Line
from host.namespace import RECORDS_FOLDER
from recall.canonical import bytes_digest
from recall.contracts import Frozen, Millis

SUFFIX = ".jsonl"
DRAFT = ".new"
HELD = 4  # files whose lines are known by heart
_line = msgspec.json.Decoder(Line)


class Named(Frozen, frozen=True, kw_only=True):
    """What is read of a line to know whose it is."""

    memory_id: str = ""
    line: str = ""


class Read(Frozen, frozen=True, kw_only=True):
    """A line of a file. `line` None: it cannot be read. `last`: it has no end, as one that a crash cut."""

    file: str
    number: int
    line: Line | None
    last: bool = False


_named = msgspec.json.Decoder(Named)


class Journal:
    """The files below `<data>/records`. Every method blocks."""

    def __init__(self, data: Path) -> None:
        self.folder = data / RECORDS_FOLDER
        self._known: OrderedDict[str, set[str]] = OrderedDict()

    def append(self, line: bytes, at: Millis) -> bool:
        """Add a line to the file of its day and have it on the disk. False: it stood there. Raises OSError."""
        name = day_of(at)
        known = self._lines(name)
        mark = bytes_digest(line)
        if mark in known:
            return False
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / name
        fresh = not path.exists()
        with _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as file:
            torn = _torn(file)
            _write_all(file, (b"\n" if torn else b"") + line + b"\n")
            os.fsync(file)
        if fresh:
            _sync(self.folder)
        known.add(mark)
        return True

    def forget(self, memory_id: str) -> int:
        """Take every line of a memory out of every file but for those that say that it is gone; how many there were.

        Raises OSError.
        """
        taken = 0
        for draft in self.folder.glob(f".*{SUFFIX}{DRAFT}"):  # of a rewriting that was stopped: it holds words, too
            draft.unlink(missing_ok=True)
        for path in self._files():
            data = path.read_bytes()
            if memory_id.encode() not in data:
                continue
            lines = data.splitlines(keepends=True)
            kept = [line for line in lines if not _of(line, memory_id)]
            if len(kept) != len(lines):
                taken += len(lines) - len(kept)
                _replace(path, b"".join(kept))
                self._known.pop(path.name, None)
        return taken

    def read(self) -> Iterator[Read]:
        """Every line, the oldest file first. Raises OSError."""
        for path in self._files():
            with path.open("rb") as file:
                for number, raw in enumerate(file, start=1):
                    if raw.strip():
                        yield Read(file=path.name, number=number, line=_decoded(raw), last=not raw.endswith(b"\n"))

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob(f"*{SUFFIX}") if path.is_file() and not path.is_symlink())

    def _lines(self, name: str) -> set[str]:
        """Digests of the whole lines of a file."""
        if name not in self._known:
            try:
                data = (self.folder / name).read_bytes()
            except FileNotFoundError:
                data = b""
            self._known[name] = {bytes_digest(line) for line in data.split(b"\n") if line}
            while len(self._known) > HELD:
                self._known.popitem(last=False)
        self._known.move_to_end(name)
        return self._known[name]


def day_of(at: Millis) -> str:
    """The name of the file of a day, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d}{SUFFIX}"


def _of(raw: bytes, memory_id: str) -> bool:
    try:
        named = _named.decode(raw)
    except msgspec.DecodeError:
        return memory_id.encode() in raw  # torn, and it may hold words
    return named.memory_id == memory_id and named.line != "tombstone"


def _decoded(raw: bytes) -> Line | None:
    try:
        return _line.decode(raw)
    except msgspec.DecodeError:
        return None


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    number = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield number
    finally:
        os.close(number)


def _torn(file: int) -> bool:
    """Whether the file ends in the middle of a line."""
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}{DRAFT}")
    with _opened(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
        _write_all(file, data)
        os.fsync(file)
    os.replace(draft, path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)
