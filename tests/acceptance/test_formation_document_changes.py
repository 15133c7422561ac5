"""A change of documents that is stopped half-way, or met by somebody else's: it is there wholly or not at all, and
nothing is written outside its folder."""

from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import Layer
from governance.formation.errors import StaleRead, StateFault
from governance.review import Act, QueueItem, Refusal, RefusalCode, State
from tests.support.drafting import SUBMIT, WHY, Json, a_scene, call, creates, reads
from tests.support.shelved import Shelved, fails_at

RELEASES = a_scene(name="Releases")
FILE = "scenes/releases.md"
NEW_SKILL: Json = {
    "name": "seal-the-build",
    "description": "Seals it.",
    "body": "1. `make seal`",
    "evidence": ["m1"],
    "rationale": "It took three tries.",
    "resources": [{"path": "scripts/seal.sh", "content": "make seal\n"}],
}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelved:
    return Shelved(tmp_path / "data")


async def a_kept_scene(shelf: Shelved, name: str = "Releases") -> QueueItem:
    (item,) = await shelf.scenes(creates(name), SUBMIT)
    return await shelf.kept(item)


@pytest.mark.parametrize("point", ["planned", "file", "before-commit", "after-commit"])
async def test_what_was_left_half_done_is_finished_at_the_next_start(tmp_path: Path, point: str) -> None:
    first = Shelved(tmp_path / "data")
    await a_kept_scene(first)
    await a_kept_scene(first, "Tests")
    merge: Any = {"sources": [RELEASES.id, a_scene(name="Tests").id], "into": RELEASES.id, "summary": "Both"}
    steps = (reads(RELEASES), reads(a_scene(name="Tests")), call("merge", content="Check.", **merge, **WHY), SUBMIT)
    (item,) = await first.scenes(*steps)
    breaks = Shelved(tmp_path / "data", first.database, fails_at(point))
    with pytest.raises(StateFault):
        await breaks.decide(item)

    again = Shelved(tmp_path / "data", first.database)
    left = await again.documents.settle()

    assert left == (() if point == "after-commit" else (item.item_id,)) and await again.documents.settle() == ()
    assert (await again.item(item.item_id)).state is State.KEPT
    assert list(again.files()) == [FILE] and (await again.scene("Releases")).meta.heat == 3


async def test_a_file_that_somebody_changed_meanwhile_has_all_of_it_taken_back(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    await a_kept_scene(shelf, "Tests")
    tests = a_scene(name="Tests")
    merge: Any = {"sources": [RELEASES.id, tests.id], "into": RELEASES.id, "summary": "Both", "content": "Check."}
    (item,) = await shelf.scenes(reads(RELEASES), reads(tests), call("merge", **merge, **WHY), SUBMIT)
    before = shelf.files()

    def edits(point: str) -> None:
        if point == "planned":  # after everything was found as it was read
            (shelf.folder / "scenes/tests.md").write_text("By hand.\n")

    racing = Shelved(shelf.data, shelf.database, edits)
    with pytest.raises(StaleRead):
        await racing.decide(item)

    assert shelf.files() == {FILE: before[FILE], "scenes/tests.md": "By hand.\n"}
    assert (await shelf.item(item.item_id)).state is State.PENDING and await shelf.documents.settle() == ()


async def test_taking_back_that_was_left_half_done_is_finished_too(shelf: Shelved) -> None:
    created = await a_kept_scene(shelf)
    breaks = Shelved(shelf.data, shelf.database, fails_at("file"))
    with pytest.raises(StateFault):
        await breaks.decide(created, Act.ARCHIVE)

    await shelf.documents.settle()

    assert shelf.files() == {} and (await shelf.item(created.item_id)).state is State.ARCHIVED


async def test_a_decision_that_was_left_half_done_is_settled_before_another(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)
    with pytest.raises(StateFault):
        await Shelved(shelf.data, shelf.database, fails_at("planned")).decide(item)

    answer = await shelf.decide(item)

    assert isinstance(answer, Refusal) and answer.code is RefusalCode.CONFLICT
    assert (await shelf.item(item.item_id)).state is State.KEPT and list(shelf.files()) == [FILE]


@pytest.mark.parametrize("where", ["scenes", "skills/seal-the-build", "skills/seal-the-build/scripts"])
async def test_nothing_is_written_through_a_link(shelf: Shelved, tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = shelf.folder / where
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    if where == "scenes":
        (item,) = await shelf.scenes(creates(), SUBMIT)
    else:
        _, (put,) = await shelf.proposed(Layer.SKILL, call("create", **NEW_SKILL), SUBMIT)
        item = await shelf.item(put.item_id)

    with pytest.raises(StaleRead):
        await shelf.decide(item)

    assert list(outside.iterdir()) == [] and (await shelf.item(item.item_id)).state is State.PENDING
    assert shelf.files() == {}


async def test_a_name_leads_nowhere_else(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates("../../../etc/passwd"), SUBMIT)

    await shelf.kept(item)

    (file,) = shelf.files()
    assert file.startswith("scenes/etc-passwd-") and len(list(shelf.data.rglob("*.md"))) == 1


async def test_words_that_were_not_decided_upon_after_all_leave_the_proposal_as_it_was(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)

    def takes(point: str) -> None:
        if point == "planned":  # somebody makes the file meanwhile
            (shelf.folder / "scenes").mkdir(parents=True)
            (shelf.folder / FILE).write_text("By hand.\n")

    with pytest.raises(StaleRead):
        await Shelved(shelf.data, shelf.database, takes).decide(item, Act.EDIT_AND_KEEP, "Mine.")
    (shelf.folder / FILE).unlink()

    assert isinstance(await shelf.decide(item), QueueItem)
    assert "Run the checks before the tag." in shelf.files()[FILE]
