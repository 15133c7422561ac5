"""What was said about a memory that waits for a person: the quotes that it rests on, and what the user said against it
since (formation.md 2.4). A note that the user spoke against is out of use until somebody decides.
"""

import sqlite3
from collections.abc import Sequence

from governance.contracts import AccessEvidence, EvidenceKind
from governance.formation.contracts import EvidenceRecord, NoteFlag, Role
from governance.formation.decisions import rechecked
from governance.formation.keeping import citations_of
from governance.formation.store import memories, notes
from governance.review import CORRECTION, Citation, ItemFlag, ItemKind, QueueItem, quotes_of
from host.parts import Parts

SESSIONS = 1_000  # that are looked through for the one in which it was said
MOST = 3  # words against it that are shown, the latest
LONGEST = 600  # characters of a message
DOUBTED = frozenset({ItemFlag.CORRECTED, ItemFlag.RECHECK, ItemFlag.CONFLICT})


async def recheck(parts: Parts, memory_ids: Sequence[str]) -> None:
    """Flag the notes of which these memories were made."""

    def work(connection: sqlite3.Connection) -> None:
        for memory_id in memory_ids:
            for item in parts.queue.about(connection, memory_id):
                note = notes.note_of(connection, item.item_id) if item.kind is ItemKind.NOTE else None
                if note is not None and NoteFlag.RECHECK not in note.flags:
                    notes.replace(connection, rechecked(note), note.version)

    await parts.kept.write(work)


async def said_about(parts: Parts, item: QueueItem) -> tuple[Citation, ...]:
    """Quotes of the item, or of the memory that it is about, and of what the user said against that memory."""
    if item.record_id is None:
        return quotes_of(item)
    record_id = item.record_id

    def work(connection: sqlite3.Connection) -> tuple[Citation, ...]:
        own = quotes_of(item)
        about = [quote for one in parts.queue.about(connection, record_id) for quote in quotes_of(one)]
        return tuple(dict.fromkeys((*own, *about))) or citations_of(memories.sources(connection, record_id))

    said = await parts.kept.read(work)
    return said if DOUBTED.isdisjoint(item.flags) else (*said, *await _against(parts, record_id))


async def _against(parts: Parts, memory_id: str) -> list[Citation]:
    """What the user said when they took it back, as far as the log still has it."""
    rows = [one for one in await parts.evidence.of_memory(memory_id) if one.kind is EvidenceKind.CORRECTION]
    wanted = {row.session_ref: row for row in rows if row.session_ref}
    if not wanted:
        return []
    found: list[Citation] = []
    for session in await parts.eventlog.sessions(SESSIONS):
        row = wanted.get(parts.audit.ref(session.session_id))
        if row is not None:
            found += await _message(parts, session.session_id, row)
    return sorted(found, key=lambda one: one.at)[-MOST:]


async def _message(parts: Parts, session: str, row: AccessEvidence) -> list[Citation]:
    """The message that an edge was drawn from."""
    read = await parts.formation.material.read(session, row.event_seq - 1, row.event_seq)
    return [_citation(one) for one in read if one.role == Role.USER]


def _citation(record: EvidenceRecord) -> Citation:
    return Citation(
        kind=CORRECTION,
        ref=record.message_id,
        quote=record.text[:LONGEST],
        end=min(len(record.text), LONGEST),
        session=record.session_id,
        seq=record.event_seq,
        role=record.role,
        at=record.at,
    )
