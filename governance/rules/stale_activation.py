"""Advice about another moment is no advice."""

from governance.contracts import Audience, Proposal
from recall.contracts import Millis


def stale_activation(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto an activation that was given for another context version or another memory index."""
    advice = proposal.activation
    if advice is None:
        return None
    if advice.context_version != proposal.context_version:
        return "the activation was meant for another context version"
    if advice.memory_index_version != audience.index_version:
        return "the activation was meant for another memory index"
    return None
