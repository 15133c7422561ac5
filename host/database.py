"""One SQLite file behind two ports: `write` (one connection, group commit) and `read` (its own connections).

WAL with synchronous=FULL. The writer task takes whatever is queued, runs it as one transaction on the connection's
thread (a savepoint for each piece of work, so that one that raises is rolled back alone), commits, and only then
answers (invariant 13). The writer also checkpoints; readers are query-only and short.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from host.errors import StoreFault
from host.namespace import name
from recall.sql import statements

T = TypeVar("T")
BATCH = 256
READERS = 2
CHECKPOINT_PAGES = 1000
JOURNAL_LIMIT = 64 * 1024 * 1024
BUSY_MS = 5000  # how long a connection waits for another process's lock
# A cache (`durable=False`) is read much: its connections hold more pages, and a reader that meets a lock gives up soon,
# for its thread must be free again for the next one who asks.
CACHE_READER_BUSY_MS = 200
CACHE_KIB = 16 * 1024

Work = Callable[[sqlite3.Connection], Any]
Waiting = tuple[Work, "asyncio.Future[Any]"]


class SqliteDatabase:
    """A `recall.contracts.Database` over one file. Made by `open_database`, closed by its block."""

    def __init__(self, writer: aiosqlite.Connection, readers: Sequence[aiosqlite.Connection]) -> None:
        self._writer = writer
        self._readers = readers
        self._next_reader = 0
        self._queue: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self.closed = False

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction; its result comes after the COMMIT. Cancelling the caller does not undo it."""
        if self.closed:
            raise StoreFault("The database is closed.", "Start the daemon again.")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((work, done))
        return await asyncio.shield(done)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on a query-only connection."""
        self._next_reader = (self._next_reader + 1) % len(self._readers)
        reader = self._readers[self._next_reader]
        result: T = await _hop(reader, work)
        return result

    async def cut_log(self) -> bool:
        """Write the log into the file and cut it to nothing: what was deleted stands in it, too. False: somebody reads
        just now."""
        busy: bool = await _hop(self._writer, _cut_log)
        return not busy

    async def run_writer(self) -> None:
        """The writer task: commits batch after batch, and ends once `close` was called and the queue is empty."""
        stopping = False
        while not (stopping and self._queue.empty()):
            batch: list[Waiting] = []
            item = await self._queue.get()
            while True:
                if item is None:
                    stopping = True
                else:
                    batch.append(item)
                if len(batch) >= BATCH or self._queue.empty():
                    break
                item = self._queue.get_nowait()
            if batch:
                await self._commit(batch)

    def close(self) -> None:
        """Take no more work; what is queued is still committed."""
        self.closed = True
        self._queue.put_nowait(None)

    async def _commit(self, batch: Sequence[Waiting]) -> None:
        try:
            results = await _hop(self._writer, _transaction, [work for work, _ in batch])
        except sqlite3.Error as error:
            results = [error] * len(batch)
        for (_, done), result in zip(batch, results, strict=True):
            if done.cancelled():
                continue
            if isinstance(result, BaseException):
                done.set_exception(result)
            else:
                done.set_result(result)


async def _hop(connection: aiosqlite.Connection, work: Callable[..., Any], *arguments: object) -> Any:
    """Run `work(raw connection, *arguments)` as one function on the connection's thread: one switch in all."""
    return await connection._execute(work, connection._conn, *arguments)  # type: ignore[no-untyped-call]  # aiosqlite's is untyped


def _transaction(connection: sqlite3.Connection, batch: Sequence[Work]) -> list[Any]:
    """All of `batch` in one transaction; the results, an exception standing for work that raised."""
    results: list[Any] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for work in batch:
            connection.execute("SAVEPOINT one")
            try:
                results.append(work(connection))
            except Exception as error:  # (boundary: handed to the one who asked, undone alone)
                if not connection.in_transaction:  # SQLite has undone all of it already: no room left, say
                    raise sqlite3.OperationalError(str(error)) from error
                connection.execute("ROLLBACK TO one")
                results.append(error)
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return results


@asynccontextmanager
async def open_database(
    path: Path, migrations: Sequence[str], *, durable: bool = True
) -> AsyncIterator[SqliteDatabase]:
    """Open (or make) the file, bring its schema up to date, and run its writer until the block ends.

    `migrations` are SQL scripts: number n takes the schema from n to n+1, each in one transaction. `durable=False`
    (caches that can be rebuilt) commits with synchronous=NORMAL. Raises StoreFault when the file is damaged or newer.
    """
    connections: list[aiosqlite.Connection] = []
    try:
        try:
            connections.append(await _connect(path, query_only=False))
            await _hop(connections[0], _prepare, path, migrations, durable)
            for _ in range(READERS):
                connections.append(await _connect(path, query_only=True))
                await _hop(connections[-1], _prepare_reader, durable)
        except (sqlite3.Error, OSError) as error:
            raise StoreFault(
                f"{path.name} cannot be opened: {error}.", "Move the file away and start again."
            ) from error
        database = SqliteDatabase(connections[0], connections[1:])
        task = asyncio.create_task(database.run_writer(), name=f"writer:{path.name}")
        try:
            yield database
        finally:
            database.close()
            await task
    finally:
        for connection in reversed(connections):
            await connection.close()


async def _connect(path: Path, *, query_only: bool) -> aiosqlite.Connection:
    connection = await aiosqlite.connect(path, isolation_level=None, cached_statements=256)
    try:
        await connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        if query_only:
            await connection.execute("PRAGMA query_only = ON")
    except BaseException:
        await connection.close()  # its thread would outlive the process's end
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, migrations: Sequence[str], durable: bool) -> None:
    path.chmod(0o600)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT}")
    connection.execute("PRAGMA foreign_keys = ON")
    if not durable:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute("PRAGMA secure_delete = ON")  # what was forgotten is overwritten, not only unlinked
    if durable:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"quick_check says: {verdict}")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(migrations):
        raise StoreFault(
            f"{path.name} has schema {version}, newer than this version's {len(migrations)}.",
            f"Install the newer {name()} again, or move the file away.",
        )
    for number in range(version, len(migrations)):
        _migrate(connection, migrations[number], number + 1)
    _cut_log(connection)  # what was deleted stands in the log of a process that was killed: secure_delete is not of it


def _cut_log(connection: sqlite3.Connection) -> bool:
    """Whether somebody was in the way. Between two transactions, and not for long: others wait to write."""
    connection.execute(f"PRAGMA busy_timeout = {CACHE_READER_BUSY_MS}")
    try:
        return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")


def _prepare_reader(connection: sqlite3.Connection, durable: bool) -> None:
    if not durable:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute(f"PRAGMA busy_timeout = {CACHE_READER_BUSY_MS}")
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # opens the log, which may be taken away


def _migrate(connection: sqlite3.Connection, script: str, to: int) -> None:
    """One numbered step in one transaction, the version with it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(script):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {to}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
