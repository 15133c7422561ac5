"""Codex CLI's hooks (C-07): payload to events, text to the answer (pure).

A command's PostToolUse has its raw output and no exit code: whether it went well is put right from the rollout, by
`host/transcripts/codex_overhear.py`; without it nothing is said of that. PostToolUse is where text is handed over, once
for each tool: Codex has no event for a batch. The host takes exactly the output schema: one field more, and it drops
the whole answer without a word.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

import msgspec

from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from host.reads import codex_shown
from host.transcripts import codex_words as words
from host.transcripts.records import MAIN, Ids, Place, Record, aborted, client, event, parse, sound, text_of
from host.transcripts.tail import reply
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

OUTPUT_BYTES = 10_000  # about 2 500 tokens: of longer text the host shows head and tail, and keeps the rest in a file
SPEAKING = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse"})
ONCE = frozenset({"startup", "clear", "fork"})  # with these a session begins, so each is told once
Events = Sequence[EventEnvelope]
Told = tuple[Events, Surface | None]


def decode(raw: bytes, now: Millis = 0, own: Sequence[str] = ()) -> Heard:
    """What one hook call tells. Payloads carry no time: `now` (epoch ms) is the events' time.

    A call from below one of the folders `own` is from a session of ours and tells nothing, as does an event that is
    not known. A field of another type than usual reads as empty. Raises ProtocolFault: `bad-payload`, or `no-owner`
    without a session id.
    """
    payload = parse(raw)
    if payload is None:
        raise ProtocolFault("bad-payload", "The hook's payload is not a JSON object.", "Send the payload as it came.")
    session_id, name, cwd = (text_of(payload, key) for key in ("session_id", "hook_event_name", "cwd"))
    if not session_id:
        raise ProtocolFault("no-owner", "The hook's payload names no session.", "Send `session_id`.")
    agent_id = text_of(payload, "agent_id") or MAIN
    silent = Heard(envelopes=(), session_id=session_id, agent_id=agent_id, event=name)
    tell = _TELLERS.get(name)
    if tell is None or any(PurePath(cwd).is_relative_to(folder) for folder in own):
        return silent
    envelopes, surface = tell(payload, Place(session_id=session_id, agent_id=agent_id, workspace=cwd, at=now))
    transcript = text_of(payload, "agent_transcript_path") or text_of(payload, "transcript_path") or None
    return msgspec.structs.replace(silent, envelopes=tuple(envelopes), surface=surface, transcript=transcript)


def encode(heard: Heard, text: str | None) -> bytes:
    """The hook's answer: one line of ASCII JSON, or nothing.

    Nothing also when the event cannot carry text, or the text is too long for the host: then nothing was handed over.
    """
    said = sound(text or "")
    if not said or heard.event not in SPEAKING or len(said.encode("utf-8")) > OUTPUT_BYTES:
        return b""
    output = {"hookEventName": heard.event, "additionalContext": said}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _session_start(payload: Record, place: Place) -> Told:
    """A start. The id lets one that two registrations tell begin one context window, not two."""
    source = text_of(payload, "source") or "startup"
    ids = Ids(event=f"start:{place.session_id}:{source}" if source in ONCE else None)
    start = event(place, EventType.SESSION_START, {"source": source}, ids)
    model = text_of(payload, "model")
    return (*((client(place, "", model),) if model else ()), start), Surface.SESSION_START


def _prompt(payload: Record, place: Place) -> Told:
    """A prompt. What the harness says in the user's role is kept as such and gets no answer."""
    text = text_of(payload, "prompt")
    source = words.whose({}, text)
    if source is SourceKind.USER and place.agent_id != MAIN:
        source = SourceKind.AGENT
    surface = Surface.USER_PROMPT if source is SourceKind.USER else None
    return (words.prompt(place, text_of(payload, "turn_id"), text, source),), surface


def _call(payload: Record, place: Place) -> EventEnvelope:
    call_id = text_of(payload, "tool_use_id") or None
    told = words.hooked_call(text_of(payload, "tool_name"), payload.get("tool_input"))
    return event(place, EventType.TOOL_CALL, told, Ids(event=f"call:{call_id}" if call_id else None, call=call_id))


def _calling(payload: Record, place: Place) -> Told:
    return (_call(payload, place),), None


def _result(payload: Record, place: Place) -> Told:
    name, given = text_of(payload, "tool_name"), payload.get("tool_input")
    call_id = text_of(payload, "tool_use_id") or None
    told = words.hooked_call(name, given)
    text, ok = words.hooked_result(name, payload.get("tool_response"))
    result = {key: told[key] for key in ("tool", "path", "nativeTool")} | {"ok": ok, "text": text}
    if ok is not False:
        result |= codex_shown(name, given, text, place.workspace)
    ids = Ids(event=f"result:{call_id}" if call_id else None, call=call_id)
    return (_call(payload, place), event(place, EventType.TOOL_RESULT, result, ids)), Surface.POST_TOOL


def _stop(payload: Record, place: Place) -> Told:
    """The turn's last words. A stop that a hook kept going is no second end."""
    if payload.get("stop_hook_active") is True:
        return (), None
    turn_id = text_of(payload, "turn_id")
    ids = Ids(event=f"turn:{turn_id}:end" if turn_id else None)
    return (*_last_words(payload, place), event(place, EventType.TURN_END, {}, ids)), None


def _interrupt(payload: Record, place: Place) -> Told:
    return (aborted(place, text_of(payload, "turn_id")),), None


def _spawn(payload: Record, place: Place) -> Told:
    told = {"agentType": text_of(payload, "agent_type") or None}
    return (event(place, EventType.AGENT_SPAWN, told, Ids(event=f"agent:{place.agent_id}:start")),), None


def _agent_stop(payload: Record, place: Place) -> Told:
    if payload.get("stop_hook_active") is True or place.agent_id == MAIN:
        return (), None
    stop = event(place, EventType.AGENT_STOP, {}, Ids(event=f"agent:{place.agent_id}:stop"))
    return (*_last_words(payload, place), stop), None


def _compacting(payload: Record, place: Place) -> Told:
    return (event(place, "session/compacting", {"trigger": text_of(payload, "trigger") or None}, Ids()),), None


def _compacted(payload: Record, place: Place) -> Told:
    """Told after the compaction. The context window begins at SessionStart(compact), or with the rollout's record."""
    return (event(place, "session/compacted", {"trigger": text_of(payload, "trigger") or None}, Ids()),), None


def _session_end(payload: Record, place: Place) -> Told:
    return (event(place, EventType.SESSION_END, {"source": text_of(payload, "reason") or None}, Ids()),), None


def _last_words(payload: Record, place: Place) -> Events:
    text = text_of(payload, "last_assistant_message").strip()
    return (reply(place, text_of(payload, "turn_id"), text),) if text else ()


_TELLERS: Mapping[str, Callable[[Record, Place], Told]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _calling,
    "PostToolUse": _result,
    "Stop": _stop,
    "Interrupt": _interrupt,
    "SubagentStart": _spawn,
    "SubagentStop": _agent_stop,
    "PreCompact": _compacting,
    "PostCompact": _compacted,
    "SessionEnd": _session_end,
}
