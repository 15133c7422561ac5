"""C-02 and M-01: what the daemon knows of one (session, agent), and its working memory.

Everything here is a fold over the session's envelopes and the audit entries about it, in their order: a restart folds
them again and later decisions do not change. Only the session's own task and claims touch it, under `lock`.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from governance.contracts import AccessEvidence, AuditEntry, AuditKind, EvidenceKind, EvidenceTrace, PacketTrace
from host.capability import Client
from host.contracts import GateMode, GateState, MemoryPacket, Named, Window
from host.gate import failure_marks
from host.hesitation import hesitation
from host.holdout import HELD_OUT
from host.in_view import InView
from host.known import Known
from host.levels import Told, told
from host.observer import observe
from host.steps import counted
from host.trace import WOULD
from recall.analyzer import distinct
from recall.attention import attention_of
from recall.confidence import aged, tally
from recall.contracts import (
    Attention,
    ContextCursor,
    EventEnvelope,
    EventPayload,
    EventType,
    Frozen,
    Millis,
    Noise,
    RuntimeScope,
    Segment,
    SegmentKind,
    Shown,
    SourceKind,
)

USER_KEY = "user"
MAIN_AGENT = "main"
FAILURES_KEPT = 64
SESSION_SET = "session/set"  # what the user wants of this session
WORK = frozenset({EventType.ASSISTANT_MESSAGE, EventType.TOOL_CALL, EventType.TOOL_RESULT})  # of the agent or a tool

T = TypeVar("T")

_payload = msgspec.json.Decoder(EventPayload)


class Wish(Frozen, frozen=True, kw_only=True):
    """The payload of SESSION_SET: what the user wants of this session from here on."""

    incognito: bool | None = None
    muted: bool | None = None


_wish = msgspec.json.Decoder(Wish)


class RuntimePolicy(Frozen, frozen=True, kw_only=True):
    """Bounds of a session's memory. Times in milliseconds, text in characters."""

    segments: int = 64
    segment_chars: int = 32_768
    working: int = 32
    working_ttl: int = 15 * 60_000
    delivered_digests: int = 256
    terms: int = 50_000


class SessionRuntime:
    """One agent of one session: cursor, segments, working view, gate state, what its context window shows."""

    def __init__(self, scope: RuntimeScope, root_agent: str, policy: RuntimePolicy) -> None:
        self.scope = scope
        self.policy = policy
        self.root_agent = root_agent
        self.workspace_path = ""
        self.event_seq = self.worked_seq = 0  # the last event, and the last one of the agent or of a tool
        self.context_version = 0
        self.window_no = self.step = self.turn = 0
        self.gate = GateState()
        self.attention = Attention.NORMAL  # of its workspace, when an event was heard last
        # its session ended; it is not the session's runtime any more; its conversation began elsewhere
        self.disposed = self.forsaken = self.goes_on = False
        self.incognito = self.muted = False
        self.boundary: str | None = None  # the packet that goes into the coming request
        self.last_delivery_step: int | None = None
        self.segments: deque[tuple[Segment, Millis]] = deque()  # with the time the daemon saw it
        self.counts: dict[str, int] = {}
        self.terms_seen = self.prompts = 0  # prompts: in this context window
        self.agree: dict[str, float] = {}
        self.shown: dict[str, str] = {}  # memory id -> text, in this context window
        self.told: dict[str, Told] = {}  # how each of them was shown, for the one time that more of it may be
        self.in_hand: dict[str, dict[str, str]] = {}  # packet id -> what a claim took and nobody has settled yet
        self.in_view = InView()  # the same of the runtime context
        self.held_out: dict[str, str] = {}  # the same of what was kept back to measure, in this context window
        self.shown_before: tuple[str, ...] = ()  # ids shown in the window before the last compaction
        self.read: dict[str, str] = {}  # memory id -> record digest the agent has read in full
        self.known = Known()  # what this agent was shown, read or cited in this session, windows or not
        self.evidence: tuple[EvidenceTrace, ...] = ()  # of the event that is being heard: its pass's entry carries it
        self.delivered: deque[str] = deque(maxlen=policy.delivered_digests)
        self.failures: deque[str] = deque(maxlen=FAILURES_KEPT)
        self.evicted: Counter[str] = Counter()
        self.last_seen: Millis = 0
        self.queue: deque[EventEnvelope] = deque()
        self.enqueued_seq = self.stored_seq = 0  # stored: the last envelope that we were told of, queued or not
        self.behind = False  # the log holds envelopes that are not in the queue
        self.host, self.version, self.model = "socket", "", ""  # who speaks: the product, and what it told of itself
        self.lock = asyncio.Lock()
        self.idle = asyncio.Event()
        self.idle.set()
        self._chars = 0
        self._fresh = False  # no segment since the context window began: a second report of its start changes nothing
        self._replied = False  # an agent event since the last prompt or result

    # ------------------------------------------------------------------ fold over envelopes

    def take(self, envelope: EventEnvelope) -> Segment | None:
        """Fold one envelope in. Returns its segment, already pushed, if it forms one."""
        self.event_seq = envelope.event_seq
        self.last_seen = max(self.last_seen, envelope.observed_at)
        if envelope.turn is not None:
            self.turn = max(self.turn, envelope.turn)
        self.step, self._replied = counted(envelope, self.step, self._replied)
        if envelope.event_type in WORK:
            self.worked_seq = envelope.event_seq
        match envelope.event_type:
            case EventType.SESSION_START:
                self._new_window(_read(envelope, _payload, EventPayload()).source or "startup")
            case EventType.SESSION_COMPACT:
                self._new_window("compact")
            case EventType.SESSION_END:
                self.disposed = True
            case EventType.SESSION_CLIENT:
                said = _read(envelope, _payload, EventPayload())
                self.version, self.model = said.version or self.version, said.model or self.model
            case EventType.TURN_END | EventType.ASSISTANT_MESSAGE | EventType.TOOL_CALL:  # the model has answered
                self.boundary = None
            case _ if envelope.event_type == SESSION_SET:
                wish = _read(envelope, _wish, Wish())
                self.incognito = self.incognito if wish.incognito is None else wish.incognito
                self.muted = self.muted if wish.muted is None else wish.muted
        segment = observe(envelope, self.context_version + 1)
        if segment is None:
            return None
        segment = msgspec.structs.replace(segment, step=self.step)
        self._push(segment, envelope.observed_at)
        return segment

    def _new_window(self, source: str) -> None:
        """A new context window: what was shown is gone from the agent's sight (resume and fork replay it)."""
        self.disposed = False
        self.goes_on = self.goes_on or source in ("resume", "fork")
        if source in ("resume", "fork") or (source == "compact" and self._fresh):
            return
        self._fresh = True
        self.window_no += 1
        self.shown_before = tuple(sorted(self.shown)) if source == "compact" else ()
        self.shown.clear()
        self.told.clear()
        self.held_out.clear()
        self.in_hand.clear()
        self.in_view = InView()
        self.read.clear()
        self.delivered.clear()
        self.failures.clear()
        self.prompts = 0
        self.boundary = None
        self.gate = GateState()

    def _push(self, segment: Segment, seen_at: Millis) -> None:
        self.context_version = segment.context_version
        self._fresh = False
        self.segments.append((segment, seen_at))
        self._chars += len(segment.text)
        while len(self.segments) > self.policy.segments or self._chars > self.policy.segment_chars:
            self._chars -= len(self.segments.popleft()[0].text)
            self.evicted["segment-ring"] += 1
        self.terms_seen += tally(self.counts, distinct(segment.text))
        if len(self.counts) > self.policy.terms:
            self._forget_rare_terms()

    def _forget_rare_terms(self) -> None:
        """Keep the commoner half: a rare term's count is near the background's anyway."""
        kept = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))[: self.policy.terms // 2]
        self.evicted["terms"] += len(self.counts) - len(kept)
        self.counts = dict(kept)

    def note(self, segment: Segment) -> None:
        """Fold in what later segments compare with: called once the segment was decided."""
        if segment.kind is SegmentKind.PROMPT and segment.source_kind is SourceKind.USER:
            self.prompts += 1
        self.known.heard(segment)
        if segment.ok is False:
            self.failures.extend(failure_marks(segment, self.working(self.last_seen)))

    def enter(self, path: str, workspace: str) -> None:
        """The session works in another workspace: what it may see changes with it."""
        self.workspace_path = path
        self.scope = msgspec.structs.replace(self.scope, workspace=workspace)

    # ------------------------------------------------------------------ fold over what passes decided

    def voted(self, votes: tuple[str, ...]) -> None:
        """A pass that ran recall ended: earlier agreement ages, its top three count."""
        self.agree = aged(self.agree, votes)

    def taken(self, packet: MemoryPacket) -> None:
        """A packet was claimed: this boundary is used, and its records are on their way to the agent."""
        self.boundary = packet.packet_id
        self.in_hand[packet.packet_id] = {item.memory_id: item.text for item in packet.items}
        self.in_view.taken(packet)

    def given_back(self, packet_id: str) -> None:
        """A claim came to nothing: its boundary is free again, unless another packet has used it since."""
        self.in_view.given_back(packet_id)
        if self.in_hand.pop(packet_id, None) is not None and self.boundary == packet_id:
            self.boundary = None

    def handed_over(self, packet: MemoryPacket) -> None:
        """A packet reached the agent: its records are in the context window it was built for."""
        self.in_hand.pop(packet.packet_id, None)
        self.in_view.given_back(packet.packet_id)
        if packet.window != self.window_no:
            return
        self.shows(packet)
        if packet.items:  # the runtime context meets no need
            self.last_delivery_step = self.step

    def shows(self, packet: MemoryPacket) -> None:
        """This context window shows what a packet holds, whoever it was given to."""
        self.shown.update({item.memory_id: item.text for item in packet.items})
        self.told.update(told(packet, self.told))
        self.delivered.append(packet.exact_digest)
        self.in_view.given(packet.context)

    def _given_once(self, trace: PacketTrace) -> None:
        """A packet reached the agent whose text is not kept any more: what it held is known by its ids alone."""
        self.shown.update(dict.fromkeys(trace.items, ""))
        self.delivered.append(trace.exact_digest)
        if trace.items:
            self.last_delivery_step = self.step
        self.in_view.given(trace.context)

    def kept_back(self, packet: MemoryPacket) -> None:
        """A packet was kept back to measure: its records are out of this context window as if they had been given."""
        if packet.window == self.window_no:
            self.held_out.update({item.memory_id: item.text for item in packet.items})

    def witnessed(self, rows: Sequence[AccessEvidence]) -> None:
        """Evidence was formed: what was read in full is in the context window, what was shown is known."""
        self.read.update({row.memory_id: row.record_digest for row in rows if row.kind is EvidenceKind.READ})
        if rows:
            self.known.took(rows, [segment for segment, _ in self.segments])

    def apply(self, entry: AuditEntry, packets: Mapping[str, MemoryPacket]) -> None:
        """Fold one audit entry in, after a restart. `packets`: those that were claimed or held out, by id."""
        packet = None if entry.packet is None else packets.get(entry.packet.packet_id)
        if entry.kind is AuditKind.PASS:
            if entry.gate is not None:
                self.gate = state_of(entry.gate.state)
            self.attention = attention_of(entry.versions.get("confidence", ""))
            if entry.arms:
                self.voted(entry.votes)
            if entry.outcome == HELD_OUT and packet is not None:
                self.kept_back(packet)
            if entry.outcome == WOULD and entry.packet is not None:
                self.in_view.watched(entry.packet.context)
        elif packet is None:
            if entry.kind is AuditKind.DELIVERY and entry.packet is not None:
                self._given_once(entry.packet)
        elif entry.kind is AuditKind.CLAIM and entry.outcome == "claimed":
            self.taken(packet)
        elif entry.kind is AuditKind.DELIVERY:
            self.handed_over(packet)
        elif entry.kind is AuditKind.DROP:
            self.given_back(packet.packet_id)

    # ------------------------------------------------------------------ what stages read

    @property
    def boundary_used(self) -> bool:
        """Whether a packet was taken that goes into the coming request: it takes no second one."""
        return self.boundary is not None

    @property
    def subagent(self) -> bool:
        """Whether this is not the session's own agent."""
        return self.scope.agent_id not in (MAIN_AGENT, self.root_agent)

    @property
    def client(self) -> Client:
        """Who speaks in this session."""
        return Client(host=self.host, version=self.version, model=self.model)

    @property
    def cursor(self) -> ContextCursor:
        return ContextCursor(
            session_id=self.scope.session_id, event_seq=self.event_seq, context_version=self.context_version
        )

    @property
    def hesitation(self) -> float:
        """How much the agent hesitates, as of its last event."""
        return hesitation(self.working(self.last_seen))

    def rested_since(self, cursor: ContextCursor) -> bool:
        """Whether the session has only waited for its user since then: a prompt is all that came. What the agent or a
        tool did ends the rest even if it says nothing; that a turn ended does not."""
        if self.context_version != cursor.context_version + 1 or not self.segments:
            return False
        latest, _ = self.segments[-1]
        asked = latest.kind is SegmentKind.PROMPT and latest.source_kind is SourceKind.USER
        return asked and self.worked_seq <= cursor.event_seq

    def in_time(self, packet: MemoryPacket, now: Millis) -> bool:
        """Whether a packet that nobody claimed has not expired. The time in which the session only waited for its user
        does not count: nothing of the context moved."""
        return now < packet.expiry or self.rested_since(packet.context_cursor)

    def working(self, now: Millis) -> tuple[Segment, ...]:
        """M-01: the latest segments that are not older than the TTL, oldest first."""
        fresh = [segment for segment, seen_at in self.segments if now - seen_at <= self.policy.working_ttl]
        return tuple(fresh[-self.policy.working :])

    def window(self, now: Millis, surface: bool, segment: Segment | None) -> Window:
        """What the gate sees; `segment` is the one about to be decided, already pushed."""
        recent = working = self.working(now)
        if segment is not None and recent and recent[-1].id == segment.id:
            recent = recent[:-1]
        return Window(
            now=now,
            scope=self.scope,
            recent=recent,
            disposed=self.disposed,
            subagent=self.subagent,
            muted=self.muted,
            incognito=self.incognito,
            surface=surface,
            first_prompt=self.prompts == 0,
            failures=tuple(self.failures),
            hesitation=hesitation(working),
        )

    def noise(self) -> Noise:
        """The session's own term counts and the agreement of its recent passes."""
        return Noise(counts=self.counts, total=self.terms_seen, agree=self.agree)

    def holds(self, records: Iterable[Named]) -> frozenset[str]:
        """Which of these the window holds: they were handed over in it, or read as they are."""
        held = self.shown.keys() | {memory_id for items in self.in_hand.values() for memory_id in items}
        return frozenset(
            one.memory_id
            for one in records
            if one.memory_id in held or self.read.get(one.memory_id) == one.record_digest
        )

    def visible(self) -> Shown:
        """What this context window holds already."""
        held = {memory_id: text for items in self.in_hand.values() for memory_id, text in items.items()} | self.shown
        return Shown(
            records=frozenset(held),
            texts=tuple(sorted((self.held_out | held).items())),
            held_out=frozenset(self.held_out),
            read=dict(self.read),
            host=self.host,
            scope=self.scope,
        )


def _read(envelope: EventEnvelope, decoder: msgspec.json.Decoder[T], otherwise: T) -> T:
    """What a payload says. Anybody may send one that cannot be read: it says nothing, and stops nothing."""
    try:
        return decoder.decode(envelope.payload)
    except msgspec.DecodeError:
        return otherwise


def state_text(state: GateState) -> str:
    """The gate's state as one audited string."""
    return f"{state.mode}|{int(state.latch)}|{state.quiet_until}|{state.quiet_need}"


def state_of(text: str) -> GateState:
    """The gate's state from its audited string."""
    mode, latch, until, need = text.split("|", 3)
    return GateState(mode=GateMode(mode), latch=latch == "1", quiet_until=int(until), quiet_need=need)
