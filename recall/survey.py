"""Looking over the index: what `lint` goes through, and what a search leaves out (M-05, M-06). Read connection only.

Everything is of what can be seen from where the question is asked, and everything is bounded.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from recall.contracts import (
    Flag,
    Frozen,
    MemoryLocator,
    MemoryRecord,
    Millis,
    Origin,
    RuntimeScope,
    Scope,
    ScopeRef,
    Status,
    visible_scopes,
)
from recall.lookup import View, seen_scopes, unpack
from recall.rank import DropReason
from recall.records import Reported, locator

LOOKED_AT = 2_000  # records aside that one search looks at, the newest first
NAMED = 20  # of them are named
SHARE = 0.5  # of the query's terms that such a record must hold
MOST_REPORTED = 1_000

_WALK = (
    "SELECT r.memory_id, t.folder, f.relative, f.version, r.line_start, r.line_end, r.byte_start, r.byte_end, r.digest,"
    " r.id, r.body, t.provider, r.eligible FROM record r JOIN file f ON f.id = r.file JOIN root t ON t.id = f.root"
    " WHERE r.id > ? AND r.standing = 'live' AND r.scope IN (SELECT value FROM json_each(?)) ORDER BY r.id LIMIT ?"
)
_ASIDE = "SELECT memory_id, terms, body, standing FROM record WHERE scope = ?"
_NOT_SEARCHABLE = _ASIDE + " AND searchable = 0 AND eligible != 2 AND standing != 'copy' ORDER BY created DESC LIMIT ?"
_UNTIMELY = (
    _ASIDE + " AND searchable = 1 AND (valid_from IS NOT NULL OR expires IS NOT NULL)"
    " AND (valid_from > ? OR expires <= ?) ORDER BY created DESC LIMIT ?"
)
_SEEN_ROOTS = "WITH seen AS (SELECT id, folder, path FROM root WHERE scope_kind || '~' || scope_key IN ({}))"


_ANYWHERE = _WALK[: _WALK.index(" WHERE")]
_BY_ID = _ANYWHERE + (
    " WHERE r.memory_id IN (SELECT value FROM json_each(?)) AND r.standing = 'live' ORDER BY r.memory_id, r.id"
)
_ALL = _ANYWHERE + " WHERE r.id > ? AND r.standing = 'live' ORDER BY r.id LIMIT ?"
_KEPT_BACK = _ANYWHERE + (
    " WHERE r.scope = ? AND r.searchable = 0 AND r.eligible = 0 AND r.standing = 'live' ORDER BY r.created DESC LIMIT ?"
)


class Walked(Frozen, frozen=True, kw_only=True):
    """A record on the walk. `row`: where to go on. `eligible`: its words and flags let it be proposed."""

    row: int
    record: MemoryRecord
    locator: MemoryLocator
    provider: str
    eligible: bool


class LeftOut(Frozen, frozen=True, kw_only=True):
    """A record that fits a query and is no answer, and why: a reason of `recall.rank.DropReason`."""

    memory_id: str
    reason: str


class Overview(Frozen, frozen=True, kw_only=True):
    """How many files and records can be seen, which folders are missing, and what of the files is not used."""

    files: int
    records: int
    missing: tuple[str, ...]
    reported: tuple[Reported, ...]


class SharedRoot(Frozen, frozen=True, kw_only=True):
    """The memory folder of a repository's worktree, as the index has it. `top`: that of the worktree."""

    path: str
    top: str
    scope: ScopeRef
    origin: Origin


def shared_roots(connection: sqlite3.Connection) -> tuple[SharedRoot, ...]:
    """The memory folders of repositories that were ever met, also of those where no session is."""
    rows = connection.execute(
        "SELECT path, top, scope_kind, scope_key, origin FROM root"
        " WHERE origin IN ('imported', 'reviewed') AND provider = '' AND top != '' ORDER BY path"
    )
    return tuple(
        SharedRoot(path=path, top=top, scope=ScopeRef(kind=Scope(kind), key=key), origin=Origin(origin))
        for path, top, kind, key, origin in rows
    )


def entries_in(connection: sqlite3.Connection, workspace: str) -> tuple[str, ...]:
    """The ids of live records that a repository's own memory folders hold."""
    rows = connection.execute(
        "SELECT DISTINCT r.memory_id FROM root t JOIN file f ON f.root = t.id JOIN record r ON r.file = f.id"
        " WHERE t.scope_key = ? AND t.origin IN ('imported', 'reviewed') AND t.provider = '' AND t.top != ''"
        " AND r.standing = 'live' ORDER BY 1",
        (workspace,),
    )
    return tuple(row[0] for row in rows)


def counted(connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
    """Of each worktree that has memory of its repository: its top, the workspace key, and how many records."""
    rows = connection.execute(
        "SELECT t.top, t.scope_key, count(r.id) FROM root t JOIN file f ON f.root = t.id JOIN record r ON r.file = f.id"
        " WHERE t.origin IN ('imported', 'reviewed') AND t.provider = '' AND t.top != '' GROUP BY t.id ORDER BY t.top"
    )
    return {top: (workspace, count) for top, workspace, count in rows}


def walk(connection: sqlite3.Connection, scope: RuntimeScope, after: int, limit: int) -> tuple[Walked, ...]:
    """Live records that can be seen from there, whatever their status, in the order of their rows."""
    scopes = json.dumps([seen[0] for seen in seen_scopes(connection, scope)])
    return tuple(_walked(row) for row in connection.execute(_WALK, (after, scopes, limit)))


def anywhere(connection: sqlite3.Connection, memory_ids: Sequence[str]) -> tuple[Walked, ...]:
    """Live records of these ids, whosever they are: for what is done in nobody's name and shown to nobody."""
    return tuple(_walked(row) for row in connection.execute(_BY_ID, (json.dumps(list(memory_ids)),)))


def everything(connection: sqlite3.Connection, after: int, limit: int) -> tuple[Walked, ...]:
    """Live records whosever they are, in the order of their rows. As `anywhere`."""
    return tuple(_walked(row) for row in connection.execute(_ALL, (after, limit)))


def kept_back(connection: sqlite3.Connection, scope: RuntimeScope) -> tuple[Walked, ...]:
    """Active records that can be seen from there and are proposed to nobody, newest first: a screen or a flag keeps
    them back."""
    rows = [
        _walked(row)
        for seen in seen_scopes(connection, scope)
        for row in connection.execute(_KEPT_BACK, (seen[0], LOOKED_AT))
    ]
    return tuple(one for one in rows if one.record.status is Status.ACTIVE and one.record.superseded_by is None)


def left_out(connection: sqlite3.Connection, terms: Sequence[str], view: View) -> tuple[LeftOut, ...]:
    """Records that hold half of the terms or more and are left out, the best fitting and newest first."""
    asked = frozenset(terms)
    found: list[tuple[float, int, LeftOut]] = []
    for memory_id, held, body, standing in _aside(connection, view):
        share = len(asked.intersection(held.split("\n"))) / max(1, len(asked))
        if share < SHARE:
            continue
        record = unpack(body)
        reason = DropReason.INDEX_CONFLICT if standing == "conflict" else _reason(record, view.now)
        found.append((-share, -record.created_at, LeftOut(memory_id=memory_id, reason=reason)))
    found.sort(key=lambda one: (one[0], one[1], one[2].memory_id))
    return tuple(dict.fromkeys(one for _, _, one in found))[:NAMED]


def overview(connection: sqlite3.Connection, scope: RuntimeScope) -> Overview:
    """What the roots hold whose own scope can be seen from there."""
    keys = [f"{seen.kind}~{seen.key}" for seen in visible_scopes(scope)]
    roots = _SEEN_ROOTS.format(", ".join("?" * len(keys)) or "NULL")

    def ask(rest: str, *more: object) -> list[Any]:
        return connection.execute(f"{roots} {rest}", (*keys, *more)).fetchall()

    ((files,),) = ask("SELECT count(*) FROM file f JOIN seen ON seen.id = f.root WHERE f.present = 1")
    ((records,),) = ask(
        "SELECT count(*) FROM record r JOIN file f ON f.id = r.file JOIN seen ON seen.id = f.root"
        " WHERE r.standing = 'live'"
    )
    missing = ask(
        "SELECT seen.path FROM seen JOIN root r ON r.id = seen.id WHERE r.missing = 1"
        " AND EXISTS (SELECT 1 FROM file WHERE root = seen.id AND present = 1) ORDER BY 1"
    )
    rows = ask(
        "SELECT seen.folder || '/' || f.relative, 0, f.refused, f.refused, NULL FROM file f"
        " JOIN seen ON seen.id = f.root WHERE f.present = 1 AND f.refused IS NOT NULL"
        " UNION ALL SELECT seen.folder || '/' || f.relative, n.line, n.state, n.problem, n.memory_id FROM finding n"
        " JOIN file f ON f.id = n.file JOIN seen ON seen.id = f.root WHERE f.present = 1"
        " UNION ALL SELECT seen.folder || '/' || f.relative, r.line_start, 'duplicate-anchor',"
        " 'The same id stands in another file.', r.memory_id FROM record r JOIN file f ON f.id = r.file"
        " JOIN seen ON seen.id = f.root WHERE r.standing = 'conflict' ORDER BY 1, 2 LIMIT ?",
        MOST_REPORTED,
    )
    reported = (Reported(file=f, line=n, state=state, problem=why, memory_id=of) for f, n, state, why, of in rows)
    return Overview(files=files, records=records, missing=tuple(row[0] for row in missing), reported=tuple(reported))


def known(connection: sqlite3.Connection, memory_ids: Sequence[str], scope: RuntimeScope) -> frozenset[str]:
    """Which of these ids a record has that can be seen from there, whatever its status."""
    scopes = json.dumps([seen[0] for seen in seen_scopes(connection, scope)])
    rows = connection.execute(
        "SELECT DISTINCT memory_id FROM record WHERE memory_id IN (SELECT value FROM json_each(?))"
        " AND scope IN (SELECT value FROM json_each(?))",
        (json.dumps(list(memory_ids)), scopes),
    )
    return frozenset(row[0] for row in rows)


def _aside(connection: sqlite3.Connection, view: View) -> Iterator[Any]:
    for scope, _, _ in seen_scopes(connection, view.scope):
        yield from connection.execute(_NOT_SEARCHABLE, (scope, LOOKED_AT)).fetchall()
        yield from connection.execute(_UNTIMELY, (scope, view.now, view.now, LOOKED_AT)).fetchall()


def _reason(record: MemoryRecord, now: Millis) -> DropReason:
    if record.status is not Status.ACTIVE or record.superseded_by is not None:
        return DropReason.NOT_ACTIVE
    if record.expires_at is not None and record.expires_at <= now:
        return DropReason.EXPIRED
    if record.valid_from is not None and record.valid_from > now:
        return DropReason.NOT_YET_VALID
    return DropReason.CORRECTED if Flag.CORRECTED in record.flags else DropReason.QUARANTINED


def _walked(row: Sequence[Any]) -> Walked:
    number, body, provider, eligible = row[9:]
    return Walked(row=number, record=unpack(body), locator=locator(row), provider=provider, eligible=bool(eligible))
