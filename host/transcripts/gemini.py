"""Gemini CLI's session files (JSONL) to envelopes (pure, streaming).

The first line names the session; the others are messages, written again under the same id as they grow (a call stands
in its message once it has ended), and patches. A patch that replaces all messages is how a history is resumed or
compressed: it repeats what was told, under new ids where it was compressed, so only the compression itself is told.
"""

from collections.abc import Iterable, Sequence

import msgspec

from host.reads import gemini_shown
from host.transcripts import gemini_words as words
from host.transcripts.records import (
    MAIN,
    Ids,
    Notes,
    Place,
    Record,
    Report,
    blocks_of,
    event,
    millis,
    record_of,
    text_of,
)
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

FORMAT = "gemini-cli"
HEADER, PATCH, REWIND = "session", "$set", "$rewindTo"
MESSAGES = frozenset(["user", "gemini"])
BOOKKEEPING = frozenset([HEADER, REWIND, "info", "error", "warning"])
RECORDS = BOOKKEEPING | MESSAGES | {PATCH}
ENDED = frozenset(["success", "error", "cancelled"])
Events = list[EventEnvelope]


def kind_of(record: Record) -> str:
    """A record's type: that of a message, or what the form of the others says."""
    for name in (PATCH, REWIND):
        if name in record:
            return name
    if "projectHash" in record and text_of(record, "sessionId"):
        return HEADER
    return text_of(record, "type")


def patched(record: Record) -> Sequence[Record]:
    """The messages that a patch replaces all others with; empty when it is about something else."""
    return blocks_of(record_of(record, PATCH).get("messages"))


def user_text(message: Record) -> str:
    """The texts of a message in the user's role, joined as the host joins them."""
    return "".join(text_of(part, "text") for part in blocks_of(message.get("content")))


def answers(message: Record) -> bool:
    """Whether a message in the user's role holds results of tools: the calls of the message before tell them."""
    return any(record_of(part, "functionResponse") for part in blocks_of(message.get("content")))


def reply_text(message: Record) -> str:
    """What the model said in a message, its thoughts left out."""
    parts = blocks_of(message.get("content"))
    return "\n".join(text for part in parts if not part.get("thought") and (text := text_of(part, "text"))).strip()


def shown_by(message: Record) -> list[str]:
    """The texts that hooks put into a message: beside a prompt, or behind the results of tools."""
    texts = [user_text(message)]
    for part in blocks_of(message.get("content")):
        response = record_of(record_of(part, "functionResponse"), "response")
        texts += [value for value in response.values() if isinstance(value, str)]
    return [shown for text in texts for shown in words.shown_in(text)]


def compressed(messages: Iterable[Record]) -> Record | None:
    """The summary that opens a compressed history, or None when the history is whole."""
    for message in messages:
        if text_of(message, "type") == "user" and words.is_summary(user_text(message)):
            return message
    return None


class GeminiReader:
    """A `Reader` of one session file. `origin`: the session id when no header names one."""

    def __init__(self, origin: str = "") -> None:
        self._notes = Notes(kind_of)
        self._here = Place(session_id=origin, agent_id=MAIN, workspace="")
        self._turn = self._step = 0
        self._at: Millis = 0
        self._anchor = words.START
        self._opened = False
        self._met: set[str] = set()  # messages
        self._said: set[str] = set()  # messages whose text was told
        self._called: set[str] = set()  # calls that were told, and those whose result was
        self._ended: set[str] = set()
        self._summaries: set[str] = set()

    def feed(self, line: bytes) -> Sequence[EventEnvelope]:
        """The events that this line completes. What cannot be read is counted."""
        read = self._notes.read(line)
        if read is None:
            return ()
        kind, record = read
        events: Events = []
        if kind == HEADER:
            self._header(record)
        elif kind == PATCH:
            events = self._patch(record)
        elif kind in MESSAGES:
            events = self._message(kind, record)
        elif kind not in BOOKKEEPING:
            self._notes.unknown(kind)
        return self._notes.admitted([*self._opening(), *events] if events else ())

    def finish(self) -> Sequence[EventEnvelope]:
        return ()

    def report(self) -> Report:
        here = self._here
        return msgspec.structs.replace(
            self._notes.report(FORMAT),
            session_id=here.session_id,
            agent_id=here.agent_id,
            cwd=here.workspace,
            is_sidechain=here.agent_id != MAIN,
        )

    def _header(self, record: Record) -> None:
        if self._opened:  # a resumed session names itself again
            return
        session = text_of(record, "sessionId")
        agent = session if text_of(record, "kind") == "subagent" else MAIN
        folders = record.get("directories")
        folder = folders[0] if isinstance(folders, list) and folders and isinstance(folders[0], str) else ""
        at = millis(record.get("startTime"))
        self._at = self._at if at is None else at
        self._here = Place(session_id=session, agent_id=agent, workspace=folder, at=self._at)

    def _opening(self) -> Events:
        if self._opened:
            return []
        self._opened = True
        here = self._now()
        if here.agent_id != MAIN:
            return [event(here, EventType.AGENT_SPAWN, {}, Ids(event=f"agent:{here.agent_id}:start"))]
        return [event(here, EventType.SESSION_START, {"source": "startup"}, Ids(event=f"start:{here.session_id}"))]

    def _now(self, record: Record | None = None) -> Place:
        at = None if record is None else millis(record.get("timestamp"))
        self._at = self._at if at is None else at
        undated = record is not None and at is None
        return msgspec.structs.replace(self._here, at=self._at, undated=undated, turn=self._turn, step=self._step)

    def _patch(self, record: Record) -> Events:
        messages = patched(record)
        for message in messages:
            self._met.add(text_of(message, "id"))
            self._located(message)
        self._notes.replayed += len(messages)
        summary = compressed(messages)
        if summary is None or text_of(summary, "id") in self._summaries:
            return []
        self._summaries.add(text_of(summary, "id"))
        ids = Ids(event=f"compact:{text_of(summary, 'id')}")
        return [event(self._now(summary), EventType.SESSION_COMPACT, {"text": user_text(summary)}, ids)]

    def _located(self, message: Record) -> None:
        if not self._here.workspace and (folder := words.folder_of(user_text(message))):
            self._here = msgspec.structs.replace(self._here, workspace=folder)

    def _message(self, kind: str, message: Record) -> Events:
        name = text_of(message, "id")
        before, fresh = self._anchor, name not in self._met
        self._met.add(name)
        self._anchor = name or self._anchor
        if kind == "gemini":
            return self._replied(name, message, fresh)
        if not fresh:
            return []
        self._located(message)
        self._notes.shown += shown_by(message)
        return [] if answers(message) else self._prompted(before, message)

    def _prompted(self, before: str, message: Record) -> Events:
        said = words.spoken(user_text(message))
        images = sum(bool(record_of(part, "inlineData")) for part in blocks_of(message.get("content")))
        if not said.text and not images:
            return []
        by_hand = said.source is SourceKind.USER or (not said.text and images > 0)
        self._turn += by_hand
        mine = SourceKind.USER if self._here.agent_id == MAIN else SourceKind.AGENT
        ids = Ids(event=words.placed("prompt", before, words.text_key(said.text)))
        told = {"text": said.text, "images": images or None}
        source = mine if by_hand else SourceKind.LIFECYCLE
        return [event(self._now(message), EventType.USER_MESSAGE, told, ids, source)]

    def _replied(self, name: str, message: Record, fresh: bool) -> Events:
        self._step += fresh
        place = self._now(message)
        text = reply_text(message)
        events: Events = []
        if text and name not in self._said:
            self._said.add(name)
            ids = Ids(event=f"reply:{name}", message=name or None)
            events.append(event(place, EventType.ASSISTANT_MESSAGE, {"text": text}, ids))
        met: dict[str, int] = {}
        for call in blocks_of(message.get("toolCalls")):
            key = words.call_key(text_of(call, "name"), call.get("args"))
            events += self._call(name, key, met.get(key, 0), call)
            met[key] = met.get(key, 0) + 1
        return events

    def _call(self, message: str, key: str, repeated: int, call: Record) -> Events:
        tool, arguments = text_of(call, "name"), call.get("args")
        call_id = words.placed("tool", message, key, repeated)
        payload = words.call_payload(tool, arguments)
        place, events = self._now(call), list[EventEnvelope]()
        if call_id not in self._called:
            self._called.add(call_id)
            ids = Ids(event=words.placed("call", message, key, repeated), call=call_id, message=message or None)
            events.append(event(place, EventType.TOOL_CALL, payload, ids))
        if call_id not in self._ended and text_of(call, "status") in ENDED:
            self._ended.add(call_id)
            told = words.recorded(call)
            same = {name: payload[name] for name in ("tool", "path", "nativeTool")}
            result = {**same, "ok": told.ok, "text": told.text, "images": told.images or None}
            result |= {"denied": True} if told.denied else {}
            if told.ok:
                result |= gemini_shown(tool, arguments, words.content_of(call), place.workspace)
            ids = Ids(event=words.placed("result", message, key, repeated), call=call_id)
            events.append(event(place, EventType.TOOL_RESULT, result, ids))
        return events
