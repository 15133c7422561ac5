"""Numbers in words are the numbers that they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.numerals import in_digits, surely_in_digits, value


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("three", 3),
        ("Twenty-five", 25),
        ("twenty five", 25),
        ("two hundred", 200),
        ("a", 1),
        ("a couple of", 2),
        ("12", 12),
        ("三", 3),
        ("十", 10),
        ("二十五", 25),
        ("两百", 200),
        ("二〇二六", 2026),
        ("两千零二十六", 2026),
        ("三万五千", 35_000),
        ("百", 100),
        ("几", None),
        ("many", None),
        ("third", 3),
        ("two billion", 2_000_000_000),
        ("²", None),
        ("", None),
        ("9" * 13, None),
    ],
)
def test_a_word_or_a_numeral_has_its_number(word: str, number: int | None) -> None:
    assert value(word) == number


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("three retries, twenty-five things and two hundred", "3 retries, 25 things and 200"),
        ("a couple of days, a dozen, twice an hour", "2 of days, 12, 2 1 hour"),
        ("half an hour, a half-hour", "30 minutes, a 30 minutes"),
        ("someone is alone, tenths, often, a day", "someone is alone, tenths, often, 1 day"),
        ("重试三次，一共二十五个，一次，半小时", "重试3次，一共25个，1次，30分钟"),
        ("统一成周三发布，星期四开会", "统一成周三发布，星期四开会"),
    ],
)
def test_a_text_can_be_written_in_digits(text: str, digits: str) -> None:
    assert in_digits(text) == digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("three retries, the fifth one, twice", "3 retries, the 5 one, 2"),
        (
            "one of a couple, two-factor, third-party, a third of it",
            "one of a couple, two-factor, third-party, a third of it",
        ),
        ("重试三次，第三步，一次", "重试3次，第3步，一次"),
        ("十分重要，万一，第三方，第二天，百分之三，周三", "十分重要，万一，第三方，第二天，百分之三，周三"),
        ("七月，100 万行", "七月，100 万行"),
    ],
)
def test_only_what_surely_counts_is_written_in_digits(text: str, digits: str) -> None:
    assert surely_in_digits(text) == digits


@given(st.text(st.sampled_from("零一二两三四五六七八九十百千万亿 three-hundred周")))
def test_no_run_of_numerals_breaks_it(text: str) -> None:
    assert isinstance(in_digits(text), str)
