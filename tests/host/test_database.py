"""host/database.py: one writer with group commit, readers apart, forward migrations."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from host.database import open_database
from host.errors import StoreFault

TABLE = "CREATE TABLE word (text TEXT UNIQUE);\nCREATE TRIGGER t AFTER INSERT ON word BEGIN SELECT 1; SELECT 2; END;"


def add(text: str) -> Callable[[sqlite3.Connection], int]:
    return lambda connection: connection.execute("INSERT INTO word VALUES (?)", (text,)).rowcount


def words(connection: sqlite3.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM word ORDER BY rowid")]


@pytest.mark.promise("acknowledged-is-kept")
async def test_what_was_acknowledged_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with open_database(path, [TABLE]) as database:
        await database.write(add("one"))
    async with open_database(path, [TABLE]) as database:
        assert await database.read(words) == ["one"]


@pytest.mark.promise("acknowledged-is-kept")
async def test_commits_are_durable_and_other_people_cannot_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with open_database(path, [TABLE]) as database:
        pragmas = await database.write(
            lambda c: [c.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        )
    assert pragmas == ["wal", 2]
    assert path.stat().st_mode & 0o777 == 0o600


async def test_writes_that_wait_together_are_one_transaction(tmp_path: Path) -> None:
    transactions: list[bool] = []

    def witness(connection: sqlite3.Connection) -> int:
        """The rows this transaction has seen so far, uncommitted ones of its companions included."""
        transactions.append(connection.in_transaction)
        add(f"w{len(transactions)}")(connection)
        return len(words(connection))

    async with open_database(tmp_path / "a.db", [TABLE]) as database:
        seen = await asyncio.gather(*(database.write(witness) for _ in range(5)))
        visible = await database.read(words)
    assert seen == [1, 2, 3, 4, 5]
    assert all(transactions) and len(visible) == 5


async def test_work_that_raises_is_undone_alone(tmp_path: Path) -> None:
    async with open_database(tmp_path / "a.db", [TABLE]) as database:
        done = await asyncio.gather(
            *(database.write(add(text)) for text in ("one", "one", "two")), return_exceptions=True
        )
        assert await database.read(words) == ["one", "two"]
    assert isinstance(done[1], sqlite3.IntegrityError)
    assert (done[0], done[2]) == (1, 1)


async def test_cancelling_the_caller_does_not_undo_its_write(tmp_path: Path) -> None:
    async with open_database(tmp_path / "a.db", [TABLE]) as database:
        task = asyncio.create_task(database.write(add("one")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await database.write(add("two"))
        assert await database.read(words) == ["one", "two"]


async def test_what_is_queued_when_the_block_ends_is_still_committed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with open_database(path, [TABLE]) as database:
        task = asyncio.create_task(database.write(add("late")))
        await asyncio.sleep(0)
    assert await task == 1
    async with open_database(path, [TABLE]) as database:
        assert await database.read(words) == ["late"]


async def test_a_closed_database_takes_no_work(tmp_path: Path) -> None:
    async with open_database(tmp_path / "a.db", [TABLE]) as database:
        pass
    with pytest.raises(StoreFault, match="closed"):
        await database.write(add("one"))


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    async with open_database(tmp_path / "a.db", [TABLE]) as database:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            await database.read(add("one"))


async def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    second = "ALTER TABLE word ADD COLUMN size INTEGER;\nINSERT INTO word VALUES ('made; by two', 2);"
    async with open_database(path, [TABLE]) as database:
        await database.write(add("one"))
    for _ in range(2):
        async with open_database(path, [TABLE, second]) as database:
            assert await database.read(words) == ["one", "made; by two"]


async def test_a_migration_that_fails_leaves_the_old_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with open_database(path, [TABLE]):
        pass
    with pytest.raises(StoreFault):
        async with open_database(path, [TABLE, "CREATE TABLE b (x);\nINSERT INTO nowhere VALUES (1);"]):
            pass
    async with open_database(path, [TABLE]) as database:
        tables = await database.read(
            lambda c: [n for (n,) in c.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
        )
    assert tables == ["word"]


async def test_a_newer_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with open_database(path, [TABLE, "CREATE TABLE b (x);"]):
        pass
    with pytest.raises(StoreFault, match=r"schema 2, newer than this version's 1.*move the file away"):
        async with open_database(path, [TABLE]):
            pass


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"not a database " * 400)
    with pytest.raises(StoreFault, match=r"a\.db cannot be opened"):
        async with open_database(path, [TABLE]):
            pass
    assert path.read_bytes() == b"not a database " * 400


async def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with open_database(path, [TABLE]) as database:
        for number in range(200):
            await database.write(add(f"{number} " * 100))
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 6] = b"\xff" * (4096 * 3)
    path.write_bytes(bytes(data))
    with pytest.raises(StoreFault, match="cannot be opened"):
        async with open_database(path, [TABLE]):
            pass


@pytest.mark.promise("acknowledged-is-kept")
async def test_a_transaction_that_sqlite_undoes_fails_the_whole_batch_and_the_writer_goes_on(tmp_path: Path) -> None:
    def undone(connection: sqlite3.Connection) -> None:  # as a full disk may do it
        connection.execute("INSERT OR ROLLBACK INTO word VALUES ('there')")

    async with open_database(tmp_path / "a.db", [TABLE]) as database:
        await database.write(add("there"))

        done = await asyncio.gather(*map(database.write, (add("one"), undone, add("two"))), return_exceptions=True)

        assert [isinstance(one, sqlite3.OperationalError) for one in done] == [True, True, True]
        await database.write(add("three"))
        assert await database.read(words) == ["there", "three"]


async def test_the_log_is_cut_when_nobody_reads(tmp_path: Path) -> None:
    log = tmp_path / "a.db-wal"
    async with open_database(tmp_path / "a.db", [TABLE], durable=False) as database:
        await database.write(add("lantern"))
        assert b"lantern" in log.read_bytes()
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        other.execute("BEGIN")
        words(other)
        await database.write(add("more"))
        assert await database.cut_log() is False

        other.close()

        assert await database.cut_log() is True and log.stat().st_size == 0
        assert await database.read(words) == ["lantern", "more"]


async def test_what_was_deleted_before_a_kill_is_in_no_file_after_the_next_start(tmp_path: Path) -> None:
    """The log of a process that was killed holds pages as they were before something was deleted."""
    killed = tmp_path / "killed"
    killed.mkdir()
    async with open_database(tmp_path / "db", ("CREATE TABLE note (words TEXT) STRICT",)) as database:
        await database.write(lambda c: c.execute("INSERT INTO note VALUES ('wombat')"))
        await database.write(lambda c: c.execute("DELETE FROM note"))
        for name in ("db", "db-wal"):  # as a kill leaves them
            (killed / name).write_bytes((tmp_path / name).read_bytes())
    assert b"wombat" in (killed / "db-wal").read_bytes()

    async with open_database(killed / "db", ("CREATE TABLE note (words TEXT) STRICT",)):
        assert not any(b"wombat" in path.read_bytes() for path in killed.iterdir())
