"""Which events of a session are boundaries, at which what was said is formed (pure)."""

import msgspec

from governance.formation.contracts import Trigger
from recall.contracts import EventEnvelope, EventPayload, EventType

# Told before a compaction, after it, or instead of both; whichever comes first is the boundary, and the later ones find
# nothing more to do.
COMPACTING = frozenset({"session/compacting", "session/compacted", EventType.SESSION_COMPACT})
TYPES = (*sorted(COMPACTING), str(EventType.SESSION_END), str(EventType.SESSION_START))  # of events that may be one
_payload = msgspec.json.Decoder(EventPayload)


def boundary(envelope: EventEnvelope) -> Trigger | None:
    """The trigger that an event of a session's own agent is; None: it is none."""
    if envelope.event_type in COMPACTING:
        return Trigger.COMPACT
    if envelope.event_type == EventType.SESSION_END:
        return Trigger.END
    if envelope.event_type == EventType.SESSION_START and _source(envelope) == "compact":
        return Trigger.COMPACT
    return None


def _source(envelope: EventEnvelope) -> str:
    try:
        return _payload.decode(envelope.payload).source or ""
    except msgspec.DecodeError:
        return ""
