"""A memory that the user muted is not shown."""

from governance.contracts import Audience
from recall.contracts import Candidate, Flag, Millis


def muted(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object by the record's flag, and by what was muted in this session."""
    if Flag.MUTED in candidate.flags or candidate.memory_id in audience.muted:
        return "the user muted it"
    return None
