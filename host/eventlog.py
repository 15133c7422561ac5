"""N-01: the append-only event log. Idempotent, ordered without gaps, acknowledged after the commit.

Invariants kept here: 9 (events are only ever added) and 13 (an acknowledged event is never lost: `append` returns after
the COMMIT). A call is atomic: one refused event, and nothing of the call is stored. The digest that decides whether an
event was seen before is keyed and covers the payload's bytes as received; what is stored is their bounded form.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

from governance.screening.secrets import SHAPED
from host.envelopes import check, check_digest
from host.errors import ProtocolFault
from host.payloads import PayloadFault, Redact, bound
from host.protocol import invalid_params, refusal
from recall.canonical import keyed
from recall.contracts import Channel, Database, EventEnvelope, EventType, Frozen, Millis, SourceKind

SCHEMA = files("host").joinpath("schema", "eventlog_001.sql").read_text("utf-8")
KNOWN_TYPES = frozenset(EventType)

_COLUMNS = (
    *("agent_id", "workspace", "channel", "event_type", "timestamp", "source_kind", "event_id", "native_seq", "turn"),
    *("step", "message_id", "call_id", "root_call_id", "payload", "payload_digest", "event_seq", "observed_at"),
)
_FIELDS = ("session_id", *_COLUMNS)
_INSERT = f"INSERT INTO event (session, {', '.join(_COLUMNS)}) VALUES (?{', ?' * len(_COLUMNS)})"
_SELECT = (
    f"SELECT s.session_id, {', '.join(f'e.{name}' for name in _COLUMNS)}"
    " FROM log_session s JOIN event e ON e.session = s.id WHERE s.session_id = :session"
)
_HEADS = _SELECT.replace(" e.payload,", " x'7b7d',")  # without what they say


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


class Extent(Frozen, frozen=True, kw_only=True):
    """The first and the last event_seq of a session that are there, and how many there are."""

    first: int
    last: int
    count: int


LONG = 32_768  # bytes of payloads that are read without leaving the loop
_NAMES = ("session_id", "agent_id", "event_id", "call_id", "message_id", "root_call_id", "workspace", "event_type")


class EventLog:
    """The log over the main database. `key`: the per-install key. `counts`: what came in, by outcome."""

    def __init__(self, database: Database, key: bytes, redact: Redact) -> None:
        self._database = database
        self._key = key
        self._redact = redact
        self.counts: Counter[str] = Counter()
        self.problem = ""  # why the last events could not be written

    async def append(self, envelopes: Sequence[EventEnvelope], observed_at: Millis, *, past: bool = False) -> Appended:
        """Store the new ones of `envelopes` and return after the commit. `observed_at`: epoch ms of the daemon. `past`:
        they are history, observed at their own times, none of them later than that.

        Raises ProtocolFault: `no-owner`, `unsupported-schema`, `invalid-params`, `conflict` (a known key with other
        content), `store-unavailable` (disk full, I/O error).
        """
        try:
            drafts = await self._drafts(envelopes, observed_at, past=past)
            if not drafts:
                raise invalid_params("`events` is empty.")
            appended = await self._database.write(lambda connection: _append(connection, drafts))
        except ProtocolFault as error:
            self.counts[error.kind] += 1
            raise
        except sqlite3.Error as error:
            self.counts["store-unavailable"] += 1
            self.problem = str(error)
            next_step = "Nothing of the call was stored. Check the disk, then send it again."
            raise refusal("store-unavailable", f"The event log cannot be written: {error}.", next_step) from error
        self.problem = ""
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
            f"{_SELECT} AND e.event_seq > :after{which} ORDER BY e.event_seq LIMIT :limit",
            {"session": session_id, "agent": agent_id, "after": after, "limit": limit},
        )

    async def agents(self, session_id: str) -> tuple[EventEnvelope, ...]:
        """The first stored event of each agent of a session, in order."""
        firsts = "SELECT a.event_seq FROM log_agent a WHERE a.session = s.id"
        return await self._read(
            f"{_SELECT} AND e.event_seq IN ({firsts}) ORDER BY e.event_seq", {"session": session_id}
        )

    async def of_types(self, session_id: str, types: Sequence[str], after: int = 0) -> tuple[EventEnvelope, ...]:
        """Stored events of a session of these types with an event_seq above `after`, in order."""
        listed = msgspec.json.encode(list(types)).decode()
        return await self._read(
            f"{_SELECT} AND e.event_seq > :after AND e.event_type IN (SELECT value FROM json_each(:types))"
            " ORDER BY e.event_seq",
            {"session": session_id, "after": after, "types": listed},
        )

    async def heads(self, session_id: str, types: Sequence[str], after: int = 0) -> tuple[EventEnvelope, ...]:
        """`of_types` with empty payloads: where something happened, and not what."""
        listed = msgspec.json.encode(list(types)).decode()
        return await self._read(
            f"{_HEADS} AND e.event_seq > :after AND e.event_type IN (SELECT value FROM json_each(:types))"
            " ORDER BY e.event_seq",
            {"session": session_id, "after": after, "types": listed},
        )

    async def extent(self, session_id: str) -> Extent | None:
        """What stands in the log of a session now; None: nothing."""
        query = (
            "SELECT min(e.event_seq), max(e.event_seq), count(*) FROM log_session s JOIN event e ON e.session = s.id"
            " WHERE s.session_id = ?"
        )
        row = await self._database.read(lambda connection: connection.execute(query, (session_id,)).fetchone())
        return Extent(first=row[0], last=row[1], count=row[2]) if row[2] else None

    async def told_before(self, event: EventEnvelope) -> str:
        """The earliest other session, begun before that of `event`, that holds the very same event: same id, bytes and
        time. Empty: none does, so it is no copy."""
        if event.event_id is None:
            return ""
        query = (
            "SELECT s.session_id FROM log_session s CROSS JOIN event e ON e.session = s.id AND e.event_id = :event"
            " WHERE s.id < (SELECT id FROM log_session WHERE session_id = :session)"
            " AND e.payload_digest = :digest AND e.timestamp = :at ORDER BY s.id LIMIT 1"
        )
        values = {
            "session": event.session_id,
            "event": event.event_id,
            "digest": event.payload_digest,
            "at": event.timestamp,
        }
        row = await self._database.read(lambda connection: connection.execute(query, values).fetchone())
        return "" if row is None else str(row[0])

    async def shared(self, session_id: str, other: str) -> frozenset[int]:
        """The event_seqs of a session whose events stand in another one, too: same id, bytes and time."""
        query = (
            "SELECT a.event_seq FROM log_session x JOIN log_session y JOIN event a ON a.session = x.id"
            " JOIN event b ON b.session = y.id AND b.event_id = a.event_id AND b.payload_digest = a.payload_digest"
            " AND b.timestamp = a.timestamp WHERE x.session_id = ? AND y.session_id = ? AND a.event_id IS NOT NULL"
        )
        rows = await self._database.read(lambda connection: connection.execute(query, (session_id, other)).fetchall())
        return frozenset(row[0] for row in rows)

    async def workspace(self, session_id: str, agent_id: str) -> str:
        """The folder that an agent named last; empty: none."""
        found = await self._read(
            f"{_SELECT} AND e.agent_id = :agent AND e.workspace != '' ORDER BY e.event_seq DESC LIMIT 1",
            {"session": session_id, "agent": agent_id},
        )
        return found[0].workspace if found else ""

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

    async def _drafts(
        self, envelopes: Sequence[EventEnvelope], observed_at: Millis, *, past: bool
    ) -> list[EventEnvelope]:
        """The envelopes as they will be stored. Long ones are read on a worker thread: others have their turn."""

        def drafted() -> list[EventEnvelope]:
            return [self._draft(one, min(one.timestamp, observed_at) if past else observed_at) for one in envelopes]

        if sum(len(bytes(envelope.payload)) for envelope in envelopes) <= LONG:
            return drafted()
        return await asyncio.to_thread(drafted)

    def _check_names(self, envelope: EventEnvelope) -> None:
        """Ids and paths are kept as they come, in many places: what has the form of a service's token is none."""
        names = {name: value for name in _NAMES if (value := getattr(envelope, name))}
        if not self._token("\n".join(names.values())):
            return
        which = next((name for name, value in names.items() if self._token(value)), _NAMES[0])
        field = msgspec.structs.fields(EventEnvelope)
        said = next(one.encode_name for one in field if one.name == which)
        raise invalid_params(f"`{said}` holds what looks like a secret. Ids and paths are stored as they come.")

    def _token(self, text: str) -> bool:
        return any(finding.family in SHAPED for finding in self._redact(text)[1])

    def _draft(self, envelope: EventEnvelope, observed_at: Millis) -> EventEnvelope:
        """The envelope as it will be stored, its event_seq still to come."""
        check(envelope)
        self._check_names(envelope)
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


# --------------------------------------------------------------------------------------------- inside the transaction


class _Writing:
    """A session within one transaction: its row, its last seq, and the keys that came before with their digests."""

    def __init__(self, number: int, seq: int) -> None:
        self.number = number
        self.seq = seq
        self.by_id: dict[str, str] = {}
        self.by_native: dict[int, str] = {}

    def known(self, draft: EventEnvelope) -> str | None:
        """The digest under which an event of this key was stored."""
        if draft.event_id is not None and draft.event_id in self.by_id:
            return self.by_id[draft.event_id]
        return None if draft.native_seq is None else self.by_native.get(draft.native_seq)

    def note(self, draft: EventEnvelope) -> None:
        """Two events of one call may have the same key as well."""
        if draft.event_id is not None:
            self.by_id[draft.event_id] = draft.payload_digest or ""
        if draft.native_seq is not None:
            self.by_native[draft.native_seq] = draft.payload_digest or ""


def _append(connection: sqlite3.Connection, drafts: Sequence[EventEnvelope]) -> Appended:
    writings: dict[str, _Writing] = {}
    stored: list[EventEnvelope] = []
    for draft in drafts:
        session = draft.session_id
        if session not in writings:
            writings[session] = _open(connection, [other for other in drafts if other.session_id == session])
        writing = writings[session]
        known = writing.known(draft)
        if known is None:
            writing.seq += 1
            writing.note(draft)
            stored.append(msgspec.structs.replace(draft, event_seq=writing.seq))
        elif known != draft.payload_digest:
            raise _conflict(draft)
    connection.executemany(_INSERT, [(writings[event.session_id].number, *_row(event)) for event in stored])
    _keep_heads(connection, writings, stored)
    last = drafts[-1].session_id
    return Appended(
        accepted=len(stored),
        duplicates=len(drafts) - len(stored),
        stored=tuple(stored),
        session_id=last,
        event_seq=writings[last].seq,
    )


def _keep_heads(
    connection: sqlite3.Connection, writings: Mapping[str, _Writing], stored: Sequence[EventEnvelope]
) -> None:
    """What the small tables say of each session and agent."""
    newest = {event.session_id: event for event in stored}
    connection.executemany(
        "UPDATE log_session SET event_seq = ?, workspace = ?, last_at = ? WHERE id = ?",
        [(e.event_seq, e.workspace, e.observed_at, writings[session].number) for session, e in newest.items()],
    )
    first = {(event.session_id, event.agent_id): event.event_seq for event in reversed(stored)}
    connection.executemany(
        "INSERT INTO log_agent (session, agent_id, event_seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(writings[session].number, agent, seq) for (session, agent), seq in first.items()],
    )


def _open(connection: sqlite3.Connection, drafts: Sequence[EventEnvelope]) -> _Writing:
    """The session's row, made if it is new, and which of the drafts' keys are known already."""
    first = drafts[0]
    row = connection.execute(
        "SELECT id, event_seq FROM log_session WHERE session_id = ?", (first.session_id,)
    ).fetchone()
    if row is None:
        number = connection.execute(
            "INSERT INTO log_session (session_id, event_seq, workspace, first_at, last_at) VALUES (?, 0, ?, ?, ?)",
            (first.session_id, first.workspace, first.observed_at, first.observed_at),
        ).lastrowid
        return _Writing(number or 0, 0)
    writing = _Writing(row[0], row[1])
    ids = [draft.event_id for draft in drafts if draft.event_id is not None]
    natives = [draft.native_seq for draft in drafts if draft.native_seq is not None]
    if ids:
        writing.by_id.update(_digests(connection, "event_id", writing.number, ids))
    if natives:
        writing.by_native.update(_digests(connection, "native_seq", writing.number, natives))
    return writing


def _digests(connection: sqlite3.Connection, key: str, session: int, keys: Iterable[object]) -> sqlite3.Cursor:
    """(key, payload digest) of the stored events of a session that have one of `keys`."""
    return connection.execute(
        f"SELECT {key}, payload_digest FROM event WHERE session = ? AND {key} IN (SELECT value FROM json_each(?))",
        (session, msgspec.json.encode(keys).decode()),
    )


def _conflict(draft: EventEnvelope) -> ProtocolFault:
    key = f"eventId {draft.event_id}" if draft.event_id is not None else f"nativeSeq {draft.native_seq}"
    next_step = "A key names one event for good: send the same bytes again, or use another key. Nothing was stored."
    return refusal("conflict", f"An event with {key} is stored with other content.", next_step)


def _row(event: EventEnvelope) -> tuple[object, ...]:
    return (
        event.agent_id,
        event.workspace,
        event.channel.value,
        event.event_type,
        event.timestamp,
        event.source_kind.value,
        event.event_id,
        event.native_seq,
        event.turn,
        event.step,
        event.message_id,
        event.call_id,
        event.root_call_id,
        bytes(event.payload),
        event.payload_digest,
        event.event_seq,
        event.observed_at,
    )


def _envelope(row: Sequence[Any]) -> EventEnvelope:
    values = dict(zip(_FIELDS, row, strict=True))
    values["payload"] = msgspec.Raw(values["payload"])
    values["channel"] = Channel(values["channel"])
    values["source_kind"] = SourceKind(values["source_kind"])
    return EventEnvelope(**values)
