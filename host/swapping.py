"""A database that can be made anew beside itself: `<file>.new` is filled while `<file>` goes on answering, then takes
its place.

The swap is one rename, `<file>.new` to `<file>.ready`: a start that finds a `.ready` file finishes what a crash left
open, one that finds a `.new` file removes it. Then the old file's log goes and the new file is renamed over the old
one, which lives on without a name for the reads that are under way: SQLite, when the last of its connections is closed,
sees that the file was moved, and leaves the new file's log alone.
"""

import asyncio
import itertools
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from host.database import SqliteDatabase, open_database
from host.errors import StoreFault
from recall.contracts import Database

T = TypeVar("T")
LOGS = ("-wal", "-shm")


@dataclass(slots=True)
class _Generation:
    """One file that is open, and how many look at it."""

    database: SqliteDatabase
    opened: AsyncExitStack
    inode: int
    size: int = 0  # the largest that was seen
    users: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def enter(self) -> None:
        self.users += 1
        self.idle.clear()

    def leave(self) -> None:
        self.users -= 1
        if not self.users:
            self.idle.set()

    async def close(self) -> None:
        """Close the file when nobody looks at it any more."""
        if self.users:
            await self.idle.wait()
        await self.opened.aclose()


class SwappableDatabase:
    """A `recall.contracts.Rebuildable` over one file. Made by `open_swappable`, closed by its block."""

    def __init__(self, path: Path, schema: Sequence[str], current: _Generation) -> None:
        self._path = path
        self._schema = schema
        self._current = current
        self._retiring: set[asyncio.Task[None]] = set()

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction of the file in use."""
        used = self._current
        used.enter()
        try:
            return await used.database.write(work)
        finally:
            used.leave()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the file in use; a swap meanwhile lets it end on the old one."""
        used = self._current
        used.enter()
        try:
            return await used.database.read(work)
        finally:
            used.leave()

    async def cut_log(self) -> bool:
        """Write the log into the file and cut it to nothing; False when somebody reads just now."""
        used = self._current
        used.enter()
        try:
            return await used.database.cut_log()
        finally:
            used.leave()

    def lost(self) -> bool:
        """Whether the file was taken away from under us, or cut short: it never shrinks by itself."""
        used = self._current
        try:
            seen = os.stat(self._path)
        except OSError:
            return True
        used.size = max(used.size, seen.st_size)
        return seen.st_ino != used.inode or seen.st_size < used.size

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[Database]:
        """A fresh database beside this one; leaving the block without an error swaps it in."""
        fresh = Path(f"{self._path}.new")
        remove(fresh)
        try:
            async with open_database(fresh, self._schema, durable=False) as database:
                yield database
            await self._swap(fresh)
        except StoreFault as fault:
            raise sqlite3.OperationalError(str(fault)) from fault
        finally:
            remove(fresh)

    async def close(self) -> None:
        """Close every file that is open."""
        if self._retiring:
            await asyncio.wait(self._retiring)
        await self._current.close()

    async def _swap(self, fresh: Path) -> None:
        await asyncio.to_thread(_commit, fresh, self._path)
        finish(self._path)
        old, self._current = self._current, await _open(self._path, self._schema)
        task = asyncio.create_task(old.close())
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)


@asynccontextmanager
async def open_swappable(path: Path, schema: Sequence[str]) -> AsyncIterator[SwappableDatabase]:
    """Open (or make) the file of a cache. One that cannot be opened, damaged or newer, is removed and made anew."""
    finish(path)
    remove(Path(f"{path}.new"))
    try:
        current = await _open(path, schema)
    except StoreFault:
        remove(path)
        current = await _open(path, schema)
    database = SwappableDatabase(path, schema, current)
    try:
        yield database
    finally:
        await database.close()


def remove(path: Path) -> None:
    """Remove a database file and what SQLite keeps beside it."""
    for suffix in ("", *LOGS):
        _clear(Path(f"{path}{suffix}"))


def finish(path: Path) -> None:
    """Put a file that is ready in its place, if there is one. What else is in the way there is moved aside."""
    ready = Path(f"{path}.ready")
    if ready.is_file():
        for log in LOGS:
            _clear(Path(f"{path}{log}"))
        if path.is_dir():
            _clear(path)
        os.replace(ready, path)
        _sync(path.parent)


def _clear(path: Path) -> None:
    """Remove a file of ours. A folder of that name is none: it may be somebody's, and is given another name."""
    if path.is_dir() and not path.is_symlink():
        taken = (path.with_name(f"{path.name}.aside-{number}") for number in itertools.count(1))
        path.rename(next(name for name in taken if not name.exists()))
    else:
        path.unlink(missing_ok=True)


def _commit(fresh: Path, path: Path) -> None:
    """From here on the new file counts, whatever happens."""
    if any(os.path.exists(f"{fresh}{log}") for log in LOGS):  # closing it could not write all of it out
        raise sqlite3.OperationalError("the new file could not be completed")
    _sync(fresh)
    _clear(Path(f"{path}.ready"))
    os.replace(fresh, f"{path}.ready")
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


async def _open(path: Path, schema: Sequence[str]) -> _Generation:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(path, schema, durable=False))
        inode = os.stat(path).st_ino
        return _Generation(database=database, opened=stack.pop_all(), inode=inode)
