"""Claude Code's hooks: what each payload tells, where an answer may go, and its exact form."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.adapters.claude_code import NEEDED, OUTPUT_LIMIT, Payload, decode, encode
from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from recall.contracts import SourceKind

DATA = Path(__file__).parents[2] / "data"
EVENTS = (  # all of 2.1.332
    "PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion "
    "SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch "
    "PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation "
    "ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged "
    "DirectoryAdded MessageDisplay PreSkillShellCommand"
)
READ = {
    "type": "text",
    "file": {"filePath": "/p/a.py", "content": "x\n", "numLines": 2, "startLine": 1, "totalLines": 2},
}


def heard(event: str, **fields: object) -> Heard:
    base = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "prompt_id": "p1", "hook_event_name": event}
    return decode(json.dumps(base | fields).encode(), 7)


def told(what: Heard) -> list[tuple[str, dict[str, Any]]]:
    return [(event.event_type, json.loads(bytes(event.payload))) for event in what.envelopes]


def captured(scenario: str) -> list[Heard]:
    path = DATA / "hosts/claude-code" / scenario / "hook_payloads.jsonl"
    return [decode(json.dumps(json.loads(line)["payload"]).encode()) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("event", "fields", "surface", "expected"),
    [
        ("SessionStart", {"source": "resume"}, Surface.SESSION_START, [("session/start", {"source": "resume"})]),
        ("SessionStart", {}, Surface.SESSION_START, [("session/start", {"source": "startup"})]),
        ("UserPromptSubmit", {"prompt": " Use pnpm. "}, Surface.USER_PROMPT, [("user/message", {"text": "Use pnpm."})]),
        (
            "UserPromptSubmit",
            {"prompt": "/review the parser"},
            Surface.USER_PROMPT,
            [("user/message", {"text": "/review the parser", "command": "/review"})],
        ),
        (
            "UserPromptSubmit",
            {"prompt": "[Image #1]"},
            Surface.USER_PROMPT,
            [("user/message", {"text": "", "images": 1})],
        ),
        (
            "PreToolUse",
            {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"},
            None,
            [("tool/call", {"tool": "shell", "args": "ls", "nativeTool": "Bash"})],
        ),
        (
            "PostToolUse",
            {
                "tool_name": "Bash",
                "tool_input": {"command": "ls"},
                "tool_use_id": "t1",
                "tool_response": {"stdout": "a.py\n", "stderr": ""},
            },
            None,
            [
                ("tool/call", {"tool": "shell", "args": "ls", "nativeTool": "Bash"}),
                ("tool/result", {"tool": "shell", "nativeTool": "Bash", "ok": True, "text": "a.py"}),
            ],
        ),
        (
            "PostToolUseFailure",
            {
                "tool_name": "Bash",
                "tool_input": {"command": "false"},
                "tool_use_id": "t1",
                "error": "Exit code 1\nboom",
            },
            None,
            [
                ("tool/call", {"tool": "shell", "args": "false", "nativeTool": "Bash"}),
                ("tool/result", {"tool": "shell", "nativeTool": "Bash", "ok": False, "text": "Exit code 1\nboom"}),
            ],
        ),
        ("PostToolBatch", {"tool_calls": [{"tool_name": "Bash"}]}, Surface.POST_TOOL, []),
        (
            "Stop",
            {"last_assistant_message": "Done.\n"},
            None,
            [("assistant/message", {"text": "Done."}), ("turn/end", {})],
        ),
        ("Stop", {"last_assistant_message": None}, None, [("turn/end", {})]),
        ("SubagentStart", {"agent_id": "x", "agent_type": "Plan"}, None, [("agent/spawn", {"agentType": "Plan"})]),
        (
            "SubagentStop",
            {"agent_id": "x", "agent_type": "Plan", "last_assistant_message": "Report."},
            None,
            [("assistant/message", {"text": "Report."}), ("agent/stop", {})],
        ),
        ("SubagentStop", {"agent_id": "x", "agent_type": "", "last_assistant_message": "<summary>"}, None, []),
        ("PreCompact", {"trigger": "auto"}, None, [("session/compacting", {"trigger": "auto"})]),
        (
            "PostCompact",
            {"trigger": "auto", "compact_summary": "So far."},
            None,
            [("session/compacted", {"trigger": "auto", "text": "So far."})],
        ),
        (
            "SessionStart",
            {"source": "compact", "model": "claude-opus-5-5"},
            Surface.SESSION_START,
            [("session/client", {"model": "claude-opus-5-5"}), ("session/start", {"source": "compact"})],
        ),
        (
            "PostModelSwitch",
            {"from_model": "claude-opus-5-5", "to_model": "claude-haiku-5-5"},
            None,
            [("session/client", {"model": "claude-haiku-5-5"})],
        ),
        ("SessionEnd", {"reason": "clear"}, None, [("session/end", {"source": "clear"})]),
        ("Notification", {"message": "x"}, None, []),
        ("AnEventOfTomorrow", {}, None, []),
    ],
)
def test_each_event_tells_its_own(
    event: str, fields: dict[str, object], surface: Surface | None, expected: list[tuple[str, dict[str, object]]]
) -> None:
    what = heard(event, **fields)

    assert told(what) == expected
    assert what.surface is surface
    assert what.event == event
    assert {(e.session_id, e.workspace, e.timestamp) for e in what.envelopes} <= {("s", "/p", 7)}


def test_a_read_tells_which_lines_were_shown() -> None:
    fields = {"tool_name": "Read", "tool_input": {"file_path": "/p/a.py"}, "tool_use_id": "t1", "tool_response": READ}
    (_, call), (_, result) = told(heard("PostToolUse", **fields))
    assert call["path"] == result["path"] == "/p/a.py"
    assert (result["text"], result["read"]["lineStart"], result["read"]["lineCount"]) == ("x\n", 1, 1)


def test_a_command_and_a_search_tell_which_files_they_were_to_print() -> None:
    command = heard(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "head -5 a.md"},
        tool_response={"stdout": "x", "stderr": ""},
    )
    search = heard(
        "PostToolUse",
        tool_name="Grep",
        tool_input={"pattern": "x", "output_mode": "content"},
        tool_response={"mode": "content", "content": "a.md:1:x"},
    )

    assert told(command)[1][1]["printed"] == [
        {"paths": ["a.md"], "filters": [{"kind": "lines", "last": 5}], "bases": ["/p"]}
    ]
    assert told(search)[1][1]["printed"] == [{"paths": ["."], "form": "found", "bases": ["/p"]}]


def test_a_result_that_failed_shows_no_file() -> None:
    failed = heard(
        "PostToolUseFailure", tool_name="Bash", tool_input={"command": "cat a.md; false"}, error="Exit code 1\nx"
    )
    refused = heard(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "cat a.md"},
        tool_response={"stdout": "x", "isError": True},
    )

    assert not any("printed" in payload for _, payload in (*told(failed), *told(refused)))


def test_a_call_is_the_same_event_whichever_hook_tells_it() -> None:
    fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
    before = heard("PreToolUse", **fields).envelopes[0]
    after = heard("PostToolUse", **fields, tool_response="x").envelopes[0]
    failed = heard("PostToolUseFailure", **fields, error="x").envelopes[0]
    assert before == after == failed
    assert before.event_id == "call:t1"


def test_an_interrupted_or_refused_call_is_marked() -> None:
    fields = {"tool_name": "Bash", "tool_use_id": "t1", "is_interrupt": True, "error": "stopped"}
    assert told(heard("PostToolUseFailure", **fields))[1][1]["denied"] is True


def test_a_result_that_the_host_calls_an_error_is_no_success() -> None:
    fields = {"tool_name": "mcp__s__t", "tool_use_id": "t1", "tool_response": {"isError": True, "content": "bad"}}
    assert told(heard("PostToolUse", **fields))[1][1] == {
        "tool": "mcp:s__t",
        "nativeTool": "mcp__s__t",
        "ok": False,
        "text": "bad",
    }


def test_case_a_prompt_of_the_harness_is_not_a_prompt() -> None:
    for prompt in json.loads((DATA / "cases/harness-prompt-is-not-a-prompt.json").read_text())["when"]["prompts"]:
        what = heard("UserPromptSubmit", prompt=prompt)
        assert [event.source_kind for event in what.envelopes] == [SourceKind.LIFECYCLE]
        assert what.surface is None
        assert encode(what, None) == b""


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "a_source_of_tomorrow"])
def test_a_prompt_that_the_host_calls_its_own_gets_no_answer(source: str) -> None:
    what = heard("UserPromptSubmit", prompt="Keep going.", source=source)
    assert (what.envelopes[0].source_kind, what.surface) == (SourceKind.LIFECYCLE, None)


@pytest.mark.parametrize("source", ["user", "sdk", None])
def test_a_prompt_of_a_person_or_of_a_persons_program_is_the_users(source: str | None) -> None:
    what = heard("UserPromptSubmit", prompt="Keep going.", source=source)
    assert (what.envelopes[0].source_kind, what.surface) == (SourceKind.USER, Surface.USER_PROMPT)


def test_case_the_payloads_folder_wins() -> None:
    wanted = json.loads((DATA / "cases/payload-cwd-wins.json").read_text())["when"]["payload"]
    what = heard("UserPromptSubmit", **wanted)
    assert what.envelopes[0].workspace == wanted["cwd"]


def test_case_a_stop_that_a_hook_kept_going_tells_nothing() -> None:
    what = heard("Stop", stop_hook_active=True, last_assistant_message="Again.")
    assert (what.envelopes, what.surface, encode(what, "text")) == ((), None, b"")


@pytest.mark.parametrize("cwd", ["/u/dev/.state", "/u/dev/.state/extractor"])
@pytest.mark.parametrize(
    "event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch", "Stop", "SessionEnd"]
)
def test_case_own_sessions_tell_nothing(event: str, cwd: str) -> None:
    raw = json.dumps({"session_id": "x1", "cwd": cwd, "hook_event_name": event, "prompt": "You are …"}).encode()
    what = decode(raw, 7, own=("/var/other", "/u/dev/.state"))
    assert (what.envelopes, what.surface, what.transcript) == ((), None, None)
    assert decode(raw, 7, own=("/u/dev/.stat",)).envelopes or event == "PostToolBatch"


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"session_id": "s", "cwd": "/p"}, "bad-payload"),
        ({"session_id": "s", "hook_event_name": "Stop"}, "bad-payload"),
        ({"session_id": 5, "cwd": "/p", "hook_event_name": "Stop"}, "bad-payload"),
        ({"session_id": "s", "cwd": ["/p"], "hook_event_name": "Stop"}, "bad-payload"),
        ({"cwd": "/p", "hook_event_name": "Stop"}, "no-owner"),
        ({"session_id": "", "cwd": "/p", "hook_event_name": "Stop"}, "no-owner"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_with_its_reason(payload: dict[str, object], kind: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        decode(json.dumps(payload).encode())
    assert caught.value.kind == kind


def test_a_start_that_two_registrations_tell_is_one_event() -> None:
    ids = {
        source: heard("SessionStart", source=source).envelopes[-1].event_id for source in ("startup", "clear", "fork")
    }
    assert ids == {source: f"start:s:{source}" for source in ids}
    assert {heard("SessionStart", source=source).envelopes[-1].event_id for source in ("resume", "compact")} == {None}


@pytest.mark.parametrize("event", EVENTS.split())
def test_every_event_of_the_product_is_known_or_tells_nothing(event: str) -> None:
    """All events of 2.1.332, bare, with fields of tomorrow, and with every known field in another form."""
    odd = {name: {"nested": [1]} for name in Payload.__struct_fields__ if name not in NEEDED}
    for fields in ({}, {"field_of_tomorrow": {"a": [None]}}, odd, dict.fromkeys(odd)):
        what = heard(event, **fields)
        assert what.session_id == "s"
        assert what.event == event
        assert encode(what, None) == b""


def test_a_field_in_a_form_of_tomorrow_costs_only_itself() -> None:
    what = heard("UserPromptSubmit", prompt="Use pnpm.", source={"kind": "user"}, prompt_id=7, agent_id=["x"])
    assert told(what) == [("user/message", {"text": "Use pnpm."})]
    assert (what.agent_id, what.envelopes[0].event_id) == ("main", None)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(EVENTS.split()), st.dictionaries(st.sampled_from(Payload.__struct_fields__), ANYTHING))
def test_whatever_a_payload_holds_is_told_or_refused_with_its_reason(event: str, fields: dict[str, object]) -> None:
    payload = {"session_id": "s", "cwd": "/p"} | fields | {"hook_event_name": event}
    try:
        what = decode(json.dumps(payload).encode())
    except ProtocolFault as fault:
        assert fault.kind in ("bad-payload", "no-owner")
    else:
        assert all(one.session_id == payload["session_id"] for one in what.envelopes)


def test_what_two_agents_say_alike_in_one_turn_are_two_events() -> None:
    main = heard("Stop", last_assistant_message="Done.").envelopes[0]
    child = heard("SubagentStop", agent_id="x", agent_type="Plan", last_assistant_message="Done.").envelopes[0]
    assert main.event_id != child.event_id


def test_lone_surrogates_and_nul_become_sound() -> None:
    odd = b'"prompt":"a\\ud83d b\\u0000","prompt_id":"\\ud83d"'
    raw = b'{"session_id":"s","cwd":"/p","hook_event_name":"UserPromptSubmit",' + odd + b"}"
    (event,) = decode(raw).envelopes
    assert json.loads(bytes(event.payload)) == {"text": "a\ufffd b\ufffd"}
    assert event.event_id is not None
    event.event_id.encode("utf-8")


def test_ids_make_the_same_thing_one_event_and_other_things_others() -> None:
    same = [heard("UserPromptSubmit", prompt="continue").envelopes[0].event_id for _ in range(2)]
    later = heard("UserPromptSubmit", prompt="continue", prompt_id="p2").envelopes[0].event_id
    nameless = heard("UserPromptSubmit", prompt="continue", prompt_id=None).envelopes[0].event_id
    assert same[0] == same[1] != later
    assert nameless is None  # typed twice in an old client: two prompts


def test_a_subagent_is_an_agent_of_its_own() -> None:
    hooks = captured("subagent")
    agents = {what.agent_id for what in hooks}
    assert len(agents) == 2 and "main" in agents
    (child,) = agents - {"main"}
    assert [what.event for what in hooks if what.agent_id == child] == [
        "SubagentStart",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "SubagentStop",
    ]
    assert all(event.agent_id == what.agent_id for what in hooks for event in what.envelopes)
    asked = heard("UserPromptSubmit", prompt="Read it.", agent_id=child)
    assert (asked.envelopes[0].source_kind, asked.surface) == (SourceKind.AGENT, None)
    notification = [what for what in hooks if what.event == "UserPromptSubmit"][1]
    assert (notification.envelopes[0].source_kind, notification.surface) == (SourceKind.LIFECYCLE, None)


@pytest.mark.parametrize("scenario", ["compact_auto", "compact_manual"])
def test_a_compaction_resets_the_window_once(scenario: str) -> None:
    kinds = [kind for what in captured(scenario) for kind, _ in told(what)]
    starts = [payload for what in captured(scenario) for kind, payload in told(what) if kind == "session/start"]
    assert [start["source"] for start in starts].count("compact") == 1
    assert "session/compact" not in kinds
    assert kinds.count("session/compacting") == kinds.count("session/compacted") == 1


# ---------------------------------------------------------------------------- answers


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolBatch", "SubagentStart"])
def test_case_an_answer_is_one_line_of_ascii_in_the_hosts_schema(event: str) -> None:
    text = json.loads((DATA / "cases/hook-multi-line-context.json").read_text())["given"]["memories"][0]["text"]

    answer = encode(heard(event), text)

    assert b"\n" not in answer and answer.isascii()
    assert json.loads(answer) == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd", "PostToolUse"])
def test_events_that_must_not_or_cannot_carry_text_answer_nothing(event: str) -> None:
    assert encode(heard(event), "a memory") == b""


def test_case_silence_is_empty_output() -> None:
    for event in json.loads((DATA / "cases/hook-stdout-one-json.json").read_text())["when"]["events"]:
        assert encode(heard(event), None) == encode(heard(event), "") == b""


@pytest.mark.parametrize(
    ("text", "passes"),
    [("x" * OUTPUT_LIMIT, True), ("x" * (OUTPUT_LIMIT + 1), False), ("🚀" * 5000, True), ("🚀" * 5001, False)],
)
def test_text_that_the_host_would_cut_is_not_handed_over(text: str, passes: bool) -> None:
    assert bool(encode(heard("SessionStart"), text)) is passes


@given(st.text(max_size=300))
def test_any_text_survives_the_way(text: str) -> None:
    answer = encode(heard("PostToolBatch"), text)
    if text:
        assert json.loads(answer)["hookSpecificOutput"]["additionalContext"] == text.replace("\0", "\ufffd")
