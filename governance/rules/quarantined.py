"""A memory under suspicion, or one that must be checked again, waits for a person."""

from governance.contracts import Audience
from recall.contracts import Candidate, Flag, Millis


def quarantined(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to the flags `quarantined` and `recheck`, and by the marks. A file's flag does not hold against a person
    who kept the record as it stands."""
    if candidate.memory_id in audience.quarantined:
        return "it is held back"
    kept = candidate.memory_id in audience.approved
    for flag in (Flag.RECHECK,) if kept else (Flag.QUARANTINED, Flag.RECHECK):
        if flag in candidate.flags:
            return f"it is marked {flag.value}"
    return None
