"""A memory that the user muted is not shown."""

from governance.contracts import Audience
from recall.contracts import Candidate, Flag, Millis


def muted(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object by the record's flag, by its id, and by the kinds that are muted in this workspace."""
    if Flag.MUTED in candidate.flags or candidate.memory_id in audience.muted:
        return "the user muted it"
    if candidate.kind in audience.muted_kinds:
        return "the user muted this kind of memory here"
    return None
