"""A memory that a newer one replaces is not shown."""

from governance.contracts import Audience
from recall.contracts import Candidate, Millis, Status


def superseded(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object by status, and by the mere name of a successor."""
    if candidate.status is Status.SUPERSEDED or candidate.superseded_by:
        return "a newer memory replaces it"
    return None
