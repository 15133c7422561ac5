"""A range ends with its receipt and the cursor behind it, or as a failure, or given up; of two that end it one does."""

import msgspec
import pytest

from governance.formation.candidates import Operation
from governance.formation.closing import CursorMoved, Ending, Outcome, end
from governance.formation.contracts import FailureClass, Pipeline, RangeResult, RangeStatus
from governance.formation.ladder import letter_id
from governance.formation.store import ranges, receipts
from governance.migrations import queue_steps
from tests.support.builders import WORKSPACE
from tests.support.fakes import FakeDatabase

CHECKPOINT = Pipeline.CHECKPOINT
OPERATION = Operation(
    session_id="s",
    conversation_key="s",
    workspace_key=WORKSPACE,
    from_seq=0,
    through_seq=9,
    operation_id="memory_1",
    base="memory_1",
    coverage_hash="c",
    request_hash="h",
    refs=("s#1", "s#2", "s#3"),
)
RESULT = RangeResult(session_id="s", from_seq=0, through_seq=9, status=RangeStatus.EXTRACTED, committed=("mem_1",))


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def ended(connection, operation: Operation = OPERATION, **fields) -> RangeResult:
    return end(connection, operation, Ending(**({"result": RESULT} | fields)), 7)


def test_a_range_that_was_formed_has_a_receipt_a_line_and_the_cursor_behind_it(connection) -> None:
    assert ended(connection, item_ids=("mem_1",)) == RESULT
    receipt = receipts.find(connection, "memory_1")
    assert receipt is not None and (receipt.request_hash, receipt.item_ids) == ("h", ("mem_1",))
    assert msgspec.json.decode(receipt.outcome, type=Outcome) == Outcome(result=RESULT, coverage_hash="c")
    assert ranges.cursor(connection, CHECKPOINT, "s") == 9
    assert connection.execute("SELECT kind FROM outbox").fetchall() == [("cursor",)]


def test_a_range_that_is_behind_the_cursor_or_before_it_is_not_ended(connection) -> None:
    ended(connection)
    for operation in (OPERATION, msgspec.structs.replace(OPERATION, from_seq=11, through_seq=20)):
        with pytest.raises(CursorMoved):
            ended(connection, operation)
        with pytest.raises(CursorMoved):
            ended(connection, operation, fault=FailureClass.SCHEMA)


def test_a_first_failure_moves_nothing_and_remembers_what_is_done(connection) -> None:
    result = ended(connection, fault=FailureClass.LENGTH, done=frozenset({"s#1"}))
    assert (result.status, result.reason, result.committed) == (RangeStatus.PENDING, "length", ("mem_1",))
    failure = ranges.failure(connection, CHECKPOINT, "s")
    assert failure is not None and (failure.attempts, failure.done_refs) == (1, ("s#1",))
    assert ranges.cursor(connection, CHECKPOINT, "s") == -1 and receipts.find(connection, "memory_1") is None


def test_a_second_failure_gives_the_range_up_with_a_letter_of_what_is_left(connection) -> None:
    ended(connection, fault=FailureClass.LENGTH, done=frozenset({"s#1"}))
    failed = ranges.failure(connection, CHECKPOINT, "s")
    again = msgspec.structs.replace(OPERATION, operation_id="memory_retry_1", failed=failed)
    result = ended(connection, again, fault=FailureClass.SCHEMA, done=frozenset({"s#3"}))
    assert (result.status, result.reason) == (RangeStatus.DISCARDED, "schema")
    (letter,) = ranges.letters(connection)
    assert (letter.letter_id, letter.refs, letter.attempts) == (letter_id("memory_1"), ("s#2",), 2)
    assert ranges.failure(connection, CHECKPOINT, "s") is None
    assert ranges.cursor(connection, CHECKPOINT, "s") == 9
    receipt = receipts.find(connection, "memory_retry_1")
    assert receipt is not None and receipt.status == "discarded"


def test_a_letter_that_somebody_else_answered_is_not_answered_again(connection) -> None:
    ended(connection, fault=FailureClass.SCHEMA)
    failed = ranges.failure(connection, CHECKPOINT, "s")
    ended(connection, msgspec.structs.replace(OPERATION, failed=failed), fault=FailureClass.SCHEMA)
    (letter,) = ranges.letters(connection)
    again = msgspec.structs.replace(OPERATION, operation_id="memory_retry_2", letter=letter)
    assert ended(connection, again) == RESULT
    with pytest.raises(CursorMoved):
        ended(connection, msgspec.structs.replace(again, operation_id="memory_retry_3"))


def test_a_denied_range_is_a_barrier(connection) -> None:
    denied = msgspec.structs.replace(RESULT, status=RangeStatus.DENIED, committed=())
    ended(connection, result=denied)
    assert [(one.from_seq, one.through_seq) for one in ranges.barriers(connection, "s")] == [(0, 9)]


def test_another_pipeline_has_its_own_cursor(connection) -> None:
    ended(connection)
    batch = msgspec.structs.replace(OPERATION, pipeline=Pipeline.BATCH, operation_id="batch_1", base="batch_1")
    ended(connection, batch)
    assert ranges.cursor(connection, Pipeline.BATCH, "s") == 9
