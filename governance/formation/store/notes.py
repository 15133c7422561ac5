"""Evidence notes, kept: what each says and rests on, the windows that they came from, and how far each stream is.

A note is inserted once and then changed by decisions only. A window holds ids, places and hashes of its sources, never
their texts. All of it are functions over a connection, for the caller's transaction.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from governance.formation.contracts import (
    Completeness,
    Continuation,
    Coverage,
    EvidenceNote,
    EvidenceRef,
    Message,
    Packet,
    Provenance,
    Rejected,
    Role,
    Use,
)
from governance.formation.errors import StateFault
from recall.canonical import short_id
from recall.contracts import Frozen, Millis

_encoder = msgspec.json.Encoder(order="sorted")
_PUT = (
    "INSERT OR IGNORE INTO note (note_id, window_id, scope_key, stream_id, evidence_digest, version, digest, note,"
    " saved_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_GET = "SELECT note FROM note WHERE note_id = ?"
_REPLACE = "UPDATE note SET version = ?, digest = ?, note = ? WHERE note_id = ? AND version = ?"
_OF_STREAM = "SELECT note FROM note WHERE scope_key = ? AND stream_id = ? ORDER BY saved_at, note_id"
_KEPT_IN = (
    "SELECT note FROM note JOIN queue ON queue.item_id = note.note_id WHERE note.scope_key = ? AND queue.state = 'kept'"
    " ORDER BY note.saved_at, note.note_id"
)
_OF_WINDOW = "SELECT note FROM note WHERE window_id = ? ORDER BY note_id"
_PUT_WINDOW = (
    "INSERT INTO note_window (window_id, scope_key, stream_id, evidence_digest, descriptor, provenance, rejected,"
    " saved_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (window_id) DO UPDATE SET descriptor = excluded.descriptor,"
    " provenance = excluded.provenance, rejected = excluded.rejected, saved_at = excluded.saved_at"
)
_WINDOW = (
    "SELECT window_id, scope_key, stream_id, evidence_digest, descriptor, provenance, rejected, saved_at"
    " FROM note_window WHERE window_id = ?"
)
_WINDOW_OF = "SELECT window_id FROM note WHERE note_id = ?"
_STREAM = "SELECT next_index, last_id, continuation, updated_at FROM note_stream WHERE scope_key = ? AND stream_id = ?"
_PUT_STREAM = (
    "INSERT INTO note_stream (scope_key, stream_id, next_index, last_id, continuation, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (scope_key, stream_id) DO UPDATE SET next_index = excluded.next_index,"
    " last_id = iif(excluded.last_id = '', note_stream.last_id, excluded.last_id),"
    " continuation = excluded.continuation, updated_at = excluded.updated_at"
    " WHERE excluded.next_index >= ifnull(?, note_stream.next_index)"
)
_FORGET = "DELETE FROM note WHERE note_id = ?"


class SourceRef(Frozen, frozen=True, kw_only=True):
    """A source of a window, without its text. `index`: its place in the snapshot. `completeness`: of what was shown."""

    message_id: str
    index: int
    hash: str
    evidence: tuple[EvidenceRef, ...]
    role: Role
    use: Use
    completeness: Completeness = Completeness.FULL


class WindowRow(Frozen, frozen=True, kw_only=True):
    """A window that was noted. `coverage`: which part of the conversation it answers for."""

    window_id: str
    scope_key: str
    stream_id: str
    evidence_digest: str
    descriptor: tuple[SourceRef, ...]
    coverage: Coverage
    provenance: Provenance
    rejected: tuple[Rejected, ...]
    saved_at: Millis


class StreamRow(Frozen, frozen=True, kw_only=True):
    """How far a conversation was noted. `last_id`: the last message that was taken ("": none was); `next_index`: where
    the next one stood in the snapshot of that run."""

    next_index: int
    continuation: Continuation | None
    updated_at: Millis
    last_id: str = ""


def place_in(row: StreamRow | None, messages: Sequence[Message]) -> int:
    """Where noting goes on in these messages: after the last one that was taken, wherever it stands by now. What stood
    before it may be gone (denied, or let go of by the log), and the places with it."""
    if row is None:
        return 0
    for place in range(len(messages) - 1, -1, -1):
        if row.last_id and messages[place].id == row.last_id:
            return place + 1
    return min(row.next_index, len(messages))


class _Descriptor(Frozen, frozen=True, kw_only=True):
    sources: tuple[SourceRef, ...]
    coverage: Coverage


def window_row(
    packet: Packet, coverage: Coverage, provenance: Provenance, rejected: tuple[Rejected, ...], at: Millis
) -> WindowRow:
    """The row of a window. Its id is that of the evidence, and of the model and the prompt that noted it."""
    made_by = [provenance.model_id, provenance.prompt_hash, provenance.algorithm_version]
    return WindowRow(
        window_id=short_id("win_", [packet.scope_key, packet.stream_id, packet.evidence_digest, made_by]),
        scope_key=packet.scope_key,
        stream_id=packet.stream_id,
        evidence_digest=packet.evidence_digest,
        descriptor=tuple(
            SourceRef(
                message_id=source.message_id,
                index=source.index,
                hash=source.hash,
                evidence=source.evidence,
                role=source.role,
                use=source.use,
                completeness=source.completeness,
            )
            for source in packet.sources
        ),
        coverage=coverage,
        provenance=provenance,
        rejected=rejected,
        saved_at=at,
    )


def put(connection: sqlite3.Connection, note: EvidenceNote, window_id: str, at: Millis) -> EvidenceNote:
    """Insert a note if there is none of its id. The one that stands there is returned; nothing of it changes."""
    scope = note.scope
    connection.execute(
        _PUT,
        (
            note.id,
            window_id,
            scope.scope_key,
            scope.stream_id,
            note.evidence_digest,
            note.version,
            note.digest,
            _written(note),
            at,
        ),
    )
    return note_of(connection, note.id) or note


def note_of(connection: sqlite3.Connection, note_id: str) -> EvidenceNote | None:
    """One note. Raises StateFault `state-corrupt` for a row that cannot be read."""
    row = connection.execute(_GET, (note_id,)).fetchone()
    return None if row is None else _read(row[0], EvidenceNote, "note")


def of_stream(connection: sqlite3.Connection, scope_key: str, stream_id: str) -> tuple[EvidenceNote, ...]:
    """The notes of a conversation, as they were saved. Raises StateFault."""
    return tuple(_read(row[0], EvidenceNote, "note") for row in connection.execute(_OF_STREAM, (scope_key, stream_id)))


def kept_in(connection: sqlite3.Connection, scope_key: str) -> tuple[EvidenceNote, ...]:
    """The notes of a scope that a person kept. Raises StateFault."""
    return tuple(_read(row[0], EvidenceNote, "note") for row in connection.execute(_KEPT_IN, (scope_key,)))


def of_window(connection: sqlite3.Connection, window_id: str) -> tuple[EvidenceNote, ...]:
    """The notes that a window first gave, by id. Raises StateFault."""
    return tuple(_read(row[0], EvidenceNote, "note") for row in connection.execute(_OF_WINDOW, (window_id,)))


def replace(connection: sqlite3.Connection, note: EvidenceNote, expected_version: int) -> bool:
    """The note after a decision in the place of the one of `expected_version`. False: that one is not there."""
    row = (note.version, note.digest, _written(note), note.id, expected_version)
    return connection.execute(_REPLACE, row).rowcount == 1


def forget(connection: sqlite3.Connection, note_id: str) -> None:
    """The note's words and quotes are gone."""
    connection.execute(_FORGET, (note_id,))


def put_window(connection: sqlite3.Connection, row: WindowRow) -> None:
    """Write a window down; noted again by the same model and prompt, what was said of it last is kept."""
    descriptor = _Descriptor(sources=row.descriptor, coverage=row.coverage)
    connection.execute(
        _PUT_WINDOW,
        (
            row.window_id,
            row.scope_key,
            row.stream_id,
            row.evidence_digest,
            _written(descriptor),
            _written(row.provenance),
            _written(row.rejected),
            row.saved_at,
        ),
    )


def window_of(connection: sqlite3.Connection, window_id: str) -> WindowRow | None:
    """One window. Raises StateFault."""
    row = connection.execute(_WINDOW, (window_id,)).fetchone()
    if row is None:
        return None
    descriptor = _read(row[4], _Descriptor, "note_window")
    return WindowRow(
        window_id=row[0],
        scope_key=row[1],
        stream_id=row[2],
        evidence_digest=row[3],
        descriptor=descriptor.sources,
        coverage=descriptor.coverage,
        provenance=_read(row[5], Provenance, "note_window"),
        rejected=_read(row[6], tuple[Rejected, ...], "note_window"),
        saved_at=row[7],
    )


def window_of_note(connection: sqlite3.Connection, note_id: str) -> WindowRow | None:
    """The window that first gave a note. Raises StateFault."""
    row = connection.execute(_WINDOW_OF, (note_id,)).fetchone()
    return None if row is None else window_of(connection, row[0])


def stream_of(connection: sqlite3.Connection, scope_key: str, stream_id: str) -> StreamRow | None:
    """How far a conversation is; None: nothing of it was noted. Raises StateFault."""
    row = connection.execute(_STREAM, (scope_key, stream_id)).fetchone()
    if row is None:
        return None
    going_on = None if row[2] is None else _read(row[2], Continuation, "note_stream")
    return StreamRow(next_index=row[0], last_id=row[1], continuation=going_on, updated_at=row[3])


def put_stream(
    connection: sqlite3.Connection, scope_key: str, stream_id: str, row: StreamRow, began: int | None = None
) -> None:
    """How far a conversation is now. It never goes back: a window that is noted again changes nothing. `began`: where
    the conversation stood in the same snapshot before; None: at the index that is stored."""
    going_on = None if row.continuation is None else _written(row.continuation)
    given = (scope_key, stream_id, row.next_index, row.last_id, going_on, row.updated_at, began)
    connection.execute(_PUT_STREAM, given)


def _written(value: object) -> str:
    """Sorted JSON of the words as they are: a quote is a slice of its message, in whatever form that was written."""
    return _encoder.encode(value).decode()


def _read(text: str, kind: Any, table: str) -> Any:
    """Fails closed: what cannot be read is not "absent"."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, TypeError) as error:
        problem = f"A row of {table} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "The doctor names what can be done.") from error
