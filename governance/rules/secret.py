"""No secret and no personal datum is shown, whatever door it came in by."""

from governance.contracts import Audience
from governance.screen import secrets
from recall.contracts import Candidate, Millis


def secret(candidate: Candidate, audience: Audience, now: Millis) -> str | None:
    """Object to a record whose title or text holds a secret; the objection names the family, never the value."""
    found = secrets(f"{candidate.title}\n{candidate.payload}" if candidate.title else candidate.payload)
    return f"it holds {found[0].family}" if found else None
