"""Cursor's hooks (C-07), best effort: payload to events, text to the answer (pure).

No Cursor was ever run against this. What is here follows its documentation of 2026-08 and what its users report: every
field may be missing or in another form, and whether a text reaches the model depends on the version. So an answer
goes only where it is documented, at `postToolUse` and `sessionStart`, and nothing here relies on it. Subagents are not
told apart: nothing is registered that would tell.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from host.transcripts.records import (
    MAIN,
    Ids,
    Place,
    Record,
    as_record,
    client,
    event,
    fitted,
    parse,
    sound,
    text_of,
)
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

OUTPUT_LIMIT = 4_096  # characters; the host names no limit, and nobody has measured one
SPEAKING = frozenset({"sessionStart", "postToolUse"})
NEEDED = ("hook_event_name",)
TOOLS: Mapping[str, str] = {
    "Shell": "shell",
    "Bash": "shell",
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "edit",
    "StrReplace": "edit",
    "Delete": "edit",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "SemanticSearch": "search",
    "WebSearch": "web",
    "WebFetch": "web",
    "Task": "agent",
    "TodoWrite": "todo",
}
_PATH_KEYS = ("file_path", "path", "target_file")
Events = Sequence[EventEnvelope]


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of hook payloads that are read, by the host's own names."""

    hook_event_name: str
    conversation_id: str = ""
    session_id: str = ""
    generation_id: str = ""
    cwd: str = ""
    workspace_roots: tuple[str, ...] = ()
    cursor_version: str = ""
    model: str = ""
    prompt: str = ""
    text: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    tool_input: Any = None
    tool_output: Any = None
    error_message: str = ""
    failure_type: str = ""
    is_interrupt: bool = False
    reason: str | None = None


def decode(raw: bytes, now: Millis = 0, own: Sequence[str] = ()) -> Heard:
    """What one hook call tells. Payloads carry no time: `now` (epoch ms) is the events' time.

    A call from below one of the folders `own` is from a session of ours and tells nothing, as does an event that is
    not known. Raises ProtocolFault: `bad-payload`, or `no-owner` without a conversation.
    """
    payload = _payload(raw)
    session = _named(payload.conversation_id or payload.session_id)
    silent = Heard(envelopes=(), session_id=session, agent_id=MAIN, event=payload.hook_event_name)
    folder = payload.workspace_roots[0] if payload.workspace_roots else payload.cwd
    tell = _TELLERS.get(payload.hook_event_name)
    if tell is None or any(PurePath(folder).is_relative_to(each) for each in own):
        return silent
    place = Place(session_id=session, agent_id=MAIN, workspace=folder, at=now)
    envelopes, surface = tell(payload, place)
    return msgspec.structs.replace(silent, envelopes=tuple(envelopes), surface=surface)


def encode(heard: Heard, text: str | None) -> bytes:
    """The hook's answer: one line of ASCII JSON. Nothing where the event carries no text, or the text is too long."""
    if not text or heard.event not in SPEAKING or len(sound(text)) > OUTPUT_LIMIT:
        return b""
    return json.dumps({"additional_context": sound(text)}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _payload(raw: bytes) -> Payload:
    record = parse(raw)
    if record is None:
        raise ProtocolFault("bad-payload", "The hook's payload is not a JSON object.", "Send the payload as it came.")
    try:
        payload = fitted(record, Payload, NEEDED)
    except msgspec.ValidationError as error:
        raise ProtocolFault("bad-payload", f"The hook's payload does not fit: {error}.") from error
    if not payload.conversation_id and not payload.session_id:
        raise ProtocolFault("no-owner", "The hook's payload names no conversation.", "Send `conversation_id`.")
    return payload


def _session_start(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    ids = Ids(event=f"start:{place.session_id}")
    start = event(place, EventType.SESSION_START, {"source": "startup"}, ids)
    return (*_spoken(payload, place), start), Surface.SESSION_START


def _session_end(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return (event(place, EventType.SESSION_END, {"source": payload.reason}, Ids()),), None


def _prompt(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """A prompt. No field of the answer is documented that would put text beside it."""
    text = sound(payload.prompt).strip()
    prompt = event(place, EventType.USER_MESSAGE, {"text": text}, Ids(event=_of_turn("prompt", text, payload)))
    told = msgspec.structs.replace(prompt, source_kind=SourceKind.USER)
    return ((*_spoken(payload, place), told) if text else ()), None


def _reply(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    text = sound(payload.text).strip()
    ids = Ids(event=_of_turn("reply", text, payload))
    return ((event(place, EventType.ASSISTANT_MESSAGE, {"text": text}, ids),) if text else ()), None


def _call(payload: Payload, place: Place) -> tuple[EventEnvelope, dict[str, object]]:
    """The call's event, and what its result repeats of it."""
    arguments = as_record(payload.tool_input)
    path = next((value for key in _PATH_KEYS if (value := text_of(arguments, key))), None)
    tool = neutral(payload.tool_name)
    told = {"tool": tool, "args": _summary(tool, arguments, path), "path": path, "nativeTool": payload.tool_name}
    call = event(place, EventType.TOOL_CALL, told, _tool_ids("call", payload))
    return call, {key: told[key] for key in ("tool", "path", "nativeTool")}


def _result(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    call, same = _call(payload, place)
    text, ok = outcome(payload.tool_output)
    result = event(place, EventType.TOOL_RESULT, {**same, "ok": ok, "text": text}, _tool_ids("result", payload))
    return (call, result), Surface.POST_TOOL


def _failure(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    call, same = _call(payload, place)
    denied = payload.is_interrupt or payload.failure_type == "permission_denied"
    told = {**same, "ok": False, "text": payload.error_message, "denied": denied or None}
    return (call, event(place, EventType.TOOL_RESULT, told, _tool_ids("result", payload))), None


def _stop(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    name = f"turn:{_named(payload.generation_id)}:end" if payload.generation_id else None
    return (event(place, EventType.TURN_END, {}, Ids(event=name)),), None


def _spoken(payload: Payload, place: Place) -> Events:
    """Which version speaks, and which model."""
    known = payload.cursor_version or payload.model
    return (client(place, payload.cursor_version, payload.model),) if known else ()


def neutral(name: str) -> str:
    """The neutral name of a tool; MCP tools as `mcp:tool`; else the host's own."""
    return TOOLS.get(name) or (f"mcp:{name[4:].strip()}" if name[:4] == "MCP:" else name)


def outcome(output: object) -> tuple[str, bool]:
    """The text of a tool's output, and whether it went well. The host wraps it as JSON text."""
    wrapped = parse(output.encode("utf-8", "replace")) if isinstance(output, str) else as_record(output)
    if not wrapped:
        return sound(output) if isinstance(output, str) else "", True
    streams = [text for key in ("stdout", "stderr", "output", "content", "result") if (text := text_of(wrapped, key))]
    text = "\n".join(stream.rstrip() for stream in streams)
    code = wrapped.get("exitCode", 0)
    failed = (isinstance(code, int) and code != 0) or bool(wrapped.get("error")) or wrapped.get("isError") is True
    return text or json.dumps(wrapped, ensure_ascii=False, separators=(",", ":"), default=str), not failed


def _summary(tool: str, arguments: Record, path: str | None) -> str:
    if tool == "shell" and text_of(arguments, "command"):
        return text_of(arguments, "command")
    if tool == "read" and path:
        return path
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), default=str) if arguments else ""


def _tool_ids(kind: str, payload: Payload) -> Ids:
    name = _named(payload.tool_use_id)
    return Ids(event=f"{kind}:{name}" if name else None, call=name or None)


def _of_turn(kind: str, text: str, payload: Payload) -> str | None:
    turn = _named(payload.generation_id)
    return f"{kind}:{turn}:{text_digest(text)[:16]}" if turn else None


def _named(name: str) -> str:
    """A name of the host's as it stands in ours: another form than letters, digits and dashes is digested."""
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum() and len(name) <= 100
    return name if plain or not name else text_digest(sound(name))[:32]


_TELLERS: Mapping[str, Callable[[Payload, Place], tuple[Events, Surface | None]]] = {
    "sessionStart": _session_start,
    "beforeSubmitPrompt": _prompt,
    "postToolUse": _result,
    "postToolUseFailure": _failure,
    "afterAgentResponse": _reply,
    "stop": _stop,
    "sessionEnd": _session_end,
}
