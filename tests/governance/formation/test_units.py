"""Units have one form, and half a day has twelve hours."""

import re

import pytest

from governance.formation.units import UNIT, UNITS, clocks


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ("30s", "s"),
        ("30 seconds", "s"),
        ("30-second", "s"),
        ("30 秒", "s"),
        ("5分钟", "min"),
        ("9 GB", "GB"),
        ("50%", "%"),
        ("3个月", "month"),
    ],
)
def test_a_unit_behind_a_number_is_read(written: str, unit: str) -> None:
    found = re.fullmatch(rf"\d+({UNIT})", written)
    assert found is not None
    assert UNITS[found[1].strip(" -").lower()] == unit


@pytest.mark.parametrize("written", ["3分支", "3周期", "5 sheep", "5 mission", "3天花板", "30 minutiae"])
def test_what_only_begins_like_a_unit_is_none(written: str) -> None:
    assert re.fullmatch(rf"\d+({UNIT}).*", written) is None


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 3pm", ["15:00"]),
        ("11:30 am or 12 a.m.", ["11:30", "00:00"]),
        ("下午三点半", ["15:30"]),
        ("晚上8点20分", ["20:20"]),
        ("3点", ["03:00", "15:00"]),
        ("中午12点", ["12:00"]),
        ("凌晨1点", ["01:00"]),
        ("3 points, 1.5pm", []),
    ],
)
def test_times_of_the_day_stand_on_a_clock_of_24_hours(text: str, times: list[str]) -> None:
    assert list(clocks(text)) == times
