"""How patterns are written."""

import re2

from governance.screening.phrases import either, rule


def test_a_space_is_any_white_space_and_case_does_not_matter() -> None:
    expression = re2.compile(either("skip the review", "force push"))
    assert expression.search("SKIP\n  the\treview")
    assert expression.search("Force  push")
    assert not expression.search("skipthe review")


def test_a_rule_belongs_to_the_injection_families() -> None:
    made = rule("override", "obey this")
    assert (made.family, made.severity) == ("injection.override", "high")
