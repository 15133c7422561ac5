"""What was formed is made again from its lines."""

import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import CursorLine, Life, Pipeline
from governance.formation.errors import StateFault
from governance.formation.store import memories, outbox, ranges, receipts
from governance.review import State
from host.formation.journal import day_of
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.formed import ON, a_record_line, committed, superseded, team_of
from tests.support.world import World, a_world

TABLES = ("memory", "memory_source", "cursor", "barrier", "generation", "generation_ref")


async def rows(world: World) -> dict[str, list[tuple[Any, ...]]]:
    def work(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in TABLES}

    return await world.parts.kept.read(work)


def moved(status: str = "extracted", first: int = 0, to: int = 9) -> CursorLine:
    return CursorLine(
        pipeline=Pipeline.CHECKPOINT,
        session_id="s-1",
        from_seq=first,
        processed_seq=to,
        operation_id=f"memory_{to}",
        request_hash="h",
        status=status,
        at=START,
    )


async def some(world: World) -> None:
    """Three records of which one took the place of another, and two moves of a cursor."""
    team = team_of(world)
    old, new = a_record_line(1, "The limit is 10.", team), a_record_line(2, "The limit is 20.", team)
    await committed(world, old, a_record_line(3, "Releases go out on Thursdays.", team))
    await superseded(world, old, new)

    def work(connection: sqlite3.Connection) -> None:
        for line in (moved(), moved("denied", 10, 12)):
            outbox.put(connection, line, START)
            ranges.advance(
                connection,
                line.pipeline,
                "s-1",
                (ranges.cursor(connection, line.pipeline, "s-1"), line.processed_seq),
                START,
            )
        from governance.formation.contracts import Barrier

        ranges.bar(connection, Barrier(session_id="s-1", from_seq=10, through_seq=12), START)

    await world.parts.kept.write(work)
    assert await world.parts.projector.drain() == 0


def lose(folder: Path) -> None:
    for name in ("governance.db", "governance.db-wal", "governance.db-shm"):
        (folder / name).unlink(missing_ok=True)


@pytest.mark.promise("formation-29")
async def test_the_same_records_versions_links_and_cursors_are_there_again(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
        before = await rows(world)
    lose(tmp_path / "data")

    async with a_world(tmp_path / "data", formation=ON) as world:
        assert world.parts.formation.problem()
        found = await world.parts.formation.recover()

        assert await rows(world) == before
        assert world.parts.formation.problem() == ""
        assert (found.records, found.superseded, found.cursors, found.torn) == (3, 1, 2, ())
        life = await world.parts.kept.read(lambda connection: memories.of(connection, a_memory_id(1)))
        assert life is not None and (life.state, life.superseded_by) == (Life.SUPERSEDED, a_memory_id(2))
        item = await world.parts.queue.get(a_memory_id(3))
        assert item is not None and item.state is State.COMMITTED
        receipt = await world.parts.kept.read(lambda connection: receipts.find(connection, "memory_9"))
        assert receipt is not None and receipt.status == "extracted"


async def test_run_again_it_changes_nothing(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
        before = await rows(world)

        again = await world.parts.formation.recover()

        assert await rows(world) == before and again.aside == ""


async def test_a_cursor_never_goes_back(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
        await world.parts.kept.write(
            lambda connection: ranges.advance(connection, Pipeline.CHECKPOINT, "s-1", (12, 40), START)
        )

        await world.parts.formation.recover()

        assert await world.parts.kept.read(lambda c: ranges.cursor(c, Pipeline.CHECKPOINT, "s-1")) == 40


@pytest.mark.promise("formation-29")
async def test_a_torn_last_line_is_told_and_costs_nothing_else(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
    path = tmp_path / "data" / "records" / day_of(START)
    count = len(path.read_text().splitlines())
    path.write_bytes(path.read_bytes() + b'{"at":1,"line":"record","memoryId":"mem_9","rec')
    lose(tmp_path / "data")

    async with a_world(tmp_path / "data", formation=ON) as world:
        found = await world.parts.formation.recover()

        assert found.torn == (f"{path.name}:{count + 1}",) and found.records == 3
        assert "waited" in found.note


async def test_a_damaged_file_is_put_aside_and_a_newer_one_is_not(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
    lose(tmp_path / "data")
    (tmp_path / "data" / "governance.db").write_bytes(b"not a database at all" * 400)

    async with a_world(tmp_path / "data", formation=ON) as world:
        found = await world.parts.formation.recover()
        assert found.aside and (tmp_path / "data" / found.aside).exists()
        await world.parts.kept.write(lambda connection: connection.execute("PRAGMA user_version = 99"))

    async with a_world(tmp_path / "data", formation=ON) as world:
        with pytest.raises(StateFault, match="newer"):
            await world.parts.formation.recover()


async def test_the_files_of_memories_are_not_touched(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
        files = {path: path.read_bytes() for path in (tmp_path / "data" / "memory").rglob("*.md")}
    lose(tmp_path / "data")

    async with a_world(tmp_path / "data", formation=ON) as world:
        await world.parts.formation.recover()
        await world.parts.projector.drain()

    assert files and {path: path.read_bytes() for path in files} == files


async def test_what_is_forgotten_does_not_come_back(tmp_path: Path) -> None:
    from tests.support.formed import a_tombstone

    async with a_world(tmp_path / "data", formation=ON) as world:
        await some(world)
        tombstone = msgspec.structs.replace(a_tombstone(3, "forgotten"), digest="d" * 64)
        await world.parts.kept.write(lambda connection: outbox.put(connection, tombstone, START))
        await world.parts.projector.drain()
    lose(tmp_path / "data")

    async with a_world(tmp_path / "data", formation=ON) as world:
        await world.parts.formation.recover()

        assert await world.parts.kept.read(lambda connection: memories.of(connection, a_memory_id(3))) is None
        count = await world.parts.kept.read(
            lambda c: c.execute("SELECT why FROM tombstone WHERE digest = ?", ("d" * 64,)).fetchall()
        )
        assert count == [("forgotten",)]
