"""A relative date is what it was on the day of its message, and never without one."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.dates import day, relative_in, resolved, written

AT = int(datetime(2026, 11, 3, 9, tzinfo=UTC).timestamp() * 1000)  # a Tuesday
LATE = int(datetime(2026, 11, 3, 23, tzinfo=UTC).timestamp() * 1000)
SHANGHAI = timezone(timedelta(hours=8))


def test_yesterday_and_next_monday_are_dates() -> None:
    quote = "We froze the API yesterday; the freeze ends next Monday."
    assert resolved(quote, AT) == {"2026-11-02", "2026-11-09"}
    assert resolved("昨天冻结了接口，下周一结束", AT) == {"2026-11-02", "2026-11-09"}
    assert resolved("昨天凍結了接口，下週一結束", AT) == {"2026-11-02", "2026-11-09"}


@pytest.mark.parametrize("timestamp", [None, 0, -5, 10**20])
def test_without_a_time_there_is_no_reading(timestamp: int | None) -> None:
    assert resolved("yesterday, last week, Nov 20", timestamp) == frozenset()
    assert written("We froze it yesterday", timestamp) == "We froze it yesterday"


def test_a_day_before_yesterday_is_not_yesterday_too() -> None:
    assert resolved("the day before yesterday", AT) == {"2026-11-01"}
    assert resolved("大前天", AT) == {"2026-10-31"}


def test_near_midnight_the_day_of_the_author_and_the_day_of_utc_are_both_readings() -> None:
    assert resolved("yesterday", LATE, SHANGHAI) == {"2026-11-02", "2026-11-03"}
    assert resolved("yesterday", AT, SHANGHAI) == {"2026-11-02"}
    assert day(LATE, SHANGHAI) == "2026-11-04 Wednesday"
    assert day(AT) == "2026-11-03 Tuesday"
    assert day(0) == ""


def test_a_date_without_its_year_is_read_and_a_year_that_is_said_counts() -> None:
    assert resolved("On November 20 we go live", AT) == {"2025-11-20", "2026-11-20"}
    assert resolved("去年3月5日上线", AT) == {"2025-03-05"}
    assert resolved("on 2026-11-20", AT) == frozenset()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The API was frozen yesterday; it ends next Monday.", ("yesterday", "next Monday")),
        ("接口昨天冻结，下週一解冻", ("昨天", "下週一")),
        ("Agreed 3 days ago, last month and this morning", ("3 days ago", "last month", "this morning")),
        ("The nightly job failed yesterday", ("yesterday",)),
        ("昨天的任务失败", ("昨天",)),
        ("Closed at the end of last month", ("end of last month",)),
        ("本月底上线", ("本月底",)),
        ("It ships the week after next", ("week after next",)),
        ("去年年底上线", ("去年年底",)),
        ("The nightly data job was fixed last week", ("last week",)),
        ("Removed half a year ago", ("half a year ago",)),
    ],
)
def test_a_text_that_speaks_of_a_day_as_on_that_day_is_caught(text: str, words: tuple[str, ...]) -> None:
    assert relative_in(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "The API was frozen on 2026-11-02.",
        "Releases go out on Thursdays, the last Friday of the month is free.",
        "Invoices go out at the end of the month.",
        "Sessions expire in 30 days; the logs cover the last month.",
        "Run `yesterday` to list `last week`.",
        "The daily report covers yesterday's orders.",
        "每天的任务读取昨天的日志",
        "每周五发布，周三开会",
        "令牌三天后过期",
        "yesterdays_total counts",
        "The report shows today's orders",
        "Rows older than 30 days ago are dropped",
        "Reports are sent at end of day",
        "The dashboard shows data from last week",
        "Backups from 7 days ago are deleted nightly",
        "The last separator and the next Mayor count, in decimals",
        "周末不发布",
    ],
)
def test_a_habit_a_name_and_a_length_of_time_are_no_such_day(text: str) -> None:
    assert relative_in(text) == ()


def test_what_has_one_reading_can_be_written_as_a_date() -> None:
    said = "We froze the API yesterday, until tomorrow; next Friday and last week stay. 昨天冻结"
    assert written(said, AT) == (
        "We froze the API on 2026-11-02, until 2026-11-04; next Friday and last week stay. 2026-11-02冻结"
    )
    assert written("Frozen last month, since last year. 上个月", AT) == "Frozen in 2026-10, since 2025. 2026-10"


words = st.lists(
    st.sampled_from(
        ["yesterday", "昨天", "the", "`", "every", "last", "week", "of", "'s", "下周一", "3 days ago", ".", "\n"]
    ),
    max_size=20,
)


@given(words.map(" ".join), st.integers(-(10**15), 10**15))
def test_what_is_written_says_no_more_relative_dates_than_before(text: str, timestamp: int) -> None:
    assert len(relative_in(written(text, timestamp))) <= len(relative_in(text))
    assert resolved(text, timestamp) >= frozenset()


@pytest.mark.parametrize("piece", ["yesterday ", "昨天", "the ", "1", "三", "`", "monday ", "a couple of ", " ", "\n"])
def test_a_hostile_text_of_64_kib_is_read(piece: str) -> None:
    text = piece * (65_536 // len(piece))
    assert len(relative_in(text)) <= len(text)
    assert len(resolved(text, AT)) < 10
