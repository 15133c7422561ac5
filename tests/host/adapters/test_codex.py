"""Codex's hooks become events, and answers exactly its schema; real captures of 0.171.0 are what it must understand."""

import json
from pathlib import Path
from typing import Any

import pytest

from host.adapters.codex import OUTPUT_BYTES, SPEAKING, decode, encode
from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from recall.contracts import SourceKind
from tests.host.adapters import goldens

CAPTURES = goldens.captures("codex")
EVENTS = (  # all of 0.171.0, and one of a newer source
    "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SubagentStart "
    "SubagentStop Stop Interrupt SessionEnd StopFailure"
)
PATCH = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-x\n+y\n*** End Patch\n"


def heard(event: str, **fields: object) -> Heard:
    base = {"session_id": "s", "transcript_path": "/r.jsonl", "cwd": "/p", "turn_id": "t1", "hook_event_name": event}
    return decode(json.dumps(base | fields).encode(), 7)


def told(what: Heard) -> list[tuple[str, dict[str, Any]]]:
    return [(event.event_type, json.loads(bytes(event.payload))) for event in what.envelopes]


@pytest.mark.parametrize("path", CAPTURES, ids=[path.name for path in CAPTURES])
def test_every_captured_payload_tells_what_is_expected(path: Path) -> None:
    assert goldens.told("codex", path) == goldens.expected(path)


@pytest.mark.parametrize("path", CAPTURES, ids=[path.name for path in CAPTURES])
def test_every_captured_answer_is_the_one_we_give_where_we_speak(path: Path) -> None:
    """In the other direction: the texts that captured hooks answered, answered by us."""
    for event, text, document in goldens.outputs(path):
        answer = encode(heard(event), text)
        if event not in SPEAKING or len(text.encode()) > OUTPUT_BYTES:
            assert answer == b""
        else:
            assert json.loads(answer) == document


def test_there_are_captures_of_both_directions() -> None:
    assert len(CAPTURES) == 4
    assert {event for path in CAPTURES for event, _, _ in goldens.outputs(path)} >= SPEAKING


# ------------------------------------------------------------------------------------------------------------ events


def test_a_command_says_nothing_of_how_it_went_and_shows_what_it_read() -> None:
    call = {"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": "cat a.md"}, "tool_response": "one\n"}

    what = heard("PostToolUse", **call)

    assert what.surface is Surface.POST_TOOL and what.transcript == "/r.jsonl"
    assert told(what) == [
        ("tool/call", {"tool": "shell", "args": "cat a.md", "nativeTool": "Bash"}),
        (
            "tool/result",
            {
                "tool": "shell",
                "nativeTool": "Bash",
                "text": "one\n",
                "printed": [{"paths": ["a.md"], "bases": ["/p"]}],
            },
        ),
    ]
    assert [event.event_id for event in what.envelopes] == ["call:c1", "result:c1"]


def test_a_command_that_prints_what_looks_like_a_head_is_not_taken_for_a_failure() -> None:
    said = "Process exited with code 1\nOutput:\nthe log of another run\n"

    result = told(heard("PostToolUse", tool_name="Bash", tool_input={"command": "cat log"}, tool_response=said))[1][1]

    assert "ok" not in result and result["text"] == said


@pytest.mark.parametrize(
    ("tool", "given", "response", "expected"),
    [
        (
            "apply_patch",
            {"command": PATCH},
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n",
            {"tool": "edit", "nativeTool": "apply_patch", "path": "src/app.py", "ok": True, "text": "Success.\n"},
        ),
        (
            "apply_patch",
            {"command": PATCH},
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file\n",
            {
                "tool": "edit",
                "nativeTool": "apply_patch",
                "path": "src/app.py",
                "ok": False,
                "text": "Exit code 1\nno such file",
            },
        ),
        (
            "mcp__tides__table",
            {"harbour": "Husum"},
            {"content": [{"type": "text", "text": "high at 9"}], "isError": False},
            {"tool": "mcp:tides__table", "nativeTool": "mcp__tides__table", "ok": True, "text": "high at 9"},
        ),
        (
            "mcp__tides__table",
            {},
            '{"content": [{"type": "text", "text": "no moon"}], "isError": true}',
            {"tool": "mcp:tides__table", "nativeTool": "mcp__tides__table", "ok": False},
        ),
        (
            "spawn_agent",
            {"message": "look", "agent_type": "default"},
            '{"agent_id":"a1"}',
            {"tool": "agent", "nativeTool": "spawn_agent", "ok": True, "text": '{"agent_id":"a1"}'},
        ),
    ],
)
def test_other_tools_say_how_they_went(tool: str, given: object, response: object, expected: dict[str, object]) -> None:
    result = told(heard("PostToolUse", tool_name=tool, tool_input=given, tool_response=response))[1][1]

    assert result | expected == result


def test_a_prompt_is_the_users_own_words() -> None:
    editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix the tide table\n"

    what = heard("UserPromptSubmit", prompt=editor)

    assert told(what) == [("user/message", {"text": "fix the tide table"})]
    assert what.envelopes[0].source_kind is SourceKind.USER and what.surface is Surface.USER_PROMPT


@pytest.mark.parametrize("prompt", ["<subagent_notification>{}</subagent_notification>", "<turn_aborted>"])
def test_what_the_harness_says_in_the_users_role_gets_no_answer(prompt: str) -> None:
    what = heard("UserPromptSubmit", prompt=prompt)

    assert what.envelopes[0].source_kind is SourceKind.LIFECYCLE and what.surface is None


def test_a_subagents_task_is_an_agents_words() -> None:
    what = heard("UserPromptSubmit", prompt="look at it", agent_id="a1", agent_type="default")

    assert (what.agent_id, what.surface) == ("a1", None)
    assert what.envelopes[0].source_kind is SourceKind.AGENT


def test_a_turn_that_a_hook_kept_going_ends_once() -> None:
    assert [kind for kind, _ in told(heard("Stop", last_assistant_message=" Done. "))] == [
        "assistant/message",
        "turn/end",
    ]
    assert told(heard("Stop", stop_hook_active=True, last_assistant_message="Done.")) == []
    assert told(heard("SubagentStop", agent_id="a1", stop_hook_active=True)) == []
    assert told(heard("SubagentStop")) == []


@pytest.mark.parametrize(
    ("source", "event_id"),
    [
        ("startup", "start:s:startup"),
        ("clear", "start:s:clear"),
        ("fork", "start:s:fork"),
        ("resume", None),
        ("compact", None),
    ],
)
def test_a_start_tells_its_source_and_the_model(source: str, event_id: str | None) -> None:
    what = heard("SessionStart", source=source, model="gpt-9")

    assert told(what) == [("session/client", {"model": "gpt-9"}), ("session/start", {"source": source})]
    assert what.envelopes[1].event_id == event_id and what.surface is Surface.SESSION_START


@pytest.mark.parametrize("event", [*EVENTS.split(), "AnEventOfTomorrow", ""])
@pytest.mark.parametrize("odd", [None, 5, ["x"], {"a": {"b": 1}}, "\ud800\0", "x" * 300_000])
def test_no_event_and_no_field_of_tomorrow_breaks_anything(event: str, odd: object) -> None:
    fields = (
        "turn_id transcript_path model source prompt tool_name tool_input tool_response tool_use_id agent_type reason "
        "trigger stop_hook_active last_assistant_message permission_mode a_field_of_tomorrow"
    )
    for field in fields.split():
        for envelope in heard(event, **{field: odd}).envelopes:
            assert isinstance(json.loads(bytes(envelope.payload)), dict)


def test_sessions_of_ours_tell_nothing() -> None:
    raw = json.dumps({"session_id": "s", "cwd": "/own/inner", "hook_event_name": "UserPromptSubmit", "prompt": "x"})

    assert decode(raw.encode(), 0, ["/own"]).envelopes == ()
    assert decode(raw.encode(), 0, ["/ow"]).envelopes != ()


def test_a_payload_without_a_session_has_no_owner() -> None:
    with pytest.raises(ProtocolFault) as caught:
        decode(b'{"hook_event_name":"Stop","cwd":"/p"}')
    assert caught.value.kind == "no-owner"


# ----------------------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("event", sorted(SPEAKING))
def test_an_answer_has_the_fields_of_the_schema_and_no_other(event: str) -> None:
    """One field more, at the top or within, and the host drops the whole answer."""
    answer = encode(heard(event), 'line one\nüber\u2028 "two"')

    assert answer.isascii() and b"\n" not in answer
    assert json.loads(answer) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": 'line one\nüber\u2028 "two"'}
    }


@pytest.mark.parametrize("event", sorted({*EVENTS.split()} - SPEAKING))
def test_events_that_must_not_or_cannot_carry_text_answer_nothing(event: str) -> None:
    assert encode(heard(event), "a memory") == b""


@pytest.mark.parametrize(("text", "fits"), [("x" * OUTPUT_BYTES, True), ("x" * (OUTPUT_BYTES + 1), False)])
@pytest.mark.parametrize("sign", ["x", "ü", "部"])
def test_a_text_that_the_host_would_cut_is_not_handed_over(text: str, fits: bool, sign: str) -> None:
    wide = text.replace("x", sign, len(text) - OUTPUT_BYTES + 1) if sign != "x" else text
    whole = len(wide.encode()) <= OUTPUT_BYTES

    assert bool(encode(heard("PostToolUse"), wide)) is whole
    assert sign != "x" or whole is fits
