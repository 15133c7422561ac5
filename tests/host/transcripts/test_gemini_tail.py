"""What is heard of a Gemini CLI session at hook time: hook and transcript are one event, a subagent's is its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from host.adapters.gemini_cli import decode
from host.contracts import Heard, Surface
from host.steps import counted
from host.transcripts import READERS, read
from host.transcripts.gemini_tail import TOLD_KEPT, GeminiOverhearing
from tests.host.adapters import goldens
from tests.host.transcripts.reading import a_line, payload
from tests.host.transcripts.test_gemini import HEADER, SUMMARY, call, gemini, patch, user

CAPTURES = goldens.captures("gemini-cli")
SINCE = 1_795_978_000_000  # before all of it
LATER = 1_895_978_000_000


def hook(event: str, at: str = "2026-11-29T19:00:05.000Z", **fields: object) -> Heard:
    told = {"session_id": "s-1", "cwd": "/p", "hook_event_name": event, "timestamp": at, "transcript_path": "/t"}
    return decode(json.dumps({**told, **fields}).encode())


def after(name: str, at: str = "2026-11-29T19:00:05.000Z", **arguments: object) -> Heard:
    return hook("AfterTool", at, tool_name=name, tool_input=arguments, tool_response={"llmContent": "ok"})


def lines(*records: dict[str, Any]) -> list[bytes]:
    return [a_line(record) for record in records]


def ids(what: Heard) -> list[str | None]:
    return [event.event_id for event in what.envelopes]


def replayed(capture: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Of a capture, event ids with payloads: as hooks and overhearing tell them in turn, and as the file tells them."""
    file = (capture / "transcript.jsonl").read_bytes().splitlines(keepends=True)
    told = list(goldens.payloads(capture))
    hearing = GeminiOverhearing(told[0]["session_id"], "/home/dev/project", SINCE)
    heard: dict[str, bytes] = {}
    place = 0
    for payloads in told:
        until = _written(file, place, payloads)
        overheard = hearing.hear(file[place:until])
        place = until
        placed = hearing.placed(decode(json.dumps(payloads).encode()))
        for event in (*overheard.envelopes, *placed.envelopes):
            if event.event_id is not None:
                assert heard.setdefault(event.event_id, bytes(event.payload)) == bytes(event.payload)
    events = read(READERS["gemini-cli"](""), file)
    return heard, {event.event_id or "": bytes(event.payload) for event in events}


def _written(file: list[bytes], place: int, told: dict[str, Any]) -> int:
    """How far the file was written when a hook was called. A message has its calls only once they have ended."""
    for number in range(place, len(file)):
        record = json.loads(file[number])
        late = str(record.get("timestamp") or record.get("startTime") or "") > told["timestamp"]
        if late or ("toolCalls" in record and told["hook_event_name"] == "AfterTool"):
            return number
    return len(file)


@pytest.mark.parametrize("capture", CAPTURES, ids=[capture.name for capture in CAPTURES])
def test_what_hooks_and_transcript_tell_is_one_event_each(capture: Path) -> None:
    heard, written = replayed(capture)

    assert written.items() <= heard.items()
    assert not any("@" in name for name in heard)
    beside = {name.partition(":")[0] for name in heard.keys() - written.keys()}
    assert beside <= {"client", "step", "turn", "agent", "call", "result"}  # calls: a subagent's own


def test_a_call_belongs_to_the_message_that_made_it() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    hearing.hear(lines(HEADER, user("u1", "Look."), gemini("g1", "I look.")))
    first = hearing.placed(after("glob", pattern="*"))
    hearing.hear(lines(gemini("g1", "I look.", call("glob", pattern="*")), gemini("g2")))
    second = hearing.placed(after("glob", "2026-11-29T19:00:06.000Z", pattern="*"))

    assert ids(first)[0] != ids(second)[0]
    assert [str(name).split(":")[1] for name in (*ids(first), *ids(second))] == ["g1", "g1", "g2", "g2"]
    assert first.envelopes[0].call_id == first.envelopes[1].call_id


def test_the_same_call_twice_in_one_message_is_two_and_one_told_twice_is_one() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    hearing.hear(lines(HEADER, gemini("g1")))
    one = hearing.placed(after("glob", "2026-11-29T19:00:05.100Z", pattern="*"))
    again = hearing.placed(after("glob", "2026-11-29T19:00:05.100Z", pattern="*"))
    other = hearing.placed(after("glob", "2026-11-29T19:00:05.200Z", pattern="*"))
    assert ids(one) == ids(again) != ids(other)
    for number in range(TOLD_KEPT):
        hearing.placed(after("glob", "2026-11-29T19:00:05.300Z", pattern=str(number)))
    assert len(hearing._told) == TOLD_KEPT


def test_the_agents_words_come_from_the_transcript_and_not_again_from_the_hook() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    heard = hearing.hear(lines(HEADER, user("u1", "Look."), gemini("g1", "I look."), gemini("g2", "Done.")))
    ended = hearing.placed(hook("AfterAgent", prompt="Look.", prompt_response="I look.\nDone."))

    assert [(event.event_type, payload(event)) for event in heard.envelopes] == [
        ("session/client", {"model": "m"}),
        ("step/end", {}),
        ("assistant/message", {"text": "I look."}),
        ("step/end", {}),
        ("assistant/message", {"text": "Done."}),
    ]
    assert [event.event_type for event in ended.envelopes] == ["turn/end"]
    assert ids(ended) == ["turn:g2:end"]


def test_the_tools_of_one_reply_are_one_step() -> None:
    """They run side by side, and their hooks come in any order: the next step begins with the next reply."""
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    events = [*hearing.hear(lines(HEADER, user("u1", "Look."), gemini("g1"))).envelopes]
    for number in range(3):
        placed = hearing.placed(after("glob", f"2026-11-29T19:00:05.{number}00Z", pattern=str(number)))
        assert (placed.surface, placed.ends_step) == (Surface.POST_TOOL, False)
        events += placed.envelopes
    events += hearing.hear(lines(gemini("g2", "So."))).envelopes
    events += hearing.placed(after("glob", "2026-11-29T19:00:06.000Z", pattern="x")).envelopes

    step, replied, steps = 0, False, []
    for event in events:
        step, replied = counted(event, step, replied)
        steps += [step] if event.event_type == "tool/call" else []
    assert steps == [1, 1, 1, 2]
    assert GeminiOverhearing("s-1", "/p", SINCE).placed(after("glob")).ends_step


def test_without_a_transcript_the_hook_tells_what_the_agent_said() -> None:
    ended = GeminiOverhearing("s-1", "/p", SINCE).placed(hook("AfterAgent", prompt_response="Done."))
    assert [event.event_type for event in ended.envelopes] == ["assistant/message", "turn/end"]


def test_shown_texts_are_told_and_what_a_compression_wiped_is_not() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    shown = user("u1", "Hi<hook_context>&lt;frame&gt;</hook_context>")
    assert hearing.hear(lines(HEADER, shown)).shown == ("<frame>",)

    wiped = patch(messages=[user("n1", SUMMARY)])
    heard = hearing.hear(
        lines(user("u2", "x<hook_context>a</hook_context>"), wiped, user("u3", "y<hook_context>b</hook_context>"))
    )
    assert heard.shown == ("b",)
    assert [(event.event_type, event.event_id) for event in heard.envelopes] == [("session/compact", "compact:n1")]
    assert hearing.hear(lines(wiped)).envelopes == ()


def test_what_was_written_before_is_not_told() -> None:
    hearing = GeminiOverhearing("s-1", "/p", LATER)
    heard = hearing.hear(lines(HEADER, gemini("g1", "Old."), patch(messages=[user("n1", SUMMARY)])))
    assert [event.event_type for event in heard.envelopes] == ["session/client"]


def test_what_happens_while_a_subagent_runs_is_the_subagents_and_gets_nothing() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    hearing.hear(lines(HEADER, gemini("g1")))
    task = {"agent_name": "generalist", "prompt": "Look."}

    begun = hearing.placed(hook("BeforeTool", "2026-11-29T19:00:05.000Z", tool_name="invoke_agent", tool_input=task))
    inside = hearing.placed(after("glob", "2026-11-29T19:00:05.100Z", pattern="*"))
    ended = hearing.placed(after("invoke_agent", "2026-11-29T19:00:05.200Z", **task))
    outside = hearing.placed(after("glob", "2026-11-29T19:00:05.300Z", pattern="*"))

    call_event, spawned = begun.envelopes
    assert (call_event.agent_id, spawned.event_type) == ("main", "agent/spawn")
    assert (inside.surface, inside.agent_id) == (None, spawned.agent_id)
    assert {event.agent_id for event in inside.envelopes} == {spawned.agent_id}
    assert [(e.event_type, e.agent_id) for e in ended.envelopes] == [
        ("agent/stop", spawned.agent_id),
        ("tool/call", "main"),
        ("tool/result", "main"),
    ]
    assert (ended.envelopes[1].event_id, ended.envelopes[1].call_id) == (call_event.event_id, call_event.call_id)
    assert (outside.surface, outside.agent_id) == (Surface.POST_TOOL, "main")


def test_a_subagent_that_never_returned_ends_with_the_turn() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    hearing.placed(hook("BeforeTool", tool_name="invoke_agent", tool_input={"prompt": "Look."}))
    hearing.placed(hook("BeforeAgent", prompt="Stop that."))
    assert hearing.placed(after("glob", pattern="*")).surface is Surface.POST_TOOL


def test_odd_lines_and_calls_are_let_through() -> None:
    hearing = GeminiOverhearing("s-1", "/p", SINCE)
    assert (
        hearing.hear(
            [b"{", b"[]\n", b"\xff\n", *lines({"$set": 5}, {"type": "gemini"}, {"type": "user", "content": 7})]
        ).shown
        == ()
    )
    for event in ("BeforeTool", "AfterTool", "AnEventOfTomorrow"):
        bare = Heard(envelopes=(), session_id="s", agent_id="main", event=event)
        assert hearing.placed(bare) == bare
