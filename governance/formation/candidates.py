"""What one segment came to before it is committed, and what it was asked to do. Types only; built by the checkpoint."""

from governance.formation.contracts import (
    DeadLetter,
    Failure,
    FailureClass,
    Generation,
    MemorySource,
    Pipeline,
    RangeStatus,
)
from governance.formation.projecting import PROJECTION, Evidence
from governance.review import Citation, ItemFlag
from recall.contracts import Frozen


class Operation(Frozen, frozen=True, kw_only=True):
    """A range that is formed under one id. `base`: the operation that it repeats, itself at first. `refs`: the lines
    that it is about, for a letter should it be given up; `letter`: it was given up before, and the cursor is past it.
    `projection`: what `coverage_hash` is a hash of. `floor`: nothing before this event may help to understand it."""

    session_id: str
    conversation_key: str
    workspace_key: str
    from_seq: int
    through_seq: int
    operation_id: str
    base: str
    coverage_hash: str
    request_hash: str
    pipeline: Pipeline = Pipeline.CHECKPOINT
    projection: str = PROJECTION
    refs: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    floor: int = 0
    failed: Failure | None = None
    letter: DeadLetter | None = None


class Candidate(Frozen, frozen=True, kw_only=True):
    """A fact that was admitted. `named`: the gap that the model says it is. `explicit`: the user asked to remember it.
    `said_by`: a record that says it already; `contrary`: one that says otherwise. `refused`: a person said no to it."""

    content: str
    sources: tuple[MemorySource, ...]
    citations: tuple[Citation, ...]
    flags: tuple[ItemFlag, ...] = ()
    named: str | None = None
    explicit: bool = False
    said_by: str | None = None
    contrary: str | None = None
    refused: bool = False


class Formed(Frozen, frozen=True, kw_only=True):
    """What a segment came to. `fault`: why it did not come to an end; what there is is committed all the same. `done`:
    lines of evidence that need not be shown again. `shown_gaps`: ids that the prompt showed as open."""

    candidates: tuple[Candidate, ...] = ()
    rejected: dict[str, int] = {}
    shown_gaps: frozenset[str] = frozenset()
    calls: int = 0
    generation: Generation | None = None
    fault: FailureClass | None = None
    done: frozenset[str] = frozenset()
    status: RangeStatus | None = None  # when it is known beforehand
