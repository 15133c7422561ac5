"""The records beside a text: of its scope alone, those that hold now, and what they are to it."""

from typing import Any

import pytest

from host.neighbours import NEIGHBOURS, Neighbours, only
from host.verbs import Clean, Words, cleaned
from recall.compare import New, Same, Update
from recall.contracts import Origin, Scope, ScopeRef, Status, visible
from recall.workspace import workspace_key
from tests.support.builders import a_candidate, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.world import World

WORDS = cleaned(Words(text="The retry limit is 20."))


def here(world: World) -> ScopeRef:
    return ScopeRef(kind=Scope.WORKSPACE, key=workspace_key(world.workspace()))


async def beside(world: World, scope: ScopeRef | None = None, words: Clean = WORDS) -> list[str]:
    return [one.memory_id for one in await Neighbours(world.parts).of(words, scope or here(world))]


async def test_neighbours_share_words_and_scope(world: World) -> None:
    near = await world.remember("The retry limit is 10.")
    mine = await world.remember("The retry limit is 30.", scope=Scope.USER)
    await world.remember("The retry limit is 40.", world.workspace("other"))
    await world.remember("Owls sleep by day.")

    assert await beside(world) == [near]
    assert await beside(world, a_user_scope()) == [mine]


@pytest.mark.parametrize("fields", [{"status": Status.SUPERSEDED}, {"expires_at": 1}, {"valid_from": 2**52}])
async def test_what_does_not_hold_now_is_no_neighbour(world: World, fields: dict[str, Any]) -> None:
    await world.remember("The retry limit is 10.", **fields)

    assert await beside(world) == []


async def test_a_text_without_words_has_no_neighbours(world: World) -> None:
    await world.remember("The retry limit is 10.")

    assert await beside(world, words=cleaned(Words(text="?!"))) == []


async def test_the_nearest_come_first_and_are_few(world: World) -> None:
    for number in range(NEIGHBOURS + 4):
        await world.remember(f"The limit of owl number {number + 100} is set.")
    same = await world.remember("The retry limit is 20.")

    found = await beside(world)

    assert (found[0], len(found)) == (same, NEIGHBOURS)


def test_what_a_person_says_is_no_duplicate_of_what_was_imported(world: World) -> None:
    foreign = a_candidate(WORDS.text, origin=Origin.IMPORTED, memory_id=a_memory_id(1))
    own = a_candidate("the retry limit is 20", memory_id=a_memory_id(2))
    other = a_candidate("The retry limit is 10.", origin=Origin.IMPORTED, memory_id=a_memory_id(3))
    neighbours = Neighbours(world.parts)

    assert neighbours.compared(WORDS, [foreign]) == New()
    assert neighbours.compared(WORDS, [foreign, own]) == Same(id=a_memory_id(2))
    assert neighbours.compared(WORDS, [foreign, other]) == Update(ids=(a_memory_id(3),))


async def test_a_record_is_ours_when_it_stands_in_our_folder(world: World) -> None:
    memory_id = await world.remember("Owls sleep.")
    found = await world.parts.library.get(memory_id, only(here(world)))
    assert found is not None
    neighbours, roots = Neighbours(world.parts), world.parts.roots

    assert neighbours.ours(found[1], roots.private(here(world).key)) is True
    assert neighbours.ours(found[1], roots.user()) is False


@pytest.mark.parametrize("scope", [a_workspace_scope(), a_user_scope()])
def test_a_view_of_one_scope_sees_that_scope_alone(scope: ScopeRef) -> None:
    others = [a_workspace_scope(), a_user_scope(), a_workspace_scope("ws_other")]

    assert [one for one in others if visible(one, only(scope))] == [scope]
