"""The pipelines over the ports of a running daemon."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.formation.contracts import Door, Pipeline, RangeStatus, Snapshot, Trigger
from host.config import FormationSettings, PromptSettings
from host.formation.engines import prompts_of
from host.formation.ports import Ask
from recall.workspace import workspace_key
from tests.support.builders import SESSION, a_prompt
from tests.support.checkpoints import ScriptedModel
from tests.support.formed import ON, team_of
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


async def test_the_gate_of_a_run_knows_whether_there_is_a_model(world: World) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))
    snapshot = await world.parts.formation.snapshot(SESSION)

    without = await world.parts.formation.gate.of(snapshot)

    assert (without.door, without.reason) == (Door.CLOSED, "no-driver")


async def test_without_a_model_a_remember_sentence_becomes_a_note_and_the_range_waits(world: World) -> None:
    await world.feed(a_prompt("Remember: releases go out on Thursdays.", workspace=world.workspace()))

    for _ in range(2):  # told twice, it is one note
        (result,) = await world.parts.formation.run(Ask(session_id=SESSION))

    assert (result.status, result.reason) == (RangeStatus.UNAVAILABLE, "no-driver")
    assert (await world.parts.queue.depths()) == {"pending": 1}
    assert [one.session_id for one in await world.parts.formation.waiting()] == [SESSION]


async def test_a_batch_is_formed_with_the_model_that_was_asked_for(world: World) -> None:
    await world.feed(a_prompt("We ship on Thursdays, as agreed.", workspace=world.workspace()))
    model = world.parts.formation.driver = ScriptedModel({"segments": []})

    await world.parts.formation.run(Ask(session_id=SESSION, pipeline=Pipeline.BATCH))

    assert len(model.requests) == 1
    assert "We ship on Thursdays, as agreed." in model.requests[0].messages[0].content


async def test_a_batch_without_a_model_is_nothing(world: World) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))

    assert await world.parts.formation.run(Ask(session_id=SESSION, pipeline=Pipeline.BATCH)) == ()


async def test_settings_reach_the_engine(tmp_path: Path) -> None:
    """With no floor, one conversation is enough; with everything to be reviewed, nothing is committed."""
    from tests.support.checkpoints import item, worded

    for settings, status in (
        (msgspec.structs.replace(ON, min_sessions=0), {"committed": 1}),
        (msgspec.structs.replace(ON, min_sessions=0, auto_commit=False), {"pending": 1}),
        (ON, {"deferred": 1}),
    ):
        folder = tmp_path / f"{settings.min_sessions}-{settings.auto_commit}"
        async with a_world(folder, formation=settings) as world:
            await world.feed(a_prompt("We ship on Thursdays.", workspace=world.workspace()))
            world.parts.formation.driver = ScriptedModel(
                {"status": "complete", "items": [item("We ship on Thursdays.", (f"{SESSION}#1", "ship on Thursdays"))]},
                worded("We ship on Thursdays."),
            )
            await world.parts.formation.run(Ask(session_id=SESSION))

            assert await world.parts.queue.depths() == status


def test_prompts_of_a_workspace_go_by_its_key() -> None:
    settings = PromptSettings(user={"notes": "a"}, workspaces={"/w": {"notes": "b"}}, agents={"codex": {"notes": "c"}})

    policy = prompts_of(settings, workspace_key)

    assert policy.workspaces == {workspace_key("/w"): {"notes": "b"}}
    assert (policy.user, policy.agents) == ({"notes": "a"}, {"codex": {"notes": "c"}})


async def test_a_snapshot_of_another_workspace_is_formed_there(tmp_path: Path) -> None:
    settings = FormationSettings()
    async with a_world(tmp_path / "data", formation=settings) as world:
        await world.feed(a_prompt(workspace=world.workspace("other")))

        snapshot = await world.parts.formation.snapshot(SESSION, Trigger.END)

        assert isinstance(snapshot, Snapshot)
        assert snapshot.workspace_key == team_of(world, world.workspace("other"))
