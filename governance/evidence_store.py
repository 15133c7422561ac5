"""G-01, kept: the rows of the access-evidence graph. Insert or ignore; nothing is changed afterwards."""

import sqlite3
from collections.abc import Callable, Sequence

import msgspec

from governance.contracts import AccessEvidence, AuditEntry
from governance.evidence import Counts, counted, edges
from recall.contracts import Database

_FIELDS = AccessEvidence.__struct_fields__
_NAMES = AccessEvidence.__struct_encode_fields__
_INSERT = f"INSERT OR IGNORE INTO evidence ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))})"
_SELECT = f"SELECT {', '.join(_FIELDS)} FROM evidence"
_OF_MEMORY = f"{_SELECT} WHERE memory_id = ? ORDER BY at, evidence_id"
_OF_SESSION = f"{_SELECT} WHERE session_ref = ? ORDER BY event_seq, evidence_id"


class EvidenceStore:
    """The evidence table of the main database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert(self, rows: Sequence[AccessEvidence]) -> int:
        """Store what is not there yet; how many rows were new."""
        return await self._database.write(self.statement(rows)) if rows else 0

    def statement(self, rows: Sequence[AccessEvidence]) -> Callable[[sqlite3.Connection], int]:
        """The same as work for somebody else's write transaction."""
        values = [tuple(getattr(row, field) for field in _FIELDS) for row in rows]

        def insert(connection: sqlite3.Connection) -> int:
            before = connection.total_changes
            connection.executemany(_INSERT, values)
            return connection.total_changes - before

        return insert

    def carried(self, connection: sqlite3.Connection, entry: AuditEntry) -> None:
        """Store what an audit entry carries, in the transaction that stores the entry."""
        if entry.evidence:
            self.statement(edges(entry))(connection)

    async def of_memory(self, memory_id: str) -> tuple[AccessEvidence, ...]:
        """Every edge of one memory, oldest first."""
        return await self._select(_OF_MEMORY, memory_id)

    async def of_session(self, session_ref: str) -> tuple[AccessEvidence, ...]:
        """Every edge of one session, in the order of its events."""
        return await self._select(_OF_SESSION, session_ref)

    async def counts(self, memory_id: str) -> Counts:
        """The edges of one memory in numbers."""
        return counted(await self.of_memory(memory_id))

    async def _select(self, statement: str, value: str) -> tuple[AccessEvidence, ...]:
        rows = await self._database.read(lambda connection: connection.execute(statement, (value,)).fetchall())
        return tuple(msgspec.convert(dict(zip(_NAMES, row, strict=True)), AccessEvidence) for row in rows)
