"""Gemini CLI's hooks (C-07): payload to events, text to the answer (pure).

All hooks are commands. What BeforeAgent answers stands behind the prompt. AfterTool tells a call and its result at
once, and its answer stands behind that result in the next request. BeforeTool is asked for one tool alone, the one that
starts a subagent: hooks name no agent, so what happens until that call returns is the subagent's (`GeminiOverhearing`
keeps count). PreCompress comes before every request, compressed or not, and means nothing here; that a history was
compressed is read from the transcript.

The host escapes `<` and `>` in what a hook answers. A hook that ends with a code above 1 denies, and what it prints
elsewhere than on standard output is shown to the user: our clients do neither.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from host.reads import gemini_shown
from host.transcripts import gemini_words as words
from host.transcripts.records import MAIN, Ids, Place, as_record, event, fitted, millis, parse, sound
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

OUTPUT_LIMIT = 10_000  # characters; the host itself names no limit
SPEAKING = frozenset({"BeforeAgent", "AfterTool"})
NEEDED = ("hook_event_name", "session_id", "cwd")
Events = Sequence[EventEnvelope]


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of hook payloads that are read, by the host's own names."""

    hook_event_name: str
    cwd: str
    session_id: str = ""
    transcript_path: str | None = None
    timestamp: str = ""
    source: str | None = None
    reason: str | None = None
    prompt: str = ""
    prompt_response: str = ""
    stop_hook_active: bool = False
    tool_name: str = ""
    original_request_name: str | None = None
    tool_input: Any = None
    tool_response: Any = None


def decode(raw: bytes, now: Millis = 0, own: Sequence[str] = ()) -> Heard:
    """What one hook call tells, at the payload's own time or else at `now` (epoch ms).

    A call from below one of the folders `own` is from a session of ours and tells nothing, as does an event that is
    not known. Raises ProtocolFault: `bad-payload`, or `no-owner` without a session id.
    """
    payload = _payload(raw)
    silent = Heard(envelopes=(), session_id=payload.session_id, agent_id=MAIN, event=payload.hook_event_name)
    tell = _TELLERS.get(payload.hook_event_name)
    if tell is None or any(PurePath(payload.cwd).is_relative_to(folder) for folder in own):
        return silent
    at = millis(payload.timestamp)
    place = Place(session_id=payload.session_id, agent_id=MAIN, workspace=payload.cwd, at=now if at is None else at)
    envelopes, surface = tell(payload, place)
    return msgspec.structs.replace(
        silent, envelopes=tuple(envelopes), surface=surface, transcript=payload.transcript_path or None
    )


def encode(heard: Heard, text: str | None) -> bytes:
    """The hook's answer: one line of ASCII JSON. Nothing where the event carries no text, or the text is too long."""
    if not text or heard.event not in SPEAKING or len(sound(text)) > OUTPUT_LIMIT:
        return b""
    output = {"hookEventName": heard.event, "additionalContext": sound(text)}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _payload(raw: bytes) -> Payload:
    record = parse(raw)
    if record is None:
        raise ProtocolFault("bad-payload", "The hook's payload is not a JSON object.", "Send the payload as it came.")
    try:
        payload = fitted(record, Payload, NEEDED)
    except msgspec.ValidationError as error:
        raise ProtocolFault("bad-payload", f"The hook's payload does not fit: {error}.") from error
    if not payload.session_id:
        raise ProtocolFault("no-owner", "The hook's payload names no session.", "Send `session_id`.")
    return payload


def _session_start(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """A start, which is not answered: the text would stand in front of the first prompt, and a message that begins with
    `<hook_context>` is dropped when the session is resumed, prompt and all."""
    source = payload.source or "startup"
    ids = Ids(event=f"start:{payload.session_id}" if source == "startup" else None)
    return (event(place, EventType.SESSION_START, {"source": source}, ids),), None


def _session_end(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    return (event(place, EventType.SESSION_END, {"source": payload.reason}, Ids()),), None


def _prompt(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    said = words.spoken(payload.prompt)
    ids = Ids(event=_named("prompt", words.text_key(said.text), payload))
    surface = Surface.USER_PROMPT if said.source is SourceKind.USER else None
    return (event(place, EventType.USER_MESSAGE, {"text": said.text}, ids, said.source),), surface


def _call(payload: Payload, place: Place) -> tuple[EventEnvelope, dict[str, object]]:
    """The call's event, and what its result repeats of it."""
    name = payload.original_request_name or payload.tool_name
    told = words.call_payload(name, payload.tool_input)
    call = event(place, EventType.TOOL_CALL, told, _ids("call", payload))
    return call, {key: told[key] for key in ("tool", "path", "nativeTool")}


def _before_tool(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """Of a call that starts a subagent. Others tell the call with their result."""
    return ((_call(payload, place)[0],) if payload.tool_name == words.AGENT_TOOL else ()), None


def _after_tool(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    call, same = _call(payload, place)
    response = as_record(payload.tool_response)
    content = response.get("llmContent")
    told = words.outcome(payload.tool_name, content, failed=bool(response.get("error")))
    result = {**same, "ok": told.ok, "text": told.text, "images": told.images or None}
    if told.ok:
        result |= gemini_shown(payload.tool_name, payload.tool_input, content, payload.cwd)
    return (call, event(place, EventType.TOOL_RESULT, result, _ids("result", payload))), Surface.POST_TOOL


def _after_agent(payload: Payload, place: Place) -> tuple[Events, Surface | None]:
    """The turn's end. What the agent said is told from the transcript; where there is none, all of it here."""
    if payload.stop_hook_active:
        return (), None
    said = sound(payload.prompt_response).strip()
    key = words.text_key(said)
    reply = event(place, EventType.ASSISTANT_MESSAGE, {"text": said}, Ids(event=_named("reply", key, payload)))
    end = event(place, EventType.TURN_END, {}, Ids(event=_named("turn", "end", payload)))
    return ((reply, end) if said else (end,)), None


def _ids(kind: str, payload: Payload) -> Ids:
    key = words.call_key(payload.original_request_name or payload.tool_name, payload.tool_input)
    return Ids(event=_named(kind, key, payload), call=_named("tool", key, payload))


def _named(kind: str, key: str, payload: Payload) -> str | None:
    """The event's name until the transcript tells where it belongs; without a time there is none that is its own."""
    stamp = "".join(sign for sign in payload.timestamp if sign.isascii() and sign.isalnum())[:32]
    return words.timed(kind, key, stamp) if stamp else None


_TELLERS: Mapping[str, Callable[[Payload, Place], tuple[Events, Surface | None]]] = {
    "SessionStart": _session_start,
    "BeforeAgent": _prompt,
    "BeforeTool": _before_tool,
    "AfterTool": _after_tool,
    "AfterAgent": _after_agent,
    "SessionEnd": _session_end,
}
