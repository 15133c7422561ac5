"""A memory of weak origin is not shown at a level that lends it weight."""

from governance.contracts import Audience
from governance.trust import ceiling, within
from recall.contracts import ActivationLevel, Candidate, Millis

_LOWERED = ActivationLevel.EXCERPT  # up to here the broker shows less of a weak record instead


def trust_level(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object where showing less would change what is shown: a checklist, a resource, a whole record."""
    limit = ceiling(candidate, audience.evidenced, audience.stages)
    if within(audience.level, _LOWERED) or within(audience.level, limit):
        return None
    return f"its origin allows {limit.value} at most"
