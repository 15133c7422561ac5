"""Ranges of sessions: triggers, cursors, receipts, failures, and what the checkpoint engine says (formation.md 5)."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from recall.contracts import Frozen, Millis


class Trigger(StrEnum):
    COMPACT = "compact"
    END = "end"
    IDLE = "idle"
    COMMAND = "command"
    TURNS = "turns"  # batch: after so many user turns
    IMPORT = "import"


class Pipeline(StrEnum):
    NOTES = "notes"
    DOCUMENTS = "documents"
    CHECKPOINT = "checkpoint"
    BATCH = "batch"


class SnapshotOrigin(StrEnum):
    MAIN = "main"
    SUBAGENT = "subagent"
    OWN = "own"  # a session of our own command driver


class Snapshot(Frozen, frozen=True, kw_only=True):
    """A boundary of a session, as it was when the trigger came. `conversation_key`: the root of its lineage."""

    trigger: Trigger
    session_id: str
    conversation_key: str
    boundary_seq: int
    workspace_key: str
    origin: SnapshotOrigin = SnapshotOrigin.MAIN


class EvidenceRecord(Frozen, frozen=True, kw_only=True):
    """A text of a session's log, cleaned of what its author did not write. `ref`: how the model and a quote name it.
    `role`: `user` is evidence, `assistant` only helps to understand. `event_seq`: from 1, as the log numbers."""

    ref: str
    session_id: str
    message_id: str
    event_seq: int
    role: str
    text: str
    at: Millis
    workspace_key: str
    turn: int = 0
    truncated: bool = False


class Material(Protocol):
    """A session's texts. `host/formation/material.py` is one; tests bring their own."""

    async def read(self, session_id: str, after: int, through: int) -> Sequence[EvidenceRecord]:
        """The texts of events `after` < seq <= `through` of the main agent, in order: what the user wrote and what the
        agent said. Tool traffic, reasoning and machine-written text are not there."""
        ...


class Door(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    DENIED = "denied"


class Admission(Frozen, frozen=True, kw_only=True):
    """Whether a session may be formed now. `reason`: why it is closed. `denied`: spans that may never be read."""

    door: Door
    reason: str = ""
    denied: tuple["Barrier", ...] = ()


class FormationGate(Protocol):
    async def of(self, snapshot: Snapshot) -> Admission:
        """Asked before and after every call of a model, and before the commit."""
        ...


class KnownRecord(Frozen, frozen=True, kw_only=True):
    """A live record that may say the same. `guarded`: user-made, reviewed, pinned or promoted; machines leave it be.
    `otherwise`: it speaks of the same matter and says something else, as far as whoever looked it up can tell."""

    memory_id: str
    text: str
    guarded: bool
    title: str = ""
    claim: str = ""
    otherwise: bool = False


class Known(Protocol):
    """What is remembered already."""

    async def like(self, workspace_key: str, text: str, limit: int) -> Sequence[KnownRecord]:
        """The best live records of that workspace and of the user for these words: by the same words first. Raises
        IndexFault-like errors as StateFault when the index cannot be asked."""
        ...


Fault = Callable[[str], None]  # a named point in a commit; tests stop the process there


def no_fault(point: str) -> None:
    """Nothing happens at a named point but in tests."""


class RangeStatus(StrEnum):
    """What became of a range, or why nothing did."""

    EXTRACTED = "extracted"
    DEFERRED = "deferred"
    SKIPPED = "skipped"
    DISCARDED = "discarded"
    DENIED = "denied"
    NO_RANGE = "no-range"
    PENDING = "pending"
    UNAVAILABLE = "unavailable"


class RangeResult(Frozen, frozen=True, kw_only=True):
    """`from_seq`, `through_seq`: inclusive. `reason`: of unavailable and pending. `problem`: what the model's driver
    said of it, in words."""

    session_id: str
    from_seq: int
    through_seq: int
    status: RangeStatus
    reason: str = ""
    problem: str = ""
    committed: tuple[str, ...] = ()  # memory ids
    deferred: tuple[str, ...] = ()  # gap ids
    seen: int = 0  # conversations that the most seen of them was in
    floor: int = 0  # conversations that a fact needs
    pending: tuple[str, ...] = ()  # item ids
    rejected: dict[str, int] = {}  # by code
    calls: int = 0
    idempotent: bool = False
    retry_after_ms: int | None = None  # as the provider asked


class Receipt(Frozen, frozen=True, kw_only=True):
    """`outcome`: the stored answer, JSON."""

    operation_id: str
    request_hash: str
    pipeline: Pipeline
    status: str
    outcome: str
    committed_at: Millis
    session_id: str | None = None
    from_seq: int | None = None
    through_seq: int | None = None
    item_ids: tuple[str, ...] = ()


class FailureClass(StrEnum):
    """What counts toward discarding a range. Faults of a provider never do."""

    SCHEMA = "schema"
    LENGTH = "length"
    LOCALIZATION = "localization"
    ADMISSION = "admission"
    EVIDENCE = "evidence"


class Failure(Frozen, frozen=True, kw_only=True):
    pipeline: Pipeline
    session_id: str
    from_seq: int
    through_seq: int
    coverage_hash: str
    operation_id: str
    projection: str
    attempts: int
    class_: FailureClass
    done_refs: tuple[str, ...]
    failed_at: Millis


class GapState(StrEnum):
    OPEN = "open"
    COVERED = "covered"
    EXPIRED = "expired"


class Gap(Frozen, frozen=True, kw_only=True):
    """A fact that was seen in too few conversations so far."""

    gap_id: str
    workspace_key: str
    content: str
    state: GapState
    opened_at: Millis
    changed_at: Millis
    covered_by: str | None = None
    item_id: str | None = None


class Barrier(Frozen, frozen=True, kw_only=True):
    """A span that the user denied; both ends are inside."""

    session_id: str
    from_seq: int
    through_seq: int


class DeadLetter(Frozen, frozen=True, kw_only=True):
    """A range that was given up, until a person has it tried again."""

    letter_id: str
    pipeline: Pipeline
    session_id: str
    workspace_key: str
    from_seq: int
    through_seq: int
    class_: FailureClass
    refs: tuple[str, ...]
    attempts: int
    operation_id: str
    state: str  # open or retried
    at: Millis


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"


class Job(Frozen, frozen=True, kw_only=True):
    """`owner`: the run of the daemon that works at it. `starts`: how often it was begun since it last ended in order.
    `waits`: how often a provider was away. `not_before`: epoch ms."""

    job_id: str
    pipeline: Pipeline
    session_id: str
    trigger: Trigger
    boundary_seq: int
    workspace_key: str
    state: JobState
    created_at: Millis
    changed_at: Millis
    starts: int = 0
    waits: int = 0
    owner: str = ""
    reason: str = ""
    not_before: Millis = 0
