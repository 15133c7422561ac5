"""What is odd about a labelled session, though it can be replayed: most likely a slip of whoever wrote it. Pure.

What cannot be replayed at all is an error and said by `sessions.load`. A figure that rests upon a slip looks like any
other, so these are said before it.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from host.evaluation.sessions import Recorded, Recording, Stored, millis
from recall.contracts import EventType, SourceKind, Status

SOURCES = {  # who is behind an event of a type
    EventType.SESSION_START: SourceKind.LIFECYCLE,
    EventType.SESSION_COMPACT: SourceKind.LIFECYCLE,
    EventType.USER_MESSAGE: SourceKind.USER,
    EventType.ASSISTANT_MESSAGE: SourceKind.AGENT,
    EventType.TOOL_CALL: SourceKind.AGENT,
    EventType.TOOL_RESULT: SourceKind.TOOL,
}
OF_TOOLS = (EventType.TOOL_CALL, EventType.TOOL_RESULT)
SHOWN = 3  # places that are named; the rest are counted


def odd(recording: Recording) -> Iterator[str]:
    """Each as a sentence that names the places."""
    yield from _events(recording.events)
    yield from _labels(recording)


def _events(events: tuple[Recorded, ...]) -> Iterator[str]:
    of_tools = [event for event in events if event.type in OF_TOOLS]
    calls = {event.call_id for event in of_tools if event.type == EventType.TOOL_CALL and event.call_id}
    results = [event for event in events if event.type == EventType.TOOL_RESULT]
    known = [event for event in events if event.type in SOURCES]
    yield from _at("of a type that is not known", (event for event in events if event.type not in SOURCES))
    yield from _at("whose source is not that of its type", (e for e in known if e.source != SOURCES[EventType(e.type)]))
    yield from _at(
        "of tools that name no tool", (event for event in events if event.type in OF_TOOLS and not event.tool)
    )
    yield from _at("that answer a call which is not there", (event for event in results if event.call_id not in calls))
    yield from _at("that do not say whether the call went well", (event for event in results if event.ok is None))
    backwards = (after for before, after in pairwise(events) if after.step < before.step or after.turn < before.turn)
    yield from _at("whose step or turn is lower than the one before", backwards)


def _at(what: str, found: Iterable[Recorded]) -> Iterator[str]:
    places = [str(event.seq) for event in found]
    if places:
        more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        yield f"events {what}: seq {', '.join(places[:SHOWN])}{more}"


def _labels(recording: Recording) -> Iterator[str]:
    labels = recording.labels
    stored = {memory.id: memory for memory in recording.memories}
    wanted = [stored[gold.memory] for gold in labels.gold]
    yield from _of("needed and never handed over, not being active", (m for m in wanted if m.status != Status.ACTIVE))
    elsewhere = (memory for memory in wanted if memory.workspace not in (None, labels.workspace))
    yield from _of(f"needed and never handed over, being of another workspace than {labels.workspace}", elsewhere)
    twice = [memory for place, memory in enumerate(wanted) if memory in wanted[:place]]
    yield from _of("labelled as two needs (further windows of one need stand in `also`)", twice)
    begun = millis(recording.events[0].ts)
    yield from _of("younger than the session", (m for m in recording.memories if millis(m.created) > begun))


def _of(what: str, found: Iterable[Stored]) -> Iterator[str]:
    ids = list(dict.fromkeys(memory.id for memory in found))
    if ids:
        more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
        yield f"memories {what}: {', '.join(ids[:SHOWN])}{more}"
