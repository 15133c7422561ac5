"""A recording becomes the envelopes and the surfaces of the host it was recorded from."""

from pathlib import Path

import msgspec
import pytest

from host.contracts import Surface
from host.demo.recording import Recorded, envelope, load, surface
from recall.contracts import Channel, EventPayload, SourceKind


def recorded(type_: str, step: int = 1, **fields: object) -> Recorded:
    values = {"seq": 7, "ts": "2026-01-06T09:15:59.901Z", "source": "agent", "turn": 1, "text": "said"} | fields
    return msgspec.convert({"type": type_, "step": step} | values, Recorded)


def check(types: list[tuple[str, int]], expected: list[Surface | None]) -> None:
    events = [recorded(type_, step) for type_, step in types]
    assert [surface(events, place) for place in range(len(events))] == expected


def test_a_host_asks_at_a_start_at_a_prompt_and_after_a_result() -> None:
    check(
        [("session/start", 0), ("user/message", 0), ("assistant/message", 1), ("tool/call", 1), ("tool/result", 1)],
        [Surface.SESSION_START, Surface.USER_PROMPT, None, None, Surface.POST_TOOL],
    )


def test_parallel_results_are_one_boundary_after_the_last_of_them() -> None:
    check(
        [("tool/call", 1), ("tool/call", 1), ("tool/result", 1), ("tool/result", 1), ("assistant/message", 2)],
        [None, None, None, Surface.POST_TOOL, None],
    )


def test_a_call_made_between_two_results_of_one_reply_is_no_boundary() -> None:
    check(
        [("tool/result", 1), ("tool/call", 1), ("tool/result", 1), ("tool/call", 2)],
        [None, None, Surface.POST_TOOL, None],
    )


@pytest.mark.parametrize(
    ("event", "channel", "payload"),
    [
        (
            recorded("tool/call", tool="shell", text="make check", callId="c1"),
            Channel.AGENT,
            EventPayload(tool="shell", args="make check"),
        ),
        (
            recorded("tool/result", source="tool", tool="read", ok=False, path="a.py", text="no such file"),
            Channel.TOOLS,
            EventPayload(tool="read", ok=False, path="a.py", text="no such file"),
        ),
        (recorded("user/message", source="user", text="go on"), Channel.SESSION, EventPayload(text="go on")),
        (
            recorded("session/start", source="lifecycle", text="", path="/w/shop"),
            Channel.SESSION,
            EventPayload(source="startup"),
        ),
    ],
)
def test_an_event_becomes_the_envelope_of_its_kind(event: Recorded, channel: Channel, payload: EventPayload) -> None:
    made = envelope(event, "s1", Path("/somewhere"))

    assert msgspec.json.decode(made.payload, type=EventPayload) == payload
    assert (made.channel, made.source_kind, made.event_type) == (channel, event.source, event.type)
    assert (made.session_id, made.agent_id, made.workspace) == ("s1", "main", "/somewhere")
    assert (made.native_seq, made.step, made.timestamp) == (7, 1, 1767690959901)


def test_the_shipped_recording_is_whole() -> None:
    recording = load()
    stored = {memory.id for memory in recording.memories}
    labels = recording.labels

    assert [event.seq for event in recording.events] == list(range(1, len(recording.events) + 1))
    assert {gold.memory for gold in labels.gold} <= stored
    assert set(labels.never_reason) <= stored
    assert {"other-workspace", "superseded", "instruction-like"} <= set(labels.never_reason.values())
    assert any(event.source is SourceKind.USER for event in recording.events)
