"""The outbox: what was committed to governance.db and has still to be written to the files (formation.md 6).

A line goes in within the transaction that commits the change. The projector takes the lines in their order, writes
them, and marks them done; a line that is done keeps no words.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

from governance.formation.contracts import Line
from recall.canonical import canonical
from recall.contracts import Frozen, Millis

_PUT = "INSERT INTO outbox (memory_id, version, kind, line, at) VALUES (?, ?, ?, ?, ?)"
_WAITING = (
    "SELECT number, memory_id, version, kind, line, at FROM outbox WHERE done_at IS NULL AND number > ?"
    " ORDER BY number LIMIT ?"
)
_OF_THESE = (
    "SELECT DISTINCT memory_id FROM outbox WHERE done_at IS NULL AND memory_id IN (SELECT value FROM json_each(?))"
)
_FORGET = "UPDATE outbox SET done_at = ?, line = '' WHERE memory_id = ? AND done_at IS NULL AND kind != 'tombstone'"


def put(connection: sqlite3.Connection, line: Line, at: Millis) -> int:
    """Add a line; its number. To be called within the transaction of the change that it tells of.

    Raises NotCanonical for a line that has no canonical form (a float, a lone surrogate).
    """
    kind = line.__struct_config__.tag
    row = (line.memory_id, line.version, kind, canonical(line).decode(), at)
    return int(connection.execute(_PUT, row).lastrowid or 0)


class OutboxRow(Frozen, frozen=True, kw_only=True):
    """A line that waits. `line`: canonical JSON."""

    number: int
    memory_id: str
    version: int
    kind: str
    line: str
    at: Millis


def waiting(connection: sqlite3.Connection, limit: int, after: int = 0) -> tuple[OutboxRow, ...]:
    """The lines that wait, in their order, with a number above `after`."""
    names = OutboxRow.__struct_fields__
    rows = connection.execute(_WAITING, (after, limit)).fetchall()
    return tuple(OutboxRow(**dict(zip(names, row, strict=True))) for row in rows)


def done(connection: sqlite3.Connection, number: int, at: Millis) -> None:
    """A line was written: it keeps no words here."""
    connection.execute("UPDATE outbox SET done_at = ?, line = '' WHERE number = ?", (at, number))


def depth(connection: sqlite3.Connection) -> int:
    """How many lines wait."""
    row = connection.execute("SELECT count(*) FROM outbox WHERE done_at IS NULL").fetchone()
    return int(row[0])


def of_these(connection: sqlite3.Connection, memory_ids: Sequence[str]) -> frozenset[str]:
    """Those of these memories of which lines wait."""
    listed = msgspec.json.encode(list(memory_ids)).decode()
    return frozenset(row[0] for row in connection.execute(_OF_THESE, (listed,)))


def forget(connection: sqlite3.Connection, memory_id: str, at: Millis) -> None:
    """Lines of a memory that is forgotten are not written any more, but for those that say so."""
    connection.execute(_FORGET, (at, memory_id))


def prune(connection: sqlite3.Connection, before: Millis) -> None:
    """Let go of what was done a while ago: the files hold it."""
    connection.execute("DELETE FROM outbox WHERE done_at < ?", (before,))
