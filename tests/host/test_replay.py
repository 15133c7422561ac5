"""A replay claims where a host would, and gives the same decisions every time."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from host.contracts import InboxState, Surface
from host.errors import ProtocolFault
from host.replay import Replay, Replayed, Surfaces, counted_ids
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


async def test_a_packet_is_handed_over_with_the_result_and_no_later_event_is_looked_at(tmp_path: Path) -> None:
    played, _ = await replayed(tmp_path, LESSON)

    handed = [(each.envelope.event_id, each.packet) for each in played if each.packet]
    assert [event for event, _ in handed] == ["e4"]
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
    assert [each.envelope.event_id for each in played if each.packet] == ["e4"]
    assert player.left_out == {"invalid-params": 1, "no-owner": 1}


@pytest.mark.parametrize("bad_call", [False, True])
async def test_an_event_left_out_costs_no_packet(tmp_path: Path, bad_call: bool) -> None:
    """Be it a result that comes before the good one, or a call that has one."""
    start, prompt, reply, call, result, last = a_session()
    refused = msgspec.structs.replace(call if bad_call else result, event_id="not an id")
    events = [start, prompt, reply, refused, result] if bad_call else [start, prompt, reply, call, refused, result]

    async with a_world(tmp_path) as world:
        await world.remember(LESSON, PLACE)
        played = [each async for each in Replay(world.parts, world.clock).play([*events, last])]

    (handed,) = [each for each in played if each.packet]
    assert handed.envelope.event_id == "e4"


async def test_a_log_that_is_not_well_ends_the_replay(tmp_path: Path) -> None:
    events = a_session()
    other = msgspec.structs.replace(events[1], payload=msgspec.Raw(b'{"text":"Another thing."}'))

    async with a_world(tmp_path) as world:
        with pytest.raises(ProtocolFault) as fault:
            [each async for each in Replay(world.parts, world.clock).play([*events, other])]

    assert fault.value.kind == "conflict"


START, PROMPT = Surface.SESSION_START, Surface.USER_PROMPT
DONE = Surface.POST_TOOL


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([a_start(), a_prompt("Go."), a_reply("Yes.", step=1)], [START, PROMPT, None]),
        ([a_call(step=1), a_result(step=1), a_reply("Done.", step=2)], [None, DONE, None]),
        (
            [a_call(step=1), a_call(call_id="c2", step=1), a_result(call_id="c2", step=1), a_result(step=1)],
            [None, None, None, DONE],
        ),
        (  # a call that was broken off: the next reply's are waited for alone
            [a_call(step=1), a_call(call_id="c2", step=2), a_result(call_id="c2", step=2)],
            [None, None, DONE],
        ),
        ([a_call(), a_result(), a_call(), a_result()], [None, DONE, None, DONE]),  # a producer that counts no replies
        ([a_result(step=3)], [DONE]),  # the recording begins in the middle
    ],
)
def test_a_host_asks_at_starts_and_prompts_and_when_a_reply_has_its_results(
    events: list[EventEnvelope], expected: list[Surface | None]
) -> None:
    surfaces = Surfaces()

    assert [surfaces.after(event) for event in events] == expected


@pytest.mark.parametrize(("brought", "then"), [(False, DONE), (True, None)])
def test_calls_made_one_after_the_other_in_one_reply_get_one_packet(brought: bool, then: Surface | None) -> None:
    surfaces = Surfaces()
    first = [surfaces.after(event) for event in (a_call(step=1), a_result(step=1))]
    if brought:
        surfaces.brought()

    assert first == [None, DONE]
    assert [surfaces.after(event) for event in (a_call(step=1), a_result(step=1))] == [None, then]
    assert [surfaces.after(event) for event in (a_call(step=2), a_result(step=2))] == [None, DONE]


def test_ids_count_and_carry_their_prefix() -> None:
    new_id = counted_ids()

    assert [new_id("pkt_"), new_id("aud_")] == [f"pkt_{1:032x}", f"aud_{2:032x}"]
