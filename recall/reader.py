"""Reading and analysing files in a process of its own, while this one writes what was found (M-06).

Both ends speak frames over the process's standard input and output: four bytes of length (big-endian), MessagePack. A
task is one frame, its answer one frame a file and an empty one. The process ends with its input, so it never outlives
the one that started it. All of this blocks: it is for worker threads.
"""

import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import msgspec

from recall.entries import FileChange, Guard, Known, Place, Root
from recall.indexing import KnownFile
from recall.intake import take

MOST_BYTES = 64 * 1024 * 1024  # of one frame
END_SECONDS = 5.0  # a process whose input has ended is killed then
_LENGTH = struct.Struct(">I")


class Task(msgspec.Struct, frozen=True):
    """Files of a root to compare with what the index holds of them."""

    place: Place
    root: Root
    names: tuple[str, ...]
    known: dict[str, tuple[KnownFile | None, dict[str, Known]]]


class ReaderFault(Exception):
    """The reading process is gone or makes no sense."""


_encode = msgspec.msgpack.Encoder().encode
_task = msgspec.msgpack.Decoder(Task).decode
_change = msgspec.msgpack.Decoder(FileChange).decode


@dataclass(frozen=True, kw_only=True, slots=True)
class ReaderSetup:
    """How the process is started."""

    command: Sequence[str]
    environment: Mapping[str, str]


class Reader:
    """The process, as the one sees it that gives it tasks, one at a time."""

    def __init__(self, setup: ReaderSetup) -> None:
        """Start it. Raises OSError."""
        self._process = subprocess.Popen(
            setup.command,
            env=dict(setup.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def take(
        self,
        place: Place,
        root: Root,
        names: Sequence[str],
        known: Mapping[str, tuple[KnownFile | None, Mapping[str, Known]]],
    ) -> list[FileChange]:
        """As `recall.intake.take`. Raises ReaderFault; the process is of no use then."""
        held = {name: (file, dict(records)) for name, (file, records) in known.items()}
        changes: list[FileChange] = []
        try:
            _write(_pipe(self._process.stdin), _encode(Task(place, root, tuple(names), held)))
            while data := _read(_pipe(self._process.stdout)):
                changes.append(_change(data))
            if data is None:
                raise ReaderFault("The reading process ended.")
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            raise ReaderFault(f"The reading process makes no sense: {error}") from error
        return changes

    def kill(self) -> None:
        """End it at once; whoever waits for an answer gets a fault."""
        self._process.kill()

    def close(self) -> None:
        """End it by ending its input."""
        try:
            _pipe(self._process.stdin).close()
        except OSError:
            pass  # it is gone already
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _pipe(self._process.stdout).close()


def answer(source: IO[bytes], sink: IO[bytes], guard: Guard) -> None:
    """Do tasks until the input ends."""
    while data := _read(source):
        task = _task(data)
        for change in take(task.place, task.root, task.names, task.known, guard):
            _write(sink, _encode(change))
        _write(sink, b"")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _write(sink: IO[bytes], data: bytes) -> None:
    sink.write(_LENGTH.pack(len(data)) + data)
    sink.flush()


def _read(source: IO[bytes]) -> bytes | None:
    """The next frame; None when there is none any more, or not all of it. Raises ValueError for one out of bounds."""
    head = source.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MOST_BYTES:
        raise ValueError(f"a frame of {length} bytes")
    data = source.read(length)
    return data if len(data) == length else None
