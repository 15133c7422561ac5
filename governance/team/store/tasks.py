"""Tasks that were handed out, the chunk of each with its turns, and the evidence that it names (team.md 4, 5, 12).

Plain functions over a connection, for the caller's transaction: the rules of leases are in `governance.team.leases`. A
row that cannot be read is `state-corrupt`, never "there is none".
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from governance.team.contracts.base import Owner
from governance.team.contracts.rows import ChunkState, ChunkTurn, EvidenceRow, Task, TaskKind, TaskState
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind, TeamFault
from recall.contracts import Millis

UNFINISHED = (TaskState.PENDING, TaskState.CLAIMED)
CHUNK_MOVES: Mapping[ChunkState, frozenset[ChunkState]] = {
    ChunkState.PENDING: frozenset({ChunkState.DRAFTED, ChunkState.EXTRACTED, ChunkState.STALE}),
    ChunkState.DRAFTED: frozenset({ChunkState.EXTRACTED, ChunkState.STALE}),
    ChunkState.EXTRACTED: frozenset(),
    ChunkState.STALE: frozenset(),
}

_COLUMNS = (
    "task_id, kind, repository_key, worktree_key, state, epoch, token, holder, lease_until, source_digest, parent,"
    " session_key, document, reason, created_at, changed_at"
)
_PUT = f"INSERT OR IGNORE INTO team_task ({_COLUMNS}) VALUES ({', '.join('?' * 16)})"
_OF = f"SELECT {_COLUMNS} FROM team_task WHERE task_id = ?"
_LISTED = (
    f"SELECT {_COLUMNS} FROM team_task WHERE worktree_key = ? AND (? IS NULL OR kind = ?)"
    " AND (? OR state IN (SELECT value FROM json_each(?))) ORDER BY created_at, task_id"
)
_COUNTS = "SELECT kind || '.' || state, COUNT(*) FROM team_task WHERE worktree_key = ? GROUP BY kind, state"
_MOVE = (
    "UPDATE team_task SET state = ?, epoch = ?, token = ?, holder = ?, lease_until = ?, reason = ?, changed_at = ?"
    " WHERE task_id = ? AND state = ? AND epoch = ? AND token = ?"
)
_DOCUMENT = "UPDATE team_task SET document = ? WHERE task_id = ?"
_CHILDREN = f"SELECT {_COLUMNS} FROM team_task WHERE parent = ? ORDER BY created_at, task_id"

_PUT_CHUNK = "INSERT OR IGNORE INTO team_chunk (task_id, worktree_key, state, changed_at) VALUES (?, ?, ?, ?)"
_PUT_TURN = (
    "INSERT OR IGNORE INTO team_chunk_turn (task_id, place, turn_key, revision, payload_digest) VALUES (?, ?, ?, ?, ?)"
)
_CHUNK = "SELECT state FROM team_chunk WHERE task_id = ?"
_TURNS = "SELECT turn_key, revision, payload_digest FROM team_chunk_turn WHERE task_id = ? ORDER BY place"
_MOVE_CHUNK = "UPDATE team_chunk SET state = ?, changed_at = ? WHERE task_id = ? AND state = ?"
_FINISHED = (
    "SELECT DISTINCT t.turn_key, t.revision FROM json_each(?) AS one"
    " JOIN team_chunk_turn AS t ON t.turn_key = one.value JOIN team_chunk AS c ON c.task_id = t.task_id"
    " WHERE c.worktree_key = ? AND c.state IN ('drafted', 'extracted')"
)
_HOLDING = (
    f"SELECT {_COLUMNS} FROM team_task WHERE worktree_key = ? AND kind = 'recall' AND state IN ('pending', 'claimed')"
    " AND task_id IN (SELECT t.task_id FROM json_each(?) AS one JOIN team_chunk_turn AS t ON t.turn_key = one.value)"
    " ORDER BY created_at, task_id"
)

_EVIDENCE = "evidence_id, kind, pointer_digest, display, pointer, strength, limitations, turn_key, turn_revision"
_PUT_EVIDENCE = (
    f"INSERT OR IGNORE INTO team_evidence (task_id, {_EVIDENCE}) VALUES (?, ?, ?, ?, ?, ?, ?, json(?), ?, ?)"
)
# The number in an id is its place in the catalogue: as text, ev-10 would stand before ev-2.
_OF_EVIDENCE = (
    f"SELECT {_EVIDENCE} FROM team_evidence WHERE task_id = ?"
    " ORDER BY CAST(substr(evidence_id, 4) AS INTEGER), evidence_id"
)


def put(connection: sqlite3.Connection, task: Task) -> bool:
    """Write a task down. One of that id stays as it is: False."""
    row = (
        task.task_id,
        task.kind,
        task.owner.repository_key,
        task.owner.worktree_key,
        task.state,
        task.epoch,
        task.token,
        task.holder,
        task.lease_until,
        task.source_digest,
        task.parent,
        task.session_key,
        task.document,
        task.reason,
        task.created_at,
        task.changed_at,
    )
    return connection.execute(_PUT, row).rowcount == 1


def get(connection: sqlite3.Connection, task_id: str) -> Task | None:
    """The task. Raises TeamFault `state-corrupt`."""
    row = connection.execute(_OF, (task_id,)).fetchone()
    return None if row is None else _task(row)


def needed(connection: sqlite3.Connection, task_id: str, owner: Owner, *kinds: TaskKind) -> Task:
    """The task of this worktree, of one of `kinds` (none given: any). Raises TeamFault `task-not-found`,
    `state-corrupt`."""
    found = get(connection, task_id)
    if found is None or found.owner != owner or (kinds and found.kind not in kinds):
        what = f"{' or '.join(kinds)} task" if kinds else "task"
        raise TeamFault(
            Kind.TASK_NOT_FOUND,
            f"This worktree has no {what} {task_id[:80]!r}.",
            "Echo the taskId as it was handed out, and call from the worktree that it was handed out in.",
        )
    return found


def listed(
    connection: sqlite3.Connection, worktree_key: str, kind: TaskKind | None = None, states: Collection[TaskState] = ()
) -> tuple[Task, ...]:
    """The tasks of a worktree, oldest first; no states: all. Raises TeamFault `state-corrupt`."""
    wanted = msgspec.json.encode(sorted(states)).decode()
    rows = connection.execute(_LISTED, (worktree_key, kind, kind, not states, wanted)).fetchall()
    return tuple(_task(row) for row in rows)


def counts(connection: sqlite3.Connection, worktree_key: str) -> dict[str, int]:
    """How many tasks there are, by `<kind>.<state>`."""
    return dict(connection.execute(_COUNTS, (worktree_key,)).fetchall())


def children(connection: sqlite3.Connection, task_id: str) -> tuple[Task, ...]:
    """The tasks that came of this one: adjudications of its drafts."""
    return tuple(_task(row) for row in connection.execute(_CHILDREN, (task_id,)).fetchall())


def moved(connection: sqlite3.Connection, before: Task, after: Task) -> bool:
    """Make `before` what `after` is: state, lease and reason. False: it is `before` no longer, and nothing changes."""
    values = (after.state, after.epoch, after.token, after.holder, after.lease_until, after.reason, after.changed_at)
    where = (before.task_id, before.state, before.epoch, before.token)
    return connection.execute(_MOVE, (*values, *where)).rowcount == 1


def document(connection: sqlite3.Connection, task_id: str, text: str) -> None:
    """Write what a task says anew."""
    connection.execute(_DOCUMENT, (text, task_id))


# ------------------------------------------------------------------------------------------------------------ chunks


def put_chunk(
    connection: sqlite3.Connection, task_id: str, owner: Owner, turns: Sequence[ChunkTurn], at: Millis
) -> None:
    """Write a task's chunk down: which turns it holds, in order. One that is there stays as it is."""
    connection.execute(_PUT_CHUNK, (task_id, owner.worktree_key, ChunkState.PENDING, at))
    rows = [(task_id, place, one.turn_key, one.revision, one.payload_digest) for place, one in enumerate(turns)]
    connection.executemany(_PUT_TURN, rows)


def chunk(connection: sqlite3.Connection, task_id: str) -> ChunkState | None:
    """Where a task's chunk stands; None: it has none. Raises TeamFault `state-corrupt`."""
    row = connection.execute(_CHUNK, (task_id,)).fetchone()
    if row is None:
        return None
    try:
        return ChunkState(row[0])
    except ValueError as error:
        raise _corrupt(task_id, error) from error


def chunk_turns(connection: sqlite3.Connection, task_id: str) -> tuple[ChunkTurn, ...]:
    """The turns of a task's chunk, in order."""
    rows = connection.execute(_TURNS, (task_id,)).fetchall()
    return tuple(ChunkTurn(turn_key=row[0], revision=row[1], payload_digest=row[2]) for row in rows)


def move_chunk(connection: sqlite3.Connection, task_id: str, to: ChunkState, at: Millis) -> bool:
    """Move a task's chunk on. False: it stands there already, or the task has none.

    Raises TeamFault `state-corrupt`: from where it stands there is no such move.
    """
    stands = chunk(connection, task_id)
    if stands is None or stands is to:
        return False
    if to not in CHUNK_MOVES[stands]:
        raise TeamFault(
            Kind.STATE_CORRUPT, f"The chunk of {task_id} is {stands}: it cannot become {to}.", "See `team status`."
        )
    return connection.execute(_MOVE_CHUNK, (to, at, task_id, stands)).rowcount == 1


def finished(
    connection: sqlite3.Connection, worktree_key: str, turn_keys: Collection[str]
) -> frozenset[tuple[str, int]]:
    """Those of the turns that were dealt with, each with its revision then: they lie in a chunk that is extracted, or
    drafted and on its way there."""
    keys = msgspec.json.encode(sorted(turn_keys)).decode()
    return frozenset(connection.execute(_FINISHED, (keys, worktree_key)).fetchall())


def holding(connection: sqlite3.Connection, worktree_key: str, turn_keys: Collection[str]) -> tuple[Task, ...]:
    """Recall tasks of the worktree that nobody has answered and that hold any of the turns."""
    keys = msgspec.json.encode(sorted(turn_keys)).decode()
    return tuple(_task(row) for row in connection.execute(_HOLDING, (worktree_key, keys)).fetchall())


# ---------------------------------------------------------------------------------------------------------- evidence


def put_evidence(connection: sqlite3.Connection, task_id: str, rows: Sequence[EvidenceRow]) -> None:
    """Write a task's catalogue down. What is there stays as it is."""
    values = [
        (
            task_id,
            one.evidence_id,
            one.kind,
            one.pointer_digest,
            one.display,
            one.pointer,
            one.strength,
            msgspec.json.encode(one.limitations).decode(),
            one.turn_key,
            one.turn_revision,
        )
        for one in rows
    ]
    connection.executemany(_PUT_EVIDENCE, values)


def evidence(connection: sqlite3.Connection, task_id: str) -> tuple[EvidenceRow, ...]:
    """A task's catalogue, in its order. Raises TeamFault `state-corrupt`."""
    rows = connection.execute(_OF_EVIDENCE, (task_id,)).fetchall()
    try:
        return tuple(_evidence(row) for row in rows)
    except (ValueError, msgspec.DecodeError) as error:
        raise _corrupt(task_id, error) from error


def _evidence(row: tuple[Any, ...]) -> EvidenceRow:
    return EvidenceRow(
        evidence_id=row[0],
        kind=row[1],
        pointer_digest=row[2],
        display=row[3],
        pointer=row[4],
        strength=Strength(row[5]),
        limitations=msgspec.json.decode(row[6], type=tuple[str, ...]),
        turn_key=row[7],
        turn_revision=row[8],
    )


def _task(row: tuple[Any, ...]) -> Task:
    try:
        return Task(
            task_id=row[0],
            kind=TaskKind(row[1]),
            owner=Owner(repository_key=row[2], worktree_key=row[3]),
            state=TaskState(row[4]),
            epoch=row[5],
            token=row[6],
            holder=row[7],
            lease_until=row[8],
            source_digest=row[9],
            parent=row[10],
            session_key=row[11],
            document=row[12],
            reason=row[13],
            created_at=row[14],
            changed_at=row[15],
        )
    except ValueError as error:
        raise _corrupt(row[0], error) from error


def _corrupt(task_id: str, error: Exception) -> TeamFault:
    return TeamFault(
        Kind.STATE_CORRUPT, f"The task {task_id} cannot be read: {error}.", "Discard it, or move governance.db away."
    )
