"""Skills at work: what a conversation taught to do becomes a SKILL.md and what lies beside it (formation.md 3).

Pure but for the port through which the skills that there are are looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from governance.formation import doctexts
from governance.formation.contracts import (
    AtomEvidence,
    ChangeOp,
    Diagnostic,
    Document,
    DocumentChange,
    DocumentKind,
    DocumentMeta,
    DocumentVersion,
    Message,
    Skills,
    ToolSpec,
)
from governance.formation.docform import document_id
from governance.formation.errors import AnswerFault
from governance.formation.scene_desk import together
from governance.formation.shelf import Shelf, before, whole
from governance.formation.tools import CREATE, IDS, READ, SUBMIT, TEXT, UPDATE, Schema, arguments, looking, tool
from recall.contracts import Frozen, Millis

NOT_WRITABLE = "not-writable"
MOST_SKILLS = 256
_NULLABLE: Schema = {"type": ["string", "null"]}
_RESOURCES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"path": TEXT, "content": _NULLABLE},
        "required": ["path", "content"],
        "additionalProperties": False,
    },
}
_WHY = {"evidence": IDS, "rationale": TEXT}
TOOLS = (
    *looking("skills"),
    tool(READ, "One skill, whole, or with `path` what lies beside it.", {"id": TEXT}, {"path": TEXT}),
    tool(
        CREATE,
        "A new skill. `evidence`: ids of the messages that taught it.",
        {"name": TEXT, "description": TEXT, "body": TEXT, **_WHY},
        {"resources": _RESOURCES},
    ),
    tool(
        UPDATE,
        "Other words for a skill that was read. A resource whose content is null is taken away.",
        {"id": TEXT, **_WHY},
        {"description": TEXT, "body": TEXT, "resources": _RESOURCES},
    ),
    tool(SUBMIT, "Everything is done as it should be: ends the run.", {}),
)


class _Args(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class _Query(_Args, frozen=True, kw_only=True):
    query: str


class _One(_Args, frozen=True, kw_only=True):
    id: str
    path: str | None = None


class _Resource(_Args, frozen=True, kw_only=True):
    path: str
    content: str | None


class _Create(_Args, frozen=True, kw_only=True):
    name: str
    description: str
    body: str
    evidence: tuple[str, ...]
    rationale: str
    resources: tuple[_Resource, ...] = ()


class _Update(_Args, frozen=True, kw_only=True):
    id: str
    evidence: tuple[str, ...]
    rationale: str
    description: str | None = None
    body: str | None = None
    resources: tuple[_Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class _Why:
    """What a change rests on, and why it is made."""

    evidence: tuple[AtomEvidence, ...]
    rationale: str


class SkillDesk:
    """The skills behind a port, and what a run makes of them. `messages`: those that the run was shown, any of which it
    may rest on. `now`: epoch ms."""

    tools: tuple[ToolSpec, ...] = TOOLS

    def __init__(self, scope_key: str, messages: Iterable[Message], skills: Skills, now: Millis) -> None:
        self._scope_key = scope_key
        self._skills = skills
        self._now = now
        self._shelf = Shelf()
        self._beside = Shelf()  # resources
        self._messages = {message.id: message for message in messages}
        self._changes: list[DocumentChange] = []
        self._written: set[str] = set()
        self._names: set[str] = set()
        self._refused: list[str] = []

    @property
    def changes(self) -> tuple[DocumentChange, ...]:
        return tuple(self._changes)

    @property
    def read_set(self) -> tuple[DocumentVersion, ...]:
        return (*self._shelf.read_set, *self._beside.read_set)

    @property
    def refused(self) -> tuple[Diagnostic, ...]:
        """Skills that are not ours to change, where a change was wanted."""
        ids = tuple(dict.fromkeys(self._refused))
        detail = "The skill is not ours to change."
        return (Diagnostic(code=NOT_WRITABLE, detail=detail, ids=ids, count=len(ids)),) if ids else ()

    async def use(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        """What a tool answers. Raises AnswerFault where it refuses."""
        match name:
            case "list":
                self._held(await self._skills.list())
                return {"skills": self._shelf.listed()}
            case "search":
                return {"skills": await self._found(arguments(given, _Query).query)}
            case "read":
                return await self._read(arguments(given, _One))
            case "create":
                return await self._create(arguments(given, _Create))
            case "update":
                return await self._update(arguments(given, _Update))
            case _:
                return {"done": True}

    def _held(self, documents: Iterable[Document]) -> None:
        for document in documents:
            self._shelf.hold(document)

    async def _found(self, query: str) -> list[dict[str, object]]:
        found = Shelf(await self._skills.search(query))
        self._held(found.held.values())
        lines = found.listed()
        for one in found.held:
            self._shelf.see(one)
        return lines

    async def _read(self, wanted: _One) -> Mapping[str, object]:
        skill = await self._skills.get(wanted.id)
        if skill is None or skill.kind is not DocumentKind.SKILL:
            raise AnswerFault("unknown-document", "There is no skill of that id: `list` gives those that there are.")
        self._held([skill])
        if wanted.path is None:
            return whole(self._shelf.read(skill.id))
        resource = await self._resource(skill, wanted.path)
        if resource is None:
            raise AnswerFault("unknown-document", "Nothing of that path lies beside the skill.")
        self._beside.hold(resource)
        return {"path": wanted.path, "content": self._beside.read(resource.id).content}

    async def _resource(self, skill: Document, path: str) -> Document | None:
        if path not in skill.resources:
            return None
        return await self._skills.get(document_id(self._scope_key, DocumentKind.RESOURCE, f"{skill.name}/{path}"))

    async def _create(self, wanted: _Create) -> Mapping[str, object]:
        name = doctexts.skill_name(wanted.name)
        there = await self._skills.list()
        if name in self._names or name in {skill.name for skill in there}:
            raise AnswerFault("name-taken", "There is a skill of that name: update it, or take another name.")
        if len(there) + len(self._names) >= MOST_SKILLS:
            raise AnswerFault("capacity-exceeded", f"There are {MOST_SKILLS} skills already: update one of them.")
        why = self._why(wanted.evidence, wanted.rationale)
        skill = Document(
            id=document_id(self._scope_key, DocumentKind.SKILL, name),
            kind=DocumentKind.SKILL,
            name=name,
            version=1,
            content=doctexts.skill_body(wanted.body),
            meta=DocumentMeta(created=self._now, updated=self._now, summary=doctexts.description(wanted.description)),
            evidence=why.evidence,
        )
        beside = await self._resources(skill, wanted.resources, why)
        return self._write((None, skill), why, beside)

    async def _update(self, wanted: _Update) -> Mapping[str, object]:
        if wanted.id in self._written:
            raise AnswerFault("already-written", f"{wanted.id} was written in this run: once is all.")
        was = self._shelf.changing(wanted.id)
        if not was.writable:
            self._refused.append(was.id)
            raise AnswerFault(NOT_WRITABLE, f"{was.name} is not ours to change: make a skill of another name, or none.")
        why = self._why(wanted.evidence, wanted.rationale)
        summary = was.meta.summary if wanted.description is None else doctexts.description(wanted.description)
        skill = msgspec.structs.replace(
            was,
            version=was.version + 1,
            content=was.content if wanted.body is None else doctexts.skill_body(wanted.body),
            meta=msgspec.structs.replace(was.meta, summary=summary, updated=self._now),
            evidence=together(was.evidence, why.evidence),
        )
        beside = await self._resources(was, wanted.resources, why)
        if not beside and (skill.content, skill.meta.summary) == (was.content, was.meta.summary):
            raise AnswerFault("no-change", "The skill says just that already.")
        return self._write((was, skill), why, beside)

    async def _resources(self, skill: Document, wanted: Sequence[_Resource], why: _Why) -> dict[str, DocumentChange]:
        """What changes beside a skill, by path. Raises AnswerFault when there would be too many, or too much."""
        paths = tuple(doctexts.resource_path(one.path) for one in wanted)
        doctexts.apart(paths)
        size = 0
        for path in skill.resources:
            kept = await self._resource(skill, path) if path not in paths else None
            size += len(kept.content.encode()) if kept is not None else 0
        found = [(one.path, await self._beside_it(skill, one, why)) for one in wanted]
        changes = {path: change for path, change in found if change is not None}
        size += sum(len(one.content.encode()) for one in wanted if one.content is not None)
        left = _left(skill, changes)
        if len(left) > doctexts.MOST_RESOURCES:
            raise AnswerFault("over-limit", f"A skill has at most {doctexts.MOST_RESOURCES} resources.")
        if size > doctexts.RESOURCE_BYTES:
            raise AnswerFault("over-limit", f"The resources of a skill have at most {doctexts.RESOURCE_BYTES} bytes.")
        doctexts.apart(left)
        return changes

    async def _beside_it(self, skill: Document, wanted: _Resource, why: _Why) -> DocumentChange | None:
        """The change of one resource; None where it says just that already."""
        was = await self._resource(skill, wanted.path)
        if was is not None:
            self._beside.hold(was)
            self._beside.changing(was.id)
        if wanted.content is None:
            if was is None:
                raise AnswerFault("unknown-document", "What is to be taken away does not lie beside the skill.")
            return _retired(was, why)
        content = doctexts.resource_text(wanted.content)
        if was is not None:
            meta = msgspec.structs.replace(was.meta, updated=self._now)
            after = msgspec.structs.replace(
                was, version=was.version + 1, content=content, meta=meta, evidence=why.evidence
            )
            return None if content == was.content else _change(was, after, why)
        name = f"{skill.name}/{wanted.path}"
        fresh = Document(
            id=document_id(self._scope_key, DocumentKind.RESOURCE, name),
            kind=DocumentKind.RESOURCE,
            name=name,
            version=1,
            content=content,
            meta=DocumentMeta(created=self._now, updated=self._now),
            evidence=why.evidence,
        )
        return _change(None, fresh, why)

    def _why(self, ids: Sequence[str], rationale: str) -> _Why:
        """Raises AnswerFault unless every id is of a message that the run was shown."""
        if not ids:
            raise AnswerFault("no-evidence", "Name in `evidence` the messages that this rests on.")
        if strange := [one for one in ids if one not in self._messages]:
            raise AnswerFault(
                "unknown-evidence", f"{len(strange)} of the ids in `evidence` are no messages shown here."
            )
        refs = [ref for one in ids for ref in self._messages[one].evidence]
        evidence = together([AtomEvidence(id=ref.id, version=ref.version) for ref in refs])
        return _Why(evidence, doctexts.rationale(rationale))

    def _write(
        self, skills: tuple[Document | None, Document], why: _Why, beside: Mapping[str, DocumentChange]
    ) -> Mapping[str, object]:
        """`skills`: before and after."""
        was, skill = skills
        skill = msgspec.structs.replace(skill, resources=_left(skill, beside))
        self._changes += [_change(was, skill, why), *beside.values()]
        self._written.add(skill.id)
        if was is None:
            self._names.add(skill.name)
        return {"id": skill.id, "resources": len(skill.resources)}


def _change(was: Document | None, after: Document, why: _Why) -> DocumentChange:
    return DocumentChange(
        op=ChangeOp.CREATE if was is None else ChangeOp.UPDATE,
        document_id=after.id,
        before=() if was is None else (before(was),),
        after=after,
        evidence=why.evidence,
        rationale=why.rationale,
    )


def _retired(was: Document, why: _Why) -> DocumentChange:
    return DocumentChange(
        op=ChangeOp.RETIRE,
        document_id=was.id,
        before=(before(was),),
        after=None,
        evidence=why.evidence,
        rationale=why.rationale,
    )


def _left(skill: Document, beside: Mapping[str, DocumentChange]) -> tuple[str, ...]:
    """The paths that lie beside a skill after these changes."""
    gone = {path for path, change in beside.items() if change.after is None}
    return tuple(sorted((set(skill.resources) | set(beside)) - gone))
