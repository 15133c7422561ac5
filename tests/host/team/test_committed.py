"""What was promoted is found by the next pass, and nothing that it took the place of is handed over any more."""

import sqlite3
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from governance.team.errors import Kind, TeamFault
from host.contracts import Claimed, Reason, Silence
from recall.team_entry import render, superseded
from tests.support.builders import a_memory_id
from tests.support.checkouts import a_checkout
from tests.support.team_entries import an_entry, path_of, write_entry
from tests.support.team_trust import adopted, bound_in, hits, needed, origins, receive, reread
from tests.support.world import LESSON, World


@pytest.mark.promise("team-injectable")
@pytest.mark.parametrize("read_before", [True, False])
async def test_what_we_wrote_is_reviewed_in_a_repository_that_nobody_was_asked_about(
    world: World, tmp_path: Path, read_before: bool
) -> None:
    """Also when the file was seen before its receipt was there, and in a repository that had no memory before."""
    top, entry = a_checkout(tmp_path / "top"), an_entry()
    if read_before:
        await adopted(world, top)
    file = write_entry(top, entry)
    if read_before:
        await world.parts.library.refresh(str(file))
        assert await origins(world, top) == ["imported"]
    bound = await bound_in(world, top)
    await receive(world, bound, file)

    await reread(world).promoted(bound, [path_of(entry)], [])

    assert await origins(world, top) == ["reviewed"]
    write_entry(top, an_entry("The heron gateway is theirs.", number=2))
    file.write_bytes(file.read_bytes().replace(b"confidence: high", b"confidence: low"))
    await world.parts.library.refresh(str(file.parent))
    assert await origins(world, top) == ["imported", "imported"]


@pytest.mark.promise("team-11")
async def test_what_it_took_the_place_of_is_found_no_more_and_its_packets_are_dropped(
    world: World, tmp_path: Path
) -> None:
    top = a_checkout(tmp_path / "top")
    old, new = an_entry(LESSON, number=1), an_entry(f"{LESSON} It takes a minute.", number=2)
    bound, file = await bound_in(world, top), write_entry(top, old)
    await receive(world, bound, file)
    await reread(world).promoted(bound, [path_of(old)], [])
    await needed(world, top)

    written = [write_entry(top, new), file]
    file.write_bytes(render(superseded(old, new.id)))
    await receive(world, bound, *written)
    await reread(world).promoted(bound, [path_of(new), path_of(old)], [old.id])

    assert [hit.memory_id for hit in await hits(world, top, "integration test container")] == [new.id]
    drops = await world.audit(kind=AuditKind.DROP)
    assert [drop.reason for drop in drops] == [Reason.SUPERSEDED]
    assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
    await needed(world, top, "session-2")
    claim = await world.claim(session="session-2")
    assert isinstance(claim, Claimed) and [item.memory_id for item in claim.packet.items] == [a_memory_id(2)]


async def test_an_index_that_cannot_follow_is_told_and_follows_later(world: World, tmp_path: Path) -> None:
    top, entry = a_checkout(tmp_path / "top"), an_entry()
    bound, file = await bound_in(world, top), write_entry(top, entry)
    await receive(world, bound, file)

    class Full:
        async def look_anew(self, *paths: str) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    broken = reread(world)
    object.__setattr__(broken, "library", Full())
    with pytest.raises(TeamFault) as told:
        await broken.promoted(bound, [path_of(entry)], [])

    assert told.value.kind is Kind.SYNC_PARTIAL and "disk is full" in told.value.problem and told.value.next_step
    assert await origins(world, top) == ["reviewed"]
