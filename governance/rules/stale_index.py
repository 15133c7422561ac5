"""A packet is built from the memory as it is now."""

from governance.contracts import Audience, Proposal
from recall.contracts import Millis


def stale_index(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto a packet whose candidates come from another version of the index."""
    return None if proposal.index_version == audience.index_version else "the memory index changed meanwhile"
