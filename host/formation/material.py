"""A session's texts, as formation may see them: what the user wrote and what the agent said, of its own agent alone.

Whatever else the log holds stays there: tool traffic, reasoning, subagents, machine-written text in the user's role,
packets of ours and blocks of other tools, spans that the user denied, and what a resumed session repeats.

The log is only added to, so what was read of a session is kept while it is formed, and only what is new is read again.
"""

import asyncio
from bisect import bisect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from governance.formation.contracts import Barrier, Completeness, EvidenceRecord, EvidenceRef, Message, Role
from host.eventlog import EventLog, Extent
from host.formation.authored import authored
from host.formation.lineage import Lineage
from host.formation.spans import denied, within
from host.observer import clean
from host.runtime import MAIN_AGENT, SESSION_SET
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventPayload, EventType, Frozen, Millis, SourceKind

SPOKEN = (EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE)
TOOLS = (EventType.TOOL_CALL, EventType.TOOL_RESULT)
LONG = 64  # events that are read without leaving the loop
HELD = 4  # sessions whose texts are kept: more are not formed at a time
Asleep = Callable[[str, str, Millis], bool]  # (workspace key, session, time): nothing is noted there then


class Cut(Frozen, frozen=True, kw_only=True):
    """What a payload says of texts that the log cut."""

    truncated: tuple[msgspec.Raw, ...] = ()


_payload = msgspec.json.Decoder(EventPayload)
_cut = msgspec.json.Decoder(Cut)


class Mark(Frozen, frozen=True, kw_only=True):
    """A message, or what the user set: what tells whether a span is denied, without its text."""

    event: EventEnvelope
    workspace: str


@dataclass(slots=True)
class Held:
    """What was read of a session. `through`: up to which event; `texts`: of its own agent, denied or not."""

    root: str = MAIN_AGENT
    everyone: bool = False  # subagents, too
    through: int = 0
    extent: Extent | None = None  # of the log when it was read
    folder: str = ""
    turn: int = 0
    marks: list[Mark] = field(default_factory=list)
    texts: list[EvidenceRecord] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)  # by folder
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def lost(self, there: Extent | None) -> bool:
        """Whether the log holds less than when it was read."""
        if self.extent is None or there is None:
            return self.extent is not None
        more, further = there.count - self.extent.count, there.last - self.extent.last
        return there.first != self.extent.first or more != further or further < 0

    def ours(self, event: EventEnvelope) -> bool:
        """Whether what this agent says is looked at."""
        return self.everyone or event.agent_id in (self.root, MAIN_AGENT)


class SessionMaterial:
    """The `Material` of live sessions and of history. `key`: a folder's workspace key. `everyone`: subagents, too."""

    def __init__(
        self,
        eventlog: EventLog,
        lineage: Lineage,
        key: Callable[[str], str],
        asleep: Asleep,
        *,
        everyone: bool = False,
    ) -> None:
        self._everyone = everyone
        self._eventlog = eventlog
        self._lineage = lineage
        self._key = key
        self._asleep = asleep
        self._held: OrderedDict[str, Held] = OrderedDict()

    async def read(
        self, session_id: str, after: int, through: int, workspace_key: str = ""
    ) -> tuple[EvidenceRecord, ...]:
        """The texts of events `after` < seq <= `through`, whole and clean, in order. `workspace_key`: only what was
        said there."""
        held = await self._read(session_id)
        spans, copied = self._spans(held), await self._lineage.copied(session_id)
        return tuple(
            one
            for one in held.texts
            if after < one.event_seq <= through
            and workspace_key in ("", one.workspace_key)
            and one.event_seq not in copied
            and not within(one.event_seq, spans)
        )

    async def messages(self, session_id: str, after: int, through: int, workspace_key: str = "") -> tuple[Message, ...]:
        """The same as messages of notes. Tool events stand between them, empty: what they held is never sent."""
        texts = await self.read(session_id, after, through, workspace_key)
        held = await self._read(session_id)
        spans, copied = self._spans(held), await self._lineage.copied(session_id)
        found = [(one.event_seq, _message(one)) for one in texts]
        places = [mark.event.event_seq for mark in held.marks]
        for event in await self._eventlog.heads(session_id, TOOLS, max(0, after)):
            ours = held.ours(event) and event.event_seq not in copied
            behind = bisect(places, event.event_seq)  # it happened where the message before it was said
            here = workspace_key in ("", held.marks[behind - 1].workspace if behind else "")
            if event.event_seq <= through and ours and here and not within(event.event_seq, spans):
                found.append((event.event_seq, _tool(event)))
        return tuple(message for _, message in sorted(found, key=lambda pair: pair[0]))

    async def denied(self, session_id: str, last: int) -> tuple[Barrier, ...]:
        """The spans of a session that may never be read; one that nothing ended reaches to `last` at least."""
        return self._spans(await self._read(session_id), last)

    async def _read(self, session_id: str) -> Held:
        """What is known of a session, brought up to its log. What the log has let go of is known no more."""
        there = await self._eventlog.extent(session_id)
        held = self._held.get(session_id)
        if held is None or held.lost(there):
            first = await self._eventlog.replay(session_id, limit=1)
            held = self._held[session_id] = Held(root=_root(first), everyone=self._everyone)
        self._held.move_to_end(session_id)
        while len(self._held) > HELD:
            self._held.popitem(last=False)
        async with held.lock:
            there = await self._eventlog.extent(session_id)
            if there is not None and there.last > held.through:
                new = await self._eventlog.of_types(session_id, (*SPOKEN, SESSION_SET), held.through)
                new = tuple(event for event in new if event.event_seq <= there.last)
                for folder in {event.workspace for event in new} - held.keys.keys() - {""}:
                    held.keys[folder] = self._key(folder)
                if len(new) <= LONG:
                    _fold(held, new)
                else:
                    await asyncio.to_thread(_fold, held, new)
                held.through, held.extent = there.last, there
        return held

    def _spans(self, held: Held, last: int = 0) -> tuple[Barrier, ...]:
        workspaces = {mark.event.event_seq: mark.workspace for mark in held.marks}

        def sleeping(event: EventEnvelope) -> bool:
            workspace = workspaces[event.event_seq]
            return bool(workspace) and self._asleep(workspace, event.session_id, event.observed_at)

        return denied([mark.event for mark in held.marks], sleeping, max(last, held.through))


def ref_of(event: EventEnvelope) -> str:
    """How a model and a quote name an event."""
    return f"{event.session_id}#{event.event_seq}"


def _root(first: Sequence[EventEnvelope]) -> str:
    """The session's own agent: `main`, or the one that spoke first, unless that was spawned by another."""
    if not first or first[0].event_type == EventType.AGENT_SPAWN:
        return MAIN_AGENT
    return first[0].agent_id


def _fold(held: Held, new: Sequence[EventEnvelope]) -> None:
    """Take further events in, in their order. The texts of those that are none go."""
    for event in new:
        held.folder = event.workspace or held.folder
        workspace = held.keys.get(held.folder, "")
        spoken = event.event_type in SPOKEN
        bare = msgspec.structs.replace(event, payload=msgspec.Raw(b"{}")) if spoken else event
        held.marks.append(Mark(event=bare, workspace=workspace))
        if not spoken or not held.ours(event):
            continue
        typed = event.event_type == EventType.USER_MESSAGE
        if typed and event.source_kind is not SourceKind.USER:
            continue
        held.turn += typed
        said, truncated = _said(event)
        text = authored(said) if typed else clean(said)
        if text:
            held.texts.append(_record(event, text, (workspace, held.turn), truncated=truncated))


def _record(event: EventEnvelope, text: str, place: tuple[str, int], *, truncated: bool) -> EvidenceRecord:
    ref = ref_of(event)
    return EvidenceRecord(
        ref=ref,
        session_id=event.session_id,
        message_id=event.event_id or ref,  # the product's own id may name several texts of one reply
        event_seq=event.event_seq,
        role=Role.USER if event.event_type == EventType.USER_MESSAGE else Role.ASSISTANT,
        text=text,
        at=event.timestamp,
        workspace_key=place[0],
        turn=place[1],
        truncated=truncated,
    )


def _said(event: EventEnvelope) -> tuple[str, bool]:
    """A message's text, and whether the log cut it."""
    try:
        payload = _payload.decode(event.payload)
    except msgspec.DecodeError:
        return "", False
    try:
        truncated = bool(_cut.decode(event.payload).truncated)
    except msgspec.DecodeError:
        truncated = False
    return payload.text, truncated


def _message(record: EvidenceRecord) -> Message:
    evidence = EvidenceRef(id=record.ref, version=1, hash=text_digest(record.text))
    return Message(
        id=record.message_id,
        role=Role(record.role),
        content=record.text,
        timestamp=record.at,
        evidence=(evidence,),
        completeness=Completeness.TRUNCATED if record.truncated else Completeness.FULL,
    )


def _tool(event: EventEnvelope) -> Message:
    ref = ref_of(event)
    return Message(
        id=event.event_id or ref,
        role=Role.TOOL,
        content="",
        timestamp=event.timestamp,
        evidence=(EvidenceRef(id=ref, version=1),),
    )
