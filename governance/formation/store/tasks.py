"""Tasks that the running agent was handed (formation.md 4.3): what they bind to, never what they showed."""

import sqlite3
from enum import StrEnum
from typing import Any

from governance.formation.errors import StateFault
from recall.contracts import Frozen, Millis

_COLUMNS = "task_id, kind, workspace_key, session_id, from_seq, through_seq, binding, state, created_at, changed_at"
_PUT = f"INSERT OR IGNORE INTO agent_task ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OF = f"SELECT {_COLUMNS} FROM agent_task WHERE task_id = ?"
_DONE = "UPDATE agent_task SET state = ?, changed_at = ? WHERE task_id = ? AND state = ?"


class TaskKind(StrEnum):
    """What the agent is asked for."""

    NOTES = "notes"
    CHECKPOINT = "checkpoint"
    L2 = "l2"
    L3 = "l3"
    SKILL = "skill"


class TaskState(StrEnum):
    OPEN = "open"
    DONE = "done"


class TaskRow(Frozen, frozen=True, kw_only=True):
    """`from_seq`: where the window begins (of notes its index); `through_seq`: the last event that was looked at."""

    task_id: str
    kind: TaskKind
    workspace_key: str
    session_id: str
    from_seq: int
    through_seq: int
    binding: str
    created_at: Millis
    changed_at: Millis
    state: TaskState = TaskState.OPEN


def put(connection: sqlite3.Connection, row: TaskRow) -> None:
    """Write a task down; one of that id stays as it is."""
    values = (
        row.task_id,
        row.kind,
        row.workspace_key,
        row.session_id,
        row.from_seq,
        row.through_seq,
        row.binding,
        row.state,
        row.created_at,
        row.changed_at,
    )
    connection.execute(_PUT, values)


def of(connection: sqlite3.Connection, task_id: str) -> TaskRow | None:
    """The task. Raises StateFault (`state-corrupt`)."""
    row = connection.execute(_OF, (task_id,)).fetchone()
    return None if row is None else _task(row)


def done(connection: sqlite3.Connection, task_id: str, at: Millis) -> None:
    """The agent's answer was taken."""
    connection.execute(_DONE, (TaskState.DONE, at, task_id, TaskState.OPEN))


def _task(row: tuple[Any, ...]) -> TaskRow:
    try:
        return TaskRow(
            task_id=row[0],
            kind=TaskKind(row[1]),
            workspace_key=row[2],
            session_id=row[3],
            from_seq=row[4],
            through_seq=row[5],
            binding=row[6],
            state=TaskState(row[7]),
            created_at=row[8],
            changed_at=row[9],
        )
    except ValueError as error:
        raise StateFault("state-corrupt", f"The task {row[0]} cannot be read: {error}.") from error
