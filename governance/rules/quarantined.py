"""A memory under suspicion, or one that must be checked again, waits for a person."""

from governance.contracts import Audience
from recall.contracts import Candidate, Flag, Millis


def quarantined(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to the flags `quarantined` and `recheck`."""
    for flag in (Flag.QUARANTINED, Flag.RECHECK):
        if flag in candidate.flags:
            return f"it is marked {flag.value}"
    return None
