"""A restart in mid-session knows what was shown, and who wants no evidence has none."""

from pathlib import Path

import pytest

from tests.host.test_witness import CURE, kinds, rows, runs, says, shown, works
from tests.support.builders import AGENT, SESSION
from tests.support.reading import a_read, window
from tests.support.world import a_world


@pytest.mark.promise("evidence-rebuilt")
async def test_a_restart_in_mid_session_knows_what_was_shown_and_which_call_is_awaited(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await shown(world)
        await world.feed(runs(world, CURE))
        before = (await world.parts.sessions.find(SESSION, AGENT)).known

    async with a_world(tmp_path) as world:
        known = (await world.parts.sessions.find(SESSION, AGENT)).known
        assert known == before
        assert world.parts.standings.of(memory_id).reuse == 1
        await world.feed(works(world), says(world, "that note is outdated"))
        assert await kinds(world, memory_id) == ["reuse", "success", "correction"]


async def test_who_wants_no_evidence_has_none_and_what_was_read_still_counts_in_this_run(tmp_path: Path) -> None:
    async with a_world(tmp_path, evidence=False) as world:
        memory_id = await shown(world)
        await world.feed(runs(world, CURE), works(world), says(world, f"{memory_id} is wrong"))
        file = next(world.folder.rglob("records/*.md"))
        await world.feed(a_read(window(file), workspace=world.workspace()))

        assert await rows(world, memory_id) == []
        assert not any(entry.evidence for entry in await world.audit())
        assert world.parts.marks.corrected == frozenset()
        assert memory_id in (await world.parts.sessions.find(SESSION, AGENT)).read
