"""A recorded session with its store of memories and its labels: what the demo plays. Pure but for `load`.

The three files are those of a labelled session: `events.jsonl`, `memories.jsonl`, `labels.json`. What they say is
data; some of the memories try to be an instruction and are there to be refused.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from host.contracts import Surface
from recall.contracts import (
    Channel,
    EventEnvelope,
    EventPayload,
    EventType,
    MemoryKind,
    Millis,
    Scope,
    SourceKind,
    Status,
)

SHIPPED = Path(__file__).parent / "data"
CHANNELS = {SourceKind.TOOL: Channel.TOOLS, SourceKind.AGENT: Channel.AGENT}


class Recorded(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One event as recorded. `step`: model replies so far; `turn`: prompts so far."""

    seq: int
    ts: str
    source: SourceKind
    type: str
    turn: int
    step: int
    text: str
    call_id: str | None = None
    tool: str | None = None
    ok: bool | None = None
    path: str | None = None


class Stored(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One memory of the store as it was before the session. `workspace` is a name, None for the user's own."""

    id: str
    kind: MemoryKind
    scope: Scope
    workspace: str | None
    created: str
    status: Status
    text: str


class Gold(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that would have helped, and the ranges of `seq` in which it would have come at the right time."""

    memory: str
    window: tuple[int, int]
    why: str
    also: tuple[tuple[int, int], ...] = ()

    def covers(self, seq: int) -> bool:
        """Whether `seq` lies in the window or in a further one."""
        return any(first <= seq <= last for first, last in (self.window, *self.also))


class Acceptable(msgspec.Struct, frozen=True, kw_only=True):
    memory: str
    window: tuple[int, int]


class Labels(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What hindsight says about the session: when which memory is right, and which never is."""

    session: str
    workspace: str
    topic: str
    gold: tuple[Gold, ...]
    acceptable: tuple[Acceptable, ...]
    duplicates: tuple[tuple[str, ...], ...]
    never_reason: dict[str, str]
    quiet: tuple[tuple[int, int], ...]

    def restated(self, memory_id: str) -> frozenset[str]:
        """The memory and its paraphrases: any one of them will do."""
        return frozenset((memory_id,)).union(*(group for group in self.duplicates if memory_id in group))


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    events: tuple[Recorded, ...]
    memories: tuple[Stored, ...]
    labels: Labels


def load(folder: Path = SHIPPED) -> Recording:
    """Read a recorded session. Raises OSError or msgspec.ValidationError when the folder does not hold one."""
    return Recording(
        events=tuple(msgspec.json.decode(_rows(folder / "events.jsonl"), type=list[Recorded])),
        memories=tuple(msgspec.json.decode(_rows(folder / "memories.jsonl"), type=list[Stored])),
        labels=msgspec.json.decode((folder / "labels.json").read_bytes(), type=Labels),
    )


def millis(text: str) -> Millis:
    """An ISO 8601 time as epoch milliseconds."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def envelope(event: Recorded, session_id: str, workspace: Path) -> EventEnvelope:
    """The event as a host would send it to the daemon, from the main agent in `workspace`."""
    call = event.type == EventType.TOOL_CALL
    payload = EventPayload(
        text="" if call else event.text,
        args=event.text if call else None,
        tool=event.tool,
        ok=event.ok,
        path=event.path if event.tool else None,
        source="startup" if event.type == EventType.SESSION_START else None,
    )
    return EventEnvelope(
        session_id=session_id,
        agent_id="main",
        workspace=str(workspace),
        channel=CHANNELS.get(event.source, Channel.SESSION),
        event_type=event.type,
        timestamp=millis(event.ts),
        source_kind=event.source,
        payload=msgspec.Raw(msgspec.json.encode(payload)),
        native_seq=event.seq,
        turn=event.turn,
        step=event.step,
        call_id=event.call_id,
    )


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


def _rows(path: Path) -> bytes:
    """A JSON-lines file as one JSON array."""
    return b"[" + b",".join(line for line in path.read_bytes().splitlines() if line.strip()) + b"]"
