"""A procedure that was offered just now is not offered again."""

from governance.contracts import Audience, Proposal
from recall.contracts import Millis


def activation_cooldown(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto the activation of a procedure that is still cooling."""
    advice = proposal.activation
    return (
        "the procedure was offered just now" if advice is not None and advice.procedure_id in audience.cooling else None
    )
