"""What a run proposes of documents, as items of the review queue: one a scene, persona, doctrine or skill (formation.md
3, 7.1). Pure.

A person reads all that keeping an item would write: of a skill also what lies beside it, each file after a line of its
own.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from governance.formation import docform, doctexts
from governance.formation.applying import ChangeSet, Standing
from governance.formation.contracts import (
    Document,
    DocumentChange,
    DocumentKind,
    DocumentsResult,
    Layer,
)
from governance.formation.errors import AnswerFault, ParameterFault
from governance.review import REASON, Citation, ItemKind, QueueItem
from recall.canonical import short_id
from recall.contracts import Frozen, Millis

PIPELINE = "documents"
KINDS = {Layer.L2: ItemKind.SCENE, Layer.L3: ItemKind.DOCTRINE, Layer.SKILL: ItemKind.SKILL}
CITED = {Layer.L2: "memory", Layer.L3: "scene", Layer.SKILL: "message"}
MOST_CITED = 64
TAKEN_AWAY = "To be taken away:"
_BESIDE = "<!-- beside the skill: {path} -->"
_BESIDE_LINE = re.compile(r"^<!-- beside the skill: (\S+) -->$", re.MULTILINE)


class Run(Frozen, frozen=True, kw_only=True):
    """Which run proposes. `at`: epoch ms."""

    workspace_key: str
    run_id: str
    layer: Layer
    at: Millis


def items_of(run: Run, result: DocumentsResult, standing: Standing) -> tuple[tuple[QueueItem, ChangeSet], ...]:
    """The items of a result, each with what it would change; none for a result without changes."""
    return tuple(_item(run, group, result, standing) for group in _groups(result.changes))


def text_of(changes: Sequence[DocumentChange], standing: Standing) -> str:
    """What a person reads of a change."""
    first = changes[0]
    if first.after is None:
        was = standing.held.get(first.document_id)
        return f"{TAKEN_AWAY}\n\n{was.document.content if was is not None else ''}".strip()
    if first.after.kind is not DocumentKind.SKILL:
        return first.after.content
    pieces = [docform.written(first.after)]
    for change in changes[1:]:
        path = _path(change, standing)
        said = change.after.content if change.after is not None else TAKEN_AWAY
        pieces.append(f"{_BESIDE.format(path=path)}\n{said}")
    return "\n".join(pieces)


def edited(change_set: ChangeSet, text: str) -> ChangeSet:
    """The change with a person's words in the place of those proposed: of a skill all of its text, in the form in which
    it was shown. Raises ParameterFault when no document may hold them."""
    first = change_set.changes[0]
    if first.after is None:
        raise ParameterFault("body-forbidden", "What is taken away has no words.", "Keep it, or archive it.")
    try:
        changes = (_skill if first.after.kind is DocumentKind.SKILL else _body)(change_set.changes, first.after, text)
    except AnswerFault as fault:
        raise ParameterFault(fault.code, fault.problem, "Change the words, and decide again.") from fault
    return msgspec.structs.replace(change_set, changes=changes)


def _item(
    run: Run, changes: tuple[DocumentChange, ...], result: DocumentsResult, standing: Standing
) -> tuple[QueueItem, ChangeSet]:
    first = changes[0]
    proposed = [
        [change.op, change.document_id, [[one.id, one.version, one.digest] for one in change.before], _said(change)]
        for change in changes
    ]
    item_id = short_id("chg_", [run.workspace_key, run.layer, proposed])
    ids = tuple(dict.fromkeys(one.id for change in changes for one in change.evidence))
    item = QueueItem(
        item_id=item_id,
        kind=KINDS[run.layer],
        pipeline=PIPELINE,
        workspace_key=run.workspace_key,
        created_at=run.at,
        title=_title(first, standing),
        text=text_of(changes, standing),
        citations=(
            Citation(kind=REASON, ref=first.rationale),
            *(Citation(kind=CITED[run.layer], ref=one) for one in ids[:MOST_CITED]),
        ),
        proposed_by=result.provenance.model_id,
        related_to=ids if run.layer is Layer.L2 else (),
        target=first.op,
    )
    change_set = ChangeSet(
        item_id=item_id,
        workspace_key=run.workspace_key,
        run_id=run.run_id,
        layer=run.layer,
        changes=changes,
        read_set=result.read_set,
        at=run.at,
        scene_versions=result.scene_versions,
    )
    return item, change_set


def _groups(changes: Sequence[DocumentChange]) -> list[tuple[DocumentChange, ...]]:
    """A skill and what lies beside it are one; every other document is one by itself."""
    groups: list[list[DocumentChange]] = []
    for change in changes:
        # What lies beside a skill follows it; of a resource that is taken away only its place here tells that.
        beside = change.after is None if groups and _is_skill(groups[-1][0]) else False
        beside = beside or (change.after is not None and change.after.kind is DocumentKind.RESOURCE)
        if beside and groups:
            groups[-1].append(change)
        else:
            groups.append([change])
    return [tuple(group) for group in groups]


def _is_skill(change: DocumentChange) -> bool:
    return change.after is not None and change.after.kind is DocumentKind.SKILL


def _said(change: DocumentChange) -> str | None:
    return None if change.after is None else docform.document_digest(change.after)


def _title(change: DocumentChange, standing: Standing) -> str:
    after = change.after
    if after is None:
        held = standing.held.get(change.document_id)
        return held.document.name if held is not None else change.document_id
    return f"{after.name}: {after.meta.summary}" if after.kind is DocumentKind.SCENE else after.name


def _path(change: DocumentChange, standing: Standing) -> str:
    held = standing.held.get(change.document_id)
    name = change.after.name if change.after is not None else held.document.name if held is not None else ""
    return name.partition("/")[2]


def _body(changes: tuple[DocumentChange, ...], after: Document, text: str) -> tuple[DocumentChange, ...]:
    """Other words for a scene, persona or doctrine. Raises AnswerFault."""
    said = docform.without_navigation(doctexts.even(text)) if after.kind in docform.ALONE else text
    content = docform.renavigated(doctexts.body(said, after.kind), after.content)
    return (_with(changes[0], after, content), *changes[1:])


def _skill(changes: tuple[DocumentChange, ...], after: Document, text: str) -> tuple[DocumentChange, ...]:
    """Other words for a skill and what lies beside it. Raises AnswerFault."""
    said, *rest = _BESIDE_LINE.split(doctexts.even(text))
    given: Mapping[str, str] = dict(zip(rest[::2], rest[1::2], strict=True))
    written = {change.after.name.partition("/")[2]: change for change in changes[1:] if change.after is not None}
    sections = len(rest) // 2
    if not len(given) == sections == len(changes) - 1 or not written.keys() <= given.keys():
        problem = "Each file beside the skill keeps its line and its place."
        raise AnswerFault("schema", problem)
    front = docform.read_front(said, DocumentKind.SKILL)
    meta = msgspec.structs.replace(
        after.meta, summary=doctexts.description(str(front.said.get("description", after.meta.summary)))
    )
    skill = msgspec.structs.replace(after, meta=meta)
    first = _with(changes[0], skill, doctexts.skill_body(front.body))
    others: list[DocumentChange] = []
    for change in changes[1:]:
        if change.after is None:
            others.append(change)
        else:
            words = given[change.after.name.partition("/")[2]].strip("\n")
            same = words == change.after.content.strip("\n")  # line ends around it are the form's, not the person's
            content = change.after.content if same else doctexts.resource_text(f"{words}\n")
            others.append(_with(change, change.after, content))
    return (first, *others)


def _with(change: DocumentChange, after: Document, content: str) -> DocumentChange:
    return msgspec.structs.replace(change, after=msgspec.structs.replace(after, content=content))
