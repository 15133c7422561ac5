"""Reading the index (M-05): one look-up is one function on a read connection. Filters come before every limit.

A search asks the rarest terms first, until POSTINGS row ids or TERMS terms (spec of retrieval, section 5), takes the
DEPTH records with the largest sum of idf, and scores these by BM25 over everything asked. All statistics are those of
the visible scopes: a record of another workspace is neither read nor counted, and changes no score.
"""

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from recall.contracts import (
    Candidate,
    Frozen,
    MemoryRecord,
    Millis,
    RuntimeScope,
    SourceName,
    TermStatistics,
    visible_scopes,
)
from recall.indexing import token

POSTINGS = 3000
TERMS = 48
DEPTH = 64
COMPLETIONS = 16  # terms that a word still being typed may stand for
PARTIAL = 0.5  # what such a term counts, beside a whole one
SATURATION, LENGTH = 0.6, 0.75  # BM25's k1 and b, chosen on the development sets
_RECORD = (
    "SELECT r.id, r.digest, r.terms, r.body, f.relative, f.version, r.memory_id"
    " FROM record r JOIN file f ON f.id = r.file"
)
_SCORED = _RECORD.replace("r.memory_id", "r.memory_id, r.counts, r.length")
_TIMED = (
    "SELECT id, terms FROM record WHERE scope = ? AND searchable = 1"
    " AND (valid_from IS NOT NULL OR expires IS NOT NULL) AND (valid_from > ? OR expires <= ?)"
)
Row = Sequence[Any]  # of `_RECORD`
unpack = msgspec.msgpack.Decoder(MemoryRecord).decode


class View(Frozen, frozen=True, kw_only=True):
    """Who asks, and when (epoch milliseconds)."""

    scope: RuntimeScope
    now: Millis


class Search(Frozen, frozen=True, kw_only=True):
    """What is asked: terms, the most telling first among equals; `prefix`: a word still being typed."""

    terms: Sequence[str]
    limit: int
    prefix: str = ""


class _Sight(Frozen, frozen=True, kw_only=True):
    """What can be seen from a view: scope rows, how many records, their mean length, and those not valid just now."""

    scopes: tuple[int, ...]
    records: int
    mean_length: float
    untimely: Mapping[int, str]  # row id -> its terms


class Searched(NamedTuple):
    """The best records, and the document counts of the terms that were asked for: they had to be read anyway."""

    candidates: list[Candidate]
    statistics: TermStatistics


def search(connection: sqlite3.Connection, asked: Search, view: View) -> Searched:
    """Eligible records that hold any of the terms, best first; scores are positive, higher is better."""
    sight = _sight(connection, view)
    by_scope = _counts(connection, asked.terms, sight)
    counted = _summed(by_scope, sight)
    weights = _weights(by_scope, sight)
    whole = sum(weights.values())
    for term, counts in _completions(connection, asked.prefix, sight).items():
        if term not in weights:
            by_scope[term] = counts
            weights[term] = PARTIAL * _idf(sum(counts.values()), sight.records)
    chosen = _rarest(asked.terms, by_scope, weights)
    best = _best(_gather(connection, chosen, by_scope, weights), sight.untimely, max(DEPTH, asked.limit))
    scored: list[tuple[float, str, float, Row, Sequence[str]]] = []
    for row in connection.execute(_SCORED + " WHERE r.id IN (SELECT value FROM json_each(?))", (json.dumps(best),)):
        terms = row[2].split("\n")
        score, matched = _bm25(row, terms, weights, sight.mean_length)
        scored.append((-score, row[6], matched, row, terms))
    scored.sort(key=lambda one: one[:2])
    candidates = [
        _candidate(row, terms, SourceName.LEXICAL, (-score, min(1.0, matched / whole) if whole else 0.0))
        for score, _, matched, row, terms in scored[: asked.limit]
    ]
    return Searched(candidates, counted)


def statistics(connection: sqlite3.Connection, terms: Sequence[str], view: View) -> TermStatistics:
    """Document counts of the terms over the eligible records."""
    sight = _sight(connection, view)
    return _summed(_counts(connection, terms, sight), sight)


def _summed(by_scope: Mapping[str, Mapping[int, int]], sight: _Sight) -> TermStatistics:
    counts = {term: total for term, by in by_scope.items() if (total := sum(by.values())) > 0}
    return TermStatistics(total=sight.records, counts=counts)


def by_id(connection: sqlite3.Connection, memory_ids: Sequence[str], view: View) -> list[Candidate]:
    """Visible live records by id, whatever their status or time, in the order asked."""
    found: dict[str, Candidate] = {}
    for scope in seen_scopes(connection, view.scope):
        for row in connection.execute(
            _RECORD + " WHERE r.memory_id IN (SELECT value FROM json_each(?)) AND r.scope = ? AND r.standing = 'live'",
            (json.dumps(list(memory_ids)), scope[0]),
        ):
            found.setdefault(row[6], of_kind(row))
    return [found[memory_id] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]


def pinned(connection: sqlite3.Connection, limit: int, view: View) -> list[Candidate]:
    """Eligible pinned records: priority -1 first, then the higher priority, then the newer, then by id."""
    sight = _sight(connection, view)
    rows = connection.execute(
        _RECORD + " WHERE r.pinned = 1 AND r.searchable = 1 AND r.scope IN (SELECT value FROM json_each(?))"
        " AND r.id NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY r.priority IS NOT -1, coalesce(r.priority, 0) DESC, r.created DESC, r.memory_id LIMIT ?",
        (json.dumps(sight.scopes), json.dumps(list(sight.untimely)), limit),
    )
    return [of_kind(row) for row in rows]


def hottest(connection: sqlite3.Connection, limit: int) -> list[Row]:
    """Rows of searchable records of all scopes for the fallback: pinned ones and the newest."""
    return connection.execute(
        _RECORD + " WHERE r.searchable = 1 ORDER BY r.pinned DESC, r.created DESC, r.memory_id LIMIT ?", (limit,)
    ).fetchall()


def seen_scopes(connection: sqlite3.Connection, scope: RuntimeScope) -> list[tuple[int, int, int]]:
    """(scope row, records, length) of every scope that can be seen, in the order of `visible_scopes`."""
    found: list[tuple[int, int, int]] = []
    for seen in visible_scopes(scope):
        row = connection.execute(
            "SELECT id, records, length FROM scope WHERE kind = ? AND key = ?", (seen.kind, seen.key)
        ).fetchone()
        if row is not None:
            found.append(row)
    return found


def _sight(connection: sqlite3.Connection, view: View) -> _Sight:
    rows = seen_scopes(connection, view.scope)
    untimely: dict[int, str] = {}
    for scope, _, _ in rows:
        untimely.update(connection.execute(_TIMED, (scope, view.now, view.now)).fetchall())
    records = sum(row[1] for row in rows)
    return _Sight(
        scopes=tuple(row[0] for row in rows),
        records=records - len(untimely),
        mean_length=sum(row[2] for row in rows) / records if records else 1.0,
        untimely=untimely,
    )


def _counts(connection: sqlite3.Connection, terms: Sequence[str], sight: _Sight) -> dict[str, dict[int, int]]:
    """term -> scope row -> number of eligible records that hold it; absent terms are left out."""
    asked = json.dumps(list(terms))
    found: dict[str, dict[int, int]] = {}
    for scope in sight.scopes:
        for term, records in connection.execute(
            "SELECT d.term, d.records FROM json_each(?) j CROSS JOIN df d ON d.scope = ? AND d.term = j.value",
            (asked, scope),
        ):
            found.setdefault(term, {})[scope] = records
    for held in sight.untimely.values():
        for term in held.split("\n"):
            if term in found:
                found[term][-1] = found[term].get(-1, 0) - 1  # taken off the sum, whichever scope it is of
    return found


def _completions(connection: sqlite3.Connection, prefix: str, sight: _Sight) -> dict[str, dict[int, int]]:
    """The most frequent terms that begin with `prefix`."""
    found: dict[str, dict[int, int]] = {}
    if prefix:
        for scope in sight.scopes:
            for term, records in connection.execute(
                "SELECT term, records FROM df WHERE scope = ? AND term >= ? AND term < ?"
                " ORDER BY records DESC, term LIMIT ?",
                (scope, prefix, prefix + "\U0010ffff", COMPLETIONS),
            ):
                found.setdefault(term, {})[scope] = records
    return found


def _weights(by_scope: Mapping[str, Mapping[int, int]], sight: _Sight) -> dict[str, float]:
    counts = {term: sum(by.values()) for term, by in by_scope.items()}
    return {term: _idf(count, sight.records) for term, count in counts.items() if count > 0}


def _idf(count: int, records: int) -> float:
    return math.log(1 + (max(records - count, 0) + 0.5) / (count + 0.5))


def _rarest(terms: Sequence[str], by_scope: Mapping[str, Mapping[int, int]], weights: Mapping[str, float]) -> list[str]:
    """The rarest terms within both budgets, at least one; of equally rare ones the one asked first."""
    place = {term: number for number, term in reversed(list(enumerate(terms)))}
    order = sorted(weights, key=lambda term: (-weights[term], place.get(term, len(place)), term))
    chosen: list[str] = []
    postings = 0
    for term in order[:TERMS]:
        postings += sum(count for scope, count in by_scope[term].items() if scope > 0)
        if chosen and postings > POSTINGS:
            break
        chosen.append(term)
    return chosen


def _gather(
    connection: sqlite3.Connection,
    chosen: Sequence[str],
    by_scope: Mapping[str, Mapping[int, int]],
    weights: Mapping[str, float],
) -> dict[str, float]:
    """row id (as SQLite prints it) -> sum of the weights of the chosen terms that the record holds."""
    wanted = [(term, scope) for term in chosen for scope in by_scope[term] if scope > 0]
    questions = json.dumps([f'"{token(scope, term)}"' for term, scope in wanted])
    sums: dict[str, float] = {}
    rows = connection.execute(
        "SELECT (SELECT group_concat(rowid) FROM posting WHERE posting MATCH j.value) FROM json_each(?) j", (questions,)
    )
    for (term, _), (held,) in zip(wanted, rows, strict=True):
        weight = weights[term]
        for row in held.split(",") if held else ():
            sums[row] = sums.get(row, 0.0) + weight
    return sums


def _best(sums: dict[str, float], untimely: Iterable[int], most: int) -> list[int]:
    """The row ids with the largest sums, of equal ones the newest rows."""
    for row in untimely:
        sums.pop(str(row), None)
    ordered = sorted(sums.values(), reverse=True)
    least = ordered[most - 1] if len(ordered) >= most else 0.0
    rows = [(-total, -int(row)) for row, total in sums.items() if total >= least]
    return [-row for _, row in sorted(rows)[:most]]


def _bm25(row: Row, terms: Sequence[str], weights: Mapping[str, float], mean_length: float) -> tuple[float, float]:
    """(score, sum of the weights of the matched terms) of a record with its terms, counts and length."""
    counts, length = row[7], row[8]
    norm = SATURATION * (1 - LENGTH + LENGTH * length / mean_length)
    matched = sum([weights[term] for term in terms[len(counts) :] if term in weights])
    score = matched * (SATURATION + 1) / (1 + norm)
    for term, count in zip(terms, counts, strict=False):  # the first ones, those that occur more than once
        if term in weights:
            matched += weights[term]
            score += weights[term] * count * (SATURATION + 1) / (count + norm)
    return score, matched


def of_kind(row: Row) -> Candidate:
    """A candidate that was not searched for: it comes from the source of its own kind."""
    candidate = _candidate(row, row[2].split("\n") if row[2] else (), SourceName.LEXICAL, (1.0, 1.0))
    source = SourceName(candidate.kind.value)
    return msgspec.structs.replace(candidate, id=f"{source}:{candidate.memory_id}", source=source)


def _candidate(row: Row, terms: Sequence[str], source: SourceName, found: tuple[float, float]) -> Candidate:
    _, digest, _, body, relative, version, memory_id, *_ = row
    record = unpack(body)
    return Candidate(
        id=f"{source}:{memory_id}",
        memory_id=memory_id,
        anchor_id=record.anchor_id,
        source=source,
        scope=record.scope,
        score=found[0],
        confidence=found[1],
        source_version=version,
        record_digest=digest,
        payload=record.text,
        kind=record.kind,
        status=record.status,
        origin=record.origin,
        created_at=record.created_at,
        title=record.title,
        tags=record.tags,
        flags=record.flags,
        provenance=relative,
        expires_at=record.expires_at,
        valid_from=record.valid_from,
        superseded_by=record.superseded_by,
        risk_level=record.risk_level,
        pinned=record.pinned,
        priority=record.priority,
        importance=record.importance,
        occurred=record.occurred,
        state=record.state,
        terms=tuple(terms),
    )
