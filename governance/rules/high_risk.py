"""A high-risk procedure needs the user's approval first (invariant 8)."""

from governance.contracts import Audience
from recall.contracts import Candidate, MemoryKind, Millis, Risk


def high_risk(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to a high-risk procedure that the user has not approved, as it stands now."""
    risky = candidate.kind is MemoryKind.PROCEDURAL and candidate.risk_level is Risk.HIGH
    return "the user has not approved it" if risky and candidate.memory_id not in audience.approved else None
