"""The only place that reads a clock. Tests and replay pass another `Clock`."""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Epoch milliseconds, UTC."""
        ...

    def micros(self) -> int:
        """A monotonic count of microseconds, for latencies only."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def micros(self) -> int:
        return time.monotonic_ns() // 1_000


class SetClock:
    """A clock that stands where it was set: replay drives it by the events' own times. Never goes back."""

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def set(self, now: int) -> None:
        """Move to `now` (epoch ms); an earlier time leaves the clock where it is."""
        self._now = max(self._now, now)

    def now(self) -> int:
        return self._now

    def micros(self) -> int:
        return 0


class MachineZone(tzinfo):
    """The time zone in which this machine stands, with the offset of each moment: summer time comes and goes.

    What people say of days ("yesterday") is read in it. A moment for which the machine has no calendar is UTC.
    """

    def fromutc(self, dt: datetime) -> datetime:
        try:
            offset = time.localtime(dt.replace(tzinfo=UTC).timestamp()).tm_gmtoff
            return dt + timedelta(seconds=offset)
        except (OverflowError, OSError, ValueError):
            return dt

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        if dt is None:
            return None
        try:
            meant = time.mktime((*dt.timetuple()[:6], 0, 0, -1))
            return timedelta(seconds=round(dt.replace(tzinfo=UTC, microsecond=0).timestamp() - meant))
        except (OverflowError, OSError, ValueError):
            return timedelta(0)

    def dst(self, dt: datetime | None) -> timedelta | None:
        return None

    def tzname(self, dt: datetime | None) -> str:
        return "local"
