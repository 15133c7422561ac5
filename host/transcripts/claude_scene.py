"""Who speaks where in a Claude Code file: sessions, agents, turns, steps, and the reply that is being told (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from host.transcripts.records import MAIN, Ids, Place, Record, Report, event, millis, record_of, text_of
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind


@dataclass(slots=True)
class Speaker:
    """One agent of the file. `texts` are what its current reply said so far, from `place` on."""

    turn: int = 0
    step: int = 0
    message_id: str = ""
    texts: list[str] = field(default_factory=list)
    place: Place | None = None
    event_id: str = ""


class Scene:
    """What the records of one file say about themselves, carried along where a record is silent."""

    def __init__(self, origin: str) -> None:
        self._session = origin
        self._cwd = ""
        self._parent: str | None = None
        self._agent = ""  # the file's first speaker: a subagent's file is named by it
        self._at: Millis = 0
        self._speakers: dict[str, Speaker] = {}
        self._sidechains: dict[str, str] = {}  # uuid -> agent, where records do not name their agent
        self._opened: set[tuple[str, str]] = set()

    def place(self, record: Record) -> Place:
        """Where a record stands. A time that does not parse is that of the record before."""
        at = millis(record.get("timestamp"))
        self._at = self._at if at is None else at
        self._session = text_of(record, "sessionId") or self._session
        self._cwd = self._cwd or text_of(record, "cwd")
        self._parent = self._parent or text_of(record_of(record, "forkedFrom"), "sessionId") or None
        here = Place(
            session_id=self._session,
            agent_id=self._agent_of(record),
            workspace=self._cwd,
            at=self._at,
            undated=at is None,
        )
        return self.now(here)

    def now(self, place: Place) -> Place:
        """`place` with its agent's turn and step as they are now."""
        speaker = self._speaker(place)
        return msgspec.structs.replace(place, turn=speaker.turn, step=speaker.step)

    def opening(self, place: Place) -> Sequence[EventEnvelope]:
        """The event with which a session or a subagent begins, before its first own event."""
        key = (place.session_id, place.agent_id)
        if key in self._opened:
            return ()
        self._opened.add(key)
        self._agent = self._agent or place.agent_id
        start = msgspec.structs.replace(place, turn=0, step=0)
        if place.agent_id != MAIN:
            return (event(start, EventType.AGENT_SPAWN, {}, Ids(event=f"agent:{place.agent_id}:start")),)
        source = "fork" if self._parent else "startup"
        return (event(start, EventType.SESSION_START, {"source": source}, Ids(event=f"start:{place.session_id}")),)

    def author(self, place: Place) -> SourceKind:
        """Who types a prompt there: the user, or in a subagent the agent that spawned it."""
        return SourceKind.USER if place.agent_id == MAIN else SourceKind.AGENT

    def prompted(self, place: Place) -> Place:
        """A prompt begins a turn."""
        self._speaker(place).turn += 1
        return self.now(place)

    def replying(self, place: Place, message_id: str) -> list[EventEnvelope]:
        """A record of this API message. A new message begins a step and ends the reply before it."""
        speaker = self._speaker(place)
        if speaker.message_id == message_id:
            return []
        events = self.told(place.agent_id)
        speaker.message_id = message_id
        speaker.step += 1
        return events

    def add(self, place: Place, text: str, event_id: str) -> None:
        """Hold a text of the current reply; the whole reply has the id of its first text."""
        if not text.strip():
            return
        speaker = self._speaker(place)
        if not speaker.texts:
            speaker.place, speaker.event_id = self.now(place), event_id
        speaker.texts.append(text.strip())

    def told(self, agent: str) -> list[EventEnvelope]:
        """The held reply of an agent as one assistant message, if there is one."""
        speaker = self._speakers.get(agent)
        if speaker is None or speaker.place is None:
            return []
        ids = Ids(event=speaker.event_id, message=speaker.message_id)
        told = event(speaker.place, EventType.ASSISTANT_MESSAGE, {"text": "\n".join(speaker.texts)}, ids)
        speaker.texts, speaker.place = [], None
        return [told]

    def agents(self) -> Sequence[str]:
        return tuple(self._speakers)

    def known(self, report: Report) -> Report:
        """`report` with what is known of the file's session and its first speaker."""
        agent = self._agent or MAIN
        return msgspec.structs.replace(
            report,
            session_id=self._session,
            agent_id=agent,
            cwd=self._cwd,
            parent=self._parent,
            is_sidechain=agent != MAIN,
        )

    def _speaker(self, place: Place) -> Speaker:
        return self._speakers.setdefault(place.agent_id, Speaker())

    def _agent_of(self, record: Record) -> str:
        if named := text_of(record, "agentId"):
            return named
        if record.get("isSidechain") is not True:
            return MAIN
        uuid = text_of(record, "uuid")
        agent = self._sidechains.get(text_of(record, "parentUuid")) or f"sidechain-{uuid}"
        self._sidechains[uuid] = agent
        return agent
