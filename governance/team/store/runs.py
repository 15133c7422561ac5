"""Runs of consolidation: one a patch, with the entries that it saw (team.md 10, 12).

Functions over a connection, for the caller's transaction. A run waits for its review, and is applied with its
candidate or stale with it; an answer without operations is a `no_op` at once. Runs are in order by their number.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from governance.team.contracts.base import Owner
from governance.team.contracts.consolidating import EntryRevision, RunMode
from governance.team.contracts.rows import RunState
from governance.team.errors import Kind, TeamFault
from recall.contracts import Frozen, Millis

_COLUMNS = (
    "run_id, worktree_key, repository_key, mode, state, task_id, candidate_id, entry_set, number, created_at"
    ", changed_at"
)
_SELECT = f"SELECT {_COLUMNS} FROM team_run"
_PUT = f"INSERT INTO team_run ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SUCCEEDED = f"('{RunState.APPLIED}', '{RunState.NO_OP}')"
_encoder = msgspec.json.Encoder(order="sorted")
_entries = msgspec.json.Decoder(tuple[EntryRevision, ...])


class Run(Frozen, frozen=True, kw_only=True):
    """`entries`: what its task offered. `candidate_id`: empty when the patch was."""

    run_id: str
    owner: Owner
    mode: RunMode
    state: RunState
    task_id: str
    entries: tuple[EntryRevision, ...]
    number: int
    created_at: Millis
    changed_at: Millis
    candidate_id: str = ""


def number(connection: sqlite3.Connection) -> int:
    """The number of the next run."""
    found: int = connection.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM team_run").fetchone()[0]
    return found


def put(connection: sqlite3.Connection, run: Run) -> None:
    """Write a run down."""
    owner = (run.run_id, run.owner.worktree_key, run.owner.repository_key)
    about = (run.mode, run.state, run.task_id, run.candidate_id, _encoder.encode(run.entries).decode())
    connection.execute(_PUT, (*owner, *about, run.number, run.created_at, run.changed_at))


def of_candidate(connection: sqlite3.Connection, candidate_id: str) -> Run | None:
    """The run that made a candidate."""
    return _one(connection, "candidate_id = ? AND candidate_id != ''", candidate_id)


def pending(connection: sqlite3.Connection, worktree_key: str) -> Run | None:
    """The run that waits for its review."""
    return _one(connection, f"state = '{RunState.PENDING_REVIEW}' AND worktree_key = ?", worktree_key)


def last(connection: sqlite3.Connection, worktree_key: str) -> Run | None:
    """The newest run, whatever became of it."""
    return _one(connection, "worktree_key = ?", worktree_key)


def succeeded(connection: sqlite3.Connection, worktree_key: str) -> Run | None:
    """The newest run that was applied, or that had nothing to say."""
    return _one(connection, f"state IN {_SUCCEEDED} AND worktree_key = ?", worktree_key)


def no_ops(connection: sqlite3.Connection, worktree_key: str) -> tuple[Run, ...]:
    """The runs that had nothing to say, newest first."""
    return _many(connection, f"state = '{RunState.NO_OP}' AND worktree_key = ?", worktree_key)


def seen(connection: sqlite3.Connection, worktree_key: str) -> frozenset[EntryRevision]:
    """The entries that successful runs saw, each as it was then."""
    runs = _many(connection, f"state IN {_SUCCEEDED} AND worktree_key = ?", worktree_key)
    return frozenset(entry for run in runs for entry in run.entries)


def due(connection: sqlite3.Connection, worktree_key: str, entries: Iterable[EntryRevision]) -> int:
    """How many of these entries are new, or changed since a successful run saw them."""
    return len(set(entries) - seen(connection, worktree_key))


def applied(connection: sqlite3.Connection, candidate_id: str, now: Millis) -> bool:
    """The run's candidate was promoted. False: there is no such run that waits."""
    return _end(connection, candidate_id, RunState.APPLIED, now)


def stale(connection: sqlite3.Connection, candidate_id: str, now: Millis) -> bool:
    """The run's candidate was discarded. False: there is no such run that waits."""
    return _end(connection, candidate_id, RunState.STALE, now)


def _end(connection: sqlite3.Connection, candidate_id: str, state: RunState, now: Millis) -> bool:
    statement = (
        f"UPDATE team_run SET state = ?, changed_at = ? WHERE candidate_id = ? AND state = '{RunState.PENDING_REVIEW}'"
    )
    return bool(candidate_id) and connection.execute(statement, (state, now, candidate_id)).rowcount == 1


def _one(connection: sqlite3.Connection, where: str, value: str) -> Run | None:
    return next(iter(_many(connection, where, value, " LIMIT 1")), None)


def _many(connection: sqlite3.Connection, where: str, value: str, most: str = "") -> tuple[Run, ...]:
    found = connection.execute(f"{_SELECT} WHERE {where} ORDER BY number DESC{most}", (value,)).fetchall()
    return tuple(_run(row) for row in found)


def _run(row: tuple[str, ...]) -> Run:
    run_id, worktree, repository, mode, state, task_id, candidate_id, entries, place, created, changed = row
    fields = {
        "runId": run_id,
        "owner": {"repositoryKey": repository, "worktreeKey": worktree},
        "mode": mode,
        "state": state,
        "taskId": task_id,
        "candidateId": candidate_id,
        "number": place,
        "createdAt": created,
        "changedAt": changed,
        "entries": (),
    }
    try:
        return msgspec.structs.replace(msgspec.convert(fields, Run), entries=_entries.decode(entries))
    except (msgspec.DecodeError, ValueError) as error:
        problem = f"The run {run_id[:60]!r} cannot be read."
        raise TeamFault(Kind.STATE_CORRUPT, problem, "Put governance.db back from a copy.") from error
