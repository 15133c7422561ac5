"""The files that a patch of scenes and doctrine comes to, and whether what it was made of still stands (team.md 10).
Pure.

A patch is one candidate. Its payload holds what is written, our heat, the time of staging, and its sources as they
were: so the same payload over the same sources is the same bytes, at staging, in review and in a plan.
"""

from collections.abc import Mapping, Sequence

from governance.team import assessing
from governance.team.assessing import Basis
from governance.team.contracts.consolidating import EntryRevision, PatchOperation
from governance.team.contracts.rows import Assessment, Cited, ConsolidationPayload, FileChange
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind, TeamFault
from governance.team.files import DOCTRINE, Doctrine, Scene, render_doctrine, render_scene, scene_path
from governance.team.sanitising import sanitised, sanitised_line
from governance.team.times import written
from governance.team.trees import DoctrineFile, SceneFile, Tree
from recall.contracts import Frozen

AGAIN = "Discard the candidate, call synthesize and stage the patch again."


class Materialised(Frozen, frozen=True, kw_only=True):
    """A file that an operation writes or takes away, relative to the memory root. `data`: None for a delete."""

    operation_id: str
    path: str
    data: bytes | None


def files_of(payload: ConsolidationPayload, tree: Tree, memory_root: str) -> tuple[FileChange, ...]:
    """The files as they will be, by path, with the bytes that stand there now.

    Raises TeamFault: `binding-drift` when a source is not as it was, `sanitization-blocked` when what the sanitiser
    leaves cannot be written.
    """
    if changed := drifted(payload, tree):
        raise TeamFault(Kind.BINDING_DRIFT, changed, AGAIN)
    now = {one.path: one.data for one in tree.scenes}
    if tree.doctrine is not None:
        now[tree.doctrine.path] = tree.doctrine.data
    changes = [
        FileChange(
            target_path=f"{memory_root}/{made.path}",
            operation="delete" if made.data is None else "write",
            data=made.data,
            before=now.get(f"{memory_root}/{made.path}"),
        )
        for made in materialised(payload, tree)
    ]
    return tuple(sorted(changes, key=lambda change: change.target_path))


def drifted(payload: ConsolidationPayload, tree: Tree) -> str:
    """What is no longer as the patch saw it: a scene, the doctrine, or an entry that it cites. Empty: nothing."""
    now = revisions(tree)
    before = dict(payload.scenes)
    for name in sorted(now.keys() | before.keys()):
        if now.get(name) != before.get(name):
            return f"The scene {name!r} is not as the patch saw it."
    if doctrine_digest(tree.doctrine) != payload.doctrine_digest:
        return "The doctrine is not as the patch saw it."
    for entry in payload.entries:
        found = tree.entry(entry.id)
        if found is None or found.digest != entry.digest or found.entry.status != "approved":
            return f"The entry {entry.id} that the patch cites is not as it was."
    return ""


def revisions(tree: Tree) -> dict[str, str]:
    """The digest of each scene's file, by the scene's name."""
    return {one.scene.name: one.digest for one in tree.scenes}


def doctrine_digest(doctrine: DoctrineFile | None) -> str | None:
    """The digest of the doctrine's file; None: there is none."""
    return None if doctrine is None else doctrine.digest


def found(tree: Tree, name: str) -> SceneFile | None:
    """The scene that a name means: two names of one file are one scene."""
    path = scene_path(name)
    return next((one for one in tree.scenes if scene_path(one.scene.name) == path), None)


def materialised(payload: ConsolidationPayload, tree: Tree) -> tuple[Materialised, ...]:
    """The files of a payload, operation by operation. Raises TeamFault (`sanitization-blocked`)."""
    heat = {one.name: one.heat for one in payload.heat}
    at = written(payload.at)
    made: list[Materialised] = []
    for operation in payload.operations:
        if operation.target == "doctrine":
            made.append(_made(operation, DOCTRINE, _doctrine(operation)))
            continue
        path = scene_path(operation.name)
        gone = [scene_path(name) for name in operation.merge_sources if scene_path(name) != path]
        before = found(tree, operation.name)
        data = None if operation.new_content is None else _scene(operation, before, heat[operation.name], at)
        made += [_made(operation, path, data), *(_made(operation, one, None) for one in sorted(gone))]
    return tuple(made)


def statement_texts(payload: ConsolidationPayload, tree: Tree) -> dict[str, str]:
    """What each operation states: its file as it will be; the empty text for a delete."""
    texts: dict[str, str] = {}
    for made in materialised(payload, tree):
        texts.setdefault(made.operation_id, "" if made.data is None else made.data.decode())
    return texts


def assessed(payload: ConsolidationPayload, task_id: str) -> tuple[Assessment, ...]:
    """Our assessment of each operation: it rests on the entries that it names, each at its revision."""
    bases = {entry.id: (_basis(entry, task_id),) for entry in payload.entries}
    return tuple(assessing.assessed(statement, bases) for statement in payload.statements)


def _basis(entry: EntryRevision, task_id: str) -> Basis:
    about = Cited(evidence_id=entry.id, pointer_digest=entry.digest, task_id=task_id)
    return Basis(cited=about, strength=Strength.CONTEXTUAL)


def cited(operations: Sequence[PatchOperation], entries: Mapping[str, str]) -> tuple[EntryRevision, ...]:
    """The entries that operations name, each at its revision, by id."""
    names = sorted({name for one in operations for name in one.based_on_entry_ids})
    return tuple(EntryRevision(id=name, digest=entries[name]) for name in names)


def _scene(operation: PatchOperation, before: SceneFile | None, heat: int, at: str) -> bytes:
    scene = Scene(
        name=operation.name,
        created=at if before is None else before.scene.created,
        updated=at,
        summary=sanitised_line(operation.summary),
        heat=heat,
        body=sanitised(operation.new_content or "").strip("\n"),
    )
    try:
        return render_scene(scene)
    except ValueError as error:
        raise _blocked(operation, str(error)) from error


def _doctrine(operation: PatchOperation) -> bytes | None:
    if operation.new_content is None:
        return None
    try:
        return render_doctrine(Doctrine(body=sanitised(operation.new_content).strip("\n")))
    except ValueError as error:
        raise _blocked(operation, str(error)) from error


def _made(operation: PatchOperation, path: str, data: bytes | None) -> Materialised:
    return Materialised(operation_id=operation.operation_id, path=path, data=data)


def _blocked(operation: PatchOperation, why: str) -> TeamFault:
    problem = f"What the sanitiser leaves of operation {operation.operation_id[:60]!r} cannot be written: {why}"
    return TeamFault(Kind.SANITIZATION_BLOCKED, problem, "Say it in plain text, and stage the patch again.")
