"""Up to where sessions were formed, what failed, what the user denied, and what was given up (formation.md 5).

Plain functions over a connection, for whoever commits more than this in one transaction. A cursor is compared and set:
of two that would move it one does. A row that cannot be read is a StateFault, never "there is none": what is taken for
absent would be formed twice.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from governance.formation.contracts import Barrier, DeadLetter, Failure, Pipeline
from governance.formation.errors import StateFault
from recall.contracts import Millis

START = -1  # before the first event
OPEN, RETRIED = "open", "retried"
_T = TypeVar("_T", Failure, DeadLetter)
_FAILURE = (
    "pipeline, session_id, from_seq, through_seq, coverage_hash, operation_id, projection, attempts, class, done_refs,"
    " failed_at"
)
_LETTER = (
    "letter_id, pipeline, session_id, workspace_key, from_seq, through_seq, class, refs, attempts, operation_id,"
    " state, at"
)
_BEGIN = "INSERT OR IGNORE INTO cursor (pipeline, session_id, processed_seq, updated_at) VALUES (?, ?, ?, ?)"
_ADVANCE = (
    "UPDATE cursor SET processed_seq = ?, updated_at = max(updated_at, ?)"
    " WHERE pipeline = ? AND session_id = ? AND processed_seq = ? RETURNING processed_seq"
)
_BAR = (
    "INSERT INTO barrier (session_id, from_seq, through_seq, at) VALUES (?, ?, ?, ?) ON CONFLICT (session_id, from_seq)"
    " DO UPDATE SET through_seq = max(through_seq, excluded.through_seq)"
)


def cursor(connection: sqlite3.Connection, pipeline: Pipeline, session_id: str) -> int:
    """The last event of a session that was formed; -1: none was."""
    statement = "SELECT processed_seq FROM cursor WHERE pipeline = ? AND session_id = ?"
    row = connection.execute(statement, (pipeline, session_id)).fetchone()
    return START if row is None else int(row[0])


def advance(
    connection: sqlite3.Connection, pipeline: Pipeline, session_id: str, span: tuple[int, int], at: Millis
) -> bool:
    """Move the cursor from the first of `span` to the second. False: it does not stand where it was expected, or would
    go back; the transaction is to be rolled back then. Its time never goes back."""
    expected, to = span
    if to < expected:
        return False
    if expected == START:
        connection.execute(_BEGIN, (pipeline, session_id, START, at))
    return connection.execute(_ADVANCE, (to, at, pipeline, session_id, expected)).fetchone() is not None


def failure(connection: sqlite3.Connection, pipeline: Pipeline, session_id: str) -> Failure | None:
    """The range of a session that failed and is to be tried again. Raises StateFault (`state-corrupt`)."""
    statement = f"SELECT {_FAILURE} FROM failure WHERE pipeline = ? AND session_id = ?"
    row = connection.execute(statement, (pipeline, session_id)).fetchone()
    return None if row is None else _failure(row)


def failures(connection: sqlite3.Connection, pipeline: Pipeline) -> tuple[Failure, ...]:
    """Every range that waits for its second attempt, the oldest failure first. Raises StateFault (`state-corrupt`)."""
    statement = f"SELECT {_FAILURE} FROM failure WHERE pipeline = ? ORDER BY failed_at, session_id"
    return tuple(_failure(row) for row in connection.execute(statement, (pipeline,)))


def fail(connection: sqlite3.Connection, one: Failure) -> None:
    """Write a failure down, in the place of an earlier one of the session."""
    where = (one.pipeline, one.session_id, one.from_seq, one.through_seq, one.coverage_hash, one.operation_id)
    row = (*where, one.projection, one.attempts, one.class_, _json(one.done_refs), one.failed_at)
    connection.execute(f"INSERT OR REPLACE INTO failure ({_FAILURE}) VALUES ({_marks(_FAILURE)})", row)


def clear_failure(connection: sqlite3.Connection, pipeline: Pipeline, session_id: str) -> None:
    """The range was formed, given up, or is none any more."""
    connection.execute("DELETE FROM failure WHERE pipeline = ? AND session_id = ?", (pipeline, session_id))


def bar(connection: sqlite3.Connection, barrier: Barrier, at: Millis) -> None:
    """Write down that the user denied a span. A wider one of the same beginning takes its place."""
    connection.execute(_BAR, (barrier.session_id, barrier.from_seq, barrier.through_seq, at))


def barriers(connection: sqlite3.Connection, session_id: str) -> tuple[Barrier, ...]:
    """The spans of a session that the user denied, in their order."""
    statement = "SELECT session_id, from_seq, through_seq FROM barrier WHERE session_id = ? ORDER BY from_seq"
    rows = connection.execute(statement, (session_id,))
    return tuple(Barrier(session_id=session, from_seq=first, through_seq=last) for session, first, last in rows)


def bury(connection: sqlite3.Connection, letter: DeadLetter) -> None:
    """Write down that a range was given up; the last word about the same letter counts."""
    where = (letter.letter_id, letter.pipeline, letter.session_id, letter.workspace_key, letter.from_seq)
    what = (letter.through_seq, letter.class_, _json(letter.refs), letter.attempts, letter.operation_id)
    row = (*where, *what, letter.state, letter.at)
    connection.execute(f"INSERT OR REPLACE INTO dead_letter ({_LETTER}) VALUES ({_marks(_LETTER)})", row)


def letter(connection: sqlite3.Connection, letter_id: str) -> DeadLetter | None:
    """One range that was given up. Raises StateFault (`state-corrupt`)."""
    row = connection.execute(f"SELECT {_LETTER} FROM dead_letter WHERE letter_id = ?", (letter_id,)).fetchone()
    return None if row is None else _letter(row)


def letters(connection: sqlite3.Connection, state: str = OPEN) -> tuple[DeadLetter, ...]:
    """The ranges that were given up, the oldest first. Raises StateFault (`state-corrupt`)."""
    statement = f"SELECT {_LETTER} FROM dead_letter WHERE state = ? ORDER BY at, letter_id"
    return tuple(_letter(row) for row in connection.execute(statement, (state,)))


def retried(connection: sqlite3.Connection, letter_id: str) -> None:
    """The range of a letter was formed after all."""
    connection.execute("UPDATE dead_letter SET state = ? WHERE letter_id = ?", (RETRIED, letter_id))


def _failure(row: Sequence[Any]) -> Failure:
    return _read(_FAILURE, row, Failure, "done_refs")


def _letter(row: Sequence[Any]) -> DeadLetter:
    return _read(_LETTER, row, DeadLetter, "refs")


def _read(columns: str, row: Sequence[Any], kind: type[_T], listed: str) -> _T:
    fields = dict(zip(columns.split(", "), row, strict=True))
    names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    fields["class_"] = fields.pop("class")
    try:
        fields[listed] = msgspec.json.decode(fields[listed])
        return msgspec.convert({names[name]: value for name, value in fields.items()}, kind)
    except msgspec.MsgspecError as error:
        problem = f"A {kind.__name__.lower()} of session {fields['session_id']} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Run `extract --recover`.") from error


def _json(values: Iterable[str]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _marks(columns: str) -> str:
    return ", ".join("?" * len(columns.split(", ")))
