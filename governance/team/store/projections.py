"""Approved entries as they stand in a worktree's files: rows that comparison reads instead of the files (team.md 4).

Functions over a connection, for the caller's transaction. A sync replaces the whole: what has not changed keeps its
row, and the generation is compared and set, so that of two syncs at once one begins again.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from governance.team.contracts.staging import EntryType
from governance.team.contracts.turns import Strength, Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import texts
from governance.team.store.texts import Row, Source
from recall.analyzer import ANALYZER
from recall.contracts import Frozen, Millis

_COLUMNS = "memory_id, path, digest, status, entry"
_SELECT = f"SELECT {_COLUMNS} FROM team_entry WHERE worktree_key = ?"
_PUT = f"INSERT OR REPLACE INTO team_entry (worktree_key, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_HELD = (
    "SELECT f.target_path FROM team_plan_file f JOIN team_plan p ON p.plan_id = f.plan_id WHERE p.worktree_key = ?"
    " AND p.state IN ('approved', 'applying') AND f.target_path IN (SELECT value FROM json_each(?))"
)
APPROVED = "approved"
_encoder = msgspec.json.Encoder(order="sorted")  # texts stay as they are, so that their digests do


class EntryFacts(Frozen, frozen=True, kw_only=True):
    """What an entry's file says. `flagged`: the screen holds it back, and no search gives it."""

    content: str
    type: EntryType
    scene: str | None
    strength: Strength
    support: Support
    limitations: tuple[str, ...]
    occurred: tuple[str, ...]
    commits: tuple[str, ...]
    paths: tuple[str, ...]
    priority: int
    superseded_by: str | None = None
    flagged: bool = False


class EntryRow(Frozen, frozen=True, kw_only=True):
    """An entry of the worktree. `path`: relative to its top; `digest`: SHA-256 of the file's bytes."""

    memory_id: str
    path: str
    digest: str
    status: str  # approved | deprecated
    entry: EntryFacts


def row(connection: sqlite3.Connection, worktree_key: str) -> Row:
    """How far the approved projection has come."""
    return texts.row(connection, worktree_key, Source.APPROVED)


def entry(connection: sqlite3.Connection, worktree_key: str, memory_id: str) -> EntryRow | None:
    """One entry. Raises TeamFault `state-corrupt` for a row that cannot be read."""
    found = connection.execute(f"{_SELECT} AND memory_id = ?", (worktree_key, memory_id)).fetchone()
    return None if found is None else _entry(found)


def entries(connection: sqlite3.Connection, worktree_key: str) -> tuple[EntryRow, ...]:
    """All of them by id. Raises TeamFault `state-corrupt`."""
    return tuple(_entry(found) for found in connection.execute(f"{_SELECT} ORDER BY memory_id", (worktree_key,)))


def digests(connection: sqlite3.Connection, worktree_key: str) -> dict[tuple[str, str], str]:
    """(memory id, path) -> digest of the file, of all entries."""
    statement = "SELECT memory_id, path, digest FROM team_entry WHERE worktree_key = ?"
    return {(memory_id, path): digest for memory_id, path, digest in connection.execute(statement, (worktree_key,))}


def nearest(
    connection: sqlite3.Connection, worktree_key: str, terms: Sequence[str], limit: int
) -> tuple[EntryRow, ...]:
    """Approved entries that hold any of these terms, best first."""
    found = texts.Search(connection, worktree_key, Source.APPROVED).nearest(terms, limit)
    return named(connection, worktree_key, found)


def named(connection: sqlite3.Connection, worktree_key: str, memory_ids: Sequence[str]) -> tuple[EntryRow, ...]:
    """The entries of these ids, in their order; what is not there is left out."""
    rows = (entry(connection, worktree_key, memory_id) for memory_id in memory_ids)
    return tuple(one for one in rows if one is not None)


def held(connection: sqlite3.Connection, worktree_key: str, paths: Collection[str]) -> frozenset[str]:
    """Those of these files that an approved or applying plan is about."""
    listed = _encoder.encode(sorted(paths)).decode()
    return frozenset(path for (path,) in connection.execute(_HELD, (worktree_key, listed)))


class Replacement(Frozen, frozen=True, kw_only=True):
    """What a tree says. `changed`: entries that are new or other than their row; `gone`: ids that it has no more."""

    tree_digest: str
    changed: tuple[EntryRow, ...]
    gone: tuple[str, ...]


def replace(
    connection: sqlite3.Connection, worktree_key: str, generation: int, made: Replacement, at: Millis
) -> Row | None:
    """Put the rows of a tree in the place of what was there. None: it is not at `generation` any more."""
    if row(connection, worktree_key).generation != generation:
        return None
    for memory_id in made.gone:
        connection.execute("DELETE FROM team_entry WHERE worktree_key = ? AND memory_id = ?", (worktree_key, memory_id))
        texts.drop(connection, worktree_key, Source.APPROVED, memory_id)
    for one in made.changed:
        about = (one.path, one.digest, one.status, _encoder.encode(one.entry).decode())
        connection.execute(_PUT, (worktree_key, one.memory_id, *about))
        if one.status == APPROVED and not one.entry.flagged:
            texts.put(connection, worktree_key, Source.APPROVED, one.memory_id, one.entry.content)
        else:
            texts.drop(connection, worktree_key, Source.APPROVED, one.memory_id)
    now = Row(generation=generation + 1, analyzer_version=ANALYZER, tree_digest=made.tree_digest, complete=True)
    texts.put_row(connection, worktree_key, Source.APPROVED, now, at)
    return now


def partial(connection: sqlite3.Connection, worktree_key: str, problem: str, at: Millis) -> Row:
    """The files could not be read all: nothing is compared until they can."""
    before = row(connection, worktree_key)
    now = msgspec.structs.replace(before, complete=False, problem=problem)
    texts.put_row(connection, worktree_key, Source.APPROVED, now, at)
    return now


def _entry(found: tuple[Any, ...]) -> EntryRow:
    memory_id, path, digest, status, facts = found
    try:
        plain = msgspec.json.decode(facts, type=EntryFacts)
    except msgspec.MsgspecError as error:
        problem = f"The row of the entry {memory_id} cannot be read: {error}."
        raise TeamFault(Kind.STATE_CORRUPT, problem, "Nothing was changed. See what `doctor` says.") from None
    return EntryRow(memory_id=memory_id, path=path, digest=digest, status=status, entry=plain)
