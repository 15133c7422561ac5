"""Each kind of date word has the readings of a calendar, and an ambiguous one has them all."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.date_words import DATE_WORDS
from governance.formation.readings import in_some_year, readings

TUESDAY = datetime(2026, 11, 3, 9, tzinfo=UTC)
SUNDAY = datetime(2026, 11, 8, 9, tzinfo=UTC)


def _read(text: str, moment: datetime = TUESDAY) -> set[str]:
    return {form for match in DATE_WORDS.finditer(text) for form in readings(match, moment)}


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("yesterday", {"2026-11-02"}),
        ("大前天", {"2026-10-31"}),
        ("大后天", {"2026-11-06"}),
        ("last night", {"2026-11-02", "2026-11-03"}),
        ("last Friday", {"2026-10-30"}),
        ("this Friday", {"2026-11-06"}),
        ("next Friday", {"2026-11-06", "2026-11-13"}),
        ("next Monday", {"2026-11-09"}),
        ("last Monday", {"2026-11-02", "2026-10-26"}),
        ("下周一", {"2026-11-09"}),
        ("上周日", {"2026-11-01", "2026-10-25"}),
        ("Monday next week", {"2026-11-09"}),
        ("Monday", {"2026-11-02", "2026-11-09"}),
        ("Tuesday", {"2026-11-03", "2026-10-27"}),
        ("this weekend", {"2026-11-07", "2026-11-08"}),
        ("last weekend", {"2026-10-31", "2026-11-01"}),
        ("last month", {"2026-10", "2026-10-01", "2026-10-31"}),
        ("上上个月", {"2026-09", "2026-09-01", "2026-09-30"}),
        ("next quarter", {"2027-Q1", "2027-01-01", "2027-03-31"}),
        ("去年", {"2025"}),
        ("last summer", {"2025", "2026"}),
        ("two weekends ago", {"2026-10-24", "2026-10-25"}),
        ("明年3月", {"2027-03"}),
        ("前年2月30日", set()),
        ("end of the month", {"2026-11-30"}),
        ("下月初", {"2026-12-01"}),
        ("年底", {"2026-12-31"}),
        ("EOW", {"2026-11-08", "2026-11-07", "2026-11-06"}),
        ("下个月31号", {"2026-12-31"}),
        ("本月31号", set()),
        ("3 days ago", {"2026-10-31"}),
        ("two weeks ago", {"2026-10-20", "2026-W43"}),
        ("a month ago", {"2026-10", "2026-10-03"}),
        ("3 years ago", {"2023", "2023-11-03"}),
        ("10 hours ago", {"2026-11-02"}),
        ("a week from now", {"2026-11-10", "2026-W46"}),
        ("in 90 minutes", {"2026-11-03"}),
        ("三天后", {"2026-11-06"}),
        ("the 15th", {"2026-10-15", "2026-11-15", "2026-12-15"}),
        ("the 31st", {"2026-10-31", "2026-12-31"}),
        ("currently", {"2026-11-03"}),
        ("目前", {"2026-11-03"}),
        ("end of Q4", {"2025-Q4", "2026-Q4", "2027-Q4"}),
        ("四季度", {"2025-Q4", "2026-Q4", "2027-Q4"}),
        ("since March", {"2026-03", "2027-03"}),
        ("in November", {"2026-11", "2025-11"}),
        ("3月上线", {"2026-03", "2027-03"}),
        ("几天前", set()),
        ("9999 years ago", set()),
        ("half a year ago", {"2026-05", "2026-05-03"}),
        ("半年后", {"2027-05", "2027-05-03"}),
        ("半个月后", {"2026-11-18"}),
        ("half an hour ago", {"2026-11-03"}),
        ("一个半月前", set()),
        ("明年年初", {"2027", "2027-01-01"}),
        ("去年年底", {"2025", "2025-12-31"}),
        ("month end", {"2026-11-30"}),
        ("end of quarter", {"2026-12-31"}),
        ("last day of next month", {"2026-12-31"}),
        ("first of next month", {"2026-12-01"}),
        ("end of the day", {"2026-11-03"}),
        ("the week after next", {"2026-11-17", "2026-W47"}),
        ("the month before last", {"2026-09", "2026-09-03"}),
        ("the Monday after next", {"2026-11-09", "2026-11-16"}),
        ("last March", {"2026-03", "2025-03"}),
        ("next November", {"2027-11", "2028-11"}),
        ("over the weekend", {"2026-10-31", "2026-11-01", "2026-11-07", "2026-11-08"}),
        ("a fortnight ago", {"2026-10-20"}),
        ("within three days", {"2026-11-06"}),
        ("下一周的周三", {"2026-11-11"}),
        ("gestern", {"2026-11-02"}),
        ("in decimals, for Maryland", set()),
    ],
)
def test_on_a_tuesday(text: str, forms: set[str]) -> None:
    assert _read(text) == forms


def test_on_a_sunday_the_next_week_begins_tomorrow_or_today() -> None:
    assert _read("下周一", SUNDAY) == {"2026-11-09", "2026-11-16"}
    assert _read("next Monday", SUNDAY) == {"2026-11-09", "2026-11-16"}
    assert "2026-11-06" in _read("this Friday", SUNDAY)


def test_a_month_that_is_too_short_ends_on_its_last_day() -> None:
    assert _read("a month ago", datetime(2026, 3, 31, tzinfo=UTC)) == {"2026-02", "2026-02-28"}


def test_a_date_without_its_year_is_the_one_before_or_the_one_after() -> None:
    assert list(in_some_year("--11-20", date(2026, 11, 3))) == ["2025-11-20", "2026-11-20"]
    assert list(in_some_year("--02-29", date(2026, 11, 3))) == []
    assert list(in_some_year("--12-31", date(9999, 12, 31))) == ["9998-12-31", "9999-12-31"]


PHRASES = (
    "yesterday, the day after tomorrow, last Friday, next Monday, this weekend, 下周一, 上个月, last quarter, 去年,"
    " 40000 days ago, 三万年前, in 9999 months, end of next year, the 31st, 周五, last week, 下月底"
)


@given(st.datetimes())
def test_at_any_time_the_readings_are_days_that_exist(moment: datetime) -> None:
    for form in _read(PHRASES, moment):
        if len(form) == 10:
            date.fromisoformat(form)
