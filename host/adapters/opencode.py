"""What OpenCode's plugin tells (C-07): its hook calls to events, text to the answer (pure).

The plugin (host/setup/data) passes on what OpenCode tells it, by OpenCode's own names: bus events, prompts, and the
conversation just before a request. Only that last call is answered: the text goes behind a prompt or behind the last
result of a tool. Every part of a message has an id of its own, so whichever call tells it first, it is one event.

A session that another session started is a subagent of it: it is told under the id of the session that a person
talks to, and gets nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

import msgspec

from host.contracts import Heard, Surface
from host.errors import ProtocolFault
from host.reads import opencode_shown
from host.transcripts.records import (
    MAIN,
    Ids,
    Place,
    Record,
    as_record,
    blocks_of,
    client,
    event,
    parse,
    record_of,
    sound,
    text_of,
)
from recall.canonical import MAX_INT, text_digest
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

OUTPUT_LIMIT = 10_000  # characters; the host itself names no limit
REQUEST = "experimental.chat.messages.transform"
TOOLS: Mapping[str, str] = {
    "bash": "shell",
    "read": "read",
    "write": "write",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "grep": "search",
    "glob": "search",
    "list": "search",
    "webfetch": "web",
    "websearch": "web",
    "codesearch": "web",
    "task": "agent",
    "todowrite": "todo",
    "todoread": "todo",
}
_PATH_KEYS = ("filePath", "path")
_REFUSED = ("The user rejected permission", "The user has specified a rule")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
Events = list[EventEnvelope]


def decode(raw: bytes, now: Millis = 0, own: Sequence[str] = ()) -> Heard:
    """What one call of the plugin tells. Events without a time of their own stand at `now` (epoch ms).

    A call from below one of the folders `own` is from a session of ours and tells nothing, as does a call that is not
    known. Raises ProtocolFault: `bad-payload`, or `no-owner` when it names no session.
    """
    record = parse(raw)
    if record is None or not text_of(record, "hook"):
        raise ProtocolFault(
            "bad-payload", "The payload is not an object that names its hook.", "Send what the plugin sends."
        )
    told = _Told(record, now)
    if not told.place.session_id:
        raise ProtocolFault("no-owner", "The call names no session.", "Send `session`, or what holds a `sessionID`.")
    silent = Heard(
        envelopes=(), session_id=told.place.session_id, agent_id=told.place.agent_id, event=text_of(record, "hook")
    )
    folder = told.place.workspace
    if folder and any(PurePath(folder).is_relative_to(each) for each in own):
        return silent
    return msgspec.structs.replace(silent, envelopes=tuple(told.events()), surface=told.surface(), shown=told.shown())


def encode(heard: Heard, text: str | None) -> bytes:
    """The answer: one line of ASCII JSON that the plugin understands, or nothing where no text may go."""
    if not text or heard.event != REQUEST or len(sound(text)) > OUTPUT_LIMIT:
        return b""
    return json.dumps({"text": sound(text)}, ensure_ascii=True, separators=(",", ":")).encode("ascii")


class _Told:
    """One call: whose it is, what it tells, and whether it is answered."""

    def __init__(self, record: Record, now: Millis) -> None:
        self._hook = text_of(record, "hook")
        self._input = record_of(record, "input")
        self._output = record_of(record, "output")
        self._type = text_of(self._input, "type") if self._hook == "event" else self._hook
        self._properties = record_of(self._input, "properties") if self._hook == "event" else self._input
        session = text_of(record, "session") or self._session()
        parent = text_of(record_of(self._properties, "info"), "parentID")
        root = text_of(record, "root") or (parent if self._type == "session.created" else "")
        self._child = bool(root) and root != session
        self.place = Place(
            session_id=_named(root or session),
            agent_id=_named(session) if self._child else MAIN,
            workspace=text_of(record, "directory"),
            at=now,
        )

    def events(self) -> Events:
        tell = _TELLERS.get(self._type)
        return tell(self) if tell is not None else []

    def surface(self) -> Surface | None:
        """Where the answer goes: nowhere in a subagent, and where the plugin has found no place for it."""
        if self._hook != REQUEST or self._child or self._output.get("ready") is False:
            return None
        last = text_of(record_of(self._output, "last"), "role")
        messages = blocks_of(self._output.get("messages"))
        if not last and messages:
            last = text_of(record_of(messages[-1], "info"), "role") or text_of(messages[-1], "role")
        return {"user": Surface.USER_PROMPT, "assistant": Surface.POST_TOOL}.get(last)

    def shown(self) -> tuple[str, ...]:
        """The frames that stand in the conversation already: of a session that was resumed, or copied from another."""
        said = self._output.get("shown")
        return tuple(text for text in said if isinstance(text, str)) if isinstance(said, list) else ()

    def _session(self) -> str:
        """The session that a call names somewhere."""
        places = [
            self._properties,
            record_of(self._properties, "part"),
            record_of(self._properties, "info"),
            self._input,
            record_of(self._output, "message"),
        ]
        for message in blocks_of(self._output.get("messages")):
            places += [record_of(message, "info"), message]
        return next((name for place in places if (name := text_of(place, "sessionID"))), "")

    # ------------------------------------------------------------------ what calls tell

    def began(self) -> Events:
        version = text_of(record_of(self._properties, "info"), "version")
        spoken = [client(self.place, version, "")] if version else []
        if self._child:
            agent = self.place.agent_id
            return [event(self.place, EventType.AGENT_SPAWN, {}, Ids(event=f"agent:{agent}:start"))]
        return [*spoken, self._start("startup", f"start:{self.place.session_id}")]

    def resumed(self) -> Events:
        version = text_of(record_of(self._properties, "info"), "version")
        spoken = [client(self.place, version, "")] if version else []
        return [*spoken, *([] if self._child else [self._start("resume", None)])]

    def _start(self, source: str, name: str | None) -> EventEnvelope:
        return event(self.place, EventType.SESSION_START, {"source": source}, Ids(event=name))

    def prompted(self) -> Events:
        return self._prompt(record_of(self._output, "message"), blocks_of(self._output.get("parts")))

    def _prompt(self, message: Record, parts: Sequence[Record]) -> Events:
        """A prompt, without what OpenCode has put beside it. In a subagent the agent that started it speaks."""
        own = [part for part in parts if part.get("synthetic") is not True]
        text = "\n".join(text for part in own if (text := text_of(part, "text"))).strip()
        images = sum(text_of(part, "mime").startswith("image/") for part in own)
        if not text and not images:
            return []
        model = text_of(record_of(message, "model"), "modelID")
        spoken = [client(self.place, "", model)] if model and not self._child else []
        source = SourceKind.AGENT if self._child else SourceKind.USER
        ids = Ids(event=_id("prompt", text_of(message, "id")), message=_named(text_of(message, "id")) or None)
        place = self._at(record_of(message, "time").get("created"))
        told = {"text": text, "images": images or None}
        return [*spoken, event(place, EventType.USER_MESSAGE, told, ids, source)]

    def requesting(self) -> Events:
        """The conversation before a request: what of it no other call has told."""
        events: Events = []
        for message in blocks_of(self._output.get("messages")):
            info, parts = record_of(message, "info"), blocks_of(message.get("parts"))
            if text_of(info, "role") == "user":
                events += self._prompt(info, parts)
            else:
                for part in parts:
                    events += self._part(part)
        return events

    def updated(self) -> Events:
        return self._part(record_of(self._properties, "part"))

    def _part(self, part: Record) -> Events:
        """A part of the agent's message, once it is complete: words, or a tool's call and its result."""
        match text_of(part, "type"):
            case "text" if part.get("synthetic") is not True and record_of(part, "time").get("end") is not None:
                text = text_of(part, "text").strip()
                place = self._at(record_of(part, "time").get("end"))
                ids = Ids(event=_id("reply", text_of(part, "id")), message=_named(text_of(part, "messageID")) or None)
                return [event(place, EventType.ASSISTANT_MESSAGE, {"text": text}, ids)] if text else []
            case "tool" if text_of(record_of(part, "state"), "status") in ("completed", "error"):
                return self._called(part)
        return []

    def _called(self, part: Record) -> Events:
        name, state = text_of(part, "tool"), record_of(part, "state")
        told = call_payload(name, state.get("input"))
        time, message = record_of(state, "time"), _named(text_of(part, "messageID")) or None
        call_id = _named(text_of(part, "callID")) or _named(text_of(part, "id")) or None
        began, ended = self._at(time.get("start")), self._at(time.get("end"))
        call = event(
            began, EventType.TOOL_CALL, told, Ids(event=_id("call", text_of(part, "id")), call=call_id, message=message)
        )
        result = {key: told[key] for key in ("tool", "path", "nativeTool")} | outcome(name, state)
        if result["ok"]:
            result |= opencode_shown(name, state.get("input"), str(result["text"]), self.place.workspace)
        ids = Ids(event=_id("result", text_of(part, "id")), call=call_id)
        return [call, event(ended, EventType.TOOL_RESULT, result, ids)]

    def compacted(self) -> Events:
        ids = Ids(event=_id("compact", text_of(self._properties, "messageID")))
        told = {"text": text_of(self._properties, "text") or None}
        return [event(self.place, EventType.SESSION_COMPACT, told, ids)]

    def idle(self) -> Events:
        last = text_of(self._properties, "messageID")
        if self._child:
            name = f"agent:{self.place.agent_id}:stop"
            return [event(self.place, EventType.AGENT_STOP, {}, Ids(event=f"{name}:{_named(last)}" if last else name))]
        return [event(self.place, EventType.TURN_END, {}, Ids(event=f"turn:{_named(last)}:end" if last else None))]

    def deleted(self) -> Events:
        return self._ended("deleted")

    def disposed(self) -> Events:
        return self._ended("exit")

    def _ended(self, source: str) -> Events:
        return [] if self._child else [event(self.place, EventType.SESSION_END, {"source": source}, Ids())]

    def _at(self, moment: object) -> Place:
        """The place at a moment that the host names in epoch milliseconds."""
        if isinstance(moment, int) and not isinstance(moment, bool) and 0 <= moment <= MAX_INT:
            return msgspec.structs.replace(self.place, at=moment)
        return self.place


def call_payload(name: str, given: object) -> dict[str, object]:
    """Payload of a tool/call: `args` says in plain text what is about to be done."""
    arguments = as_record(given)
    path = next((value for key in _PATH_KEYS if (value := text_of(arguments, key))), None)
    tool = TOOLS.get(name, name)
    return {"tool": tool, "args": _summary(tool, arguments, path or ""), "path": path, "nativeTool": name}


def outcome(name: str, state: Record) -> dict[str, object]:
    """What a result says: its text, and whether the call went well. A command's exit code decides."""
    if text_of(state, "status") == "error":
        text = text_of(state, "error")
        interrupted = record_of(state, "metadata").get("interrupted") is True
        return {"ok": False, "text": text, "denied": text.startswith(_REFUSED) or interrupted or None}
    code = record_of(state, "metadata").get("exit") if TOOLS.get(name) == "shell" else None
    return {"ok": code in (None, 0), "text": text_of(state, "output")}


def _summary(tool: str, arguments: Record, path: str) -> str:
    match tool:
        case "shell" if text_of(arguments, "command"):
            return text_of(arguments, "command")
        case "read" if path:
            return path
        case "edit" if path:
            return f"{path}\n--- old\n{text_of(arguments, 'oldString')}\n+++ new\n{text_of(arguments, 'newString')}"
        case "write" if path:
            return f"{path}\n{text_of(arguments, 'content')}"
        case "search":
            return " ".join(f"{key}={value}" for key, value in arguments.items())
        case "web":
            return "\n".join(text for key in ("url", "query") if (text := text_of(arguments, key)))
        case "agent":
            return "\n".join(text for key in ("description", "prompt") if (text := text_of(arguments, key)))
        case _:
            return json.dumps(arguments, ensure_ascii=False, separators=(",", ":")) if arguments else ""


def _named(name: str) -> str:
    """A name of the host's as it stands in ours: its ids are letters and digits; another one is digested."""
    return name if set(name) <= _PLAIN and len(name) <= 100 else text_digest(name)[:32]


def _id(kind: str, name: str) -> str | None:
    return f"{kind}:{_named(name)}" if name else None


_TELLERS: Mapping[str, Callable[[_Told], Events]] = {
    "session.created": _Told.began,
    "session.resumed": _Told.resumed,
    "chat.message": _Told.prompted,
    REQUEST: _Told.requesting,
    "message.part.updated": _Told.updated,
    "session.compacted": _Told.compacted,
    "session.idle": _Told.idle,
    "session.deleted": _Told.deleted,
    "dispose": _Told.disposed,
}
