"""The user's own records of a workspace, as the team workflow asks for them."""

from pathlib import Path

import msgspec
import pytest

from governance.team.binding import Place, bound_of
from governance.team.contracts.base import Bound
from governance.team.errors import Kind, TeamFault
from host.team.privates import LibraryPrivates
from recall.contracts import Scope
from recall.errors import IndexFault
from recall.workspace import workspace_key
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_recall import FORMATS
from tests.support.world import World, a_world

HERON = "The heron gateway is mine."


def bound(folder: str) -> Bound:
    place = Place(
        root=folder, common=f"{folder}/.git", device=1, inode=2, remote=None, workspace_key=workspace_key(folder)
    )
    return bound_of(place, b"s" * 32, FORMATS)


def of(world: World) -> LibraryPrivates:
    return LibraryPrivates(world.parts.library, world.parts.roots, world.parts.clock)


async def test_records_of_the_workspace_are_found_and_no_others(tmp_path):
    async with a_world(tmp_path) as world:
        here = world.workspace("here")
        own = await world.remember(HERON, here)
        nearer = await world.remember("The heron gateway of the harbour is mine.", here)
        everywhere = await world.remember(HERON, here, scope=Scope.USER)
        await world.remember("Their heron is white.", world.workspace("there"))
        found = await of(world).near(bound(here), "heron gateway", 15)
        assert [one.memory_id for one in found] == [own, nearer]
        assert await of(world).get(bound(here), everywhere) is None
        assert found[0].text == HERON
        assert [one.memory_id for one in await of(world).near(bound(here), "heron gateway", 1)] == [own]
        assert await of(world).near(bound(here), "", 15) == ()
        assert await of(world).near(bound(here), "penguin", 15) == ()


async def test_what_stands_in_the_repository_is_not_private(tmp_path):
    async with a_world(tmp_path) as world:
        here = Path(world.workspace("here"))
        (here / ".git").mkdir()
        entry = an_entry("The heron gateway is ours.", 77)
        write_entry(here, entry)
        await world.parts.roots.adopt_repository(str(here), workspace_key(str(here)))
        own = await world.remember(HERON, str(here))
        privates, place = of(world), bound(str(here))
        assert [one.memory_id for one in await privates.near(place, "heron gateway", 15)] == [own]
        assert await privates.get(place, entry.id) is None


async def test_one_record_as_it_stands_in_its_file_now(tmp_path):
    async with a_world(tmp_path) as world:
        here = world.workspace("here")
        own = await world.remember(HERON, here)
        privates, place = of(world), bound(here)
        before = await privates.get(place, own)
        assert before is not None
        assert before.text == HERON
        file = next(one for one in tmp_path.rglob("*.md") if HERON in one.read_text("utf-8"))
        file.write_text(file.read_text("utf-8").replace("mine", "yours"), "utf-8")
        after = await privates.get(place, own)
        assert after is not None
        assert after.text == HERON.replace("mine", "yours")
        assert after.revision != before.revision
        assert await privates.get(place, "mem_" + "0" * 32) is None
        other = msgspec.structs.replace(place, workspace_key="ws_" + "0" * 32)
        assert await privates.get(other, own) is None


async def test_a_record_that_was_superseded_is_none(tmp_path):
    async with a_world(tmp_path) as world:
        here = world.workspace("here")
        own = await world.remember(HERON, here, status="superseded")
        assert await of(world).get(bound(here), own) is None
        assert await of(world).near(bound(here), "heron", 15) == ()


class BrokenLibrary:
    def snapshot(self, now):
        raise IndexFault("the tables are broken", "")

    async def verify(self, ids, scope):
        raise IndexFault("the tables are broken", "")


async def test_an_index_that_cannot_be_asked_is_state_failed(tmp_path):
    async with a_world(tmp_path) as world:
        privates = LibraryPrivates(BrokenLibrary(), world.parts.roots, world.parts.clock)
        for asked in (privates.near(bound(world.workspace()), "heron", 5), privates.get(bound("/x"), "mem_1")):
            with pytest.raises(TeamFault) as fault:
                await asked
            assert fault.value.kind is Kind.STATE_FAILED
