"""Scenes, persona, doctrine and skills (formation.md 3)."""

from enum import StrEnum
from typing import Protocol

from governance.formation.contracts.model import Provenance
from governance.formation.contracts.notes import Atom, AtomEvidence, Message, RunStatus
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
    """`writable`: of a skill, whether it is ours to change."""

    id: str
    kind: DocumentKind
    name: str
    version: int
    content: str
    meta: DocumentMeta = DocumentMeta()
    evidence: tuple[AtomEvidence, ...] = ()
    writable: bool = True


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
    """What L2, L3 and skills propose. `read_set`: everything that the run listed, searched or read."""

    status: RunStatus
    provenance: Provenance
    changes: tuple[DocumentChange, ...] = ()
    read_set: tuple[DocumentVersion, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


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
    """The skills that there are."""

    async def list(self) -> tuple[Document, ...]: ...

    async def search(self, query: str) -> tuple[Document, ...]: ...

    async def get(self, document_id: str) -> Document | None: ...


class ExtractSkillsRequest(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: str
    scope_key: str
    messages: tuple[Message, ...]
    mode: Mode = Mode.CODE
