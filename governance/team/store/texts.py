"""Full text of approved entries and of candidates, and how far each has come: what comparison searches (team.md 4).

Functions over a connection, for the caller's transaction. Every change of what is searched is one more generation.
An order is made of the rows of one worktree alone: what another repository says moves nothing here, and the result
of a comparison can be repeated.
"""

import heapq
import math
import sqlite3
from collections.abc import Sequence
from enum import StrEnum

from recall.analyzer import ANALYZER, distinct
from recall.contracts import Frozen, Millis

ASKED_CHARACTERS = 1024  # of a text, to search by
ASKED_TERMS = 32
MANY = 100  # texts
SCALE = 10_000  # scores are whole numbers: an order is the same everywhere
_K1, _B = 1.2, 0.75  # BM25's usual ones; a term counts once a text
_ROW = "SELECT generation, analyzer_version, tree_digest, complete, problem FROM team_projection"
_OF = f"{_ROW} WHERE worktree_key = ? AND source = ?"
_SET = (
    "INSERT INTO team_projection"
    " (worktree_key, source, generation, analyzer_version, tree_digest, complete, problem, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (worktree_key, source) DO UPDATE SET"
    " generation = excluded.generation, analyzer_version = excluded.analyzer_version,"
    " tree_digest = excluded.tree_digest, complete = excluded.complete, problem = excluded.problem, at = excluded.at"
)
_NUMBER = "SELECT number FROM team_text WHERE worktree_key = ? AND source = ? AND item_id = ?"
_NAMED = "INSERT INTO team_text (worktree_key, source, item_id, size) VALUES (?, ?, ?, ?)"
_ITEMS = "SELECT item_id FROM team_text WHERE worktree_key = ? AND source = ?"
_TEXTS = "SELECT number, item_id, size FROM team_text WHERE worktree_key = ? AND source = ?"
_HOLDING = "SELECT rowid FROM team_terms WHERE terms MATCH ?"


class Source(StrEnum):
    APPROVED = "approved"
    CANDIDATE = "candidate"


class Row(Frozen, frozen=True, kw_only=True):
    """How far a projection has come. `generation` 0: it was never made. `tree_digest`: of the files that it shows, as
    far as they could be read; `complete`: they could, else `problem` says why not."""

    generation: int = 0
    analyzer_version: str = ANALYZER
    tree_digest: str = ""
    complete: bool = False
    problem: str = ""


def row(connection: sqlite3.Connection, worktree_key: str, source: Source) -> Row:
    """How far it has come. Candidates are ours, and always all there."""
    found = connection.execute(_OF, (worktree_key, source)).fetchone()
    if found is None:
        return Row(complete=source is Source.CANDIDATE)
    generation, analyzer, tree_digest, complete, problem = found
    return Row(
        generation=generation,
        analyzer_version=analyzer,
        tree_digest=tree_digest,
        complete=bool(complete),
        problem=problem,
    )


def put_row(connection: sqlite3.Connection, worktree_key: str, source: Source, now: Row, at: Millis) -> None:
    """Say how far it has come."""
    about = (now.generation, now.analyzer_version, now.tree_digest, now.complete, now.problem)
    connection.execute(_SET, (worktree_key, source, *about, at))


def advance(connection: sqlite3.Connection, worktree_key: str, at: Millis) -> None:
    """What is searched of the candidates has changed: one more generation."""
    before = row(connection, worktree_key, Source.CANDIDATE)
    after = Row(generation=before.generation + 1, complete=True)
    put_row(connection, worktree_key, Source.CANDIDATE, after, at)


def put(connection: sqlite3.Connection, worktree_key: str, source: Source, item_id: str, text: str) -> None:
    """Have a text searched, in the place of what was under that id. One without terms is found by nothing."""
    drop(connection, worktree_key, source, item_id)
    terms = distinct(text)
    number = connection.execute(_NAMED, (worktree_key, source, item_id, len(terms))).lastrowid
    connection.execute("INSERT INTO team_terms (rowid, terms) VALUES (?, ?)", (number, " ".join(terms)))


def drop(connection: sqlite3.Connection, worktree_key: str, source: Source, item_id: str) -> None:
    """Have it searched no more."""
    found = connection.execute(_NUMBER, (worktree_key, source, item_id)).fetchone()
    if found is not None:
        connection.execute("DELETE FROM team_terms WHERE rowid = ?", found)
        connection.execute("DELETE FROM team_text WHERE number = ?", found)


def compact(connection: sqlite3.Connection) -> None:
    """Write the index anew: what was dropped stands in it until then, though nothing finds it."""
    connection.execute("INSERT INTO team_terms (team_terms) VALUES ('optimize')")


def items(connection: sqlite3.Connection, worktree_key: str, source: Source) -> frozenset[str]:
    """The ids of all that is searched."""
    return frozenset(item_id for (item_id,) in connection.execute(_ITEMS, (worktree_key, source)))


def asked(text: str) -> tuple[str, ...]:
    """The terms that a text is searched by: of its first 1 024 characters, at most 32."""
    return distinct(text[:ASKED_CHARACTERS])[:ASKED_TERMS]


class Search:
    """Searches the texts of one worktree and source, as they are in the caller's transaction. For several texts at
    once: who holds a word is asked once."""

    def __init__(self, connection: sqlite3.Connection, worktree_key: str, source: Source) -> None:
        self._connection = connection
        rows = connection.execute(_TEXTS, (worktree_key, source)).fetchall()
        mean = max(sum(size for _, _, size in rows) / len(rows), 1.0) if rows else 1.0
        self._ids = {number: item_id for number, item_id, _ in rows}
        self._weights = {number: round(SCALE * _length(size / mean)) for number, _, size in rows}
        self._holding: dict[str, list[int]] = {}

    def nearest(self, terms: Sequence[str], limit: int) -> tuple[str, ...]:
        """The ids of the texts that hold any of these terms, best first, ties by id. A word that more than half of
        many texts hold tells nothing, and is asked only when there is no other."""
        total = len(self._ids)
        found = [holding for term in terms if (holding := self._texts(term))]
        telling = [holding for holding in found if len(holding) * 2 <= total or total < MANY]
        weights = self._weights
        scores: dict[int, int] = {}
        for holding in telling or found:
            worth = round(SCALE * math.log1p((total - len(holding) + 0.5) / (len(holding) + 0.5)))
            for number in holding:
                scores[number] = scores.get(number, 0) + worth * weights[number]
        least = min(heapq.nlargest(limit, scores.values()), default=0)
        best = sorted((-score, self._ids[number]) for number, score in scores.items() if score >= least)
        return tuple(item_id for _, item_id in best[:limit])

    def _texts(self, term: str) -> list[int]:
        if term not in self._holding:
            rows = self._connection.execute(_HOLDING, (_quoted(term),)).fetchall() if self._ids else []
            self._holding[term] = [number for (number,) in rows if number in self._ids]
        return self._holding[term]


def _length(relative: float) -> float:
    """BM25's weight of a word that a text holds once. `relative`: the text's length to the mean."""
    return (_K1 + 1) / (1 + _K1 * (1 - _B + _B * relative))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
