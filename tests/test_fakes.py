"""One suite over each port and its fake: what a test believes about a fake holds for the real thing."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from host.clock import Clock, SetClock, SystemClock
from host.database import open_database
from recall.contracts import Database
from tests.support.builders import a_candidate, a_memory_id, a_scope, a_user_scope, a_workspace_scope
from tests.support.clock import START, CountedIds, FakeClock
from tests.support.fakes import FakeDatabase, FakeIndex

TABLE = "CREATE TABLE word (text TEXT UNIQUE);"


@asynccontextmanager
async def _real(folder: Path) -> AsyncIterator[Database]:
    async with open_database(folder / "t.db", [TABLE]) as database:
        yield database


@asynccontextmanager
async def _fake(_: Path) -> AsyncIterator[Database]:
    database = FakeDatabase([TABLE])
    yield database
    database.close()


databases = pytest.mark.parametrize("opened", [_real, _fake], ids=["sqlite", "fake"])


def _add(text: str):  # type: ignore[no-untyped-def]
    return lambda connection: connection.execute("INSERT INTO word VALUES (?)", (text,)).rowcount


def _all(connection: sqlite3.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM word ORDER BY text")]


@databases
async def test_what_was_written_is_read(opened, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    async with opened(tmp_path) as database:
        assert await database.write(_add("one")) == 1
        assert await database.read(_all) == ["one"]


@databases
async def test_work_that_raises_is_undone_alone_and_its_error_comes_back(opened, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    def half(connection: sqlite3.Connection) -> None:
        _add("two")(connection)
        _add("one")(connection)

    async with opened(tmp_path) as database:
        await database.write(_add("one"))
        with pytest.raises(sqlite3.IntegrityError):
            await database.write(half)
        await database.write(_add("three"))
        assert await database.read(_all) == ["one", "three"]


@databases
async def test_a_reader_cannot_write(opened, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    async with opened(tmp_path) as database:
        with pytest.raises(sqlite3.OperationalError):
            await database.read(_add("one"))


@pytest.mark.parametrize("clock", [SystemClock(), SetClock(START), FakeClock()], ids=["system", "set", "fake"])
def test_a_clock_says_milliseconds_and_its_micros_never_go_back(clock: Clock) -> None:
    assert clock.now() > 1_500_000_000_000
    assert clock.micros() <= clock.micros()


def test_counted_ids_are_distinct_and_shaped_like_real_ones() -> None:
    ids = CountedIds()
    assert ids("mem_") == "mem_" + "0" * 31 + "1"
    assert ids("mem_") != ids("mem_")


async def test_the_fake_index_filters_by_scope_before_its_limit() -> None:
    elsewhere = [
        a_candidate("pnpm install", memory_id=a_memory_id(n), scope=a_workspace_scope("ws_" + "b" * 32))
        for n in range(5)
    ]
    mine = a_candidate("pnpm install", memory_id=a_memory_id(9), scope=a_user_scope())
    index = FakeIndex([*elsewhere, mine])
    assert await index.match(["pnpm"], a_scope(), 1) == [mine]
    assert (await index.statistics(["pnpm"], a_scope())).total == 1
    assert index.asked == 2
