"""Times of documents: one form, and nothing else is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.times import day, read, written

LAST = 253_402_300_799_999  # of the year 9999


@given(st.integers(0, LAST))
def test_what_was_written_reads_back(at: int) -> None:
    assert read(written(at)) == at


def test_a_time_has_milliseconds_and_z() -> None:
    assert written(1_780_000_000_007) == "2026-05-28T20:26:40.007Z"
    assert day(1_780_000_000_007) == "2026-05-28"


@pytest.mark.parametrize(
    "text",
    [
        *("2026-05-28T20:26:40.007", "2026-05-28T20:26:40Z", "2026-05-28T20:26:40.007+00:00", "2026-05-28"),
        *("2026-13-28T20:26:40.007Z", "2026-02-30T20:26:40.007Z", "2026-05-28T24:26:40.007Z", "", "now"),
        *("2026-05-28t20:26:40.007z", " 2026-05-28T20:26:40.007Z", "2026-05-28T20:26:40.007Z\n"),
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    assert read(text) is None
