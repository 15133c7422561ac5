"""Records of a transcript: one line of JSON in, plain values and envelopes out (pure). What every format shares.

Such files are written by programs that crash, resume and change from week to week. So nothing here raises for what a
line holds: a line that is no JSON object is skipped and counted, a missing or odd field reads as empty, text is cut of
NUL and lone surrogates, and a record whose time does not parse stands at the time of the one before it.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import msgspec

from recall.canonical import bytes_digest
from recall.contracts import Channel, EventEnvelope, EventType, Frozen, Millis, SourceKind

Record = Mapping[str, object]
T = TypeVar("T")

TEXT_LIMIT = 200_000  # characters of one text: far above what the log keeps, so that a freak record cannot fill memory
MAIN = "main"
FORKED = "session/forked"  # the session goes on from another one, which `parent` names
REWOUND = "session/rewound"  # its user went back: on the `events` with these ids, or on the last `turns`
REWOUND_MOST = 256  # ids in one such event
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOTHING: Record = {}

_AUTHORS: dict[str, tuple[Channel, SourceKind]] = {
    EventType.ASSISTANT_MESSAGE: (Channel.AGENT, SourceKind.AGENT),
    EventType.AGENT_SPAWN: (Channel.AGENT, SourceKind.LIFECYCLE),
    EventType.AGENT_STOP: (Channel.AGENT, SourceKind.LIFECYCLE),
    EventType.TOOL_CALL: (Channel.TOOLS, SourceKind.AGENT),
    EventType.TOOL_RESULT: (Channel.TOOLS, SourceKind.TOOL),
}


class Report(Frozen, frozen=True, kw_only=True):
    """What a reader made of a file. `records`: JSON objects with a type; `skipped`: other lines, blank ones left out.

    `parent`: the session this one was forked from, resumes, or is a subagent of. `pending_bytes`: an unfinished last
    line. `replayed`: records that repeat the parent's history. `unknown`: types never met before, and how often.
    `shown`: texts that the host put before the model by itself, hooks' texts among them.
    """

    format: str
    session_id: str = ""
    agent_id: str = MAIN
    cwd: str = ""
    parent: str | None = None
    is_sidechain: bool = False
    records: int = 0
    skipped: int = 0
    pending_bytes: int = 0
    replayed: int = 0
    unknown: dict[str, int] = {}
    shown: tuple[str, ...] = ()


class Reader(Protocol):
    """A transcript format: fed line by line, it gives the events that each line completes."""

    def feed(self, line: bytes) -> Sequence[EventEnvelope]:
        """The events of one line, its line end included; a last line without one may be unfinished."""
        ...

    def finish(self) -> Sequence[EventEnvelope]:
        """What was held back until the end of the file."""
        ...

    def report(self) -> Report: ...


class Place(Frozen, frozen=True, kw_only=True):
    """Who, where and when: what every event of one record shares."""

    session_id: str
    agent_id: str
    workspace: str
    at: Millis = 0
    undated: bool = False
    turn: int | None = None
    step: int | None = None


class Ids(Frozen, frozen=True, kw_only=True):
    event: str | None = None
    call: str | None = None
    message: str | None = None


class Once:
    """Lets every event through once. The same id with another payload is another event and gets an id of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def admit(self, event: EventEnvelope) -> EventEnvelope | None:
        """The event, or None when it was here before."""
        if event.event_id is None:
            return event
        mark = hash(bytes(event.payload))
        if event.event_id not in self._seen:
            self._seen[event.event_id] = mark
            return event
        other = f"{event.event_id}:{bytes_digest(bytes(event.payload))[:16]}"
        if self._seen[event.event_id] == mark or other in self._seen:
            return None
        self._seen[other] = mark
        return msgspec.structs.replace(event, event_id=other)


class Spoken:
    """Which version of a product a transcript says that it is written by, and which model answers in it."""

    def __init__(self) -> None:
        self._now = self._told = ("", "")
        self._before: set[tuple[str, str]] = set()

    def note(self, version: str, model: str) -> None:
        """What one record says; empty: nothing."""
        self._now = version or self._now[0], model or self._now[1]

    def news(self, place: Place, again: str) -> list[EventEnvelope]:
        """The event that tells it, when it is not what was told last. `again`: the id of the record that said so."""
        if self._now == self._told:
            return []
        self._told = self._now
        repeated = self._now in self._before
        self._before.add(self._now)
        return [client(place, *self._now, again if repeated else "")]


class Notes:
    """What a reader keeps beside its events: how many lines of which sort, and which texts its host has shown."""

    def __init__(self, kind: Callable[[Record], str] = lambda record: text_of(record, "type")) -> None:
        """`kind`: what names a record's type, where the format has no field for it."""
        self.shown: list[str] = []
        self.replayed = 0
        self._kind = kind
        self._records = self._skipped = self._pending_bytes = 0
        self._unknown: Counter[str] = Counter()
        self._once = Once()

    def read(self, line: bytes) -> tuple[str, Record] | None:
        """A line's type and record; None when there is nothing to read in it. What cannot be read is counted."""
        if blank(line):
            return None
        record = parse(line)
        kind = self._kind(record) if record is not None else ""
        if record is None or not kind:
            unfinished = record is None and not line.endswith(b"\n")
            self._pending_bytes = len(line) if unfinished else 0
            self._skipped += not unfinished
            return None
        self._records += 1
        return kind, record

    def unknown(self, kind: str) -> None:
        """A type that was never met before."""
        self._unknown[kind] += 1

    def admitted(self, events: Iterable[EventEnvelope]) -> Sequence[EventEnvelope]:
        """Those of `events` that were not told yet."""
        return tuple(known for each in events if (known := self._once.admit(each)) is not None)

    def report(self, kind: str) -> Report:
        """What is known so far of a file of that format."""
        return Report(
            format=kind,
            records=self._records,
            skipped=self._skipped,
            pending_bytes=self._pending_bytes,
            replayed=self.replayed,
            unknown=dict(self._unknown),
            shown=tuple(self.shown),
        )


def parse(line: bytes) -> Record | None:
    """The JSON object of one line, or None. Takes a BOM, padding NULs, raw control characters and broken UTF-8."""
    stripped = line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n\0")
    if not stripped.startswith(b"{"):
        return None
    try:
        value = msgspec.json.decode(stripped)
    except (msgspec.DecodeError, RecursionError):
        value = _patient(stripped)
    return value if isinstance(value, dict) else None


def blank(line: bytes) -> bool:
    """Whether a line holds nothing but white space."""
    return not line.removeprefix(b"\xef\xbb\xbf").strip()


def text_of(record: Record, key: str) -> str:
    """The string under `key`, sound for UTF-8; empty when there is none."""
    value = record.get(key)
    return sound(value) if isinstance(value, str) else ""


def record_of(record: Record, key: str) -> Record:
    """The object under `key`; empty when there is none."""
    return as_record(record.get(key))


def as_record(value: object) -> Record:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def blocks_of(value: object) -> Sequence[Record]:
    """A message's content as blocks: a string is one text block, whatever is no object is left out."""
    if isinstance(value, str):
        return ({"type": "text", "text": value},)
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, dict))
    return ()


def clip(text: str) -> str:
    """`text`, the middle left out when it is longer than TEXT_LIMIT."""
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[: TEXT_LIMIT * 2 // 3]}\n…\n{text[-TEXT_LIMIT // 3 :]}"


def sound(text: str) -> str:
    """`text` with U+FFFD for every NUL and lone surrogate."""
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "�") if "\0" in text else text


def millis(value: object) -> Millis | None:
    """Epoch milliseconds of an ISO 8601 time; None when it is none. A time without zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0, int(moment.timestamp() * 1000))


def event(
    place: Place, event_type: str, payload: Mapping[str, object], ids: Ids, source: SourceKind | None = None
) -> EventEnvelope:
    """An envelope. Channel and author follow the type; `source` says who wrote a user message. Empty fields go."""
    channel, author = _AUTHORS.get(event_type, (Channel.SESSION, SourceKind.LIFECYCLE))
    kept = {key: sound(clip(value)) if isinstance(value, str) else value for key, value in payload.items()}
    kept = {key: value for key, value in kept.items() if value is not None}
    if place.undated:
        kept["undated"] = True
    return EventEnvelope(
        session_id=place.session_id,
        agent_id=place.agent_id,
        workspace=place.workspace,
        channel=channel,
        event_type=str(event_type),
        timestamp=place.at,
        source_kind=source or author,
        payload=msgspec.Raw(msgspec.json.encode(kept)),
        event_id=ids.event,
        call_id=ids.call,
        message_id=ids.message,
        turn=place.turn,
        step=place.step,
    )


def client(place: Place, version: str, model: str, again: str = "") -> EventEnvelope:
    """Which version of the agent product speaks, and what it runs on; empty: not known. `again`: sets the event apart
    from one that said the same before another came in between."""
    told = {"version": version or None, "model": model or None}
    which = f"client:{place.session_id}:{version}:{model}"
    return event(place, EventType.SESSION_CLIENT, told, Ids(event=f"{which}:{again}" if again else which))


def forked(place: Place, parent: str) -> EventEnvelope:
    """From which session this one goes on, resumed under another id or forked."""
    which = bytes_digest(f"{place.session_id}\n{parent}".encode("utf-8", "replace"))[:32]
    return event(place, FORKED, {"parent": parent}, Ids(event=f"forked:{which}"))


def rewound(place: Place, left: Sequence[str]) -> list[EventEnvelope]:
    """What its user went back on: prompts, by the ids of their events."""
    told: list[EventEnvelope] = []
    for begin in range(0, len(left), REWOUND_MOST):
        some = left[begin : begin + REWOUND_MOST]
        which = bytes_digest("\n".join(some).encode("utf-8", "replace"))[:32]
        told.append(event(place, REWOUND, {"events": list(some)}, Ids(event=f"rewound:{which}")))
    return told


def rolled_back(place: Place, turns: int, mark: str) -> EventEnvelope:
    """Its user went back on so many turns. `mark`: what sets this apart from another time."""
    which = bytes_digest(f"{mark}\n{turns}".encode("utf-8", "replace"))[:32]
    return event(place, REWOUND, {"turns": turns}, Ids(event=f"rewound:{which}"))


def aborted(place: Place, turn: str) -> EventEnvelope:
    """A turn was broken off. Its id is another than that of a turn that came to its end."""
    return event(place, EventType.TURN_END, {"aborted": True}, Ids(event=f"turn:{turn}:abort" if turn else None))


def fitted(record: Record, kind: type[T], needed: Sequence[str]) -> T:
    """`record` as a struct of that kind. A field in another form than the kind's costs only itself, unless it is one of
    those `needed`. Raises msgspec.ValidationError, which says what does not fit."""
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError:
        kept = {name: record[name] for name in needed if name in record}
        for name, value in record.items():
            try:
                msgspec.convert({**kept, name: value}, kind)
            except msgspec.ValidationError:
                continue
            kept[name] = value
        return msgspec.convert(kept, kind)


def _patient(line: bytes) -> object:
    """The standard library takes what the fast decoder refuses: lone surrogates, control characters, NaN."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), strict=False)
        return json.loads(sound(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
