"""Rows of the review queue and of the decisions about them: plain functions over a connection."""

import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from governance.formation.errors import StateFault
from governance.review import Act, Citation, Decision, ItemKind, Principal, QueueItem, State
from recall.contracts import Frozen

_LISTS = frozenset({"citations", "flags", "related_to", "evidence"})  # kept as JSON
_COLUMNS = tuple(name for name in QueueItem.__struct_fields__ if name != "decisions")
_ENCODED = dict(zip(QueueItem.__struct_fields__, QueueItem.__struct_encode_fields__, strict=True))
SELECT = f"SELECT {', '.join(_COLUMNS)} FROM queue"
_INSERT = f"INSERT INTO queue ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_CHANGE = (
    "UPDATE queue SET state = ?, revision = ?, title = ?, text = ?, record_id = ?, changed_at = ?"
    " WHERE item_id = ? AND revision = ?"
)
_REDO = "UPDATE queue SET state = ?, revision = ?, changed_at = ? WHERE item_id = ?"
_DECISION = "INSERT OR IGNORE INTO decision (item_id, revision, kind, actor, reason, at) VALUES (?, ?, ?, ?, ?, ?)"
_DECISIONS = "SELECT revision, kind, actor, reason, at FROM decision WHERE item_id = ? ORDER BY revision"
_EMPTIED = "UPDATE queue SET title = '', text = '', citations = ? WHERE item_id = ?"


class QueueFilter(Frozen, frozen=True, kw_only=True):
    """Which items are asked for; newest first. Empty: all. `after`: the `next` of the page before. `flagged`: only
    those with a flag."""

    states: tuple[State, ...] = ()
    kinds: tuple[ItemKind, ...] = ()
    workspaces: tuple[str, ...] = ()
    pipelines: tuple[str, ...] = ()
    flagged: bool = False
    record_id: str | None = None
    limit: int = 50
    after: str | None = None


def insert(connection: sqlite3.Connection, item: QueueItem) -> None:
    """Add a row. Raises sqlite3.IntegrityError when the id stands there."""
    plain = msgspec.structs.replace(item, changed_at=item.changed_at or item.created_at)
    row = [
        msgspec.json.encode(getattr(plain, name)).decode() if name in _LISTS else getattr(plain, name)
        for name in _COLUMNS
    ]
    connection.execute(_INSERT, row)


def change(connection: sqlite3.Connection, done: QueueItem, decision: Decision) -> None:
    """The item after a decision, and the decision."""
    now = (done.state, done.revision, done.title, done.text, done.record_id, done.changed_at)
    connection.execute(_CHANGE, (*now, done.item_id, decision.expected_revision))
    decide(connection, done.item_id, decision)


def decide(connection: sqlite3.Connection, item_id: str, decision: Decision) -> None:
    """Write a decision down; one that stands there stays."""
    row = (item_id, decision.expected_revision, decision.kind, decision.actor, decision.reason, decision.at)
    connection.execute(_DECISION, row)


def redo(connection: sqlite3.Connection, item: QueueItem, state: State, decision: Decision) -> None:
    """Have an item stand as a decision left it that was written down already. Its words stay."""
    connection.execute(_REDO, (state, decision.expected_revision + 1, decision.at, item.item_id))


def decisions(connection: sqlite3.Connection, item_id: str) -> tuple[Decision, ...]:
    """What was decided about an item, in order."""
    return tuple(
        Decision(actor=Principal(actor), kind=Act(kind), at=at, expected_revision=revision, reason=reason)
        for revision, kind, actor, reason, at in connection.execute(_DECISIONS, (item_id,))
    )


def get(connection: sqlite3.Connection, item_id: str) -> QueueItem | None:
    """One item with its decisions. Raises StateFault for a row that cannot be read."""
    row = connection.execute(f"{SELECT} WHERE item_id = ?", (item_id,)).fetchone()
    return None if row is None else msgspec.structs.replace(item(row), decisions=decisions(connection, item_id))


def item(row: Iterable[Any]) -> QueueItem:
    """An item out of its row, without its decisions. Raises StateFault (`state-corrupt`) when it cannot be read."""
    plain = dict(zip(_COLUMNS, row, strict=True))
    try:
        fields = {
            _ENCODED[name]: msgspec.json.decode(value) if name in _LISTS else value for name, value in plain.items()
        }
        return msgspec.convert(fields, QueueItem)
    except msgspec.MsgspecError as error:
        problem = f"The item {plain['item_id']} of the review queue cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Nothing was changed. See what `doctor` says.") from None


def empty(connection: sqlite3.Connection, item_id: str, citations: Iterable[Citation]) -> None:
    """Leave no word of an item: of what it cites, what is given."""
    connection.execute(_EMPTIED, (msgspec.json.encode(list(citations)).decode(), item_id))
    connection.execute("UPDATE decision SET reason = '' WHERE item_id = ?", (item_id,))


def where(wanted: QueueFilter) -> tuple[list[str], list[Any]]:
    """The conditions of a filter, and their values."""
    parts: list[str] = []
    given: list[Any] = []
    for column, values in (
        ("state", wanted.states),
        ("kind", wanted.kinds),
        ("workspace_key", wanted.workspaces),
        ("pipeline", wanted.pipelines),
        ("record_id", () if wanted.record_id is None else (wanted.record_id,)),
    ):
        if values:
            parts.append(f"{column} IN ({', '.join('?' * len(values))})")
            given += [str(value) for value in values]
    if wanted.flagged:
        parts.append("flags != '[]'")
    return parts, given
