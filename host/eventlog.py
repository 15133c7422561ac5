"""N-01: the append-only event log. Idempotent, ordered without gaps, acknowledged after the commit.

Invariants kept here: 9 (events are only ever added) and 13 (an acknowledged event is never lost: `append` returns after
the COMMIT). A call is atomic: one refused event, and nothing of the call is stored. The digest that decides whether an
event was seen before is keyed and covers the payload's bytes as received; what is stored is their bounded form.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files

import msgspec

from host.envelopes import check, check_digest
from host.errors import ProtocolFault
from host.payloads import PayloadFault, Redact, bound
from host.protocol import invalid_params
from recall.canonical import keyed
from recall.contracts import Channel, Database, EventEnvelope, EventType, Frozen, Millis, SourceKind

SCHEMA = files("host").joinpath("schema", "eventlog_001.sql").read_text("utf-8")
KNOWN_TYPES = frozenset(EventType)
CONFLICT = -32010
UNAVAILABLE = -32011

_COLUMNS = (
    "agent_id, workspace, channel, event_type, timestamp, source_kind, event_id, native_seq, turn, step, message_id, "
    "call_id, root_call_id, payload, payload_digest, event_seq, observed_at"
)
_INSERT = f"INSERT INTO event (session, {_COLUMNS}) VALUES ({', '.join('?' * 18)})"
_SELECT = f"SELECT s.session_id, {', '.join('e.' + name for name in _COLUMNS.split(', '))} FROM event e JOIN log_session s ON s.id = e.session"


class Appended(Frozen, frozen=True, kw_only=True):
    """What an append did. `stored`: the new events as stored, in order; `event_seq`: the last of `session_id`."""

    accepted: int
    duplicates: int
    stored: tuple[EventEnvelope, ...]
    session_id: str
    event_seq: int


class LoggedSession(Frozen, frozen=True, kw_only=True):
    """A session as the log knows it. Times: the daemon's clock."""

    session_id: str
    event_seq: int
    workspace: str
    first_at: Millis
    last_at: Millis


class EventLog:
    """The log over the main database. `key`: the per-install key. `counts`: what came in, by outcome."""

    def __init__(self, database: Database, key: bytes, redact: Redact) -> None:
        self._database = database
        self._key = key
        self._redact = redact
        self.counts: Counter[str] = Counter()

    async def append(self, envelopes: Sequence[EventEnvelope], observed_at: Millis) -> Appended:
        """Store the new ones of `envelopes` and return after the commit. `observed_at`: epoch ms of the daemon.

        Raises ProtocolFault: `no-owner`, `unsupported-schema`, `invalid-params`, `conflict` (a known key with other
        content), `store-unavailable` (disk full, I/O error).
        """
        try:
            drafts = [self._draft(envelope, observed_at) for envelope in envelopes]
            if not drafts:
                raise invalid_params("`events` is empty.")
            appended = await self._database.write(lambda connection: _append(connection, drafts))
        except ProtocolFault as error:
            self.counts[error.kind] += 1
            raise
        except sqlite3.Error as error:
            self.counts["store-unavailable"] += 1
            next_step = "Nothing of the call was stored. Check the disk, then send it again."
            raise ProtocolFault(
                "store-unavailable", f"The event log cannot be written: {error}.", next_step, UNAVAILABLE
            ) from error
        self.counts["accepted"] += appended.accepted
        self.counts["duplicates"] += appended.duplicates
        self.counts["unknown-type"] += sum(event.event_type not in KNOWN_TYPES for event in appended.stored)
        return appended

    async def replay(
        self, session_id: str, agent_id: str | None = None, after: int = 0, limit: int = 1000
    ) -> tuple[EventEnvelope, ...]:
        """Stored events of a session (of one agent) with an event_seq above `after`, in order."""
        which = "" if agent_id is None else " AND e.agent_id = :agent"
        return await self._read(
            f"{_SELECT} WHERE s.session_id = :session AND e.event_seq > :after{which} ORDER BY e.event_seq LIMIT :limit",
            {"session": session_id, "agent": agent_id, "after": after, "limit": limit},
        )

    async def agents(self, session_id: str) -> tuple[EventEnvelope, ...]:
        """The first stored event of each agent of a session, in order."""
        return await self._read(
            f"{_SELECT} WHERE s.session_id = :session AND e.event_seq IN (SELECT min(a.event_seq) FROM event a"
            " WHERE a.session = s.id GROUP BY a.agent_id) ORDER BY e.event_seq",
            {"session": session_id},
        )

    async def last(self, session_id: str) -> LoggedSession | None:
        """The session as logged, or None."""
        found = await self._sessions("WHERE session_id = ?", (session_id,))
        return found[0] if found else None

    async def sessions(self, limit: int = 100) -> tuple[LoggedSession, ...]:
        """The sessions that were heard of last, newest first."""
        return await self._sessions("ORDER BY last_at DESC, id DESC LIMIT ?", (limit,))

    async def _read(self, query: str, values: dict[str, object]) -> tuple[EventEnvelope, ...]:
        rows = await self._database.read(lambda connection: connection.execute(query, values).fetchall())
        return tuple(_envelope(row) for row in rows)

    async def _sessions(self, which: str, values: tuple[object, ...]) -> tuple[LoggedSession, ...]:
        query = f"SELECT session_id, event_seq, workspace, first_at, last_at FROM log_session {which}"
        rows = await self._database.read(lambda connection: connection.execute(query, values).fetchall())
        return tuple(
            LoggedSession(session_id=row[0], event_seq=row[1], workspace=row[2], first_at=row[3], last_at=row[4])
            for row in rows
        )

    def _draft(self, envelope: EventEnvelope, observed_at: Millis) -> EventEnvelope:
        """The envelope as it will be stored, its event_seq still to come."""
        check(envelope)
        raw = bytes(envelope.payload)
        check_digest(envelope, raw)
        try:
            payload = bound(raw, self._redact)
        except PayloadFault as error:
            raise invalid_params(f"`payload` cannot be stored: {error}.") from error
        return EventEnvelope(
            session_id=envelope.session_id,
            agent_id=envelope.agent_id,
            workspace=envelope.workspace,
            channel=envelope.channel,
            event_type=envelope.event_type,
            timestamp=envelope.timestamp,
            source_kind=envelope.source_kind,
            payload=msgspec.Raw(payload),
            event_id=envelope.event_id,
            native_seq=envelope.native_seq,
            turn=envelope.turn,
            step=envelope.step,
            message_id=envelope.message_id,
            call_id=envelope.call_id,
            root_call_id=envelope.root_call_id,
            payload_digest=keyed(self._key, raw),
            observed_at=observed_at,
        )
