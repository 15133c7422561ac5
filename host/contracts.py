"""Types of the pass itself: decisions, silences, packets, the inbox, and what a host can take."""

from enum import StrEnum

from governance.contracts import Verdict
from recall.contracts import (
    ActivationLevel,
    ActivationRequest,
    ContextCursor,
    Cue,
    EventEnvelope,
    Found,
    Frozen,
    Millis,
    Ranked,
    RuntimeScope,
    Segment,
)


class Reason(StrEnum):
    """All the ways we hold our tongue. Every silence, drop and null claim carries one."""

    # gate: hard suppress, in order
    NO_OWNER = "no-owner"
    DISPOSED = "disposed"
    SUBAGENT = "subagent"
    NO_SEGMENT = "no-segment"
    UNSUPPORTED_TRIGGER = "unsupported-trigger"
    MACHINE_AUTHORED = "machine-authored"
    EMPTY_SIGNAL = "empty-signal"
    DUPLICATE_CONTEXT = "duplicate-context"
    USER_MUTED = "user-muted"
    INCOGNITO = "incognito"
    NO_SURFACE = "no-surface"
    COOLDOWN = "cooldown"
    # gate: score
    BELOW_THRESHOLD = "below-threshold"
    PREFETCHED = "prefetched"
    # pass
    SUPERSEDED = "superseded"
    NO_CANDIDATES = "no-candidates"
    NO_CONFIDENT_HIT = "no-confident-hit"
    UNSAFE = "unsafe"
    AWAITING_APPROVAL = "awaiting-approval"
    PACKET_OVERSIZE = "packet-oversize"
    DISCARDED = "discarded"
    SHADOW = "shadow"
    UNKNOWN_VERSION = "unknown-version"
    HELD_OUT = "held-out"
    FAULT = "fault"
    AUDIT_UNAVAILABLE = "audit-unavailable"
    ROLLOUT_OFF = "rollout-off"
    # inbox
    NONE_PENDING = "none-pending"
    EXPIRED = "expired"
    STALE_CONTEXT = "stale-context"
    STALE_INDEX = "stale-index"
    DIGEST_MISMATCH = "digest-mismatch"
    ALREADY_VISIBLE = "already-visible"
    BOUNDARY_USED = "boundary-used"
    CONTEXT_RESET = "context-reset"
    REPLACED = "replaced"
    LATE = "late"
    RELEASED = "released"
    FORGOTTEN = "forgotten"
    MUTED = "muted"
    CORRECTED = "corrected"
    SESSION_CLOSED = "session-closed"


class Silence(Frozen, frozen=True, kw_only=True):
    reason: Reason
    detail: str = ""


class GateMode(StrEnum):
    NORMAL = "normal"
    PREFETCH = "prefetch"
    ARMED = "armed"
    COOLDOWN = "cooldown"


class GateState(Frozen, frozen=True, kw_only=True):
    """The need gate's memory of a session. `quiet_until`: context version up to which cooldown holds."""

    mode: GateMode = GateMode.NORMAL
    latch: bool = False
    quiet_until: int = 0
    quiet_need: str = ""  # the retrieval key that was served or found nothing


class Intent(StrEnum):
    RETRIEVE = "retrieve"
    PREFETCH = "prefetch"


class Decision(Frozen, frozen=True, kw_only=True):
    """The gate says look. `score` and `signals` in [0, 1]."""

    intent: Intent
    cue: Cue
    score: float
    signals: dict[str, float]
    reason: str  # the strongest signal


class Window(Frozen, frozen=True, kw_only=True):
    """What the gate sees of a session: pure data, made by the runtime at `now`. `recent` is oldest first,
    and ends just before the segment that is decided."""

    now: Millis
    scope: RuntimeScope
    recent: tuple[Segment, ...]
    disposed: bool = False
    subagent: bool = False
    muted: bool = False
    incognito: bool = False
    surface: bool = True
    first_prompt: bool = False  # no prompt seen yet in this context window
    failures: tuple[str, ...] = ()  # error classes and failing call digests seen in this context window
    hesitation: float = 0.0  # 0..1: repeating, varying, undoing, doubting; the segment itself included


class PacketItem(Frozen, frozen=True, kw_only=True):
    """One memory as a packet shows it. `text` is cut and sanitised; `why` is ours."""

    memory_id: str
    record_digest: str
    source_version: int
    scope: str
    level: ActivationLevel
    text: str
    why: str
    when: str
    title: str | None = None
    kind: str = ""  # of memory; empty: built before items said so
    cut: bool = False  # the record says more than is shown
    raised: bool = False  # shown once more, or at a higher level than at first, because the agent hesitates more
    resource_ref: str | None = None  # by what name the whole can be fetched, at this version and digest


class Named(Frozen, frozen=True, kw_only=True):
    """A record that a text names: what must still hold of it when the text is handed over. `kind`: of memory."""

    memory_id: str
    record_digest: str
    kind: str = ""


class Context(Frozen, frozen=True, kw_only=True):
    """What a packet says of the runtime context. `state`: the digest of all that is in view once the packet is
    delivered. `text`: as it is rendered; empty: the window shows all of it already. `records`: those that it names."""

    state: str
    text: str = ""
    records: tuple[Named, ...] = ()


class MemoryPacket(Frozen, frozen=True, kw_only=True):
    """What goes into a next-step inbox (C-06). `exact_digest` is of the rendered bytes. Without items it brings the
    runtime context alone."""

    packet_id: str
    context_cursor: ContextCursor
    retrieval_version: str
    trigger_reason: str
    activation_level: ActivationLevel
    items: tuple[PacketItem, ...]
    exact_digest: str
    semantic_digest: str
    budget_bytes: int
    expiry: Millis
    rendered: str
    tag: str  # the frame's random tag
    agent_id: str = "main"
    window: int = 0  # ordinal of the context window it was built in
    created_at: Millis = 0
    step: int | None = None
    carried: int = 0  # times it was carried over to a newer context version
    resource_refs: tuple[str, ...] = ()
    brief: bool = False  # its context window was told already how to read a packet
    hesitation: float = 0.0  # of the agent, when it was built
    context: Context | None = None  # the runtime context, where there is something to say of it
    packet_schema_version: int = 1

    @property
    def named(self) -> tuple[PacketItem | Named, ...]:
        """Every record in it, as an item or by name: each is checked before it is handed over."""
        return self.items if self.context is None else (*self.items, *self.context.records)


Outcome = MemoryPacket | Silence


class Advice(Frozen, frozen=True, kw_only=True):
    """What was advised about one record's level. `request`: None when nothing usable was, and then `refused` says why;
    empty: the adviser had nothing to say. What is refused is not followed, and fails nothing."""

    memory_id: str
    request: ActivationRequest | None = None
    refused: str = ""


class Pass(Frozen, frozen=True, kw_only=True):
    """One walk through the pipeline. What of it is kept is an AuditEntry."""

    segment: Segment | None
    outcome: Outcome
    trigger: str = ""
    decision: Decision | None = None
    score: float = 0.0
    signals: dict[str, float] = {}
    found: Found | None = None
    ranked: Ranked | None = None
    sure: Ranked | None = None
    verdict: Verdict | None = None
    latency: dict[str, int] = {}  # stage -> microseconds
    advice: Advice | None = None
    draw: str = ""  # the holdout policy that drew for its packet; empty: nobody drew


class Surface(StrEnum):
    SESSION_START = "session-start"
    USER_PROMPT = "user-prompt"
    POST_TOOL = "post-tool"
    PRE_STEP = "pre-step"


LONGEST_LIFE: Millis = 86_400_000  # of a packet


class InboxState(StrEnum):
    PENDING = "pending"
    CLAIMED = "claimed"
    DELIVERED = "delivered"
    DROPPED = "dropped"
    EXPIRED = "expired"
    REPLACED = "replaced"


class Claimed(Frozen, frozen=True, kw_only=True):
    packet: MemoryPacket
    claim_id: str


Claim = Claimed | Silence


class Rollout(StrEnum):
    OFF = "off"
    SHADOW = "shadow"
    CANARY = "canary"
    ACTIVE = "active"


class Capability(Frozen, frozen=True, kw_only=True):
    """What a host can take (C-07), at one version and model of it.

    `max_chars` and `max_bytes` (UTF-8) bound a text together. `most`: the level that this host is trusted with,
    whatever the workspace says; `why` explains one below active.
    """

    host: str
    surfaces: frozenset[Surface]
    max_chars: int
    acknowledges: bool  # the host tells us when the text is in the request
    max_bytes: int | None = None  # None: characters alone decide
    subagents: bool = False  # inject into subagents too
    maintained: bool = True  # it can show the runtime context beside packets
    most: Rollout = Rollout.ACTIVE
    why: str = ""


class Heard(Frozen, frozen=True, kw_only=True):
    """What an adapter understood of one host call: events, and the surface where an answer may go, if any."""

    envelopes: tuple[EventEnvelope, ...]
    session_id: str
    agent_id: str
    event: str  # the host's own event name, for encode
    surface: Surface | None = None
    transcript: str | None = None
    ends_step: bool = True  # after a tool; False: the host's transcript says where the model's next reply begins
    shown: tuple[str, ...] = ()  # texts of ours that stand in the conversation, where the host itself tells them
