"""Three points on one curve: one number moves both doors, and the policy's id tells which point it was."""

import pytest

from recall.attention import ANSWER_BARS, FIGURES, LEAST, MEASURED, MORE, attention_of, bars, clears, more, tuned
from recall.background import Background
from recall.confidence import ConfidencePolicy
from recall.contracts import Attention

POLICY = ConfidencePolicy()
QUIET, NORMAL, EAGER = tuned(POLICY, Attention.QUIET), tuned(POLICY, Attention.NORMAL), tuned(POLICY, Attention.EAGER)


def test_normal_is_the_policy_as_it_was_calibrated() -> None:
    assert NORMAL is POLICY


def test_quiet_asks_for_more_at_both_doors_and_eager_for_less() -> None:
    assert (QUIET.theta - POLICY.theta, EAGER.theta - POLICY.theta) == (MORE[Attention.QUIET], MORE[Attention.EAGER])
    assert (QUIET.named - POLICY.named, EAGER.named - POLICY.named) == (MORE[Attention.QUIET], MORE[Attention.EAGER])
    for field in ANSWER_BARS:
        quiet, normal, eager = (getattr(policy.answer, field) for policy in (QUIET, NORMAL, EAGER))
        assert quiet - normal == pytest.approx(more(Attention.QUIET, "answer")) and more(Attention.QUIET, "answer") > 0
        assert eager - normal == pytest.approx(more(Attention.EAGER, "answer")) and more(Attention.EAGER, "answer") < 0


def test_only_quiet_gives_nothing_because_of_a_reply() -> None:
    assert [policy.replies for policy in (QUIET, NORMAL, EAGER)] == [False, True, True]


def test_nothing_else_differs() -> None:
    for policy in (QUIET, EAGER):
        same = [name for name in POLICY.__struct_fields__ if name not in ("id", "theta", "named", "answer", "replies")]
        assert [getattr(policy, name) for name in same] == [getattr(POLICY, name) for name in same]


def test_no_point_opens_a_door_for_nothing() -> None:
    low = tuned(ConfidencePolicy(theta=0.6), Attention.EAGER)
    assert low.theta == LEAST


@pytest.mark.parametrize("attention", list(Attention))
def test_the_id_of_a_policy_tells_its_point(attention: Attention) -> None:
    assert attention_of(tuned(POLICY, attention).id) is attention


@pytest.mark.parametrize("policy_id", ["", "confidence_pre_v1", "confidence_pre_v9/", "a/b/loud"])
def test_an_id_that_names_no_point_is_normal(policy_id: str) -> None:
    assert attention_of(policy_id) is Attention.NORMAL


@pytest.mark.parametrize(
    ("beyond", "trigger", "held", "attention", "expected"),
    [
        (MORE[Attention.QUIET], "result:failed", Attention.NORMAL, Attention.QUIET, True),
        (MORE[Attention.QUIET] - 0.1, "result:failed", Attention.NORMAL, Attention.QUIET, False),
        (99.0, "reply", Attention.NORMAL, Attention.QUIET, False),
        (0.0, "reply", Attention.NORMAL, Attention.NORMAL, True),
        (MORE[Attention.EAGER], "reply", Attention.NORMAL, Attention.EAGER, True),
        (-MORE[Attention.EAGER] - 0.1, "prompt", Attention.EAGER, Attention.NORMAL, False),
        (-MORE[Attention.QUIET], "prompt", Attention.QUIET, Attention.NORMAL, True),
    ],
)
def test_what_one_point_weighed_is_measured_by_another(
    beyond: float, trigger: str, held: Attention, attention: Attention, expected: bool
) -> None:
    assert clears(beyond, (trigger, "evidence"), held, attention) is expected


def test_the_answer_door_has_its_own_measure() -> None:
    nats = more(Attention.QUIET, "answer")
    assert 0 < nats < more(Attention.QUIET, "evidence")
    assert clears(nats, ("prompt", "answer"), Attention.NORMAL, Attention.QUIET)
    assert not clears(nats, ("prompt", "evidence"), Attention.NORMAL, Attention.QUIET)


def test_there_is_a_bar_for_each_point_over_one_background() -> None:
    background = Background({}, 1)
    made = bars(POLICY, background)
    assert {attention: bar.policy for attention, bar in made.items()} == {
        Attention.QUIET: QUIET,
        Attention.NORMAL: POLICY,
        Attention.EAGER: EAGER,
    }
    assert all(bar.background is background for bar in made.values())


def test_the_figures_are_of_the_policy_that_is_shipped() -> None:
    assert POLICY.id == MEASURED, "measure again: python -m tests.calibration.points"


def test_the_measured_points_lie_on_one_curve() -> None:
    quiet, normal, eager = (FIGURES[one] for one in (Attention.QUIET, Attention.NORMAL, Attention.EAGER))
    assert quiet.precision >= normal.precision >= eager.precision > 0
    assert quiet.false_per_100 <= normal.false_per_100 <= eager.false_per_100
    assert 0 < quiet.recall <= normal.recall <= eager.recall
