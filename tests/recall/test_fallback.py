"""Breakers open after failures and let one try through later; the scan of memory answers when tables cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import SourceName, Status
from recall.fallback import FAILURES, OPEN_MICROS, Breaker, BreakerState, hot_scan, hot_statistics
from tests.support.builders import a_candidate, a_cue, a_memory_id, a_workspace_scope
from tests.support.fakes import FakeIndex


def opened(at: int = 0) -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(at)
    return breaker


def test_three_failures_in_a_row_open_it() -> None:
    breaker = Breaker()
    for _ in range(FAILURES - 1):
        breaker.failed(0)
    assert breaker.allows(0)
    breaker.succeeded()
    for _ in range(FAILURES - 1):
        breaker.failed(0)
    assert breaker.state(0) is BreakerState.CLOSED

    breaker.failed(0)

    assert breaker.state(0) is BreakerState.OPEN and not breaker.allows(OPEN_MICROS - 1)


def test_after_a_while_one_try_is_let_through() -> None:
    breaker = opened()

    assert breaker.state(OPEN_MICROS) is BreakerState.HALF_OPEN
    assert [breaker.allows(OPEN_MICROS) for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("works", [True, False])
def test_the_try_closes_it_or_opens_it_again(works: bool) -> None:
    breaker = opened()
    assert breaker.allows(OPEN_MICROS)

    if works:
        breaker.succeeded()
    else:
        breaker.failed(OPEN_MICROS)

    assert breaker.state(OPEN_MICROS) is (BreakerState.CLOSED if works else BreakerState.OPEN)


def test_a_try_that_was_called_off_may_be_made_again() -> None:
    breaker = opened()
    assert breaker.allows(OPEN_MICROS)

    breaker.abandoned()

    assert breaker.allows(OPEN_MICROS)


@given(st.lists(st.tuples(st.sampled_from(["ask", "works", "fails"]), st.integers(0, OPEN_MICROS)), max_size=40))
def test_an_open_breaker_allows_nothing(steps: list[tuple[str, int]]) -> None:
    breaker, now, asked = Breaker(), 0, 0
    for step, later in steps:
        now += later
        before = breaker.state(now)
        match step:
            case "ask":
                allowed = breaker.allows(now)
                asked += allowed
                assert allowed or before is not BreakerState.CLOSED
                assert not (allowed and before is BreakerState.OPEN)
            case "works" if asked:
                breaker.succeeded()
            case "fails" if asked:
                breaker.failed(now)


def test_the_scan_finds_what_is_like_the_cue_best_first() -> None:
    index = FakeIndex(
        [
            a_candidate("The kafka consumer lag alert fires at 5000.", memory_id=a_memory_id(1)),
            a_candidate("Consumer groups are named by team.", memory_id=a_memory_id(2)),
            a_candidate("Office hours end at six.", memory_id=a_memory_id(3)),
            a_candidate("部署前必须先备份数据库。", memory_id=a_memory_id(4)),
        ]
    )

    hits = hot_scan(a_cue("kafka consumer lag"), index)

    assert hits[0].memory_id == a_memory_id(1) and a_memory_id(3) not in [hit.memory_id for hit in hits]
    assert {hit.source for hit in hits} == {SourceName.LEXICAL} and all(0 < hit.score <= 1 for hit in hits)
    assert [hit.memory_id for hit in hot_scan(a_cue("备份"), index)] == [a_memory_id(4)]
    assert hot_scan(a_cue(""), index) == [] == hot_scan(a_cue("kafka"), FakeIndex())


def test_the_scan_obeys_scope_status_and_limit() -> None:
    index = FakeIndex(
        [
            a_candidate("deploy", memory_id=a_memory_id(1), scope=a_workspace_scope("ws_other")),
            a_candidate("deploy", memory_id=a_memory_id(2), status=Status.REVOKED),
            *(a_candidate("deploy", memory_id=a_memory_id(number)) for number in range(3, 9)),
        ]
    )

    hits = hot_scan(a_cue("deploy", limit=3), index)

    assert [hit.memory_id for hit in hits] == [a_memory_id(number) for number in (3, 4, 5)]


def test_counts_over_what_is_held_stand_in_for_the_tables() -> None:
    index = FakeIndex(
        [a_candidate("deploy now", memory_id=a_memory_id(1)), a_candidate("deploy", memory_id=a_memory_id(2))]
    )

    statistics = hot_statistics(a_cue("deploy later"), index)

    assert (statistics.total, statistics.counts) == (2, {"deploy": 2})
