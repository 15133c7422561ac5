"""Meaning: a thing asked for is told from the same thing forbidden, described, quoted or regretted."""

import pytest

from governance.screening.matching import Matcher, Rule
from governance.screening.meaning import act, deed, order, sign

WORDS = "wipe the disk|清空磁盘"


def hits(rule: Rule, text: str) -> int:
    return len(list(Matcher([rule]).find(text.encode())))


@pytest.mark.parametrize(
    ("text", "asked", "meant", "routine"),
    [
        ("Now wipe the disk.", 1, 1, 1),
        ("Never wipe the disk.", 0, 0, 0),
        ("You must not, in any case, wipe the disk.", 0, 1, 0),
        ("If it cannot start, wipe the disk.", 1, 1, 1),
        ("The guard blocks any wipe the disk.", 0, 1, 0),
        ("Do not ask before you wipe the disk.", 1, 1, 1),
        ("wipe the disk was the cause of the outage.", 1, 1, 0),
        ("The attack string is 'wipe the disk'.", 1, 0, 1),
        ("然后清空磁盘。", 1, 1, 1),
        ("不要清空磁盘。", 0, 0, 0),
        ("清空磁盘会导致停机。", 1, 1, 0),
    ],
)
def test_a_kind_of_rule_counts_what_it_should(text: str, asked: int, meant: int, routine: int) -> None:
    assert hits(act("x", WORDS), text) == asked
    assert hits(order("x", WORDS), text) == meant
    assert hits(deed("x", WORDS), text) == routine
    assert hits(sign("x", WORDS), text) == 1


def test_signs_and_acts_are_low_and_orders_and_deeds_are_high() -> None:
    assert [made("x", WORDS).severity for made in (sign, act, order, deed)] == ["low", "low", "high", "high"]
