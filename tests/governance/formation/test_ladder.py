"""What counts toward giving a range up, and under which ids it is tried."""

import pytest

from governance.formation.contracts import Failure, FailureClass, Pipeline
from governance.formation.errors import AnswerFault, ModelError, ModelErrorKind, StateFault
from governance.formation.ladder import RangeFault, counts, given_up, letter_id, operation_id, retry_id


def a_failure(attempts: int) -> Failure:
    return Failure(
        pipeline=Pipeline.CHECKPOINT,
        session_id="s",
        from_seq=0,
        through_seq=1,
        coverage_hash="",
        operation_id="memory_1",
        projection="",
        attempts=attempts,
        class_=FailureClass.SCHEMA,
        done_refs=(),
        failed_at=0,
    )


@pytest.mark.parametrize("kind", ["unavailable", "rate-limited", "timeout", "configuration"])
def test_a_fault_of_the_provider_never_counts(kind: str) -> None:
    assert counts(ModelError(ModelErrorKind(kind), "down")) is None


def test_a_fault_of_the_store_never_counts() -> None:
    assert counts(StateFault("state-failed", "locked")) is None


@pytest.mark.parametrize(
    ("error", "class_"),
    [
        (ModelError(ModelErrorKind.PROTOCOL, "no JSON"), FailureClass.SCHEMA),
        (AnswerFault("schema", "prose"), FailureClass.SCHEMA),
        (AnswerFault("content_filter", "refused"), FailureClass.SCHEMA),
        (AnswerFault("length", "cut"), FailureClass.LENGTH),
        *((RangeFault(class_, "so"), class_) for class_ in FailureClass),
    ],
)
def test_what_the_range_or_its_answer_lacks_counts(error: Exception, class_: FailureClass) -> None:
    assert counts(error) is class_  # type: ignore[arg-type]


def test_the_second_failure_is_the_last() -> None:
    assert not given_up(None)
    assert given_up(a_failure(1))
    assert given_up(a_failure(2))


def test_operations_differ_by_session_trigger_and_boundary() -> None:
    ids = {operation_id(*asked) for asked in (("s", "end", 4), ("t", "end", 4), ("s", "idle", 4), ("s", "end", 5))}
    assert len(ids) == 4 and all(one.startswith("memory_") for one in ids)
    assert operation_id("s", "end", 4) == operation_id("s", "end", 4)


def test_a_retry_has_an_id_of_its_own_for_each_attempt() -> None:
    base = operation_id("s", "end", 4)
    assert len({base, retry_id(base, 2), retry_id(base, 3), letter_id(base)}) == 4
    assert retry_id(base, 2).startswith("memory_retry_")
