"""The only place that reads a clock. Tests and replay pass another `Clock`."""

import time
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
