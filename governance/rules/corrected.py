"""A memory that the user corrected is not shown until it was reviewed."""

from governance.contracts import Audience
from recall.contracts import Candidate, Flag, Millis


def corrected(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object by the record's flag, and by the marks."""
    if Flag.CORRECTED in candidate.flags or candidate.memory_id in audience.corrected:
        return "the user corrected it"
    return None
