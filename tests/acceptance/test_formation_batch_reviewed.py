"""Batch extraction over a store that a person reviewed changes nothing of what they decided (issue 7, point 4)."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import Pipeline
from governance.formation.store import memories
from host.formation.ports import Ask
from recall.survey import anywhere
from tests.support.asking import Asking
from tests.support.batched import a_name, formed, script, told
from tests.support.batching import a_decision, a_memory_said, a_segment, chose, said
from tests.support.builders import SESSION, a_prompt, a_start
from tests.support.formed import ON
from tests.support.reviewing import decide, waiting
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


@pytest.mark.promise("reviewed-stays")
async def test_read_again_three_times_nothing_of_a_kept_edited_or_archived_record_changes(world: World) -> None:
    remora, folder = Asking(world), world.workspace()
    sentences = ["The release day is Thursday.", "The retry limit is 5.", "The queue is called wombat."]
    await told(world, " ".join(sentences), "Noted.")
    name = await a_name(world, 0)
    _, (first,) = await formed(world, said(a_segment(*[a_memory_said(one, name) for one in sentences])))
    kept, edited, archived = first.committed
    items = {one["item"]["itemId"]: one["item"] for one in await waiting(remora, folder, states=["committed"])}
    await decide(remora, folder, items[kept], "keep", reason="agreed")
    await decide(remora, folder, items[edited], "edit-and-keep", text="The retry limit is 6.")
    await decide(remora, folder, items[archived], "archive", reason="not true")
    await world.parts.formation.projected()
    before = await standing(world, first.committed)

    for number in range(3):
        session = f"{SESSION}-again-{number}"
        here = {"workspace": folder, "session_id": session}
        await world.feed(a_start(**here), a_prompt(" ".join(sentences), **here))
        await world.parts.tasks.settled()
        (again,) = [one.message_id for one in await world.parts.formation.material.read(session, -1, 99)]
        answers = said(a_segment(*[a_memory_said(one, again) for one in sentences]))
        world.parts.formation.driver = script(answers, chose(a_decision(0, "update", edited)))
        (result,) = await world.parts.formation.run(Ask(session_id=session, pipeline=Pipeline.BATCH))
        await world.parts.formation.projected()
        assert (result.committed, result.rejected["said-no"]) == ((), 1)
        assert await standing(world, first.committed) == before

    (proposal,) = await waiting(remora, folder, states=["pending"])  # the update waits for a person, and once
    assert (proposal["item"]["updates"], proposal["item"]["text"]) == (edited, "The retry limit is 5.")


async def standing(world: World, memory_ids: Sequence[str]) -> list[Any]:
    """All that is said of these: as they stand in their files, byte for byte, and what was decided about them."""
    records = await world.parts.library.survey(lambda sql: anywhere(sql, memory_ids=list(memory_ids)))
    stands = sorted((one.record.memory_id, one.locator.record_digest, repr(one.record)) for one in records)

    def work(sql: sqlite3.Connection) -> list[Any]:
        marks = ", ".join("?" * len(memory_ids))
        queue = sql.execute(f"SELECT * FROM queue WHERE item_id IN ({marks}) ORDER BY item_id", memory_ids).fetchall()
        return [*queue, *(memories.of(sql, one) for one in memory_ids)]

    assert len(stands) == len(memory_ids)
    return [stands, await world.parts.kept.read(work)]
