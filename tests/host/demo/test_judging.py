"""Deliveries against labels: what counts as right, late, repeated or forbidden."""

from host.demo.judging import Judgement, judge
from host.evaluation.sessions import Acceptable, Gold, Labels

LABELS = Labels(
    session="s",
    workspace="shop",
    topic="t",
    gold=(Gold(memory="m1", window=(10, 20), also=((40, 45),), why="the build fails"),),
    acceptable=(Acceptable(memory="m3", window=(5, 9)),),
    duplicates=(("m1", "m1b"),),
    never_reason={"m9": "superseded"},
    quiet=((30, 33),),
)


def check(deliveries: list[tuple[int, list[str]]], expected: list[Judgement]) -> None:
    assert [judged.judgement for judged in judge(LABELS, deliveries)] == expected


def test_a_gold_memory_is_right_within_its_window() -> None:
    check([(9, ["m1"])], [Judgement.OUTSIDE])
    check([(10, ["m1"])], [Judgement.HIT])
    check([(20, ["m1"])], [Judgement.HIT])
    check([(21, ["m1"])], [Judgement.OUTSIDE])
    check([(41, ["m1"])], [Judgement.HIT])


def test_a_paraphrase_meets_the_need_and_one_of_the_group_is_enough() -> None:
    check([(11, ["m1b"]), (12, ["m1"])], [Judgement.HIT, Judgement.AGAIN])


def test_a_memory_given_too_early_can_still_be_right_later() -> None:
    check([(2, ["m1"]), (12, ["m1"])], [Judgement.OUTSIDE, Judgement.HIT])


def test_the_never_list_comes_before_everything() -> None:
    judged = judge(LABELS, [(12, ["m9"])])

    assert [(each.judgement, each.why) for each in judged] == [(Judgement.NEVER, "superseded")]


def test_an_acceptable_window_is_neither_right_nor_wrong() -> None:
    check([(6, ["m3"]), (12, ["m3"]), (12, ["m4"])], [Judgement.ACCEPTABLE, Judgement.OUTSIDE, Judgement.OUTSIDE])


def test_what_is_said_in_a_quiet_stretch_is_marked() -> None:
    assert [each.quiet for each in judge(LABELS, [(29, ["m4"]), (30, ["m4"]), (33, ["m4"])])] == [False, True, True]
