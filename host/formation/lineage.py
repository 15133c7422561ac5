"""Which sessions are one conversation: what was resumed or forked under another id is no second witness of a fact.

Two things tell: an event `session/forked` that names the parent, written where a transcript says so; and a history that
was copied, whose events have the same id, bytes and time as those of an earlier session.
"""

import msgspec

from host.eventlog import EventLog
from host.transcripts.records import FORKED
from recall.contracts import EventType, Frozen

DEEPEST = 64  # generations; a circle ends there at the latest
LOOKED_AT = 8  # messages at a session's beginning: a copied history stands there
BEGINNING = 64  # events
REMEMBERED = 1_024  # sessions of which it is known that nothing names a parent so far
_SPOKEN = (EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE)


class Parent(Frozen, frozen=True, kw_only=True):
    """The payload of FORKED."""

    parent: str = ""


_parent = msgspec.json.Decoder(Parent)


class Lineage:
    """Reads the log; keeps what cannot change: the parent of a session once it is known."""

    def __init__(self, eventlog: EventLog) -> None:
        self._eventlog = eventlog
        self._parents: dict[str, str] = {}
        self._looked: dict[str, int] = {}  # session -> up to which event nothing named a parent

    async def root(self, session_id: str) -> str:
        """The session with which the conversation began: its key."""
        seen = {session_id}
        for _ in range(DEEPEST):
            parent = await self.parent(session_id)
            if not parent or parent in seen:
                return session_id
            seen.add(parent)
            session_id = parent
        return session_id

    async def parent(self, session_id: str) -> str:
        """The session that this one goes on from; empty: it began by itself, as far as is known."""
        if session_id in self._parents:
            return self._parents[session_id]
        found = await self._found(session_id)
        if found:
            self._parents[session_id] = found
        return found

    async def copied(self, session_id: str) -> frozenset[int]:
        """The event_seqs of what this session repeats of the sessions before it in the conversation."""
        copied: frozenset[int] = frozenset()
        seen, here = {session_id}, session_id
        for _ in range(DEEPEST):
            here = await self.parent(here)
            if not here or here in seen:
                break
            seen.add(here)
            copied |= await self._eventlog.shared(session_id, here)
        return copied

    async def _found(self, session_id: str) -> str:
        looked = self._looked.get(session_id, 0)
        for event in await self._eventlog.of_types(session_id, (FORKED,), looked):
            if named := _named(bytes(event.payload)):
                return named
        if looked < BEGINNING:
            first = await self._eventlog.replay(session_id, limit=BEGINNING)
            for event in [one for one in first if one.event_type in _SPOKEN][:LOOKED_AT]:
                if told := await self._eventlog.told_before(event):
                    return told
        logged = await self._eventlog.last(session_id)
        if logged is not None:
            while len(self._looked) >= REMEMBERED:
                del self._looked[next(iter(self._looked))]
            self._looked[session_id] = logged.event_seq
        return ""


def _named(payload: bytes) -> str:
    try:
        return _parent.decode(payload).parent
    except msgspec.DecodeError:
        return ""
