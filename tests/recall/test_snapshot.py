"""A snapshot is one version of the library at one time; broken tables are a fault it names."""

import sqlite3
from pathlib import Path

import pytest

from recall.contracts import Index
from recall.errors import ArmUnavailable, IndexFault
from recall.snapshot import Health, Snapshot
from tests.support.builders import a_memory, a_memory_id, a_scope, a_user_scope
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.library import a_library, a_root


async def test_a_snapshot_answers_all_that_an_index_is_asked(tmp_path: Path) -> None:
    async with a_library(tmp_path) as library:
        root = a_root(tmp_path / "memory")
        await library.remember(a_memory("Pin the toolchain.", memory_id=a_memory_id(1), pinned=True), root)
        index: Index = library.snapshot(START)

        for hits in (
            await index.match(["toolchain"], a_scope(), 5),
            await index.by_id([a_memory_id(1)], a_scope()),
            await index.pinned(a_scope(), 5),
            index.hot(a_scope()),
        ):
            assert [hit.memory_id for hit in hits] == [a_memory_id(1)]
        assert [hit.memory_id for hit in await index.eligible([1], a_scope(), 1)] == [a_memory_id(1)]
        assert (await index.statistics(["toolchain"], a_scope())).counts == {"toolchain": 1}
        assert not index.partial(a_scope())
        assert index.version == library.version


async def test_records_held_in_memory_obey_scope_and_time(tmp_path: Path) -> None:
    async with a_library(tmp_path) as library:
        root, user = a_root(tmp_path / "memory"), a_root(tmp_path / "user", a_user_scope())
        await library.remember(a_memory("Now.", memory_id=a_memory_id(1), expires_at=START + 1), root)
        await library.remember(a_memory("Later.", memory_id=a_memory_id(2), valid_from=START + 1), root)
        await library.remember(a_memory("Mine.", memory_id=a_memory_id(3), scope=a_user_scope()), user)

        def held(now: int, workspace: str) -> set[str]:
            return {hit.memory_id[-1] for hit in library.snapshot(now).hot(a_scope(workspace=workspace))}

        here = a_scope().workspace
        assert held(START, here) == {"1", "3"} and held(START + 1, here) == {"2", "3"}
        assert held(START, "ws_other") == {"3"}


async def test_tables_that_cannot_be_read_are_a_fault_and_noted() -> None:
    health = Health()
    snapshot = Snapshot(database=FakeDatabase(), version="idx", now=START, health=health)

    with pytest.raises(IndexFault):
        await snapshot.match(["term"], a_scope(), 5)

    assert health.damaged and "no such table" in health.problem


async def test_rows_of_another_making_of_the_index_are_of_no_use(tmp_path: Path) -> None:
    async with a_library(tmp_path) as library:
        with pytest.raises(ArmUnavailable) as away:
            await library.snapshot(START).eligible([1], a_scope(), 999)

    assert away.value.shortfall == "stale-vectors"


async def test_a_row_that_cannot_be_unpacked_is_damage(tmp_path: Path) -> None:
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("Toolchain."), a_root(tmp_path / "memory"))
        alarms: list[str] = []
        health = Health(lambda: alarms.append("told"))
        snapshot = Snapshot(database=library._database, version="idx", now=START, health=health)
        await library._database.write(lambda connection: connection.execute("UPDATE record SET body = x'c1'"))

        with pytest.raises(IndexFault):
            await snapshot.match(["toolchain"], a_scope(), 5)

    assert health.damaged and alarms == ["told"]


def coded(code: int) -> sqlite3.DatabaseError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "damaged"),
    [
        (coded(11 | 1 << 8), True),
        (coded(1), True),  # SQL logic error: a shadow table is gone
        (coded(10 | 2 << 8), True),
        (coded(10 | 3 << 8), False),  # it cannot be written: there may be no room
        (coded(1032), True),  # the file was taken away
        (coded(5), False),
        (sqlite3.OperationalError("Could not decode to UTF-8 column 'terms'"), True),
        (sqlite3.OperationalError("database is locked"), False),
        (sqlite3.OperationalError("database or disk is full"), False),
        (sqlite3.DatabaseError("no such table: df"), True),
    ],
)
def test_only_broken_tables_are_damage(error: sqlite3.DatabaseError, damaged: bool) -> None:
    assert Health().note(error) is damaged
