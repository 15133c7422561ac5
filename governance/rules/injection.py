"""No instruction in disguise is shown (invariant 7)."""

from governance.contracts import Audience
from governance.screen import HIGH, injections
from recall.contracts import Candidate, Millis


def injection(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to a record whose title or text speaks to the agent instead of telling it something, unless a person kept
    it as it stands."""
    if candidate.memory_id in audience.approved:
        return None
    found = injections(f"{candidate.title}\n{candidate.payload}" if candidate.title else candidate.payload)
    return next((f"it reads like {finding.family}" for finding in found if finding.severity == HIGH), None)
