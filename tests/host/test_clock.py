"""host/clock.py: the only reader of clocks, and one that stands still."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from host.clock import MachineZone, SetClock, SystemClock


def test_a_set_clock_stands_where_it_was_set() -> None:
    clock = SetClock(10)
    assert (clock.now(), clock.now(), clock.micros()) == (10, 10, 0)
    clock.set(25)
    assert clock.now() == 25


def test_a_set_clock_never_goes_back() -> None:
    clock = SetClock(10)
    clock.set(5)
    assert clock.now() == 10


def test_the_system_clock_counts_milliseconds_of_the_epoch_and_rising_micros() -> None:
    clock = SystemClock()
    assert 1_700_000_000_000 < clock.now() < 4_000_000_000_000
    assert clock.micros() <= clock.micros()


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("month", "hours"), [(1, 1), (7, 2)])
def test_the_zone_of_the_machine_has_the_offset_of_the_moment(berlin: None, month: int, hours: int) -> None:
    moment = datetime(2026, month, 15, 23, 30, tzinfo=UTC)
    local = moment.astimezone(MachineZone())
    assert (local.day, local.hour) == (16, (23 + hours) % 24)
    assert local.utcoffset() == timedelta(hours=hours)
    assert local.timestamp() == moment.timestamp()
    assert local.strftime("%Y-%m-%d %Z") == f"2026-{month:02}-16 local"


def test_a_moment_without_a_calendar_is_utc(berlin: None) -> None:
    zone = MachineZone()
    assert datetime(9999, 12, 31, 23, 59, tzinfo=UTC).astimezone(zone).year == 9999
    assert zone.utcoffset(None) is None
    assert zone.dst(None) is None
