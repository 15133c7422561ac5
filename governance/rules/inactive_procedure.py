"""A procedure that is not validated and active is never offered as a checklist (invariant 8)."""

from governance.contracts import Audience, Proposal, Stage
from governance.procedures import stage_of
from recall.contracts import ActivationLevel, MemoryKind, Millis, Status


def inactive_procedure(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto a checklist without an active procedure behind it, and an activation of what is not in the packet."""
    active = {
        item.memory_id
        for item in proposal.items
        if item.kind is MemoryKind.PROCEDURAL
        and item.status is Status.ACTIVE
        and stage_of(audience.stages, item.memory_id, item.origin, promoted=item.promoted) is Stage.ACTIVE
    }
    advice = proposal.activation
    if advice is not None and advice.procedure_id not in {item.memory_id for item in proposal.items}:
        return "what is asked for is not in this packet"
    if advice is not None and advice.level is ActivationLevel.CHECKLIST and advice.procedure_id not in active:
        return "the procedure asked for is not an active one"
    if proposal.level is ActivationLevel.CHECKLIST and not active:
        return "there is no active procedure for a checklist"
    return None
