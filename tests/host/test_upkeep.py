"""What a daemon does by itself: undecided events get their pass after a restart, idle sessions leave memory."""

import asyncio
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from host.contracts import Claimed
from host.runtime import state_text
from host.upkeep import IDLE_MS, catch_up, let_idle_go, rest
from recall.contracts import EventEnvelope
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, World, a_world


async def acknowledged(world: World, *envelopes: EventEnvelope) -> None:
    """Stored and acknowledged, and the daemon stopped before their pass."""
    await world.parts.eventlog.append(envelopes, world.clock.now())


async def stopped_before_its_pass(folder: Path) -> None:
    async with a_world(folder) as world:
        project = world.workspace()
        await world.remember(LESSON)
        await world.feed(a_prompt("Good morning, please go on.", workspace=project))
        await acknowledged(world, a_call(workspace=project), a_result(FAILURE, workspace=project))
        await acknowledged(world, a_prompt("Look at the tests.", agent_id="sub-1", workspace=project))


@pytest.mark.promise("acknowledged-is-kept")
async def test_what_was_acknowledged_but_not_decided_gets_its_pass_after_the_restart(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await stopped_before_its_pass(folder)

    async with a_world(folder, start=START + IDLE_MS) as world:
        await catch_up(world.parts)
        await world.parts.tasks.settled()

        passes = [(entry.trigger, entry.reason) for entry in await world.audit(kind=AuditKind.PASS)]
        assert sorted(trigger for trigger, _ in passes) == ["call", "prompt", "prompt", "result:failed"]
        assert ("prompt", "subagent") in passes
        assert isinstance(await world.claim(), Claimed)


async def test_sessions_that_ended_long_ago_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await stopped_before_its_pass(folder)

    async with a_world(folder, start=START + IDLE_MS + 1) as world:
        await catch_up(world.parts)

        assert world.parts.sessions.all() == []


async def test_catching_up_disturbs_no_session_that_is_live_already(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await stopped_before_its_pass(folder)

    async with a_world(folder) as world:
        runtime = await world.parts.sessions.find(SESSION, AGENT)
        await catch_up(world.parts)
        await world.parts.tasks.settled()

        assert world.parts.sessions.known(SESSION, AGENT) is runtime
        assert [entry.trigger for entry in await world.audit(kind=AuditKind.PASS)].count("result:failed") == 1


async def rounds(world: World) -> None:
    """Let the idle task go round until it changes nothing more."""
    task = asyncio.create_task(let_idle_go(world.parts))
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_idle_session_is_let_go_and_comes_back_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.upkeep.ROUND_SECONDS", 0)
    async with a_world(tmp_path / "data") as world:
        project = world.workspace()
        await world.remember(LESSON)
        await world.feed(a_prompt("Good morning, please go on.", workspace=project), a_call(workspace=project))
        before = await world.feed(a_result(FAILURE, workspace=project))
        await world.deliver(await world.claim())
        world.clock.set(START + IDLE_MS)
        await rounds(world)
        still_there = world.parts.sessions.known(SESSION, AGENT)
        world.clock.set(START + IDLE_MS + 1)
        await rounds(world)
        gone = world.parts.sessions.known(SESSION, AGENT)

        after = await world.parts.sessions.find(SESSION, AGENT)

        assert (still_there, gone) == (before, None)
        assert await world.parts.sessions.endings.next() == SESSION  # what it did is told, though it did not end
        assert after is not before
        assert (after.cursor, after.step, after.scope) == (before.cursor, before.step, before.scope)
        assert state_text(after.gate) == state_text(before.gate)
        assert (after.visible(), after.noise()) == (before.visible(), before.noise())
        assert (after.delivered, after.failures, after.prompts) == (before.delivered, before.failures, before.prompts)
        assert after.boundary == before.boundary


async def test_a_session_with_something_to_do_is_not_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.upkeep.ROUND_SECONDS", 0)
    async with a_world(tmp_path / "data") as world:
        runtime = await world.feed(a_prompt(workspace=world.workspace()))
        world.clock.set(START + 10 * IDLE_MS)
        runtime.idle.clear()
        await rounds(world)
        working = world.parts.sessions.known(SESSION, AGENT)
        runtime.idle.set()
        runtime.behind = True
        await rounds(world)

        assert working is world.parts.sessions.known(SESSION, AGENT) is runtime


async def test_a_round_finds_out_that_governance_db_is_back(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        path = world.parts.kept.path
        path.rename(tmp_path / "away.db")
        await rest(world.parts)
        assert world.parts.kept.problem
        (tmp_path / "away.db").rename(path)

        await rest(world.parts)

        assert world.parts.kept.problem == "" and await world.parts.queue.depths() == {}
