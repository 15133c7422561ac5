"""Corrections in the middle of everything: passes, claims and deliveries of many sessions at once."""

import asyncio
import random
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from host.contracts import Claimed, Reason, Silence
from host.corrections import Corrections
from tests.support.builders import a_call, a_result
from tests.support.world import FAILURE, LESSON, World, a_world

SESSIONS = 12


async def step(world: World, number: int, round_no: int) -> None:
    folder, session = world.workspace(), f"session-{number}"
    known = {"session_id": session, "workspace": folder, "call_id": f"c{round_no}"}
    await world.feed(a_call("make integration-test", **known), a_result(f"{FAILURE} ({round_no})", **known))


async def claimed(world: World, number: int) -> list[str]:
    claim = await world.claim(session=f"session-{number}")
    return [item.memory_id for item in claim.packet.items] if isinstance(claim, Claimed) else []


def live(world: World) -> list[int]:
    return [number for number in range(SESSIONS) if world.parts.sessions.known(f"session-{number}", "main")]


@pytest.mark.promise("correction-at-once")
@pytest.mark.parametrize("seed", range(6))
async def test_once_the_correction_is_done_no_claim_gives_the_memory(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)
        corrections = Corrections(world.parts)
        for round_no in range(3):
            for number in chance.sample(range(SESSIONS), 4):
                await step(world, number, round_no)
            doing = [
                *(step(world, number, round_no + 10) for number in chance.sample(range(SESSIONS), 3)),
                *(claimed(world, number) for number in live(world)),
                corrections.correct([memory_id], f"aud_{round_no}"),
            ]
            chance.shuffle(doing)
            await asyncio.gather(*doing)

            after = [await claimed(world, number) for number in live(world)]
            assert not any(memory_id in given for given in after)
            assert (await world.parts.inbox.carrying(memory_id)) == []
            await corrections.clear(memory_id)
        assert (await world.parts.audit.verify()).ok
        assert (await world.parts.tally.whole()).leaks == {}
        assert {entry.reason for entry in await world.audit(kind=AuditKind.DROP)} >= {"corrected"}


@pytest.mark.promise("correction-at-once")
@pytest.mark.parametrize("killed", [False, True], ids=["corrected", "killed-behind-the-mark"])
async def test_a_request_that_is_repeated_is_not_given_what_was_corrected_in_between(
    tmp_path: Path, killed: bool
) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON)
        await step(world, 0, 0)
        first = await world.claim(session="session-0", request_id="r")
        assert isinstance(first, Claimed)
        assert await world.claim(session="session-0", request_id="r") == first
        if killed:
            await world.parts.marks.correct(memory_id, world.clock.now())
        else:
            await Corrections(world.parts).correct([memory_id], "aud_1")
    async with a_world(tmp_path) as world:
        again = await world.claim(session="session-0", request_id="r")
        assert again == Silence(reason=Reason.STALE_INDEX)
