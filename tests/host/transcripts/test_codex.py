"""Codex rollout files: each prompt, reply and result once, by whichever record tells it first."""

import json

import pytest

from recall.contracts import EventEnvelope, EventType, SourceKind
from tests.host.transcripts.reading import DATA, TRANSCRIPTS, heard, heard_file, payload, said, texts, typed, types

META = {"id": "thread-1", "cwd": "/u/dev/alpha", "source": "cli"}


def a_line(kind: str, at: str = "2026-11-04T10:00:00Z", **fields: object) -> bytes:
    return json.dumps({"timestamp": at, "type": kind, "payload": fields}).encode() + b"\n"


def meta(**fields: object) -> bytes:
    return a_line("session_meta", **META | fields)


def item(kind: str, **fields: object) -> bytes:
    return a_line("response_item", **{"type": kind} | fields)


def told(kind: str, **fields: object) -> bytes:
    return a_line("event_msg", **{"type": kind} | fields)


def message(role: str, *parts: str, **fields: object) -> bytes:
    return item("message", role=role, content=[{"type": "input_text", "text": part} for part in parts], **fields)


def events_of(*lines: bytes) -> list[EventEnvelope]:
    return heard(lines, "codex")[0]


def results(events: list[EventEnvelope]) -> list[tuple[str, bool, str]]:
    chosen = [payload(event) for event in events if event.event_type == EventType.TOOL_RESULT]
    return [(result.get("tool", ""), result["ok"], result["text"]) for result in chosen]


def test_a_real_session_is_told_once() -> None:
    events, report = heard_file(TRANSCRIPTS / "codex" / "codex-real-short.jsonl")

    assert typed(events) == [
        "add myapp directory and create myapp/hoge.py which shows result of print(1+1).",
        "cd to myapp and run python hoge.py",
    ]
    assert len(said(events)) == 2
    assert [ok for _, ok, _ in results(events)] == [True, True, False, False, True]
    assert results(events)[3] == ("shell", False, "Exit code 1\nerror: target shim binary not found")
    assert report.records == 55


def test_a_captured_session_tells_failures_edits_and_shown_texts() -> None:
    events, report = heard_file(DATA / "hosts/codex/basic/rollout.jsonl")

    assert results(events)[1:] == [
        ("shell", True, "def add(a, b):\n    return a - b\n"),
        ("shell", False, "Exit code 1"),
        ("edit", True, "Success. Updated the following files:\nM app.py\n"),
    ]
    assert [event.step for event in events if event.event_type == EventType.TOOL_CALL] == [1, 2, 2, 3]
    assert said(events) == ["I will look at the notes.", "All done: add() now adds."]
    assert set(report.shown) >= {"MARK-SessionStart memory packet", "MARK-PostToolUse memory packet"}


def test_a_captured_command_tells_which_lines_it_was_to_print() -> None:
    events, _ = heard_file(DATA / "hosts/codex/basic/rollout.jsonl")

    told = [payload(event).get("printed") for event in events if event.event_type == EventType.TOOL_RESULT]

    lines = [{"kind": "lines", "first": 11, "last": 30}]
    assert told == [
        [{"paths": [".memory/notes.md"], "filters": lines, "bases": ["/home/dev/project"]}],
        None,
        None,
        None,
    ]


def test_a_captured_subagent_is_an_agent_of_its_parents_session() -> None:
    parent = heard_file(DATA / "hosts/codex/subagent/rollout.jsonl")[1]
    events, child = heard_file(DATA / "hosts/codex/subagent/rollout_1.jsonl")

    assert (child.session_id, child.parent, child.is_sidechain) == (parent.session_id, parent.session_id, True)
    assert child.replayed == 0
    assert texts(events, EventType.USER_MESSAGE, SourceKind.AGENT) == ["SUBTASK-PROMPT read the notes"]
    assert typed(events) == []
    assert types(events)[0] == "agent/spawn"


def test_a_captured_compaction_ends_the_step() -> None:
    events, _ = heard_file(DATA / "hosts/codex/compact_auto/rollout.jsonl")
    (compaction,) = [place for place, event in enumerate(events) if event.event_type == EventType.SESSION_COMPACT]

    assert payload(events[compaction])["text"].startswith("Another language model")
    assert [event.step for event in events[compaction : compaction + 2]] == [3, 4]


@pytest.mark.parametrize(
    "lines",
    [
        [message("user", "Use tabs."), told("user_message", message="Use tabs.")],
        [told("user_message", message="Use  tabs.\n"), message("user", "Use tabs.")],
        [
            message("user", "Use tabs."),
            told("item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": "Use tabs."}]}),
        ],
        [told("user_message", message="Use tabs.")],
        [told("user_message", message="# Context from my IDE\nopen: a.py\n## My request for Codex:\nUse tabs.")],
        [message("user", "<environment_context>x</environment_context>", "Use tabs.")],
    ],
)
def test_a_prompt_is_told_once_whatever_records_hold_it(lines: list[bytes]) -> None:
    events = events_of(meta(), *lines)
    assert [text.split() for text in typed(events)] == [["Use", "tabs."]]


def test_the_same_prompt_typed_twice_is_two_prompts() -> None:
    pair = [message("user", "continue"), told("user_message", message="continue")]
    events = events_of(meta(), *pair, *pair)
    assert typed(events) == ["continue", "continue"]
    assert [event.turn for event in events] == [0, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/u/dev</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /u/dev\n\nUse tabs.",
        '<subagent_notification>\n{"agent_path":"x"}',
        "<user_instructions>Use tabs.</user_instructions>",
        "<turn_aborted>\n</turn_aborted>",
    ],
)
def test_what_the_harness_says_in_the_users_role_is_not_the_users(text: str) -> None:
    events = events_of(meta(), message("user", text))
    assert typed(events) == []
    assert texts(events, EventType.USER_MESSAGE, SourceKind.LIFECYCLE) == [text]
    assert {event.turn for event in events} == {0}


def test_a_part_that_the_host_marks_as_its_own_is_not_the_users() -> None:
    notes = {"content_item_metadata": [{"provenance": {"type": "harness"}}]}
    events = events_of(meta(), message("user", "Do it.", internal_chat_message_metadata_passthrough=notes))
    assert typed(events) == []


def test_a_reply_is_told_once_and_reasoning_never() -> None:
    events = events_of(
        meta(),
        told("agent_reasoning", text="secret plan"),
        item("reasoning", summary=[{"type": "summary_text", "text": "secret plan"}]),
        told("agent_message", message="Hello."),
        item("message", role="assistant", content=[{"type": "output_text", "text": "Hello."}]),
    )
    assert said(events) == ["Hello."]
    assert not any(b"secret" in bytes(event.payload) for event in events)


def test_an_event_beside_an_output_says_whether_it_failed() -> None:
    events = events_of(
        meta(),
        item("function_call", name="exec_command", call_id="c1", arguments='{"cmd":"make"}'),
        told(
            "exec_command_end", call_id="c1", command=["bash", "-lc", "make"], exit_code=2, aggregated_output="no rule"
        ),
        item("function_call_output", call_id="c1", output="no rule"),
    )
    assert types(events)[1:] == ["tool/call", "tool/result"]
    assert results(events) == [("shell", False, "no rule")]
    assert [(event.call_id, event.event_id) for event in events[1:]] == [("c1", "call:c1"), ("c1", "result:c1")]


def test_a_run_told_by_an_event_alone_is_call_and_result() -> None:
    run = {"type": "CommandExecution", "id": "c9", "command": ["bash", "-lc", "make"], "exit_code": 2}
    events = events_of(meta(), told("item_completed", item=run), told("item_completed", item=run))
    assert [payload(event).get("args") for event in events[1:]] == ["make", None]
    assert results(events) == [("shell", False, "Exit code 2")]


def test_a_call_whose_output_never_came_ends_with_what_its_event_said() -> None:
    events = events_of(
        meta(),
        item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch\n*** Add File: a.py\n+x"),
        told("patch_apply_end", call_id="c1", success=False, stdout="", stderr="cannot apply"),
    )
    assert results(events) == [("edit", False, "cannot apply")]
    assert payload(events[1])["path"] == "a.py"


def test_turns_have_edges_and_names() -> None:
    events = events_of(meta(), told("task_started", turn_id="t1"), told("turn_aborted", turn_id="t1"))
    assert [(event.event_type, event.event_id) for event in events[1:]] == [
        ("turn/start", "turn:t1:start"),
        ("turn/end", "turn:t1:abort"),
    ]


def test_the_end_of_each_turn_in_a_file_of_edges_is_survived() -> None:
    events, _ = heard_file(TRANSCRIPTS / "codex" / "codex-edges.jsonl")
    assert typed(events) == [
        "pending tool call",
        "Just do something without the marker",
        "multiple commentary blocks",
        "truncated session",
    ]
    assert len(said(events)) == 8
    assert types(events).count("turn/start") == 4


def test_odd_records_are_counted_and_survived() -> None:
    lines = [
        b"nonsense\n",
        b"\r\n",
        a_line("brand-new", x=1),
        item("message", role="user", content=None),
        item("function_call", arguments=None),
        item("function_call_output", output=None),
        told("item_completed", item=None),
        b'{"type":"event_msg","payload":[]}\n',
        b'{"type":"response_item","payl',
    ]
    _, report = heard(lines, "codex")
    assert (report.records, report.skipped, report.unknown) == (6, 1, {"brand-new": 1})
    assert report.pending_bytes == len(lines[-1])


def test_turns_that_were_rolled_back_are_told_once() -> None:
    back = told("thread_rolled_back", num_turns=1)
    events = events_of(meta(), told("task_started", turn_id="t1"), back, back, told("thread_rolled_back", num_turns=0))

    assert [payload(event) for event in events if event.event_type == "session/rewound"] == [{"turns": 1}]
