"""L3 at work: the scenes are looked at, and one text is submitted, the persona or the doctrine (formation.md 3). Pure.

The list of scenes after the text is put there by us, so what is submitted of it is left out.
"""

from collections.abc import Iterable, Mapping

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
    ExtractL3Request,
    Mode,
    ToolSpec,
)
from governance.formation.docform import document_id, with_navigation, without_navigation
from governance.formation.shelf import Shelf, before, whole
from governance.formation.tools import READ, SUBMIT, TEXT, arguments, looking, tool
from recall.contracts import Frozen, Millis

KINDS = {Mode.CHAT: DocumentKind.PERSONA, Mode.CODE: DocumentKind.DOCTRINE}
TOOLS = (
    *looking("scenes"),
    tool(READ, "One scene, whole.", {"id": TEXT}),
    tool(
        SUBMIT,
        "The whole text as it is to stand, and why it is so: ends the run.",
        {"content": TEXT, "rationale": TEXT},
    ),
)


class _Query(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: str


class _One(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str


class _Submit(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    content: str
    rationale: str


class DoctrineDesk:
    """The scenes of a request, of which `changed` are new since the text was written last; and what is submitted."""

    tools: tuple[ToolSpec, ...] = TOOLS

    def __init__(self, request: ExtractL3Request, changed: Iterable[Document], now: Millis) -> None:
        self._request = request
        self._now = now
        self._changed = tuple(changed)
        self._shelf = Shelf(request.scenes)
        self._shelf.listed()  # the list after the text names them all
        for scene in self._changed:
            self._shelf.shown(scene.id)
        self._change: DocumentChange | None = None
        self.empty = False  # whether an empty text was submitted

    @property
    def changes(self) -> tuple[DocumentChange, ...]:
        return () if self._change is None else (self._change,)

    @property
    def read_set(self) -> tuple[DocumentVersion, ...]:
        was = self._request.persona
        own = () if was is None else (DocumentVersion(id=was.id, version=was.version),)
        return (*own, *self._shelf.read_set)

    async def use(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        """What a tool answers. Raises AnswerFault where it refuses."""
        return self.used(name, given)

    def used(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        match name:
            case "list":
                return {"scenes": self._shelf.listed()}
            case "search":
                return {"scenes": self._shelf.found(arguments(given, _Query).query)}
            case "read":
                return whole(self._shelf.read(arguments(given, _One).id))
            case _:
                return self._submit(arguments(given, _Submit))

    def _submit(self, wanted: _Submit) -> Mapping[str, object]:
        kind = KINDS[self._request.mode]
        self.empty = not wanted.content.strip()
        said = without_navigation(doctexts.even(wanted.content))
        said = "" if self.empty else doctexts.body(said, kind)
        if self.empty:
            return {"done": True}  # the run is over, and has failed
        why = doctexts.rationale(wanted.rationale)
        was = self._request.persona
        if was is not None and without_navigation(was.content) == said:
            return {"done": True}
        content = with_navigation(said, self._request.scenes)
        evidence = tuple(AtomEvidence(id=scene.id, version=scene.version) for scene in self._changed)
        self._change = DocumentChange(
            op=ChangeOp.CREATE if was is None else ChangeOp.UPDATE,
            document_id=document_id(self._request.scope_key, kind, kind) if was is None else was.id,
            before=() if was is None else (before(was),),
            after=self._after(was, content, evidence),
            evidence=evidence,
            rationale=why,
        )
        return {"done": True}

    def _after(self, was: Document | None, content: str, evidence: tuple[AtomEvidence, ...]) -> Document:
        kind = KINDS[self._request.mode]
        if was is not None:
            meta = msgspec.structs.replace(was.meta, updated=self._now)
            scenes = {scene.id: scene.version for scene in self._request.scenes}
            rests = tuple(AtomEvidence(id=one, version=version) for one, version in scenes.items())
            return msgspec.structs.replace(was, version=was.version + 1, content=content, meta=meta, evidence=rests)
        return Document(
            id=document_id(self._request.scope_key, kind, kind),
            kind=kind,
            name=kind,
            version=1,
            content=content,
            meta=DocumentMeta(created=self._now, updated=self._now),
            evidence=evidence,
        )
