"""What is remembered already and may say the same."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.formation.claims import claim_of
from governance.formation.errors import StateFault
from recall.contracts import Origin, Scope
from recall.errors import IndexFault
from recall.snapshot import Snapshot
from tests.support.builders import a_memory_id
from tests.support.formed import ON, a_formed, a_record_line, committed, team_of
from tests.support.world import World, a_world

THURSDAYS = "Releases go out on Thursdays."


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


async def test_it_is_the_live_records_of_the_workspace_and_of_the_user_and_no_others(world: World) -> None:
    here = await world.remember("Releases go out on Thursdays, always.")
    mine = await world.remember("I like releases on Thursdays.", scope=Scope.USER)
    await world.remember("Releases go out on Thursdays elsewhere.", world.workspace("elsewhere"))

    found = await world.parts.formation.known.like(team_of(world), THURSDAYS, 5)

    assert {one.memory_id for one in found} == {here, mine}


async def test_the_record_of_the_very_words_comes_first(world: World) -> None:
    for number in range(8):
        await world.remember(f"Releases go out on Thursdays and on day {number} too.")
    formed = a_formed(50, team_of(world), claim=claim_of(THURSDAYS))
    line = a_record_line(50, THURSDAYS, team_of(world), formed=formed)
    await committed(world, line)
    await world.parts.projector.drain()

    found = await world.parts.formation.known.like(team_of(world), "releases go out on thursdays", 5)

    assert found[0].memory_id == a_memory_id(50) and len(found) == 5
    assert found[0].claim == claim_of(THURSDAYS)


async def test_what_a_person_made_or_kept_or_pinned_is_guarded_and_what_was_formed_is_not(world: World) -> None:
    said = await world.remember("Releases go out on Thursdays, said.", origin=Origin.USER)
    kept = await world.remember("Releases go out on Thursdays, kept.", origin=Origin.REVIEWED)
    pinned = await world.remember("Releases go out on Thursdays, pinned.", origin=Origin.EXTRACTED, pinned=True)
    formed = await world.remember("Releases go out on Thursdays, formed.", origin=Origin.EXTRACTED)

    found = {one.memory_id: one.guarded for one in await world.parts.formation.known.like(team_of(world), THURSDAYS, 9)}

    assert found == {said: True, kept: True, pinned: True, formed: False}


async def test_one_that_says_otherwise_is_marked(world: World) -> None:
    other = await world.remember("The retry limit is 3.")

    (found,) = await world.parts.formation.known.like(team_of(world), "The retry limit is 5.", 5)

    assert (found.memory_id, found.otherwise) == (other, True)


async def test_superseded_records_are_not_known(world: World) -> None:
    line = a_record_line(1, THURSDAYS, team_of(world), formed=a_formed(1, team_of(world), claim=claim_of(THURSDAYS)))
    await committed(world, line)
    await world.parts.projector.drain()
    assert await world.parts.formation.known.like(team_of(world), THURSDAYS, 5)
    scope = world.parts.sessions.scope("", "", team_of(world))
    found = await world.parts.library.get(line.memory_id, scope)
    assert found is not None
    from recall.contracts import Status

    gone = msgspec.structs.replace(found[0], status=Status.SUPERSEDED, superseded_by=a_memory_id(9))
    await world.parts.library.edit(gone, found[1].record_digest, scope)

    assert await world.parts.formation.known.like(team_of(world), THURSDAYS, 5) == ()


async def test_an_index_that_cannot_be_asked_is_said_to_be(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise IndexFault("it is being made anew")

    monkeypatch.setattr(Snapshot, "match", broken)

    with pytest.raises(StateFault):
        await world.parts.formation.known.like(team_of(world), THURSDAYS, 5)
