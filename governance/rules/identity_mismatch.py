"""A packet belongs to one session and one agent, and its items are who they say they are."""

from governance.contracts import Audience, Proposal
from recall.contracts import Millis


def identity_mismatch(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto a packet for somebody else, an item twice, and an anchor that belongs to another memory."""
    if (proposal.session_id, proposal.agent_id) != (audience.scope.session_id, audience.scope.agent_id):
        return "the packet is for another session or agent"
    ids = [item.memory_id for item in proposal.items]
    if len(set(ids)) != len(ids):
        return "a memory stands in the packet twice"
    if any(item.anchor_id not in (None, f"memory:{item.memory_id}") for item in proposal.items):
        return "an anchor belongs to another memory"
    return None
