"""Which words name a day, and which only look as if they did."""

import pytest

from governance.formation.date_words import DATE_WORDS, DEICTIC, KINDS


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("yesterday", "yesterday"),
        ("the  day before\nyesterday", "before_last"),
        ("前天", "before_last"),
        ("大前天", "before_that"),
        ("后天", "after_next"),
        ("last night", "night"),
        ("this morning", "today"),
        ("下周一", "of_week"),
        ("Monday of last week", "of_week"),
        ("next Mon", "weekday"),
        ("this coming Friday", "weekday"),
        ("上个周末", "weekend"),
        ("end of the month", "edge"),
        ("下个月5号", "month_day"),
        ("last quarter", "unit"),
        ("上个月", "unit"),
        ("去年3月", "year"),
        ("last summer", "season"),
        ("two weekends ago", "ago"),
        ("the other day", "some"),
        ("a couple of days ago", "ago"),
        ("两周前", "ago"),
        ("3 days from now", "hence"),
        ("in 30 days", "within"),
        ("三天后", "within"),
        ("几天前", "some"),
        ("Monday", "bare"),
        ("周五", "bare"),
        ("the 15th", "monthday"),
    ],
)
def test_a_word_is_of_its_kind(text: str, kind: str) -> None:
    found = DATE_WORDS.search(text)
    assert found is not None
    assert (found.lastgroup, found[0]) == (kind, text)


@pytest.mark.parametrize(
    "text",
    [
        "every Friday and each Monday",
        "Thursdays",
        "每周五",
        "本周期",
        "以下月份",
        "成本月度报表",
        "3年前端经验",
        "三天后台任务",
        "当今年轻人",
        "之后天气",
        "如今日志",
        "以前年度",
        "the weekday, a sun, he sat, we wed",
        "3号线",
        "the next step",
        "1991年前和2006年之后",
        "2012年底",
        "上百亿年前",
    ],
)
def test_what_only_looks_like_a_day_is_none(text: str) -> None:
    assert DATE_WORDS.search(text) is None


def test_every_kind_that_means_a_day_is_a_kind() -> None:
    assert {kind for kind, _ in KINDS} >= DEICTIC
