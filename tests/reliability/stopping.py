"""A program that kills itself in the middle of a document transaction, wherever it is told to.

`python -m tests.reliability.stopping FOLDER ACT`: performs ACT on a copy of FOLDER once for every call that
`recall.documents` makes of the system (from the outside: its `os` is wrapped, the product knows nothing of it), each
time in a forked process that sends itself SIGKILL before that call; and once more half-way through every write.
Prints one JSON object: the calls in order, and for each stop the folder that it left behind.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NoReturn

from host.database import open_database
from recall import documents
from recall.contracts import RuntimeScope
from recall.library import SCHEMA, Library
from tests.support.builders import a_memory, a_memory_id, a_scope
from tests.support.library import a_root

KEPT, CHANGED, GONE, NEW, LATER = map(a_memory_id, range(1, 6))
MONTH = "records/2026-05.md"
HALF = "write, half of it"

Act = Callable[[Library, Path], Coroutine[Any, Any, object]]


async def remember(library: Library, folder: Path) -> object:
    return await library.remember(a_memory("The new one.\n\nWith two paragraphs.", memory_id=NEW), a_root(folder))


async def edit(library: Library, folder: Path) -> object:
    record = a_memory("This one says something else now, and more of it.", memory_id=CHANGED)
    return await library.edit(record, await known_digest(library, CHANGED), a_scope())


async def forget(library: Library, folder: Path) -> object:
    return await library.forget(GONE, a_scope())


async def remember_all(library: Library, folder: Path) -> object:
    records = [a_memory(f"Imported, number {number}.", memory_id=a_memory_id(100 + number)) for number in range(5)]
    return all(await library.remember_all(records, a_root(folder)))


async def later(library: Library, folder: Path) -> object:
    """Another write of the same file."""
    return await library.remember(a_memory("Said later.", memory_id=LATER), a_root(folder))


ACTS: dict[str, Act] = {"remember": remember, "edit": edit, "forget": forget, "remember-all": remember_all}


async def known_digest(library: Library, memory_id: str, scope: RuntimeScope | None = None) -> str:
    found = await library.get(memory_id, scope or a_scope())
    assert found is not None
    return found[1].record_digest


class Stopping:
    """Stands in for the module `os`: counts calls once `armed`, and stops the process before the one it is told."""

    def __init__(self, stop_at: int, *, half: bool = False) -> None:
        self.armed = False
        self.calls: list[str] = []
        self._stop_at = stop_at
        self._half = half

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self.counted(name, real) if callable(real) and not isinstance(real, type) else real

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            self._count(name)
            result = real(*arguments, **named)
            return _Stream(result, self) if name == "fdopen" and "w" in arguments[1] else result

        return called

    def writes(self, stream: Any, data: bytes) -> int:
        self._count("write", lambda: (stream.write(data[: len(data) // 2]), stream.flush()))
        written: int = stream.write(data)
        return written

    def _count(self, name: str, half: Callable[[], object] | None = None) -> None:
        if not self.armed:
            return
        self.calls.append(name)
        if len(self.calls) == self._stop_at:
            if self._half and half is not None:
                half()
            if half is not None or not self._half:
                stop_here()


class _Stream:
    """A file opened for writing, whose writes are calls like those of `os`."""

    def __init__(self, stream: Any, calls: Stopping) -> None:
        self._stream = stream
        self._calls = calls

    def write(self, data: bytes) -> int:
        return self._calls.writes(self._stream, data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> "_Stream":
        self._stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stream.__exit__(*error)


def stop_here() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


async def performed(folder: Path, act: Act, calls: Stopping) -> bool:
    """Whether the act succeeded, on the memory files and the index of a folder."""
    async with open_database(folder / "index.db", SCHEMA, durable=False) as database:
        library = Library(database)
        await library.open()
        await library.adopt(a_root(folder / "memory"))
        calls.armed = True
        done = bool(await act(library, folder / "memory"))
        calls.armed = False
        return done


def in_child(folder: Path, act: Act, stop_at: int, *, half: bool = False) -> tuple[int, list[str]]:
    """(wait status, calls made) of the act in a forked process; the calls only when it was not stopped."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        calls = Stopping(stop_at, half=half)
        documents.os = calls  # type: ignore[assignment]
        documents.exchange = calls.counted("exchange", documents.exchange)
        done = asyncio.run(performed(folder, act, calls))
        os.write(writing, json.dumps(calls.calls).encode())
        os._exit(0 if done else 3)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), json.loads(told or b"[]")


def main(source: Path, act: str) -> None:
    def copied(name: str) -> Path:
        return Path(shutil.copytree(source, source.with_name(f"{source.name}-{act}-{name}")))

    code, calls = in_child(copied("whole"), ACTS[act], 0)
    assert code == 0, f"{act} failed without any stop: {code}"
    stops = [(number, False) for number in range(1, len(calls) + 1)]
    stops += [(number, True) for number, name in enumerate(calls, start=1) if name == "write"]
    left = []
    for number, half in stops:
        folder = copied(f"{number}{'-half' * half}")
        code, _ = in_child(folder, ACTS[act], number, half=half)
        left.append({"before": HALF if half else calls[number - 1], "folder": str(folder), "code": code})
    print(json.dumps({"calls": calls, "whole": str(source.with_name(f"{source.name}-{act}-whole")), "stops": left}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
