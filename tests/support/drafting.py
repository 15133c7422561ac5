"""What the tests of scenes, doctrine and skills share: documents, lessons, requests, and answers of a model."""

from typing import Any

from governance.formation.contracts import (
    Atom,
    AtomEvidence,
    Document,
    DocumentKind,
    DocumentMeta,
    ExtractL2Request,
    ExtractL3Request,
    ExtractSkillsRequest,
    Message,
    NoteKind,
)
from governance.formation.docform import document_id
from governance.formation.notes import Setting
from governance.formation.prompts import load
from tests.support.clock import START
from tests.support.noting import SCOPE, a_setting

Json = dict[str, Any]
PROMPTS = {"l2": "scenes@1", "doctrine": "doctrine@1", "persona": "persona@1", "skill": "skills@1"}


def setting_of(prompt: str, **fields: Any) -> Setting:
    return a_setting(prompt=load(PROMPTS[prompt]), **fields)


def an_atom(number: int = 1, content: str = "", **fields: Any) -> Atom:
    given: Json = {
        "id": f"note_{number:032x}",
        "version": 2,
        "kind": NoteKind.LESSON,
        "title": f"Lesson {number}",
        "content": content or f"Lesson {number}: run the checks before the tag.",
        "scope_key": SCOPE,
        "evidence": (AtomEvidence(id=f"s-one#{number}", version=1),),
    } | fields
    return Atom(**given)


def a_scene(number: int = 1, content: str = "", **fields: Any) -> Document:
    name = fields.pop("name", f"Scene {number}")
    given: Json = {
        "id": document_id(SCOPE, DocumentKind.SCENE, name),
        "kind": DocumentKind.SCENE,
        "name": name,
        "version": 1,
        "content": content or f"In scene {number} the checks come first.",
        "meta": DocumentMeta(created=START, updated=START, summary=f"About scene {number}", heat=number),
        "evidence": (AtomEvidence(id=f"note_{number:032x}", version=2),),
    } | fields
    return Document(**given)


def a_doctrine(content: str = "Checks come first.", **fields: Any) -> Document:
    kind = fields.pop("kind", DocumentKind.DOCTRINE)
    given: Json = {
        "id": document_id(SCOPE, kind, kind),
        "kind": kind,
        "name": str(kind),
        "version": 1,
        "content": content,
        "meta": DocumentMeta(created=START, updated=START),
    } | fields
    return Document(**given)


def a_skill(name: str = "release-a-version", body: str = "1. Run the checks.", **fields: Any) -> Document:
    given: Json = {
        "id": document_id(SCOPE, DocumentKind.SKILL, name),
        "kind": DocumentKind.SKILL,
        "name": name,
        "version": 1,
        "content": body,
        "meta": DocumentMeta(created=START, updated=START, summary="How a version gets out."),
    } | fields
    return Document(**given)


def a_resource(skill: str, path: str, content: str = "make check\n") -> Document:
    name = f"{skill}/{path}"
    return Document(
        id=document_id(SCOPE, DocumentKind.RESOURCE, name),
        kind=DocumentKind.RESOURCE,
        name=name,
        version=1,
        content=content,
    )


class SkillShelf:
    """A `Skills` over documents."""

    def __init__(self, *documents: Document) -> None:
        self._every = {one.id: one for one in documents}

    async def list(self) -> tuple[Document, ...]:
        return tuple(one for one in self._every.values() if one.kind is DocumentKind.SKILL)

    async def search(self, query: str) -> tuple[Document, ...]:
        return tuple(one for one in await self.list() if query.lower() in f"{one.name} {one.content}".lower())

    async def get(self, document_id: str) -> Document | None:
        return self._every.get(document_id)


def l2(*scenes: Document, atoms: tuple[Atom, ...] = (an_atom(),), **fields: Any) -> ExtractL2Request:
    return ExtractL2Request(run_id="r1", scope_key=SCOPE, memories=atoms, scenes=scenes, **fields)


def l3(*scenes: Document, **fields: Any) -> ExtractL3Request:
    return ExtractL3Request(run_id="r1", scope_key=SCOPE, scenes=scenes, **fields)


def of_skills(*messages: Message, **fields: Any) -> ExtractSkillsRequest:
    return ExtractSkillsRequest(run_id="r1", scope_key=SCOPE, messages=messages, **fields)


def call(tool: str, **arguments: Any) -> Json:
    """One answer that calls a tool."""
    return {"tool": tool, "arguments": arguments}


SUBMIT = call("submit")
WHY: Json = {"evidence": [an_atom().id], "rationale": "The lesson is about this."}


def creates(name: str = "Releases", **other: Any) -> Json:
    given = {"name": name, "summary": "How releases go", "content": "Run the checks before the tag."} | WHY | other
    return call("create", **given)


def updates(scene: Document, **other: Any) -> Json:
    return call("update", **({"id": scene.id, "content": "The checks come first, then the tag."} | WHY | other))


def reads(document: Document) -> Json:
    return call("read", id=document.id)
