"""The ledger of facts that were seen in too few conversations so far: gaps and their sightings (formation.md 5.2, 12).

A gap keeps its words only while it is open: once it is covered, expired or forgotten, neither they nor the quotes of
its sightings stand here. Plain functions over a connection.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from governance.formation.contracts import Gap, GapState, MemorySource
from governance.formation.errors import StateFault
from recall.contracts import Frozen, Millis

SHOWN = 16  # gaps that a prompt shows
COMPARED = 500  # open gaps of a workspace that a fact is compared with, the newest
_COLUMNS = "gap_id, workspace_key, content, state, opened_at, changed_at, covered_by, item_id"
# A gap whose item a person put away is not open any more, whatever its row says.
_WAITS = "NOT EXISTS (SELECT 1 FROM queue WHERE queue.item_id = gap.item_id AND queue.state != 'deferred')"
_OPENED = (
    f"SELECT {_COLUMNS} FROM gap WHERE workspace_key = ? AND state = 'open' AND {_WAITS}"
    " ORDER BY changed_at DESC, gap_id LIMIT ?"
)
_OPEN = (
    f"INSERT INTO gap ({_COLUMNS}) VALUES (?, ?, ?, 'open', ?, ?, NULL, ?) ON CONFLICT (gap_id) DO UPDATE SET"
    " content = excluded.content, state = 'open', covered_by = NULL, item_id = excluded.item_id,"
    " opened_at = excluded.opened_at, changed_at = excluded.changed_at"
)
_END = "UPDATE gap SET content = '', state = ?, covered_by = ?, changed_at = ? WHERE gap_id = ?"
_SIGHT = (
    "INSERT INTO sighting (gap_id, conversation_key, refs, at) VALUES (?, ?, ?, ?) ON CONFLICT"
    " (gap_id, conversation_key) DO UPDATE SET refs = excluded.refs, at = max(at, excluded.at)"
)
_OLD = (
    "SELECT gap_id, item_id FROM gap WHERE state = 'open' AND"
    " coalesce((SELECT max(at) FROM sighting WHERE sighting.gap_id = gap.gap_id), opened_at) < ? ORDER BY gap_id"
)
_refs = msgspec.json.Decoder(tuple[MemorySource, ...])


class Sighting(Frozen, frozen=True, kw_only=True):
    """A conversation in which a fact was seen. `refs`: what was said there, word for word."""

    gap_id: str
    conversation_key: str
    refs: tuple[MemorySource, ...]
    at: Millis


def opened(connection: sqlite3.Connection, workspace_key: str, limit: int = SHOWN) -> tuple[Gap, ...]:
    """The open gaps of a workspace, the ones seen last first."""
    rows = connection.execute(_OPENED, (workspace_key, limit))
    return tuple(_gap(row) for row in rows)


def get(connection: sqlite3.Connection, gap_id: str) -> Gap | None:
    """One gap, whatever its state."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM gap WHERE gap_id = ?", (gap_id,)).fetchone()
    return None if row is None else _gap(row)


def begin(connection: sqlite3.Connection, gap: Gap) -> None:
    """Open a gap. One that was covered or expired is opened anew: what was seen of it before does not count."""
    connection.execute("DELETE FROM sighting WHERE gap_id = ?", (gap.gap_id,))
    row = (gap.gap_id, gap.workspace_key, gap.content, gap.opened_at, gap.changed_at, gap.item_id)
    connection.execute(_OPEN, row)


def sight(
    connection: sqlite3.Connection, gap_id: str, conversation_key: str, refs: Sequence[MemorySource], at: Millis
) -> None:
    """Note that a fact was seen in a conversation: once for each, with all that was said of it there."""
    before = {one.conversation_key: one for one in sightings(connection, gap_id)}.get(conversation_key)
    held = () if before is None else before.refs
    merged = tuple(dict.fromkeys((*held, *refs)))
    connection.execute(_SIGHT, (gap_id, conversation_key, msgspec.json.encode(merged).decode(), at))
    connection.execute("UPDATE gap SET changed_at = max(changed_at, ?) WHERE gap_id = ?", (at, gap_id))


def sightings(connection: sqlite3.Connection, gap_id: str) -> tuple[Sighting, ...]:
    """Where a fact was seen, oldest first. Raises StateFault (`state-corrupt`)."""
    statement = "SELECT gap_id, conversation_key, refs, at FROM sighting WHERE gap_id = ? ORDER BY at, conversation_key"
    try:
        return tuple(
            Sighting(gap_id=gap, conversation_key=conversation, refs=_refs.decode(refs), at=at)
            for gap, conversation, refs, at in connection.execute(statement, (gap_id,))
        )
    except msgspec.MsgspecError as error:
        problem = f"A sighting of {gap_id} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Run `extract --recover`.") from error


def cover(connection: sqlite3.Connection, gap_id: str, memory_id: str, at: Millis) -> None:
    """The fact is remembered, or waits for a person, as `memory_id`: its words are there from now on."""
    _end(connection, gap_id, GapState.COVERED, memory_id, at)


def expire(connection: sqlite3.Connection, before: Millis, at: Millis) -> tuple[str, ...]:
    """Let go of the open gaps that were seen last before `before`; the ids of their items."""
    old = connection.execute(_OLD, (before,)).fetchall()
    for gap_id, _ in old:
        _end(connection, gap_id, GapState.EXPIRED, None, at)
    return tuple(item_id for _, item_id in old if item_id)


def forget(connection: sqlite3.Connection, item_ids: Iterable[str], at: Millis) -> None:
    """The items or records of these ids are forgotten: so are the gaps that they stand for, with all words."""
    for item_id in item_ids:
        statement = "SELECT gap_id FROM gap WHERE item_id = ? OR covered_by = ?"
        for (gap_id,) in connection.execute(statement, (item_id, item_id)).fetchall():
            _end(connection, gap_id, GapState.EXPIRED, None, at)


def _end(connection: sqlite3.Connection, gap_id: str, state: GapState, by: str | None, at: Millis) -> None:
    connection.execute(_END, (state, by, at, gap_id))
    connection.execute("DELETE FROM sighting WHERE gap_id = ?", (gap_id,))


def _gap(row: Sequence[Any]) -> Gap:
    try:
        return Gap(
            gap_id=row[0],
            workspace_key=row[1],
            content=row[2],
            state=GapState(row[3]),
            opened_at=row[4],
            changed_at=row[5],
            covered_by=row[6],
            item_id=row[7],
        )
    except ValueError as error:
        raise StateFault(
            "state-corrupt", f"The gap {row[0]} cannot be read: {error}.", "Run `extract --recover`."
        ) from error
