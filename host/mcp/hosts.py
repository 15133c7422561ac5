"""Hooks that come as calls of a tool (`mcp_tool`): what a host is asked to send, and the payload made of it. Pure.

A host fills in `${field}` from its own payload. Claude Code sends an empty text for a field that is not there, and
data as JSON in a text. Codex sends data as it is, and drops the whole call when a field is not there: so each event
asks for what it has, and no more.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from host.namespace import env

CLAUDE_CODE, CODEX = "claude-code", "codex"
HOST, PAYLOAD = "host", "payload"

_CLAUDE_CODE = ("session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "agent_id", "agent_type")
_CODEX = ("session_id", "transcript_path", "cwd", "hook_event_name", "model")
_CALL = ("tool_name", "tool_input", "tool_use_id")
_TURN = ("turn_id",)
# host -> event -> the fields that are asked for. SessionStart and SessionEnd are left out: Claude Code calls no server
# then, and Codex has none for an end.
FIELDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    CLAUDE_CODE: {
        "UserPromptSubmit": (*_CLAUDE_CODE, "prompt", "source"),
        "PostToolUse": (*_CLAUDE_CODE, *_CALL, "tool_response"),
        "PostToolUseFailure": (*_CLAUDE_CODE, *_CALL, "error", "is_interrupt"),
        "PostToolBatch": _CLAUDE_CODE,
        "Stop": (*_CLAUDE_CODE, "stop_hook_active", "last_assistant_message"),
        "SubagentStart": _CLAUDE_CODE,
        "SubagentStop": (*_CLAUDE_CODE, "stop_hook_active", "last_assistant_message"),
        "PreCompact": (*_CLAUDE_CODE, "trigger"),
        "PostCompact": (*_CLAUDE_CODE, "trigger", "compact_summary"),
    },
    CODEX: {
        "SessionStart": (*_CODEX, "source"),
        "UserPromptSubmit": (*_CODEX, *_TURN, "prompt"),
        "PostToolUse": (*_CODEX, *_TURN, *_CALL, "tool_response"),
        "Stop": (*_CODEX, *_TURN, "stop_hook_active", "last_assistant_message"),
        "PreCompact": (*_CODEX, *_TURN, "trigger"),
        "PostCompact": (*_CODEX, *_TURN, "trigger"),
    },
}
DATA = frozenset({"tool_input", "tool_response", "tool_calls"})  # may be JSON in a text
FLAGS = frozenset({"stop_hook_active", "is_interrupt"})
SAID = frozenset({"prompt", "tool_response"})  # may be empty and there
_ROLLOUT = "rollout-"
_UUID = 36  # characters

# What a host that starts us with a bare environment should hand on: without it we look for the daemon elsewhere.
FORWARDED = (
    *("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR"),
    *(env(part) for part in ("data", "socket", "config")),
)


def hook_input(host: str, event: str) -> dict[str, str]:
    """The `input` of an `mcp_tool` hook for this event. Raises KeyError for an event that cannot be one."""
    return {HOST: host} | {field: f"${{{field}}}" for field in FIELDS[host][event]}


def payload(arguments: Mapping[str, Any]) -> bytes:
    """The host's payload as its command hooks get it, as JSON; empty when there is none.

    Taken from the argument `payload`, data or JSON in a text, or put together from all the others.
    """
    given = arguments.get(PAYLOAD)
    if given is None:
        given = _fields(arguments)
    elif isinstance(given, str):
        given = _data(given)
    if not isinstance(given, dict) or not given:
        return b""
    if arguments.get(HOST) == CODEX:
        given = _of_subagent(given)
    return msgspec.json.encode(given)


def _fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The payload from single fields: without those that the host did not fill in."""
    found: dict[str, Any] = {}
    for field, value in arguments.items():
        if field == HOST or value is None or value == f"${{{field}}}" or (value == "" and field not in SAID):
            continue
        if field in DATA:
            found[field] = _data(value)
        elif field in FLAGS:
            found[field] = value in (True, "true")
        else:
            found[field] = value
    return found


def _data(value: Any) -> Any:
    """Data that may have come as JSON in a text; a text that is none stays what it is."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


def _of_subagent(given: dict[str, Any]) -> dict[str, Any]:
    """The payload of a Codex subagent says whose it is: its transcript is its own, its session is its parent's.

    Only its own hooks name it; ours cannot ask for a name that the main agent does not have.
    """
    session, transcript = given.get("session_id"), given.get("transcript_path")
    if "agent_id" in given or not isinstance(session, str) or not isinstance(transcript, str):
        return given
    name = PurePath(transcript).name
    if not session or not name.startswith(_ROLLOUT) or session in name:
        return given
    return given | {"agent_id": PurePath(name).stem[-_UUID:]}
