"""Retention of the audit: its oldest entries are let go, by age and by size, and what they come to is kept.

Theory of operation. A round takes the entries that are due, at most ROUND of them, checks that they hold together,
folds them into the checkpoint in a worker thread, and then, in one transaction, appends the entry that names the new
document, stores the document and deletes the entries. Killed at any moment, the audit is as before the round or as
after it. Entries that do not hold together are let go by nobody: they are what `verify` must find.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence

from governance.audit import Also, Audit
from governance.chain import Link, Row, entry_of, flaw
from governance.checkpoint import Checkpoint, Section, Through, entry_for, folded, opened, stored
from governance.contracts import AuditEntry
from recall.contracts import Database, Frozen, Millis

ROUND = 250  # entries let go in one transaction: others wait so long to write
CHUNK = 250  # entries folded at once
DAY: Millis = 86_400_000
YOUNG: Millis = 3_600_000  # entries that no limit touches: what they say of may still be under way
SLACK: Millis = DAY // 4  # how far behind the age limit the oldest entry falls before it is worth a round
WORTH = 500  # entries that are worth a round, however young
OVERHEAD = 400  # bytes of a row beside its entry: columns and indexes
LOW = 0.9  # of the size limit: what is left after a round, so that the next one is not due at once

_STORE = "INSERT OR REPLACE INTO audit_checkpoint (one, digest, document) VALUES (1, ?, ?)"
_DELETE = "DELETE FROM audit WHERE row <= ?"
_FIRST_AFTER = "SELECT row FROM audit WHERE at >= ? ORDER BY row LIMIT 1"
_LAST = "SELECT coalesce(max(row), 0) FROM audit"
_OLDEST = "SELECT row, at FROM audit ORDER BY row LIMIT 1"
_SIZE = f"SELECT coalesce(sum(length(entry) + {OVERHEAD}), 0) FROM audit"
_BEYOND = (
    f"SELECT row FROM (SELECT row, sum(length(entry) + {OVERHEAD}) OVER (ORDER BY row DESC) AS held FROM audit)"
    " WHERE held > ? ORDER BY row DESC LIMIT 1"
)

Append = Callable[[Sequence[AuditEntry], Also], Awaitable[Sequence[AuditEntry]]]
Hanging = Callable[[sqlite3.Connection, Checkpoint], None]


class Limits(Frozen, frozen=True, kw_only=True):
    """How long entries are kept, and how much of them."""

    age: Millis = 14 * DAY
    bytes: int = 32 * 2**20


class Broken(Exception):
    """Entries that are due do not hold together; the message says which and why."""


class Pruning:
    """Lets go of what is due. `append` writes an entry and what depends on it; `hanging` deletes what hangs on entries
    that are gone, in the round's own transaction. One at a time."""

    def __init__(
        self,
        database: Database,
        audit: Audit,
        append: Append,
        sections: Mapping[str, Section],
        hanging: Hanging = lambda *_: None,
    ) -> None:
        self._database = database
        self._audit = audit
        self._append = append
        self._sections = dict(sections)
        self._hanging = hanging
        self._lock = asyncio.Lock()

    async def run(self, limits: Limits, now: Millis) -> int:
        """How many entries were let go. Raises Broken, and what the audit's writes raise."""
        gone = 0
        async with self._lock:
            due = await self._database.read(lambda connection: due_row(connection, limits, now))
            while count := await self._round(due, now):
                gone += count
        return gone

    async def _round(self, due: int, now: Millis) -> int:
        before = opened(await self._audit.kept())
        if due <= before.through.row:
            return 0
        last = min(due, before.through.row + ROUND)
        checkpoint = before
        while checkpoint.through.row < last:
            rows = await self._audit.chunk(checkpoint.through.row, min(CHUNK, last - checkpoint.through.row))
            checkpoint = await asyncio.to_thread(self._folded, checkpoint, rows, now)
        document = await asyncio.to_thread(stored, checkpoint)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_STORE, (document.digest, document.document))
            connection.execute(_DELETE, (checkpoint.through.row,))
            self._hanging(connection, checkpoint)

        await self._append([entry_for(document, checkpoint, now)], work)
        return checkpoint.entries - before.entries

    def _folded(self, before: Checkpoint, rows: Sequence[Row], now: Millis) -> Checkpoint:
        """The document with these rows in it, once they are found to follow it."""
        link, entries = before.link, []
        for row in rows:
            problem = flaw(row, link)
            if problem is not None:
                raise Broken(f"entry {row.row}: {problem}")
            entries.append(entry_of(row.entry, row.digest))
            link = Link(row=row.row, digest=row.digest)
        if not entries:
            raise Broken(f"entry {before.through.row + 1}: it was removed")
        through = Through(row=link.row, digest=link.digest, at=max(before.through.at, entries[-1].at))
        return folded(before, entries, through, self._sections, now)


def due_row(connection: sqlite3.Connection, limits: Limits, now: Millis) -> int:
    """The last row that is due to go; 0: none is, or too little to be worth a round."""
    oldest = connection.execute(_OLDEST).fetchone()
    if oldest is None:
        return 0
    (last,) = connection.execute(_LAST).fetchone()
    aged = _before(connection, now - limits.age, last)
    waits = oldest[1] >= now - limits.age - SLACK and aged - oldest[0] < WORTH
    due = 0 if waits else aged
    if connection.execute(_SIZE).fetchone()[0] > limits.bytes:
        beyond = connection.execute(_BEYOND, (int(limits.bytes * LOW),)).fetchone()
        due = max(due, 0 if beyond is None else beyond[0])
    return min(due, _before(connection, now - YOUNG, last))


def _before(connection: sqlite3.Connection, time: Millis, last: int) -> int:
    """The last row of those at the old end that are all older than `time`."""
    first = connection.execute(_FIRST_AFTER, (time,)).fetchone()
    return last if first is None else int(first[0]) - 1
