"""Documents of stage (team.md 6)."""

from typing import Annotated, Literal

from msgspec import Meta

from governance.team.contracts.base import Document, Owner
from governance.team.contracts.recalling import TaskBinding

EntryType = Literal["work_fact", "work_task", "work_method", "work_artifact"]
Confidence = Literal["high", "medium", "low"]
SourceKind = Literal["approved", "candidate", "private"]
Action = Literal["store", "add", "skip", "drop", "update", "merge"]  # add = store, drop = skip
Priority = Annotated[int, Meta(ge=0, le=100)]


class Statement(Document, frozen=True, kw_only=True):
    """`evidence_ids`: of the same task; in merged fields also `target:<id>/<statementId>`, to inherit."""

    statement_id: str
    text: str
    evidence_ids: tuple[str, ...] = ()


class Draft(Document, frozen=True, kw_only=True):
    content: str
    type: EntryType
    priority: Priority
    confidence: Confidence
    statements: tuple[Statement, ...]
    scene: str | None = None


class DraftBatch(Document, frozen=True, kw_only=True):
    """`candidate-draft-batch`: 0 to 8 drafts."""

    format: str
    task_id: str
    binding: TaskBinding
    candidates: tuple[Draft, ...]
    lease_token: str | None = None


class RejectedDraft(Document, frozen=True, kw_only=True):
    index: int
    code: str  # unknown-evidence | duplicate-statement | secret | content-not-covered
    detail: str


class Projection(Document, frozen=True, kw_only=True):
    generation: int
    analyzer_version: str


class PoolRevision(Document, frozen=True, kw_only=True):
    source_kind: SourceKind
    id: str
    revision: str


class AdjudicationBinding(Document, frozen=True, kw_only=True):
    state_uuid: str
    owner: Owner
    draft_batch_digest: str
    approved_projection: Projection
    candidate_projection: Projection
    recall_algorithm: str
    result_set_digest: str
    pool_item_revisions: tuple[PoolRevision, ...]
    versions: dict[str, str]


class TaskDraft(Document, frozen=True, kw_only=True):
    draft_ref: str  # the candidate's id
    content: str
    type: EntryType
    priority: int
    confidence: Confidence
    scene: str | None
    statements: tuple[Statement, ...]


class Ranked(Document, frozen=True, kw_only=True):
    rank: int
    source_kind: SourceKind
    id: str


class RecallSet(Document, frozen=True, kw_only=True):
    draft_ref: str
    ordered: tuple[Ranked, ...]


class PoolItem(Document, frozen=True, kw_only=True):
    """`statement_ids`: what `target:<id>/<statementId>` may name of it."""

    source_kind: SourceKind
    id: str
    revision: str
    content_digest: str
    state: str
    summary: str  # at most 240 characters
    statement_ids: tuple[str, ...] = ()


class AdjudicationTask(Document, frozen=True, kw_only=True):
    """`adjudication-task`."""

    format: str
    task_id: str
    binding: AdjudicationBinding
    drafts: tuple[TaskDraft, ...]
    recall_sets: tuple[RecallSet, ...]
    pool: tuple[PoolItem, ...]
    rejected: tuple[RejectedDraft, ...] = ()
    idempotent: bool = False


class MergedFields(Document, frozen=True, kw_only=True):
    content: str
    statements: tuple[Statement, ...]
    type: EntryType | None = None
    priority: Priority | None = None
    scene: str | None = None
    occurred: tuple[str, ...] | None = None


class Adjudicated(Document, frozen=True, kw_only=True):
    draft_ref: str
    action: Action
    target_ids: tuple[str, ...] = ()
    merged_fields: MergedFields | None = None


class AdjudicationResult(Document, frozen=True, kw_only=True):
    """`adjudication-result`: every draft of the task exactly once."""

    format: str
    task_id: str
    binding: AdjudicationBinding
    decisions: tuple[Adjudicated, ...]


class SkillProposal(Document, frozen=True, kw_only=True):
    """`expected_content_digest`: of the skill that it changes; None for a new one."""

    name: str
    description: str
    body: str
    action: Literal["create", "update"]
    expected_content_digest: str | None = None


class SkillCandidate(Document, frozen=True, kw_only=True):
    """`skill-candidate`: answers a recall task with a skill. Staged at once."""

    format: str
    task_id: str
    binding: TaskBinding
    memory_context_digest: str
    skill: SkillProposal
    statements: tuple[Statement, ...]
    lease_token: str | None = None


class Share(Document, frozen=True, kw_only=True):
    """`share`: kept or committed items of the review queue become drafts."""

    format: str
    item_ids: tuple[str, ...]


class StagedCandidate(Document, frozen=True, kw_only=True):
    candidate_id: str
    state: str
    revision: int
    memory_id: str | None = None
    target_path: str | None = None
    supersedes: tuple[str, ...] = ()
    covered_by: tuple[str, ...] = ()


class Staged(Document, frozen=True, kw_only=True):
    """`staged`: what became of the drafts. `done`: an empty batch; its chunk is not offered again."""

    format: str
    task_id: str
    candidates: tuple[StagedCandidate, ...] = ()
    rejected: tuple[RejectedDraft, ...] = ()
    done: bool = False
    idempotent: bool = False
    note: str = ""
