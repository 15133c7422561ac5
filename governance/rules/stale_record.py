"""A memory is shown only as it stands in its file now (invariant 3)."""

from governance.contracts import Audience
from recall.contracts import Candidate, Millis


def stale_record(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object when the record is gone from the index, or has another digest there."""
    current = audience.digests.get(candidate.memory_id)
    if current is None:
        return "it is gone from the index"
    return None if current == candidate.record_digest else "it changed since it was found"
