"""`vectors.db`: what the model made of each text, keyed by the record's digest (M-07). Written by one process alone.

A record that moves to another file or comes back with another branch has its vector already. Vectors of two models are
never mixed: each row belongs to a model, and only those of the model in use are read. As long as another model's
vectors are there the store is *stale*; they go, a piece at a time, when the new ones are complete. The file is a cache:
damaged, it is made anew; unwritable, vectors live in memory only.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from recall.vectors.encoder import Identity

SCHEMA = 1
BATCH = 256  # vectors between two commits: what a kill may cost
PIECE = 2_000  # rows, or pages, that one step of cleaning takes
ASKED = 500  # digests in one statement
_TABLES = """
CREATE TABLE model (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, dimension INTEGER NOT NULL,
  UNIQUE (name, version, dimension)
);
CREATE TABLE vector (
  id INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES model (id), digest BLOB NOT NULL, scale REAL NOT NULL,
  codes BLOB NOT NULL, UNIQUE (model, digest)
);
"""
_MODEL = "SELECT id FROM model WHERE (name, version, dimension) = (?, ?, ?)"
T = TypeVar("T")


class Vector(NamedTuple):
    """The vector of a text: int8 codes, and what they are multiplied with."""

    scale: float
    codes: bytes


class VectorStore:
    """The vectors of one model, and what is left of another's."""

    def __init__(self, path: Path, identity: Identity, patience_seconds: float = 5.0) -> None:
        self._path = path
        self._patience = patience_seconds
        self._identity = identity
        self._uncommitted = 0
        self._model = 0
        self._lasting = True  # in a file
        self.other: Identity | None = None  # a model whose vectors are still there: the store is stale
        self.problem = ""
        try:
            self._connection = self._opened(path)
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, not ours: it may be good, and is kept
            self._connection = self._in_memory(error)
        except sqlite3.DatabaseError:
            self._connection = self._anew()

    def fetch(self, digests: Collection[str]) -> dict[str, Vector]:
        """The vectors that are there."""
        return self._kept(lambda: self._fetched(digests)) or {}

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors. They are safe after the next `commit`, which comes by itself every BATCH."""
        self._kept(lambda: self._added(vectors))
        if self._uncommitted >= BATCH:
            self.commit()

    def commit(self) -> None:
        """Make safe what was added."""
        if self._connection.in_transaction:
            done = self._kept(lambda: self._connection.execute("COMMIT"))
            if done is not None and self._lasting:
                self.problem = ""
        self._uncommitted = 0

    def count(self) -> int:
        """How many vectors of the model in use there are."""
        asked = "SELECT count(*) FROM vector WHERE model = ?"
        return self._kept(lambda: int(self._connection.execute(asked, (self._model,)).fetchone()[0])) or 0

    def forget(self, digests: Iterable[str]) -> None:
        """Drop the vectors of these texts, of whatever model, from the file and its log."""
        self.commit()
        self._kept(lambda: self._dropped(digests))
        self._kept(lambda: self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())

    def keep(self, living: Collection[str]) -> None:
        """Drop the vectors of all texts but these."""
        held = self._kept(lambda: self._connection.execute("SELECT DISTINCT digest FROM vector").fetchall()) or []
        self.forget(digest for (raw,) in held if (digest := raw.hex()) not in living)

    def clear(self) -> None:
        """Drop every vector: all are made anew."""
        self.commit()
        self._connection.close()
        self._connection = self._anew()
        self.other = None

    def retire(self) -> bool:
        """Drop a piece of what other models made; whether there is more of it."""
        self.commit()
        self._kept(self._retired)
        return self.other is not None

    def close(self) -> None:
        self.commit()
        self._connection.close()

    # ---------------------------------------------------------------------------------------------------- the file

    def _opened(self, path: Path | str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, timeout=self._patience)
        try:
            if path != ":memory:":
                self._path.chmod(0o600)
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found not in (0, SCHEMA):
                raise sqlite3.DatabaseError(f"schema {found} instead of {SCHEMA}")
            if found == 0:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")  # a vector tells something of the text that it was made of
            if found == 0:
                connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
            mine = (self._identity.name, self._identity.version, self._identity.dimension)
            if (row := connection.execute(_MODEL, mine).fetchone()) is None:
                connection.execute("INSERT INTO model (name, version, dimension) VALUES (?, ?, ?)", mine)
                row = connection.execute(_MODEL, mine).fetchone()
            self._model = int(row[0])
            self.other = self._left_over(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _in_memory(self, error: Exception) -> sqlite3.Connection:
        self.problem = f"{self._path.name} cannot be used: {error}. The vectors are lost when the daemon stops."
        self._lasting = False
        return self._opened(":memory:")

    def _anew(self) -> sqlite3.Connection:
        """An empty file in the place of the old one; where none can be written, one in memory."""
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
            return self._opened(self._path)
        except (sqlite3.DatabaseError, OSError) as error:
            return self._in_memory(error)

    def _kept(self, work: Callable[[], T]) -> T | None:
        """The result of `work`; None after a problem, which costs what was not committed, and a damaged file all."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            self.problem = f"{self._path.name}: {error}"
            if self._connection.in_transaction:
                self._connection.rollback()
            if not isinstance(error, sqlite3.OperationalError):  # damaged, not busy or full
                self._connection.close()
                self._connection = self._anew()
            return None

    # -------------------------------------------------------------------------------------------------- statements

    def _fetched(self, digests: Iterable[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        for some in _pieces(digests):
            marks = ", ".join("?" * len(some))
            rows = self._connection.execute(
                f"SELECT digest, scale, codes FROM vector WHERE model = ? AND digest IN ({marks})", (self._model, *some)
            )
            found.update((digest.hex(), Vector(scale, codes)) for digest, scale, codes in rows)
        return found

    def _added(self, vectors: Mapping[str, Vector]) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT OR REPLACE INTO vector (model, digest, scale, codes) VALUES (?, ?, ?, ?)",
            [(self._model, bytes.fromhex(digest), one.scale, one.codes) for digest, one in vectors.items()],
        )
        self._uncommitted += len(vectors)

    def _dropped(self, digests: Iterable[str]) -> None:
        for some in _pieces(digests):
            marks = ", ".join("?" * len(some))
            self._connection.execute(f"DELETE FROM vector WHERE digest IN ({marks})", some)

    def _retired(self) -> None:
        dropped = self._connection.execute(
            "DELETE FROM vector WHERE id IN (SELECT id FROM vector WHERE model != ? LIMIT ?)", (self._model, PIECE)
        )
        self._connection.execute(f"PRAGMA incremental_vacuum({PIECE})").fetchall()
        if dropped.rowcount < PIECE:
            self._connection.execute("DELETE FROM model WHERE id != ?", (self._model,))
            self.other = None

    def _left_over(self, connection: sqlite3.Connection) -> Identity | None:
        row = connection.execute(
            "SELECT name, version, dimension FROM model m WHERE id != ?"
            " AND EXISTS (SELECT 1 FROM vector v WHERE v.model = m.id) ORDER BY id DESC",
            (self._model,),
        ).fetchone()
        return Identity(name=row[0], version=row[1], dimension=row[2]) if row else None


def _pieces(digests: Iterable[str]) -> Iterator[Sequence[bytes]]:
    """As SQLite takes them in: bytes, so many at a time."""
    left = iter(digests)
    while some := [bytes.fromhex(digest) for digest in islice(left, ASKED)]:
        yield some
