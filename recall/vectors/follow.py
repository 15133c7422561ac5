"""Following the index from outside (M-07): which records are searchable, read-only, a piece at a time.

The first look reads every searchable record in pages; after that the `listing` journal says what changed. A new file, a
new epoch or a gap in the journal means: from the beginning. The index is a cache that may be missing, locked or half
made at any moment: then there is no news, and the next look tries again.
"""

import os
import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from recall.contracts import Frozen, ScopeRef
from recall.vectors.encoder import words

PAGE = 5_000
PATIENCE_SECONDS = 0.1  # with a locked file: a search waits for it
_BUSY, _LOCKED = 5, 6  # SQLite's primary result codes


class Listed(NamedTuple):
    """A searchable record: its row, its scope's row, the digest of what it says."""

    row: int
    scope: int
    digest: str


class News(NamedTuple):
    """What changed. `anew`: forget all that was told before."""

    anew: bool = False
    listed: Sequence[Listed] = ()
    gone: Sequence[int] = ()


class _Said(Frozen, frozen=True, kw_only=True):
    """What we read of a record's body."""

    text: str
    title: str | None = None


NOTHING = News()
_decoder = msgspec.msgpack.Decoder(_Said)


class Follower:
    """One reader of one index file. `news` until `behind` is False, then again whenever somebody asks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)
        self._version = -1  # of the data, as this connection has seen it
        self._seq = 0
        self._after: int | None = 0  # the last row of the pages read so far; None: all were read
        self._journal = False  # whether the journal goes on beyond what was read of it
        self.epoch = 0
        self.problem = ""

    @property
    def behind(self) -> bool:
        """Whether not all records were told yet."""
        return self._after is not None

    @property
    def more(self) -> bool:
        """Whether there is more news at once, as far as is known."""
        return (self.behind or self._journal) and not self.problem

    def news(self) -> News:
        """What changed since the last call, at most PAGE records of it."""
        try:
            connection, fresh = self._opened()
            touched = self._touched(connection)
            if not (fresh or touched or self.behind or self._journal):
                return NOTHING
            connection.execute("BEGIN")  # one view of the tables for all questions
            try:
                found = self._page(connection) if fresh or self.behind else self._changes(connection)
            finally:
                connection.execute("ROLLBACK")
        except (sqlite3.DatabaseError, OSError) as error:
            self.problem = f"{self._path.name} cannot be read: {error}"
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (_BUSY, _LOCKED):
                self._journal = True  # look again
            else:
                self.close()
            return NOTHING
        self.problem = ""
        return found

    def texts(self, rows: Collection[int]) -> dict[int, tuple[Listed, str]]:
        """Row -> the record as it is now and what of it is embedded; records that are gone are left out."""
        found = self._select(rows, "id, scope, digest, body")
        return {row[0]: (Listed(*row[:3]), _text(row[3])) for row in found}

    def digests(self, rows: Collection[int]) -> dict[int, str]:
        """Row -> digest, of records that are still searchable."""
        return dict(self._select(rows, "id, digest"))

    def all_digests(self) -> set[str]:
        """What all searchable records say."""
        return {digest for (digest,) in self._ask("SELECT DISTINCT digest FROM record WHERE searchable = 1", ())}

    def scopes(self, refs: Sequence[ScopeRef]) -> list[int]:
        """The rows of these scopes, those that have one."""
        found: list[int] = []
        for ref in refs:
            rows = self._ask("SELECT id FROM scope WHERE kind = ? AND key = ?", (ref.kind, ref.key))
            found.extend(row[0] for row in rows)
        return found

    def close(self) -> None:
        """Let go of the file; the next `news` begins anew."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._after = None, 0

    # ---------------------------------------------------------------------------------------------------- the file

    def _opened(self) -> tuple[sqlite3.Connection, bool]:
        """A connection to the file that has the name now, and whether it is a new one."""
        found = os.stat(self._path)
        file = (found.st_dev, found.st_ino)
        if self._connection is not None and file == self._file:
            return self._connection, False
        self.close()
        self._connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=PATIENCE_SECONDS
        )
        self._file, self._version = file, -1
        return self._connection, True

    def _touched(self, connection: sqlite3.Connection) -> bool:
        """Whether anything was committed since the last call."""
        version = int(connection.execute("PRAGMA data_version").fetchone()[0])
        changed, self._version = version != self._version, version
        return changed

    # ------------------------------------------------------------------------------------------------- what is told

    def _page(self, connection: sqlite3.Connection) -> News:
        """The next page of all records. What changes meanwhile is in the journal, from where it stood at the start."""
        epoch = _epoch(connection)
        anew = epoch != self.epoch or not self._after
        if anew:
            self.epoch, self._after, self._seq = epoch, 0, _newest(connection)
        page = connection.execute(
            "SELECT id, scope, digest FROM record WHERE searchable = 1 AND id > ? ORDER BY id LIMIT ?",
            (self._after, PAGE),
        ).fetchall()
        self._after = page[-1][0] if len(page) == PAGE else None
        self._journal = True  # to be looked at next
        return News(anew=anew, listed=[Listed(*row) for row in page])

    def _changes(self, connection: sqlite3.Connection) -> News:
        """What the journal says since the last look."""
        oldest, newest = connection.execute("SELECT min(seq), max(seq) FROM listing").fetchone()
        if _epoch(connection) != self.epoch or (newest or 0) < self._seq or (oldest or 0) > self._seq + 1:
            self._after = 0
            return self._page(connection)
        journal = connection.execute(
            "SELECT seq, record FROM listing WHERE seq > ? ORDER BY seq LIMIT ?", (self._seq, PAGE)
        ).fetchall()
        self._journal = len(journal) == PAGE
        if not journal:
            return NOTHING
        self._seq = journal[-1][0]
        rows = dict.fromkeys(record for _, record in journal)
        listed = [Listed(*row) for row in self._select(rows, "id, scope, digest")]
        return News(listed=listed, gone=sorted(rows.keys() - {one.row for one in listed}))

    # --------------------------------------------------------------------------------------------------- statements

    def _select(self, rows: Collection[int], columns: str) -> list[Any]:
        return self._ask(
            f"SELECT {columns} FROM record WHERE searchable = 1 AND id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (msgspec.json.encode(list(rows)).decode(),),
        )

    def _ask(self, statement: str, parameters: Sequence[object]) -> list[Any]:
        if self._connection is None:
            raise sqlite3.OperationalError("the index is not open")
        return self._connection.execute(statement, parameters).fetchall()


def _epoch(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
    return int(row[0]) if row else 0


def _newest(connection: sqlite3.Connection) -> int:
    """Where the journal stands; its sequence goes on where it was trimmed."""
    row = connection.execute("SELECT max(seq) FROM listing").fetchone()
    return int(row[0] or 0)


def _text(body: bytes) -> str:
    said = _decoder.decode(body)
    return words(said.title, said.text)
