"""Evidence notes (formation.md 2.1): messages, windows, and what was noted of them with its quotes."""

from enum import StrEnum
from typing import Protocol

from governance.formation.contracts.model import Provenance
from recall.contracts import Frozen, Millis


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Completeness(StrEnum):
    FULL = "full"
    TRUNCATED = "truncated"


class Attribution(StrEnum):
    USER_STATEMENT = "user_statement"
    ASSISTANT_REPORT = "assistant_report"
    PLAN = "plan"
    INFERENCE = "inference"


class NoteKind(StrEnum):
    FACT = "fact"
    LESSON = "lesson"


class NoteFlag(StrEnum):
    QUARANTINED = "quarantined"
    TRUNCATED_EVIDENCE = "truncated-evidence"
    RECHECK = "recheck"


class ReviewStatus(StrEnum):
    PENDING = "pending"
    KEPT = "kept"
    ARCHIVED = "archived"


class EvidenceRef(Frozen, frozen=True, kw_only=True):
    """Where a message stands for whoever keeps it."""

    id: str
    version: int
    hash: str | None = None
    completeness: Completeness | None = None


class Message(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One message of a conversation. `timestamp`: epoch ms. `hash`: of the whole text, where this one is cut."""

    id: str
    role: Role
    content: str
    timestamp: Millis
    evidence: tuple[EvidenceRef, ...]
    completeness: Completeness | None = None
    hash: str | None = None


class Limits(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_input_chars: int = 120_000
    max_output_tokens: int = 8_192
    timeout_ms: int = 180_000


class Continuation(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the next window begins, and everything that must be as it was."""

    format: str
    algorithm_version: str
    prompt_hash: str
    scope_key: str
    stream_id: str
    model_id: str
    window_digest: str
    snapshot_digest: str
    next_index: int


class Cancel(Protocol):
    """An event that calls the run off; `asyncio.Event` is one."""

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class ExtractL1Request(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`messages`: the complete ordered snapshot. `scope_key`: declared by the caller, never guessed. `start_index` or
    `continuation`, not both. `run_id` names this attempt, `stream_id` survives retries."""

    run_id: str
    scope_key: str
    stream_id: str
    messages: tuple[Message, ...]
    limits: Limits = Limits()
    max_new_messages: int = 20
    max_background_messages: int = 5
    start_index: int | None = None
    continuation: Continuation | None = None


class Use(StrEnum):
    NEW = "new"
    BACKGROUND = "background"


class Source(Frozen, frozen=True, kw_only=True):
    """A message of a window. `index`: its place in the snapshot. `hash`: SHA-256 of its whole content."""

    message_id: str
    index: int
    role: Role
    content: str
    hash: str
    timestamp: Millis
    evidence: tuple[EvidenceRef, ...]
    completeness: Completeness
    use: Use


class Packet(Frozen, frozen=True, kw_only=True):
    """What a window showed; notes are bound to its `evidence_digest`."""

    scope_key: str
    stream_id: str
    evidence_digest: str
    sources: tuple[Source, ...]


class Quote(Frozen, frozen=True, kw_only=True):
    """What was said, word for word, and where: `start` and `end` are code points of the message, half-open."""

    message_id: str
    quote: str
    start: int = 0
    end: int = 0


class NoteScope(Frozen, frozen=True, kw_only=True):
    scope_key: str
    stream_id: str


class NoteBody(Frozen, frozen=True, kw_only=True):
    """What a note says, and on what it rests."""

    kind: NoteKind
    title: str
    content: str
    attribution: Attribution
    citations: tuple[Quote, ...]


class Actor(Frozen, frozen=True, kw_only=True):
    """Who decides. `kind`: human, agent, engine, policy or pipeline."""

    id: str
    kind: str


class NoteAction(StrEnum):
    KEEP = "keep"
    EDIT_AND_KEEP = "edit_and_keep"
    ARCHIVE = "archive"


class EvidenceDecision(Frozen, frozen=True, kw_only=True):
    """`body`: for edit_and_keep alone."""

    actor: Actor
    at: Millis
    expected_version: int
    expected_digest: str
    action: NoteAction
    reason: str
    body: NoteBody | None = None


class DecisionRecord(Frozen, frozen=True, kw_only=True):
    """A decision as it was made: never changed."""

    note_id: str
    actor: Actor
    at: Millis
    action: NoteAction
    reason: str
    from_version: int
    to_version: int
    digest: str


class NoteReview(Frozen, frozen=True, kw_only=True):
    status: ReviewStatus = ReviewStatus.PENDING
    decisions: tuple[DecisionRecord, ...] = ()


class EvidenceNote(Frozen, frozen=True, kw_only=True):
    """`id`: of window and content, so the same is the same. `author`: model, agent or human."""

    id: str
    kind: NoteKind
    title: str
    content: str
    attribution: Attribution
    citations: tuple[Quote, ...]
    scope: NoteScope
    evidence_digest: str
    version: int
    digest: str
    author: str
    flags: tuple[NoteFlag, ...] = ()
    review: NoteReview = NoteReview()


class RunStatus(StrEnum):
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class NoteCreated(Frozen, frozen=True, kw_only=True):
    after: EvidenceNote
    type: str = "create"


class Coverage(Frozen, frozen=True, kw_only=True):
    """`from_`, `through`: indices of the snapshot, half-open. `remaining`: sendable messages that were not taken."""

    total: int
    from_: int
    through: int
    new_ids: tuple[str, ...] = ()
    background_ids: tuple[str, ...] = ()
    tool_count: int = 0
    remaining: int = 0
    truncated_ids: tuple[str, ...] = ()


class RejectionCode(StrEnum):
    """Why a candidate is not taken (formation.md 2.2 and 5.2)."""

    SCHEMA = "schema"
    OVER_LIMIT = "over-limit"
    DUPLICATE = "duplicate"
    UNKNOWN_MESSAGE = "unknown-message"
    QUOTE_NOT_FOUND = "quote-not-found"
    QUOTE_TOO_SHORT = "quote-too-short"
    QUOTE_TOO_LONG = "quote-too-long"
    BACKGROUND_ONLY = "background-only"
    ATTRIBUTION_MISMATCH = "attribution-mismatch"
    NEGATION_CUT = "negation-cut"
    UNSUPPORTED_TOKEN = "unsupported-token"
    RELATIVE_DATE = "relative-date"
    SECRET = "secret"
    ALREADY_KNOWN = "already-known"
    UNKNOWN_TYPE = "unknown-type"  # this one and the next: of batch extraction
    OVER_CAP = "over-cap"


class Rejected(Frozen, frozen=True, kw_only=True):
    """`index`: of the candidate in the answer. `detail`: in words, without the candidate's text."""

    index: int
    code: RejectionCode
    detail: str = ""


class RunError(Frozen, frozen=True, kw_only=True):
    """Why a run failed. `code`: as `message-over-budget`, `continuation-mismatch`, `timeout`, `schema`, `length`.
    `field`: which one differs, with `continuation-mismatch`."""

    code: str
    problem: str
    field: str = ""


class ExtractL1Result(Frozen, frozen=True, kw_only=True):
    """Only `continuation` says: call again."""

    status: RunStatus
    coverage: Coverage
    provenance: Provenance
    changes: tuple[NoteCreated, ...] = ()
    packet: Packet | None = None
    continuation: Continuation | None = None
    rejected: tuple[Rejected, ...] = ()
    unrepresented_source_ids: tuple[str, ...] = ()
    promotion: str = "manual_review_required"
    error: RunError | None = None


class AtomEvidence(Frozen, frozen=True, kw_only=True):
    id: str
    version: int


class Atom(Frozen, frozen=True, kw_only=True):
    """A reviewed memory, as scenes are made of it."""

    id: str
    version: int
    kind: NoteKind
    title: str
    content: str
    scope_key: str
    evidence: tuple[AtomEvidence, ...]
