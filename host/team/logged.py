"""What the event log holds of which session, without reading what was said. Functions over a connection of its
database."""

import sqlite3
from collections.abc import Collection

import msgspec

from recall.contracts import Frozen, Millis

_FIRST = "(SELECT min(e.event_seq) FROM event e WHERE e.session = s.id)"
_LAST = "(SELECT max(e.event_seq) FROM event e WHERE e.session = s.id)"
_EXTENT = (  # both ends stand in an index: events are not counted, for there may be a million
    f"SELECT s.session_id, {_FIRST} AS first, {_LAST} AS last, s.last_at, s.workspace"
    " FROM log_session s WHERE {which} AND first IS NOT NULL ORDER BY s.id"
)
_SINCE = _EXTENT.format(which="s.last_at >= ?")
_NAMED = _EXTENT.format(which="s.session_id IN (SELECT value FROM json_each(?))")
_FOLDERS = (
    "SELECT DISTINCT e.workspace FROM log_session s JOIN event e ON e.session = s.id"
    " WHERE s.session_id = ? AND e.workspace != ''"
)
_PRESENT = (
    "SELECT s.session_id FROM log_session s WHERE s.session_id IN (SELECT value FROM json_each(?))"
    " AND EXISTS (SELECT 1 FROM event e WHERE e.session = s.id)"
)


class Logged(Frozen, frozen=True, kw_only=True):
    """A session in the log: the event_seqs of its first and last event there. `last_at`: by the daemon's clock.
    `folder`: the last one that was named."""

    session_id: str
    first: int
    last: int
    last_at: Millis
    folder: str

    @property
    def extent(self) -> str:
        """What tells that nothing was added, or taken away at an end. What is missing in between, reading finds."""
        return f"{self.first}-{self.last}"


def since(connection: sqlite3.Connection, at: Millis) -> tuple[Logged, ...]:
    """Sessions that were heard of at that time or later, by the daemon's clock."""
    return tuple(_logged(row) for row in connection.execute(_SINCE, (at,)))


def named(connection: sqlite3.Connection, session_ids: Collection[str]) -> tuple[Logged, ...]:
    """Those of these sessions of which there is something."""
    return tuple(_logged(row) for row in connection.execute(_NAMED, (_listed(session_ids),)))


def present(connection: sqlite3.Connection, session_ids: Collection[str]) -> frozenset[str]:
    """Which of these sessions the log still holds something of."""
    return frozenset(row[0] for row in connection.execute(_PRESENT, (_listed(session_ids),)))


def folders(connection: sqlite3.Connection, session_id: str) -> tuple[str, ...]:
    """All folders that a session's events name."""
    return tuple(sorted(row[0] for row in connection.execute(_FOLDERS, (session_id,))))


def _logged(row: tuple[str, int, int, int, str]) -> Logged:
    session_id, first, last, last_at, folder = row
    return Logged(session_id=session_id, first=first, last=last, last_at=last_at, folder=folder)


def _listed(values: Collection[str]) -> str:
    return msgspec.json.encode(list(values)).decode()
