"""Records by id, by file and by age: what claims, evidence and people ask of the index (M-06). Read connection only."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from recall.contracts import Frozen, MemoryLocator, MemoryRecord, RecordState, RuntimeScope
from recall.entries import ASIDE, Span
from recall.files import Finding
from recall.lookup import seen_scopes, unpack

MOST_FINDINGS = 500
_PLACED = (
    "SELECT r.memory_id, t.folder, f.relative, f.version, r.line_start, r.line_end, r.byte_start, r.byte_end, r.digest,"
    " r.body, t.path FROM record r JOIN file f ON f.id = r.file JOIN root t ON t.id = f.root"
)
_SCOPES = " AND +r.scope IN (SELECT value FROM json_each(?))"  # +: found by id, never by going through a scope


class Placed(Frozen, frozen=True, kw_only=True):
    """A record, where it stands, and the root and file it is of."""

    record: MemoryRecord
    locator: MemoryLocator
    root: str
    relative: str


class Listed(Frozen, frozen=True, kw_only=True):
    """One page of records, newest first; `next` asks for the following one."""

    records: tuple[MemoryRecord, ...]
    next: str | None = None


class Reported(Frozen, frozen=True, kw_only=True):
    """Something that is not used, for `doctor`: a file as a whole (line 0) or a place in it."""

    file: str
    line: int
    state: str
    problem: str
    memory_id: str | None = None


class LibraryStatus(Frozen, frozen=True, kw_only=True):
    """How the library stands. `missing`: roots whose folder is not there; their records are kept."""

    version: str
    files: int
    records: int
    searchable: int
    missing: tuple[str, ...] = ()
    findings: tuple[Reported, ...] = ()
    damaged: bool = False
    problem: str = ""


class KeptFile(Frozen, frozen=True, kw_only=True):
    """A file as the index has it, with its records: (record, record digest, where it stands)."""

    relative: str
    digest: str
    refused: str | None
    findings: tuple[Finding, ...]
    records: tuple[tuple[MemoryRecord, str, Span], ...]


def digests(connection: sqlite3.Connection, ids: Iterable[str], scope: RuntimeScope | None) -> dict[str, str]:
    """Record digests of live, eligible records. An id that is two things in what can be seen is left out."""
    rows = _by_ids(connection, "SELECT DISTINCT r.memory_id, r.digest FROM record r", ids, scope)
    found: dict[str, set[str]] = {}
    for memory_id, digest in rows:
        found.setdefault(memory_id, set()).add(digest)
    return {memory_id: next(iter(seen)) for memory_id, seen in found.items() if len(seen) == 1}


def stamps(
    connection: sqlite3.Connection, ids: Iterable[str], scope: RuntimeScope | None
) -> list[tuple[str, str, str, str]]:
    """(root path, relative path, stamp, memory id) of the files that hold these records."""
    select = (
        "SELECT DISTINCT t.path, f.relative, f.stamp, r.memory_id FROM record r"
        " JOIN file f ON f.id = r.file JOIN root t ON t.id = f.root"
    )
    return _by_ids(connection, select, ids, scope)


def located(connection: sqlite3.Connection, root: str, relative: str) -> tuple[MemoryLocator, ...]:
    """Locators of the records of one file, in its order."""
    rows = connection.execute(
        _PLACED + " WHERE t.path = ? AND f.relative = ? AND r.standing != 'conflict' ORDER BY r.byte_start",
        (root, relative),
    )
    return tuple(locator(row) for row in rows)


def file_digest(connection: sqlite3.Connection, root: str, relative: str) -> str | None:
    """The digest of a file as indexed."""
    row = connection.execute(
        "SELECT f.digest FROM file f JOIN root t ON t.id = f.root"
        " WHERE t.path = ? AND f.relative = ? AND f.present = 1 AND f.refused IS NULL",
        (root, relative),
    ).fetchone()
    return row[0] if row else None


def kept(connection: sqlite3.Connection, root: str, names: Sequence[str]) -> list[KeptFile]:
    """All that the index holds of files of a root."""
    files = connection.execute(
        "SELECT f.id, f.relative, f.digest, f.refused FROM file f JOIN root t ON t.id = f.root"
        " WHERE t.path = ? AND f.present = 1 AND f.relative IN (SELECT value FROM json_each(?))",
        (root, json.dumps(list(names))),
    ).fetchall()
    return [
        KeptFile(
            relative=relative,
            digest=digest,
            refused=refused,
            findings=tuple(
                Finding(state=RecordState(state), line=line, memory_id=memory_id, problem=problem)
                for state, line, memory_id, problem in connection.execute(
                    "SELECT state, line, memory_id, problem FROM finding WHERE file = ?", (file,)
                )
            ),
            records=tuple(
                (unpack(body), record_digest, (line_start, line_end, byte_start, byte_end))
                for body, record_digest, line_start, line_end, byte_start, byte_end in connection.execute(
                    "SELECT body, digest, line_start, line_end, byte_start, byte_end FROM record WHERE file = ?",
                    (file,),
                )
            ),
        )
        for file, relative, digest, refused in files
    ]


def one(connection: sqlite3.Connection, memory_id: str, scope: RuntimeScope) -> Placed | None:
    """A live record that can be seen from there, whatever its status."""
    row = connection.execute(
        _PLACED + " WHERE r.memory_id = ? AND r.standing = 'live'" + _SCOPES + " ORDER BY r.scope LIMIT 1",
        (memory_id, _scopes(connection, scope)),
    ).fetchone()
    if row is None:
        return None
    return Placed(record=unpack(row[9]), locator=locator(row), root=row[10], relative=row[2])


def existing(connection: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    """Of these ids, those that a record in any file has."""
    rows = connection.execute(
        "SELECT DISTINCT memory_id FROM record WHERE memory_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {row[0] for row in rows}


def page(connection: sqlite3.Connection, scope: RuntimeScope, limit: int, after: str | None) -> Listed:
    """Live records that can be seen from there, newest first, ties by id. `after`: the `next` of the page before."""
    created, _, memory_id = (after or "").partition(":")
    at = int(created) if created.removeprefix("-").isdecimal() else 2**62
    found: list[tuple[int, str, bytes]] = []
    for row in seen_scopes(connection, scope):
        found += connection.execute(
            "SELECT -created, memory_id, body FROM record WHERE scope = ? AND created <= ? AND standing = 'live'"
            " AND (created < ? OR memory_id > ?) ORDER BY created DESC, memory_id LIMIT ?",
            (row[0], at, at, memory_id, limit + 1),
        )
    found.sort()
    records = tuple(unpack(body) for _, _, body in found[:limit])
    more = len(found) > limit and records
    return Listed(records=records, next=f"{records[-1].created_at}:{records[-1].memory_id}" if more else None)


def status(connection: sqlite3.Connection, version: str) -> LibraryStatus:
    """Counts, missing roots, and what is not used and why."""
    files, records, searchable = connection.execute(
        "SELECT (SELECT count(*) FROM file WHERE present = 1), (SELECT count(*) FROM record),"
        " (SELECT coalesce(sum(records), 0) FROM scope)"
    ).fetchone()
    missing = connection.execute(
        "SELECT path FROM root r WHERE missing = 1"
        " AND EXISTS (SELECT 1 FROM file WHERE root = r.id AND present = 1) ORDER BY path"
    ).fetchall()
    rows = connection.execute(
        "SELECT t.folder || '/' || f.relative, 0, f.refused, 'The file is not used.', NULL"
        " FROM file f JOIN root t ON t.id = f.root WHERE f.present = 1 AND f.refused IS NOT NULL"
        " UNION ALL SELECT t.folder || '/' || f.relative, n.line, n.state, n.problem, n.memory_id"
        " FROM finding n JOIN file f ON f.id = n.file JOIN root t ON t.id = f.root"
        " UNION ALL SELECT t.folder || '/' || f.relative, r.line_start, 'duplicate-anchor',"
        " 'The same id stands in another file.', r.memory_id"
        " FROM record r JOIN file f ON f.id = r.file JOIN root t ON t.id = f.root WHERE r.standing = 'conflict'"
        " ORDER BY 1, 2 LIMIT ?",
        (MOST_FINDINGS,),
    )
    findings = tuple(
        Reported(file=file, line=line, state=state, problem=problem, memory_id=memory_id)
        for file, line, state, problem, memory_id in rows
    )
    return LibraryStatus(
        version=version,
        files=files,
        records=records,
        searchable=searchable,
        missing=tuple(row[0] for row in missing),
        findings=findings,
    )


def _by_ids(connection: sqlite3.Connection, select: str, ids: Iterable[str], scope: RuntimeScope | None) -> list[Any]:
    live = f"(r.searchable = 1 OR r.eligible = {ASIDE} AND r.standing = 'live')"
    where = f" WHERE {live} AND r.memory_id IN (SELECT value FROM json_each(?))"
    asked = json.dumps(list(ids))
    if scope is None:
        return connection.execute(select + where, (asked,)).fetchall()
    return connection.execute(select + where + _SCOPES, (asked, _scopes(connection, scope))).fetchall()


def _scopes(connection: sqlite3.Connection, scope: RuntimeScope) -> str:
    return json.dumps([row[0] for row in seen_scopes(connection, scope)])


def locator(row: Sequence[Any]) -> MemoryLocator:
    """Where the record stands that a row begins with, as this module's questions begin."""
    memory_id, folder, relative, version, line_start, line_end, byte_start, byte_end, digest = row[:9]
    return MemoryLocator(
        memory_id=memory_id,
        anchor_id=f"memory:{memory_id}",
        source_file=f"{folder}/{relative}",
        source_version=version,
        line_start=line_start,
        line_end=line_end,
        byte_start=byte_start,
        byte_end=byte_end,
        record_digest=digest,
    )
