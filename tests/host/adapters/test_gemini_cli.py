"""Gemini CLI's hooks: what each payload tells, and the answer in exactly the host's schema."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.adapters.gemini_cli import NEEDED, OUTPUT_LIMIT, SPEAKING, Payload, decode, encode
from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from recall.contracts import SourceKind
from tests.host.adapters import goldens

CAPTURES = goldens.captures("gemini-cli")
EVENTS = (
    *("SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection"),
    *("BeforeTool", "AfterTool", "PreCompress", "Notification"),
)
AT = "2026-11-29T19:23:34.540Z"
BASE = {"session_id": "s", "cwd": "/p", "timestamp": AT}
STAMP = "20261129T192334540Z"


def heard(event: str, **fields: object) -> Heard:
    return decode(json.dumps({**BASE, "hook_event_name": event, **fields}).encode(), 7)


def told(what: Heard) -> list[tuple[str, dict[str, Any]]]:
    return [(event.event_type, json.loads(bytes(event.payload))) for event in what.envelopes]


def after(tool: str, given: object, content: object, **response: object) -> Heard:
    answer = {"llmContent": content, "returnDisplay": "", **response}
    return heard("AfterTool", tool_name=tool, tool_input=given, tool_response=answer)


@pytest.mark.parametrize(
    ("event", "fields", "surface", "expected"),
    [
        ("SessionStart", {"source": "resume"}, None, [("session/start", {"source": "resume"})]),
        ("SessionStart", {}, None, [("session/start", {"source": "startup"})]),
        ("SessionEnd", {"reason": "exit"}, None, [("session/end", {"source": "exit"})]),
        ("BeforeAgent", {"prompt": " Use pnpm. "}, Surface.USER_PROMPT, [("user/message", {"text": "Use pnpm."})]),
        (
            "AfterAgent",
            {"prompt": "x", "prompt_response": "Done.\n"},
            None,
            [("assistant/message", {"text": "Done."}), ("turn/end", {})],
        ),
        ("AfterAgent", {"prompt_response": "Done.", "stop_hook_active": True}, None, []),
        ("BeforeTool", {"tool_name": "read_file", "tool_input": {}}, None, []),
        ("PreCompress", {"trigger": "auto"}, None, []),
        ("AfterModel", {"llm_response": {"text": "x"}}, None, []),
        ("AnEventOfTomorrow", {"x": 1}, None, []),
    ],
)
def test_each_event_tells_its_own(
    event: str, fields: dict[str, object], surface: Surface | None, expected: list[tuple[str, dict[str, object]]]
) -> None:
    what = heard(event, **fields)

    assert told(what) == expected
    assert (what.surface, what.event, what.agent_id) == (surface, event, "main")
    assert {(e.session_id, e.workspace) for e in what.envelopes} <= {("s", "/p")}


def test_a_call_and_its_result_are_told_at_once_without_the_hosts_fence() -> None:
    what = after(
        "run_shell_command",
        {"command": "make"},
        "<untrusted_context>\nOutput: boom\nExit Code: 2\n</untrusted_context>",
    )

    assert what.surface is Surface.POST_TOOL
    assert told(what) == [
        ("tool/call", {"tool": "shell", "args": "make", "nativeTool": "run_shell_command"}),
        ("tool/result", {"tool": "shell", "nativeTool": "run_shell_command", "ok": False, "text": "boom"}),
    ]
    call, result = what.envelopes
    assert call.call_id == result.call_id is not None
    assert call.event_id is not None and call.event_id.endswith(f"@{STAMP}")


def test_a_tool_that_the_host_calls_failed_failed() -> None:
    what = after(
        "read_file", {"file_path": "/p/a"}, "File not found: /p/a", error={"type": "file_not_found", "message": "x"}
    )
    assert told(what)[1][1] == {
        "tool": "read",
        "path": "/p/a",
        "nativeTool": "read_file",
        "ok": False,
        "text": "File not found: /p/a",
    }


def test_parts_are_texts_and_images() -> None:
    parts = [{"text": "one"}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}, "two"]
    assert told(after("glob", {"pattern": "*"}, parts))[1][1]["images"] == 1
    assert sorted(told(after("glob", {"pattern": "*"}, parts))[1][1]["text"].split("\n")) == ["one", "two"]


def test_a_read_tells_which_lines_were_shown() -> None:
    ((_, _), (_, result)) = told(after("read_file", {"file_path": "/p/a.md"}, "one\ntwo\n"))
    assert (result["read"]["path"], result["read"]["lineStart"], result["read"]["lineCount"]) == ("/p/a.md", 1, 2)


@pytest.mark.parametrize(
    ("prompt", "text", "source"),
    [
        ("<hook_context>a &lt;b&gt;</hook_context>\n\nCheck it", "Check it", SourceKind.USER),
        ("Check it<hook_context>x\ny</hook_context>", "Check it", SourceKind.USER),
        (
            "Read @a.md\n--- Content from referenced files ---\nContent from @a.md:\nsecret\n--- End of content ---",
            "Read @a.md",
            SourceKind.USER,
        ),
        ("<hook_context>only</hook_context>", "<hook_context>only</hook_context>", SourceKind.LIFECYCLE),
        ("Please continue.", "Please continue.", SourceKind.LIFECYCLE),
        ("What does </hook_context> mean?", "What does </hook_context> mean?", SourceKind.USER),
    ],
)
def test_a_prompt_is_the_users_own_words(prompt: str, text: str, source: SourceKind) -> None:
    what = heard("BeforeAgent", prompt=prompt)
    (event,) = what.envelopes
    assert (json.loads(bytes(event.payload))["text"], event.source_kind) == (text, source)
    assert what.surface is (Surface.USER_PROMPT if source is SourceKind.USER else None)


def test_only_the_call_that_starts_a_subagent_is_told_before_it_ends() -> None:
    what = heard("BeforeTool", tool_name="invoke_agent", tool_input={"agent_name": "generalist", "prompt": "Look."})
    assert told(what) == [("tool/call", {"tool": "agent", "args": "generalist\nLook.", "nativeTool": "invoke_agent"})]
    assert what.surface is None


def test_names_keep_calls_apart_and_one_call_together() -> None:
    first = after("run_shell_command", {"command": "ls"}, "a")
    again = after("run_shell_command", {"command": "ls"}, "a")
    later = heard(
        "AfterTool", tool_name="run_shell_command", tool_input={"command": "ls"}, timestamp="2026-11-29T19:23:35Z"
    )
    assert [e.event_id for e in first.envelopes] == [e.event_id for e in again.envelopes]
    assert first.envelopes[0].event_id != later.envelopes[0].event_id
    assert heard("BeforeAgent", prompt="x", timestamp="").envelopes[0].event_id is None
    assert {e.timestamp for e in first.envelopes} == {1795980214540}
    assert heard("BeforeAgent", prompt="x", timestamp="noon").envelopes[0].timestamp == 7


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_of_the_product_is_known_or_tells_nothing(event: str) -> None:
    """Bare, with fields of tomorrow, and with every known field in another form."""
    odd = {name: {"nested": [1]} for name in Payload.__struct_fields__ if name not in NEEDED}
    for fields in ({}, {"field_of_tomorrow": {"a": [None]}}, odd, dict.fromkeys(odd)):
        what = heard(event, **fields)
        assert (what.session_id, what.event) == ("s", event)
        assert encode(what, None) == b""


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(Payload.__struct_fields__), ANYTHING))
def test_whatever_a_payload_holds_is_told_or_refused_with_its_reason(event: str, fields: dict[str, object]) -> None:
    payload = {**BASE, **fields, "hook_event_name": event}
    try:
        what = decode(json.dumps(payload).encode())
    except ProtocolFault as fault:
        assert fault.kind in ("bad-payload", "no-owner")
    else:
        for envelope in what.envelopes:
            json.loads(bytes(envelope.payload))


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"session_id": "s", "cwd": "/p"}, "bad-payload"),
        ({"session_id": 5, "cwd": "/p", "hook_event_name": "AfterAgent"}, "bad-payload"),
        ({"session_id": "s", "hook_event_name": "AfterAgent"}, "bad-payload"),
        ({"cwd": "/p", "hook_event_name": "AfterAgent"}, "no-owner"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_with_its_reason(payload: dict[str, object], kind: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        decode(json.dumps(payload).encode())
    assert caught.value.kind == kind


@pytest.mark.parametrize("event", EVENTS)
def test_case_own_sessions_tell_nothing(event: str) -> None:
    raw = json.dumps({**BASE, "cwd": "/u/dev/.state/x", "hook_event_name": event, "prompt": "You are …"}).encode()
    what = decode(raw, 7, own=("/u/dev/.state",))
    assert (what.envelopes, what.surface, what.transcript) == ((), None, None)


# ---------------------------------------------------------------------------- captures, in both directions


@pytest.mark.parametrize("path", CAPTURES, ids=[path.name for path in CAPTURES])
def test_every_captured_payload_tells_what_is_expected(path: Any) -> None:
    assert goldens.told("gemini-cli", path) == goldens.expected(path)


def test_every_captured_answer_is_the_one_we_give_where_we_speak() -> None:
    answered = [each for path in CAPTURES for each in goldens.outputs(path)]
    assert {event for event, _, _ in answered} >= SPEAKING
    for event, text, document in answered:
        answer = encode(heard(event), text)
        assert (json.loads(answer) == document) if event in SPEAKING else answer == b""


@pytest.mark.parametrize("event", sorted(SPEAKING))
def test_an_answer_is_one_line_of_ascii_in_the_hosts_schema(event: str) -> None:
    answer = encode(heard(event), "one\nzwei ü <b>")
    assert answer.isascii() and b"\n" not in answer
    assert json.loads(answer) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "one\nzwei ü <b>"}
    }


def test_a_start_is_not_answered_for_a_resumed_session_would_lose_the_prompt_behind_the_answer() -> None:
    started = heard("SessionStart", source="startup")
    assert (started.surface, encode(started, "x")) == (None, b"")
    assert [heard("SessionStart", source=each).envelopes[0].event_id for each in ("startup", "resume")] == [
        "start:s",
        None,
    ]


def test_a_text_that_is_too_long_is_not_handed_over() -> None:
    assert encode(heard("AfterTool"), "x" * OUTPUT_LIMIT)
    assert encode(heard("AfterTool"), "x" * (OUTPUT_LIMIT + 1)) == b""
