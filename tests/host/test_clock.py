"""host/clock.py: the only reader of clocks, and one that stands still."""

from host.clock import SetClock, SystemClock


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
