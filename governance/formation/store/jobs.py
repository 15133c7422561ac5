"""Jobs, kept: rows of `job`, and which ranges of which sessions wait. Plain functions over a connection."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from governance.formation.contracts import Job, JobState, Pipeline
from governance.formation.errors import StateFault
from governance.formation.jobs import EMPTY, forward
from recall.contracts import Frozen, Millis

_COLUMNS = Job.__struct_fields__
_NAMES = Job.__struct_encode_fields__
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM job"
_PUT = f"INSERT OR REPLACE INTO job ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_OVER = "DELETE FROM job WHERE session_id = ? AND pipeline = ? AND state IN ('done', 'denied') AND job_id != ?"
_SAME = f"{_SELECT} WHERE session_id = ? AND pipeline = ? AND state = 'queued' ORDER BY created_at LIMIT 1"
_IN_STATES = f"{_SELECT} WHERE state IN (SELECT value FROM json_each(?)) ORDER BY created_at, job_id"
# A boundary beyond the cursor, that nobody found empty: a range that waits.
_WAITING = (
    "SELECT j.session_id, j.workspace_key, coalesce(c.processed_seq, -1) + 1, max(j.boundary_seq), min(j.created_at),"
    " j.reason, j.state, j.job_id FROM job j"
    " LEFT JOIN cursor c ON c.pipeline = j.pipeline AND c.session_id = j.session_id"
    " WHERE j.pipeline = ?1 AND j.state != 'denied' AND j.boundary_seq > coalesce(c.processed_seq, -1)"
    " AND j.reason NOT IN (SELECT value FROM json_each(?2)) AND (?3 = '' OR j.workspace_key = ?3)"
    " GROUP BY j.session_id ORDER BY min(j.created_at), j.session_id"
)
_PASSED = (
    "UPDATE job SET state = 'done', reason = '' WHERE state = 'failed' AND EXISTS (SELECT 1 FROM cursor c WHERE"
    " c.pipeline = job.pipeline AND c.session_id = job.session_id AND c.processed_seq >= job.boundary_seq)"
)
_CURSOR = "SELECT processed_seq FROM cursor WHERE pipeline = ? AND session_id = ?"


class WaitingRange(Frozen, frozen=True, kw_only=True):
    """A range whose boundary was reached, and which is not formed. `from_seq`, `through_seq`: inclusive. `since`: when
    its job was made. `state`: of the job. `reason`: why it waits, as far as a run has said."""

    session_id: str
    workspace_key: str
    from_seq: int
    through_seq: int
    since: Millis
    reason: str
    state: JobState
    job_id: str = ""


def put(connection: sqlite3.Connection, job: Job) -> Job:
    """The session's job of that pipeline: `job`, or the one that waits already, moved forward. One that was made for
    the same boundary stays as it is. What is over of the session is let go: the newer boundary covers it."""
    known = of(connection, job.job_id)
    if known is not None:
        return known
    row = connection.execute(_SAME, (job.session_id, job.pipeline)).fetchone()
    kept = job if row is None else forward(_job(row), job)
    save(connection, kept)
    connection.execute(_OVER, (job.session_id, job.pipeline, kept.job_id))
    return kept


def save(connection: sqlite3.Connection, job: Job) -> None:
    """Write a job down in the place of the one of its id."""
    connection.execute(_PUT, tuple(getattr(job, name) for name in _COLUMNS))


def of(connection: sqlite3.Connection, job_id: str) -> Job | None:
    """One job. Raises StateFault (`state-corrupt`)."""
    row = connection.execute(f"{_SELECT} WHERE job_id = ?", (job_id,)).fetchone()
    return None if row is None else _job(row)


def in_states(connection: sqlite3.Connection, states: Iterable[JobState]) -> tuple[Job, ...]:
    """The jobs in these states, oldest first. Raises StateFault (`state-corrupt`)."""
    listed = msgspec.json.encode([str(state) for state in states]).decode()
    return tuple(_job(row) for row in connection.execute(_IN_STATES, (listed,)))


def change(connection: sqlite3.Connection, job: Job, expected: JobState, after: Callable[[Job], Job]) -> Job | None:
    """`after(job as it stands)` written down, if it stands in the expected state still; None: it does not."""
    now = of(connection, job.job_id)
    if now is None or now.state is not expected:
        return None
    done = after(now)
    save(connection, done)
    return done


def passed(connection: sqlite3.Connection) -> int:
    """Failed jobs whose range was formed since, by a later boundary, are over; how many there were."""
    return connection.execute(_PASSED).rowcount


def waiting(
    connection: sqlite3.Connection, idle: Iterable[str] = (), workspace_key: str = ""
) -> tuple[WaitingRange, ...]:
    """Ranges of the checkpoint pipeline that wait, oldest first; of one workspace, or of all. `idle`: reasons for which
    a range waits for nobody."""
    passed = msgspec.json.encode([EMPTY, *idle]).decode()
    rows = connection.execute(_WAITING, (Pipeline.CHECKPOINT, passed, workspace_key)).fetchall()
    names = WaitingRange.__struct_fields__
    return tuple(WaitingRange(**{**dict(zip(names, row, strict=True)), "state": JobState(row[-2])}) for row in rows)


def processed(connection: sqlite3.Connection, pipeline: Pipeline, session_id: str) -> int:
    """Up to where a session was formed; -1: nothing of it was."""
    row = connection.execute(_CURSOR, (pipeline, session_id)).fetchone()
    return -1 if row is None else int(row[0])


def _job(row: Sequence[Any]) -> Job:
    try:
        return msgspec.convert(dict(zip(_NAMES, row, strict=True)), Job)
    except msgspec.ValidationError as error:
        problem = f"The job {row[0]} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Restore governance.db, or run `extract --recover`.") from error
