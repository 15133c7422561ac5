"""Scenes, personas, doctrines and skills, kept: what each is beside its file, and what waiting items would make of
them.

Functions over a connection, for the caller's transaction. A row that cannot be read is a StateFault, never "there is
none".
"""

import sqlite3
from collections.abc import Collection
from typing import Any, TypeVar

import msgspec

from governance.formation.applying import ChangeSet, ChangeState
from governance.formation.contracts import KeptDocument
from governance.formation.errors import StateFault

T = TypeVar("T")
_encoder = msgspec.json.Encoder(order="sorted")
_KEPT = KeptDocument.__struct_fields__
_KEPT_JSON = frozenset({"meta", "evidence", "scene_versions"})
_CHANGE = ChangeSet.__struct_fields__
_CHANGE_JSON = frozenset({"changes", "read_set", "scene_versions", "journal"})
_ROWS = f"SELECT {', '.join(_KEPT)} FROM document WHERE workspace_key = ? ORDER BY document_id"
_PUT = (
    f"INSERT INTO document (workspace_key, {', '.join(_KEPT)}) VALUES (?, {', '.join('?' * len(_KEPT))})"
    " ON CONFLICT (workspace_key, document_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _KEPT if name != "document_id")
)
_SELECT_CHANGE = f"SELECT {', '.join(_CHANGE)} FROM document_change"
_PUT_CHANGE = (
    f"INSERT INTO document_change ({', '.join(_CHANGE)}) VALUES ({', '.join('?' * len(_CHANGE))})"
    " ON CONFLICT (item_id) DO UPDATE SET read_set = excluded.read_set, run_id = excluded.run_id,"
    " changes = excluded.changes, scene_versions = excluded.scene_versions, at = excluded.at"
    " WHERE document_change.state = 'waiting'"
)
_MOVE = "UPDATE document_change SET state = ?, journal = ?, changes = ? WHERE item_id = ?"
_OTHERS = (
    "SELECT item_id FROM document_change WHERE workspace_key = ? AND state = ?"
    " AND json_extract(changes, '$[0].documentId') = ? AND item_id != ? ORDER BY item_id"
)
_CITING = (
    " WHERE EXISTS (SELECT 1 FROM json_each(changes) AS change, json_each(change.value, '$.evidence') AS evidence"
    " WHERE json_extract(evidence.value, '$.id') IN (SELECT value FROM json_each(?)))"
)
_RESTING = (
    "SELECT workspace_key, name FROM document WHERE state = 'live' AND EXISTS (SELECT 1 FROM json_each(evidence) AS one"
    " WHERE json_extract(one.value, '$.id') IN (SELECT value FROM json_each(?))) ORDER BY workspace_key, name"
)


def rows(connection: sqlite3.Connection, workspace_key: str) -> tuple[KeptDocument, ...]:
    """Every document that was ever kept of a workspace, those that are gone too."""
    return tuple(_of(KeptDocument, _KEPT_JSON, row) for row in connection.execute(_ROWS, (workspace_key,)).fetchall())


def put(connection: sqlite3.Connection, workspace_key: str, document: KeptDocument) -> None:
    """Write down what a document is now."""
    connection.execute(_PUT, (workspace_key, *_values(document, _KEPT, _KEPT_JSON)))


def change(connection: sqlite3.Connection, item_id: str) -> ChangeSet | None:
    """What an item would make, or made, of documents."""
    row = connection.execute(f"{_SELECT_CHANGE} WHERE item_id = ?", (item_id,)).fetchone()
    return None if row is None else _of(ChangeSet, _CHANGE_JSON, row)


def put_change(connection: sqlite3.Connection, made: ChangeSet) -> None:
    """Write a proposal down. Proposed again while it waits, it holds for what was read now."""
    connection.execute(_PUT_CHANGE, _values(made, _CHANGE, _CHANGE_JSON))


def move(connection: sqlite3.Connection, made: ChangeSet) -> None:
    """Write down how far a change is, and what it says now."""
    connection.execute(_MOVE, (made.state, _json(made.journal), _json(made.changes), made.item_id))


def of_run(connection: sqlite3.Connection, workspace_key: str, run_id: str) -> frozenset[str]:
    """The items of a run: what they did to documents was made beside one another."""
    statement = "SELECT item_id FROM document_change WHERE workspace_key = ? AND run_id = ?"
    return frozenset(row[0] for row in connection.execute(statement, (workspace_key, run_id)))


def others(connection: sqlite3.Connection, made: ChangeSet) -> tuple[str, ...]:
    """The items of other changes of the same document that were not applied."""
    given = (made.workspace_key, ChangeState.WAITING, made.changes[0].document_id, made.item_id)
    return tuple(row[0] for row in connection.execute(_OTHERS, given))


def applying(connection: sqlite3.Connection) -> tuple[ChangeSet, ...]:
    """The changes whose files were being written when the process ended."""
    statement = f"{_SELECT_CHANGE} WHERE state = ? ORDER BY at, item_id"
    found = connection.execute(statement, (ChangeState.APPLYING,)).fetchall()
    return tuple(_of(ChangeSet, _CHANGE_JSON, row) for row in found)


def forget(connection: sqlite3.Connection, ids: Collection[str]) -> tuple[str, ...]:
    """Delete the changes that rest on one of these memories, with their words; their items."""
    wanted = (_json(sorted(ids)),)
    found = connection.execute(f"SELECT item_id FROM document_change{_CITING}", wanted).fetchall()
    connection.execute(f"DELETE FROM document_change{_CITING}", wanted)
    return tuple(row[0] for row in found)


def resting_on(connection: sqlite3.Connection, ids: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The documents that rest on one of these memories: workspace and name."""
    return tuple((row[0], row[1]) for row in connection.execute(_RESTING, (_json(sorted(ids)),)))


def _of(kind: type[T], as_json: frozenset[str], row: tuple[Any, ...]) -> T:
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)  # type: ignore[attr-defined]  # T is a Struct
    try:
        fields = {
            encoded: msgspec.json.decode(value) if name in as_json and value is not None else value
            for (name, encoded), value in zip(names, row, strict=True)
        }
        return msgspec.convert(fields, kind)
    except (msgspec.DecodeError, ValueError) as error:
        problem = f"A row of {kind.__name__} cannot be read."
        raise StateFault("state-corrupt", problem, "Put governance.db back from a copy.") from error


def _values(one: object, names: tuple[str, ...], as_json: frozenset[str]) -> list[Any]:
    return [_json(getattr(one, name)) if name in as_json else getattr(one, name) for name in names]


def _json(value: object) -> str | None:
    return None if value is None else _encoder.encode(value).decode()
