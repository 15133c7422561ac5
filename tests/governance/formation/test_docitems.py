"""What a person reads of a proposal is all that keeping it would write, and comes back as it was edited."""

from typing import Any

import pytest

from governance.formation.applying import ChangeSet, Standing
from governance.formation.contracts import ChangeOp, Document, DocumentChange, DocumentsResult, Layer, RunStatus
from governance.formation.docform import navigation, with_navigation
from governance.formation.docitems import MOST_CITED, Run, edited, items_of, text_of
from governance.formation.docresults import Begun
from governance.formation.errors import ParameterFault
from governance.formation.prompts import load
from governance.formation.scene_desk import together
from governance.formation.shelf import before
from governance.formation.toolloop import Ended
from governance.review import ItemKind, QueueItem
from tests.support.clock import START
from tests.support.drafting import a_doctrine, a_resource, a_scene, a_skill, an_atom
from tests.support.noting import SCOPE

NOTHING = Standing(held={}, rows={})
RUN = Run(workspace_key=SCOPE, run_id="r1", layer=Layer.L2, at=START)
SKILL = a_skill(resources=("a.sh", "b.txt"))
BESIDE = (a_resource(SKILL.name, "a.sh", "make a\n"), a_resource(SKILL.name, "b.txt", "\n\nb without an end"))


def change(after: Document | None, was: Document | None = None, **fields: Any) -> DocumentChange:
    one = after or was
    assert one is not None
    op = ChangeOp.CREATE if was is None else ChangeOp.UPDATE if after is not None else ChangeOp.RETIRE
    given = {
        "op": op,
        "document_id": one.id,
        "before": () if was is None else (before(was),),
        "after": after,
        "evidence": one.evidence or (an_atom().evidence),
        "rationale": "So.",
    } | fields
    return DocumentChange(**given)


def result(*changes: DocumentChange) -> DocumentsResult:
    begun = Begun(prompt=load("scenes@1"), system="S", input_hash="i", model_id="m", at=START)
    return DocumentsResult(
        status=RunStatus.COMPLETED, provenance=begun.provenance(Ended(error=None), START), changes=changes
    )


def items(layer: Layer, *changes: DocumentChange, run_id: str = "r1") -> list[tuple[QueueItem, ChangeSet]]:
    run = Run(workspace_key=SCOPE, run_id=run_id, layer=layer, at=START)
    return list(items_of(run, result(*changes), NOTHING))


SKILL_CHANGES = (change(SKILL), *(change(one) for one in BESIDE))


def test_every_scene_is_an_item_and_a_skill_is_one_with_what_lies_beside_it() -> None:
    other = a_skill("other-one")
    gone = change(None, a_resource(SKILL.name, "old.txt"))

    assert [len(made.changes) for _, made in items(Layer.L2, change(a_scene(1)), change(None, a_scene(2)))] == [1, 1]
    assert [len(made.changes) for _, made in items(Layer.SKILL, *SKILL_CHANGES, gone, change(other))] == [4, 1]
    assert [item.kind for item, _ in items(Layer.L3, change(a_doctrine()))] == [ItemKind.DOCTRINE]


def test_an_item_is_the_same_whenever_the_same_is_proposed() -> None:
    (first, _), (again, _) = items(Layer.L2, change(a_scene(1)))[0], items(Layer.L2, change(a_scene(1)), run_id="r2")[0]
    others = [
        items(Layer.L2, change(a_scene(1, "Else.")))[0][0],
        items(Layer.L2, change(a_scene(1), a_scene(1, version=3)))[0][0],
        items(Layer.L2, change(None, a_scene(1)))[0][0],
    ]

    assert first.item_id == again.item_id and len({first.item_id, *(one.item_id for one in others)}) == 4


def test_an_item_cites_what_it_rests_on() -> None:
    many = together([one for n in range(99) for one in an_atom(n).evidence])
    ((item, _),) = items(Layer.L2, change(a_scene(1), evidence=many))

    assert len(item.citations) == MOST_CITED + 1
    assert item.citations[0].ref == "So." and len(item.related_to) == 99


def test_a_skill_is_read_whole() -> None:
    text = text_of((*SKILL_CHANGES, change(None, a_resource(SKILL.name, "old.txt"))), NOTHING)

    assert text.startswith('---\nname: "release-a-version"\n') and "1. Run the checks." in text
    assert "<!-- beside the skill: a.sh -->\nmake a\n" in text and "To be taken away:" in text


def test_what_was_not_touched_comes_back_as_it_was() -> None:
    ((item, made),) = items(Layer.SKILL, *SKILL_CHANGES)

    for text in (item.text, f"{item.text}\n", item.text.replace("\n", "\r\n")):
        assert edited(made, text).changes == made.changes


def test_each_part_of_a_skill_can_be_edited() -> None:
    ((item, made),) = items(Layer.SKILL, *SKILL_CHANGES)
    text = (
        item.text.replace("Run the checks", "Check").replace("make a", "make b").replace("How a version", "The way one")
    )

    skill, first, second = [one.after for one in edited(made, text).changes]

    assert skill and first and second
    assert (skill.content, skill.meta.summary) == ("1. Check.", "The way one gets out.")
    assert (first.content, second.content) == ("make b\n", BESIDE[1].content)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("<!-- beside the skill: a.sh -->\n", "", "schema"),
        ("<!-- beside the skill: a.sh -->", "<!-- beside the skill: ../a.sh -->", "schema"),
        ("make a", "make a\n<!-- beside the skill: c.sh -->\nmore", "schema"),
        ("make a", "<!-- beside the skill: a.sh -->", "schema"),
        ("1. Run the checks.", "", "empty"),
        ("How a version gets out.", "", "empty"),
        ("---\nname", "---\nnothing\nname", ""),
    ],
)
def test_a_skill_that_cannot_be_told_apart_is_not_taken(old: str, new: str, code: str) -> None:
    ((item, made),) = items(Layer.SKILL, *SKILL_CHANGES)
    assert old in item.text

    if not code:
        assert edited(made, item.text.replace(old, new)).changes == made.changes
        return
    with pytest.raises(ParameterFault) as refused:
        edited(made, item.text.replace(old, new, 1))
    assert refused.value.code == code


def test_a_doctrine_keeps_its_list_whatever_the_editor_did_to_it() -> None:
    content = with_navigation("Old.", [a_scene(1)])
    ((item, made),) = items(Layer.L3, change(a_doctrine(content)))

    for text in ("New.", item.text.replace("Old.", "New."), item.text.replace("Old.", "New.").replace("Scene 1", "x")):
        after = edited(made, text).changes[0].after
        assert after is not None and after.content == f"New.\n\n{navigation([a_scene(1)])}"


def test_what_is_taken_away_has_no_words_to_edit() -> None:
    ((_, made),) = items(Layer.L2, change(None, a_scene(1)))

    with pytest.raises(ParameterFault) as refused:
        edited(made, "Words.")
    assert refused.value.code == "body-forbidden"
