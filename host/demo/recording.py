"""The recorded session that the demo plays, and where its host would ask. Pure."""

from collections.abc import Sequence
from pathlib import Path

from host.contracts import Surface
from host.evaluation.sessions import Recorded
from recall.contracts import EventType

SHIPPED = Path(__file__).parent / "data"


def surface(events: Sequence[Recorded], place: int) -> Surface | None:
    """Where a host like Claude Code would ask after the event at `place`: at a start, a prompt, and once a reply's
    tool results are all there. Elsewhere it cannot take anything."""
    event = events[place]
    match event.type:
        case EventType.SESSION_START | EventType.SESSION_COMPACT:
            return Surface.SESSION_START
        case EventType.USER_MESSAGE:
            return Surface.USER_PROMPT
        case EventType.TOOL_RESULT:
            more = place + 1 < len(events) and _same_reply(event, events[place + 1])
            return None if more else Surface.POST_TOOL
        case _:
            return None


def _same_reply(event: Recorded, later: Recorded) -> bool:
    return later.step == event.step and later.type in (EventType.TOOL_CALL, EventType.TOOL_RESULT)
