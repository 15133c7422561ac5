"""A procedure that is not validated and active is never offered as a checklist (invariant 8)."""

from governance.contracts import Audience, Proposal
from recall.contracts import ActivationLevel, MemoryKind, Millis, Status


def inactive_procedure(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto a checklist without an active procedure behind it, and an activation of anything else."""
    active = {
        item.memory_id for item in proposal.items if item.kind is MemoryKind.PROCEDURAL and item.status is Status.ACTIVE
    }
    if proposal.activation is not None and proposal.activation.procedure_id not in active:
        return "the procedure asked for is not an active one of this packet"
    if proposal.level is ActivationLevel.CHECKLIST and not active:
        return "there is no active procedure for a checklist"
    return None
