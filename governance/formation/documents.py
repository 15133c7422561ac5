"""L2 and L3: scenes out of reviewed memories, and the persona or doctrine out of scenes (formation.md 3).

Nothing is stored here: what a run proposes is applied by its caller, after everything that it read was found as it was.
"""

from collections.abc import Iterable, Mapping

import msgspec

from governance.formation.contracts import (
    Atom,
    Diagnostic,
    Document,
    DocumentKind,
    DocumentsResult,
    DocumentVersion,
    ExtractL2Request,
    ExtractL3Request,
    Layer,
    ModelDriver,
    NoteKind,
    RunError,
    RunStatus,
    Strategy,
)
from governance.formation.docform import document_digest, without_navigation
from governance.formation.docresults import (
    EMPTY,
    MOST_CHARS,
    Begun,
    Setting,
    distinct,
    over_budget,
    readable,
    system_of,
    worked,
)
from governance.formation.doctrine_desk import KINDS, DoctrineDesk
from governance.formation.errors import ParameterFault
from governance.formation.prompts import shown
from governance.formation.scene_desk import SceneDesk
from governance.formation.shelf import whole
from governance.formation.strategy import said_by
from governance.formation.toolloop import cleaned
from recall.canonical import digest

NOTHING_NEW = "nothing-changed"
Row = Mapping[str, object]


async def extract_l2(driver: ModelDriver, request: ExtractL2Request, setting: Setting) -> DocumentsResult:
    """Scenes out of reviewed lessons. At most twelve calls; no memories, no call. Raises ParameterFault."""
    begun = begin_l2(request, setting, driver.id)
    if error := over_budget(texts_l2(request)):
        return begun.nothing(setting.now(), error=error)
    if not request.memories:
        return begun.nothing(setting.now())
    desk = scene_desk(request, begun)
    ended = await worked(driver, begun, shown(map(cleaned, rows_l2(request))), desk, setting)
    return begun.result(ended, desk, setting.now())


async def extract_l3(driver: ModelDriver, request: ExtractL3Request, setting: Setting) -> DocumentsResult:
    """The persona (mode chat) or the doctrine (mode code) out of scenes; only those that changed since
    `previous_scene_versions` are shown whole. None changed, no call. Raises ParameterFault."""
    begun = begin_l3(request, setting, driver.id)
    changed = changed_scenes(request)
    if error := over_budget(texts_l3(request)):
        return begun.nothing(setting.now(), error=error)
    if not changed:
        return begun.nothing(setting.now(), Diagnostic(code=NOTHING_NEW, detail="No scene is other than it was."))
    desk = DoctrineDesk(request, changed, begun.at)
    ended = await worked(driver, begun, shown(map(cleaned, rows_l3(request))), desk, setting)
    return written(request, begun.result(ended, desk, setting.now()), desk)


def begin_l2(request: ExtractL2Request, setting: Setting, model_id: str) -> Begun:
    """Raises ParameterFault: `fact-not-allowed`, `scope-mismatch`, `empty-evidence`, `kind-mismatch`, `duplicate-id`,
    `bad-content`, `strategy-layer`."""
    addition = said_by(request.strategy, Layer.L2)
    distinct([atom.id for atom in request.memories], "memory")
    _scenes(request.scenes)
    for atom in request.memories:
        if atom.kind is NoteKind.FACT:
            problem = f"{atom.id} is a fact, and scenes are made of lessons."
            raise ParameterFault("fact-not-allowed", problem, "Leave it out: a fact is recalled as it is.")
        if atom.scope_key != request.scope_key:
            raise ParameterFault("scope-mismatch", f"{atom.id} is of another scope.", "Ask for each scope by itself.")
        if not atom.evidence:
            raise ParameterFault("empty-evidence", f"{atom.id} names no evidence.", "Export it from its review.")
        readable(atom.title + atom.content, "memory")
    made_of = [
        request.scope_key,
        [[atom.id, atom.version, atom.title, atom.content] for atom in request.memories],
        [_said(scene) for scene in request.scenes],
    ]
    return _begun(setting, addition, (Layer.L2, model_id), [*made_of, request.mode, _named(request.strategy)])


def begin_l3(request: ExtractL3Request, setting: Setting, model_id: str) -> Begun:
    """Raises ParameterFault: `kind-mismatch` too when the text is not of the kind that the mode asks for."""
    addition = said_by(request.strategy, Layer.L3)
    _scenes(request.scenes)
    kind = KINDS[request.mode]
    if request.persona is not None and request.persona.kind is not kind:
        problem = f"The mode {request.mode} writes a {kind}, and was given a {request.persona.kind}."
        raise ParameterFault("kind-mismatch", problem, f"Give the {kind}, or none.")
    if request.persona is not None:
        readable(request.persona.content, kind)
    made_of = [
        request.scope_key,
        [_said(scene) for scene in request.scenes],
        None if request.persona is None else _said(request.persona),
        [[one.id, one.version] for one in request.previous_scene_versions],
    ]
    return _begun(setting, addition, (Layer.L3, model_id), [*made_of, request.mode, _named(request.strategy)])


def scene_desk(request: ExtractL2Request, begun: Begun) -> SceneDesk:
    """The desk of a run, its scenes listed: the material names them all."""
    desk = SceneDesk(request, begun.at)
    desk.used("list", {})
    return desk


def changed_scenes(request: ExtractL3Request) -> tuple[Document, ...]:
    """The scenes that are other than they were; all, when one is gone that the text may still speak of."""
    before = {one.id: one.version for one in request.previous_scene_versions}
    gone = before.keys() - {scene.id for scene in request.scenes}
    return tuple(scene for scene in request.scenes if gone or before.get(scene.id) != scene.version)


def fresh(atoms: Iterable[Atom], scenes: Iterable[Document]) -> tuple[Atom, ...]:
    """The lessons that no scene rests on yet in the version that they have now, as many as a run takes beside the
    scenes; the others are for the next one."""
    there = tuple(scenes)
    used = {(one.id, one.version) for scene in there for one in scene.evidence}
    left = MOST_CHARS - sum(len(scene.content + scene.meta.summary + scene.name) for scene in there)
    taken: list[Atom] = []
    for atom in atoms:
        size = len(atom.title + atom.content)
        if (atom.id, atom.version) not in used and size <= left:
            taken.append(atom)
            left -= size
    return tuple(taken)


def rows_l2(request: ExtractL2Request, *, all_of_it: bool = False) -> list[Row]:
    """What a run is shown: the memories whole, of the scenes a line each, or `all_of_it`."""
    memories: list[Row] = [
        {"memory": atom.id, "title": atom.title, "content": atom.content} for atom in request.memories
    ]
    return [*memories, *({"scene": whole(one) if all_of_it else _line(one)} for one in request.scenes)]


def rows_l3(request: ExtractL3Request, *, all_of_it: bool = False) -> list[Row]:
    """What a run is shown: the text as it stands, the scenes that changed whole, of the others a line each."""
    changed = {scene.id for scene in changed_scenes(request)}
    scenes: list[Row] = [
        {"scene": whole(one) | {"changed": True} if one.id in changed else whole(one) if all_of_it else _line(one)}
        for one in request.scenes
    ]
    if request.persona is None:
        return scenes
    return [{"text": without_navigation(request.persona.content)}, *scenes]


def written(request: ExtractL3Request, result: DocumentsResult, desk: DoctrineDesk) -> DocumentsResult:
    """The result of L3: an empty text is a failure, and a change names the scenes that it was made of."""
    if result.error is not None:
        return result
    if desk.empty:
        error = RunError(code=EMPTY, problem="The text that was submitted is empty.")
        return msgspec.structs.replace(result, status=RunStatus.FAILED, changes=(), error=error)
    versions = tuple(DocumentVersion(id=scene.id, version=scene.version) for scene in request.scenes)
    return msgspec.structs.replace(result, scene_versions=versions)


def _begun(setting: Setting, addition: str, by: tuple[Layer, str], made_of: list[object]) -> Begun:
    layer, model_id = by
    return Begun(
        prompt=setting.prompt,
        system=system_of(setting.prompt, addition),
        input_hash=digest([layer, *made_of]),
        model_id=model_id,
        at=setting.now(),
    )


def _scenes(scenes: tuple[Document, ...]) -> None:
    distinct([scene.id for scene in scenes], "scene")
    for scene in scenes:
        if scene.kind is not DocumentKind.SCENE:
            raise ParameterFault("kind-mismatch", f"{scene.id} is a {scene.kind}, and no scene.", "Leave it out.")
        readable(scene.name + scene.meta.summary + scene.content, "scene")


def _said(document: Document) -> list[object]:
    return [document.id, document.version, document_digest(document)]


def _named(strategy: Strategy | None) -> str:
    return "" if strategy is None else strategy.digest


def _line(scene: Document) -> dict[str, object]:
    return {"id": scene.id, "name": scene.name, "summary": scene.meta.summary}


def texts_l2(request: ExtractL2Request) -> list[str]:
    """All that a run may come to see."""
    scenes = [scene.content + scene.meta.summary + scene.name for scene in request.scenes]
    return [*scenes, *(atom.title + atom.content for atom in request.memories)]


def texts_l3(request: ExtractL3Request) -> list[str]:
    """All that a run may come to see."""
    scenes = [scene.content + scene.meta.summary + scene.name for scene in request.scenes]
    return [*scenes, request.persona.content if request.persona is not None else ""]
