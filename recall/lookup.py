"""Reading the index (M-05): one look-up is one function on a read connection. Filters come before every limit.

A search asks the rarest terms first, until POSTINGS row ids or TERMS terms (spec of retrieval, section 5), takes the
DEPTH records with the largest sum of idf, and scores these by BM25 over everything asked. All statistics are those of
the visible scopes: a record of another workspace is neither read nor counted, and changes no score (invariant 1).
"""

import json
import math
import sqlite3
from array import array
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
from recall.kept import Kept, Known, Reads
from recall.providers import loaded_by
from recall.tables import meta
from recall.tally import token

POSTINGS = 3000
TERMS = 48
DEPTH = 64  # records that are scored; up to three times as many for few terms, which many records hold alike
DEPTH_TERMS = 24  # terms from which it is no more than that
COMPLETIONS = 16  # terms that a word still being typed may stand for
PARTIAL = 0.5  # what such a term counts, beside a whole one
SATURATION, LENGTH = 1.1, 0.8  # BM25's k1 and b, chosen on the development sets
RECORD = (
    "SELECT r.id, r.digest, r.terms, r.body, f.relative, f.version, r.memory_id, t.provider, r.line_start, r.byte_start"
    " FROM record r JOIN file f ON f.id = r.file JOIN root t ON t.id = f.root"
)
_SCORED = RECORD.replace("r.byte_start", "r.byte_start, r.counts, r.length")
_POSTINGS = "SELECT (SELECT group_concat(rowid) FROM posting WHERE posting MATCH j.value) FROM json_each(?) j"
_TIMED = (
    "SELECT id, terms FROM record WHERE scope = ? AND searchable = 1"
    " AND (valid_from IS NOT NULL OR expires IS NOT NULL) AND (valid_from > ? OR expires <= ?)"
)
_HELD = RECORD.replace("r.byte_start", "r.byte_start, t.folder")
RELATIVE, FOLDER = 4, 10  # places in a row of `RECORD`, of `_HELD`
Held = dict[int, dict[str, int]]  # scope row -> term -> in how many records it is
Row = Sequence[Any]  # of `RECORD`, `_SCORED` or `_HELD`
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


def search(connection: sqlite3.Connection, asked: Search, view: View, kept: Kept | None = None) -> Searched:
    """Eligible records that hold any of the terms, best first; scores are positive, higher is better. `kept`: what was
    read before, and is read now."""
    reads = _reads(connection, kept)
    sight = _sight(connection, view)
    held = _held(connection, asked.terms, sight)
    counts = _counts(held, sight)
    weights = {term: _idf(count, sight.records) for term, count in counts.items()}
    whole = sum(weights.values()) + (len(set(asked.terms)) - len(weights)) * _idf(0, sight.records)
    for term, count in _completions(connection, asked.prefix, sight, held).items():
        if term not in weights:
            weights[term] = PARTIAL * _idf(count, sight.records)
    chosen = _rarest(asked.terms, held, weights)
    depth = max(DEPTH, min(3 * DEPTH, DEPTH * DEPTH_TERMS // max(1, len(chosen))), asked.limit)
    best = _best(_gather(connection, chosen, held, weights, reads), sight.untimely, depth)
    scored: list[tuple[float, str, float, Known]] = []
    for known in _known(connection, best, reads.records):
        score, matched = _bm25(known, weights, sight.mean_length)
        scored.append((-score, known.memory_id, matched, known))
    scored.sort(key=_by_score)
    candidates = [
        _found(known, -score, min(1.0, matched / whole) if whole else 0.0)
        for score, _, matched, known in scored[: asked.limit]
    ]
    return Searched(candidates, TermStatistics(total=sight.records, counts=counts))


def statistics(connection: sqlite3.Connection, terms: Sequence[str], view: View) -> TermStatistics:
    """Document counts of the terms over the eligible records."""
    sight = _sight(connection, view)
    return TermStatistics(total=sight.records, counts=_counts(_held(connection, terms, sight), sight))


def by_id(connection: sqlite3.Connection, memory_ids: Sequence[str], view: View) -> list[Candidate]:
    """Visible live records by id, whatever their status or time, in the order asked."""
    found: dict[str, Candidate] = {}
    for scope in seen_scopes(connection, view.scope):
        for row in connection.execute(
            RECORD + " WHERE r.memory_id IN (SELECT value FROM json_each(?)) AND +r.scope = ? AND r.standing = 'live'",
            (json.dumps(list(memory_ids)), scope[0]),
        ):
            found.setdefault(row[6], of_kind(row))
    return [found[memory_id] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]


def eligible(connection: sqlite3.Connection, rows: Sequence[int], of: int, view: View) -> list[Candidate] | None:
    """Eligible records by row, in the order asked; None when the tables were made anew since epoch `of`."""
    found = meta(connection)
    if found is None or found.epoch != of:
        return None
    sight = _sight(connection, view)
    held = {
        row[0]: row
        for row in connection.execute(
            RECORD + " WHERE r.id IN (SELECT value FROM json_each(?)) AND r.searchable = 1"
            " AND +r.scope IN (SELECT value FROM json_each(?))",
            (json.dumps(list(rows)), json.dumps(sight.scopes)),
        )
        if row[0] not in sight.untimely
    }
    return [of_kind(held[row]) for row in dict.fromkeys(rows) if row in held]


def pinned(connection: sqlite3.Connection, limit: int, view: View) -> list[Candidate]:
    """Eligible pinned records: priority -1 first, then the higher priority, then the newer, then by id."""
    sight = _sight(connection, view)
    rows = connection.execute(
        RECORD + " WHERE r.pinned = 1 AND r.searchable = 1 AND r.scope IN (SELECT value FROM json_each(?))"
        " AND r.id NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY r.priority IS NOT -1, coalesce(r.priority, 0) DESC, r.created DESC, r.memory_id LIMIT ?",
        (json.dumps(sight.scopes), json.dumps(list(sight.untimely)), limit),
    )
    return [of_kind(row) for row in rows]


def rows(connection: sqlite3.Connection, ids: Sequence[int]) -> list[Row]:
    """Rows of searchable records for the fallback, by their row ids."""
    return connection.execute(
        _HELD + " WHERE r.searchable = 1 AND r.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    ).fetchall()


def hottest(connection: sqlite3.Connection, limit: int) -> list[Row]:
    """Rows of searchable records of all scopes for the fallback: pinned ones and the newest."""
    return connection.execute(
        _HELD + " WHERE r.searchable = 1 ORDER BY r.pinned DESC, r.created DESC, r.memory_id LIMIT ?", (limit,)
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


def _held(connection: sqlite3.Connection, terms: Sequence[str], sight: _Sight) -> Held:
    """For each scope the terms that occur there, in the order asked, and in how many records."""
    asked = json.dumps(list(terms))
    query = "SELECT d.term, d.records FROM json_each(?) j CROSS JOIN df d ON d.scope = ? AND d.term = j.value"
    return {scope: dict(connection.execute(query, (asked, scope)).fetchall()) for scope in sight.scopes}


def _counts(held: Held, sight: _Sight) -> dict[str, int]:
    """Of how many eligible records each term is; terms of none are left out."""
    counts: dict[str, int] = {}
    for found in held.values():
        if not counts:
            counts = dict(found)
            continue
        for term, records in found.items():
            counts[term] = counts.get(term, 0) + records
    if sight.untimely:
        for terms in sight.untimely.values():
            for term in terms.split("\n"):
                if term in counts:
                    counts[term] -= 1
        counts = {term: count for term, count in counts.items() if count > 0}
    return counts


def _completions(connection: sqlite3.Connection, prefix: str, sight: _Sight, held: Held) -> dict[str, int]:
    """The most frequent terms that begin with `prefix`, and in how many records; added to `held`."""
    found: dict[str, int] = {}
    for scope in sight.scopes if prefix else ():
        for term, records in connection.execute(
            "SELECT term, records FROM df WHERE scope = ? AND term >= ? AND term < ?"
            " ORDER BY records DESC, term LIMIT ?",
            (scope, prefix, prefix + "\U0010ffff", COMPLETIONS),
        ):
            found[term] = found.get(term, 0) + records
            held[scope].setdefault(term, records)
    return found


def _idf(count: int, records: int) -> float:
    return math.log(1 + (max(records - count, 0) + 0.5) / (count + 0.5))


def _rarest(terms: Sequence[str], held: Held, weights: Mapping[str, float]) -> list[str]:
    """The rarest terms within both budgets, at least one; of equally rare ones the one asked first."""
    order = [term for term in dict.fromkeys(terms) if term in weights]
    if len(order) < len(weights):  # completions, which nobody asked for in so many words
        order += sorted(weights.keys() - set(order))
    order.sort(key=weights.__getitem__, reverse=True)  # of equal ones the first stay first
    chosen: list[str] = []
    postings = 0
    for term in order[:TERMS]:
        postings += sum([found.get(term, 0) for found in held.values()])
        if chosen and postings > POSTINGS:
            break
        chosen.append(term)
    return chosen


def _reads(connection: sqlite3.Connection, kept: Kept | None) -> Reads:
    found = None if kept is None else meta(connection)
    return Reads() if kept is None or found is None else kept.at(found.version, found.epoch)


def _gather(
    connection: sqlite3.Connection, chosen: Sequence[str], held: Held, weights: Mapping[str, float], reads: Reads
) -> dict[int, float]:
    """row id -> sum of the weights of the chosen terms that the record holds."""
    wanted = [(term, token(scope, term)) for term in chosen for scope, found in held.items() if term in found]
    postings = _postings(connection, [one for _, one in wanted], reads)
    sums: dict[int, float] = {}
    so_far = sums.get
    for (term, _), rows in zip(wanted, postings, strict=True):
        weight = weights[term]
        for row in rows:
            sums[row] = so_far(row, 0.0) + weight
    return sums


def _postings(connection: sqlite3.Connection, tokens: Sequence[str], reads: Reads) -> list["array[int]"]:
    """The rows that hold each of the tokens. Only those that nobody has asked for yet are asked for, but always one: a
    table that is broken is noticed by the next who asks."""
    missing = [one for one in tokens if one not in reads.postings] or tokens[:1]
    read: dict[str, array[int]] = {}
    if missing:
        asked = json.dumps([f'"{one}"' for one in missing])
        for one, (found,) in zip(missing, connection.execute(_POSTINGS, (asked,)), strict=True):
            read[one] = array("q", map(int, found.split(",") if found else ()))
            reads.add(one, read[one])
    return [read[one] if one in read else reads.postings[one] for one in tokens]


def _best(sums: dict[int, float], untimely: Iterable[int], most: int) -> list[int]:
    """The row ids with the largest sums, of equal ones the newest rows."""
    for row in untimely:
        sums.pop(row, None)
    ordered = sorted(sums.values(), reverse=True)
    least = ordered[most - 1] if len(ordered) >= most else 0.0
    rows = [(-total, -row) for row, total in sums.items() if total >= least]
    return [-row for _, row in sorted(rows)[:most]]


def _known(connection: sqlite3.Connection, ids: Sequence[int], held: dict[int, Known]) -> list[Known]:
    """The records of these rows. Only those that nobody has read yet are read, but always one, as of the postings."""
    missing = [row for row in ids if row not in held] or ids[:1]
    if missing:
        question = _SCORED + " WHERE r.id IN (SELECT value FROM json_each(?))"
        held.update({row[0]: _as_read(row) for row in connection.execute(question, (json.dumps(missing),))})
    return [known for row in ids if (known := held.get(row))]


def _as_read(row: Row) -> Known:
    terms, counts = tuple(row[2].split("\n")), row[10]
    return Known(
        memory_id=row[6],
        terms=terms,
        once=terms[len(counts) :],
        counts=counts,
        length=row[11],
        row=row,
    )


def _bm25(known: Known, weights: Mapping[str, float], mean_length: float) -> tuple[float, float]:
    """(score, sum of the weights of the matched terms) of a record."""
    norm = SATURATION * (1 - LENGTH + LENGTH * known.length / mean_length)
    matched = sum(filter(None, map(weights.get, known.once)))
    score = matched * (SATURATION + 1) / (1 + norm)
    for term, count in zip(known.terms, known.counts, strict=False):  # the first ones occur more than once
        if term in weights:
            matched += weights[term]
            score += weights[term] * count * (SATURATION + 1) / (count + norm)
    return score, matched


def _by_score(one: tuple[float, str, float, Known]) -> tuple[float, str]:
    return one[0], one[1]


def _found(known: Known, score: float, confidence: float) -> Candidate:
    """The candidate of a record that was searched for."""
    candidate = known.candidate
    if candidate is None:
        candidate = known.candidate = _candidate(known.row, known.terms, SourceName.LEXICAL, (0.0, 0.0))
        known.row = ()
    return msgspec.structs.replace(candidate, score=score, confidence=confidence)


def of_kind(row: Row) -> Candidate:
    """A candidate that was not searched for: it comes from the source of its own kind."""
    candidate = _candidate(row, row[2].split("\n") if row[2] else (), SourceName.LEXICAL, (1.0, 1.0))
    source = SourceName(candidate.kind.value)
    return msgspec.structs.replace(candidate, id=f"{source}:{candidate.memory_id}", source=source)


def _candidate(row: Row, terms: Sequence[str], source: SourceName, found: tuple[float, float]) -> Candidate:
    _, digest, _, body, relative, version, memory_id, provider, line, byte, *_ = row
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
        promoted=record.promoted,
        terms=tuple(terms),
        loaded_by=loaded_by(provider, relative, line, byte, record.tags) if provider else (),
    )
