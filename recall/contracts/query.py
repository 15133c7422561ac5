"""What a pass asks and gets: cues, candidates, what was found, ranked and shown (C-04, C-05)."""

from collections.abc import Mapping
from enum import StrEnum

from recall.contracts.events import Frozen, Millis, SegmentKind
from recall.contracts.memory import Flag, MemoryKind, Origin, Period, RecordState, Risk, RuntimeScope, ScopeRef, Status


class SourceName(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    LEXICAL = "lexical"
    ENGINE = "engine"


class Candidate(Frozen, frozen=True, kw_only=True):
    """A memory that one source proposes. `score` is the source's own; `terms` are the record's distinct terms."""

    id: str
    memory_id: str
    source: SourceName
    scope: ScopeRef
    score: float
    confidence: float
    source_version: int
    record_digest: str
    payload: str  # the record's text
    kind: MemoryKind
    status: Status
    origin: Origin
    created_at: Millis
    anchor_id: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    coverage: float | None = None
    provenance: str = ""
    expires_at: Millis | None = None
    valid_from: Millis | None = None
    superseded_by: str | None = None
    resource_ref: str | None = None
    risk_level: Risk = Risk.LOW
    pinned: bool = False
    priority: int | None = None
    importance: int | None = None
    occurred: Period | None = None
    state: RecordState = RecordState.ANCHORED
    terms: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    loaded_by: tuple[str, ...] = ()  # hosts that put this text into every context themselves
    promoted: bool = False  # as in MemoryRecord
    alike: tuple[str, ...] = ()  # memory ids of other candidates that the same source takes for paraphrases


class CuePart(Frozen, frozen=True, kw_only=True):
    """A piece of the window, with its weight in query reduction (trigger 1, user .8, result .6, call .4, reply .2)."""

    role: str
    text: str
    weight: float


class Cue(Frozen, frozen=True, kw_only=True):
    """What the pass asks recall. `terms`: the distinct analyzed terms of the window; `focus`: those of the trigger."""

    scope: RuntimeScope
    parts: tuple[CuePart, ...]
    terms: tuple[str, ...]
    focus: tuple[str, ...]
    retrieval_key: str
    segment_kind: SegmentKind | None = None  # None: a seed pass or a search by a person
    question: bool = False  # the user's own prompt asks something
    corrects: bool = False  # the user's own prompt says what is wrong, and so what is right
    errors: tuple[str, ...] = ()  # of a failing result: terms that name its error, a class or a code
    act: tuple[str, ...] = ()  # and the terms of the call that it answers, where it names one
    call: str = ""  # the call that a failing result answers, or the call itself, as a line (`recall.acts`)
    limit: int = 50
    memory_ids: tuple[str, ...] = ()  # seed pass: these records by id, no search


class TermStatistics(Frozen, frozen=True, kw_only=True):
    """Document counts over the *eligible* memories (visible scope, active): what idf is made of."""

    total: int
    counts: dict[str, int]  # term -> number of eligible records that hold it


class ArmReport(Frozen, frozen=True, kw_only=True):
    """What one source did in one pass. `shortfall`: late | broken | open-breaker | loading |
    stale-vectors | indexing | degraded."""

    name: str
    hits: int
    micros: int
    shortfall: str | None = None


class Found(Frozen, frozen=True, kw_only=True):
    """What association brought: candidates of all arms, and how each arm fared (C-04)."""

    candidates: tuple[Candidate, ...]
    arms: tuple[ArmReport, ...]
    statistics: TermStatistics
    index_version: str
    degraded: bool = False


class Scored(Frozen, frozen=True, kw_only=True):
    """A candidate with what ranking and the confidence gate found out about it."""

    candidate: Candidate
    score: float
    mass: float = 0.0  # nats of chance-corrected match
    agree: float = 0.0
    reasons: tuple[str, ...] = ()
    confidences: Mapping[str, float] = {}  # source -> its own absolute confidence, as it was before fusion
    bar: float = 0.0  # nats that the score had to reach; 0: it was weighed against none


class Drop(Frozen, frozen=True, kw_only=True):
    id: str  # memory id
    reason: str


class Ranked(Frozen, frozen=True, kw_only=True):
    """C-05: best first, and every drop with its reason. `votes`: the top three by z, for later agreement.
    `told`: terms of the records that this context window was given already, which are no new evidence."""

    ranked: tuple[Scored, ...]
    dropped: tuple[Drop, ...] = ()
    votes: tuple[str, ...] = ()
    weighed: tuple[Scored, ...] = ()  # everything the confidence gate looked at, kept or not, best first
    told: frozenset[str] = frozenset()


class Shown(Frozen, frozen=True, kw_only=True):
    """What this context window holds already: ranking drops these. `read`: memory id -> record digest as read."""

    records: frozenset[str] = frozenset()
    texts: tuple[tuple[str, str], ...] = ()  # (memory id, text) of records given, or held out, in this window
    held_out: frozenset[str] = frozenset()  # kept back in this window, to measure what handing over does
    read: dict[str, str] = {}
    muted: frozenset[str] = frozenset()
    muted_kinds: frozenset[MemoryKind] = frozenset()
    corrected: frozenset[str] = frozenset()
    quarantined: frozenset[str] = frozenset()
    used: Mapping[str, float] = {}  # memory id -> how much its evidence says that it helps, in [0, 1]; absent: 0
    host: str = ""  # the agent product: what it loads into every context itself is shown already
    scope: RuntimeScope | None = None  # who looks; None: whoever asked has filtered


class Noise(Frozen, frozen=True, kw_only=True):
    """The noise floor: the session's own term counts (a term once an event) and the agreement of recent events."""

    counts: Mapping[str, int]
    total: int
    agree: Mapping[str, float]  # memory id -> decayed number of recent passes that had it in their top three


class Attention(StrEnum):
    """How sure the confidence gate has to be: three points on one curve of precision and recall."""

    QUIET = "quiet"
    NORMAL = "normal"
    EAGER = "eager"


class ActivationLevel(StrEnum):
    """How much of a memory is shown, rising."""

    INDEX = "index"
    HINT = "hint"
    EXCERPT = "excerpt"
    CHECKLIST = "checklist"
    RESOURCE = "resource"
    FULL = "full"


LEVELS: tuple[ActivationLevel, ...] = tuple(ActivationLevel)


class ActivationRequest(Frozen, frozen=True, kw_only=True):
    """M-07's advice, never an order. `resource_*`: all or none. `reason` ≤ 160 characters."""

    procedure_id: str
    level: ActivationLevel
    similarity: float
    hesitation: float
    context_version: int
    memory_index_version: str
    reason: str
    resource_ref: str | None = None
    resource_version: int | None = None
    resource_digest: str | None = None
