"""Packets given beside packets held out: which count, how often something happened, and how sure that is."""

from typing import Any

import pytest

from governance.contracts import AuditEntry, AuditKind
from governance.outcomes import (
    FEWEST,
    HELD_OUT,
    Outcome,
    Share,
    Trial,
    Verdict,
    compare,
    newcombe,
    trials,
    wilson,
)
from recall.contracts import ContextCursor
from tests.support.builders import a_memory_id
from tests.support.entries import REF, a_full_pass, a_trace, an_entry

DRAWN = {"gate": "gate_pre_v1", "holdout": "holdout_pre_v1@0.1"}


def a_draw(number: int = 1, outcome: str = "packet", session: str = REF, **fields: Any) -> AuditEntry:
    """A pass that drew, whose packet one memory leads."""
    given = {
        "outcome": outcome,
        "session_ref": session,
        "packet": a_trace(number, items=(a_memory_id(number), a_memory_id(99))),
        "versions": DRAWN,
        "cursor": ContextCursor(session_id=session, event_seq=10 * number, context_version=number),
    } | fields
    return a_full_pass(**given)


# ------------------------------------------------------------------------------------------------------ which packets


def test_a_drawn_packet_is_a_trial_with_its_place() -> None:
    (trial,) = trials([a_draw(3, HELD_OUT, step=7)])

    assert trial == Trial(
        packet_id=a_trace(3).packet_id, session_ref=REF, held_out=True, event_seq=30, step=7, failed=True
    )


@pytest.mark.parametrize(
    "entry",
    [
        a_draw(versions={"gate": "gate_pre_v1"}),  # nobody drew: pinned, asked for, or no share
        a_draw(outcome="would"),
        a_draw(packet=None),
        a_draw(packet=a_trace(items=())),
        a_draw(cursor=None),
        an_entry(versions=DRAWN),
        an_entry(kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace()),
    ],
)
def test_what_was_not_drawn_is_none(entry: AuditEntry) -> None:
    assert trials([entry]) == ()


def test_a_need_counts_once_a_session_the_first_time() -> None:
    first, again = a_draw(1, step=2), a_draw(1, step=9)

    assert [trial.step for trial in trials([first, again])] == [2]
    assert len(trials([first, a_draw(1, session="b" * 32), a_draw(2)])) == 3


def test_a_given_packet_whose_memory_was_handed_over_is_delivered_whatever_packet_carried_it() -> None:
    entries = [
        a_draw(1),
        a_draw(2),
        a_draw(3, HELD_OUT),
        an_entry(kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace(8, items=(a_memory_id(1),))),
        an_entry(kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace(9, items=(a_memory_id(3),))),
        an_entry(
            kind=AuditKind.DELIVERY, outcome="delivered", session_ref="c" * 32, packet=a_trace(items=(a_memory_id(2),))
        ),
    ]

    assert [trial.delivered for trial in trials(entries)] == [True, False, False]


@pytest.mark.parametrize(("trigger", "failed"), [("result:failed", True), ("prompt", False), ("", False)])
def test_a_failure_can_come_again_only_where_one_was(trigger: str, failed: bool) -> None:
    assert trials([a_draw(trigger=trigger)])[0].failed is failed


# --------------------------------------------------------------------------------------------------------- statistics


@pytest.mark.parametrize(
    ("happened", "of", "low", "high"),
    [  # Newcombe 1998, Statistics in Medicine 17, 857–872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_wilsons(happened: int, of: int, low: float, high: float) -> None:
    assert wilson(Share(happened=happened, of=of)) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [  # Newcombe 1998, Statistics in Medicine 17, 873–890, table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_the_interval_of_a_difference_is_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    shares = [Share(happened=happened, of=of) for happened, of in (one, other)]

    assert newcombe(*shares) == pytest.approx((low, high), abs=5e-5)
    assert newcombe(*shares[::-1]) == pytest.approx((-high, -low), abs=5e-5)


def test_of_nothing_everything_is_possible() -> None:
    assert (Share().value, wilson(Share())) == (None, (0.0, 1.0))


# ---------------------------------------------------------------------------------------------------------- comparing


def observed(given: tuple[int, int], held_out: tuple[int, int]) -> list[tuple[bool, dict[Outcome, bool]]]:
    return [
        (held, {Outcome.COMMAND_USED: place < happened})
        for held, (happened, of) in ((False, given), (True, held_out))
        for place in range(of)
    ]


@pytest.mark.parametrize(
    ("given", "held_out", "verdict"),
    [
        ((30, 40), (5, 40), Verdict.MORE),
        ((5, 40), (30, 40), Verdict.LESS),
        ((20, 40), (19, 40), Verdict.NO_DIFFERENCE),
        ((FEWEST, FEWEST), (0, FEWEST), Verdict.MORE),
        ((400, 400), (0, FEWEST - 1), Verdict.TOO_FEW),
        ((FEWEST - 1, FEWEST - 1), (0, 400), Verdict.TOO_FEW),
    ],
)
def test_a_difference_is_called_one_when_enough_were_seen_and_the_interval_leaves_out_zero(
    given: tuple[int, int], held_out: tuple[int, int], verdict: Verdict
) -> None:
    found = {one.outcome: one for one in compare(observed(given, held_out))}[Outcome.COMMAND_USED]

    assert found.verdict is verdict
    assert (found.given.happened, found.given.of, found.held_out.happened, found.held_out.of) == (*given, *held_out)
    assert found.difference == pytest.approx(given[0] / given[1] - held_out[0] / held_out[1])
    assert found.low is not None and found.high is not None and found.low <= found.difference <= found.high


def test_every_outcome_is_named_and_an_empty_arm_has_no_difference() -> None:
    found = compare(observed((3, 4), (0, 0)))

    assert [one.outcome for one in found] == list(Outcome)
    assert {(one.difference, one.low, one.high, one.verdict) for one in found} == {(None, None, None, Verdict.TOO_FEW)}


def test_an_outcome_that_could_not_happen_is_not_counted() -> None:
    found = compare([(False, {Outcome.CORRECTED: True}), (True, {Outcome.CORRECTED: False})])

    assert {one.outcome: (one.given.of, one.held_out.of) for one in found} == {
        Outcome.FILE_OPENED: (0, 0),
        Outcome.COMMAND_USED: (0, 0),
        Outcome.FAILURE_REPEATED: (0, 0),
        Outcome.CORRECTED: (1, 1),
    }
