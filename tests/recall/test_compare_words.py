"""The word lists of the comparison: what they match, and that they do not work against one another."""

import re

import pytest

from recall.compare_words import ARTICLES, CHOICE, COPULA, DAYS, DENIAL, MONTHS, OPPOSITES, PLAIN, SINCE


@pytest.mark.parametrize(
    "word",
    ["Tuesday", "thursdays", "Tue", "dienstags", "Mittwoch", "星期二", "周四", "礼拜天", "火曜日", "水曜", "목요일"],
)
def test_a_weekday_is_one_in_every_language(word: str) -> None:
    assert re.fullmatch(DAYS, word, re.IGNORECASE)


@pytest.mark.parametrize(
    "said", ["since v3", "as of 2.1", "starting with v4", "seit v3", "ab 2024", "从 v3 起", "v3から", "v3부터"]
)
def test_since_when_something_holds_is_recognised(said: str) -> None:
    assert SINCE.fullmatch(said)


@pytest.mark.parametrize("said", ["since Tuesday", "ab und zu", "from the start", "as of"])
def test_a_phrase_without_a_number_says_no_since_when(said: str) -> None:
    assert SINCE.search(said) is None


def test_an_article_is_left_out_before_a_word_and_not_as_a_name() -> None:
    assert ARTICLES.sub(" ", "Use the tool and a hammer, please ask").split() == [
        "Use",
        "tool",
        "and",
        "hammer,",
        "ask",
    ]
    assert ARTICLES.sub(" ", "Option A is Vitamin a, grade a 1") == "Option A is Vitamin a, grade a 1"


def test_what_decides_is_never_left_out() -> None:
    opposite = frozenset().union(*OPPOSITES)

    assert PLAIN.isdisjoint(opposite | CHOICE | COPULA)
    assert [word for word in PLAIN if DENIAL.search(f" {word} ")] == []
    assert all(len(pair) == 2 for pair in OPPOSITES)


def test_a_month_is_one() -> None:
    assert re.fullmatch(MONTHS, "Oktober", re.IGNORECASE)
    assert not re.search(MONTHS, "we march in may", re.IGNORECASE)
