"""The daemon's answers to the verbs on memories, as far as the command line reads them. Unknown fields are ignored."""

from recall.contracts import ArmReport, Attention, Frozen, MemoryLocator, MemoryRecord, Millis, Risk, ScopeRef


class Hit(Frozen, frozen=True, kw_only=True):
    """One find of `memory.search`. When an explanation was asked for: the query's terms that it holds, and what each
    arm gave it, as score and as confidence."""

    memory_id: str
    score: float
    scope: ScopeRef
    kind: str
    text: str
    status: str = "active"
    state: str = "anchored"
    title: str | None = None
    source: str = ""
    flags: tuple[str, ...] = ()
    pinned: bool = False
    muted: bool = False
    origin: str = ""
    terms: tuple[str, ...] = ()
    scores: dict[str, float] = {}
    confidences: dict[str, float] = {}


class Term(Frozen, frozen=True, kw_only=True):
    """A term of the query, and how many records hold it."""

    term: str
    records: int


class LeftOut(Frozen, frozen=True, kw_only=True):
    """A memory that was found and not shown, and why."""

    memory_id: str
    reason: str


class Fusion(Frozen, frozen=True, kw_only=True):
    lexical: float = 0.0


class Explanation(Frozen, frozen=True, kw_only=True):
    """`total`: the records that were looked through. `fusion`: the weight of each arm."""

    terms: tuple[Term, ...] = ()
    total: int = 0
    filtered: tuple[LeftOut, ...] = ()
    fusion: Fusion = Fusion()


class Aside(Frozen, frozen=True, kw_only=True):
    """A memory, or an item of the review queue, that fits and is handed to nobody."""

    id: str
    reason: str
    text: str
    title: str | None = None


class Hits(Frozen, frozen=True, kw_only=True):
    hits: tuple[Hit, ...]
    degraded: bool = False
    arms: tuple[ArmReport, ...] = ()
    explain: Explanation | None = None
    aside: tuple[Aside, ...] = ()


class Shown(Frozen, frozen=True, kw_only=True):
    """The answer of `memory.get`. `sightings`: how often it was said."""

    record: MemoryRecord
    locator: MemoryLocator | None = None
    muted: bool = False
    muted_at: Millis | None = None
    sightings: int = 1


class Listed(Frozen, frozen=True, kw_only=True):
    """A page of `memory.list`, which may hold fewer than were asked for. `next`: where the next page begins, null on
    the last."""

    records: tuple[MemoryRecord, ...]
    next: str | None = None


class Other(Frozen, frozen=True, kw_only=True):
    """A memory that says otherwise about the same matter."""

    memory_id: str
    text: str


class Remembered(Frozen, frozen=True, kw_only=True):
    """The answer of `memory.remember`. `redacted`: families of secrets that were taken out. `duplicate_of`: the memory
    that says it already; then nothing was written. `trust`: how it is held."""

    memory_id: str
    file: str = ""
    redacted: tuple[str, ...] = ()
    quarantined: bool = False
    duplicate_of: str | None = None
    updates: tuple[Other, ...] = ()
    superseded: tuple[str, ...] = ()
    sightings: int = 1
    corrected: bool = False
    risk_level: Risk = Risk.LOW
    trust: str = "user"


class Edited(Frozen, frozen=True, kw_only=True):
    memory_id: str
    changed: bool
    file: str = ""
    record_digest: str = ""
    redacted: tuple[str, ...] = ()
    quarantined: bool = False
    risk_level: Risk = Risk.LOW


class Pinned(Frozen, frozen=True, kw_only=True):
    memory_id: str
    pinned: bool
    changed: bool


class Muted(Frozen, frozen=True, kw_only=True):
    memory_id: str
    muted: bool
    changed: bool
    packets_purged: int = 0
    until: Millis | None = None


class MutedHere(Frozen, frozen=True, kw_only=True):
    """The answer of `workspace.mute`. `kind`: null for everything."""

    kind: str | None
    muted: bool
    changed: bool
    until: Millis | None = None
    packets_purged: int = 0


class MutedKind(Frozen, frozen=True, kw_only=True):
    kind: str | None
    since: Millis
    until: Millis | None = None


class MutedMemory(Frozen, frozen=True, kw_only=True):
    memory_id: str
    text: str
    since: Millis
    until: Millis | None = None


class Figures(Frozen, frozen=True, kw_only=True):
    """A point of attention as measured."""

    precision: float
    recall: float
    false_per_100: float


class Point(Frozen, frozen=True, kw_only=True):
    """What a point would have given of the packets that were judged."""

    attention: Attention
    given: int
    noise: int = 0
    useful: int = 0


class Proposal(Frozen, frozen=True, kw_only=True):
    kind: str
    count: int
    attention: Attention | None = None
    memory_id: str | None = None


class Advice(Frozen, frozen=True, kw_only=True):
    """What the feedback of a workspace comes to."""

    judged: int = 0
    opinions: dict[str, int] = {}
    points: tuple[Point, ...] = ()
    missed: int = 0
    reached: int = 0
    proposals: tuple[Proposal, ...] = ()


class Chosen(Frozen, frozen=True, kw_only=True):
    """The answer of `workspace.set`. `chosen`: the attention was chosen here; else it is the default."""

    rollout: str
    attention: Attention
    chosen: bool = False


class WorkspaceStanding(Chosen, frozen=True, kw_only=True):
    """The answer of `workspace.get`."""

    mutes: tuple[MutedKind, ...] = ()
    memories: tuple[MutedMemory, ...] = ()
    points: dict[Attention, Figures] = {}
    advice: Advice = Advice()


class Noted(Frozen, frozen=True, kw_only=True):
    """The answer of `memory.feedback`."""

    audit_id: str
    opinion: str
    packet_id: str | None = None
    memory_ids: tuple[str, ...] = ()
    corrected: bool = False
    packets_purged: int = 0


class Forgotten(Frozen, frozen=True, kw_only=True):
    """`documents`: what was made of it among others, and stands."""

    forgotten: bool
    packets_purged: int = 0
    documents: tuple[str, ...] = ()


class LintFinding(Frozen, frozen=True, kw_only=True):
    """Something about a memory file; `line` 0: the whole file."""

    rule: str
    severity: str
    problem: str
    file: str = ""
    line: int = 0
    memory_id: str | None = None
    next: str = ""


class Linted(Frozen, frozen=True, kw_only=True):
    """`more`: how many findings there are beyond these."""

    format: str = ""
    blocked: bool = False
    files: int
    records: int
    findings: tuple[LintFinding, ...] = ()
    more: int = 0


class Declined(Frozen, frozen=True, kw_only=True):
    """A record of an import, by its place in the request, that was not taken, and why."""

    index: int
    problem: str


class Imported(Frozen, frozen=True, kw_only=True):
    imported: int
    duplicates: int = 0
    quarantined: int = 0
    refused: tuple[Declined, ...] = ()
    redacted: tuple[str, ...] = ()


class Started(Frozen, frozen=True, kw_only=True):
    """The answer of `index.rebuild` and `engine.reembed`. Not started: it was under way already."""

    started: bool = True
