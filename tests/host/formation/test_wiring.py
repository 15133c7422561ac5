"""Formation put together: what leaves recall leaves its packets, and a driver is made as the settings say."""

import json
from pathlib import Path

import pytest

from governance.formation.errors import ModelError
from governance.formation.store import outbox
from host.config import FormationSettings
from host.contracts import Claimed, Reason
from host.formation.wiring import drivers
from recall.contracts import Origin
from tests.support.builders import a_call, a_prompt, a_result
from tests.support.clock import START
from tests.support.formed import ON, a_record_line, a_tombstone, committed, team_of
from tests.support.world import FAILURE, LESSON, a_world


async def test_a_record_that_is_archived_leaves_the_packet_that_carries_it(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        here = {"workspace": world.workspace()}
        line = a_record_line(1, LESSON, team_of(world), record={"origin": Origin.REVIEWED})
        await committed(world, line)
        await world.parts.projector.drain()
        await world.feed(a_prompt("run the tests", **here), a_call("make integration-test", **here))
        await world.feed(a_result(FAILURE, **here))

        await world.parts.kept.write(lambda connection: outbox.put(connection, a_tombstone(1), START))
        await world.parts.projector.drain()

        assert not isinstance(await world.claim(), Claimed)
        assert Reason.STALE_INDEX in {entry.reason for entry in await world.audit()}


async def test_a_driver_is_made_of_its_spec(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"id": "demo", "answers": []}))
    make = drivers(FormationSettings(), tmp_path / "scratch")

    assert (await make(f"scripted:{path}")).id == "scripted:demo"
    with pytest.raises(ModelError):
        await make("nobody")


async def test_formation_that_is_off_makes_no_driver(tmp_path: Path) -> None:
    settings = FormationSettings(enabled=False, driver="scripted", script="/nowhere")
    async with a_world(tmp_path / "data", formation=settings) as world:
        assert world.parts.formation.driver is None and world.parts.formation.driver_problem == ""


async def test_a_forgetting_that_was_stopped_half_way_is_finished_by_its_line(tmp_path: Path) -> None:
    """The line is committed first; whatever of the rest was not done is done when it is written."""
    async with a_world(tmp_path / "data", formation=ON) as world:
        here = {"workspace": world.workspace()}
        line = a_record_line(1, LESSON, team_of(world), record={"origin": Origin.REVIEWED})
        await committed(world, line)
        await world.parts.projector.drain()
        await world.parts.marks.said_again(line.memory_id, START)
        await world.feed(a_prompt("run the tests", **here), a_call("make integration-test", **here))
        await world.feed(a_result(FAILURE, **here))

        await world.parts.kept.write(lambda connection: outbox.put(connection, a_tombstone(1, "forgotten"), START))
        await world.parts.projector.drain()

        assert not await world.parts.inbox.carrying(line.memory_id)
        assert await world.parts.marks.sightings(line.memory_id) == 1
        for path in world.folder.rglob("*"):
            if path.is_file() and path.suffix in (".md", ".jsonl"):
                assert b"pg-fixture" not in path.read_bytes()
