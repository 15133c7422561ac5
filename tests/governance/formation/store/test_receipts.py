"""What was done once has a receipt; the same id for something else is a conflict and changes nothing."""

import sqlite3

import msgspec
import pytest

from governance.formation.contracts import Pipeline, Receipt
from governance.formation.errors import StateFault
from governance.formation.store import receipts
from governance.migrations import queue_steps
from tests.support.fakes import FakeDatabase

RECEIPT = Receipt(
    operation_id="memory_1",
    request_hash="h",
    pipeline=Pipeline.CHECKPOINT,
    status="extracted",
    outcome="{}",
    committed_at=5,
    session_id="s",
    from_seq=0,
    through_seq=9,
    item_ids=("mem_1", "mem_2"),
)


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def test_a_receipt_comes_back_as_it_went_in(connection) -> None:
    receipts.put(connection, RECEIPT)
    assert receipts.find(connection, "memory_1") == RECEIPT
    assert receipts.look(connection, "memory_1", "h", 6) == RECEIPT
    assert receipts.find(connection, "memory_2") is None


def test_the_same_operation_with_another_request_is_a_conflict_that_is_written_down(connection) -> None:
    receipts.put(connection, RECEIPT)
    assert receipts.look(connection, "memory_1", "other", 6) == receipts.Reused(operation_id="memory_1")
    receipts.look(connection, "memory_1", "other", 7)
    assert connection.execute("SELECT * FROM receipt_conflict").fetchall() == [("memory_1", "other", 6)]
    assert receipts.find(connection, "memory_1") == RECEIPT


def test_a_second_receipt_of_an_operation_is_refused(connection) -> None:
    receipts.put(connection, RECEIPT)
    with pytest.raises(sqlite3.IntegrityError):
        receipts.put(connection, msgspec.structs.replace(RECEIPT, status="skipped"))


def test_a_session_lists_its_receipts_latest_first(connection) -> None:
    later = msgspec.structs.replace(RECEIPT, operation_id="memory_2", from_seq=10, through_seq=20)
    other = msgspec.structs.replace(RECEIPT, operation_id="memory_3", pipeline=Pipeline.BATCH)
    for one in (RECEIPT, later, other):
        receipts.put(connection, one)
    assert receipts.of_session(connection, "s", Pipeline.CHECKPOINT) == [later, RECEIPT]
    assert receipts.of_session(connection, "s", Pipeline.CHECKPOINT, limit=1) == [later]


def test_a_receipt_that_cannot_be_read_is_no_absence(connection) -> None:
    receipts.put(connection, RECEIPT)
    connection.execute("UPDATE receipt SET pipeline = 'new'")
    with pytest.raises(StateFault) as caught:
        receipts.find(connection, "memory_1")
    assert caught.value.code == "state-corrupt"
