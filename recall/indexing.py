"""Roots and files in the index (M-05, M-06). One function runs inside one transaction.

The sum behind the index version is kept in the transaction that changes the files it is made of (`recall.versions`);
records, postings and counts are the business of `recall.tally`.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from recall.contracts import Frozen, Origin, Scope, ScopeRef
from recall.entries import FileChange, Known, Place, Root
from recall.files import Finding
from recall.tables import ROOT
from recall.tally import Tally
from recall.versions import NOTHING, added, version_of, weight


class KnownRoot(Frozen, frozen=True, kw_only=True):
    """A root as the index has it. `taken`: every file of it was taken in once."""

    id: int
    scope: ScopeRef
    origin: Origin
    missing: bool
    provider: str = ""
    top: str = ""
    taken: bool = False

    def says(self, root: Root, place: Place) -> bool:
        """Whether the index has it as it is given now."""
        seen = (self.scope, self.origin, self.provider, self.top)
        return seen == (root.scope, root.origin, root.provider, place.top)


class KnownFile(Frozen, frozen=True, kw_only=True):
    """A file as the index has it."""

    id: int
    digest: str
    version: int
    stamp: str
    refused: str | None


class Applied(NamedTuple):
    """What one transaction made of the index."""

    version: str
    listed: Sequence[int] = ()
    unlisted: Sequence[int] = ()
    stale: Sequence[str] = ()  # files that were compared with something that is not the index any more: left alone


# -- roots


def find_root(connection: sqlite3.Connection, path: str) -> KnownRoot | None:
    row = connection.execute(
        "SELECT id, scope_kind, scope_key, origin, missing, provider, top, taken FROM root WHERE path = ?", (path,)
    ).fetchone()
    if row is None:
        return None
    return KnownRoot(
        id=row[0],
        scope=ScopeRef(kind=Scope(row[1]), key=row[2]),
        origin=Origin(row[3]),
        missing=bool(row[4]),
        provider=row[5],
        top=row[6],
        taken=bool(row[7]),
    )


def ensure_root(connection: sqlite3.Connection, root: Root, place: Place) -> KnownRoot:
    """The root's row; one of which something else is said than before has its files read again."""
    known = find_root(connection, place.path)
    if known is None:
        connection.execute(
            f"INSERT INTO root ({ROOT}, provider, top) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (place.path, place.folder, root.scope.kind, root.scope.key, root.origin, root.provider, place.top),
        )
    elif not known.says(root, place):
        before = _weights(connection, known.id, known.scope)
        connection.execute(
            "UPDATE root SET scope_kind = ?, scope_key = ?, origin = ?, provider = ?, top = ?, taken = 0 WHERE id = ?",
            (root.scope.kind, root.scope.key, root.origin, root.provider, place.top, known.id),
        )
        connection.execute("UPDATE file SET stamp = '' WHERE root = ?", (known.id,))
        _weigh(connection, _weights(connection, known.id, root.scope) - before)
    found = find_root(connection, place.path)
    assert found is not None
    return found


def set_missing(connection: sqlite3.Connection, root: int, missing: bool) -> None:
    """Note that the root's folder is not there (its records are kept), or that it is back."""
    connection.execute("UPDATE root SET missing = ? WHERE id = ?", (int(missing), root))


def set_taken(connection: sqlite3.Connection, root: int) -> None:
    """Note that every file of the root was taken in."""
    connection.execute("UPDATE root SET taken = 1 WHERE id = ?", (root,))


def unfinished(connection: sqlite3.Connection) -> frozenset[ScopeRef]:
    """The scopes of roots that were begun and not taken in to the end."""
    rows = connection.execute("SELECT DISTINCT scope_kind, scope_key FROM root WHERE taken = 0 AND missing = 0")
    return frozenset(ScopeRef(kind=Scope(kind), key=key) for kind, key in rows)


def scopes(connection: sqlite3.Connection) -> frozenset[ScopeRef]:
    """The scopes of all roots."""
    rows = connection.execute("SELECT DISTINCT scope_kind, scope_key FROM root")
    return frozenset(ScopeRef(kind=Scope(kind), key=key) for kind, key in rows)


# -- files


def reconsider(connection: sqlite3.Connection, memory_ids: Sequence[str]) -> list[str]:
    """Have these records compared anew with whatever keeps records out, though their files are as they were; the paths
    of the files."""
    ids = _array(memory_ids)
    connection.execute("UPDATE record SET mark = '' WHERE memory_id IN (SELECT value FROM json_each(?))", (ids,))
    where = "id IN (SELECT file FROM record WHERE memory_id IN (SELECT value FROM json_each(?)))"
    connection.execute(f"UPDATE file SET stamp = '' WHERE {where}", (ids,))
    rows = connection.execute(
        f"SELECT t.folder || '/' || f.relative FROM file f JOIN root t ON t.id = f.root WHERE f.{where}", (ids,)
    )
    return [path for (path,) in rows]


def look_anew(connection: sqlite3.Connection, path: str, names: Collection[str] | None) -> None:
    """Have files of a root compared anew though they are as they were; None: all of it."""
    files = "SELECT f.id FROM file f JOIN root t ON t.id = f.root WHERE t.path = ?"
    given: tuple[str, ...] = (path,)
    if names is not None:
        files, given = f"{files} AND f.relative IN (SELECT value FROM json_each(?))", (path, _array(names))
    connection.execute(f"UPDATE record SET mark = '' WHERE file IN ({files})", given)
    connection.execute(f"UPDATE file SET stamp = '' WHERE id IN ({files})", given)


def known_files(
    connection: sqlite3.Connection, root: int, names: Collection[str] | None = None
) -> dict[str, KnownFile]:
    """The root's present files by relative path; only those of `names` when it is given."""
    query = "SELECT relative, id, digest, version, stamp, refused FROM file WHERE root = ? AND present = 1"
    if names is None:
        rows = connection.execute(query, (root,))
    else:
        rows = connection.execute(f"{query} AND relative IN (SELECT value FROM json_each(?))", (root, _array(names)))
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


def elsewhere(
    connection: sqlite3.Connection, memory_ids: Iterable[str], root: int, relative: Collection[str]
) -> dict[str, str]:
    """Other files of the root that hold one of these ids, with their stamps: perhaps the record was moved."""
    rows = connection.execute(
        "SELECT DISTINCT f.relative, f.stamp FROM json_each(?) j"  # in this order: from the ids, not from the root
        " CROSS JOIN record r ON r.memory_id = j.value CROSS JOIN file f ON f.id = r.file AND f.root = ?",
        (_array(memory_ids), root),
    )
    return {name: stamp for name, stamp in rows if name not in relative}


def versions(connection: sqlite3.Connection, path: str, names: Collection[str] | None) -> list[tuple[str, str, int]]:
    """(relative path, digest, version) of a root's present files, or of those named."""
    root = find_root(connection, path)
    files = known_files(connection, root.id, names) if root else {}
    return [(relative, file.digest, file.version) for relative, file in files.items()]


def agree(connection: sqlite3.Connection, path: str, others: Iterable[tuple[str, str, int]]) -> None:
    """Take over another index's versions of files that say the same in both."""
    root = find_root(connection, path)
    if root is None:
        return
    theirs = {relative: (digest, version) for relative, digest, version in others}
    change = 0
    for relative, file in known_files(connection, root.id, theirs.keys()).items():
        digest, version = theirs[relative]
        if file.digest == digest and file.version != version:
            change += weight(root.scope, relative, version, digest)
            change -= weight(root.scope, relative, file.version, digest)
            connection.execute("UPDATE file SET version = ? WHERE id = ?", (version, file.id))
    _weigh(connection, change)


def apply(
    connection: sqlite3.Connection, root: int, changes: Sequence[FileChange], gone: Iterable[str] = ()
) -> Applied:
    """Take in files of one root as they are now, and files that are gone. Those go first: they may have been moved."""
    scope = _scope_of(connection, root)
    tally = Tally(connection, root)
    total = 0
    stale: list[str] = []
    for relative in gone:
        total -= _leave(connection, tally, (root, relative), scope)
    for change in changes:
        if change.same:
            connection.execute(
                "UPDATE file SET stamp = ? WHERE root = ? AND relative = ?", (change.stamp, root, change.relative)
            )
            continue
        if change.seen is not None and change.seen != _rows(connection, root, change.relative):
            stale.append(change.relative)
            continue
        file, weighs = _file(connection, root, change, scope)
        total += weighs
        tally.touched |= _findings(connection, file, change.findings)
        tally.drop(change.dropped)
        connection.executemany(
            "UPDATE record SET line_start = ?, line_end = ?, byte_start = ?, byte_end = ? WHERE id = ?",
            [(*span, row) for row, span in change.moved],
        )
        tally.add(file, change.added)
    listed, unlisted = tally.settle()
    if unlisted:
        connection.execute("UPDATE meta SET value = (SELECT max(seq) FROM listing) WHERE key = 'untidy'")
    return Applied(_weigh(connection, total), listed, unlisted, stale)


def _leave(connection: sqlite3.Connection, tally: Tally, key: tuple[int, str], scope: ScopeRef) -> int:
    """Take out a file that is gone; what it weighed."""
    row = connection.execute(
        "SELECT id, version, digest FROM file WHERE root = ? AND relative = ? AND present = 1", key
    ).fetchone()
    if row is None:
        return 0
    file, version, digest = row
    tally.touched |= _findings(connection, file, ())
    tally.drop([record[0] for record in connection.execute("SELECT id FROM record WHERE file = ?", (file,))])
    connection.execute("UPDATE file SET present = 0, stamp = '' WHERE id = ?", (file,))
    return weight(scope, key[1], version, digest)


def _file(connection: sqlite3.Connection, root: int, change: FileChange, scope: ScopeRef) -> tuple[int, int]:
    """The row of a changed file, its version one higher when its digest differs; and how much more it weighs."""
    before = connection.execute(
        "SELECT version, digest, present FROM file WHERE root = ? AND relative = ?", (root, change.relative)
    ).fetchone()
    version, digest, present = before or (1, change.digest, 0)
    weighs = -weight(scope, change.relative, version, digest) if present else 0
    version += digest != change.digest
    (file,) = connection.execute(
        "INSERT INTO file (root, relative, digest, version, stamp, refused, present) VALUES (?, ?, ?, ?, ?, ?, 1)"
        " ON CONFLICT (root, relative) DO UPDATE SET version = excluded.version, digest = excluded.digest,"
        " stamp = excluded.stamp, refused = excluded.refused, present = 1 RETURNING id",
        (root, change.relative, change.digest, version, change.stamp, change.refused),
    ).fetchone()
    return file, weighs + weight(scope, change.relative, version, change.digest)


def _rows(connection: sqlite3.Connection, root: int, relative: str) -> tuple[int, ...]:
    rows = connection.execute(
        "SELECT r.id FROM record r JOIN file f ON f.id = r.file WHERE f.root = ? AND f.relative = ? ORDER BY r.id",
        (root, relative),
    )
    return tuple(row[0] for row in rows)


def _findings(connection: sqlite3.Connection, file: int, findings: Sequence[Finding]) -> set[str]:
    """Replace the file's findings; the memory ids that old and new ones speak of."""
    old = connection.execute("SELECT memory_id FROM finding WHERE file = ?", (file,)).fetchall()
    if old:
        connection.execute("DELETE FROM finding WHERE file = ?", (file,))
    connection.executemany(
        "INSERT INTO finding VALUES (?, ?, ?, ?, ?)",
        [(file, one.state, one.line, one.memory_id, one.problem) for one in findings],
    )
    return {row[0] for row in old if row[0]} | {one.memory_id for one in findings if one.memory_id}


# -- the version


def recomputed(connection: sqlite3.Connection) -> str:
    """The index version as made from all files: what the kept one must be equal to."""
    total = NOTHING
    for kind, key, *rest in connection.execute(
        "SELECT r.scope_kind, r.scope_key, f.relative, f.version, f.digest FROM file f JOIN root r ON r.id = f.root"
        " WHERE f.present = 1"
    ):
        total = added(total, weight(ScopeRef(kind=Scope(kind), key=key), *rest))
    return version_of(total)


def _weigh(connection: sqlite3.Connection, change: int) -> str:
    """Add to the sum; the version it stands for now."""
    total, version = (
        connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0] for key in ("sum", "version")
    )
    if change:
        total = added(total, change)
        version = version_of(total)
        connection.executemany("UPDATE meta SET value = ? WHERE key = ?", [(total, "sum"), (version, "version")])
    return str(version)


def _weights(connection: sqlite3.Connection, root: int, scope: ScopeRef) -> int:
    """What the present files of a root weigh together in a scope."""
    rows = connection.execute("SELECT relative, version, digest FROM file WHERE root = ? AND present = 1", (root,))
    return sum(weight(scope, *row) for row in rows)


def _scope_of(connection: sqlite3.Connection, root: int) -> ScopeRef:
    kind, key = connection.execute("SELECT scope_kind, scope_key FROM root WHERE id = ?", (root,)).fetchone()
    return ScopeRef(kind=Scope(kind), key=key)


def _array(values: Iterable[Any]) -> str:
    return json.dumps(list(values))
