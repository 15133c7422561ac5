"""A memory that was taken back, put away or deprecated is not shown."""

from governance.contracts import Audience, Stage
from recall.contracts import Candidate, Millis, Status

_LIVE = (Status.ACTIVE, Status.SUPERSEDED)  # superseded has a rule, and a reason, of its own


def revoked(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to every status that is not live, and to a procedure that nobody used for long."""
    if audience.stages.get(candidate.memory_id) is Stage.DEPRECATED:
        return "it is deprecated"
    return None if candidate.status in _LIVE else f"it is {candidate.status.value}"
