"""A packet that cannot be taken is not built."""

from governance.contracts import Audience, Proposal
from recall.contracts import Millis


def no_surface(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto when this host has no surface open for the audience."""
    return None if audience.surface_available else "the host cannot take a packet here"
