"""The payload of an `mcp_tool` hook: put together from what each host sends, as its command hooks get it."""

import json
from pathlib import Path
from typing import Any

import pytest

from host.adapters import ADAPTERS
from host.contracts import Surface
from host.mcp.hosts import CLAUDE_CODE, CODEX, FIELDS, FORWARDED, hook_input, payload

CAPTURES = Path(__file__).parents[2] / "data" / "mcp"
SESSION = "01a22bdd-15fa-7b40-b838-d650987f322b"
CHILD = "01a22bdd-9999-7b40-b838-d650987f322b"
ROLLOUT = "/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T09-50-39-{}.jsonl"


def told(arguments: dict[str, Any]) -> Any:
    raw = payload(arguments)
    return json.loads(raw) if raw else None


@pytest.mark.parametrize("host", [CLAUDE_CODE, CODEX])
def test_each_event_asks_for_the_fields_it_has_under_their_own_names(host: str) -> None:
    for event, fields in FIELDS[host].items():
        asked = hook_input(host, event)
        assert asked.pop("host") == host
        assert asked == {field: "${" + field + "}" for field in fields}
        assert {"session_id", "cwd", "hook_event_name"} <= asked.keys()


def test_an_event_that_cannot_come_by_a_tool_is_not_asked_for() -> None:
    with pytest.raises(KeyError):
        hook_input(CLAUDE_CODE, "SessionStart")
    with pytest.raises(KeyError):
        hook_input(CODEX, "SessionEnd")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"command":"make"}', {"command": "make"}),
        ("[1]", [1]),
        ("plain", "plain"),
        ("{broken", "{broken"),
        ({"command": "make"}, {"command": "make"}),
    ],
)
def test_data_may_come_as_it_is_or_as_json_in_a_text(value: object, expected: object) -> None:
    assert told({"host": CLAUDE_CODE, "tool_input": value}) == {"tool_input": expected}


def test_words_are_never_taken_for_data() -> None:
    words = {"prompt": '{"a": 1}', "error": "[x]", "last_assistant_message": "true"}
    assert told({"host": CLAUDE_CODE} | words) == words


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("false", False), (True, True), (False, False)])
def test_flags_come_as_text_or_as_they_are(value: object, expected: bool) -> None:
    assert told({"host": CODEX, "stop_hook_active": value}) == {"stop_hook_active": expected}


def test_what_the_host_did_not_fill_in_is_left_out() -> None:
    arguments = {"host": CLAUDE_CODE, "session_id": "s", "agent_id": "", "source": None, "trigger": "${trigger}"}
    assert told(arguments) == {"session_id": "s"}


def test_an_output_that_is_empty_was_there() -> None:
    assert told({"host": CODEX, "session_id": "s", "tool_response": ""}) == {"session_id": "s", "tool_response": ""}


@pytest.mark.parametrize("whole", [{"session_id": "s"}, '{"session_id": "s"}'])
def test_a_host_may_send_its_payload_whole(whole: object) -> None:
    assert told({"host": CODEX, "payload": whole, "other": 1}) == {"session_id": "s"}


@pytest.mark.parametrize("arguments", [{}, {"host": CODEX}, {"payload": "[]"}, {"payload": "nonsense"}, {"payload": 7}])
def test_no_payload_is_nothing(arguments: dict[str, Any]) -> None:
    assert payload(arguments) == b""


@pytest.mark.parametrize(
    ("host", "transcript", "agent"),
    [
        (CODEX, ROLLOUT.format(CHILD), CHILD),
        (CODEX, ROLLOUT.format(SESSION), None),
        (CODEX, "/somewhere/else.jsonl", None),
        (CLAUDE_CODE, ROLLOUT.format(CHILD), None),
    ],
)
def test_a_subagent_of_codex_is_known_by_its_own_transcript(host: str, transcript: str, agent: str | None) -> None:
    found = told({"host": host, "session_id": SESSION, "transcript_path": transcript})
    assert found.get("agent_id") == agent


def captured(host: str) -> list[dict[str, Any]]:
    """The calls of the tool `hook_event`, as that host sent them; which event stands in `event`."""
    file = CAPTURES / f"{host}.jsonl"
    messages = [json.loads(line)["m"] for line in file.read_text("utf-8").splitlines()]
    return [one["params"]["arguments"] for one in messages if one["method"] == "tools/call"]


@pytest.mark.parametrize("host", [CLAUDE_CODE, CODEX])
def test_what_the_hosts_sent_becomes_what_their_adapter_understands(host: str) -> None:
    calls = captured(host)
    heard = []
    for arguments in calls:
        event = {"hook_event_name": arguments["event"], "cwd": "/home/dev/project"}
        sent = {name: value for name, value in arguments.items() if name != "event"} | event | {"host": host}
        heard.append(ADAPTERS[host].decode(payload(sent)))

    assert [one.event for one in heard] == [arguments["event"] for arguments in calls]
    assert {one.session_id for one in heard} == {calls[0]["session_id"]}
    assert Surface.POST_TOOL in {one.surface for one in heard}
    assert sum(len(one.envelopes) for one in heard) > len(calls) / 2


def test_what_a_bare_environment_should_have_carries_our_names() -> None:
    assert {"REMORA_PRE_DATA", "REMORA_PRE_SOCKET", "XDG_RUNTIME_DIR"} <= set(FORWARDED)
