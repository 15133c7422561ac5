"""Receipts: what was done once is not done again (formation.md 1).

`(operation id, request hash) -> outcome`. The same id with the same hash gives the stored outcome; the same id with
another hash is a conflict, which is written down and changes nothing else. A receipt is put in within the transaction
that moves the cursor and commits the effects.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from governance.formation.contracts import Pipeline, Receipt
from governance.formation.errors import StateFault
from recall.contracts import Frozen, Millis

_COLUMNS = (
    "operation_id, request_hash, pipeline, status, outcome, committed_at, session_id, from_seq, through_seq, item_ids"
)
_PUT = f"INSERT INTO receipt ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OF = f"SELECT {_COLUMNS} FROM receipt WHERE operation_id = ?"
_OF_SESSION = (
    f"SELECT {_COLUMNS} FROM receipt WHERE session_id = ? AND pipeline = ?"
    " ORDER BY through_seq DESC, operation_id LIMIT ?"
)
_CONFLICT = "INSERT OR IGNORE INTO receipt_conflict (operation_id, request_hash, at) VALUES (?, ?, ?)"


class Reused(Frozen, frozen=True, kw_only=True):
    """The operation was done before, for another request: `operation-reused`."""

    operation_id: str


def find(connection: sqlite3.Connection, operation_id: str) -> Receipt | None:
    """The receipt of an operation. Raises StateFault (`state-corrupt`) for one that does not decode."""
    row = connection.execute(_OF, (operation_id,)).fetchone()
    return None if row is None else _receipt(row)


def look(connection: sqlite3.Connection, operation_id: str, request_hash: str, at: Millis) -> Receipt | Reused | None:
    """The receipt of this very request; None: it was not done yet. Another request under the same id is `Reused`, and
    the conflict is written down. Raises StateFault (`state-corrupt`)."""
    found = find(connection, operation_id)
    if found is None or found.request_hash == request_hash:
        return found
    conflict(connection, operation_id, request_hash, at)
    return Reused(operation_id=operation_id)


def conflict(connection: sqlite3.Connection, operation_id: str, request_hash: str, at: Millis) -> None:
    """Write down that an operation was asked for again with another request."""
    connection.execute(_CONFLICT, (operation_id, request_hash, at))


def put(connection: sqlite3.Connection, receipt: Receipt) -> None:
    """Add a receipt, within the transaction of what it tells of. Raises sqlite3.IntegrityError when there is one of
    this operation: the transaction is to be rolled back then."""
    items = msgspec.json.encode(receipt.item_ids).decode()
    row = (receipt.operation_id, receipt.request_hash, receipt.pipeline, receipt.status, receipt.outcome)
    where = (receipt.session_id, receipt.from_seq, receipt.through_seq)
    connection.execute(_PUT, (*row, receipt.committed_at, *where, items))


def of_session(
    connection: sqlite3.Connection, session_id: str, pipeline: Pipeline, limit: int = 100
) -> Sequence[Receipt]:
    """The receipts of a session, the latest range first. Raises StateFault (`state-corrupt`)."""
    return [_receipt(row) for row in connection.execute(_OF_SESSION, (session_id, pipeline, limit))]


def _receipt(row: Sequence[Any]) -> Receipt:
    try:
        return Receipt(
            operation_id=row[0],
            request_hash=row[1],
            pipeline=Pipeline(row[2]),
            status=row[3],
            outcome=row[4],
            committed_at=row[5],
            session_id=row[6],
            from_seq=row[7],
            through_seq=row[8],
            item_ids=msgspec.json.decode(row[9], type=tuple[str, ...]),
        )
    except (ValueError, msgspec.DecodeError) as error:
        problem = f"The receipt of {row[0]} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Restore governance.db, or run `extract --recover`.") from error
