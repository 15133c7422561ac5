"""A date has one form, however it is written; what is no day is no date."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.written_dates import Written, dates_in, either_way


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("on 11/2/2026", ["2026-11-02", "2026-02-11"]),
        ("5/5", ["--05-05", "--05-05"]),
        ("2/30, 13/13, 1/2/3, a/1/2, 40/7", []),
        ("13/1", ["--01-13"]),
    ],
)
def test_a_date_in_figures_alone_has_both_readings(text: str, forms: list[str]) -> None:
    assert list(either_way(text)) == forms


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("2 November 2026, Nov 2nd, 2026 and November the 2nd", ["2026-11-02", "2026-11-02", "--11-02"]),
        ("2026/11/2 2026-11-02 2026.11.02 2026年11月2日", ["2026-11-02"] * 4),
        ("2026-11-02T09:00Z, 2026-11-02.", ["2026-11-02", "2026-11-02"]),
        ("11月2日 the 3rd of May, Nov. 20", ["--11-02", "--05-03", "--11-20"]),
        ("Q4 2026 2026-Q3 2026-W44", ["2026-Q4", "2026-Q3", "2026-W44"]),
        ("2026-11 November 2026 2026年11月", ["2026-11"] * 3),
        ("31 June 2026, 2026-13-01, 30 February", []),
        ("29 February 2024, 29 February 2026", ["2024-02-29"]),
        ("may 5 users march 3 steps, 3 octopus, Dec 12:30, 11/02/2026", []),
        ("1.2026.11, 2026-11-02-x, 120261102", []),
    ],
)
def test_dates_are_read_in_one_form(text: str, forms: list[str]) -> None:
    assert [found.form for found in dates_in(text)] == forms


def test_a_date_knows_its_place() -> None:
    assert list(dates_in("on Nov 2, 2026 we")) == [Written(3, 14, "2026-11-02")]


@given(st.dates())
def test_every_iso_day_of_these_centuries_is_itself(day) -> None:  # type: ignore[no-untyped-def]
    forms = [found.form for found in dates_in(f"it is {day.isoformat()}, then")]
    assert forms == ([day.isoformat()] if 1900 <= day.year < 2100 else [])
