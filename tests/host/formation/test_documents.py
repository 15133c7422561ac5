"""Documents from a proposal to their files: kept, edited, put away, and never half."""

import stat
from pathlib import Path

import msgspec
import pytest

from governance.formation.contracts import DocumentKind, DocumentVersion, Layer, Mode
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.queue import Outcome
from governance.review import Act, ItemFlag, ItemKind, QueueItem, Refusal, RefusalCode, State
from host.formation.documents import Outlook
from tests.support.clock import START
from tests.support.drafting import (
    SUBMIT,
    WHY,
    Json,
    a_resource,
    a_scene,
    a_skill,
    an_atom,
    call,
    creates,
    reads,
    updates,
)
from tests.support.noting import POISON, SCOPE
from tests.support.shelved import Shelved

RELEASES = a_scene(name="Releases")
FILE = "scenes/releases.md"
SKILL = a_skill("seal-the-build")
NEW_SKILL: Json = {
    "name": SKILL.name,
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


async def stale(shelf: Shelved, item: QueueItem) -> str:
    """Keeping it is refused, and nothing of it is done."""
    before = shelf.files()
    with pytest.raises(StaleRead) as refused:
        await shelf.decide(item)
    assert shelf.files() == before and (await shelf.item(item.item_id)).state is State.PENDING
    return refused.value.problem


async def test_a_proposal_waits_with_all_that_keeping_it_would_write(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)

    assert (item.kind, item.state, item.pipeline, item.target) == (ItemKind.SCENE, State.PENDING, "documents", "create")
    assert (item.title, item.text) == ("Releases: How releases go", "Run the checks before the tag.")
    assert [(one.kind, one.ref) for one in item.citations] == [
        ("reason", "The lesson is about this."),
        ("memory", an_atom().id),
    ]
    assert shelf.files() == {} and item.related_to == (an_atom().id,)


async def test_keeping_it_writes_the_file_for_its_owner_alone(shelf: Shelved) -> None:
    done = await a_kept_scene(shelf)

    text = shelf.files()[FILE]
    assert done.state is State.KEPT and "\nheat: 1\n---\n\nRun the checks before the tag.\n" in text
    file = shelf.folder / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["releases.md"]
    scene = await shelf.scene("Releases")
    assert (scene.version, scene.meta.heat, scene.meta.created) == (1, 1, START)
    assert [one.id for one in scene.evidence] == [an_atom().id]


async def test_the_next_run_changes_what_stands_there(shelf: Shelved) -> None:
    await a_kept_scene(shelf)

    (item,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)
    await shelf.kept(item)

    scene = await shelf.scene("Releases")
    assert (scene.version, scene.meta.heat, scene.content) == (2, 2, "The checks come first, then the tag.")


async def test_a_hand_edit_is_the_next_version_and_wins(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    (item,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)
    file = shelf.folder / FILE
    file.write_text(file.read_text().replace("Run the checks", "By hand: run them").replace("heat: 1", "heat: 99"))

    assert "Releases" in await stale(shelf, item)

    scene = await shelf.scene("Releases")
    assert (scene.version, scene.content, scene.meta.heat) == (2, "By hand: run them before the tag.", 1)
    (again,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)
    assert (await shelf.kept(again)).state is State.KEPT and (await shelf.scene("Releases")).version == 3


async def test_what_was_only_looked_at_counts_too(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    (item,) = await shelf.scenes(creates("Tests"), SUBMIT)  # it saw Releases in the list
    (shelf.folder / FILE).write_text((shelf.folder / FILE).read_text() + "\nMore.\n")

    assert "Releases" in await stale(shelf, item)


async def test_changes_of_one_run_do_not_stand_in_each_others_way(shelf: Shelved) -> None:
    await a_kept_scene(shelf)

    first, second = await shelf.scenes(reads(RELEASES), updates(RELEASES), creates("Tests"), SUBMIT)
    await shelf.kept(second)
    await shelf.kept(first)

    assert set(shelf.files()) == {FILE, "scenes/tests.md"} and (await shelf.scene("Releases")).version == 2


async def test_a_merge_takes_the_files_of_its_sources(shelf: Shelved) -> None:
    tests = a_scene(name="Tests")
    await a_kept_scene(shelf)
    await a_kept_scene(shelf, "Tests")
    merge = call("merge", sources=[RELEASES.id, tests.id], into="All checks", summary="Both", content="Check.", **WHY)

    (item,) = await shelf.scenes(reads(RELEASES), reads(tests), merge, SUBMIT)
    await shelf.kept(item)

    assert list(shelf.files()) == ["scenes/all-checks.md"] and (await shelf.scene("All checks")).meta.heat == 3


async def test_a_retired_scene_is_gone_and_its_name_may_come_back(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    (item,) = await shelf.scenes(reads(RELEASES), call("retire", id=RELEASES.id, **WHY), SUBMIT)
    assert item.text == "To be taken away:\n\nRun the checks before the tag." and item.title == "Releases"

    await shelf.kept(item)
    assert shelf.files() == {}
    (again,) = await shelf.scenes(creates(content="Otherwise."), SUBMIT)
    await shelf.kept(again)

    assert (await shelf.scene("Releases")).version == 3


async def test_a_person_puts_other_words_in_their_place(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)

    done = await shelf.kept(item, "Mine: checks first. \r\n")

    assert (await shelf.scene("Releases")).content == "Mine: checks first." == done.text


async def test_words_of_a_person_stay_theirs_when_it_is_put_away_and_kept_again(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)
    await shelf.kept(item, "Mine: checks first.")

    await shelf.decide(item, Act.ARCHIVE)
    assert shelf.files() == {}
    await shelf.decide(item)

    assert (await shelf.scene("Releases")).content == "Mine: checks first." == (await shelf.item(item.item_id)).text


@pytest.mark.parametrize(("text", "code"), [("x" * 1501, "over-limit"), ("", "empty"), ("heat: 5", "forged")])
async def test_words_that_no_scene_may_hold_are_refused(shelf: Shelved, text: str, code: str) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)

    with pytest.raises(ParameterFault) as refused:
        await shelf.decide(item, Act.EDIT_AND_KEEP, text)

    assert refused.value.code == code and shelf.files() == {}
    assert (await shelf.item(item.item_id)).state is State.PENDING


async def test_archived_it_leaves_no_file_and_is_not_proposed_again(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)

    done = await shelf.decide(item, Act.ARCHIVE)
    _, puts = await shelf.proposed(Layer.L2, creates(), SUBMIT)

    assert isinstance(done, QueueItem) and done.state is State.ARCHIVED and shelf.files() == {}
    assert [put.outcome for put in puts] == [Outcome.SAME]
    _, other = await shelf.proposed(Layer.L2, creates("Tags"), SUBMIT)  # the same words under another name
    assert [put.outcome for put in other] == [Outcome.BURIED]
    assert isinstance(await shelf.decide(item), QueueItem) and list(shelf.files()) == [FILE]


async def test_put_away_after_it_was_kept_the_files_say_what_they_said_before(shelf: Shelved) -> None:
    created = await a_kept_scene(shelf)
    (item,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)
    before = shelf.files()
    kept = await shelf.kept(item)

    await shelf.decide(kept, Act.ARCHIVE)
    assert shelf.files() == before and (await shelf.scene("Releases")).version == 3
    await shelf.decide(kept)
    assert (await shelf.scene("Releases")).content == "The checks come first, then the tag."

    with pytest.raises(StaleRead):  # another change came after it
        await shelf.decide(created, Act.ARCHIVE)
    await shelf.decide(kept, Act.ARCHIVE)
    assert shelf.files() == before


async def test_a_created_scene_that_is_put_away_is_gone(shelf: Shelved) -> None:
    created = await a_kept_scene(shelf)

    await shelf.decide(created, Act.ARCHIVE)

    assert shelf.files() == {} and (await shelf.item(created.item_id)).state is State.ARCHIVED


async def test_a_newer_proposal_takes_the_place_of_one_that_waits(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    (older,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)
    (newer,) = await shelf.scenes(reads(RELEASES), updates(RELEASES, content="Newer words."), SUBMIT)

    assert (await shelf.item(older.item_id)).state is State.SUPERSEDED
    _, puts = await shelf.proposed(Layer.L2, reads(RELEASES), updates(RELEASES, content="Newer words."), SUBMIT)
    assert [(put.outcome, put.item_id) for put in puts] == [(Outcome.SAME, newer.item_id)]


async def test_only_a_person_decides_and_only_once(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(), SUBMIT)
    decision = msgspec.structs.replace((await shelf.kept(item)).decisions[0], expected_revision=1)

    late = await shelf.documents.decide(await shelf.item(item.item_id), decision)

    assert isinstance(late, Refusal) and late.code is RefusalCode.CONFLICT


async def test_an_order_in_a_scene_is_flagged(shelf: Shelved) -> None:
    (item,) = await shelf.scenes(creates(content=POISON), SUBMIT)

    assert item.flags == (ItemFlag.QUARANTINED,)


async def test_the_fifteenth_scene_is_refused_also_when_it_was_proposed_before(shelf: Shelved) -> None:
    for number in range(11):
        await a_kept_scene(shelf, f"Scene {number}")
    waiting = [(await shelf.scenes(creates(f"Late {n}", content=f"Late {n}."), SUBMIT))[0] for n in range(4)]
    # What each saw stands there still: only new scenes have come since.
    for item in waiting[:3]:
        await shelf.kept(item)

    with pytest.raises(ParameterFault) as refused:
        await shelf.decide(waiting[3])

    assert refused.value.code == "capacity-exceeded" and len(shelf.files()) == 14


@pytest.mark.parametrize(("mode", "file"), [(Mode.CODE, "doctrine.md"), (Mode.CHAT, "persona.md")])
async def test_the_doctrine_keeps_the_scenes_that_it_was_made_of(shelf: Shelved, mode: Mode, file: str) -> None:
    await a_kept_scene(shelf)
    _, (put,) = await shelf.proposed(
        Layer.L3, call("submit", content="Checks first.", rationale="It says so."), mode=mode
    )
    item = await shelf.item(put.item_id)
    await shelf.kept(item, item.text.replace("Checks first.", "Checks come first."))

    assert shelf.files()[file] == "Checks come first.\n\n<!-- scenes -->\n- Releases: How releases go\n"
    assert item.kind is ItemKind.DOCTRINE
    request = await shelf.documents.l3(SCOPE, "r", mode)
    assert request.previous_scene_versions == (DocumentVersion(id=RELEASES.id, version=1),)
    again, _ = await shelf.proposed(Layer.L3, mode=mode)
    assert [one.code for one in again.diagnostics] == ["nothing-changed"]


async def test_a_doctrine_of_scenes_that_changed_is_stale(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    submit = call("submit", content="Checks first.", rationale="It says so.")
    _, (put,) = await shelf.proposed(Layer.L3, submit)
    (item,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)
    await shelf.kept(item)

    assert "Releases" in await stale(shelf, await shelf.item(put.item_id))


async def test_a_skill_is_one_item_with_what_lies_beside_it(shelf: Shelved) -> None:
    _, puts = await shelf.proposed(Layer.SKILL, call("create", **NEW_SKILL), SUBMIT)
    (item,) = [await shelf.item(put.item_id) for put in puts]
    assert item.kind is ItemKind.SKILL and "make seal\n" in item.text and "scripts/seal.sh" in item.text

    await shelf.kept(item)

    assert shelf.files() == {
        "skills/seal-the-build/SKILL.md": (
            '---\nname: "seal-the-build"\ndescription: "Seals it."\n---\n\n1. `make seal`\n'
        ),
        "skills/seal-the-build/scripts/seal.sh": "make seal\n",
    }
    skill = (await shelf.documents.standing(SCOPE)).of(DocumentKind.SKILL)[0]
    assert (skill.resources, skill.meta.summary, skill.writable) == (("scripts/seal.sh",), "Seals it.", True)


async def test_a_skill_is_edited_with_what_lies_beside_it(shelf: Shelved) -> None:
    _, (put,) = await shelf.proposed(Layer.SKILL, call("create", **NEW_SKILL), SUBMIT)
    item = await shelf.item(put.item_id)

    await shelf.kept(item, item.text.replace("make seal", "make -B seal").replace("Seals it.", "Seals all."))

    files = shelf.files()
    assert files["skills/seal-the-build/scripts/seal.sh"] == "make -B seal\n"
    assert '"Seals all."' in files["skills/seal-the-build/SKILL.md"]


async def test_a_skill_that_was_changed_loses_nothing_that_a_person_added(shelf: Shelved) -> None:
    _, (put,) = await shelf.proposed(Layer.SKILL, call("create", **NEW_SKILL), SUBMIT)
    await shelf.kept(await shelf.item(put.item_id))
    file = shelf.folder / "skills/seal-the-build/SKILL.md"
    file.write_text(file.read_text().replace("---\n\n", "license: MIT\n---\n\n"))
    beside = a_resource(SKILL.name, "scripts/seal.sh")
    why = {"evidence": ["m1"], "rationale": "It went on."}
    removes = call("update", id=SKILL.id, body="2.", resources=[{"path": "scripts/seal.sh", "content": None}], **why)

    _, (put,) = await shelf.proposed(
        Layer.SKILL, reads(SKILL), call("read", id=SKILL.id, path="scripts/seal.sh"), removes, SUBMIT
    )
    await shelf.kept(await shelf.item(put.item_id))

    assert list(shelf.files()) == ["skills/seal-the-build/SKILL.md"] and "license: MIT\n" in file.read_text()
    assert beside.id not in (await shelf.documents.standing(SCOPE)).held


async def test_a_run_is_written_down_without_words(shelf: Shelved) -> None:
    await a_kept_scene(shelf)

    ((layer, model, row),) = shelf.rows("SELECT layer, model_id, prompt || input_refs || output_refs FROM generation")
    assert (layer, model) == ("l2", "scripted:script") and "scenes" in row and "checks" not in row
    assert shelf.rows("SELECT memory_id FROM generation_ref") == [(RELEASES.id,)]


async def test_forgotten_memories_take_proposals_with_them_and_name_what_rests_on_them(shelf: Shelved) -> None:
    await a_kept_scene(shelf)
    (waiting,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)

    names = await shelf.documents.forgotten({an_atom().id, "mem_other"}, START + 9)

    gone = await shelf.item(waiting.item_id)
    assert names == ("Releases",) and (gone.state, gone.title, gone.text) == (State.SUPERSEDED, "", "")
    assert gone.citations == () and "The lesson is about this." not in str(gone)
    assert shelf.rows("SELECT count(*) FROM document_change") == [(0,)]
    assert await shelf.documents.forgotten({"mem_other"}, START + 9) == ()


async def test_a_person_is_told_what_keeping_would_replace_and_whether_it_can_be_kept(shelf: Shelved) -> None:
    (new,) = await shelf.scenes(creates(), SUBMIT)
    assert await shelf.documents.outlook(new) == Outlook()
    await shelf.kept(new)
    (item,) = await shelf.scenes(reads(RELEASES), updates(RELEASES), SUBMIT)

    fits = await shelf.documents.outlook(item)
    (shelf.folder / FILE).write_text("By hand.\n")
    stale = await shelf.documents.outlook(item)

    assert ([one.content for one in fits.replaces], fits.stale) == (["Run the checks before the tag."], "")
    assert [one.content for one in stale.replaces] == ["By hand."] and "Releases" in stale.stale
    assert await shelf.documents.outlook(msgspec.structs.replace(item, item_id="chg_none")) == Outlook()
