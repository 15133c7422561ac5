"""A weekday or a month that no quote says is made up; one in words that are not read here is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.days import months, strange_days


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Frozen in May, open since June and in Dec", [5, 6, 12]),
        ("May fail. March on, it may work; we march in line", []),
        ("七月和8月，十二月", [7, 8, 12]),
        ("3个月后，三个月", []),
        ("2026-11-02", []),
    ],
)
def test_months_are_read(text: str, found: list[int]) -> None:
    assert list(months(text)) == found


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Releases go out on Thursday", "thursdays are for releases"),
        ("Releases go out on Thursday", "每週四發布"),
        ("周五发布", "releases on fri"),
        ("Works Monday to Friday", "only on weekdays"),
        ("Releases go out on Thursday", "Release am Donnerstag"),
        ("Releases go out on Thursday", "木曜日にリリース"),
        ("Frozen in March", "frozen in mar"),
        ("Frozen in March", "frozen on 3/11"),
        ("Frozen in December", "gefroren im Dez"),
        ("Tabs are used", "use tabs"),
    ],
)
def test_a_day_that_is_said_in_any_words_is_none(text: str, quote: str) -> None:
    assert strange_days(text, [quote], ()) == []


@pytest.mark.parametrize(
    ("text", "quote", "strange"),
    [
        ("Releases go out on Tuesday", "releases go out on Thursdays", ["weekday 2"]),
        ("周五发布", "周四发布", ["weekday 5"]),
        ("Frozen in May", "frozen in March", ["month 5"]),
        ("八月发布", "7月发布", ["month 8"]),
    ],
)
def test_another_day_is(text: str, quote: str, strange: list[str]) -> None:
    assert strange_days(text, [quote], ()) == strange


def test_the_day_of_a_date_is_said_with_it() -> None:
    assert strange_days("Monday in November", ["we froze it yesterday"], {"2026-11-02"}) == []
    assert strange_days("Tuesday in December", ["we froze it yesterday"], {"2026-11-02", "--11-02"}) == [
        "weekday 2",
        "month 12",
    ]


@given(st.text(st.sampled_from("May in Dec七月十 Monday周三个1 ")))
def test_any_text_says_its_own_days(text: str) -> None:
    assert strange_days(text, [text], ()) == []
