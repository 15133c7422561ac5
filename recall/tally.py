"""One transaction's changes to the records of the index, and to what is counted over them (M-05, M-06).

A record is *live* when its id occurs once in its scope. The same record in two roots (two worktrees of a repository) is
live once and a `copy` otherwise, and so is one committed file that two worktrees have on two branches: the one that
says that it holds no more counts first, for its successor is seen from both. Any other id with different contents, or
twice within one root, is a `conflict` and nobody's: it fails closed until one of them goes. Only live, eligible records
are in `posting` and counted in `df`; every record that enters or leaves them is a row of `listing`.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from recall.contracts import RecordState, ScopeRef, Status
from recall.entries import SEARCHED, Entry, unpack
from recall.markers import ENTRIES

JOURNAL = 20_000  # rows of `listing` that are kept
_COLUMNS = (
    "id, memory_id, file, scope, digest, mark, standing, legacy, eligible, searchable, pinned, priority, created,"
    " valid_from, expires, line_start, line_end, byte_start, byte_end, length, terms, counts, body"
)
_SHARED = (  # an entry is told by its id alone: a branch may have given its file another name
    "CASE WHEN t.origin NOT IN ('imported', 'reviewed') THEN ''"
    f" WHEN t.provider = '' AND t.top != '' AND f.relative LIKE '{ENTRIES}%' THEN '{ENTRIES}' ELSE f.relative END"
)
_INSERT = f"INSERT INTO record ({_COLUMNS}) VALUES ({', '.join('?' * len(_COLUMNS.split(',')))})"


class Listings(NamedTuple):
    """Rows of records that became searchable, and of those that are not so any more."""

    listed: Sequence[int] = ()
    unlisted: Sequence[int] = ()


class _Pending(NamedTuple):
    row: int
    file: int
    scope: int
    entry: Entry


class _Member(NamedTuple):
    """A record among those of its id and scope."""

    root: int
    row: int
    digest: str
    legacy: bool
    eligible: int
    standing: str  # as stored; empty: not stored yet
    searchable: bool
    shared: str  # the path below the root, of a file that a repository brings; else empty


class _Counted(NamedTuple):
    row: int
    scope: int
    length: int
    words: str


def token(scope: int, term: str) -> str:
    """A term of one scope, as it stands in `posting`."""
    return f"{scope}~{term}"


class Tally:
    """The changes of one transaction in one root. Records that are added are written by `settle`, at their final
    standing."""

    def __init__(self, connection: sqlite3.Connection, root: int) -> None:
        self.touched: set[str] = set()  # memory ids whose standing must be looked at again
        self._connection = connection
        self._root = root
        self._pending: list[_Pending] = []
        self._listed: list[int] = []
        self._unlisted: list[int] = []
        self._df: dict[int, Counter[str]] = defaultdict(Counter)  # scope -> term -> change
        self._scopes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        self._scope_ids: dict[ScopeRef, int] = {}
        self._next = 0

    def drop(self, rows: Sequence[int]) -> None:
        """Delete records."""
        if not rows:
            return
        self.touched.update(row[1] for row in self._select(rows, "id, memory_id"))
        self._unlist(rows)
        self._connection.executemany("DELETE FROM record WHERE id = ?", [(row,) for row in rows])

    def add(self, file: int, entries: Sequence[Entry]) -> None:
        """Insert records; `settle` decides whether they are searchable."""
        for entry in entries:
            self._pending.append(_Pending(self._next_row(), file, self._scope(entry.scope), entry))
            self.touched.add(entry.memory_id)

    def settle(self) -> Listings:
        """Decide what is live among the touched ids, write what was added, and bring postings and counts in line."""
        standings: dict[int, tuple[str, bool]] = {}
        changes: list[tuple[str, bool, int]] = []
        for group in self._groups():
            for member, (standing, wanted) in group:
                if not member.standing:
                    standings[member.row] = (standing, wanted)
                elif (standing, wanted) != (member.standing, member.searchable):
                    changes.append((standing, wanted, member.row))
        self._unlist([row for _, wanted, row in changes if not wanted])
        self._connection.executemany("UPDATE record SET standing = ?, searchable = ? WHERE id = ?", changes)
        self._list(self._stored([row for _, wanted, row in changes if wanted]))
        self._insert(standings)
        self._flush()
        return Listings(self._listed, self._unlisted)

    # -- standing

    def _groups(self) -> Iterable[Sequence[tuple[_Member, tuple[str, bool]]]]:
        """Records of one touched id in one scope, each with the standing it has now and whether it is searchable."""
        asked = json.dumps(sorted(self.touched))
        clashing = {
            row[0]
            for row in self._connection.execute(
                "SELECT memory_id FROM finding WHERE state = ? AND memory_id IN (SELECT value FROM json_each(?))",
                (RecordState.DUPLICATE_ANCHOR, asked),
            )
        }
        groups: dict[tuple[str, int], list[_Member]] = defaultdict(list)
        for memory_id, scope, *rest in self._connection.execute(
            "SELECT r.memory_id, r.scope, f.root, r.id, r.digest, r.legacy, r.eligible, r.standing, r.searchable,"
            f" {_SHARED} FROM record r JOIN file f ON f.id = r.file JOIN root t ON t.id = f.root"
            " WHERE r.memory_id IN (SELECT value FROM json_each(?))",
            (asked,),
        ):
            groups[memory_id, scope].append(_Member(*rest))
        shared = self._shared({one.file for one in self._pending})
        for row, file, scope, entry in self._pending:
            member = _Member(self._root, row, entry.digest, entry.legacy, entry.eligible, "", False, shared[file])
            groups[entry.memory_id, scope].append(member)
        for (memory_id, _), group in groups.items():
            group.sort()
            conflict = memory_id in clashing or _conflicting(group)
            if not conflict and len({member.digest for member in group}) > 1:
                group.sort(key=self._precedence)
            yield [
                (member, ("conflict", False) if conflict else ("copy", False) if place else ("live", _searched(member)))
                for place, member in enumerate(group)
            ]

    def _precedence(self, member: _Member) -> int:
        """Of one file's versions on several branches: first that which was taken back, then those that may be proposed,
        last those that a screen or a flag keeps out; a poisoned branch takes nothing from the others."""
        if member.eligible:
            return 1
        body = next((one.entry.body for one in self._pending if one.row == member.row), None)
        if body is None:
            (body,) = self._connection.execute("SELECT body FROM record WHERE id = ?", (member.row,)).fetchone()
        return 2 if unpack(body).status is Status.ACTIVE else 0

    def _shared(self, files: Iterable[int]) -> dict[int, str]:
        return dict(
            self._connection.execute(
                f"SELECT f.id, {_SHARED} FROM file f JOIN root t ON t.id = f.root"
                " WHERE f.id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(files)),),
            )
        )

    # -- records

    def _insert(self, standings: Mapping[int, tuple[str, bool]]) -> None:
        rows: list[tuple[object, ...]] = []
        fresh: list[_Counted] = []
        for row, file, scope, one in self._pending:
            standing, searchable = standings[row]
            rows.append(
                (
                    *(row, one.memory_id, file, scope, one.digest, one.mark, standing, one.legacy, one.eligible),
                    *(searchable, one.pinned, one.priority, one.created, one.valid_from, one.expires),
                    *(*one.span, one.length, one.words, one.counts, one.body),
                )
            )
            if searchable:
                fresh.append(_Counted(row, scope, one.length, one.words))
        self._connection.executemany(_INSERT, rows)
        self._list(fresh)
        self._pending = []

    def _list(self, records: Sequence[_Counted]) -> None:
        self._connection.executemany("INSERT INTO posting (rowid, tokens) VALUES (?, ?)", self._counted(records, 1))
        self._listed += [one.row for one in records]
        self._note(records, 1)

    def _unlist(self, rows: Sequence[int]) -> None:
        """Take records that are searchable out of the postings and the counts."""
        records = self._stored(rows, " AND searchable = 1")
        self._connection.executemany(
            "INSERT INTO posting (posting, rowid, tokens) VALUES ('delete', ?, ?)", self._counted(records, -1)
        )
        self._connection.executemany("UPDATE record SET searchable = 0 WHERE id = ?", [(one.row,) for one in records])
        self._unlisted += [one.row for one in records]
        self._note(records, 0)

    def _note(self, records: Sequence[_Counted], listed: int) -> None:
        rows = [(one.row, listed) for one in records]
        self._connection.executemany("INSERT INTO listing (record, listed) VALUES (?, ?)", rows)

    # -- counts

    def _counted(self, records: Iterable[_Counted], sign: int) -> Iterable[tuple[int, str]]:
        """(row, its tokens) of each; their terms and lengths are counted up (1) or down (-1)."""
        for row, scope, length, words in records:
            if words:
                count = self._df[scope].update if sign > 0 else self._df[scope].subtract
                count(words.split("\n"))
            self._scopes[scope][0] += sign
            self._scopes[scope][1] += sign * length
            first = token(scope, "")
            yield row, first + words.replace("\n", f" {first}") if words else ""

    def _flush(self) -> None:
        for scope, changes in self._df.items():
            self._connection.executemany(
                "INSERT INTO df VALUES (?, ?, ?)"
                " ON CONFLICT (scope, term) DO UPDATE SET records = records + excluded.records",
                [(scope, term, count) for term in sorted(changes) if (count := changes[term])],
            )
            self._connection.executemany(
                "DELETE FROM df WHERE scope = ? AND term = ? AND records <= 0",
                [(scope, term) for term, count in changes.items() if count < 0],
            )
        self._connection.executemany(
            "UPDATE scope SET records = records + ?, length = length + ? WHERE id = ?",
            [(records, length, scope) for scope, (records, length) in self._scopes.items()],
        )
        if self._listed or self._unlisted:
            self._connection.execute("DELETE FROM listing WHERE seq <= (SELECT max(seq) FROM listing) - ?", (JOURNAL,))

    def _stored(self, rows: Sequence[int], more: str = "") -> list[_Counted]:
        return [_Counted(*row) for row in self._select(rows, "id, scope, length, terms", more)] if rows else []

    def _select(self, rows: Sequence[int], columns: str, more: str = "") -> list[Any]:
        return self._connection.execute(
            f"SELECT {columns} FROM record WHERE id IN (SELECT value FROM json_each(?)){more} ORDER BY id",
            (json.dumps(rows),),
        ).fetchall()

    def _next_row(self) -> int:
        """Rows are numbered on and on: one that is gone is never used again."""
        if not self._next:
            last = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'record'").fetchone()
            self._next = last[0] if last else 0
        self._next += 1
        return self._next

    def _scope(self, scope: ScopeRef) -> int:
        known = self._scope_ids.get(scope)
        if known is None:
            self._connection.execute("INSERT OR IGNORE INTO scope (kind, key) VALUES (?, ?)", (scope.kind, scope.key))
            row = self._connection.execute(
                "SELECT id FROM scope WHERE kind = ? AND key = ?", (scope.kind, scope.key)
            ).fetchone()
            known = self._scope_ids[scope] = int(row[0])
        return known


def _searched(member: _Member) -> bool:
    """Whether a live record is found by its words: one that is kept aside is not."""
    return member.eligible == SEARCHED


def _conflicting(group: Sequence[_Member]) -> bool:
    """Whether records with one id in one scope contradict each other: twice in one root, or saying two things.

    One file on two branches, in two worktrees, is no conflict: its records have the same place below each root. Nor are
    legacy records, whose ids are made of their place: nobody gave them twice.
    """
    if len(group) == 1:
        return False
    if len({member.root for member in group}) < len(group):
        return True
    if len({member.digest for member in group}) == 1 or all(member.legacy for member in group):
        return False
    return len({member.shared for member in group}) > 1 or not group[0].shared
