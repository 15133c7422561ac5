"""How a range ends: cursor, receipt, failure and letter (formation.md 5.1 and 5.3), within the caller's transaction."""

import sqlite3

import msgspec

from governance.formation.candidates import Operation
from governance.formation.contracts import (
    Barrier,
    CursorLine,
    DeadLetter,
    Failure,
    FailureClass,
    RangeResult,
    RangeStatus,
    Receipt,
)
from governance.formation.ladder import given_up, letter_id
from governance.formation.store import outbox, ranges, receipts
from recall.canonical import canonical
from recall.contracts import Frozen, Millis


class CursorMoved(Exception):
    """Somebody else formed this range meanwhile: nothing of it may be written."""


class Outcome(Frozen, frozen=True, kw_only=True):
    """What a receipt keeps: the answer, and which texts it was an answer to."""

    result: RangeResult
    coverage_hash: str


class Ending(Frozen, frozen=True, kw_only=True):
    """What a range came to. `fault`: why it did not come to an end; `done`: lines that need not be shown again."""

    result: RangeResult
    fault: FailureClass | None = None
    done: frozenset[str] = frozenset()
    item_ids: tuple[str, ...] = ()


def end(connection: sqlite3.Connection, operation: Operation, ending: Ending, now: Millis) -> RangeResult:
    """Write the end of a range down; its result. A first failure leaves the cursor where it is.

    Raises CursorMoved when the cursor, or the letter, is not where it was: the transaction is to be rolled back then.
    """
    if operation.letter is not None:
        return _letter_answered(connection, operation, ending, now)
    if ranges.cursor(connection, operation.pipeline, operation.session_id) != operation.from_seq - 1:
        raise CursorMoved
    result, fault = ending.result, ending.fault
    if fault is not None:
        if not given_up(operation.failed):
            ranges.fail(connection, _failure(operation, fault, ending.done, now))
            return msgspec.structs.replace(result, status=RangeStatus.PENDING, reason=str(fault))
        ranges.bury(connection, _letter(operation, fault, ending.done, now))
        result = msgspec.structs.replace(result, status=RangeStatus.DISCARDED, reason=str(fault))
    if result.status is RangeStatus.DENIED:
        span = Barrier(session_id=operation.session_id, from_seq=operation.from_seq, through_seq=operation.through_seq)
        ranges.bar(connection, span, now)
    span_moved = (operation.from_seq - 1, operation.through_seq)
    if not ranges.advance(connection, operation.pipeline, operation.session_id, span_moved, now):
        raise CursorMoved
    ranges.clear_failure(connection, operation.pipeline, operation.session_id)
    receipts.put(connection, _receipt(operation, result, ending.item_ids, now))
    outbox.put(connection, _line(operation, result, now), now)
    return result


def _letter_answered(connection: sqlite3.Connection, operation: Operation, ending: Ending, now: Millis) -> RangeResult:
    """A range that was given up and tried again: the cursor is past it and stays."""
    assert operation.letter is not None
    held = ranges.letter(connection, operation.letter.letter_id)
    if held != operation.letter:
        raise CursorMoved
    if ending.fault is not None:
        ranges.bury(connection, _letter(operation, ending.fault, ending.done, now))
        return msgspec.structs.replace(ending.result, status=RangeStatus.DISCARDED, reason=str(ending.fault))
    ranges.retried(connection, held.letter_id)
    receipts.put(connection, _receipt(operation, ending.result, ending.item_ids, now))
    return ending.result


def _failure(operation: Operation, fault: FailureClass, done: frozenset[str], now: Millis) -> Failure:
    before = operation.failed
    return Failure(
        pipeline=operation.pipeline,
        session_id=operation.session_id,
        from_seq=operation.from_seq,
        through_seq=operation.through_seq,
        coverage_hash=operation.coverage_hash,
        operation_id=operation.base,
        projection=operation.projection,
        attempts=(0 if before is None else before.attempts) + 1,
        class_=fault,
        done_refs=tuple(sorted(done | set(() if before is None else before.done_refs))),
        failed_at=now,
    )


def _letter(operation: Operation, fault: FailureClass, done: frozenset[str], now: Millis) -> DeadLetter:
    before = operation.failed or operation.letter
    held = set(operation.failed.done_refs if operation.failed is not None else ()) | done
    return DeadLetter(
        letter_id=letter_id(operation.base) if operation.letter is None else operation.letter.letter_id,
        pipeline=operation.pipeline,
        session_id=operation.session_id,
        workspace_key=operation.workspace_key,
        from_seq=operation.from_seq,
        through_seq=operation.through_seq,
        class_=fault,
        refs=tuple(ref for ref in operation.refs if ref not in held),
        attempts=(0 if before is None else before.attempts) + 1,
        operation_id=operation.base,
        state=ranges.OPEN,
        at=now,
    )


def _receipt(operation: Operation, result: RangeResult, item_ids: tuple[str, ...], now: Millis) -> Receipt:
    outcome = Outcome(result=result, coverage_hash=operation.coverage_hash)
    return Receipt(
        operation_id=operation.operation_id,
        request_hash=operation.request_hash,
        pipeline=operation.pipeline,
        status=str(result.status),
        outcome=canonical(outcome).decode(),
        committed_at=now,
        session_id=operation.session_id,
        from_seq=operation.from_seq,
        through_seq=operation.through_seq,
        item_ids=item_ids,
    )


def _line(operation: Operation, result: RangeResult, now: Millis) -> CursorLine:
    return CursorLine(
        pipeline=operation.pipeline,
        session_id=operation.session_id,
        processed_seq=operation.through_seq,
        from_seq=operation.from_seq,
        operation_id=operation.operation_id,
        request_hash=operation.request_hash,
        status=str(result.status),
        at=now,
    )
