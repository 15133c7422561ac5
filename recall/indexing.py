"""Writing the index: one function runs inside one transaction of its database (M-05, M-06).

A record is *live* when its id occurs once in its scope. The same record in two roots (two worktrees of a repository) is
live once and a `copy` otherwise; the same id with different contents, or twice within one root, is a `conflict` and
nobody's: it fails closed until one of them goes. Only live, eligible records are in `posting` and counted in `df`.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from recall.analyzer import ANALYZER
from recall.canonical import short_id
from recall.contracts import Frozen, Origin, RecordState, Scope, ScopeRef
from recall.entries import Entry, FileChange, Known, Place
from recall.files import Finding
from recall.sql import statements

SCHEMA: tuple[str, ...] = (files("recall").joinpath("schema", "001_index.sql").read_text("utf-8"),)
VERSION_PREFIX = "idx_pre_"
_TABLES = ("posting", "df", "record", "scope", "finding", "file", "root", "meta")


class KnownRoot(Frozen, frozen=True, kw_only=True):
    """A root as the index has it."""

    id: int
    scope: ScopeRef
    origin: Origin
    missing: bool


class KnownFile(Frozen, frozen=True, kw_only=True):
    """A file as the index has it."""

    id: int
    digest: str
    version: int
    stamp: str
    refused: str | None


def token(scope: int, term: str) -> str:
    """A term of one scope, as it stands in `posting`."""
    return f"{scope}~{term}"


def analyzer_of(connection: sqlite3.Connection) -> str | None:
    """The analyzer that wrote the index; None for an empty one."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'analyzer'").fetchone()
    return row[0] if row else None


def stored_version(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    return row[0] if row else None


def reset(connection: sqlite3.Connection, reader: str = ANALYZER) -> str:
    """Drop everything and make the tables anew; the new version. Files keep their versions if these can be read."""
    try:
        roots = connection.execute("SELECT * FROM root ORDER BY id").fetchall()
        known = connection.execute("SELECT id, root, relative, digest, version FROM file ORDER BY id").fetchall()
    except sqlite3.DatabaseError:
        roots, known = [], []
    for table in _TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for script in SCHEMA:
        for statement in statements(script):
            connection.execute(statement)
    connection.executemany("INSERT INTO root VALUES (?, ?, ?, ?, ?, ?, ?)", roots)
    connection.executemany(
        "INSERT INTO file (id, root, relative, digest, version, stamp, present) VALUES (?, ?, ?, ?, ?, '', 0)", known
    )
    connection.execute("INSERT INTO meta VALUES ('analyzer', ?)", (reader,))
    return publish(connection)


def find_root(connection: sqlite3.Connection, path: str) -> KnownRoot | None:
    row = connection.execute(
        "SELECT id, scope_kind, scope_key, origin, missing FROM root WHERE path = ?", (path,)
    ).fetchone()
    if row is None:
        return None
    scope = ScopeRef(kind=Scope(row[1]), key=row[2])
    return KnownRoot(id=row[0], scope=scope, origin=Origin(row[3]), missing=bool(row[4]))


def ensure_root(connection: sqlite3.Connection, place: Place, scope: ScopeRef, origin: Origin) -> KnownRoot:
    """The root's row; one whose scope or origin changed has its files read again."""
    known = find_root(connection, place.path)
    if known is None:
        connection.execute(
            "INSERT INTO root (path, folder, scope_kind, scope_key, origin) VALUES (?, ?, ?, ?, ?)",
            (place.path, place.folder, scope.kind, scope.key, origin),
        )
    elif (known.scope, known.origin) != (scope, origin):
        connection.execute(
            "UPDATE root SET scope_kind = ?, scope_key = ?, origin = ? WHERE id = ?",
            (scope.kind, scope.key, origin, known.id),
        )
        connection.execute("UPDATE file SET stamp = '' WHERE root = ?", (known.id,))
    found = find_root(connection, place.path)
    assert found is not None
    return found


def set_missing(connection: sqlite3.Connection, root: int, missing: bool) -> None:
    """Note that the root's folder is not there (its records are kept), or that it is back."""
    connection.execute("UPDATE root SET missing = ? WHERE id = ?", (int(missing), root))


def known_files(connection: sqlite3.Connection, root: int) -> dict[str, KnownFile]:
    """The root's present files by relative path."""
    rows = connection.execute(
        "SELECT relative, id, digest, version, stamp, refused FROM file WHERE root = ? AND present = 1", (root,)
    )
    return {
        relative: KnownFile(id=file, digest=digest, version=version, stamp=stamp, refused=refused)
        for relative, file, digest, version, stamp, refused in rows
    }


def known_records(connection: sqlite3.Connection, root: int, relative: str) -> dict[str, Known]:
    """What the index holds of one file, by memory id."""
    rows = connection.execute(
        "SELECT r.memory_id, r.id, r.mark, r.line_start, r.line_end, r.byte_start, r.byte_end"
        " FROM record r JOIN file f ON f.id = r.file WHERE f.root = ? AND f.relative = ?",
        (root, relative),
    )
    return {memory_id: Known(row, mark, (a, b, c, d)) for memory_id, row, mark, a, b, c, d in rows}


def elsewhere(connection: sqlite3.Connection, memory_ids: Iterable[str], root: int, relative: str) -> set[str]:
    """The other files of the root that hold one of these ids: perhaps the record was moved from there."""
    rows = connection.execute(
        "SELECT DISTINCT f.relative FROM record r JOIN file f ON f.id = r.file"
        " WHERE r.memory_id IN (SELECT value FROM json_each(?)) AND f.root = ? AND f.relative != ?",
        (json.dumps(list(memory_ids)), root, relative),
    )
    return {row[0] for row in rows}


def apply(connection: sqlite3.Connection, root: int, changes: Sequence[FileChange], gone: Iterable[str]) -> None:
    """Take in files of one root as they are now, and files that are gone. Those go first: they may have been moved."""
    tally = _Tally(connection)
    for relative in gone:
        row = connection.execute("SELECT id FROM file WHERE root = ? AND relative = ?", (root, relative)).fetchone()
        if row is not None:
            tally.touched.update(_findings(connection, row[0], ()))
            tally.drop([record[0] for record in connection.execute("SELECT id FROM record WHERE file = ?", row)])
            connection.execute("UPDATE file SET present = 0, stamp = '' WHERE id = ?", row)
    for change in changes:
        if change.same:
            connection.execute(
                "UPDATE file SET stamp = ? WHERE root = ? AND relative = ?", (change.stamp, root, change.relative)
            )
            continue
        file = _file(connection, root, change)
        tally.touched.update(_findings(connection, file, change.findings))
        tally.drop(change.dropped)
        connection.executemany(
            "UPDATE record SET line_start = ?, line_end = ?, byte_start = ?, byte_end = ? WHERE id = ?",
            [(*span, row) for row, span in change.moved],
        )
        tally.add(file, change.added)
    tally.settle()


def publish(connection: sqlite3.Connection) -> str:
    """Compute the index version from the files' scopes, paths, versions and digests, and store it. No times."""
    rows = connection.execute(
        "SELECT r.scope_kind, r.scope_key, f.relative, f.version, f.digest FROM file f JOIN root r ON r.id = f.root"
        " WHERE f.present = 1"
    ).fetchall()
    version = short_id(VERSION_PREFIX, sorted(rows))
    connection.execute(
        "INSERT INTO meta VALUES ('version', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (version,)
    )
    return version


class _Tally:
    """One transaction's changes to the records, and to what is counted over them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.touched: set[str] = set()  # memory ids whose standing must be looked at again
        self._connection = connection
        self._df: dict[int, Counter[str]] = defaultdict(Counter)  # scope -> term -> change
        self._scopes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        self._scope_ids: dict[ScopeRef, int] = {}

    def drop(self, rows: Sequence[int]) -> None:
        """Delete records."""
        self.touched.update(row[1] for row in self._select(rows, "id, memory_id"))
        self._unlist(rows)
        self._connection.executemany("DELETE FROM record WHERE id = ?", [(row,) for row in rows])

    def add(self, file: int, entries: Sequence[Entry]) -> None:
        """Insert records; `settle` makes them searchable."""
        self._connection.executemany(
            "INSERT INTO record (memory_id, file, scope, digest, mark, standing, eligible, searchable, pinned,"
            " priority, created, valid_from, expires, line_start, line_end, byte_start, byte_end, length, terms,"
            " counts, body)"
            " VALUES (?, ?, ?, ?, ?, 'live', ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    entry.record.memory_id,
                    file,
                    self._scope(entry.record.scope),
                    entry.digest,
                    entry.mark,
                    int(entry.eligible),
                    int(entry.record.pinned),
                    entry.record.priority,
                    entry.record.created_at,
                    entry.record.valid_from,
                    entry.record.expires_at,
                    *entry.span,
                    entry.length,
                    "\n".join(entry.terms),
                    entry.counts,
                    entry.body,
                )
                for entry in entries
            ],
        )
        self.touched.update(entry.record.memory_id for entry in entries)

    def settle(self) -> None:
        """Decide what is live among the touched ids, and bring postings and counts in line."""
        asked = json.dumps(sorted(self.touched))
        clashing = {
            row[0]
            for row in self._connection.execute(
                "SELECT memory_id FROM finding WHERE state = ? AND memory_id IN (SELECT value FROM json_each(?))",
                (RecordState.DUPLICATE_ANCHOR, asked),
            )
        }
        groups: dict[tuple[str, int], list[tuple[int, int, str, str, int, int]]] = defaultdict(list)
        for memory_id, scope, *rest in self._connection.execute(
            "SELECT r.memory_id, r.scope, r.id, f.root, r.digest, r.standing, r.eligible, r.searchable"
            " FROM record r JOIN file f ON f.id = r.file WHERE r.memory_id IN (SELECT value FROM json_each(?))"
            " ORDER BY f.root, r.id",
            (asked,),
        ):
            groups[memory_id, scope].append(tuple(rest))
        changes: list[tuple[str, int, int]] = []
        for (memory_id, _), group in groups.items():
            fresh = ["conflict"] * len(group) if memory_id in clashing else _standings([row[1:3] for row in group])
            for (row, _, _, standing, eligible, searchable), now in zip(group, fresh, strict=True):
                wanted = int(now == "live" and eligible)
                if (now, wanted) != (standing, searchable):
                    changes.append((now, wanted, row))
        self._unlist([row for _, wanted, row in changes if not wanted])
        self._connection.executemany("UPDATE record SET standing = ?, searchable = ? WHERE id = ?", changes)
        self._list([row for _, wanted, row in changes if wanted])
        self._flush()

    def _list(self, rows: Sequence[int]) -> None:
        postings = [(row, tokens) for row, tokens in self._counted(rows, 1)]
        self._connection.executemany("INSERT INTO posting (rowid, tokens) VALUES (?, ?)", postings)

    def _unlist(self, rows: Sequence[int]) -> None:
        listed = [row for row, searchable in self._select(rows, "id, searchable") if searchable]
        postings = [("delete", row, tokens) for row, tokens in self._counted(listed, -1)]
        self._connection.executemany("INSERT INTO posting (posting, rowid, tokens) VALUES (?, ?, ?)", postings)
        self._connection.executemany("UPDATE record SET searchable = 0 WHERE id = ?", [(row,) for row in listed])

    def _counted(self, rows: Sequence[int], sign: int) -> list[tuple[int, str]]:
        """(row, its tokens) of each; their terms and lengths are counted up (1) or down (-1)."""
        out: list[tuple[int, str]] = []
        for row, scope, length, terms in self._select(rows, "id, scope, length, terms"):
            distinct = terms.split("\n") if terms else []
            if sign > 0:
                self._df[scope].update(distinct)
            else:
                self._df[scope].subtract(distinct)
            self._scopes[scope][0] += sign
            self._scopes[scope][1] += sign * length
            first = token(scope, "")
            out.append((row, first + f" {first}".join(distinct) if distinct else ""))
        return out

    def _flush(self) -> None:
        for scope, changes in self._df.items():
            self._connection.executemany(
                "INSERT INTO df VALUES (?, ?, ?)"
                " ON CONFLICT (scope, term) DO UPDATE SET records = records + excluded.records",
                [(scope, term, count) for term, count in sorted(changes.items()) if count],
            )
            self._connection.executemany(
                "DELETE FROM df WHERE scope = ? AND term = ? AND records <= 0",
                [(scope, term) for term, count in changes.items() if count < 0],
            )
        self._connection.executemany(
            "UPDATE scope SET records = records + ?, length = length + ? WHERE id = ?",
            [(records, length, scope) for scope, (records, length) in self._scopes.items()],
        )

    def _select(self, rows: Sequence[int], columns: str) -> list[Any]:
        return self._connection.execute(
            f"SELECT {columns} FROM record WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(rows),),
        ).fetchall()

    def _scope(self, scope: ScopeRef) -> int:
        known = self._scope_ids.get(scope)
        if known is None:
            self._connection.execute("INSERT OR IGNORE INTO scope (kind, key) VALUES (?, ?)", (scope.kind, scope.key))
            row = self._connection.execute(
                "SELECT id FROM scope WHERE kind = ? AND key = ?", (scope.kind, scope.key)
            ).fetchone()
            known = self._scope_ids[scope] = int(row[0])
        return known


def _standings(group: Sequence[tuple[int, str]]) -> list[str]:
    """The standing of records with one id in one scope, given as (root, digest) in the order of their roots."""
    roots = [root for root, _ in group]
    if len(group) > 1 and (len(set(roots)) < len(roots) or len({digest for _, digest in group}) > 1):
        return ["conflict"] * len(group)
    return ["live", *["copy"] * (len(group) - 1)]


def _file(connection: sqlite3.Connection, root: int, change: FileChange) -> int:
    """The row of a changed file, its version one higher when its digest differs."""
    row = connection.execute(
        "INSERT INTO file (root, relative, digest, version, stamp, refused, present) VALUES (?, ?, ?, 1, ?, ?, 1)"
        " ON CONFLICT (root, relative) DO UPDATE SET version = version + (digest != excluded.digest),"
        " digest = excluded.digest, stamp = excluded.stamp, refused = excluded.refused, present = 1 RETURNING id",
        (root, change.relative, change.digest, change.stamp, change.refused),
    ).fetchone()
    return int(row[0])


def _findings(connection: sqlite3.Connection, file: int, findings: Sequence[Finding]) -> set[str]:
    """Replace the file's findings; the memory ids that old and new ones speak of."""
    old = connection.execute("SELECT memory_id FROM finding WHERE file = ?", (file,)).fetchall()
    connection.execute("DELETE FROM finding WHERE file = ?", (file,))
    connection.executemany(
        "INSERT INTO finding VALUES (?, ?, ?, ?, ?)",
        [(file, one.state, one.line, one.memory_id, one.problem) for one in findings],
    )
    return {row[0] for row in old if row[0]} | {one.memory_id for one in findings if one.memory_id}
