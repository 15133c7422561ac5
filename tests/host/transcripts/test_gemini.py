"""Gemini CLI's session files: each prompt, reply, call and result once, however often it is written."""

import json
from typing import Any

import pytest

from host.transcripts import READERS, Report, read, recognise
from host.transcripts.gemini import RECORDS, kind_of
from recall.contracts import EventEnvelope, SourceKind
from tests.host.transcripts.reading import DATA, a_line, heard, heard_file, payload, said, typed, types

TRANSCRIPT = DATA / "hosts/gemini-cli/basic/transcript.jsonl"
LONG = DATA / "hosts/gemini-cli/subagent_resume_compress"
HEADER = {"sessionId": "s-1", "projectHash": "0" * 64, "startTime": "2026-11-29T19:00:00Z", "kind": "main"}
OPENING = "<session_context>\n- **Workspace Directories:**\n  - /u/dev/alpha\n</session_context>"
SUMMARY = "<state_snapshot>\n<overall_goal>Use UTC.</overall_goal>\n</state_snapshot>"


def user(name: str, *texts: str, **fields: object) -> dict[str, Any]:
    parts = [{"text": text} for text in texts]
    return {"id": name, "timestamp": "2026-11-29T19:00:01Z", "type": "user", "content": parts} | fields


def gemini(name: str, text: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    message = {"id": name, "timestamp": "2026-11-29T19:00:02Z", "type": "gemini", "content": text, "model": "m"}
    return message | ({"toolCalls": list(calls)} if calls else {})


def call(name: str, output: str | None = "ok", status: str = "success", **arguments: object) -> dict[str, Any]:
    response = [{"functionResponse": {"id": "c", "name": name, "response": {"output": output}}}]
    done = {"id": "c", "name": name, "args": arguments, "timestamp": "2026-11-29T19:00:03Z"}
    return done | ({"status": status, "result": response} if output is not None else {"status": "executing"})


def patch(**fields: object) -> dict[str, Any]:
    return {"$set": fields}


def events_of(*records: dict[str, Any]) -> tuple[list[EventEnvelope], Report]:
    return heard([a_line(record) for record in (HEADER, *records)], "gemini-cli")


def test_a_captured_session_is_told_once_with_the_names_that_its_hooks_get() -> None:
    events, report = heard_file(TRANSCRIPT)

    assert types(events) == [
        *("session/start", "user/message", "assistant/message", "tool/call", "tool/result", "tool/call"),
        *("tool/result", "assistant/message"),
    ]
    assert typed(events) == ["Check app.py with the notes"]
    assert said(events) == ["I will read.", "Done."]
    assert [payload(e)["text"] for e in events if e.event_type == "tool/result"][
        1
    ] == "def add(a, b):\n    return a - b"
    assert (report.session_id, report.cwd) == ("6b4917de-bd62-4218-9533-a529d515b0c9", "/home/dev/project")
    assert "MARK-AfterTool <b>memory</b> packet" in report.shown
    assert (report.unknown, report.skipped) == ({}, 0)


def test_a_captured_session_that_was_resumed_and_compressed_is_told_once() -> None:
    events, report = heard_file(LONG / "transcript.jsonl")

    assert typed(events) == ["Please have it done by a helper", "And now the next one, please"]
    assert said(events) == ["I will delegate.", "Two at once.", "Broken.", "Enough.", "Going on.", "Done."]
    assert types(events).count("session/compact") == types(events).count("session/start") == 1
    calls = [payload(event)["args"] for event in events if event.event_type == "tool/call"]
    assert (len(calls), calls.count("echo one")) == (6, 2)
    assert report.replayed > 0


def test_a_captured_subagents_file_is_the_subagents() -> None:
    events, report = heard_file(LONG / "transcript_subagent.jsonl")
    assert report.is_sidechain and report.agent_id != "main"
    assert {event.agent_id for event in events} == {report.agent_id}
    assert typed(events) == []


def test_a_message_that_is_written_again_is_told_once_and_its_calls_when_they_end() -> None:
    events, _ = events_of(
        user("u1", "Look."),
        gemini("g1", "I look."),
        gemini("g1", "I look.", call("glob", None, pattern="*")),
        gemini("g1", "I look.", call("glob", "a.py", pattern="*")),
        gemini("g1", "I look.", call("glob", "a.py", pattern="*"), call("glob", "b", pattern="b")),
    )

    assert types(events)[1:] == [
        *("user/message", "assistant/message", "tool/call", "tool/result", "tool/call", "tool/result")
    ]
    assert len({event.event_id for event in events}) == len(events)
    assert {event.step for event in events if event.event_type == "tool/call"} == {1}


def test_the_same_call_made_twice_is_two_calls() -> None:
    events, _ = events_of(
        gemini("g1", "", call("glob", "a", p=1), call("glob", "a", p=1)), gemini("g2", "", call("glob", "a", p=1))
    )
    calls = [event.event_id for event in events if event.event_type == "tool/call"]
    assert len(set(calls)) == len(calls) == 3


def test_a_patch_of_all_messages_repeats_and_tells_nothing_new() -> None:
    events, report = events_of(
        patch(messages=[user("u0", OPENING)]),
        user("u1", "Use UTC."),
        gemini("g1", "Yes."),
        patch(messages=[user("u0", OPENING), user("u1", "Use UTC."), gemini("g1", "Yes.")]),
        patch(lastUpdated="x"),
    )
    assert typed(events) == ["Use UTC."]
    assert said(events) == ["Yes."]
    assert (report.cwd, report.replayed) == ("/u/dev/alpha", 4)


def test_a_compressed_history_is_one_compaction_and_nobody_speaks_twice() -> None:
    kept = [user("n1", SUMMARY), gemini("n2", "Got it."), user("n3", "Use UTC."), gemini("n4", "Yes.")]
    events, _ = events_of(
        user("u1", "Use UTC."),
        gemini("g1", "Yes."),
        patch(messages=kept),
        patch(messages=kept),
        user("u2", "Now go on."),
    )
    assert types(events)[1:] == ["user/message", "assistant/message", "session/compact", "user/message"]
    assert typed(events) == ["Use UTC.", "Now go on."]
    assert "Use UTC." in payload(events[3])["text"]


def test_what_a_person_did_not_type_is_not_the_users() -> None:
    events, _ = events_of(
        user("u0", OPENING), user("u1", "Please continue."), user("u2", "<hook_context>x</hook_context>")
    )
    assert typed(events) == []
    assert {event.source_kind for event in events[1:]} == {SourceKind.LIFECYCLE}


def test_results_and_thoughts_are_no_words_of_anyone() -> None:
    answer = {"functionResponse": {"id": "c", "name": "glob", "response": {"output": "x"}}}
    thought = [{"text": "Hm.", "thought": True}, {"text": "Yes."}]
    events, _ = events_of(
        {**user("u1"), "content": [answer]},
        {**gemini("g1"), "content": thought},
        {"type": "info", "id": "i", "content": "x"},
    )
    assert types(events)[1:] == ["assistant/message"]
    assert said(events) == ["Yes."]


def test_a_subagents_file_is_a_subagents() -> None:
    header = {**HEADER, "sessionId": "child", "kind": "subagent", "directories": ["/u/dev/alpha"]}
    events, report = heard(
        [a_line(r) for r in (header, user("u1", "Look at it."), gemini("g1", "Done."))], "gemini-cli"
    )
    assert types(events) == ["agent/spawn", "user/message", "assistant/message"]
    assert events[1].source_kind is SourceKind.AGENT
    assert (report.is_sidechain, report.agent_id, report.cwd) == (True, "child", "/u/dev/alpha")


def test_odd_records_cost_nothing_but_themselves() -> None:
    odd: list[dict[str, Any]] = [
        {"type": "gemini", "id": "g", "toolCalls": ["x", {"name": 5, "args": [1]}, {}]},
        {"type": "user", "id": 7, "content": None, "timestamp": "noon"},
        {"$set": {"messages": "all"}},
        {"$set": 5},
        {"$rewindTo": "u1"},
        {"type": "a_type_of_tomorrow", "content": "x"},
    ]
    events, report = events_of(*odd, user("u1", "Use UTC."))
    assert typed(events) == ["Use UTC."]
    assert report.unknown == {"a_type_of_tomorrow": 1}


@pytest.mark.parametrize(
    ("record", "kind"),
    [(HEADER, "session"), (patch(a=1), "$set"), ({"$rewindTo": "x"}, "$rewindTo"), (user("u"), "user"), ({"a": 1}, "")],
)
def test_a_record_is_known_by_its_form(record: dict[str, Any], kind: str) -> None:
    assert kind_of(record) == kind
    assert not kind or kind in RECORDS


def test_the_format_is_recognised_by_its_first_line_though_others_have_users_too() -> None:
    assert recognise([a_line(HEADER), a_line(user("u1", "x"))]) == "gemini-cli"
    assert recognise([json.dumps(patch(a=1)).encode() + b"\n"]) == "gemini-cli"
    assert {event.session_id for event in read(READERS["gemini-cli"]("s-9"), [a_line(user("u1", "x"))])} == {"s-9"}
