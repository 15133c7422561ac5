"""What is stored of the team workflow (governance.db step 4): private, never sent as it is."""

from enum import StrEnum

from governance.team.contracts.base import Owner
from governance.team.contracts.consolidating import EntryRevision, PatchOperation
from governance.team.contracts.promoting import ApprovedFile, CandidateKind, Operation, PlanState
from governance.team.contracts.staging import Confidence, EntryType, SkillProposal, SourceKind, Statement
from governance.team.contracts.turns import Strength, Support
from recall.contracts import Frozen, Millis


class TaskState(StrEnum):
    PENDING = "pending"
    CLAIMED = "claimed"
    SUBMITTED = "submitted"
    STALE = "stale"


class ChunkState(StrEnum):
    PENDING = "pending"
    DRAFTED = "drafted"
    EXTRACTED = "extracted"
    STALE = "stale"


class TaskKind(StrEnum):
    RECALL = "recall"
    SHARE = "share"
    ADJUDICATION = "adjudication"
    CONSOLIDATION = "consolidation"


class Task(Frozen, frozen=True, kw_only=True):
    """`document`: canonical JSON of the task, no lease in it; `parent`: of an adjudication, the task of the drafts."""

    task_id: str
    kind: TaskKind
    owner: Owner
    state: TaskState
    source_digest: str
    document: str
    created_at: Millis
    changed_at: Millis
    epoch: int = 0
    token: str = ""
    holder: str = ""
    lease_until: Millis = 0
    parent: str = ""
    session_key: str = ""
    reason: str = ""


class ChunkTurn(Frozen, frozen=True, kw_only=True):
    turn_key: str
    revision: int
    payload_digest: str


class EvidenceRow(Frozen, frozen=True, kw_only=True):
    """`pointer`: canonical JSON: of a turn {sessionKey, turnKey, revision, payloadDigest, at}, of a commit {hash, at},
    of a path {path}; all in this repository. `turn_key`: the turn that it belongs to."""

    evidence_id: str
    kind: str  # turn | commit | path
    pointer_digest: str
    display: str
    pointer: str
    strength: Strength
    limitations: tuple[str, ...]
    turn_key: str = ""
    turn_revision: int = 0


class CandidateState(StrEnum):
    DRAFT = "draft"
    STAGED = "staged"
    PROMOTED = "promoted"
    DISCARDED = "discarded"


class Target(Frozen, frozen=True, kw_only=True):
    """What a candidate takes the place of, or is covered by. `revision`: of it when that was decided."""

    source_kind: SourceKind
    id: str
    revision: str = ""


class EntryPayload(Frozen, frozen=True, kw_only=True):
    """`occurred`, `commits`, `paths`: of the cited turns, public ones."""

    content: str
    type: EntryType
    priority: int
    confidence: Confidence
    scene: str | None
    statements: tuple[Statement, ...]
    occurred: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class SkillPayload(Frozen, frozen=True, kw_only=True):
    skill: SkillProposal
    statements: tuple[Statement, ...]


class SceneHeat(Frozen, frozen=True, kw_only=True):
    name: str
    heat: int


class ConsolidationPayload(Frozen, frozen=True, kw_only=True):
    """`operations`: normalised. `heat`: ours, of each scene that the patch writes. `scenes`, `doctrine_digest` and
    `entries`, which are those that it cites: the sources as they were. `at`: of staging, the time that scenes say."""

    run_id: str
    operations: tuple[PatchOperation, ...]
    heat: tuple[SceneHeat, ...]
    scenes: tuple[tuple[str, str], ...]  # (name, content digest) of all scenes as they were
    doctrine_digest: str | None
    statements: tuple[Statement, ...]
    entries: tuple[EntryRevision, ...] = ()
    at: Millis = 0


class Candidate(Frozen, frozen=True, kw_only=True):
    """`payload`: canonical JSON of an EntryPayload, SkillPayload or ConsolidationPayload."""

    candidate_id: str
    kind: CandidateKind
    task_id: str
    owner: Owner
    state: CandidateState
    revision: int
    memory_id: str
    target_path: str
    payload: str
    created_at: Millis
    changed_at: Millis
    flags: tuple[str, ...] = ()
    supersedes: tuple[Target, ...] = ()
    covers: tuple[Target, ...] = ()
    plan_id: str = ""
    reason: str = ""


class Cited(Frozen, frozen=True, kw_only=True):
    """One citation. `task_id`: whose catalogue names it."""

    evidence_id: str
    pointer_digest: str
    task_id: str


class Assessment(Frozen, frozen=True, kw_only=True):
    statement_id: str
    revision: int
    citations: tuple[Cited, ...]
    citations_digest: str
    text_digest: str
    strength: Strength
    limitations: tuple[str, ...]
    support: Support
    confirmed_at: Millis | None = None


class Intent(StrEnum):
    PENDING = "pending"
    INTENT = "intent"
    APPLIED = "applied"
    ROLLED_BACK = "rolled_back"
    FOREIGN = "foreign"


class PlanFile(Frozen, frozen=True, kw_only=True):
    target_path: str
    operation: Operation
    target_blob: str | None
    sanitized_digest: str | None
    new: bytes | None
    old: bytes | None = None
    originally_present: bool = False
    mode: int = 0
    intent: Intent = Intent.PENDING

    @property
    def approved(self) -> ApprovedFile:
        return ApprovedFile(
            target_path=self.target_path,
            operation=self.operation,
            target_blob=self.target_blob,
            sanitized_digest=self.sanitized_digest,
        )


class Plan(Frozen, frozen=True, kw_only=True):
    """`number`: the order of plans; clocks are none. `document`: canonical JSON of the PromotionPlan as prepared."""

    plan_id: str
    owner: Owner
    kind: CandidateKind
    state: PlanState
    plan_digest: str
    approval_digest: str | None
    assessment_digest: str
    policy_version: str
    candidate_ids: tuple[str, ...]
    document: str
    number: int
    created_at: Millis
    changed_at: Millis
    approved_at: Millis | None = None
    confirmed_via: str = ""
    phase: str = ""
    cleanup: str = ""
    reason: str = ""


class RunState(StrEnum):
    PENDING_REVIEW = "pending_review"
    APPLIED = "applied"
    STALE = "stale"
    NO_OP = "no_op"


class FileChange(Frozen, frozen=True, kw_only=True):
    """A file as it would be written. `data`: None for a delete; `before`: the bytes that stand there now."""

    target_path: str  # relative to the worktree's top
    operation: Operation
    data: bytes | None
    before: bytes | None
    memory_id: str = ""  # of an entry
