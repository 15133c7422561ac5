"""A memory is shown only where its scope admits the audience (invariant 1)."""

from governance.contracts import Audience
from recall.contracts import Candidate, Millis, visible


def scope(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to a record that this session may not see; the same pure function guards every read path."""
    return None if visible(candidate.scope, audience.scope) else "its scope does not admit this session"
