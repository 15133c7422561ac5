"""G-01, kept: the rows of the access-evidence graph. Insert or ignore; nothing is changed afterwards.

A row is stored by the transaction of the audit entry that carries it, and by nothing else: the graph is a fold over
the audit, and `rebuilt` is that fold.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from governance.audit import Audit
from governance.chain import entry_of
from governance.checkpoint import Checkpoint, Stored
from governance.checkpoint import opened as opened_checkpoint
from governance.contracts import AccessEvidence, AuditEntry
from governance.evidence import edges
from governance.standing import EVIDENCE, FORGOTTEN, Standings, Tallied, edge_of, forgets, opened, with_rows
from recall.contracts import Database, Frozen

_FIELDS = AccessEvidence.__struct_fields__
_NAMES = AccessEvidence.__struct_encode_fields__
_INSERT = f"INSERT OR IGNORE INTO evidence ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))})"
_SELECT = f"SELECT {', '.join(_FIELDS)} FROM evidence"
_ALL = f"{_SELECT} ORDER BY evidence_id"
_OF_MEMORY = f"{_SELECT} WHERE memory_id = ? ORDER BY at, event_seq, evidence_id"
_OF_SESSION = f"{_SELECT} WHERE session_ref = ? ORDER BY event_seq, at, evidence_id"
_SIGNS = (b'"evidence":[{', f'"{FORGOTTEN}"'.encode())  # an entry without them says nothing here
_FORGOTTEN = "SELECT entry, digest FROM audit WHERE kind = 'feedback' AND outcome = ?"
_FORGET = "DELETE FROM evidence WHERE memory_id = ?"


class Rebuilt(Frozen, frozen=True, kw_only=True):
    """What the graph is by the audit alone, and whether the rows that were kept differed from it."""

    rows: tuple[AccessEvidence, ...]
    past: dict[str, Tallied]
    differed: bool


class EvidenceStore:
    """The evidence table of the main database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def carried(self, connection: sqlite3.Connection, entry: AuditEntry) -> None:
        """Store what an audit entry carries, in the transaction that stores the entry. One that says that a memory was
        forgotten takes its rows with it."""
        gone = forgets(entry)
        if gone is not None:
            connection.execute(_FORGET, (gone,))
        if entry.evidence:
            _store(connection, edges(entry))

    async def rows(self) -> tuple[AccessEvidence, ...]:
        """Every edge that is kept, in the order of their ids."""
        return await self._select(_ALL)

    async def of_memory(self, memory_id: str) -> tuple[AccessEvidence, ...]:
        """Every edge of one memory, oldest first."""
        return await self._select(_OF_MEMORY, memory_id)

    async def of_session(self, session_ref: str) -> tuple[AccessEvidence, ...]:
        """Every edge of one session, in the order of its events."""
        return await self._select(_OF_SESSION, session_ref)

    async def forgotten(self) -> frozenset[str]:
        """The memories that were forgotten since the checkpoint: its numbers of them hold no more."""
        rows = await self._database.read(lambda connection: connection.execute(_FORGOTTEN, (FORGOTTEN,)).fetchall())
        return frozenset(gone for data, digest in rows if (gone := forgets(entry_of(data, digest))) is not None)

    async def rebuild(self) -> Rebuilt:
        """Put in place of the rows what the audit says they are, in one transaction: nothing is written meanwhile.

        Raises msgspec.MsgspecError when an entry or the checkpoint cannot be read; then nothing has changed.
        """

        def work(connection: sqlite3.Connection) -> Rebuilt:
            past, rows = folded(connection)
            differed = connection.execute(_ALL).fetchall() != [_values(row) for row in rows]
            if differed:
                connection.execute("DELETE FROM evidence")
                _store(connection, rows)
            return Rebuilt(rows=rows, past=past, differed=differed)

        return await self._database.write(work)

    async def _select(self, statement: str, *values: str) -> tuple[AccessEvidence, ...]:
        rows = await self._database.read(lambda connection: connection.execute(statement, values).fetchall())
        return tuple(msgspec.convert(dict(zip(_NAMES, row, strict=True)), AccessEvidence) for row in rows)


def folded(connection: sqlite3.Connection) -> tuple[dict[str, Tallied], tuple[AccessEvidence, ...]]:
    """The graph by the audit alone: the numbers of what is gone, and every kept edge in the order of their ids."""
    kept = connection.execute("SELECT document, digest FROM audit_checkpoint").fetchone()
    checkpoint = opened_checkpoint(None if kept is None else Stored(document=kept[0], digest=kept[1]))
    section = opened(checkpoint.sections.get(EVIDENCE))
    past = dict(section.past)
    found = {row.evidence_id: row for row in map(edge_of, section.rows)}
    for data, digest in connection.execute("SELECT entry, digest FROM audit ORDER BY row"):
        if not any(sign in data for sign in _SIGNS):
            continue
        entry = entry_of(data, digest)
        gone = forgets(entry)
        if gone is not None:
            past.pop(gone, None)
            found = {name: row for name, row in found.items() if row.memory_id != gone}
        for row in edges(entry):
            found.setdefault(row.evidence_id, row)
    return past, tuple(found[name] for name in sorted(found))


async def load_standings(audit: Audit, store: EvidenceStore) -> Standings:
    """What the evidence of every memory comes to: what is gone, from the checkpoint, and the rows that are kept. A
    checkpoint that cannot be read counts for nothing: `audit verify` tells."""
    try:
        past = opened((await audit.checkpoint()).sections.get(EVIDENCE)).past
    except msgspec.MsgspecError:
        past = {}
    gone = await store.forgotten()
    return with_rows({name: one for name, one in past.items() if name not in gone}, await store.rows())


def trimmed(connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
    """Delete the rows that the checkpoint has as numbers only. `governance.pruning.Hanging` calls it."""
    floor = opened(checkpoint.sections.get(EVIDENCE)).floor
    connection.execute("DELETE FROM evidence WHERE at < ?", (floor,))


def _store(connection: sqlite3.Connection, rows: Iterable[AccessEvidence]) -> None:
    connection.executemany(_INSERT, [_values(row) for row in rows])


def _values(row: AccessEvidence) -> tuple[object, ...]:
    return tuple(msgspec.to_builtins(getattr(row, field)) for field in _FIELDS)
