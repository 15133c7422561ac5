"""Labelled sessions: what was recorded, the store of memories as it was before, and what hindsight says of both.

One folder a session: `events.jsonl`, `memories.jsonl`, `labels.json`; docs/how-to/measure-the-decision.md describes
them. What they say is data; some of the memories try to be an instruction and are there to be refused.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, TypeVar

import msgspec

from host.errors import RemoraError
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

FILES = EVENTS, MEMORIES, LABELS = "events.jsonl", "memories.jsonl", "labels.json"
MOST_BYTES = 1 << 30  # of one file
FORMAT = "docs/how-to/measure-the-decision.md describes the format."
CHANNELS = {SourceKind.TOOL: Channel.TOOLS, SourceKind.AGENT: Channel.AGENT}

Span = tuple[int, int]
"""First and last `seq`, both included."""
T = TypeVar("T")


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


class Overlap(StrEnum):
    """How many of a memory's words stand where its need can be seen first: under .2, under .4, more."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Gold(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that would have helped, and the ranges of `seq` in which it would have come at the right time.

    `weight`: 2 costly to be without, 1 normal, .5 small. `lang`: of the memory, "zh" for Chinese.
    """

    memory: str
    window: Span
    why: str = ""
    also: tuple[Span, ...] = ()
    weight: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    overlap: Overlap = Overlap.MEDIUM
    lang: str | None = None

    @property
    def windows(self) -> tuple[Span, ...]:
        """The window and the further ones."""
        return (self.window, *self.also)

    def covers(self, seq: int) -> bool:
        """Whether `seq` lies in the window or in a further one."""
        return any(first <= seq <= last for first, last in self.windows)


class Acceptable(msgspec.Struct, frozen=True, kw_only=True):
    memory: str
    window: Span


class Labels(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What hindsight says about the session: when which memory is right, and which never is."""

    session: str
    workspace: Annotated[str, msgspec.Meta(min_length=1)]
    topic: str = ""
    gold: tuple[Gold, ...]
    acceptable: tuple[Acceptable, ...]
    duplicates: tuple[tuple[str, ...], ...]
    never_reason: dict[str, str]
    quiet: tuple[Span, ...]

    def restated(self, memory_id: str) -> frozenset[str]:
        """The memory and its paraphrases: any one of them will do."""
        return frozenset((memory_id,)).union(*(group for group in self.duplicates if memory_id in group))


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled session. `name`: of its folder."""

    events: tuple[Recorded, ...]
    memories: tuple[Stored, ...]
    labels: Labels
    name: str = ""

    @property
    def steps(self) -> int:
        """Model replies in all."""
        return max((event.step for event in self.events), default=0)


def folders(given: Path) -> list[Path]:
    """The folders of the sessions of a set, by name; `given` may be one of them itself. One that has any of the three
    files is meant to be a session: `load` says what it lacks. Raises RemoraError: none."""
    if any((given / file).is_file() for file in FILES):
        return [given.resolve()]
    found = sorted({path.parent for file in FILES for path in given.glob(f"*/{file}")})
    if not found:
        raise RemoraError(f"No labelled session lies in {given}.", FORMAT)
    return found


def load(folder: Path) -> Recording:
    """Read a recorded session. Raises RemoraError, with file and line, when the folder does not hold one."""
    events = tuple(sorted(_rows(folder / EVENTS, Recorded), key=lambda event: event.seq))
    memories = tuple(_rows(folder / MEMORIES, Stored))
    recording = Recording(
        events=events, memories=memories, labels=_decoded(_bytes(folder / LABELS), folder / LABELS, Labels)
    )
    _check(recording, folder)
    return msgspec.structs.replace(recording, name=folder.name)


def millis(text: str) -> Millis:
    """An ISO 8601 time as epoch milliseconds; UTC if it names no zone. Raises ValueError."""
    at = datetime.fromisoformat(text)
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


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


def _check(recording: Recording, folder: Path) -> None:
    """What the figures rest upon. Raises RemoraError."""
    for place, event in enumerate(recording.events, start=1):
        if event.seq != place:
            raise _broken(folder / EVENTS, f"event {place} has the seq {event.seq}; they count from 1 without a gap")
        _timed(event.ts, folder / EVENTS, f"event {place}")
    if not recording.events:
        raise _broken(folder / EVENTS, "it holds no event")
    if not recording.steps:
        raise _broken(folder / EVENTS, "no event has a step above 0: a session has a reply of the model")
    for memory in recording.memories:
        _timed(memory.created, folder / MEMORIES, memory.id)
        if not memory.text.strip():
            raise _broken(folder / MEMORIES, f"{memory.id} has no text")
        if memory.scope is Scope.WORKSPACE and not memory.workspace:
            raise _broken(folder / MEMORIES, f"{memory.id} is of a workspace and names none")
    known = {memory.id for memory in recording.memories}
    if len(known) < len(recording.memories):
        raise _broken(folder / MEMORIES, "two memories have the same id")
    if not all(recording.labels.duplicates):
        raise _broken(folder / LABELS, "a group of duplicates names no memory")
    for named in _named(recording.labels):
        if named not in known:
            raise _broken(folder / LABELS, f"{named} is no memory of the store")
    for gold in recording.labels.gold:
        if gold.memory in recording.labels.never_reason:
            raise _broken(folder / LABELS, f"{gold.memory} is both needed and never to be given")
    for first, last in _spans(recording.labels):
        if not 1 <= first <= last <= len(recording.events):
            raise _broken(folder / LABELS, f"{first}-{last} is no range of the {len(recording.events)} events")


def _named(labels: Labels) -> Iterator[str]:
    yield from (gold.memory for gold in labels.gold)
    yield from (span.memory for span in labels.acceptable)
    yield from (memory for group in labels.duplicates for memory in group)
    yield from labels.never_reason


def _spans(labels: Labels) -> Iterator[Span]:
    yield from (span for gold in labels.gold for span in gold.windows)
    yield from (one.window for one in labels.acceptable)
    yield from labels.quiet


def _timed(text: str, file: Path, what: str) -> None:
    try:
        millis(text)
    except ValueError:
        raise _broken(file, f"the time of {what} is no ISO 8601 time: {text}") from None


def _rows(file: Path, kind: type[T]) -> Iterator[T]:
    """The objects of a JSON-lines file. Raises RemoraError."""
    for number, line in enumerate(_bytes(file).split(b"\n"), start=1):
        if line.strip():
            yield _decoded(line, file, kind, number)


def _bytes(file: Path) -> bytes:
    """What a file holds. A pipe or a device would be read for ever. Raises RemoraError."""
    try:
        found = file.stat()
        if not S_ISREG(found.st_mode):
            raise _broken(file, "it is no file")
        if found.st_size > MOST_BYTES:
            raise _broken(file, f"it has more than {MOST_BYTES >> 20} MiB")
        return file.read_bytes()
    except OSError as error:
        raise _broken(file, f"it cannot be read: {error.strerror}") from None


def _decoded(data: bytes, file: Path, kind: type[T], line: int = 0) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _broken(file, str(error), line) from None
    except RecursionError:
        raise _broken(file, "it is nested too deeply", line) from None


def _broken(file: Path, problem: str, line: int = 0) -> RemoraError:
    where = f"{file}, line {line}" if line else str(file)
    return RemoraError(f"{where}: {problem}.", FORMAT)
