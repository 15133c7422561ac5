"""One conversation, as its framework lists it before every request: what is news in it, and where texts that were
handed over stand. Pure: it makes the calls that go to the daemon, and reads the answers.

Theory of operation. A framework shows the whole list again at each request. An entry is told once: it is known by its
own id, else by its text and how often that came before. What a list holds up to the model's last reply is past when a
talk begins, since whoever held the conversation then has told it, and when the list is cut at its front. A text that
was handed over enters after the newest entry. Where a framework forgets it after the request, it is put back at that
very place in every later one: what the model saw stays as it was, and so does the prefix that a prompt cache knows.
When all of those places are gone, or a summary stands there, the context window is a new one, and the daemon is told
so.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from host.contracts import Surface
from host.frame import tags
from host.inprocess.said import Listing, Part, Placed, Said, called, clip, identifier, neutral
from host.steps import STEP_END
from recall.canonical import text_digest
from recall.contracts import Channel, EventEnvelope, EventType, Frozen, Millis, SourceKind

CALL_BYTES = 600_000  # of the events of one call, below what a frame takes
CALL_EVENTS = 128


class Call(Frozen, frozen=True, kw_only=True):
    """One request to the daemon."""

    method: str
    params: Mapping[str, object]


class Owner(Frozen, frozen=True, kw_only=True):
    """Whose conversation it is. `mark`: tells this process's part of it from every other one's."""

    host: str
    version: str
    session: str
    agent: str
    workspace: str
    mark: str


class _Packet(Frozen, frozen=True, kw_only=True):
    packet_id: str
    rendered: str


class _Claimed(Frozen, frozen=True, kw_only=True):
    packet: _Packet | None = None
    claim_id: str | None = None


class Talk:
    """One conversation of one agent. `placed`: the texts that stand in it."""

    def __init__(self, owner: Owner, wait_ms: int) -> None:
        self.owner = owner
        self.placed: tuple[Placed, ...] = ()
        self._wait_ms = wait_ms
        self._told: frozenset[str] = frozenset()
        self._listed: tuple[Said, ...] = ()
        self._begun = False
        self._model: str | None = None
        self._window = self._asked = 0
        self._first = ""  # of what was listed last
        self._before = ""  # sets words apart from the same ones in windows that nobody here has seen

    # ------------------------------------------------------------------ before a request

    def ask(self, listing: Listing, now: Millis) -> tuple[Call, ...]:
        """The calls that tell what is news and claim; the last one's answer is for `heard`. `now`: epoch ms."""
        events = [*self._opening(listing, now), *self._news(listing.said, now)]
        surface = _surface(listing.said)
        if surface is Surface.POST_TOOL and events:
            events.append(self._event(STEP_END, {}, f"step:{self._mark(self._asked)}", now))
        self._asked += 1
        portions = list(_portions(events))
        told = tuple(self._append(portion) for portion in portions[:-1])
        if not portions:
            return (self._claim(surface),)
        claim = {"surface": surface, "waitMs": self._wait_ms}
        return (*told, Call(method="step", params={"events": portions[-1], "host": self.owner.host, "claim": claim}))

    def heard(self, answer: msgspec.Raw | None, listing: Listing) -> Placed | None:
        """What the answer to `ask` hands over, to be put after the newest entry; None: nothing."""
        if answer is None:
            return None
        claimed = msgspec.json.decode(answer, type=_Claimed)
        if claimed.packet is None or claimed.claim_id is None:
            return None
        text = claimed.packet.rendered
        places = tags(text) if listing.keeps else listing.anchors[-1:]
        return Placed(
            after=places[-1] if places else "",
            text=text,
            packet_id=claimed.packet.packet_id,
            claim_id=claimed.claim_id,
        )

    def _opening(self, listing: Listing, now: Millis) -> Iterator[EventEnvelope]:
        """A session that begins here, who speaks in it, and a context window that is a new one."""
        if not self._begun:
            self.placed = listing.placed
            if any(one.part is Part.SUMMARY for one in listing.said):
                self._before = f"{self.owner.mark}."
        visible = any(one.after in listing.anchors for one in self.placed)
        named = self._named(listing.said)
        summaries = {id_ for id_, one in named if one.part is Part.SUMMARY}
        if not self._begun:
            self._begun = True
            self._told = self._past(listing.said)
            source = "resume" if visible else "startup"
            yield self._event(EventType.SESSION_START, {"source": source}, f"start:{self._mark(0)}", now)
        elif summaries - self._told or (listing.whole and self.placed and not visible):
            self._window += 1
            self._told = self._past(listing.said)
            yield self._event(EventType.SESSION_COMPACT, {}, f"compact:{self._mark(self._window)}", now)
        elif self._first not in {id_ for id_, _ in named}:  # cut at its front: how often words came counts no more
            self._window += 1
            self._told = self._past(listing.said) | (self._told & {id_ for id_, _ in self._named(listing.said)})
        if not visible:
            self.placed = ()
        if listing.model != self._model:
            self._model = listing.model
            told = {"version": self.owner.version or None, "model": listing.model or None}
            which = f"client:{self.owner.version}:{listing.model}:{self._mark(self._asked)}"  # again is another event
            yield self._event(EventType.SESSION_CLIENT, told, which, now)

    def _news(self, said: Sequence[Said], now: Millis) -> Iterator[EventEnvelope]:
        named = self._named(said)
        tools = {one.key: one.tool for one in said if one.part is Part.CALL}
        told, self._told = self._told, frozenset(id_ for id_, _ in named)
        self._listed, self._first = tuple(said), named[0][0] if named else ""
        for id_, one in named:
            if id_ not in told and one.part is not Part.SUMMARY:
                yield from self._events(id_, one, one.tool or tools.get(one.key, ""), now)

    def _past(self, said: Sequence[Said]) -> frozenset[str]:
        """The ids of what was said up to the model's last reply: somebody has told it already, or it was never news."""
        spoken = [place for place, one in enumerate(said) if one.part in (Part.REPLY, Part.CALL, Part.SUMMARY)]
        named = self._named(said)
        return frozenset(id_ for id_, _ in named[: spoken[-1] + 1]) if spoken else frozenset()

    def _named(self, said: Sequence[Said]) -> list[tuple[str, Said]]:
        """Each entry with the id of its event."""
        before: Counter[str] = Counter()
        named = []
        for one in said:
            key = one.key or f"{text_digest(one.tool + clip(one.text))[:24]}.{self._before}{self._window}"
            name = f"{one.part}:{key}"
            before[name] += 1
            named.append((name if before[name] == 1 else f"{name}#{before[name]}", one))
        return named

    # ------------------------------------------------------------------ after a request

    def answered(self, placed: Placed | None, reply: Sequence[Said], now: Millis) -> tuple[Call, ...]:
        """The model has answered: what was handed over is delivered, and its reply is news."""
        calls = [] if placed is None else [self._settle("inbox.delivered", placed, {})]
        if placed is not None:
            self.placed = (*self.placed, placed)
        said = (*self._listed, *reply)
        events = list(self._news(said, now))
        if reply and not any(one.part is Part.CALL for one in reply):
            events.append(self._event(EventType.TURN_END, {}, f"turn:{self._mark(self._asked)}", now))
        return (*calls, *(self._append(portion) for portion in _portions(events)))

    def failed(self, placed: Placed | None) -> tuple[Call, ...]:
        """The request came to nothing: what was to be handed over waits again."""
        if placed is None:
            return ()
        return (self._settle("inbox.release", placed, {"reason": "the model request failed"}),)

    # ------------------------------------------------------------------ what goes out

    def _settle(self, method: str, placed: Placed, more: Mapping[str, object]) -> Call:
        claim = {"packetId": placed.packet_id, "claimId": placed.claim_id}
        return Call(method=method, params={**self._owned(), **claim, **more})

    def _claim(self, surface: Surface) -> Call:
        """The claim of a request that has nothing to tell."""
        request_id = f"ask:{self._mark(self._asked)}"
        more = {"surface": surface, "requestId": request_id, "waitMs": self._wait_ms}
        return Call(method="inbox.claim", params={**self._owned(), **more})

    def _append(self, events: Sequence[EventEnvelope]) -> Call:
        return Call(method="event.append", params={"events": events, "host": self.owner.host})

    def _owned(self) -> dict[str, object]:
        return {"sessionId": self.owner.session, "agentId": self.owner.agent}

    def _mark(self, number: int) -> str:
        return f"{self.owner.mark}:{number}"

    def _events(self, id_: str, one: Said, tool: str, now: Millis) -> Iterator[EventEnvelope]:
        match one.part:
            case Part.PROMPT if one.text:
                source = SourceKind.USER if one.user else SourceKind.LIFECYCLE
                yield self._event(EventType.USER_MESSAGE, {"text": one.text}, id_, now, source)
            case Part.REPLY if one.text:
                yield self._event(EventType.ASSISTANT_MESSAGE, {"text": one.text}, id_, now)
            case Part.CALL:
                yield self._event(EventType.TOOL_CALL, called(tool, one.arguments), id_, now)
            case Part.RESULT:
                told = {"tool": neutral(tool), "nativeTool": tool, "ok": one.ok, "text": one.text}
                yield self._event(EventType.TOOL_RESULT, told, id_, now)
            case _:
                return

    def _event(
        self, kind: str, payload: Mapping[str, object], id_: str, now: Millis, source: SourceKind | None = None
    ) -> EventEnvelope:
        channel, author = _AUTHORS.get(kind, (Channel.SESSION, SourceKind.LIFECYCLE))
        kept = {key: clip(value) if isinstance(value, str) else value for key, value in payload.items()}
        _, _, call_id = id_.partition(":")
        return EventEnvelope(
            session_id=self.owner.session,
            agent_id=self.owner.agent,
            workspace=self.owner.workspace,
            channel=channel,
            event_type=str(kind),
            timestamp=now,
            source_kind=source or author,
            payload=msgspec.Raw(msgspec.json.encode({key: value for key, value in kept.items() if value is not None})),
            event_id=identifier(id_),
            call_id=identifier(call_id) if channel is Channel.TOOLS else None,
        )


_AUTHORS: Mapping[str, tuple[Channel, SourceKind]] = {
    EventType.ASSISTANT_MESSAGE: (Channel.AGENT, SourceKind.AGENT),
    STEP_END: (Channel.AGENT, SourceKind.LIFECYCLE),
    EventType.TOOL_CALL: (Channel.TOOLS, SourceKind.AGENT),
    EventType.TOOL_RESULT: (Channel.TOOLS, SourceKind.TOOL),
}


def _surface(said: Sequence[Said]) -> Surface:
    """Where a text enters, by what is newest there."""
    match said[-1].part if said else None:
        case Part.PROMPT:
            return Surface.USER_PROMPT
        case Part.RESULT:
            return Surface.POST_TOOL
        case _:
            return Surface.PRE_STEP


def _portions(events: Sequence[EventEnvelope]) -> Iterator[tuple[EventEnvelope, ...]]:
    """The events in as many calls as they need."""
    portion: list[EventEnvelope] = []
    size = 0
    for event in events:
        more = len(bytes(event.payload))
        if portion and (size + more > CALL_BYTES or len(portion) >= CALL_EVENTS):
            yield tuple(portion)
            portion, size = [], 0
        portion.append(event)
        size += more
    if portion:
        yield tuple(portion)
