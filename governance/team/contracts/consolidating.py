"""Documents of synthesize (team.md 10)."""

from typing import Literal

from governance.team.contracts.base import Document, Owner

RunMode = Literal["incremental", "full"]


class EntryRevision(Document, frozen=True, kw_only=True):
    id: str
    digest: str


class SceneRevision(Document, frozen=True, kw_only=True):
    name: str
    content_digest: str
    heat: int


class Replay(Document, frozen=True, kw_only=True):
    """`attempt`: how many tasks of the same material are over. A task that was answered is final, so what came to
    nothing is asked for again under another id."""

    mode: RunMode
    after_successful_run_id: str | None
    attempt: int = 0


class ConsolidationBinding(Document, frozen=True, kw_only=True):
    database_uuid: str
    owner: Owner
    entry_set_digest: str
    entry_revisions: tuple[EntryRevision, ...]
    scene_index_digest: str
    scene_revisions: tuple[SceneRevision, ...]
    doctrine_digest: str | None
    versions: dict[str, str]
    replay: Replay


class TaskEntry(Document, frozen=True, kw_only=True):
    id: str
    type: str
    content: str
    scene: str | None


class TaskScene(Document, frozen=True, kw_only=True):
    name: str
    summary: str
    heat: int
    content: str


class ConsolidationContract(Document, frozen=True, kw_only=True):
    patch_schema: str
    prompts: tuple[str, ...]
    rules: tuple[str, ...]


class ConsolidationTask(Document, frozen=True, kw_only=True):
    """`consolidation-task`."""

    format: str
    task_id: str
    binding: ConsolidationBinding
    entries: tuple[TaskEntry, ...]
    scenes: tuple[TaskScene, ...]
    doctrine: str | None
    contract: ConsolidationContract


class PatchOperation(Document, frozen=True, kw_only=True):
    """`new_content`: the body as it is to stand, whole; None for a delete. `based_on_entry_ids`: of the task's."""

    operation_id: str
    op: Literal["create", "update", "merge", "delete"]
    target: Literal["scene", "doctrine"]
    name: str
    new_content: str | None
    based_on_entry_ids: tuple[str, ...] = ()
    merge_sources: tuple[str, ...] = ()
    rationale: str = ""
    summary: str = ""  # of a scene, at most 40 characters; empty: as before, or the first words of the content


class ConsolidationPatch(Document, frozen=True, kw_only=True):
    """`consolidation-patch`. No operation at all is an answer, too."""

    format: str
    task_id: str
    binding: ConsolidationBinding
    operations: tuple[PatchOperation, ...]


class Synthesis(Document, frozen=True, kw_only=True):
    """`synthesis`: the task, the id of the run that waits, or why there is none. `due` of `needed` entries are new."""

    format: str
    due: int
    needed: int
    task: ConsolidationTask | None = None
    pending_run_id: str | None = None
    note: str = ""
