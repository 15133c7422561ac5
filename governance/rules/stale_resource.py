"""A resource that is offered is the one that the activation meant, at its version."""

from governance.contracts import Audience, Proposal
from recall.contracts import ActivationRequest, Millis


def stale_resource(proposal: Proposal, audience: Audience, now: Millis) -> str | None:
    """Veto a resource named in part, one that no item holds, and one at another version or digest."""
    advice = proposal.activation
    if advice is None or not any(_named(advice)):
        return None
    if not all(_named(advice)):
        return "the resource is named in part only"
    item = next((item for item in proposal.items if item.resource_ref == advice.resource_ref), None)
    if item is None:
        return "no item of the packet holds the resource"
    current = (item.source_version, audience.digests.get(item.memory_id))
    return None if current == (advice.resource_version, advice.resource_digest) else "the resource changed meanwhile"


def _named(advice: ActivationRequest) -> tuple[bool, bool, bool]:
    return (advice.resource_ref is not None, advice.resource_version is not None, advice.resource_digest is not None)
