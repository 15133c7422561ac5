"""Memory: scopes and who sees them (invariant 1: every read path asks `visible`), records, locators (M-06)."""

from enum import StrEnum
from typing import Protocol

from recall.contracts.events import Frozen, Millis

EPISODE = "episode"  # the tag of what consolidation wrote


class Scope(StrEnum):
    TURN = "Turn"
    SESSION = "Session"
    WORKSPACE = "Workspace"
    USER = "User"
    EXTERNAL = "External"


class ScopeRef(Frozen, frozen=True, kw_only=True):
    """A record's scope and its key: turn id, session id, workspace key, user name or source name."""

    kind: Scope
    key: str


class RuntimeScope(Frozen, frozen=True, kw_only=True):
    """Where a session stands: the keys that records are checked against. An empty key sees nothing."""

    session_id: str
    agent_id: str
    workspace: str  # workspace key
    user: str
    turn: str = ""


def visible(record: ScopeRef, runtime: RuntimeScope) -> bool:
    """Whether a record of this scope may be seen from there. Unset means denied; External is never unasked."""
    if not record.key:
        return False
    match record.kind:
        case Scope.TURN:
            return record.key == runtime.turn
        case Scope.SESSION:
            return record.key == runtime.session_id
        case Scope.WORKSPACE:
            return record.key == runtime.workspace
        case Scope.USER:
            return record.key == runtime.user
        case _:
            return False


def visible_scopes(runtime: RuntimeScope) -> tuple[ScopeRef, ...]:
    """Every scope that `visible` admits from there, in a fixed order: what a query filters by."""
    every = (
        ScopeRef(kind=Scope.TURN, key=runtime.turn),
        ScopeRef(kind=Scope.SESSION, key=runtime.session_id),
        ScopeRef(kind=Scope.WORKSPACE, key=runtime.workspace),
        ScopeRef(kind=Scope.USER, key=runtime.user),
    )
    return tuple(ref for ref in every if visible(ref, runtime))


class MemoryKind(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"
    ARCHIVED = "archived"


class Flag(StrEnum):
    QUARANTINED = "quarantined"
    RECHECK = "recheck"
    CORRECTED = "corrected"
    TRUNCATED = "truncated"
    MUTED = "muted"


class Risk(StrEnum):
    LOW = "low"
    HIGH = "high"


class Origin(StrEnum):
    USER = "user"
    REVIEWED = "reviewed"
    EXTRACTED = "extracted"
    IMPORTED = "imported"


SAID = frozenset({Origin.USER, Origin.REVIEWED})  # by a person, or read and kept by one
SHARED = frozenset({Origin.IMPORTED, Origin.REVIEWED})  # of a folder that others write into: as it came, or trusted


class Kinded(Protocol):
    """What a record and a candidate have in common, as far as `consolidated` asks."""

    @property
    def kind(self) -> MemoryKind: ...

    @property
    def origin(self) -> Origin: ...

    @property
    def tags(self) -> tuple[str, ...]: ...


def consolidated(one: Kinded) -> bool:
    """Whether consolidation wrote it: an episode, kept aside in the index and found by its own source alone."""
    return one.kind is MemoryKind.EPISODIC and one.origin is Origin.EXTRACTED and EPISODE in one.tags


class RecordState(StrEnum):
    """How a record stands in its file (M-06)."""

    ANCHORED = "anchored"
    LEGACY = "legacy"
    ORPHAN_ANCHOR = "orphan-anchor"
    DUPLICATE_ANCHOR = "duplicate-anchor"
    MALFORMED_ANCHOR = "malformed-anchor"
    ORPHAN_CONTENT = "orphan-content"
    MALFORMED_ENTRY = "malformed-entry"
    IDENTITY_MISMATCH = "identity-mismatch"  # an entry whose front matter and marker name two ids


class Period(Frozen, frozen=True, kw_only=True):
    start: Millis
    end: Millis | None = None


class CodeAnchor(Frozen, frozen=True, kw_only=True):
    """A place in the code that a memory is about: path below the workspace, line (1-based), what stood there."""

    path: str
    line: int
    snippet: str


class MemoryRecord(Frozen, frozen=True, kw_only=True):
    """One memory. `memory_id` is assigned once; text lives in a Markdown file."""

    memory_id: str
    anchor_id: str
    kind: MemoryKind
    scope: ScopeRef
    text: str
    created_at: Millis
    title: str | None = None
    tags: tuple[str, ...] = ()
    status: Status = Status.ACTIVE
    flags: tuple[Flag, ...] = ()
    superseded_by: str | None = None
    risk_level: Risk = Risk.LOW
    origin: Origin = Origin.USER
    valid_from: Millis | None = None
    expires_at: Millis | None = None
    pinned: bool = False
    priority: int | None = None  # 0..100; -1 = first among equals in the seed pass
    importance: int | None = None  # 0..100
    occurred: Period | None = None
    state: RecordState = RecordState.ANCHORED
    about: CodeAnchor | None = None
    promoted: bool = False  # an entry of a repository: a procedure of it begins as a candidate, whoever said yes


class MemoryLocator(Frozen, frozen=True, kw_only=True):
    """Where a record stands in a file. Bytes are UTF-8, half-open, marker excluded; lines 1-based, for people."""

    memory_id: str
    anchor_id: str
    source_file: str
    source_version: int
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    record_digest: str
