"""A clock that stands still until a test moves it."""

START = 1_780_000_000_000  # epoch ms, some day in 2026


class FakeClock:
    """`host.clock.Clock` for tests: `now` moves only by `advance`; each reading of `micros` is one later."""

    def __init__(self, now: int = START) -> None:
        self._now = now
        self._micros = 0

    def now(self) -> int:
        return self._now

    def micros(self) -> int:
        self._micros += 1
        return self._micros

    def advance(self, *, seconds: float = 0, millis: int = 0) -> None:
        """Move on; a negative amount is a clock that was set back."""
        self._now += millis + round(seconds * 1000)


class CountedIds:
    """An id factory for tests: `prefix` + a counter as 32 hex digits, as the real one has 32 random ones."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self, prefix: str = "") -> str:
        self._made += 1
        return f"{prefix}{self._made:032x}"
