"""Following a transcript while it is written, and what is heard of it beside the hooks."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.adapters.claude_code import decode
from host.transcripts import READERS, Overheard, read, tail
from host.transcripts.tail import Overhearing, Tail, advance, begin
from recall.contracts import EventType
from tests.host.transcripts.reading import (
    DATA,
    SESSION,
    a_call,
    a_line,
    a_record,
    a_result,
    case,
    payload,
    said,
    typed,
)


def test_lines_come_once_and_an_unfinished_one_waits(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\ntw")
    lines, state = advance(begin(str(file)))
    assert lines == (b"one\n",)

    assert advance(state)[0] == ()
    with file.open("ab") as more:
        more.write(b"o\nthree\n")
    lines, state = advance(state)

    assert lines == (b"two\n", b"three\n")
    assert advance(state) == ((), state)


def test_case_a_record_written_in_two_parts_is_one_record(tmp_path: Path) -> None:
    wanted = case("transcript-partial-then-complete")
    file = tmp_path / "t.jsonl"
    reader, state, events, counts = READERS["claude-code"](""), Tail(path=str(file)), [], []

    for part in wanted["given"]["appends"]:
        with file.open("a") as more:
            more.write(part)
        lines, state = advance(state)
        events += read(reader, lines)
        counts.append(reader.report().records)

    assert counts == wanted["then"]["records_after_each"]
    assert typed(events) == wanted["then"]["user_texts"]


def test_case_a_file_rewritten_shorter_is_read_again_and_each_prompt_told_once(tmp_path: Path) -> None:
    wanted = case("transcript-rewritten-shorter")
    file = tmp_path / "t.jsonl"
    reader, state, events = READERS["claude-code"](""), Tail(path=str(file)), []

    for prompts in (wanted["given"]["first"], wanted["given"]["then_file_becomes"]):
        pairs = [prompt.split(": ", 1) for prompt in prompts]
        file.write_bytes(b"".join(a_record("user", text, uuid=uuid) for uuid, text in pairs))
        lines, state = advance(state)
        events += read(reader, lines)

    assert typed(events) == wanted["then"]["user_texts_once_each"]


@pytest.mark.parametrize("replacement", [b"x\ny\n", b"one\ntwo\nthree\nfour\n", b""])
def test_a_file_with_another_past_is_read_from_its_beginning(tmp_path: Path, replacement: bytes) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\nTWO\n")
    _, state = advance(begin(str(file)))

    file.write_bytes(replacement)

    assert advance(state)[0] == tuple(replacement.splitlines(keepends=True))


def test_another_file_under_the_same_name_is_read_from_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\n")
    _, state = advance(begin(str(file)))

    (tmp_path / "new").write_bytes(b"one\ntwo\n")
    (tmp_path / "new").rename(file)

    assert advance(state)[0] == (b"one\n", b"two\n")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")

    assert advance(begin(str(tmp_path / "t.jsonl")))[0] == ()


def test_a_missing_file_has_nothing_to_say_until_it_comes(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    lines, state = advance(begin(str(file)))
    assert (lines, state) == ((), Tail(path=str(file)))

    file.write_bytes(b"one\n")

    assert advance(state)[0] == (b"one\n",)


@pytest.mark.parametrize(
    ("back", "expected"),
    [
        (None, (b"one\n", b"two\n")),
        (100, (b"one\n", b"two\n")),
        (8, (b"one\n", b"two\n")),
        (7, (b"two\n",)),
        (4, (b"two\n",)),
        (3, ()),
        (0, ()),
    ],
)
def test_one_may_begin_near_the_end_at_a_whole_line(
    tmp_path: Path, back: int | None, expected: tuple[bytes, ...]
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\ntwo\n")
    state = begin(str(file), back)
    lines, state = advance(state)
    assert lines == expected

    with file.open("ab") as more:
        more.write(b"three\n")
    assert advance(state)[0] == (b"three\n",)


def test_a_line_longer_than_a_step_is_still_one_line(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"x" * 1000 + b"\nend\n")

    lines, state = advance(begin(str(file)), max_bytes=10)

    assert lines[0] == b"x" * 1000 + b"\n"
    assert [*lines[1:], *advance(state, max_bytes=10)[0]] == [b"end\n"]


def test_a_line_beyond_all_measure_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "LONGEST", 100)
    monkeypatch.setattr(tail, "STEP", 10)
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"x" * 250)
    state = begin(str(file))
    for _ in range(3):
        lines, state = advance(state, max_bytes=10)
        assert lines == ()
    assert state.skipping

    with file.open("ab") as more:
        more.write(b"x\nend\n")

    assert advance(state, max_bytes=10)[0] == (b"end\n",)


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=12), max_size=8), st.integers(1, 7))
def test_any_split_of_the_writes_gives_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int
) -> None:
    file = tmp_path_factory.mktemp("tail") / "t.jsonl"
    state, heard = Tail(path=str(file)), b""
    for part in parts:
        with file.open("ab") as more:
            more.write(part)
        lines, state = advance(state, max_bytes=size)
        assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
        heard += b"".join(lines)
    while lines := advance(state, max_bytes=size)[0]:
        heard += b"".join(lines)
        state = advance(state, max_bytes=size)[1]
    whole = b"".join(parts)
    assert heard == whole[: whole.rfind(b"\n") + 1]


# ---------------------------------------------------------------------- overhearing


def overheard(*lines: bytes, since: int = 0) -> tuple[list[str], tuple[str, ...]]:
    told = Overhearing(SESSION, "/w", since).hear(lines)
    return said(told.envelopes), told.shown


def test_only_the_agents_own_words_and_shown_texts_are_overheard() -> None:
    shown = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["a packet"]}}
    assert overheard(
        a_record("user", "Fix it.", promptId="p1"),
        a_line(shown),
        a_record("assistant", [{"type": "thinking", "thinking": "hm"}], uuid="a0", message_id="m1"),
        a_record("assistant", [{"type": "text", "text": " I will look. "}], uuid="a1", message_id="m1"),
        a_record("assistant", [{"type": "text", "text": "Now."}], uuid="a2", message_id="m1"),
        a_record("assistant", [a_call("t1")], uuid="a3", message_id="m1"),
        a_record("user", [a_result("t1")], uuid="u2", promptId="p1"),
        a_record("assistant", "API Error", uuid="a4", isApiErrorMessage=True),
        a_record("assistant", "From a subagent.", uuid="a5", isSidechain=True),
        a_record("assistant", "Done.", uuid="a6"),
    ) == (["I will look.\nNow.", "Done."], ("a packet",))


def test_a_last_reply_tells_its_texts_one_by_one_as_the_stop_hook_does() -> None:
    lines = [
        a_record("user", "Fix it.", promptId="p1"),
        a_record("assistant", [{"type": "text", "text": "First."}], uuid="a1", message_id="m1"),
        a_record("assistant", [{"type": "text", "text": "Last.\n"}], uuid="a2", message_id="m1"),
    ]
    stop = {
        "session_id": SESSION,
        "cwd": "/w",
        "hook_event_name": "Stop",
        "prompt_id": "p1",
        "last_assistant_message": "Last.",
    }

    told = Overhearing(SESSION, "/w").hear(lines).envelopes
    stopped = decode(json.dumps(stop).encode()).envelopes[0]

    assert said(told) == ["First.", "Last."]
    assert (told[1].event_id, bytes(told[1].payload)) == (stopped.event_id, bytes(stopped.payload))


def test_what_was_said_before_we_listened_is_not_told_but_what_was_shown_is() -> None:
    early = a_record("assistant", "Old.", uuid="a1", timestamp="2026-11-03T08:00:00Z")
    shown = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": "old packet"}}
    late = a_record("assistant", "New.", uuid="a2", timestamp="2026-11-03T10:00:00Z")
    assert overheard(early, a_line(shown), late, since=1793696400000) == (["New."], ("old packet",))


def test_the_prompt_is_remembered_from_one_reading_to_the_next() -> None:
    ear = Overhearing(SESSION, "/w")
    ear.hear([a_record("user", "Fix it.", promptId="p1")])
    (told,) = ear.hear([a_record("assistant", "Done.", uuid="a1")]).envelopes
    assert told.event_id is not None and told.event_id.startswith("reply:p1:")


def test_the_same_words_said_twice_in_a_turn_are_two_events_and_heard_again_they_are_the_same_two() -> None:
    lines = [
        a_record("user", "Fix it.", promptId="p1"),
        *(a_record("assistant", "Let me check.", uuid=f"a{n}", message_id=f"m{n}") for n in range(2)),
        a_record("user", "And now?", uuid="u2", promptId="p2"),
        a_record("assistant", "Let me check.", uuid="a2", message_id="m2"),
    ]
    ear = Overhearing(SESSION, "/w")

    def replies(heard: Overheard) -> list[str | None]:
        return [one.event_id for one in heard.envelopes if one.event_type == EventType.ASSISTANT_MESSAGE]

    told = replies(ear.hear(lines))

    assert len(set(told)) == len(told) == 3
    assert replies(ear.hear(lines[:3])) == told[:2]


def test_a_text_of_a_hook_in_the_background_is_shown_too_and_a_compaction_wipes_what_was_shown() -> None:
    output = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "late packet"}}
    late = a_line({"type": "attachment", "attachment": {"type": "async_hook_response", "response": output}})
    other = a_line({"type": "attachment", "attachment": {"type": "async_hook_response", "response": {"x": 1}}})
    boundary = a_line({"type": "system", "subtype": "compact_boundary", "uuid": "c1"})

    assert overheard(late, other) == ([], ("late packet",))
    assert overheard(late, boundary) == ([], ())
    assert overheard(boundary, late) == ([], ("late packet",))


def test_version_and_model_are_told_when_they_are_new() -> None:
    def reply(number: int, model: str, version: str, **fields: object) -> bytes:
        message = {"id": f"m{number}", "role": "assistant", "model": model, "content": "Hm."}
        time = f"2026-11-03T09:00:0{number}Z"
        return a_record(
            "assistant", "Hm.", uuid=f"a{number}", version=version, timestamp=time, message=message, **fields
        )

    ear = Overhearing(SESSION, "/w")
    told = [
        ear.hear(lines).envelopes
        for lines in (
            [a_record("user", "Fix it.", promptId="p1", version="2.1.332")],
            [reply(1, "opus", "2.1.332"), reply(2, "haiku", "2.1.332", isSidechain=True)],
            [reply(3, "<synthetic>", "2.1.332")],
            [reply(4, "haiku", "2.1.333")],
            [reply(5, "opus", "2.1.332")],
        )
    ]
    clients = [[payload(one) for one in each if one.event_type == "session/client"] for each in told]

    assert clients == [
        [{"version": "2.1.332"}],
        [{"version": "2.1.332", "model": "opus"}],
        [],
        [{"version": "2.1.333", "model": "haiku"}],
        [{"version": "2.1.332", "model": "opus"}],
    ]
    ids = [one.event_id for each in told for one in each if one.event_type == "session/client"]
    assert ids[1:] == ["client:s-1:2.1.332:opus", "client:s-1:2.1.333:haiku", "client:s-1:2.1.332:opus:a5"]
    assert told[3][0].timestamp == 1793696404000


def test_a_hook_call_of_this_product_needs_no_putting_right() -> None:
    heard = decode(json.dumps({"session_id": SESSION, "cwd": "/w", "hook_event_name": "Stop"}).encode())
    assert Overhearing(SESSION, "/w").placed(heard) is heard


@pytest.mark.parametrize("scenario", ["basic", "subagent", "compact_auto"])
def test_in_captured_sessions_the_last_words_are_one_event(scenario: str) -> None:
    folder = DATA / "hosts/claude-code" / scenario
    payloads = [json.loads(line)["payload"] for line in (folder / "hook_payloads.jsonl").read_text().splitlines()]
    stops = [decode(json.dumps(p).encode()).envelopes[0] for p in payloads if p["hook_event_name"] == "Stop"]
    lines = (folder / "transcript.jsonl").read_bytes().splitlines(keepends=True)

    told = Overhearing(stops[0].session_id, stops[0].workspace).hear(lines)

    known = {event.event_id: bytes(event.payload) for event in told.envelopes}
    assert all(known[stop.event_id] == bytes(stop.payload) for stop in stops)
    assert len(known) == len(told.envelopes) > len(stops)
    assert "MARK-PostToolBatch memory packet" in told.shown
    assert payload(told.envelopes[-1])["text"] == payload(stops[-1])["text"]


def test_going_back_is_overheard_by_the_ids_that_the_hooks_gave_the_prompts() -> None:
    session = Overhearing(SESSION, "/u/dev/alpha")
    first = [
        a_record("user", "One.", uuid="u1", promptId="p1"),
        a_record("assistant", "Yes.", uuid="a1", parentUuid="u1"),
        a_record("user", "Two.", uuid="u2", parentUuid="a1", promptId="p2"),
        a_record("assistant", "No.", uuid="a2", parentUuid="u2"),
    ]
    session.hear(first)
    hook = json.dumps(
        {"hook_event_name": "UserPromptSubmit", "session_id": SESSION, "cwd": "/x", "prompt": "Two.", "prompt_id": "p2"}
    )
    (prompt,) = decode(hook.encode()).envelopes

    heard = session.hear([a_record("user", "Two, again.", uuid="u3", parentUuid="a1", promptId="p3")]).envelopes

    (back,) = [event for event in heard if event.event_type == "session/rewound"]
    assert payload(back) == {"events": [prompt.event_id]}
    assert (back.session_id, back.workspace) == (SESSION, "/u/dev/alpha")
