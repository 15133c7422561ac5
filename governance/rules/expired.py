"""A memory is shown only within its own time."""

from governance.contracts import Audience
from recall.contracts import Candidate, Millis


def expired(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object before `valid_from` and from `expires_at` on."""
    if candidate.expires_at is not None and candidate.expires_at <= now:
        return "it has expired"
    if candidate.valid_from is not None and candidate.valid_from > now:
        return "it is not valid yet"
    return None
