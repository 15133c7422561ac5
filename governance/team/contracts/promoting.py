"""Documents of review, prepare and promote (team.md 7 to 9)."""

from typing import Literal

from governance.team.contracts.base import Document, Owner
from governance.team.contracts.turns import Strength, Support

CandidateKind = Literal["entry", "skill", "consolidation"]
Operation = Literal["write", "delete"]
PlanState = Literal["generated", "approved", "applying", "applied", "voided"]


class Reference(Document, frozen=True, kw_only=True):
    """A quote or fact beside a statement. `at`: YYYY-MM-DD."""

    evidence_id: str
    kind: str
    display: str
    at: str | None = None
    quote: str | None = None


class ReviewStatement(Document, frozen=True, kw_only=True):
    statement_id: str
    text: str
    statement_text_digest: str
    citations_digest: str
    strength: Strength
    support: Support
    limitations: tuple[str, ...]
    evidence: tuple[Reference, ...]


class ReviewFlag(Document, frozen=True, kw_only=True):
    """What a reader may not see at first: hidden characters, HTML comments, text far below blank lines."""

    code: str
    detail: str


class ReviewItem(Document, frozen=True, kw_only=True):
    candidate_id: str
    kind: CandidateKind
    revision: int
    payload: str  # canonical JSON, whole
    content: str  # as a person reads it: what is hidden is made visible
    statements: tuple[ReviewStatement, ...]
    strength: Strength
    support: Support
    limitations: tuple[str, ...]
    flags: tuple[ReviewFlag, ...]
    supersedes: tuple[str, ...]
    type: str | None = None


class BrokenItem(Document, frozen=True, kw_only=True):
    """An item that drifted or cannot be shown: reported by itself, and left out of the approval. `revision`: to discard
    it; 0 of one that is none."""

    candidate_id: str
    kind: str  # of the fault
    problem: str
    next: str
    revision: int = 0


class ConfirmedStatement(Document, frozen=True, kw_only=True):
    statement_id: str
    statement_text_digest: str
    citations_digest: str


class ConfirmedCandidate(Document, frozen=True, kw_only=True):
    """`revision`, and `statements` sorted by id."""

    candidate_id: str
    revision: int
    statements: tuple[ConfirmedStatement, ...]


class Confirmation(Document, frozen=True, kw_only=True):
    """What the caller says of the user's yes: recorded, not proven."""

    by: str
    via: Literal["chat", "terminal", "inspector"]


class PrepareRequest(Document, frozen=True, kw_only=True):
    """`prepare-request`: sent back unchanged from a review, but for the confirmation."""

    format: str
    kind: CandidateKind
    candidates: tuple[ConfirmedCandidate, ...]
    confirmation: Confirmation
    approval_digest: str | None = None


class Change(Document, frozen=True, kw_only=True):
    """A file exactly as it will be. `content`: None for a delete; `diff`: unified."""

    target_path: str
    operation: Operation
    content: str | None
    diff: str


class ApprovedFile(Document, frozen=True, kw_only=True):
    """`target_blob`: SHA-256 of the bytes that stand there now, None: nothing does. `sanitized_digest`: of the new."""

    target_path: str
    operation: Operation
    target_blob: str | None
    sanitized_digest: str | None


class Approval(Document, frozen=True, kw_only=True):
    """`approval`: what `approvalDigest` is the digest of. All sorted."""

    format: str
    kind: CandidateKind
    owner: Owner
    policy_version: str
    candidates: tuple[ConfirmedCandidate, ...]
    files: tuple[ApprovedFile, ...]


class ApprovalPreview(Document, frozen=True, kw_only=True):
    digest: str
    prepare_request: PrepareRequest
    changes: tuple[Change, ...]


class Review(Document, frozen=True, kw_only=True):
    """`review`. `approval`: None when nothing can be approved; at most 50 items are in it, 200 listed."""

    format: str
    kind: CandidateKind
    items: tuple[ReviewItem, ...]
    broken: tuple[BrokenItem, ...]
    approval: ApprovalPreview | None
    more: int = 0
    note: str = ""


class PromotionPlan(Document, frozen=True, kw_only=True):
    """`promotion-plan`."""

    format: str
    plan_id: str
    owner: Owner
    kind: CandidateKind
    state: PlanState
    candidate_ids: tuple[str, ...]
    approval_digest: str | None
    assessment_digest: str
    policy_version: str
    per_file: tuple[ApprovedFile, ...]
    plan_digest: str
    idempotent: bool = False


class AppliedFile(Document, frozen=True, kw_only=True):
    target_path: str
    operation: Operation
    digest: str | None


class ApplyResult(Document, frozen=True, kw_only=True):
    """`apply-result`. `problem`: set when the files are applied and what follows was not (`sync-partial`)."""

    format: str
    plan_id: str
    state: PlanState
    applied: bool
    files: tuple[AppliedFile, ...]
    candidates: tuple[str, ...]
    idempotent: bool = False
    problem: str | None = None
    recovered: tuple[str, ...] = ()  # files with bytes that were put aside
    note: str = ""
