"""What goes wrong in the team workflow. One fault, told apart by its kind (team.md 13)."""

from enum import StrEnum


class Kind(StrEnum):
    REQUEST_INVALID = "request-invalid"
    SCHEMA_INVALID = "schema-invalid"
    INPUT_TOO_LARGE = "input-too-large"
    QUERY_TOO_BROAD = "query-too-broad"
    NOT_A_REPOSITORY = "not-a-repository"
    OWNER_MISMATCH = "owner-mismatch"
    BINDING_NOT_FOUND = "binding-not-found"
    BINDING_DRIFT = "binding-drift"
    PAYLOAD_CHANGED = "payload-changed"
    COVERAGE_INCOMPLETE = "coverage-incomplete"
    TASK_NOT_FOUND = "task-not-found"
    TASK_NOT_CLAIMABLE = "task-not-claimable"
    LEASE_LOST = "lease-lost"
    SUBMISSION_CONFLICT = "submission-conflict"
    CONTENT_NOT_COVERED = "content-not-covered"
    CANDIDATE_NOT_FOUND = "candidate-not-found"
    CANDIDATE_STALE = "candidate-stale"
    CANDIDATE_KIND_MISMATCH = "candidate-kind-mismatch"
    ASSESSMENT_NOT_FOUND = "assessment-not-found"
    UNVERIFIED_CLAIM = "unverified-claim"
    REVIEWER_KIND = "reviewer-kind"
    APPROVAL_MISMATCH = "approval-mismatch"
    APPROVAL_EXPIRED = "approval-expired"
    SANITIZATION_BLOCKED = "sanitization-blocked"
    CAPACITY_EXCEEDED = "capacity-exceeded"
    PLAN_NOT_FOUND = "plan-not-found"
    PLAN_STATE_INVALID = "plan-state-invalid"
    PLAN_DIGEST_MISMATCH = "plan-digest-mismatch"
    TARGET_PATH_INVALID = "target-path-invalid"
    TARGET_DRIFT = "target-drift"
    IDENTITY_MISMATCH = "identity-mismatch"
    LOCK_BUSY = "lock-busy"
    IO_ERROR = "io-error"
    ROLLBACK_REQUIRED = "rollback-required"
    UNSUPPORTED_FILESYSTEM = "unsupported-filesystem"
    SYNC_PARTIAL = "sync-partial"
    ASSEMBLY_CONFLICT = "assembly-conflict"
    STATE_NOT_OPEN = "state-not-open"
    STATE_FAILED = "state-failed"
    STATE_CORRUPT = "state-corrupt"


class TeamFault(Exception):
    """`problem`: what and why; `next_step`: what to do. The same over every transport."""

    def __init__(self, kind: Kind, problem: str, next_step: str) -> None:
        super().__init__(f"{problem} {next_step}".strip())
        self.kind = kind
        self.problem = problem
        self.next_step = next_step
