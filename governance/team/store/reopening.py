"""A task that was answered is open again: its user gave up what came of it (team.md 10, discard)."""

import sqlite3

from recall.contracts import Millis

_TASK = (
    "UPDATE team_task SET state = 'pending', epoch = epoch + 1, token = '', holder = '', lease_until = 0, reason = ?,"
    " changed_at = ? WHERE task_id = ? AND state = 'submitted'"
)
_CHUNK = "UPDATE team_chunk SET state = 'pending', changed_at = ? WHERE task_id = ?"
_CHILDREN = (
    "UPDATE team_task SET state = 'stale', reason = ?, changed_at = ?"
    " WHERE parent = ? AND state IN ('pending', 'claimed')"
)
_RECORDS = "DELETE FROM team_submission WHERE task_id = ?"
REASON = "given up, to be answered again"


def reopened(connection: sqlite3.Connection, task_id: str, at: Millis) -> bool:
    """Open a submitted task again, with its chunk; what asked of its drafts is stale. False: it was not submitted."""
    if connection.execute(_TASK, (REASON, at, task_id)).rowcount != 1:
        return False
    connection.execute(_CHUNK, (at, task_id))
    connection.execute(_CHILDREN, (REASON, at, task_id))
    connection.execute(_RECORDS, (task_id,))
    return True
