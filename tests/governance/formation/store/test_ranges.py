"""Cursors move once, failures and letters come back as they went in, and what cannot be read is no absence."""

import pytest

from governance.formation.contracts import Barrier, DeadLetter, Failure, FailureClass, Pipeline
from governance.formation.errors import StateFault
from governance.formation.store import ranges
from governance.migrations import queue_steps
from tests.support.builders import WORKSPACE
from tests.support.fakes import FakeDatabase

CHECKPOINT, BATCH = Pipeline.CHECKPOINT, Pipeline.BATCH
FAILURE = Failure(
    pipeline=CHECKPOINT,
    session_id="s",
    from_seq=0,
    through_seq=9,
    coverage_hash="c",
    operation_id="memory_1",
    projection="p1",
    attempts=1,
    class_=FailureClass.LENGTH,
    done_refs=("s#1", "s#3"),
    failed_at=5,
)
LETTER = DeadLetter(
    letter_id="letter_1",
    pipeline=CHECKPOINT,
    session_id="s",
    workspace_key=WORKSPACE,
    from_seq=0,
    through_seq=9,
    class_=FailureClass.SCHEMA,
    refs=("s#1",),
    attempts=2,
    operation_id="memory_1",
    state="open",
    at=7,
)


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def test_a_cursor_begins_before_the_first_event(connection) -> None:
    assert ranges.cursor(connection, CHECKPOINT, "s") == -1


def test_a_cursor_moves_from_where_it_is_expected_and_from_nowhere_else(connection) -> None:
    assert ranges.advance(connection, CHECKPOINT, "s", (-1, 4), 10)
    assert not ranges.advance(connection, CHECKPOINT, "s", (-1, 9), 11)
    assert not ranges.advance(connection, CHECKPOINT, "s", (3, 9), 11)
    assert ranges.cursor(connection, CHECKPOINT, "s") == 4
    assert ranges.advance(connection, CHECKPOINT, "s", (4, 9), 12)


def test_a_cursor_never_goes_back_and_neither_does_its_time(connection) -> None:
    ranges.advance(connection, CHECKPOINT, "s", (-1, 4), 10)
    assert not ranges.advance(connection, CHECKPOINT, "s", (4, 3), 11)
    assert ranges.advance(connection, CHECKPOINT, "s", (4, 5), 3)
    assert connection.execute("SELECT updated_at FROM cursor").fetchall() == [(10,)]


def test_pipelines_and_sessions_have_cursors_of_their_own(connection) -> None:
    ranges.advance(connection, CHECKPOINT, "s", (-1, 4), 10)
    assert ranges.cursor(connection, BATCH, "s") == ranges.cursor(connection, CHECKPOINT, "t") == -1


def test_a_failure_comes_back_as_it_went_in_and_goes_when_it_is_cleared(connection) -> None:
    ranges.fail(connection, FAILURE)
    assert ranges.failure(connection, CHECKPOINT, "s") == FAILURE
    assert ranges.failures(connection, CHECKPOINT) == (FAILURE,)
    assert ranges.failure(connection, BATCH, "s") is None
    ranges.clear_failure(connection, CHECKPOINT, "s")
    assert ranges.failures(connection, CHECKPOINT) == ()


@pytest.mark.parametrize(("column", "value"), [("class", "bad"), ("done_refs", "{"), ("done_refs", "[1]")])
def test_a_failure_that_cannot_be_read_is_no_absence(connection, column: str, value: str) -> None:
    ranges.fail(connection, FAILURE)
    connection.execute(f"UPDATE failure SET {column} = ?", (value,))
    with pytest.raises(StateFault) as caught:
        ranges.failure(connection, CHECKPOINT, "s")
    assert caught.value.code == "state-corrupt"


def test_barriers_come_in_order_and_a_wider_one_counts(connection) -> None:
    for first, last in ((9, 12), (2, 4), (2, 6), (2, 3)):
        ranges.bar(connection, Barrier(session_id="s", from_seq=first, through_seq=last), 1)
    found = [(one.from_seq, one.through_seq) for one in ranges.barriers(connection, "s")]
    assert found == [(2, 6), (9, 12)]
    assert ranges.barriers(connection, "t") == ()


def test_a_letter_is_listed_until_it_was_tried_again(connection) -> None:
    ranges.bury(connection, LETTER)
    assert ranges.letters(connection) == (LETTER,) == (ranges.letter(connection, "letter_1"),)
    ranges.retried(connection, "letter_1")
    assert ranges.letters(connection) == ()
    assert [one.state for one in ranges.letters(connection, "retried")] == ["retried"]


def test_a_letter_that_cannot_be_read_is_no_absence(connection) -> None:
    ranges.bury(connection, LETTER)
    connection.execute("UPDATE dead_letter SET refs = 'x'")
    with pytest.raises(StateFault):
        ranges.letters(connection)
