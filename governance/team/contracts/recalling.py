"""Documents of recall (team.md 4, 5)."""

from typing import Literal

from governance.team.contracts.base import Document, Owner
from governance.team.contracts.turns import RejectedSessions, ResultEvidence, TerminalState

EvidenceKind = Literal["turn", "commit", "path"]


class Window(Document, frozen=True, kw_only=True):
    """Half-open: after <= t < before. UTC with milliseconds and Z."""

    after: str
    before: str


class Filters(Document, frozen=True, kw_only=True):
    providers: tuple[str, ...] = ()
    session_keys: tuple[str, ...] = ()
    tool_keys: tuple[str, ...] = ()
    skill_keys: tuple[str, ...] = ()
    result_evidence: tuple[ResultEvidence, ...] = ()
    terminal_states: tuple[TerminalState, ...] = ()


class ExtractionRequest(Document, frozen=True, kw_only=True):
    """`extraction-request`."""

    format: str
    window: Window
    query: str | None = None
    filters: Filters | None = None


class CatalogueEntry(Document, frozen=True, kw_only=True):
    """No strength here: that is ours."""

    evidence_id: str  # ev-<n>-<12 hex>
    kind: EvidenceKind
    pointer_digest: str
    display: str


class SelectionDigests(Document, frozen=True, kw_only=True):
    request_digest: str
    result_set_digest: str
    source_binding_digest: str


class Versions(Document, frozen=True, kw_only=True):
    prompt: str
    schema: str
    chunker: str
    analyzer: str


class Snapshot(Document, frozen=True, kw_only=True):
    """`provenance` of a binding."""

    snapshot_seq: int
    evaluated_at: str


class TaskBinding(Document, frozen=True, kw_only=True):
    """What a recall task is bound to: echoed byte for byte by whoever answers it."""

    database_uuid: str
    owner: Owner
    source_input_digest: str
    selection: SelectionDigests
    turn_revisions: tuple[int, ...]
    payload_digests: tuple[str, ...]
    edge_revisions: tuple[str, ...]
    versions: Versions
    provenance: Snapshot


class Lease(Document, frozen=True, kw_only=True):
    token: str
    epoch: int
    expires_at: str


class TurnRange(Document, frozen=True, kw_only=True):
    """Indexes of turns in the session, both inclusive."""

    first: int
    last: int


class Coverage(Document, frozen=True, kw_only=True):
    kind: Literal["user", "assistant", "tool-call", "tool-result", "turn"]
    ref: str
    completeness: Literal["full", "truncated", "turn-too-large"]
    bytes: int


class TurnEvidence(Document, frozen=True, kw_only=True):
    turn_index: int
    evidence_id: str


class Chunk(Document, frozen=True, kw_only=True):
    turn_range: TurnRange
    coverage: tuple[Coverage, ...]
    turn_evidence: tuple[TurnEvidence, ...]
    transcript: str


class ContextScene(Document, frozen=True, kw_only=True):
    name: str
    summary: str
    heat: int


class ContextMemory(Document, frozen=True, kw_only=True):
    id: str
    source_kind: Literal["approved", "candidate", "private"]
    content: str


class ContextSkill(Document, frozen=True, kw_only=True):
    name: str
    description: str
    digest: str


class TaskContext(Document, frozen=True, kw_only=True):
    scenes: tuple[ContextScene, ...] = ()
    memory: tuple[ContextMemory, ...] = ()
    skills: tuple[ContextSkill, ...] = ()
    digest: str = ""  # what a skill candidate echoes as memoryContextDigest


class Contract(Document, frozen=True, kw_only=True):
    """`draft_schema`: a JSON schema as text."""

    draft_schema: str
    prompts: tuple[str, ...]


class ExtractionTask(Document, frozen=True, kw_only=True):
    """`extraction-task`. `session`: a keyed name, never the provider's id."""

    format: str
    task_id: str
    lease: Lease
    binding: TaskBinding
    session: str
    evidence_catalog: tuple[CatalogueEntry, ...]
    chunk: Chunk
    context: TaskContext
    contract: Contract


class SelectionSummary(Document, frozen=True, kw_only=True):
    request_digest: str
    result_set_digest: str
    source_binding_digest: str
    matched_turns: int
    matched_sessions: int
    rejected_sessions: tuple[RejectedSessions, ...]
    pending_chunks: int
    too_large: tuple[str, ...] = ()  # turns that no chunk can hold, by their keyed names


class Guidance(Document, frozen=True, kw_only=True):
    next_action: str
    formats: tuple[str, ...]
    rules: tuple[str, ...]


class AgentRecall(Document, frozen=True, kw_only=True):
    """`agent-recall`."""

    format: str
    selection: SelectionSummary
    sources: tuple[ExtractionTask, ...]
    guidance: Guidance
    note: str
