"""L2 at work: scenes are made, changed, merged and retired in memory, under the caps and with heat counted
(formation.md 3, team.md 10). Pure.

Theory of operation: below twelve scenes a run may create one. At twelve and thirteen merging is preferred, and what is
created says why it cannot fit. At fourteen nothing is created, and from fifteen on a run must end below fifteen. Each
scene is written at most once a run, after it was read. Heat is ours: 1 for what is new, one more for what is changed,
the sum and one more for what is merged.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from governance.formation import doctexts
from governance.formation.contracts import (
    AtomEvidence,
    ChangeOp,
    Document,
    DocumentChange,
    DocumentKind,
    DocumentMeta,
    DocumentVersion,
    ExtractL2Request,
    ToolSpec,
)
from governance.formation.docform import document_id, file_of
from governance.formation.errors import AnswerFault
from governance.formation.shelf import Shelf, before, whole
from governance.formation.tools import (
    CREATE,
    IDS,
    MERGE,
    READ,
    RETIRE,
    SUBMIT,
    TEXT,
    UPDATE,
    arguments,
    looking,
    tool,
)
from recall.contracts import Frozen, Millis

CREATES = 1  # a run
CROWDED, FULL, OVER = 12, 14, 15
HOTTEST = 2_147_483_647
CANNOT_FIT = "cannot fit"
_WHY = {"evidence": IDS, "rationale": TEXT}
TOOLS = (
    *looking("scenes"),
    tool(READ, "One scene, whole. A scene is changed only after it was read.", {"id": TEXT}),
    tool(CREATE, "A new scene.", {"name": TEXT, "summary": TEXT, "content": TEXT, **_WHY}),
    tool(
        UPDATE, "Other words for a scene; all of its content.", {"id": TEXT, "content": TEXT, **_WHY}, {"summary": TEXT}
    ),
    tool(
        MERGE,
        "Two or more scenes as one. `into`: the id of one of them, or the name of a new scene.",
        {"sources": IDS, "into": TEXT, "summary": TEXT, "content": TEXT, **_WHY},
    ),
    tool(RETIRE, "A scene that no longer holds.", {"id": TEXT, **_WHY}),
    tool(SUBMIT, "Everything is done as it should be: ends the run.", {}),
)


class _Args(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class _Query(_Args, frozen=True, kw_only=True):
    query: str


class _One(_Args, frozen=True, kw_only=True):
    id: str


class _Why(_Args, frozen=True, kw_only=True):
    evidence: tuple[str, ...]
    rationale: str


class _Create(_Why, frozen=True, kw_only=True):
    name: str
    summary: str
    content: str


class _Update(_Why, frozen=True, kw_only=True):
    id: str
    content: str
    summary: str | None = None


class _Merge(_Why, frozen=True, kw_only=True):
    sources: tuple[str, ...]
    into: str
    summary: str
    content: str


class _Retire(_Why, frozen=True, kw_only=True):
    id: str


class SceneDesk:
    """The scenes of a request, and what a run makes of them. `now`: epoch ms, of what is written."""

    tools: tuple[ToolSpec, ...] = TOOLS

    def __init__(self, request: ExtractL2Request, now: Millis) -> None:
        self._scope_key = request.scope_key
        self._now = now
        self._shelf = Shelf(request.scenes)
        self._atoms = {atom.id: AtomEvidence(id=atom.id, version=atom.version) for atom in request.memories}
        self._changes: list[DocumentChange] = []
        self._written: set[str] = set()
        self._gone: set[str] = set()
        self._made: dict[str, Document] = {}

    @property
    def changes(self) -> tuple[DocumentChange, ...]:
        return tuple(self._changes)

    @property
    def read_set(self) -> tuple[DocumentVersion, ...]:
        return self._shelf.read_set

    def read_all(self) -> None:
        """Every scene was shown whole."""
        for one in tuple(self._shelf.held):
            self._shelf.shown(one)

    async def use(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        """What a tool answers. Raises AnswerFault where it refuses."""
        return self.used(name, given)

    def used(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        match name:
            case "list":
                return {"scenes": [*self._shelf.listed(), *self._new()]}
            case "search":
                return {"scenes": self._shelf.found(arguments(given, _Query).query)}
            case "read":
                return whole(self._shelf.read(arguments(given, _One).id))
            case "create":
                return self._create(arguments(given, _Create))
            case "update":
                return self._update(arguments(given, _Update))
            case "merge":
                return self._merge(arguments(given, _Merge))
            case "retire":
                return self._retire(arguments(given, _Retire))
            case _:
                return self._submit()

    def _create(self, wanted: _Create) -> Mapping[str, object]:
        why = doctexts.rationale(wanted.rationale)
        self._room(why)
        scene = self._scene(wanted.name, wanted.summary, wanted.content, self._evidence(wanted.evidence))
        return self._write(ChangeOp.CREATE, (), scene, (scene.evidence, why))

    def _update(self, wanted: _Update) -> Mapping[str, object]:
        was = self._free(wanted.id)
        why, rests = doctexts.rationale(wanted.rationale), self._evidence(wanted.evidence)
        summary = was.meta.summary if wanted.summary is None else wanted.summary
        scene = msgspec.structs.replace(
            was,
            version=was.version + 1,
            content=doctexts.body(wanted.content, DocumentKind.SCENE),
            meta=msgspec.structs.replace(
                was.meta, summary=_summary(summary), updated=self._now, heat=_heat([was.meta.heat])
            ),
            evidence=together(was.evidence, rests),
        )
        if (scene.content, scene.meta.summary) == (was.content, was.meta.summary):
            raise AnswerFault("no-change", "The scene says just that already.")
        return self._write(ChangeOp.UPDATE, (was,), scene, (rests, why))

    def _merge(self, wanted: _Merge) -> Mapping[str, object]:
        if len(set(wanted.sources)) < 2 or len(set(wanted.sources)) != len(wanted.sources):
            raise AnswerFault("schema", "A merge names two different scenes or more.")
        sources = [self._free(one) for one in wanted.sources]
        why, rests = doctexts.rationale(wanted.rationale), self._evidence(wanted.evidence, *sources)
        all_of_it = together(*(one.evidence for one in sources), rests)
        into = next((one for one in sources if one.id == wanted.into), None)
        if into is None:
            scene = self._scene(wanted.into, wanted.summary, wanted.content, all_of_it, sources)
        else:
            content = doctexts.body(wanted.content, DocumentKind.SCENE)
            meta = DocumentMeta(created=into.meta.created, updated=self._now, summary=_summary(wanted.summary))
            scene = msgspec.structs.replace(
                into, version=into.version + 1, content=content, meta=meta, evidence=all_of_it
            )
        meta = msgspec.structs.replace(scene.meta, heat=_heat([one.meta.heat for one in sources]))
        scene = msgspec.structs.replace(scene, meta=meta)
        return self._write(ChangeOp.MERGE, sources, scene, (rests, why))

    def _retire(self, wanted: _Retire) -> Mapping[str, object]:
        was = self._free(wanted.id)
        why, rests = doctexts.rationale(wanted.rationale), self._evidence(wanted.evidence, was)
        return self._write(ChangeOp.RETIRE, (was,), None, (rests, why))

    def _submit(self) -> Mapping[str, object]:
        left = self._count()
        if len(self._shelf) >= OVER and left >= OVER:
            problem = f"There would be {left} scenes: merge or retire until there are fewer than {OVER}."
            raise AnswerFault("capacity-exceeded", problem)
        return {"done": True}

    def _room(self, why: str) -> None:
        """Raises AnswerFault when no scene may be created."""
        at_first = len(self._shelf)
        if at_first >= FULL:
            raise AnswerFault("capacity-exceeded", f"There are {at_first} scenes: merge instead of creating one.")
        if at_first >= CROWDED and CANNOT_FIT not in why.lower():
            problem = f"There are {at_first} scenes: merge, or say in the rationale why it {CANNOT_FIT} into one."
            raise AnswerFault("capacity-exceeded", problem)
        if sum(change.op is ChangeOp.CREATE for change in self._changes) >= CREATES:
            raise AnswerFault("capacity-exceeded", "A run creates one scene: put the rest into those that there are.")

    def _scene(
        self,
        name: str,
        summary: str,
        content: str,
        evidence: tuple[AtomEvidence, ...],
        instead: Sequence[Document] = (),
    ) -> Document:
        """A scene that is new. `instead`: those whose place it takes."""
        called = doctexts.line(name, doctexts.NAME, "the name")
        scene = Document(
            id=document_id(self._scope_key, DocumentKind.SCENE, called),
            kind=DocumentKind.SCENE,
            name=called,
            version=1,
            content=doctexts.body(content, DocumentKind.SCENE),
            meta=DocumentMeta(created=self._now, updated=self._now, summary=_summary(summary), heat=1),
            evidence=evidence,
        )
        ending = self._gone | {one.id for one in instead}
        others = [one for one in (*self._shelf.held.values(), *self._made.values()) if one.id not in ending]
        # One that is merged away in this run keeps its name until the change is applied.
        if any(file_of(one) == file_of(scene) for one in (*others, *instead)):
            raise AnswerFault("name-taken", "There is a scene of that name: update it, or take another name.")
        return scene

    def _free(self, document_id: str) -> Document:
        """A scene that was read, and not written in this run."""
        if document_id in self._written:
            raise AnswerFault("already-written", f"{document_id} was written in this run: once is all.")
        return self._shelf.changing(document_id)

    def _evidence(self, ids: Sequence[str], *beside: Document) -> tuple[AtomEvidence, ...]:
        """What a change rests on: memories of the request, or what `beside` rested on."""
        known = {one.id: one for document in beside for one in document.evidence} | self._atoms
        if strange := [one for one in ids if one not in known]:
            problem = f"{len(strange)} of the ids in `evidence` are no memories of this run."
            raise AnswerFault("unknown-evidence", problem)
        if not ids:
            raise AnswerFault("no-evidence", "Name in `evidence` the memories that this rests on.")
        return together(tuple(known[one] for one in ids))

    def _write(
        self,
        op: ChangeOp,
        was: Sequence[Document],
        after: Document | None,
        why: tuple[tuple[AtomEvidence, ...], str],
    ) -> Mapping[str, object]:
        evidence, rationale = why
        changed = after.id if after is not None else was[0].id
        ended = {one.id for one in was} - ({after.id} if after is not None else set())
        change = DocumentChange(
            op=op,
            document_id=changed,
            before=tuple(before(one) for one in was),
            after=after,
            evidence=evidence,
            rationale=rationale,
        )
        self._changes.append(change)
        self._written |= {changed, *(one.id for one in was)}
        self._gone |= ended
        if after is not None and after.id not in self._shelf.held:
            self._made[after.id] = after
        return {"id": changed, "scenes": self._count()}

    def _count(self) -> int:
        return len(self._shelf) + len(self._made) - len(self._gone)

    def _new(self) -> list[dict[str, object]]:
        return [
            {"id": one.id, "name": one.name, "summary": one.meta.summary, "new": True} for one in self._made.values()
        ]


def together(*evidence: Iterable[AtomEvidence]) -> tuple[AtomEvidence, ...]:
    """Each source once, in its newest version, in the order of first mention."""
    newest: dict[str, int] = {}
    for one in (one for group in evidence for one in group):
        newest[one.id] = max(one.version, newest.get(one.id, one.version))
    return tuple(AtomEvidence(id=one, version=version) for one, version in newest.items())


def _summary(text: str) -> str:
    return doctexts.line(text, doctexts.SCENE_SUMMARY, "the summary")


def _heat(before: Sequence[int]) -> int:
    heat = sum(before) + 1
    if heat > HOTTEST:
        raise AnswerFault("capacity-exceeded", "The heat of the scene is greater than can be counted.")
    return heat
