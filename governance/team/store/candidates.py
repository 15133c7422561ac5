"""Candidates and our assessments of what they state (team.md 4, 6, 12).

Functions over a connection, for the caller's transaction. A visible change is one more revision, compared and set;
what is searched of the candidate and the generation of that change with it. Which plan holds a candidate: `plans`.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from governance.team.contracts.base import Owner
from governance.team.contracts.promoting import CandidateKind
from governance.team.contracts.rows import Assessment, Candidate, CandidateState, Cited, Target
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import texts
from governance.team.store.texts import Row, Source
from recall.analyzer import ANALYZER
from recall.contracts import Frozen, Millis

OPEN = (CandidateState.DRAFT, CandidateState.STAGED)
_MOVES = {
    CandidateState.DRAFT: frozenset({CandidateState.DRAFT, CandidateState.STAGED, CandidateState.DISCARDED}),
    CandidateState.STAGED: frozenset({CandidateState.STAGED, CandidateState.PROMOTED, CandidateState.DISCARDED}),
    CandidateState.PROMOTED: frozenset[CandidateState](),
    CandidateState.DISCARDED: frozenset[CandidateState](),
}
_COLUMNS = (
    "candidate_id, kind, task_id, repository_key, worktree_key, state, revision, memory_id, target_path, payload,"
    " flags, supersedes, covers, plan_id, reason, created_at, changed_at"
)
_SELECT = f"SELECT {_COLUMNS} FROM team_candidate"
_PUT = f"INSERT INTO team_candidate ({_COLUMNS}) VALUES ({', '.join('?' * 17)})"
_CHANGE = (
    "UPDATE team_candidate SET state = ?, revision = ?, target_path = ?, payload = ?, flags = ?, supersedes = ?,"
    " covers = ?, plan_id = ?, reason = ?, changed_at = ? WHERE candidate_id = ? AND revision = ?"
)
_OLDEST = "ORDER BY created_at, task_id, length(candidate_id), candidate_id"
_ASSESSED = (
    "statement_id, revision, citations, citations_digest, text_digest, strength, limitations, support, confirmed_at"
)
_ASSESS = f"INSERT INTO team_assessment (candidate_id, {_ASSESSED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ASSESSMENTS = f"SELECT {_ASSESSED} FROM team_assessment WHERE candidate_id = ? ORDER BY statement_id"
_CONFIRM = (
    "UPDATE team_assessment SET support = ?, confirmed_at = ?, revision = revision + 1"
    " WHERE candidate_id IN (SELECT value FROM json_each(?)) AND support != ?"
)
_SAME = " OR ".join(  # of two documents of bindings; null is nobody's name
    f"json_extract(b.document, '$.{field}') = json_extract(own.document, '$.{field}')"
    for field in ("repositoryKey", "publicRepositoryIdentity", "commonDirectoryIdentity")
)
_ELSEWHERE = (
    "SELECT c.state, count(*) FROM team_candidate c JOIN team_binding b ON b.worktree_key = c.worktree_key"
    f" JOIN team_binding own ON own.worktree_key = ?1 WHERE c.worktree_key != ?1 AND ({_SAME})"
    " GROUP BY c.state ORDER BY c.state"
)
_encoder = msgspec.json.Encoder(order="sorted")
_targets = msgspec.json.Decoder(tuple[Target, ...])
_strings = msgspec.json.Decoder(tuple[str, ...])
_cited = msgspec.json.Decoder(tuple[Cited, ...])


class Wanted(Frozen, frozen=True, kw_only=True):
    """Which candidates are asked for. Empty: all."""

    states: tuple[CandidateState, ...] = ()
    kinds: tuple[CandidateKind, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int = 200


def get(connection: sqlite3.Connection, candidate_id: str) -> Candidate | None:
    """One candidate, whoever's. Raises TeamFault `state-corrupt` for a row that cannot be read."""
    row = connection.execute(f"{_SELECT} WHERE candidate_id = ?", (candidate_id,)).fetchone()
    return None if row is None else _candidate(row)


def owned(connection: sqlite3.Connection, owner: Owner, candidate_id: str) -> Candidate:
    """A candidate of this worktree. Raises TeamFault `candidate-not-found`, `state-corrupt`."""
    found = get(connection, candidate_id)
    if found is None or found.owner != owner:
        problem = f"There is no candidate {candidate_id[:120]!r} in this worktree."
        raise TeamFault(Kind.CANDIDATE_NOT_FOUND, problem, "`review` lists those that there are.")
    return found


def listed(connection: sqlite3.Connection, owner: Owner, wanted: Wanted) -> tuple[Candidate, ...]:
    """Those of this worktree that fit, oldest first. Raises TeamFault `state-corrupt`."""
    where, given = _where(owner, wanted)
    rows = connection.execute(f"{_SELECT} WHERE {where} {_OLDEST} LIMIT ?", (*given, wanted.limit)).fetchall()
    return tuple(map(_candidate, rows))


def count(connection: sqlite3.Connection, owner: Owner, wanted: Wanted) -> int:
    """How many fit, whatever the limit."""
    where, given = _where(owner, wanted)
    found: int = connection.execute(f"SELECT count(*) FROM team_candidate WHERE {where}", given).fetchone()[0]
    return found


def of_task(connection: sqlite3.Connection, task_id: str) -> tuple[Candidate, ...]:
    """What came of a task, in the order of its drafts. Raises TeamFault `state-corrupt`."""
    rows = connection.execute(f"{_SELECT} WHERE task_id = ? {_OLDEST}", (task_id,)).fetchall()
    return tuple(map(_candidate, rows))


def next_number(connection: sqlite3.Connection, task_id: str) -> int:
    """The n of the task's next candidate `<taskId>-c<n>`: numbers are not used again, though the task be."""
    numbers = [int(one.candidate_id.rpartition("-c")[2]) for one in of_task(connection, task_id)]
    return max(numbers, default=0) + 1


def of_memory(connection: sqlite3.Connection, owner: Owner, memory_id: str) -> Candidate | None:
    """The candidate that was promoted as this entry, here or in a sibling worktree. Raises TeamFault
    `state-corrupt`."""
    statement = (
        f"{_SELECT} WHERE repository_key = ? AND memory_id = ? AND memory_id != '' AND state = ? {_OLDEST} LIMIT 1"
    )
    row = connection.execute(statement, (owner.repository_key, memory_id, CandidateState.PROMOTED)).fetchone()
    return None if row is None else _candidate(row)


def counts(connection: sqlite3.Connection, owner: Owner) -> dict[str, int]:
    """How many of this worktree there are in each state."""
    statement = "SELECT state, count(*) FROM team_candidate WHERE worktree_key = ? GROUP BY state ORDER BY state"
    return dict(connection.execute(statement, (owner.worktree_key,)).fetchall())


def elsewhere(connection: sqlite3.Connection, owner: Owner) -> dict[str, int]:
    """The same of the repository's other bindings: its other worktrees, and where it was before it was moved, as far as
    its public name or its place on the disk tells."""
    return dict(connection.execute(_ELSEWHERE, (owner.worktree_key,)).fetchall())


def insert(
    connection: sqlite3.Connection, candidate: Candidate, assessments: Iterable[Assessment], text: str = ""
) -> None:
    """Write a new one down. `text`: what search reads of it; empty: nothing.

    Raises sqlite3.IntegrityError when there is one of that id.
    """
    insert_all(connection, [(candidate, assessments, text)])


def insert_all(connection: sqlite3.Connection, given: Sequence[tuple[Candidate, Iterable[Assessment], str]]) -> None:
    """Write several new ones of one worktree down, as one generation. Raises as `insert`."""
    for candidate, assessments, text in given:
        owner = (candidate.owner.repository_key, candidate.owner.worktree_key)
        about = (candidate.candidate_id, candidate.kind, candidate.task_id, *owner, candidate.state, candidate.revision)
        content = (candidate.memory_id, candidate.target_path, candidate.payload)
        times = (candidate.created_at, candidate.changed_at)
        connection.execute(_PUT, (*about, *content, *_lists(candidate), candidate.plan_id, candidate.reason, *times))
        assess(connection, candidate.candidate_id, assessments)
        searched(connection, candidate, text)
    if given:
        last = given[-1][0]
        texts.advance(connection, last.owner.worktree_key, last.changed_at)


def change(connection: sqlite3.Connection, candidate: Candidate, text: str | None = None) -> Candidate:
    """Write a candidate down as it is now: one revision above its row. `text`: what search reads of it from now on;
    None: as before. One that is no longer open is searched no more. The candidate.

    Raises TeamFault `candidate-stale`: the row stands at another revision, or has no such move.
    """
    held = get(connection, candidate.candidate_id)
    if held is None or held.revision != candidate.revision - 1 or candidate.state not in _MOVES[held.state]:
        now = "is not there" if held is None else f"is {held.state} at revision {held.revision}"
        problem = f"The candidate {candidate.candidate_id} was changed meanwhile: it {now}."
        raise TeamFault(Kind.CANDIDATE_STALE, problem, "Ask for a review again, and decide about what it shows.")
    now_is = (candidate.state, candidate.revision, candidate.target_path, candidate.payload, *_lists(candidate))
    rest = (candidate.plan_id, candidate.reason, candidate.changed_at, candidate.candidate_id, held.revision)
    connection.execute(_CHANGE, (*now_is, *rest))
    if candidate.state not in OPEN:
        searched(connection, candidate, "")
    elif text is not None:
        searched(connection, candidate, text)
    texts.advance(connection, candidate.owner.worktree_key, candidate.changed_at)
    return candidate


def assessments(connection: sqlite3.Connection, candidate_id: str) -> tuple[Assessment, ...]:
    """Ours of each statement, by its id. Raises TeamFault `state-corrupt`."""
    return tuple(_assessment(candidate_id, row) for row in connection.execute(_ASSESSMENTS, (candidate_id,)))


def assess(connection: sqlite3.Connection, candidate_id: str, made: Iterable[Assessment]) -> None:
    """Put these in the place of all that there were: what was confirmed before is confirmed no more."""
    connection.execute("DELETE FROM team_assessment WHERE candidate_id = ?", (candidate_id,))
    for one in made:
        cited, limits = _encoder.encode(one.citations).decode(), _encoder.encode(one.limitations).decode()
        digests = (one.citations_digest, one.text_digest)
        row = (one.statement_id, one.revision, cited, *digests, one.strength, limits, one.support, one.confirmed_at)
        connection.execute(_ASSESS, (candidate_id, *row))


def confirm(connection: sqlite3.Connection, candidate_ids: Sequence[str], at: Millis) -> None:
    """A person confirmed all statements of these; facts that were verified by themselves keep that."""
    ids = _encoder.encode(list(candidate_ids)).decode()
    connection.execute(_CONFIRM, (Support.HUMAN_CONFIRMED, at, ids, Support.TYPED_FACT))


def search(
    connection: sqlite3.Connection, owner: Owner, terms: Sequence[str], limit: int, but: Collection[str] = ()
) -> tuple[Candidate, ...]:
    """Open candidates of this worktree that hold any of these terms, best first. `but`: ids that are left out."""
    found = texts.Search(connection, owner.worktree_key, Source.CANDIDATE).nearest(terms, limit + len(but))
    return named(connection, [candidate_id for candidate_id in found if candidate_id not in but])[:limit]


def named(connection: sqlite3.Connection, candidate_ids: Sequence[str]) -> tuple[Candidate, ...]:
    """The open candidates of these ids, in their order. Raises TeamFault `state-corrupt`."""
    rows = (get(connection, candidate_id) for candidate_id in candidate_ids)
    return tuple(one for one in rows if one is not None and one.state in OPEN)


def searched(connection: sqlite3.Connection, candidate: Candidate, text: str) -> None:
    """Have this searched of a candidate; empty: nothing. The generation is the caller's."""
    key = candidate.owner.worktree_key
    if text:
        texts.put(connection, key, Source.CANDIDATE, candidate.candidate_id, text)
    else:
        texts.drop(connection, key, Source.CANDIDATE, candidate.candidate_id)


def projection(connection: sqlite3.Connection, owner: Owner) -> Row:
    """How far the projection of candidates has come."""
    return texts.row(connection, owner.worktree_key, Source.CANDIDATE)


def outdated(connection: sqlite3.Connection, owner: Owner) -> bool:
    """Whether another analyzer made what is searched."""
    return projection(connection, owner).analyzer_version != ANALYZER


def _where(owner: Owner, wanted: Wanted) -> tuple[str, list[str]]:
    parts, given = ["worktree_key = ?"], [owner.worktree_key]
    columns: tuple[tuple[str, Sequence[str]], ...] = (
        ("state", wanted.states),
        ("kind", wanted.kinds),
        ("candidate_id", wanted.ids),
    )
    for column, values in columns:
        if values:
            parts.append(f"{column} IN (SELECT value FROM json_each(?))")
            given.append(_encoder.encode(list(values)).decode())
    return " AND ".join(parts), given


def _lists(candidate: Candidate) -> tuple[str, str, str]:
    listed_ones = (candidate.flags, candidate.supersedes, candidate.covers)
    flags, supersedes, covers = (_encoder.encode(one).decode() for one in listed_ones)
    return flags, supersedes, covers


def _candidate(row: tuple[Any, ...]) -> Candidate:
    candidate_id, kind, task_id, repository_key, worktree_key, state, revision, memory_id, path, payload = row[:10]
    flags, supersedes, covers, plan_id, reason, created_at, changed_at = row[10:]
    try:
        return Candidate(
            candidate_id=candidate_id,
            kind=kind,
            task_id=task_id,
            owner=Owner(repository_key=repository_key, worktree_key=worktree_key),
            state=CandidateState(state),
            revision=revision,
            memory_id=memory_id,
            target_path=path,
            payload=payload,
            flags=_strings.decode(flags),
            supersedes=_targets.decode(supersedes),
            covers=_targets.decode(covers),
            plan_id=plan_id,
            reason=reason,
            created_at=created_at,
            changed_at=changed_at,
        )
    except (msgspec.MsgspecError, ValueError) as error:
        raise _corrupt(f"The candidate {candidate_id}", error) from None


def _assessment(candidate_id: str, row: tuple[Any, ...]) -> Assessment:
    statement_id, revision, cited, citations_digest, text_digest, strength, limitations, support, confirmed_at = row
    try:
        plain = {
            "statementId": statement_id,
            "revision": revision,
            "citations": _cited.decode(cited),
            "citationsDigest": citations_digest,
            "textDigest": text_digest,
            "strength": strength,
            "limitations": _strings.decode(limitations),
            "support": support,
            "confirmedAt": confirmed_at,
        }
        return msgspec.convert(plain, Assessment)
    except msgspec.MsgspecError as error:
        raise _corrupt(f"The assessment {statement_id} of {candidate_id}", error) from None


def _corrupt(what: str, error: Exception) -> TeamFault:
    return TeamFault(
        Kind.STATE_CORRUPT, f"{what} cannot be read: {error}.", "Nothing was changed. See what `doctor` says."
    )
