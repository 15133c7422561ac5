"""A change is planned against all that its run read: whole, or not at all."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from governance.formation.applying import ChangeSet, ChangeState, Held, Standing, file_digest, planned, taken_back
from governance.formation.contracts import (
    ChangeOp,
    Document,
    DocumentChange,
    DocumentKind,
    DocumentState,
    DocumentVersion,
    KeptDocument,
    Layer,
)
from governance.formation.docform import file_of, written
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.shelf import before
from governance.review import Act, Decision, Principal
from tests.support.clock import START
from tests.support.drafting import a_scene
from tests.support.noting import SCOPE

ITEM, OTHER = "chg_one", "chg_other"
ONE, TWO = a_scene(1, version=4), a_scene(2)
KEEP = Decision(actor=Principal.HUMAN, kind=Act.KEEP, at=START + 9, expected_revision=1)


def row_of(document: Document, **fields: Any) -> KeptDocument:
    given = {
        "document_id": document.id,
        "kind": document.kind,
        "name": document.name,
        "version": document.version,
        "digest": file_digest(written(document)),
        "file": file_of(document),
        "updated_at": START,
        "meta": document.meta,
    } | fields
    return KeptDocument(**given)


def stands(*documents: Document, gone: Iterable[KeptDocument] = (), **rows: KeptDocument) -> Standing:
    kept = {one.id: row_of(one) for one in documents} | {row.document_id: row for row in rows.values()}
    held = {one.id: Held(document=one, kept=kept[one.id], text=written(one)) for one in documents}
    return Standing(held=held, rows=kept | {row.document_id: row for row in gone})


def an_update(document: Document = ONE, content: str = "Other words.") -> DocumentChange:
    after = msgspec.structs.replace(document, version=document.version + 1, content=content)
    return DocumentChange(
        op=ChangeOp.UPDATE,
        document_id=document.id,
        before=(before(document),),
        after=after,
        evidence=document.evidence,
        rationale="So.",
    )


def a_create(document: Document) -> DocumentChange:
    return DocumentChange(
        op=ChangeOp.CREATE,
        document_id=document.id,
        before=(),
        after=document,
        evidence=document.evidence,
        rationale="So.",
    )


def a_set(*changes: DocumentChange, seen: Iterable[Document] = (), **fields: Any) -> ChangeSet:
    read = tuple(DocumentVersion(id=one.id, version=one.version) for one in seen)
    given = {"item_id": ITEM, "workspace_key": SCOPE, "run_id": "r", "layer": Layer.L2, "at": START} | fields
    return ChangeSet(changes=changes, read_set=read, **given)


def test_an_update_writes_its_file_and_what_is_kept_of_it() -> None:
    plan = planned(a_set(an_update(), seen=[ONE, TWO]), stands(ONE, TWO), (), KEEP)

    (step,), (row,), (former,) = plan.steps, plan.rows, plan.former
    assert (step.file, step.before) == ("scenes/scene-1.md", written(ONE)) and "Other words." in (step.after or "")
    assert (row.version, row.item_id, row.digest, row.updated_at) == (5, ITEM, file_digest(step.after or ""), START + 9)
    assert (former.version, plan.then, plan.decision) == (4, ChangeState.APPLIED, KEEP)


CHANGED: list[Callable[[], Standing]] = [
    lambda: stands(ONE, msgspec.structs.replace(TWO, version=2)),
    lambda: stands(ONE),
    lambda: stands(msgspec.structs.replace(ONE, version=5), TWO),
    lambda: stands(msgspec.structs.replace(ONE, content="By hand."), TWO),
    lambda: stands(TWO),
    lambda: stands(ONE, gone=[row_of(TWO, state=DocumentState.GONE, version=2)]),
]


@pytest.mark.parametrize("standing", CHANGED)
def test_anything_that_is_other_than_it_was_read_is_stale(standing: Callable[[], Standing]) -> None:
    with pytest.raises(StaleRead):
        planned(a_set(an_update(), seen=[ONE, TWO]), standing(), (), KEEP)


def test_what_the_same_run_did_beside_it_does_not_count() -> None:
    after = msgspec.structs.replace(TWO, version=2)
    by_other = stands(ONE, after, two=row_of(after, item_id=OTHER))
    retired = stands(ONE, gone=[row_of(TWO, state=DocumentState.GONE, version=2, item_id=OTHER)])

    for standing in (by_other, retired):
        assert planned(a_set(an_update(), seen=[ONE, TWO]), standing, [OTHER], KEEP).steps
        with pytest.raises(StaleRead):
            planned(a_set(an_update(), seen=[ONE, TWO]), standing, ["chg_third"], KEEP)


def test_a_skill_that_lies_elsewhere_was_only_looked_at() -> None:
    foreign = a_scene(9)

    assert planned(a_set(an_update(), seen=[ONE, foreign], layer=Layer.SKILL), stands(ONE), (), KEEP).steps
    with pytest.raises(StaleRead):
        planned(a_set(an_update(foreign), seen=[foreign], layer=Layer.SKILL), stands(ONE), (), KEEP)


def test_a_name_that_is_taken_meanwhile_is_stale() -> None:
    taken = a_scene(7, name="New one")
    same_file = msgspec.structs.replace(taken, id="doc_else")

    for standing in (stands(taken), stands(same_file)):
        with pytest.raises(StaleRead):
            planned(a_set(a_create(taken)), standing, (), KEEP)


def test_a_name_that_comes_back_goes_on_from_its_version() -> None:
    gone = row_of(a_scene(7), state=DocumentState.GONE, version=5)

    plan = planned(a_set(a_create(a_scene(7))), stands(gone=[gone]), (), KEEP)

    assert (plan.rows[0].version, plan.rows[0].state, plan.steps[0].before) == (6, DocumentState.LIVE, None)


def test_a_merge_writes_its_target_before_it_takes_the_sources_away() -> None:
    after = msgspec.structs.replace(ONE, version=5, content="Both.")
    merge = DocumentChange(
        op=ChangeOp.MERGE,
        document_id=ONE.id,
        before=(before(ONE), before(TWO)),
        after=after,
        evidence=ONE.evidence,
        rationale="So.",
    )

    plan = planned(a_set(merge, seen=[ONE, TWO]), stands(ONE, TWO), (), KEEP)

    assert [(step.file, step.after is None) for step in plan.steps] == [
        ("scenes/scene-1.md", False),
        ("scenes/scene-2.md", True),
    ]
    assert [row.state for row in plan.rows] == [DocumentState.LIVE, DocumentState.GONE]


@pytest.mark.parametrize(("there", "fits"), [(13, True), (14, False), (20, False)])
def test_there_is_an_end_to_how_many_scenes_there_are(there: int, fits: bool) -> None:
    standing = stands(*(a_scene(number) for number in range(1, there + 1)))
    change = a_set(a_create(a_scene(99)))

    if fits:
        assert planned(change, standing, (), KEEP).steps
    else:
        with pytest.raises(ParameterFault) as refused:
            planned(change, standing, (), KEEP)
        assert refused.value.code == "capacity-exceeded"


def applied(change_set: ChangeSet, standing: Standing) -> tuple[ChangeSet, Standing]:
    """The change after it was applied, and what stands there then."""
    plan = planned(change_set, standing, (), KEEP)
    rows = dict(standing.rows) | {row.document_id: row for row in plan.rows}
    held = {key: one for key, one in standing.held.items() if rows[key].state is DocumentState.LIVE}
    for change, step in zip(change_set.changes, plan.steps, strict=True):
        if change.after is not None:
            row = rows[change.after.id]
            document = msgspec.structs.replace(change.after, version=row.version)
            held[change.after.id] = Held(document=document, kept=row, text=step.after or "")
    done = msgspec.structs.replace(change_set, state=ChangeState.APPLIED, journal=plan)
    return done, Standing(held=held, rows=rows)


def test_taken_back_the_files_say_what_they_said() -> None:
    done, standing = applied(a_set(an_update(), a_create(a_scene(3)), seen=[ONE]), stands(ONE))

    plan = taken_back(done, standing, KEEP)

    assert [(step.file, step.after) for step in plan.steps] == [
        ("scenes/scene-3.md", None),
        ("scenes/scene-1.md", written(ONE)),
    ]
    assert [(row.version, row.state, row.item_id) for row in plan.rows] == [
        (6, DocumentState.LIVE, ITEM),
        (2, DocumentState.GONE, ITEM),
    ]
    assert (plan.then, plan.earlier) == (ChangeState.WAITING, done.journal)


def test_what_was_changed_since_is_not_taken_back() -> None:
    done, standing = applied(a_set(an_update(), seen=[ONE]), stands(ONE))
    by_hand = msgspec.structs.replace(standing.rows[ONE.id], version=6, item_id="")

    for other in (
        Standing(held=standing.held, rows={ONE.id: by_hand}),
        Standing(held={}, rows=standing.rows),
        Standing(held={}, rows={}),
    ):
        with pytest.raises(StaleRead):
            taken_back(done, other, KEEP)
    with pytest.raises(StaleRead):
        taken_back(a_set(an_update()), standing, KEEP)


def test_documents_are_told_by_name() -> None:
    assert [one.name for one in stands(TWO, ONE).of(DocumentKind.SCENE)] == ["Scene 1", "Scene 2"]
    assert stands(ONE).of(DocumentKind.SKILL) == ()
