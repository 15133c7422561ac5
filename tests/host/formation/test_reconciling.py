"""What people do to memory files by hand."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.formation.claims import claim_of
from governance.formation.contracts import Life
from governance.formation.store import memories
from governance.review import State
from host.formation.reconciling import EVERY
from tests.support.builders import a_memory_id
from tests.support.formed import ON, a_formed, a_record_line, committed, team_of
from tests.support.world import World, a_world

ONE, TWO = "Releases go out on Thursdays.", "Flags live in flags.toml."


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        lines = [
            a_record_line(number, text, team_of(made), formed=a_formed(number, team_of(made), claim=claim_of(text)))
            for number, text in ((1, ONE), (2, TWO))
        ]
        await committed(made, *lines)
        await made.parts.projector.drain()
        yield made


def the_file(world: World) -> Path:
    (path,) = (world.folder / "memory").rglob("*.md")
    return path


async def rounds(world: World, count: int = 2) -> int:
    done = 0
    for _ in range(count):
        world.parts.formation.reconciling._rested = EVERY  # nobody follows the files here
        done += await world.parts.formation.reconciling.round()
        await world.parts.projector.drain()
    return done


async def life(world: World, number: int) -> tuple[Life, int]:
    found = await world.parts.kept.read(lambda connection: memories.of(connection, a_memory_id(number)))
    assert found is not None
    return found.state, found.version


async def test_what_nobody_touched_stays_as_it_is(world: World) -> None:
    assert await rounds(world, 3) == 0

    assert await life(world, 1) == (Life.LIVE, 0) == await life(world, 2)


async def test_a_hand_edit_is_the_next_version_and_a_decision_and_the_file_is_left(world: World) -> None:
    path = the_file(world)
    path.write_text(path.read_text().replace("Thursdays", "Fridays"))
    before = path.read_bytes()

    assert await rounds(world) == 1

    assert path.read_bytes() == before
    assert await life(world, 1) == (Life.LIVE, 1) and await life(world, 2) == (Life.LIVE, 0)
    item = await world.parts.queue.get(a_memory_id(1))
    assert item is not None and item.state is State.KEPT
    assert item.decisions[-1].reason == "edited-by-hand"
    assert await rounds(world, 3) == 0


async def test_one_that_was_taken_out_by_hand_is_archived(world: World) -> None:
    path = the_file(world)
    kept = re.sub(rf"<!-- memory:{a_memory_id(1)}.*?(?=<!-- memory:|\Z)", "", path.read_text(), flags=re.DOTALL)
    assert ONE not in kept and TWO in kept
    path.write_text(kept)

    assert await rounds(world) == 1

    assert (await life(world, 1))[0] is Life.ARCHIVED and (await life(world, 2))[0] is Life.LIVE
    item = await world.parts.queue.get(a_memory_id(1))
    assert item is not None and item.state is State.ARCHIVED
    assert await world.parts.queue.buried(team_of(world), ONE), "it is not proposed again"
    assert await rounds(world, 2) == 0 and ONE not in path.read_text()


async def test_what_is_seen_once_may_be_being_written_just_now(world: World) -> None:
    path = the_file(world)
    path.write_text(path.read_text().replace("Thursdays", "Fridays"))
    assert await rounds(world, 1) == 0

    path.write_text(path.read_text().replace("Fridays", "Mondays"))
    assert await rounds(world, 1) == 0
    assert await rounds(world, 1) == 1


@pytest.mark.promise("formation-29")
@pytest.mark.parametrize("what", ["the file", "the folder"])
async def test_a_whole_file_or_folder_that_is_away_archives_nothing_and_is_told(world: World, what: str) -> None:
    path = the_file(world) if what == "the file" else world.folder / "memory"
    away = world.folder / "away"
    path.rename(away)

    assert await rounds(world, 3) == 0
    assert world.parts.formation.reconciling.away == {team_of(world)}
    away.rename(path)

    assert await rounds(world, 3) == 0
    assert world.parts.formation.reconciling.away == frozenset()
    assert await life(world, 1) == (Life.LIVE, 0) == await life(world, 2)


async def test_while_the_index_has_not_moved_nothing_is_looked_at_but_now_and_then(world: World) -> None:
    reconciling = world.parts.formation.reconciling
    await rounds(world, 1)
    path = the_file(world)
    path.write_text(path.read_text().replace("Thursdays", "Fridays"))

    assert [await reconciling.round() for _ in range(EVERY - 1)] == [0] * (EVERY - 1)
    assert [await reconciling.round() for _ in range(2)] == [0, 1]
