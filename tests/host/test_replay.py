"""A replay claims where a host would, and gives the same decisions every time."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from host.contracts import InboxState
from host.errors import ProtocolFault
from host.replay import Replay, Replayed, counted_ids
from recall.contracts import EventEnvelope
from tests.support.builders import a_call, a_prompt, a_reply, a_result, a_start
from tests.support.world import FAILURE, LESSON, World, a_world

PLACE = "/nowhere/shop"  # the same workspace in every world


def a_session() -> list[EventEnvelope]:
    """A prompt, a command that fails in the way the lesson tells of, and what the agent says to it."""
    events = [
        a_start(),
        a_prompt("Please have a look at the weekly report."),
        a_reply("I will look.", step=1),
        a_call("make integration-test", step=1),
        a_result(FAILURE, ok=False, step=1),
        a_reply("They fail.", step=2),
    ]
    return [
        msgspec.structs.replace(event, workspace=PLACE, timestamp=event.timestamp + place * 1000, event_id=f"e{place}")
        for place, event in enumerate(events)
    ]


async def replayed(folder: Path, *lessons: str, repeat: int = 1) -> tuple[Sequence[Replayed], World]:
    async with a_world(folder) as world:
        for lesson in lessons:
            await world.remember(lesson, PLACE)
        events = a_session()
        return [each async for each in Replay(world.parts, world.clock).play(events * repeat)], world


async def test_every_event_comes_back_in_order(tmp_path: Path) -> None:
    played, _ = await replayed(tmp_path)

    assert [each.envelope.event_id for each in played] == [f"e{place}" for place in range(6)]


async def test_a_packet_is_handed_over_before_the_event_that_follows_the_result(tmp_path: Path) -> None:
    played, _ = await replayed(tmp_path, LESSON)

    handed = [(each.envelope.event_id, each.packet) for each in played if each.packet]
    assert [event for event, _ in handed] == ["e5"]
    assert handed[0][1] is not None and "pg-fixture" in handed[0][1].rendered


async def test_what_is_handed_over_is_settled(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.remember(LESSON, PLACE)
        played = [each async for each in Replay(world.parts, world.clock).play(a_session())]

        packet = next(each.packet for each in played if each.packet)
        slot = await world.parts.inbox.find(packet.packet_id)
        assert slot is not None and slot.state is InboxState.DELIVERED


async def test_a_result_at_the_end_still_asks(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.remember(LESSON, PLACE)
        played = [each async for each in Replay(world.parts, world.clock).play(a_session()[:5])]

        assert [each.envelope.event_id for each in played if each.packet] == ["e4"]


async def test_the_same_events_and_memories_give_the_same_digests(tmp_path: Path) -> None:
    first, _ = await replayed(tmp_path / "one" / "f", LESSON)
    again, _ = await replayed(tmp_path / "two" / "f", LESSON)

    digests = [entry.decision_digest for each in first for entry in each.passes]
    assert digests and digests == [entry.decision_digest for each in again for entry in each.passes]


async def test_each_pass_is_told_once_however_often_an_event_is_repeated(tmp_path: Path) -> None:
    played, _ = await replayed(tmp_path, repeat=2)

    ids = [entry.audit_id for each in played for entry in each.passes]
    assert len(ids) == len(set(ids))
    assert not any(each.passes for each in played[6:])


async def test_what_the_log_refuses_is_counted_and_the_others_go_on(tmp_path: Path) -> None:
    first, *rest = a_session()
    refused = [msgspec.structs.replace(first, **wrong) for wrong in ({"event_id": "not an id"}, {"session_id": ""})]

    async with a_world(tmp_path) as world:
        await world.remember(LESSON, PLACE)
        player = Replay(world.parts, world.clock)
        played = [each async for each in player.play([first, *refused, *rest])]

    assert [each.envelope.event_id for each in played] == [f"e{place}" for place in range(6)]
    assert [each.envelope.event_id for each in played if each.packet] == ["e5"]
    assert player.left_out == {"invalid-params": 1, "no-owner": 1}


@pytest.mark.parametrize("step", [1, 2])
async def test_an_event_left_out_costs_no_packet(tmp_path: Path, step: int) -> None:
    """Be it of the same reply as the result before it (1), or of the next one (2)."""
    *before, last = a_session()
    bad = msgspec.structs.replace(before[-1], event_id="not an id", step=step)

    async with a_world(tmp_path) as world:
        await world.remember(LESSON, PLACE)
        played = [each async for each in Replay(world.parts, world.clock).play([*before, bad, last])]

    (handed,) = [each for each in played if each.packet]
    assert handed.envelope.event_id == ("e5" if step == 1 else "not an id")


async def test_a_log_that_is_not_well_ends_the_replay(tmp_path: Path) -> None:
    events = a_session()
    other = msgspec.structs.replace(events[1], payload=msgspec.Raw(b'{"text":"Another thing."}'))

    async with a_world(tmp_path) as world:
        with pytest.raises(ProtocolFault) as fault:
            [each async for each in Replay(world.parts, world.clock).play([*events, other])]

    assert fault.value.kind == "conflict"


def test_ids_count_and_carry_their_prefix() -> None:
    new_id = counted_ids()

    assert [new_id("pkt_"), new_id("aud_")] == [f"pkt_{1:032x}", f"aud_{2:032x}"]
