"""Claude Code session files: whose words, which reply, which result, which session."""

import pytest

from recall.contracts import EventType, SourceKind
from tests.host.transcripts.reading import (
    DATA,
    SESSION,
    a_call,
    a_line,
    a_record,
    a_result,
    case,
    heard,
    heard_file,
    payload,
    said,
    texts,
    typed,
    types,
)


def test_case_a_reply_in_many_records_is_one_message() -> None:
    wanted = case("transcript-one-message-many-records")
    events, _ = heard_file(DATA / wanted["given"]["transcript"])

    assert said(events) == [wanted["then"]["assistant_text"]]
    assert types(events).count("tool/call") == wanted["then"]["tool_calls"]
    assert types(events) == ["session/start", "user/message", "assistant/message", "tool/call", "tool/result"]
    assert [event.step for event in events] == [0, 0, 1, 1, 1]


def test_case_tool_results_are_no_turns() -> None:
    wanted = case("transcript-tool-results-are-no-turns")
    events, _ = heard_file(DATA / wanted["given"]["transcript"])
    prompts = [payload(event) for event in events if event.event_type == EventType.USER_MESSAGE]

    assert types(events).count("tool/result") == wanted["then"]["tool_results"]
    assert len(typed(events)) == wanted["then"]["free_text_prompts"]
    assert [p["command"] for p in prompts if "command" in p] == ["/init"]
    assert {event.turn for event in events} == {0}


def test_case_a_long_preamble_hides_no_session() -> None:
    then = case("transcript-long-preamble")["then"]
    events, report = heard_file(DATA / case("transcript-long-preamble")["given"]["transcript"])

    assert (report.is_sidechain, report.cwd, typed(events)) == (then["is_sidechain"], then["cwd"], then["user_texts"])


def test_case_records_of_the_harness_are_not_the_users() -> None:
    wanted = case("transcript-harness-records")
    events, _ = heard_file(DATA / wanted["given"]["transcript"])

    assert typed(events) == wanted["then"]["user_evidence"]
    machine = texts(events, EventType.USER_MESSAGE, SourceKind.LIFECYCLE)
    assert len(machine) == 6
    assert any("always be 10" in text for text in machine)  # kept, as what it is


def test_case_a_compaction_summary_is_not_the_users() -> None:
    wanted = case("transcript-compaction-summary")
    events, _ = heard_file(DATA / wanted["given"]["transcript"])

    assert typed(events) == [*wanted["then"]["evidence_may_contain"], "Continue with the client library."]
    (compaction,) = [event for event in events if event.event_type == EventType.SESSION_COMPACT]
    assert "ISO-8601" in payload(compaction)["text"]
    assert compaction.event_id == "compact:00000000-0000-4000-8000-000000000003"


def test_case_a_bad_time_is_that_of_the_record_before_and_says_so() -> None:
    given = case("transcript-bad-timestamp")["given"]["records"]
    lines = [a_record("user", r["text"], uuid=r["text"], timestamp=r["timestamp"]) for r in given]

    prompts = [event for event in heard(lines)[0] if event.event_type == EventType.USER_MESSAGE]

    assert [payload(event)["text"] for event in prompts] == ["one", "two", "three"]
    assert [payload(event).get("undated", False) for event in prompts] == [False, True, False]
    assert prompts[1].timestamp == prompts[0].timestamp < prompts[2].timestamp


def test_a_call_and_its_result_share_their_id_tool_and_path() -> None:
    file = {"filePath": "/p/a.py", "content": "x\n", "numLines": 2, "startLine": 1, "totalLines": 2}
    lines = [
        a_record("user", "Look."),
        a_record("assistant", [a_call("t1", "Read", file_path="/p/a.py")], uuid="a1"),
        a_record("user", [a_result("t1", "1\tx")], uuid="u2", toolUseResult={"type": "text", "file": file}),
    ]

    *_, call, result = heard(lines)[0]

    assert (call.event_id, result.event_id, call.call_id, result.call_id) == ("call:t1", "result:t1", "t1", "t1")
    assert payload(call) == {"tool": "read", "args": "/p/a.py", "path": "/p/a.py", "nativeTool": "Read"}
    told = payload(result)
    assert (told["tool"], told["ok"], told["text"], told["path"]) == ("read", True, "1\tx", "/p/a.py")
    assert (told["read"]["lineStart"], told["read"]["lineCount"]) == (1, 1)
    assert result.source_kind is SourceKind.TOOL and call.source_kind is SourceKind.AGENT


def test_a_command_tells_which_files_it_was_to_print_unless_it_failed() -> None:
    lines = [
        a_record("user", "Look."),
        a_record("assistant", [a_call("t1", command="cat a.md"), a_call("t2", command="cat a.md b.md")], uuid="a1"),
        a_record("user", [a_result("t1", "words")], uuid="u2"),
        a_record("user", [a_result("t2", "words\nno such file", is_error=True)], uuid="u3"),
    ]

    told = [payload(event).get("printed") for event in heard(lines)[0] if event.event_type == "tool/result"]

    assert told == [[{"paths": ["a.md"], "bases": ["/u/dev/alpha"]}], None]


def test_parallel_results_keep_their_own_outcome() -> None:
    lines = [
        a_record("assistant", [a_call("t1"), a_call("t2", "Grep", pattern="x")], uuid="a1"),
        a_record("user", [a_result("t2", "found"), a_result("t1", "Exit code 1", is_error=True)], uuid="u2"),
    ]

    results = [payload(event) for event in heard(lines)[0] if event.event_type == EventType.TOOL_RESULT]

    assert [(r["tool"], r["ok"], r["text"]) for r in results] == [
        ("search", True, "found"),
        ("shell", False, "Exit code 1"),
    ]


def test_a_refusal_by_the_user_is_a_failure_marked_as_such() -> None:
    refusal = "The user doesn't want to proceed with this tool use."
    lines = [
        a_record("assistant", [a_call("t1")], uuid="a1"),
        a_record("user", [a_result("t1", refusal, is_error=True)], uuid="u2"),
    ]

    told = payload(heard(lines)[0][-1])

    assert (told["ok"], told["denied"]) == (False, True)


def test_images_in_results_and_prompts_are_counted_not_kept() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "QUJDRA=="}}
    lines = [
        a_record("user", [image, {"type": "text", "text": "[Image #1] what is this?"}]),
        a_record("assistant", [a_call("t1")], uuid="a1"),
        a_record("user", [a_result("t1", [{"type": "text", "text": "shot"}, image, image])], uuid="u2"),
        a_record("user", [image], uuid="u3"),
    ]

    events, _ = heard(lines)

    told = [payload(event) for event in events if event.event_type in ("user/message", "tool/result")]
    assert [(p["text"], p["images"]) for p in told] == [("what is this?", 1), ("shot", 2), ("", 1)]
    assert events[-1].source_kind is SourceKind.USER
    assert not any(b"QUJD" in bytes(event.payload) for event in events)


def test_thinking_and_errors_of_the_api_are_not_told() -> None:
    lines = [
        a_record("assistant", [{"type": "thinking", "thinking": "secret plan"}], uuid="a1", message_id="m1"),
        a_record("assistant", [{"type": "text", "text": "Hello."}], uuid="a2", message_id="m1"),
        a_record("assistant", [{"type": "text", "text": "API Error: 529"}], uuid="a3", isApiErrorMessage=True),
        a_record("assistant", "", uuid="a4"),
    ]

    events, _ = heard(lines)

    assert said(events) == ["Hello."]
    assert events[-1].event_id == "msg:a2"
    assert not any(b"secret plan" in bytes(event.payload) for event in events)


def test_a_subagents_file_belongs_to_the_parents_session() -> None:
    lines = [
        a_record("user", "Search the docs.", isSidechain=True, agentId="abc"),
        a_record("assistant", [{"type": "text", "text": "Found."}], uuid="a1", isSidechain=True, agentId="abc"),
    ]

    events, report = heard(lines)

    assert types(events) == ["agent/spawn", "user/message", "assistant/message"]
    assert {(event.session_id, event.agent_id) for event in events} == {(SESSION, "abc")}
    assert events[1].source_kind is SourceKind.AGENT
    assert (report.is_sidechain, report.agent_id, report.session_id) == (True, "abc", SESSION)


def test_sidechains_without_a_name_are_told_apart_by_their_root() -> None:
    lines = [
        a_record("user", "Do both."),
        a_record("user", "Task one.", uuid="r1", parentUuid=None, isSidechain=True),
        a_record("user", "Task two.", uuid="r2", parentUuid=None, isSidechain=True),
        a_record("assistant", "One done.", uuid="b1", parentUuid="r1", isSidechain=True),
        a_record("assistant", "Main goes on.", uuid="a1", parentUuid="u1"),
        a_record("assistant", "Two done.", uuid="b2", parentUuid="r2", isSidechain=True),
    ]

    events, report = heard(lines)

    replies = {payload(e)["text"]: e.agent_id for e in events if e.event_type == EventType.ASSISTANT_MESSAGE}
    assert replies == {"One done.": "sidechain-r1", "Main goes on.": "main", "Two done.": "sidechain-r2"}
    assert typed(events) == ["Do both."]
    assert not report.is_sidechain


def test_hook_text_and_loaded_memory_are_shown_texts_not_events() -> None:
    def attached(**attachment: object) -> bytes:
        return a_line({"type": "attachment", "uuid": str(attachment), "sessionId": SESSION, "attachment": attachment})

    lines = [
        attached(type="hook_additional_context", content=["packet one", "packet two"]),
        attached(type="hook_additional_context", content="packet three"),
        attached(type="nested_memory", path="/p/CLAUDE.md", content={"content": "Use tabs."}),
        attached(type="hook_success", stdout="{}"),
    ]

    events, report = heard(lines)

    assert events == []
    assert report.shown == ("packet one", "packet two", "packet three", "Use tabs.")


@pytest.mark.parametrize(
    ("attachment", "source"),
    [
        ({"prompt": "Also run the tests.", "commandMode": "prompt"}, SourceKind.USER),
        ({"prompt": [{"type": "text", "text": "Also run the tests."}], "commandMode": "prompt"}, SourceKind.USER),
        ({"prompt": "Also run the tests.", "commandMode": "task-notification"}, SourceKind.LIFECYCLE),
        ({"prompt": "Also run the tests.", "commandMode": "prompt", "origin": {"kind": "peer"}}, SourceKind.LIFECYCLE),
    ],
)
def test_a_prompt_typed_while_the_agent_works_is_heard(attachment: dict[str, object], source: SourceKind) -> None:
    record = {
        "type": "attachment",
        "uuid": "q1",
        "sessionId": SESSION,
        "attachment": attachment | {"type": "queued_command"},
    }
    (prompt,) = [event for event in heard([a_line(record)])[0] if event.event_type == EventType.USER_MESSAGE]
    assert (payload(prompt)["text"], prompt.source_kind) == ("Also run the tests.", source)


def queued(operation: str, content: str | None = None) -> bytes:
    record = {"type": "queue-operation", "operation": operation, "sessionId": SESSION, "content": content}
    return a_line(record)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([queued("enqueue", "Use pnpm."), queued("dequeue"), a_record("user", "Use pnpm.")], ["Use pnpm."]),
        ([queued("enqueue", "Use pnpm."), queued("remove")], ["Use pnpm."]),  # it came in no other record
        ([queued("enqueue", "Use pnpm."), queued("popAll")], []),  # taken back by the user
        ([queued("enqueue", "Use pnpm.")], []),
        ([queued("enqueue", "<task-notification>x</task-notification>"), queued("dequeue")], []),
    ],
)
def test_a_queued_prompt_is_told_once(lines: list[bytes], expected: list[str]) -> None:
    assert typed(heard(lines)[0]) == expected


def test_a_compaction_is_told_once_with_or_without_its_summary() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b1", "sessionId": SESSION}
    summary = "This session is being continued from a previous conversation. Summary: tabs."
    lines = [
        a_line(boundary),
        a_record("user", summary, uuid="s1", isCompactSummary=True),
        a_line(boundary | {"uuid": "b2"}),
        a_record("user", "Go on.", uuid="u2"),
        a_record("user", summary + " Again.", uuid="s2"),  # an older file: no boundary, no flag
        a_line(boundary | {"uuid": "b3"}),
    ]

    compactions = [e for e in heard(lines)[0] if e.event_type == EventType.SESSION_COMPACT]

    assert [(e.event_id, payload(e)["text"]) for e in compactions] == [
        ("compact:b1", summary),
        ("compact:b2", ""),
        ("compact:s2", summary + " Again."),
        ("compact:b3", ""),
    ]


def test_records_with_odd_shapes_are_survived() -> None:
    lines = [
        a_line({"type": "user", "message": "error", "sessionId": SESSION}),
        a_line({"type": "user", "message": {"content": ["wow error"]}, "uuid": 5, "sessionId": SESSION}),
        a_line(
            {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": ["x"]}]}, "sessionId": SESSION}
        ),
        a_line({"type": "system"}),
        a_line({"type": "attachment", "attachment": None}),
        a_line({"type": ["user"]}),
        a_line({}),
    ]

    events, report = heard(lines)

    assert types(events) == ["session/start", "tool/call"]
    assert (report.records, report.skipped) == (5, 2)


def test_workspace_and_session_are_carried_where_a_record_is_silent() -> None:
    lines = [
        a_record("user", "One.", cwd="/u/dev/alpha"),
        a_record("user", "Two.", uuid="u2", cwd="/u/dev/alpha/sub"),
        a_line({"type": "user", "uuid": "u3", "message": {"content": "Three."}}),
    ]

    events, _ = heard(lines)

    assert {(event.session_id, event.workspace) for event in events} == {(SESSION, "/u/dev/alpha")}
    assert [event.turn for event in events] == [0, 1, 2, 3]
