"""A restart folds the past in again: later decisions are the ones that an uninterrupted run would have made."""

import asyncio
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from host.contracts import Claimed
from recall.contracts import EventEnvelope
from tests.support.builders import SESSION, a_call, a_prompt, a_reply, a_result, a_start
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, World, a_world


def script(folder: str) -> list[EventEnvelope]:
    return [
        a_start(workspace=folder),
        a_prompt("Run the integration tests and tell me what breaks.", workspace=folder),
        a_reply("I will run make integration-test.", workspace=folder),
        a_call("make integration-test", call_id="c1", workspace=folder),
        a_result(FAILURE, call_id="c1", workspace=folder),
        a_reply("The pg-fixture container is not there; I will look at docker compose.", workspace=folder),
        a_call("docker compose ps", call_id="c2", workspace=folder),
        a_result("no such service", ok=False, call_id="c2", workspace=folder),
        a_prompt("不对，应该用 pnpm", workspace=folder),
        a_call("make integration-test", call_id="c3", workspace=folder),
        a_result(FAILURE, call_id="c3", workspace=folder),
    ]


async def play(world: World, envelopes: list[EventEnvelope]) -> None:
    for envelope in envelopes:
        world.clock.set(world.clock.now() + 1000)
        await world.feed(envelope)
        claim = await world.claim()
        if isinstance(claim, Claimed):
            await world.deliver(claim)


async def digests(world: World) -> list[tuple[str, str, str]]:
    return [(entry.trigger, entry.reason, entry.decision_digest) for entry in await world.audit(kind=AuditKind.PASS)]


async def prepared(world: World) -> str:
    await world.remember(LESSON)
    await world.remember("In this repository we use pnpm and never npm; package-lock.json must not come back.")
    return world.workspace()


@pytest.mark.promise("deterministic")
@pytest.mark.parametrize("cut", [1, 3, 5, 6, 8, 10])
async def test_a_restart_in_mid_session_changes_no_later_decision(tmp_path: Path, cut: int) -> None:
    folder = tmp_path / "shared"
    async with a_world(folder) as world:
        envelopes = script(await prepared(world))
        await play(world, envelopes)
        whole = await digests(world)
    for file in folder.glob("log.db*"):
        file.unlink()

    async with a_world(folder) as world:
        await world.parts.roots.adopt("", "")
        await play(world, envelopes[:cut])
        stopped_at = world.clock.now()
    async with a_world(folder, start=stopped_at) as world:
        await play(world, envelopes[cut:])
        restarted = await digests(world)

    assert restarted == whole


async def test_events_acknowledged_but_not_decided_get_their_pass_after_the_restart(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        envelopes = script(await prepared(world))
        await world.feed(*envelopes[:3])
        appended = await world.parts.eventlog.append(envelopes[3:5], world.clock.now())
        assert appended.accepted == 2
    async with a_world(folder) as world:
        runtime = await world.parts.sessions.find(SESSION, "main")
        world.parts.workers.wake(runtime)
        await world.settled(runtime)

        assert isinstance(await world.claim(), Claimed)


async def test_two_who_ask_at_once_get_one_runtime(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        await world.feed(*script(world.workspace())[:3])
    async with a_world(folder, start=START) as world:
        first, second = await asyncio.gather(
            world.parts.sessions.find(SESSION, "main"), world.parts.sessions.find(SESSION, "main")
        )

        assert first is second
        assert first.context_version == 2
