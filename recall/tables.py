"""The index as a whole: its tables, what it says of itself, and what outlives it (M-05, M-06). One function runs inside
one transaction.
"""

import sqlite3
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from recall.versions import NOTHING, version_of

SCHEMA: tuple[str, ...] = (files("recall").joinpath("schema", "001_index.sql").read_text("utf-8"),)
FORMAT = "index_pre_v3"  # of these tables: those of another one are made anew
ROOT = "id, path, folder, scope_kind, scope_key, origin"  # columns of a root that every format had


class Meta(NamedTuple):
    """What an index says of itself. `reader`: format, analyzer and guard it was made with; `epoch`: which making of the
    tables this is, for row ids of another one mean nothing."""

    reader: str
    version: str
    epoch: int


class StoredRoot(NamedTuple):
    """A root's row, as any format of the index has it."""

    id: int
    path: str
    folder: str
    scope_kind: str
    scope_key: str
    origin: str
    provider: str = ""
    top: str = ""


class Carried(NamedTuple):
    """What outlives the tables: the roots, and the versions of files that must go on rising."""

    roots: Sequence[StoredRoot] = ()
    files: Sequence[tuple[int, str, str, int]] = ()  # root, relative path, digest, version
    epoch: int = 0


NEW = Carried()  # nothing is taken over


def meta(connection: sqlite3.Connection) -> Meta | None:
    """What the index says of itself; None for one that was never filled."""
    found = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    if "analyzer" not in found:
        return None
    return Meta(found["analyzer"], found.get("version", ""), int(found.get("epoch", "0")))


def version(connection: sqlite3.Connection) -> str:
    found = meta(connection)
    return found.version if found else ""


def carried(connection: sqlite3.Connection) -> Carried:
    """What a new making of the tables takes over from these, of whatever format; nothing when they cannot be read."""
    try:
        return Carried(
            roots=known_roots(connection),
            files=connection.execute("SELECT root, relative, digest, version FROM file ORDER BY id").fetchall(),
            epoch=_epoch(connection),
        )
    except sqlite3.DatabaseError:
        return Carried(epoch=_epoch(connection))


def known_roots(connection: sqlite3.Connection) -> list[StoredRoot]:
    """All roots, of whatever format the index is."""
    more = ", provider, top" if _has(connection, "root", "top") else ""
    return [StoredRoot(*row) for row in connection.execute(f"SELECT {ROOT}{more} FROM root ORDER BY id")]


def begin(connection: sqlite3.Connection, reader: str, kept: Carried = NEW) -> str:
    """Fill the empty tables with what is taken over; the new version."""
    connection.executemany(f"INSERT INTO root ({ROOT}, provider, top) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", kept.roots)
    connection.executemany(
        "INSERT INTO file (root, relative, digest, version, stamp, present) VALUES (?, ?, ?, ?, '', 0)", kept.files
    )
    version = version_of(NOTHING)
    told = {"analyzer": reader, "epoch": str(kept.epoch + 1), "sum": NOTHING, "version": version, "untidy": ""}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", sorted(told.items()))
    connection.execute("INSERT INTO posting (posting, rank) VALUES ('usermerge', 2)")  # fewer segments, faster searches
    return version


def merge(connection: sqlite3.Connection, pages: int) -> bool:
    """Merge segments of the postings, so many pages' worth of work; negative: begin to merge all of them into one.
    Whether there may be more to do."""
    before = connection.total_changes
    connection.execute("INSERT INTO posting (posting, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before >= 2


def untidy(connection: sqlite3.Connection) -> str:
    """Not empty when words of records that are gone still stand in the postings: up to which row of `listing`."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'untidy'").fetchone()
    return row[0] if row else ""


def tidied(connection: sqlite3.Connection, upto: str) -> None:
    """Note that all was merged, unless more records have gone since."""
    connection.execute("UPDATE meta SET value = '' WHERE key = 'untidy' AND value = ?", (upto,))


def _epoch(connection: sqlite3.Connection) -> int:
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
    except sqlite3.DatabaseError:
        return 0
    return int(row[0]) if row else 0


def _has(connection: sqlite3.Connection, table: str, column: str) -> bool:
    return any(row[1] == column for row in connection.execute(f"PRAGMA table_info({table})"))
