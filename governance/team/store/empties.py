"""Tasks that were answered with nothing: an answer like any other, and to be seen as one (team.md 10)."""

import sqlite3

from recall.contracts import Frozen, Millis

_EMPTY = (
    "SELECT s.task_id, s.changed_at, COALESCE(json_extract(t.document, '$.session'), '') FROM team_submission s"
    " JOIN team_task t USING (task_id) WHERE t.worktree_key = ? AND s.stage = 'draft' AND s.state = 'complete'"
    " AND NOT EXISTS (SELECT 1 FROM team_candidate c WHERE c.task_id = s.task_id)"
    " ORDER BY s.changed_at DESC, s.task_id LIMIT ?"
)


class EmptyAnswer(Frozen, frozen=True, kw_only=True):
    """`source`: the keyed name of the session that was read."""

    task_id: str
    at: Millis
    source: str


def empty(connection: sqlite3.Connection, worktree_key: str, limit: int) -> tuple[EmptyAnswer, ...]:
    """Draft batches without a draft, latest first."""
    found = connection.execute(_EMPTY, (worktree_key, limit)).fetchall()
    return tuple(EmptyAnswer(task_id=task_id, at=at, source=source) for task_id, at, source in found)
