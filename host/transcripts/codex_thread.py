"""Whose thread a Codex file is: identity, parent, turns, steps, and where a copied history ends (pure)."""

import msgspec

from host.transcripts.records import MAIN, Ids, Place, Record, Report, event, millis, record_of, text_of
from recall.contracts import EventEnvelope, EventType, Millis, SourceKind

PAUSE = 500  # ms between two records: a copied history is written in one go, without a pause


class Thread:
    """What the records of one file say about themselves. The first session_meta is the file's own."""

    def __init__(self, origin: str) -> None:
        self._thread = ""
        self._here = Place(session_id=origin, agent_id=MAIN, workspace="")
        self._parent: str | None = None
        self._author = SourceKind.USER
        self._opens: EventEnvelope | None = None
        self._copying = False
        self._at: Millis = 0
        self._turn_id = ""
        self._turn = 0
        self._step = 0
        self._in_step = False

    def place(self, record: Record) -> Place:
        """Where a record stands. A time that does not parse is that of the record before."""
        at = millis(record.get("timestamp"))
        payload = record_of(record, "payload")
        if text_of(record, "type") == "session_meta":
            self._meta(payload)
        elif self._copying:
            self._copying = not self._own(payload, (self._at if at is None else at) - self._at)
        self._at = self._at if at is None else at
        if not self._here.workspace:
            self._here = msgspec.structs.replace(self._here, workspace=text_of(payload, "cwd"))
        self._here = msgspec.structs.replace(self._here, at=self._at, undated=at is None)
        return self.now()

    @property
    def copying(self) -> bool:
        """Whether the record stands in a copied history of the parent."""
        return self._copying

    def now(self) -> Place:
        return msgspec.structs.replace(self._here, turn=self._turn, step=self._step)

    def opening(self, place: Place) -> list[EventEnvelope]:
        """The event with which the session or the subagent begins; once."""
        if self._opens is not None:
            return []
        start = msgspec.structs.replace(place, turn=0, step=0)
        if place.agent_id == MAIN:
            payload = {"source": "fork" if self._parent else "startup"}
            self._opens = event(start, EventType.SESSION_START, payload, Ids(event=f"start:{place.session_id}"))
        else:
            self._opens = event(start, EventType.AGENT_SPAWN, {}, Ids(event=f"agent:{place.agent_id}:start"))
        return [self._opens]

    def author(self) -> SourceKind:
        """Who types this thread's prompts: the user, or the agent that spawned it."""
        return self._author

    def started(self, turn_id: str) -> None:
        self._turn_id = turn_id or self._turn_id

    def turn_key(self) -> str:
        """A name of the current turn that is the same whenever the file is read."""
        return self._turn_id or f"{self._thread or self._here.session_id}:{self._turn}"

    def prompted(self) -> Place:
        """A prompt begins a turn and ends the agent's step."""
        self._turn += 1
        self._in_step = False
        return self.now()

    def acting(self) -> Place:
        """The agent says or does something: a run of that between two results is one step."""
        self._step += not self._in_step
        self._in_step = True
        return self.now()

    def answered(self) -> Place:
        """A tool's result ends the step."""
        self._in_step = False
        return self.now()

    def known(self, report: Report) -> Report:
        """`report` with what is known of the thread."""
        return msgspec.structs.replace(
            report,
            session_id=self._here.session_id,
            agent_id=self._here.agent_id,
            cwd=self._here.workspace,
            parent=self._parent,
            is_sidechain=self._here.agent_id != MAIN,
        )

    def _meta(self, payload: Record) -> None:
        thread = text_of(payload, "id")
        if self._thread:
            self._copying = self._copying or (self._parent is not None and thread != self._thread)
            return
        self._thread = thread
        source = payload.get("source")
        subagent = source.get("subagent") if isinstance(source, dict) else None
        spawn = record_of(subagent, "thread_spawn") if isinstance(subagent, dict) else {}
        named = (
            text_of(payload, "forked_from_id"),
            text_of(payload, "parent_thread_id"),
            text_of(spawn, "parent_thread_id"),
        )
        self._parent = next((name for name in named if name), None)
        root = text_of(payload, "session_id")
        session = thread if not subagent else (root if root != thread else "") or self._parent or thread
        self._here = msgspec.structs.replace(
            self._here,
            session_id=session or self._here.session_id,
            agent_id=thread if subagent and thread else MAIN,
        )
        # A review is asked for by the user; every other subagent's prompt is written by an agent.
        self._author = SourceKind.AGENT if subagent and subagent != "review" else SourceKind.USER

    def _own(self, payload: Record, pause: Millis) -> bool:
        """Whether this record is the thread's own again: of a turn made after the thread was, or after a pause."""
        turn, thread = made(text_of(payload, "turn_id")), made(self._thread)
        return 0 < thread < turn or (pause >= PAUSE and not 0 < turn < thread)


def made(uuid: str) -> Millis:
    """The time that a UUID of version 7 carries, in epoch milliseconds; 0 for any other id."""
    digits = uuid.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return 0
    try:
        return int(digits[:12], 16)
    except ValueError:
        return 0
