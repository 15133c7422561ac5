"""Stage records (team.md 6, 12): which document a task was answered with, and how far that has come.

Functions over a connection, for the caller's transaction. The same document again finds its outcome, another one is a
conflict and written down as such.
"""

import sqlite3
from enum import StrEnum

from governance.team.errors import Kind, TeamFault
from recall.contracts import Frozen, Millis

_COLUMNS = "task_id, stage, document_digest, state, outcome, at, changed_at"
_OF = f"SELECT {_COLUMNS} FROM team_submission WHERE task_id = ? AND stage = ?"
_PUT = f"INSERT INTO team_submission ({_COLUMNS}) VALUES (?, ?, ?, ?, '', ?, ?)"
_MOVE = (
    "UPDATE team_submission SET state = ?, outcome = ?, changed_at = ?"
    " WHERE task_id = ? AND stage = ? AND document_digest = ? AND state = ?"
)
_CONFLICT = "INSERT OR IGNORE INTO team_submission_conflict (task_id, stage, document_digest, at) VALUES (?, ?, ?, ?)"


class Stage(StrEnum):
    """What a document answers."""

    DRAFT = "draft"
    ADJUDICATION = "adjudication"
    SKILL = "skill"
    CONSOLIDATION = "consolidation"
    SHARE = "share"


class StageState(StrEnum):
    SUBMITTING = "submitting"  # claimed, and nothing taken in yet: another document may still come instead
    ADJUDICATING = "adjudicating"  # the drafts are in, and not compared
    AWAITING = "awaiting-adjudication"
    DECIDING = "submitting-adjudication"
    COMPLETE = "complete"


_MOVES = {
    StageState.SUBMITTING: frozenset({StageState.ADJUDICATING, StageState.COMPLETE}),
    StageState.ADJUDICATING: frozenset({StageState.AWAITING, StageState.COMPLETE}),
    StageState.AWAITING: frozenset({StageState.AWAITING, StageState.DECIDING}),  # compared again
    StageState.DECIDING: frozenset({StageState.COMPLETE}),
    StageState.COMPLETE: frozenset[StageState](),
}


class Submission(Frozen, frozen=True, kw_only=True):
    """`outcome`: the JSON of what was answered; empty while there is no answer."""

    task_id: str
    stage: Stage
    document_digest: str
    state: StageState
    outcome: str
    at: Millis
    changed_at: Millis


def get(connection: sqlite3.Connection, task_id: str, stage: Stage) -> Submission | None:
    """The record of a task's stage."""
    row = connection.execute(_OF, (task_id, stage)).fetchone()
    if row is None:
        return None
    names = Submission.__struct_fields__
    plain = dict(zip(names, row, strict=True))
    return Submission(**plain | {"stage": Stage(row[1]), "state": StageState(row[3])})


def met(connection: sqlite3.Connection, task_id: str, stage: Stage, document_digest: str) -> Submission | None:
    """The record of this very document. None: nothing was taken in yet.

    Raises TeamFault `submission-conflict` when another document was; `conflict` is to be called then, in a transaction
    of its own.
    """
    found = get(connection, task_id, stage)
    if found is None or found.document_digest == document_digest:
        return found
    if found.state is StageState.SUBMITTING:
        return None
    problem = f"The task {task_id} was answered with another document already."
    raise TeamFault(
        Kind.SUBMISSION_CONFLICT,
        problem,
        "What was staged stands. To have it otherwise, discard its candidates and the recall's task, and recall again.",
    )


def begin(connection: sqlite3.Connection, task_id: str, stage: Stage, document_digest: str, at: Millis) -> None:
    """A document is being taken in, in the place of one of which nothing was. Raises TeamFault as `met`."""
    if met(connection, task_id, stage, document_digest) is None:
        forget(connection, task_id, stage)
        connection.execute(_PUT, (task_id, stage, document_digest, StageState.SUBMITTING, at, at))


def move(connection: sqlite3.Connection, before: Submission, state: StageState, outcome: str, at: Millis) -> Submission:
    """Bring a record on. Raises TeamFault `submission-conflict`: it is not as it was, or has no such move."""
    about = (before.task_id, before.stage, before.document_digest, before.state)
    held = state in _MOVES[before.state] and connection.execute(_MOVE, (state, outcome, at, *about)).rowcount == 1
    found = get(connection, before.task_id, before.stage) if held else None
    if found is None:
        problem = f"The task {before.task_id} was answered by another one meanwhile."
        raise TeamFault(Kind.SUBMISSION_CONFLICT, problem, "Ask for the team's status, or recall again.")
    return found


def forget(connection: sqlite3.Connection, task_id: str, stage: Stage) -> None:
    """Nothing was taken in after all, or the task is to be answered anew."""
    connection.execute("DELETE FROM team_submission WHERE task_id = ? AND stage = ?", (task_id, stage))


def conflict(connection: sqlite3.Connection, task_id: str, stage: Stage, document_digest: str, at: Millis) -> None:
    """Write down that another document was refused."""
    connection.execute(_CONFLICT, (task_id, stage, document_digest, at))


def conflicts(connection: sqlite3.Connection, task_id: str) -> int:
    """How many other documents were refused."""
    found: int = connection.execute(
        "SELECT count(*) FROM team_submission_conflict WHERE task_id = ?", (task_id,)
    ).fetchone()[0]
    return found
