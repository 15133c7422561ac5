"""The matcher: its prefilter forgets no rule, and a finding covers what the rule says."""

import random
import re

import pytest
import re2

from governance.screening.injection import PLAIN
from governance.screening.matching import Hit, Matcher, Rule
from governance.screening.personal import PERSONAL
from governance.screening.secrets import SECRETS
from governance.screening.signs import SIGNS


def covered(rule: Rule, text: str) -> list[str]:
    return [hit.value for hit in Matcher([rule]).find(text.encode())]


def test_a_finding_covers_the_group_named_value_that_took_part() -> None:
    rule = Rule(family="f", pattern=r"a=(?P<value>\d+)|b=(?P<value2>\d+)|c=\d+")
    assert covered(rule, "a=1 b=2 c=3") == ["1", "2", "c=3"]


def test_the_check_has_the_last_word_and_sees_the_surroundings() -> None:
    seen: list[tuple[str, str, str, str]] = []

    def check(hit: Hit) -> bool:
        seen.append((hit.before(4), hit.value, hit.after(4), hit.group("key")))
        return hit.value == "2"

    rule = Rule(family="f", pattern=r"(?P<key>\w)=(?P<value>\d)", check=check)
    assert covered(rule, "é a=1, b=2") == ["2"]
    assert seen == [(" a=", "1", ", b=", "a"), (", b=", "2", "", "b")]


def test_hits_come_rule_by_rule_in_the_order_of_the_table() -> None:
    first, second = Rule(family="first", pattern="token"), Rule(family="second", pattern=r"\d")
    families = [hit.rule.family for hit in Matcher([first, second]).find(b"1 token 2")]
    assert families == ["first", "second", "second"]


def test_a_rule_without_any_literal_runs_too() -> None:
    assert covered(Rule(family="f", pattern=r"\d{3}"), "a 123 b") == ["123"]
    assert covered(Rule(family="f", pattern=r"\d{3}"), "a 12 b") == []


WORDS = sorted(
    {
        word
        for rule in (*SECRETS, *PERSONAL, *PLAIN, *SIGNS)
        for word in re.findall(r"[A-Za-z_<>/|-]{2,}|[\u4e00-\u9fff]{1,6}", re.sub(r"\\[a-z]", " ", rule.pattern))
    }
)


@pytest.mark.parametrize("table", [SECRETS + PERSONAL, PLAIN + SIGNS], ids=["secrets", "injections"])
def test_the_prefilter_forgets_no_rule_on_text_that_is_dense_with_its_words(table: tuple[Rule, ...]) -> None:
    unchecked = [Rule(family=str(number), pattern=rule.pattern) for number, rule in enumerate(table)]
    matcher, expressions = Matcher(unchecked), [re2.compile(rule.pattern) for rule in table]
    chance = random.Random(7)
    for _ in range(150):
        text = "".join(chance.choice(WORDS) + chance.choice(" \n=:-_\"'.") for _ in range(150)).encode()
        truth = {str(number) for number, expression in enumerate(expressions) if expression.search(text)}
        assert {hit.rule.family for hit in matcher.find(text)} == truth
