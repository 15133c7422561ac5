"""Waiting until the daemon has nothing left to think about."""

import time

from tests.support.daemon import Wire

STILL_SECONDS = 0.3
PATIENCE_SECONDS = 600


def passes(wire: Wire) -> int:
    """Passes audited so far, silences included."""
    counts: dict[str, int] = wire.call("metrics")["passes"]
    return sum(counts.values())


def drained(wire: Wire) -> int:
    """Wait until the number of audited passes stands still; return it."""
    begun = time.monotonic()
    seen, since = passes(wire), time.monotonic()
    while time.monotonic() - since < STILL_SECONDS:
        if time.monotonic() - begun > PATIENCE_SECONDS:
            raise TimeoutError("The passes do not come to an end.")
        time.sleep(0.02)
        now = passes(wire)
        if now != seen:
            seen, since = now, time.monotonic()
    return seen
