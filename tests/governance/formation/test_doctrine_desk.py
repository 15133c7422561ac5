"""One text out of scenes: bounded, with their list after it."""

from typing import Any

import pytest

from governance.formation.contracts import ChangeOp, Document, DocumentKind, DocumentVersion, Mode
from governance.formation.docform import navigation, with_navigation
from governance.formation.doctrine_desk import DoctrineDesk
from governance.formation.errors import AnswerFault
from tests.support.clock import START
from tests.support.drafting import a_doctrine, a_scene, l3

ONE, TWO = a_scene(1), a_scene(2)


def a_desk(*scenes: Document, **fields: Any) -> DoctrineDesk:
    return DoctrineDesk(l3(*(scenes or (ONE, TWO)), **fields), [ONE], START + 5)


def submit(desk: DoctrineDesk, content: str, rationale: str = "The scenes say so.") -> None:
    desk.used("submit", {"content": content, "rationale": rationale})


@pytest.mark.parametrize(("mode", "kind"), [(Mode.CODE, DocumentKind.DOCTRINE), (Mode.CHAT, DocumentKind.PERSONA)])
def test_the_mode_says_what_is_written(mode: Mode, kind: DocumentKind) -> None:
    desk = a_desk(mode=mode)

    submit(desk, "Checks come first.")

    (change,) = desk.changes
    assert change.after is not None
    assert (change.op, change.after.kind, change.after.name, change.after.version) == (ChangeOp.CREATE, kind, kind, 1)
    assert change.after.content == f"Checks come first.\n\n{navigation([ONE, TWO])}"
    assert [rests.id for rests in change.evidence] == [ONE.id]  # what changed


@pytest.mark.parametrize(("mode", "most"), [(Mode.CODE, 1200), (Mode.CHAT, 2000)])
def test_the_words_are_bounded_and_the_list_is_not_counted(mode: Mode, most: int) -> None:
    desk = a_desk(mode=mode)

    with pytest.raises(AnswerFault) as refused:
        submit(desk, "中" * (most + 1))
    assert (refused.value.code, desk.changes) == ("over-limit", ())
    submit(desk, "中" * most)
    assert len(desk.changes) == 1


def test_the_list_that_a_model_wrote_itself_is_left_out() -> None:
    desk = a_desk()

    submit(desk, with_navigation("Checks come first.", [a_scene(9)]))

    assert desk.changes[0].after is not None and "Scene 9" not in desk.changes[0].after.content


def test_an_update_names_what_it_was_made_of() -> None:
    was = a_doctrine(with_navigation("Old.", [ONE]), version=4)
    desk = a_desk(persona=was)

    submit(desk, "New.")

    (change,) = desk.changes
    assert change.after is not None and (change.op, change.after.version) == (ChangeOp.UPDATE, 5)
    assert [(one.id, one.version) for one in change.before] == [(was.id, 4)]
    assert {one.id for one in change.after.evidence} == {ONE.id, TWO.id}
    assert desk.read_set[0] == DocumentVersion(id=was.id, version=4) and len(desk.read_set) == 3


def test_the_same_words_are_no_change_and_an_empty_text_is_noted() -> None:
    same, empty = a_desk(persona=a_doctrine(with_navigation("Old.", [ONE]))), a_desk()

    submit(same, "Old.\n")
    submit(empty, " \n")

    assert (same.changes, same.empty, empty.changes, empty.empty) == ((), False, (), True)


def test_scenes_can_be_looked_at() -> None:
    desk = a_desk()

    assert desk.used("read", {"id": TWO.id})["content"] == TWO.content
    assert len(desk.used("list", {})["scenes"]) == 2  # type: ignore[arg-type]  # a list
    assert desk.used("search", {"query": "scene 2"})["scenes"]
    with pytest.raises(AnswerFault):
        submit(desk, "New.", rationale="")
