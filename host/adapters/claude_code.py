"""Claude Code's hooks (C-07): payload to events, text to the answer (pure).

PostToolUse tells the call and its result at once, so PreToolUse need not be registered. PostToolBatch, between the
last result and the next request, is where text is handed over; it tells nothing new. A compaction resets the context
window once, at SessionStart(compact): what PreCompact and PostCompact tell is kept under types without a meaning.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from host.reads import claude_code_shown
from host.transcripts import claude_words as words
from host.transcripts.records import MAIN, Ids, Place, Record, as_record, client, event, parse, sound
from host.transcripts.tail import reply
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

OUTPUT_LIMIT = 10_000  # UTF-16 units: the host saves longer text to a file and shows a preview
SPEAKING = frozenset({"SessionStart", "UserPromptSubmit", "PostToolBatch", "SubagentStart"})
BY_HAND = frozenset({"", "user", "sdk"})  # sources of a prompt that a person or a person's program typed
ONCE = frozenset({"startup", "clear", "fork"})  # with these a session begins, so each is told once
NEEDED = ("hook_event_name", "session_id", "cwd")
Events = Sequence[EventEnvelope]


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of hook payloads that are read, by the host's own names. Texts sound for UTF-8."""

    hook_event_name: str
    cwd: str
    session_id: str = ""
    transcript_path: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    source: str | None = None
    prompt: str = ""
    tool_name: str = ""
    tool_use_id: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    error: str = ""
    is_interrupt: bool = False
    model: str | None = None
    to_model: str | None = None
    stop_hook_active: bool = False
    last_assistant_message: str | None = None
    reason: str | None = None
    trigger: str | None = None
    compact_summary: str = ""


def decode(raw: bytes, now: Millis = 0, own: Sequence[str] = ()) -> Heard:
    """What one hook call tells. Payloads carry no time: `now` (epoch ms) is the events' time.

    A call from below one of the folders `own` is from a session of ours and tells nothing, as does an event that is
    not known. Raises ProtocolFault: `bad-payload`, or `no-owner` without a session id.
    """
    payload = _payload(raw)
    agent = payload.agent_id or MAIN
    silent = Heard(envelopes=(), session_id=payload.session_id, agent_id=agent, event=payload.hook_event_name)
    tell = _TELLERS.get(payload.hook_event_name)
    if tell is None or any(PurePath(payload.cwd).is_relative_to(folder) for folder in own):
        return silent
    place = Place(session_id=payload.session_id, agent_id=agent, workspace=payload.cwd, at=now)
    envelopes, surface = tell(payload, place)
    return msgspec.structs.replace(
        silent, envelopes=tuple(envelopes), surface=surface, transcript=payload.transcript_path or None
    )


def encode(heard: Heard, text: str | None) -> bytes:
    """The hook's answer: one line of ASCII JSON, or nothing.

    Nothing also when the event cannot carry text, or the text is too long for the host: then nothing was handed over.
    """
    if not text or heard.event not in SPEAKING or len(sound(text).encode("utf-16-le")) > 2 * OUTPUT_LIMIT:
        return b""
    output = {"hookEventName": heard.event, "additionalContext": sound(text)}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _payload(raw: bytes) -> Payload:
    record = parse(raw)
    if record is None:
        raise ProtocolFault("bad-payload", "The hook's payload is not a JSON object.", "Send the payload as it came.")
    try:
        payload = _fields(record)
    except msgspec.ValidationError as error:
        raise ProtocolFault("bad-payload", f"The hook's payload does not fit: {error}.") from error
    if not payload.session_id:
        raise ProtocolFault("no-owner", "The hook's payload names no session.", "Send `session_id`.")
    return payload


def _fields(record: Record) -> Payload:
    """What is read of a payload. A field that came in a form of tomorrow reads as absent; only the event, the session
    and the folder must be what they were. Raises ValidationError."""
    try:
        return msgspec.convert(record, Payload)
    except msgspec.ValidationError:
        kept = {name: record[name] for name in NEEDED if name in record}
        for name in Payload.__struct_fields__:
            if name in record and name not in kept:
                try:
                    msgspec.convert(kept | {name: record[name]}, Payload)
                except msgspec.ValidationError:
                    continue
                kept[name] = record[name]
        return msgspec.convert(kept, Payload)


def _session_start(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """A start. The id lets one that two registrations tell begin one context window, not two."""
    source = payload.source or "startup"
    ids = Ids(event=f"start:{payload.session_id}:{source}" if source in ONCE else None)
    start = event(place, EventType.SESSION_START, {"source": source}, ids)
    return (*_model(payload.model, place), start), Surface.SESSION_START


def _switched(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return _model(payload.to_model, place), None


def _model(model: str | None, place: Place) -> Events:
    """What the session runs on from here on. Its transcript says the same later, with the version."""
    return (client(place, "", model),) if model else ()


def _prompt(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """A prompt. What the harness says in the user's role is kept as such and gets no answer."""
    said = words.spoken(payload.prompt)
    source = said.source if (payload.source or "") in BY_HAND else SourceKind.LIFECYCLE
    if source is SourceKind.USER and place.agent_id != MAIN:
        source = SourceKind.AGENT
    event_id = f"prompt:{payload.prompt_id}:{text_digest(sound(said.text))[:16]}" if payload.prompt_id else None
    told = {"text": said.text, "images": said.images or None, "command": said.command}
    surface = Surface.USER_PROMPT if source is SourceKind.USER else None
    return (event(place, EventType.USER_MESSAGE, told, Ids(event=event_id), source),), surface


def _call(payload: Payload, place: Place) -> tuple[EventEnvelope, dict[str, object]]:
    """The call's event, and what its result repeats of it."""
    told = words.call_payload(payload.tool_name, payload.tool_input)
    call = event(place, EventType.TOOL_CALL, told, _tool_ids("call", payload))
    return call, {key: told[key] for key in ("tool", "path", "nativeTool")}


def _calling(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return (_call(payload, place)[0],), None


def _result(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    call, same = _call(payload, place)
    text, images = words.response_text(payload.tool_response)
    response = as_record(payload.tool_response)
    ok = response.get("isError") is not True and response.get("is_error") is not True
    told = {**same, "ok": ok, "text": text, "images": images or None}
    if ok:
        told |= claude_code_shown(payload.tool_name, payload.tool_input, response, text, payload.cwd)
    return (call, event(place, EventType.TOOL_RESULT, told, _tool_ids("result", payload))), None


def _failure(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    call, same = _call(payload, place)
    denied = payload.is_interrupt or words.refused(payload.error)
    told = {**same, "ok": False, "text": payload.error, "denied": denied or None}
    return (call, event(place, EventType.TOOL_RESULT, told, _tool_ids("result", payload))), None


def _batch(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return (), Surface.POST_TOOL


def _stop(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """The turn's last words. A stop that a hook kept going is no second end."""
    if payload.stop_hook_active:
        return (), None
    ids = Ids(event=f"turn:{payload.prompt_id}:end" if payload.prompt_id else None)
    return (*_last_words(payload, place), event(place, EventType.TURN_END, {}, ids)), None


def _spawn(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    ids = Ids(event=f"agent:{place.agent_id}:start")
    return (event(place, EventType.AGENT_SPAWN, {"agentType": payload.agent_type}, ids),), None


def _agent_stop(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """A subagent's end. The one that writes a compaction's summary has an empty type and never started."""
    if payload.stop_hook_active or not payload.agent_type:
        return (), None
    ids = Ids(event=f"agent:{place.agent_id}:stop")
    return (*_last_words(payload, place), event(place, EventType.AGENT_STOP, {}, ids)), None


def _compacting(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return (event(place, "session/compacting", {"trigger": payload.trigger}, Ids()),), None


def _compacted(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    told = {"trigger": payload.trigger, "text": payload.compact_summary}
    return (event(place, "session/compacted", told, Ids()),), None


def _session_end(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return (event(place, EventType.SESSION_END, {"source": payload.reason}, Ids()),), None


def _last_words(payload: Payload, place: Place) -> Events:
    text = sound(payload.last_assistant_message or "").strip()
    return (reply(place, payload.prompt_id or "", text),) if text else ()


def _tool_ids(kind: str, payload: Payload) -> Ids:
    call_id = payload.tool_use_id
    return Ids(event=f"{kind}:{call_id}" if call_id else None, call=call_id)


_TELLERS: Mapping[str, Callable[[Payload, Place], tuple[Events, Surface | None]]] = {
    "SessionStart": _session_start,
    "PostModelSwitch": _switched,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _calling,
    "PostToolUse": _result,
    "PostToolUseFailure": _failure,
    "PostToolBatch": _batch,
    "Stop": _stop,
    "SubagentStart": _spawn,
    "SubagentStop": _agent_stop,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _session_end,
}
