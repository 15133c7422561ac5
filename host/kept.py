"""`governance.db` behind the `Database` port: what remora goes on without. While the file is missing though it was
there, locked, damaged or newer, whoever asks is told so (`state-failed`), and events, recall and injection run on.

It is never made anew by itself where it was before: "absent" would form every memory twice and bring back what was
said no to. `extract --recover` makes it again from the lines of what was written, and says what is lost with it.
"""

import asyncio
import itertools
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from governance.formation.errors import StateFault
from governance.formation.queue import Queue
from governance.lives import Lives, load_lives
from governance.migrations import queue_steps
from host.database import SqliteDatabase, open_database
from host.errors import StoreFault
from host.history import number, put_number
from host.namespace import GOVERNANCE_FILE, VECTORS_FILE
from host.trusted import Trust, load_trust
from recall.contracts import Database

T = TypeVar("T")
LOGS = ("-wal", "-shm")
RECOVER = "`extract --recover` makes it again from the records that were written."


class Unusable(StateFault, sqlite3.OperationalError):
    """The file cannot be used now. An `sqlite3.Error` too: who can do without it does so already."""

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__("state-failed", problem, next_step)


class KeptDatabase:
    """Opened by `open_kept`, closed by its block."""

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        self.path = path
        self._migrations = migrations
        self._opened = AsyncExitStack()
        self._database: SqliteDatabase | None = None
        self._inode = 0
        self._fault: Unusable | None = None

    @property
    def problem(self) -> str:
        """Why it cannot be used, and what to do; empty: it can."""
        fault = self._look()
        return "" if fault is None else str(fault)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """As `SqliteDatabase.write`. Raises StateFault (`state-failed`)."""
        database = self._usable()
        try:
            return await database.write(work)
        except (sqlite3.Error, StoreFault) as error:
            raise self._told(error) from error

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """As `SqliteDatabase.read`. Raises StateFault (`state-failed`)."""
        database = self._usable()
        try:
            return await database.read(work)
        except (sqlite3.Error, StoreFault) as error:
            raise self._told(error) from error

    async def cut_log(self) -> bool:
        """As `SqliteDatabase.cut_log`; of a file that cannot be used there is nothing to cut."""
        return True if self._look() is not None or self._database is None else await self._database.cut_log()

    async def open(self, *, expected: bool) -> None:
        """Open the file. `expected`: it was there before, and is not made anew. What is wrong is `problem`."""
        if expected and not self.path.exists():
            self._fault = Unusable(f"{self.path.name} is missing.", f"Restore it from a backup, or {RECOVER}")
            return
        try:
            self._database = await self._opened.enter_async_context(open_database(self.path, self._migrations))
            self._inode = os.stat(self.path).st_ino
            self._fault = None
        except (StoreFault, OSError) as fault:
            step = fault.next_step if isinstance(fault, StoreFault) else ""
            newer = isinstance(fault, StoreFault) and "newer than" in fault.problem
            problem = fault.problem if isinstance(fault, StoreFault) else str(fault)
            self._fault = Unusable(problem, step if newer else f"Restore it from a backup, or {RECOVER}")

    async def again(self) -> bool:
        """Whether the file can be used: one that could not is tried again, as it may be back, or free, by now."""
        if self._look() is None:
            return True
        await self.close()
        await self.open(expected=True)
        return self._look() is None

    async def anew(self) -> str:
        """Open an empty file, where the present one is missing or damaged; what was there is put aside, under a name
        that is returned (empty: nothing was). Raises StateFault for a file that is well, newer or in use."""
        if await self.again():
            return ""
        problem = str(self._fault)
        if "newer than" in problem or "locked" in problem:
            self._usable()
        aside = await asyncio.to_thread(_put_aside, self.path)
        await self.open(expected=False)
        self._usable()
        return aside

    async def close(self) -> None:
        """Close the file; what was queued is committed."""
        self._database = None
        opened, self._opened = self._opened, AsyncExitStack()
        await opened.aclose()

    def _look(self) -> Unusable | None:
        """What is wrong with the file as it stands on the disk now."""
        if self._fault is not None or self._database is None:
            return self._fault or Unusable(f"{self.path.name} is closed.", "Start the daemon again.")
        try:
            here = os.stat(self.path).st_ino == self._inode
        except OSError:
            here = False
        if here:
            return None
        problem = f"{self.path.name} was taken away or replaced while it was in use."
        return Unusable(problem, f"Start the daemon again if you put a backup in its place; else {RECOVER}")

    def _told(self, error: sqlite3.Error | StoreFault) -> BaseException:
        """A lock, a full disk or a damaged page as the state of the file; any other error as it is. Damage stays."""
        if isinstance(error, StoreFault):
            return Unusable(error.problem, error.next_step)
        if isinstance(error, Unusable) or type(error) not in (sqlite3.OperationalError, sqlite3.DatabaseError):
            return error
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_ERROR:  # a statement of ours is wrong
            return error
        problem = f"{self.path.name} cannot be used: {error}."
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            self._fault = Unusable(problem, f"Restore it from a backup, or {RECOVER}")
            return Unusable(self._fault.problem, self._fault.next_step)
        return Unusable(problem, "Check the disk, and whether another program holds it.")

    def _usable(self) -> SqliteDatabase:
        fault = self._look()
        if fault is not None:
            raise Unusable(fault.problem, fault.next_step)  # a fresh one: each has its own way behind it
        assert self._database is not None
        return self._database


def _put_aside(path: Path) -> str:
    """Give what is there another name, its logs with it; the name, empty when nothing was there."""
    names = (path.with_name(f"{path.name}.aside-{number}") for number in itertools.count(1))
    aside = next(name for name in names if not name.exists())
    moved = ""
    for suffix in ("", *LOGS):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(aside.with_name(aside.name + suffix))
            moved = aside.name
    return moved


@asynccontextmanager
async def open_kept(path: Path, migrations: Sequence[str], *, expected: bool) -> AsyncIterator[KeptDatabase]:
    """Open (or, unless it was there before, make) the file. Raises nothing for what is wrong with it."""
    kept = KeptDatabase(path, migrations)
    await kept.open(expected=expected)
    try:
        yield kept
    finally:
        await kept.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What stands in `governance.db`."""

    database: KeptDatabase
    queue: Queue
    lives: Lives
    trust: Trust

    async def reload(self) -> None:
        """Read again what is held in memory: the file was made anew, or is back."""
        await self.lives.reload()
        await self.trust.read()


def files_of(database: Path, governance: Path | None, index: Path) -> dict[str, Path]:
    """The files that are kept, by what they hold. `governance` None: beside the database."""
    return {
        "log": database,
        "governance": governance or database.with_name(GOVERNANCE_FILE),
        "index": index,
        "vectors": index.with_name(VECTORS_FILE),
    }


@asynccontextmanager
async def open_governance(path: Path, key: bytes, main: Database) -> AsyncIterator[Kept]:
    """Open `governance.db`, and what is built over it. `main` knows whether it was there before."""
    known = await number(main, GOVERNANCE_FILE) is not None
    async with open_kept(path, queue_steps(), expected=known) as database:
        if not known and not database.problem:
            await put_number(main, GOVERNANCE_FILE, 1)  # from now on it is missing when it is not there
        lives, trust = await load_lives(database), await load_trust(database)
        yield Kept(database=database, queue=Queue(database, key), lives=lives, trust=trust)
