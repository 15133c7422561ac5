"""Scenes, persona, doctrine and skills (formation.md 3)."""

from enum import StrEnum
from typing import Protocol

from governance.formation.contracts.model import Provenance
from governance.formation.contracts.notes import Atom, AtomEvidence, Message, RunError, RunStatus
from recall.contracts import Frozen, Millis


class Layer(StrEnum):
    L1 = "l1"
    L2 = "l2"
    L3 = "l3"
    SKILL = "skill"


class DocumentKind(StrEnum):
    SCENE = "scene"
    PERSONA = "persona"
    DOCTRINE = "doctrine"
    SKILL = "skill"
    RESOURCE = "resource"


class Mode(StrEnum):
    CODE = "code"
    CHAT = "chat"


class DocumentMeta(Frozen, frozen=True, kw_only=True):
    created: Millis = 0
    updated: Millis = 0
    summary: str = ""
    heat: int = 0


class DocumentVersion(Frozen, frozen=True, kw_only=True):
    id: str
    version: int


class DocumentBefore(Frozen, frozen=True, kw_only=True):
    id: str
    version: int
    digest: str


class Document(Frozen, frozen=True, kw_only=True):
    """A text that is made of memories. `name`: of a skill its slug, of a resource `<skill>/<path>`. `meta.summary`: of
    a scene what it is about, of a skill its description. `writable`: of a skill, whether it is ours to change.
    `resources`: of a skill, the paths of what lies beside it."""

    id: str
    kind: DocumentKind
    name: str
    version: int
    content: str
    meta: DocumentMeta = DocumentMeta()
    evidence: tuple[AtomEvidence, ...] = ()
    writable: bool = True
    resources: tuple[str, ...] = ()


class ChangeOp(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    RETIRE = "retire"


class DocumentChange(Frozen, frozen=True, kw_only=True):
    """`before`: empty for create, several for merge. `after`: None for retire."""

    op: ChangeOp
    document_id: str
    before: tuple[DocumentBefore, ...]
    after: Document | None
    evidence: tuple[AtomEvidence, ...]
    rationale: str


class Diagnostic(Frozen, frozen=True, kw_only=True):
    """Something that a caller should know. `ids`, `count`: what it concerns."""

    code: str
    detail: str = ""
    ids: tuple[str, ...] = ()
    count: int = 0


class DocumentsResult(Frozen, frozen=True, kw_only=True):
    """What L2, L3 and skills propose. `read_set`: everything that the run listed, searched or read. `scene_versions`:
    of L3, the scenes that it was made of: what the next run gets as `previous_scene_versions`. `error`: why it
    failed."""

    status: RunStatus
    provenance: Provenance
    changes: tuple[DocumentChange, ...] = ()
    read_set: tuple[DocumentVersion, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    scene_versions: tuple[DocumentVersion, ...] = ()
    error: RunError | None = None


class Strategy(Frozen, frozen=True, kw_only=True):
    id: str
    layer: Layer
    version: int
    prompt_addition: str
    digest: str


class ExtractL2Request(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: str
    scope_key: str
    memories: tuple[Atom, ...]
    scenes: tuple[Document, ...] = ()
    mode: Mode = Mode.CODE
    strategy: Strategy | None = None


class ExtractL3Request(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: str
    scope_key: str
    scenes: tuple[Document, ...]
    persona: Document | None = None
    previous_scene_versions: tuple[DocumentVersion, ...] = ()
    mode: Mode = Mode.CODE
    strategy: Strategy | None = None


class Skills(Protocol):
    """The skills that there are. `list` and `search` give them without their resources' texts; `get` gives one, or one
    resource by its own id. None: there is no such document."""

    async def list(self) -> tuple[Document, ...]: ...

    async def search(self, query: str) -> tuple[Document, ...]: ...

    async def get(self, document_id: str) -> Document | None: ...


class ExtractSkillsRequest(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: str
    scope_key: str
    messages: tuple[Message, ...]
    mode: Mode = Mode.CODE


class DocumentState(StrEnum):
    LIVE = "live"
    GONE = "gone"  # retired, merged into another, or archived


class KeptDocument(Frozen, frozen=True, kw_only=True):
    """What is kept of a document beside its file, which holds its words. `digest`: of the file as it was read or
    written last. `file`: below the memory folder of its workspace. `item_id`: the proposal that made this version;
    empty: a person did, in the file. `scene_versions`: the scenes that a persona or doctrine was made of."""

    document_id: str
    kind: DocumentKind
    name: str
    version: int
    digest: str
    file: str
    updated_at: Millis
    state: DocumentState = DocumentState.LIVE
    meta: DocumentMeta = DocumentMeta()
    evidence: tuple[AtomEvidence, ...] = ()
    item_id: str = ""
    scene_versions: tuple[DocumentVersion, ...] = ()


class FileStep(Frozen, frozen=True, kw_only=True):
    """One file of a change: what it says before and after. None: there is no file."""

    file: str
    before: str | None
    after: str | None
