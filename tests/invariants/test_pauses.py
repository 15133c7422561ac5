"""A pause of the user does not age what waits for him; what anybody does in it does."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from host.contracts import Claimed, Reason, Silence
from host.steps import STEP_END
from recall.contracts import EventEnvelope, EventType
from tests.support.builders import a_call, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.runtimes import a_runtime, take
from tests.support.world import FAILURE, LESSON, World, a_world

MINUTE = 60_000


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as opened:
        yield opened


async def a_failure(world: World) -> str:
    """One remembered lesson, and a failing result that needs it. Returns the memory's id."""
    folder = world.workspace()
    memory_id = await world.remember(LESSON)
    await world.feed(
        a_prompt("Good morning, please go on where we stopped.", workspace=folder),
        a_call("make integration-test", call_id="c1", workspace=folder),
        a_result(FAILURE, call_id="c1", workspace=folder),
    )
    return memory_id


MADE = [a_prompt(), a_reply("I will look.")]  # a packet of the reply waits


@pytest.mark.promise("packet-carried-over")
@pytest.mark.parametrize(
    ("since", "rested"),
    [
        ([a_prompt("Go on.")], True),
        ([an_event(EventType.TURN_END, {}), an_event(STEP_END, {}), a_start("resume"), a_prompt("Go on.")], True),
        ([an_event(EventType.TURN_END, {})], False),
        ([a_reply("Done."), a_prompt("Go on.")], False),
        ([a_reply(""), a_prompt("Go on.")], False),  # what says nothing is no segment, and work all the same
        ([a_result("", ok=True), a_prompt("Go on.")], False),
        ([a_prompt("Go on."), a_prompt("Well?")], False),
        ([a_prompt("<task-notification>done</task-notification>")], False),
        ([], False),
    ],
)
def test_a_session_rests_until_its_users_next_prompt_or_until_anybody_works(
    since: list[EventEnvelope], rested: bool
) -> None:
    runtime = a_runtime()
    take(runtime, *MADE)
    cursor = runtime.cursor

    take(runtime, *since)

    assert runtime.rested_since(cursor) is rested


@pytest.mark.promise("packet-carried-over")
async def test_the_time_in_which_a_session_waits_for_its_user_does_not_count(world: World) -> None:
    memory_id = await a_failure(world)
    world.clock.set(world.clock.now() + 40 * MINUTE)
    await world.feed(a_prompt("And what now, please?", workspace=world.workspace()))

    claim = await world.claim()

    assert isinstance(claim, Claimed)
    assert [item.memory_id for item in claim.packet.items] == [memory_id]
    assert claim.packet.expiry == world.clock.now() + 10 * MINUTE


@pytest.mark.promise("packet-expired")
async def test_a_pause_in_which_the_agent_worked_counts(world: World) -> None:
    folder = world.workspace()
    await a_failure(world)
    await world.feed(a_reply("I look at something else meanwhile.", workspace=folder))
    world.clock.set(world.clock.now() + 40 * MINUTE)
    await world.feed(a_prompt("And what now, please?", workspace=folder))

    assert await world.claim() == Silence(reason=Reason.EXPIRED)


@pytest.mark.promise("packet-expired")
@pytest.mark.parametrize("work", [a_reply(""), a_result("", ok=True, call_id="c2")])
async def test_a_pause_in_which_somebody_worked_and_said_nothing_counts(world: World, work: EventEnvelope) -> None:
    folder = world.workspace()
    await a_failure(world)
    await world.feed(msgspec.structs.replace(work, workspace=folder))
    world.clock.set(world.clock.now() + 40 * MINUTE)
    await world.feed(a_prompt("And what now, please?", workspace=folder))

    assert await world.claim() == Silence(reason=Reason.EXPIRED)
