"""What was committed comes into the files: in order, once, wherever it was stopped."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import SightingLine
from governance.formation.store import outbox
from host.contracts import Reason
from host.formation import projector as points
from host.formation.journal import day_of
from recall.contracts import MemoryRecord, Origin, Status
from recall.files import RefusalKind, Refused
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.formed import ON, a_record_line, a_source, a_tombstone, committed, superseded, team_of
from tests.support.world import World, a_world


class Stopped(BaseException):
    """The process ended there."""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


async def records(world: World) -> dict[str, MemoryRecord]:
    scope = world.parts.sessions.scope("", "", team_of(world))
    return {one.memory_id: one for one in (await world.parts.library.listed(scope, 500)).records}


async def found(world: World, words: str) -> list[str]:
    scope = world.parts.sessions.scope("", "", team_of(world))
    index = world.parts.library.snapshot(world.clock.now())
    return [one.memory_id for one in await index.match(words.split(), scope, 10)]


def journal(world: World) -> list[str]:
    path = world.folder / "records" / day_of(START)
    return path.read_text().splitlines() if path.exists() else []


async def waits(world: World) -> int:
    return await world.parts.kept.read(outbox.depth)


async def test_a_committed_record_is_in_its_file_in_recall_and_in_the_journal_and_the_outbox_keeps_no_words(
    world: World,
) -> None:
    line = a_record_line(team=team_of(world))
    await committed(world, line)
    assert await records(world) == {}

    assert await world.parts.projector.drain() == 0

    (record,) = (await records(world)).values()
    assert (record.text, record.origin, record.memory_id) == (line.record.text, Origin.EXTRACTED, line.memory_id)
    assert await found(world, "releases thursday") == [line.memory_id]
    (told,) = journal(world)
    assert msgspec.json.decode(told)["memoryId"] == line.memory_id
    rows = await world.parts.kept.read(lambda c: c.execute("SELECT line, done_at FROM outbox").fetchall())
    assert rows == [("", START)]


async def test_it_lies_in_the_private_folder_of_its_workspace(world: World) -> None:
    await committed(world, a_record_line(team=team_of(world)))
    await world.parts.projector.drain()

    (path,) = (world.folder / "memory").rglob("*.md")

    assert path.parent == world.folder / "memory" / team_of(world) / "records"


@pytest.mark.promise("formation-18")
@pytest.mark.parametrize("point", [points.APPENDED, points.WRITTEN])
async def test_stopped_anywhere_it_is_one_record_and_one_line_after_the_next_start(tmp_path: Path, point: str) -> None:
    def stop(here: str) -> None:
        if here == point:
            raise Stopped

    async with a_world(tmp_path / "data", formation=ON) as world:
        await committed(world, a_record_line(team=team_of(world)))
        world.parts.projector.fault = stop
        with pytest.raises(Stopped):
            await world.parts.projector.drain()

    async with a_world(tmp_path / "data", formation=ON) as world:
        assert await waits(world) == 1
        assert await world.parts.projector.drain() == 0
        assert await world.parts.projector.drain() == 0

        assert len(await records(world)) == len(journal(world)) == 1
        text = next((world.folder / "memory").rglob("*.md")).read_text()
        assert text.count("Releases go out on Thursdays.") == 1


async def test_the_next_version_changes_the_record_and_says_so_in_the_journal(world: World) -> None:
    first = a_record_line(team=team_of(world))
    await committed(world, first)
    await world.parts.projector.drain()
    kept = msgspec.structs.replace(first.record, origin=Origin.REVIEWED, text="Releases go out on Fridays.")
    second = msgspec.structs.replace(first, version=1, record=kept)

    await world.parts.kept.write(lambda connection: outbox.put(connection, second, START))
    await world.parts.projector.drain()

    (record,) = (await records(world)).values()
    assert (record.text, record.origin) == ("Releases go out on Fridays.", Origin.REVIEWED)
    assert [msgspec.json.decode(one)["version"] for one in journal(world)] == [0, 1]


async def test_a_superseded_record_is_out_of_recall_names_what_took_its_place_and_leaves_its_packets(
    world: World,
) -> None:
    gone: list[tuple[str, Reason]] = []

    async def told(memory_id: str, reason: Reason) -> None:
        gone.append((memory_id, reason))

    world.parts.projector.gone = told
    old = a_record_line(1, "The limit is 10.", team_of(world))
    new = a_record_line(2, "The limit is 20.", team_of(world))
    await committed(world, old)
    await superseded(world, old, new)

    await world.parts.projector.drain()

    standing = await records(world)
    assert standing[old.memory_id].status is Status.SUPERSEDED
    assert standing[old.memory_id].superseded_by == new.memory_id
    assert await found(world, "limit") == [new.memory_id]
    assert gone == [(old.memory_id, Reason.SUPERSEDED)]


async def test_the_end_of_a_record_leaves_the_words_that_its_owner_wrote_by_hand(world: World) -> None:
    line = a_record_line(team=team_of(world))
    await committed(world, line)
    await world.parts.projector.drain()
    path = next((world.folder / "memory").rglob("*.md"))
    path.write_text(path.read_text().replace("Thursdays", "Mondays"))
    ended = msgspec.structs.replace(line.record, status=Status.ARCHIVED)

    await world.parts.kept.write(
        lambda connection: outbox.put(connection, msgspec.structs.replace(line, version=1, record=ended), START)
    )
    await world.parts.projector.drain()

    (record,) = (await records(world)).values()
    assert (record.status, record.text) == (Status.ARCHIVED, "Releases go out on Mondays.")


@pytest.mark.promise("formation-27")
async def test_what_is_forgotten_is_in_no_file_any_more(world: World) -> None:
    line = a_record_line(team=team_of(world))
    other = a_record_line(2, "Flags live in flags.toml.", team_of(world), sources=(a_source(quote="flags.toml"),))
    await committed(world, line, other)
    await world.parts.projector.drain()

    tombstone = a_tombstone(1, "forgotten")
    await world.parts.kept.write(lambda connection: outbox.put(connection, tombstone, START))
    assert await world.parts.projector.drain() == 0

    assert list(await records(world)) == [a_memory_id(2)]
    for path in world.folder.rglob("*"):
        if path.is_file() and path.suffix in (".md", ".jsonl"):
            assert b"Thursdays" not in path.read_bytes(), path
    assert [msgspec.json.decode(one)["line"] for one in journal(world)] == ["record", "tombstone"]


async def test_what_is_forgotten_before_it_was_written_is_never_written(world: World) -> None:
    line = a_record_line(team=team_of(world))
    await committed(world, line)
    world.parts.roots.private(team_of(world))
    (world.folder / "memory").write_text("in the way")  # the file cannot be written yet
    assert await world.parts.projector.drain() == 1
    (world.folder / "memory").unlink()
    tombstone = a_tombstone(1, "forgotten")

    def work(connection: Any) -> None:
        outbox.forget(connection, line.memory_id, START)
        outbox.put(connection, tombstone, START)

    await world.parts.kept.write(work)
    assert await world.parts.projector.drain() == 0

    assert await records(world) == {}
    assert "Thursdays" not in "".join(journal(world))


async def test_more_of_the_same_goes_into_the_journal_alone(world: World) -> None:
    line = a_record_line(team=team_of(world))
    await committed(world, line)
    again = SightingLine(memory_id=line.memory_id, version=0, sources=(a_source(7),), at=START)
    await world.parts.kept.write(lambda connection: outbox.put(connection, again, START))
    await world.parts.projector.drain()
    before = next((world.folder / "memory").rglob("*.md")).read_bytes()

    await world.parts.kept.write(lambda connection: outbox.put(connection, again, START))
    await world.parts.projector.drain()

    assert next((world.folder / "memory").rglob("*.md")).read_bytes() == before
    assert [msgspec.json.decode(one)["line"] for one in journal(world)] == ["record", "sighting"]


async def test_one_that_cannot_be_written_holds_back_its_own_and_nobody_elses(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = a_record_line(1, "The one.", team_of(world)), a_record_line(2, "The other.", team_of(world))
    await committed(world, one, msgspec.structs.replace(one, version=1), other)
    library, remember = world.parts.library, world.parts.library.remember

    async def refusing(record: MemoryRecord, root: Any) -> Any:
        if record.memory_id == one.memory_id:
            return Refused(kind=RefusalKind.UNWRITABLE, problem="no room")
        return await remember(record, root)

    monkeypatch.setattr(type(library), "remember", lambda self, record, root: refusing(record, root))
    assert await world.parts.projector.drain() == 2
    assert list(await records(world)) == [other.memory_id]
    assert "no room" in world.parts.projector.problem

    monkeypatch.undo()
    assert await world.parts.projector.drain() == 0
    assert set(await records(world)) == {one.memory_id, other.memory_id} and world.parts.projector.problem == ""


async def test_a_line_that_cannot_be_read_is_told_and_stays(world: World) -> None:
    await committed(world, a_record_line(team=team_of(world)))
    await world.parts.kept.write(lambda connection: connection.execute("UPDATE outbox SET line = '{}'"))

    assert await world.parts.projector.drain() == 1
    assert world.parts.projector.problem and await waits(world) == 1


async def test_it_runs_when_it_is_told_of_news(world: World) -> None:
    running = asyncio.create_task(world.parts.projector.run())
    await committed(world, a_record_line(team=team_of(world)))

    world.parts.formation.nudge()
    async with asyncio.timeout(5):
        while await waits(world):
            await asyncio.sleep(0)

    running.cancel()
    assert len(await records(world)) == 1
