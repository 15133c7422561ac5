"""Types that governance shares with the host: verdicts, audit entries, evidence, screening findings."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from recall.contracts import (
    ActivationLevel,
    ActivationRequest,
    ArmReport,
    Candidate,
    ContextCursor,
    Frozen,
    MemoryKind,
    Millis,
    RuntimeScope,
    Scored,
)

# --------------------------------------------------------------------- procedures (M-04)


class Stage(StrEnum):
    """How far a procedure has come."""

    OBSERVED = "observed"
    CANDIDATE = "candidate"
    VALIDATED = "validated"
    ACTIVE = "active"
    DEPRECATED = "deprecated"


# --------------------------------------------------------------------- safety (G-03)


class Action(StrEnum):
    ALLOW = "allow"
    SUPPRESS = "suppress"
    ASK = "ask"
    FALLBACK = "fallback"


class Removal(Frozen, frozen=True, kw_only=True):
    candidate_id: str  # the memory id
    reason: str


class Verdict(Frozen, frozen=True, kw_only=True):
    """What the ladder decided. `kept` goes on to the broker and is not audited as such."""

    action: Action
    reason: str
    removed: tuple[Removal, ...] = ()
    kept: tuple[Scored, ...] = ()


class Audience(Frozen, frozen=True, kw_only=True):
    """Whom a packet is for, and what is true now. Rules read this and nothing else.

    `digests`: memory id -> record digest in the current index (absent: gone). `index_version`: now.
    `degraded`: only the fallback answered. `approved`: records that the user has approved as they stand. `evidenced`:
    extracted ones whose use has shown that they hold.
    """

    scope: RuntimeScope
    index_version: str
    digests: Mapping[str, str]
    muted: frozenset[str] = frozenset()
    muted_kinds: frozenset[MemoryKind] = frozenset()
    corrected: frozenset[str] = frozenset()
    quarantined: frozenset[str] = frozenset()
    approved: frozenset[str] = frozenset()
    evidenced: frozenset[str] = frozenset()
    stages: Mapping[str, Stage] = {}  # of procedures, by memory id, as far as any was written down
    cooling: frozenset[str] = frozenset()  # procedures that were offered just now
    surface_available: bool = True
    degraded: bool = False
    context_version: int = 0
    level: ActivationLevel = ActivationLevel.EXCERPT


class Proposal(Frozen, frozen=True, kw_only=True):
    """What packet rules judge: the packet about to be built."""

    session_id: str
    agent_id: str
    context_version: int
    index_version: str
    level: ActivationLevel
    items: tuple[Candidate, ...]
    activation: ActivationRequest | None = None


CandidateRule = Callable[[Candidate, Audience, Millis], str | None]
PacketRule = Callable[[Proposal, Audience, Millis], str | None]


class Rules(Frozen, frozen=True, kw_only=True):
    """The two ladders, in order: (name, rule)."""

    candidate: tuple[tuple[str, CandidateRule], ...]
    packet: tuple[tuple[str, PacketRule], ...]


class Finding(Frozen, frozen=True, kw_only=True):
    """One hit of the screen. Offsets are code points of the text given.

    `family`: secret.* | pii.* | injection.* | hidden.*
    """

    family: str
    severity: str  # low | high
    start: int
    end: int


# --------------------------------------------------------------------- evidence (G-01)


class EvidenceKind(StrEnum):
    SEEN = "seen"
    READ = "read"
    CITE = "cite"
    REUSE = "reuse"
    SUCCESS = "success"
    CORRECTION = "correction"


class AccessEvidence(Frozen, frozen=True, kw_only=True):
    """An edge of the access-evidence graph. Whitelisted fields only. `coverage` is × 10⁶."""

    evidence_id: str
    kind: EvidenceKind
    memory_id: str
    session_ref: str
    event_seq: int
    context_version: int
    source_version: int
    record_digest: str
    at: Millis
    call_id: str | None = None
    coverage: int | None = None


class EvidenceTrace(Frozen, frozen=True, kw_only=True):
    """An edge as the audit entry of its cause carries it; who and when stand in the entry. `coverage` is × 10⁶."""

    kind: EvidenceKind
    memory_id: str
    source_version: int
    record_digest: str
    call_id: str | None = None
    coverage: int | None = None


# --------------------------------------------------------------------- audit (G-02)


class AuditKind(StrEnum):
    PASS = "pass"
    CLAIM = "claim"
    DELIVERY = "delivery"
    DROP = "drop"
    FEEDBACK = "feedback"
    POLICY = "policy"


class GateTrace(Frozen, frozen=True, kw_only=True):
    """The need gate's score and signals (× 10⁶) and the state it left behind."""

    score: int = 0
    signals: dict[str, int] = {}
    state: str = "normal"


class CandidateTrace(Frozen, frozen=True, kw_only=True):
    """One candidate as audited. Scores × 10⁶. `margin`: by how much its score passed the bar of its door, or missed it;
    `door`: what opened for it, `evidence` or `answer`."""

    memory_id: str
    score: int
    rank: int
    kept: bool
    drop_reason: str | None = None
    mass: int = 0
    agree: int = 0
    margin: int | None = None
    door: str | None = None


class VerdictTrace(Frozen, frozen=True, kw_only=True):
    action: Action
    reason: str
    removed: tuple[Removal, ...] = ()


class ContextTrace(Frozen, frozen=True, kw_only=True):
    """What a packet says of the runtime context: the digest of what is in view then, and the memory ids it names."""

    state: str
    items: tuple[str, ...] = ()


class PacketTrace(Frozen, frozen=True, kw_only=True):
    """A packet as audited."""

    packet_id: str
    exact_digest: str
    semantic_digest: str
    bytes: int
    level: ActivationLevel
    items: tuple[str, ...] = ()  # memory ids
    context: ContextTrace | None = None

    @property
    def alone(self) -> bool:
        """Whether it brings the runtime context and nothing else."""
        return self.context is not None and not self.items

    @property
    def named(self) -> tuple[str, ...]:
        """The ids of all memories in it, as items or by name."""
        return self.items if self.context is None else (*self.items, *self.context.items)


class ActivationTrace(Frozen, frozen=True, kw_only=True):
    """What was advised about a record's level, and what was shown. Numbers × 10⁶; `refused`: why it was not heeded."""

    memory_id: str
    level: ActivationLevel | None = None
    similarity: int = 0
    hesitation: int = 0
    refused: str | None = None
    taken: ActivationLevel | None = None


class AuditEntry(Frozen, frozen=True, kw_only=True):
    """One row of the injection audit. Ids, counts and numbers; never text or paths.

    `digest` covers the whole entry with `prev_digest`; `decision_digest` leaves out times, latencies and the chain.
    `claim_id`, `surface`, `memory_id` are set for claim, delivery, drop and feedback entries.
    """

    audit_id: str
    at: Millis
    session_ref: str
    agent_ref: str
    cursor: ContextCursor | None  # its session_id field holds the session ref
    kind: AuditKind
    outcome: str  # packet | silence | claimed | delivered | dropped | …
    reason: str
    trigger: str = ""  # segment kind or surface
    segment_id: str | None = None
    step: int | None = None
    gate: GateTrace | None = None
    arms: tuple[ArmReport, ...] = ()
    candidates: tuple[CandidateTrace, ...] = ()
    votes: tuple[str, ...] = ()
    verdict: VerdictTrace | None = None
    packet: PacketTrace | None = None
    versions: dict[str, str] = {}
    latency: dict[str, int] = {}  # stage -> microseconds
    claim_id: str | None = None
    surface: str | None = None
    memory_id: str | None = None
    activation: ActivationTrace | None = None
    evidence: tuple[EvidenceTrace, ...] = ()  # the edges that what happened here adds to the access-evidence graph
    note: str | None = None  # an error class, a number as text or a workspace's keyed name; never free text
    prev_digest: str = ""
    digest: str = ""
    decision_digest: str = ""


class AuditFilter(Frozen, frozen=True, kw_only=True):
    """What `audit.query` asks. All given conditions must hold; newest first."""

    session_ref: str | None = None
    kind: AuditKind | None = None
    outcome: str | None = None
    reason: str | None = None
    memory_id: str | None = None
    step: int | None = None
    packet_id: str | None = None
    since: Millis | None = None  # entries of that time and later
    after_row: int | None = None
    limit: int = 50


__all__ = [
    "AccessEvidence",
    "Action",
    "ActivationTrace",
    "Audience",
    "AuditEntry",
    "AuditFilter",
    "AuditKind",
    "CandidateRule",
    "CandidateTrace",
    "ContextTrace",
    "EvidenceKind",
    "EvidenceTrace",
    "Finding",
    "GateTrace",
    "PacketRule",
    "PacketTrace",
    "Proposal",
    "Removal",
    "Rules",
    "Stage",
    "Verdict",
    "VerdictTrace",
]


# --------------------------------------------------------------------- decisions (formation.md 7.1)


class Act(StrEnum):
    """What can happen to an item."""

    PROPOSE = "propose"
    DEFER = "defer"
    COMMIT = "commit"
    STAGE = "stage"
    MEET_FLOOR = "meet-floor"
    EXPIRE = "expire"
    KEEP = "keep"
    EDIT_AND_KEEP = "edit-and-keep"
    ARCHIVE = "archive"
    SHARE = "share"
    APPLY = "apply"
    DISCARD = "discard"
    SUPERSEDE = "supersede"


class Principal(StrEnum):
    """Who acts. `human`: a person at a terminal; `agent`: whoever speaks out of an agent's session."""

    HUMAN = "human"
    AGENT = "agent"
    ENGINE = "engine"
    POLICY = "policy"
    PIPELINE = "pipeline"


class Decision(Frozen, frozen=True, kw_only=True):
    """One decision that was made. `expected_revision`: of the item that it was made to."""

    actor: Principal
    kind: Act
    at: Millis
    expected_revision: int
    reason: str = ""
