"""Cursor's hooks, as its documentation describes them: no capture exists, no client was run."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.adapters.cursor import OUTPUT_LIMIT, SPEAKING, Payload, decode, encode
from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from recall.contracts import SourceKind

EVENTS = (
    *("sessionStart", "sessionEnd", "preToolUse", "postToolUse", "postToolUseFailure", "subagentStart", "subagentStop"),
    *("beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution", "beforeReadFile"),
    *("afterFileEdit", "beforeSubmitPrompt", "preCompact", "stop", "afterAgentResponse", "afterAgentThought"),
    "workspaceOpen",
)
BASE = {"conversation_id": "c-1", "generation_id": "g-1", "workspace_roots": ["/p"]}
SHELL = {"tool_name": "Shell", "tool_input": {"command": "npm test"}, "tool_use_id": "t-1"}


def heard(event: str, **fields: object) -> Heard:
    return decode(json.dumps({**BASE, "hook_event_name": event, **fields}).encode(), 7)


def told(what: Heard) -> list[tuple[str, dict[str, Any]]]:
    return [(event.event_type, json.loads(bytes(event.payload))) for event in what.envelopes]


@pytest.mark.parametrize(
    ("event", "fields", "surface", "expected"),
    [
        (
            "sessionStart",
            {"cursor_version": "3.24.18", "model": "m"},
            Surface.SESSION_START,
            [("session/client", {"version": "3.24.18", "model": "m"}), ("session/start", {"source": "startup"})],
        ),
        ("sessionEnd", {"reason": "completed"}, None, [("session/end", {"source": "completed"})]),
        ("beforeSubmitPrompt", {"prompt": " Use pnpm. "}, None, [("user/message", {"text": "Use pnpm."})]),
        ("beforeSubmitPrompt", {"prompt": ""}, None, []),
        ("afterAgentResponse", {"text": "Done."}, None, [("assistant/message", {"text": "Done."})]),
        ("stop", {"status": "completed", "loop_count": 0}, None, [("turn/end", {})]),
        (
            "postToolUse",
            {**SHELL, "tool_output": '{"exitCode":1,"stdout":"a\\n","stderr":"boom"}'},
            Surface.POST_TOOL,
            [
                ("tool/call", {"tool": "shell", "args": "npm test", "nativeTool": "Shell"}),
                ("tool/result", {"tool": "shell", "nativeTool": "Shell", "ok": False, "text": "a\nboom"}),
            ],
        ),
        (
            "postToolUseFailure",
            {**SHELL, "error_message": "Timed out", "failure_type": "timeout"},
            None,
            [
                ("tool/call", {"tool": "shell", "args": "npm test", "nativeTool": "Shell"}),
                ("tool/result", {"tool": "shell", "nativeTool": "Shell", "ok": False, "text": "Timed out"}),
            ],
        ),
        ("preCompact", {"trigger": "auto"}, None, []),
        ("anEventOfTomorrow", {"x": 1}, None, []),
    ],
)
def test_each_event_tells_its_own(
    event: str, fields: dict[str, object], surface: Surface | None, expected: list[tuple[str, dict[str, object]]]
) -> None:
    what = heard(event, **fields)
    assert told(what) == expected
    assert what.surface is surface
    assert {(e.session_id, e.agent_id, e.workspace, e.timestamp) for e in what.envelopes} <= {("c-1", "main", "/p", 7)}


def test_a_refused_tool_was_denied() -> None:
    refused = heard("postToolUseFailure", **SHELL, error_message="No.", failure_type="permission_denied")
    assert told(refused)[1][1]["denied"] is True


@pytest.mark.parametrize(
    ("output", "text", "ok"),
    [
        ("plain text", "plain text", True),
        ('{"content":"x"}', "x", True),
        ({"exitCode": 0, "stdout": "x\n"}, "x", True),
        ('{"error":"bad"}', '{"error":"bad"}', False),
        ('{"isError":true,"result":"x"}', "x", False),
        (None, "", True),
        (5, "", True),
    ],
)
def test_an_output_is_read_as_far_as_it_is_understood(output: object, text: str, ok: bool) -> None:
    result = told(heard("postToolUse", **SHELL, tool_output=output))[1][1]
    assert (result["text"], result["ok"]) == (text, ok)


def test_names_make_the_same_thing_one_event() -> None:
    prompt = heard("beforeSubmitPrompt", prompt="x").envelopes[0]
    assert (prompt.event_id, prompt.source_kind) == (
        heard("beforeSubmitPrompt", prompt="x").envelopes[0].event_id,
        SourceKind.USER,
    )
    assert heard("beforeSubmitPrompt", prompt="x", generation_id="").envelopes[0].event_id is None
    call, result = heard("postToolUse", **SHELL).envelopes
    assert (call.event_id, result.event_id, call.call_id) == ("call:t-1", "result:t-1", "t-1")
    assert heard("postToolUse", **{**SHELL, "tool_use_id": "a/../b"}).envelopes[0].call_id != "a/../b"
    assert heard("stop", conversation_id="", session_id="s-9").session_id == "s-9"


@pytest.mark.parametrize("event", EVENTS)
def test_every_documented_event_is_known_or_tells_nothing(event: str) -> None:
    odd = {
        name: {"nested": [1]}
        for name in Payload.__struct_fields__
        if name not in ("hook_event_name", "conversation_id")
    }
    for fields in ({}, {"field_of_tomorrow": {"a": [None]}}, odd, dict.fromkeys(odd)):
        what = heard(event, **fields)
        assert (what.session_id, what.event) == ("c-1", event)
        assert encode(what, None) == b""


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(Payload.__struct_fields__), ANYTHING))
def test_whatever_a_payload_holds_is_told_or_refused_with_its_reason(event: str, fields: dict[str, object]) -> None:
    try:
        what = decode(json.dumps({**BASE, **fields, "hook_event_name": event}).encode())
    except ProtocolFault as fault:
        assert fault.kind in ("bad-payload", "no-owner")
    else:
        for envelope in what.envelopes:
            json.loads(bytes(envelope.payload))


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"conversation_id": "c"}, "bad-payload"),
        ({"hook_event_name": 5}, "bad-payload"),
        ({"hook_event_name": "stop"}, "no-owner"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_with_its_reason(payload: dict[str, object], kind: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        decode(json.dumps(payload).encode())
    assert caught.value.kind == kind


def test_case_own_sessions_tell_nothing() -> None:
    raw = json.dumps({**BASE, "workspace_roots": ["/u/dev/.state/x"], "hook_event_name": "stop"}).encode()
    assert decode(raw, 7, own=("/u/dev/.state",)).envelopes == ()


@pytest.mark.parametrize("event", EVENTS)
def test_an_answer_goes_where_it_is_documented(event: str) -> None:
    answer = encode(heard(event, **SHELL), "one\nzwei ü")
    if event in SPEAKING:
        assert answer.isascii() and b"\n" not in answer
        assert json.loads(answer) == {"additional_context": "one\nzwei ü"}
        assert encode(heard(event), "x" * (OUTPUT_LIMIT + 1)) == b""
    else:
        assert answer == b""
