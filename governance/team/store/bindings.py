"""Worktrees as they were bound (team.md 3), and what this installation drew once: the secret that names are keyed with,
and the name of this database.

Plain functions over a connection, for the caller's transaction. A row that cannot be read is `state-corrupt`.
"""

import sqlite3
from typing import Any

import msgspec

from governance.team.contracts.base import Bound, Owner, RepositoryBinding
from governance.team.errors import Kind, TeamFault
from recall.canonical import canonical
from recall.contracts import Frozen, Millis

SECRET_BYTES = 32
_SECRET, _NAME = "names", "database"

_KEEP = "INSERT OR IGNORE INTO team_secret (name, value) VALUES (?, ?)"
_KEPT = "SELECT name, value FROM team_secret WHERE name IN (?, ?)"
_COLUMNS = "worktree_key, repository_key, root_digest, workspace_key, root, document"
_PUT = (
    f"INSERT INTO team_binding ({_COLUMNS}, bound_at, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (worktree_key) DO UPDATE SET root_digest = excluded.root_digest,"
    " workspace_key = excluded.workspace_key, root = excluded.root, document = excluded.document,"
    " seen_at = excluded.seen_at"
)
_ROWS = "SELECT root, workspace_key, document FROM team_binding"
_BY_TREE = f"{_ROWS} WHERE worktree_key = ?"
_LATEST = f"{_ROWS} WHERE repository_key = ? ORDER BY seen_at DESC, worktree_key LIMIT 1"
_ALL = f"{_ROWS} ORDER BY worktree_key"
_FORGET = ("DELETE FROM team_trust WHERE repository_key = ?", "DELETE FROM team_receipt WHERE repository_key = ?")


class Installation(Frozen, frozen=True, kw_only=True):
    """`secret`: 32 bytes, never sent and never logged; `uuid`: names this database in bindings of documents."""

    secret: bytes
    uuid: str


def installation(connection: sqlite3.Connection, fresh: Installation) -> Installation:
    """What this installation drew: `fresh`, when nothing was drawn before. Raises TeamFault `state-corrupt`."""
    if len(fresh.secret) != SECRET_BYTES:
        raise ValueError(f"the secret has {len(fresh.secret)} bytes, not {SECRET_BYTES}")
    connection.executemany(_KEEP, [(_SECRET, fresh.secret), (_NAME, fresh.uuid.encode())])
    return installed(connection)


def installed(connection: sqlite3.Connection) -> Installation:
    """What was drawn. Raises TeamFault: `state-not-open` before the first binding, `state-corrupt`."""
    rows: dict[str, bytes] = dict(connection.execute(_KEPT, (_SECRET, _NAME)).fetchall())
    if not rows:
        raise TeamFault(Kind.STATE_NOT_OPEN, "No repository was bound yet.", "Call an operation in a repository first.")
    secret, name = rows.get(_SECRET, b""), rows.get(_NAME, b"")
    if len(secret) != SECRET_BYTES or not name:
        raise TeamFault(
            Kind.STATE_CORRUPT, "What names are keyed with cannot be read.", "Move governance.db away and start again."
        )
    return Installation(secret=secret, uuid=name.decode("utf-8", "replace"))


def put(connection: sqlite3.Connection, bound: Bound, at: Millis) -> None:
    """Write a worktree down as it is bound now."""
    row = (
        bound.owner.worktree_key,
        bound.owner.repository_key,
        bound.binding.root_realpath_digest,
        bound.workspace_key,
        bound.root,
        canonical(bound.binding).decode(),
        at,
        at,
    )
    connection.execute(_PUT, row)


def get(connection: sqlite3.Connection, worktree_key: str) -> Bound | None:
    """The worktree of that key, as it was bound last. Raises TeamFault `state-corrupt`."""
    row = connection.execute(_BY_TREE, (worktree_key,)).fetchone()
    return None if row is None else _bound(row)


def needed(connection: sqlite3.Connection, worktree_key: str) -> Bound:
    """The worktree of that key. Raises TeamFault `binding-not-found`, `state-corrupt`."""
    found = get(connection, worktree_key)
    if found is None:
        raise TeamFault(
            Kind.BINDING_NOT_FOUND, "This worktree was not bound yet.", "Call the operation from inside of it."
        )
    return found


def all_bound(connection: sqlite3.Connection) -> tuple[Bound, ...]:
    """Every worktree that was ever bound; whether it is still there is not looked at."""
    return tuple(_bound(row) for row in connection.execute(_ALL).fetchall())


def latest(connection: sqlite3.Connection, repository_key: str) -> Bound | None:
    """That of the worktrees of a repository that was bound last."""
    row = connection.execute(_LATEST, (repository_key,)).fetchone()
    return None if row is None else _bound(row)


def forget_trust(connection: sqlite3.Connection, repository_key: str) -> None:
    """What was said of a repository, and what we wrote into it, holds no more: another one stands in its place."""
    for statement in _FORGET:
        connection.execute(statement, (repository_key,))


def _bound(row: tuple[Any, ...]) -> Bound:
    root, workspace_key, document = row
    try:
        binding = msgspec.json.decode(document, type=RepositoryBinding)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TeamFault(
            Kind.STATE_CORRUPT, f"A binding cannot be read: {error}.", "Move governance.db away and start again."
        ) from error
    owner = Owner(repository_key=binding.repository_key, worktree_key=binding.worktree_key)
    return Bound(owner=owner, binding=binding, root=root, workspace_key=workspace_key)
