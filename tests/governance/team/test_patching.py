"""The files of a patch: the same bytes each time, over the sources that it saw, and no others."""

from pathlib import Path

import pytest

from governance.team import patching
from governance.team.contracts.consolidating import PatchOperation
from governance.team.contracts.rows import ConsolidationPayload, FileChange
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind, TeamFault
from governance.team.files import Scene, parse_scene
from governance.team.scenes import Begun, proposed
from recall.canonical import text_digest
from tests.support.clock import START
from tests.support.consolidating import MEMORY, WRITTEN, Repository, a_scene, operation, put_doctrine, put_scene

NOW = "2026-01-05T09:00:00.000Z"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.entries("Builds are cached.", "Tests run first.")
    put_scene(made.root, a_scene("builds", 5))
    put_scene(made.root, a_scene("Test runs", 3))
    return made


def payload(repository: Repository, *operations: PatchOperation) -> ConsolidationPayload:
    entries = {one.entry.id: one.digest for one in repository.tree.entries}
    return proposed(operations, entries, repository.tree, Begun(run_id="run-1", at=START))


def files(repository: Repository, made: ConsolidationPayload) -> dict[str, FileChange]:
    return {one.target_path: one for one in patching.files_of(made, repository.tree, MEMORY)}


def scene(change: FileChange) -> Scene:
    assert change.data is not None
    found = parse_scene(change.target_path, change.data)
    assert isinstance(found, Scene)
    return found


def test_a_new_scene_is_a_file_with_our_times_and_heat(repository: Repository) -> None:
    (change,) = files(repository, payload(repository, operation(name="发布流程"))).values()
    assert change.target_path.startswith(f"{MEMORY}/scenes/scene-") and change.before is None
    found = scene(change)
    assert (found.name, found.heat, found.created, found.updated) == ("发布流程", 1, found.updated, found.created)
    assert found.body == "How 发布流程 goes."


def test_a_changed_scene_keeps_when_it_was_created_and_knows_what_stood_there(repository: Repository) -> None:
    before = repository.tree.scene("builds")
    (change,) = files(repository, payload(repository, operation("update", "builds"))).values()
    found = scene(change)
    assert (found.created, found.heat) == (WRITTEN, 6)
    assert found.updated != WRITTEN
    assert before is not None and change.before == before.data


def test_a_merge_writes_one_file_and_takes_the_others_away(repository: Repository) -> None:
    merge = operation("merge", "builds", merge_sources=("builds", "Test runs"))
    made = files(repository, payload(repository, merge))
    assert {path: one.operation for path, one in made.items()} == {
        f"{MEMORY}/scenes/builds.md": "write",
        f"{MEMORY}/scenes/test-runs.md": "delete",
    }
    assert scene(made[f"{MEMORY}/scenes/builds.md"]).heat == 9
    assert made[f"{MEMORY}/scenes/test-runs.md"].before is not None


def test_the_same_payload_is_the_same_bytes(repository: Repository) -> None:
    made = payload(repository, operation(), operation("update", "builds"), operation("delete", "Test runs"))
    assert files(repository, made) == files(repository, made)
    assert list(files(repository, made)) == sorted(files(repository, made))


def test_the_doctrine_is_its_text(repository: Repository) -> None:
    made = payload(repository, operation(target="doctrine", name="", new_content="Test first.\n\n", summary=""))
    (change,) = files(repository, made).values()
    assert (change.target_path, change.data) == (f"{MEMORY}/doctrine.md", b"Test first.\n")


def test_what_a_statement_says_is_its_file(repository: Repository) -> None:
    merge = operation("merge", "builds", merge_sources=("builds", "Test runs"))
    made = payload(repository, merge, operation(based_on_entry_ids=(repository.tree.entries[0].entry.id,)))
    written = files(repository, made)
    texts = {one.statement_id: one.text for one in made.statements}
    assert texts["o-merge-builds"].encode() == written[f"{MEMORY}/scenes/builds.md"].data
    (plain, cited) = patching.assessed(made, "consolidate-1")
    assert plain.text_digest == text_digest(texts["o-merge-builds"])
    assert (plain.strength, cited.strength) == (Strength.UNKNOWN, Strength.CONTEXTUAL)
    entry = repository.tree.entries[0]
    assert [(one.evidence_id, one.pointer_digest) for one in cited.citations] == [(entry.entry.id, entry.digest)]


def test_a_deleted_scene_is_stated_by_the_empty_text(repository: Repository) -> None:
    (statement,) = payload(repository, operation("delete", "builds")).statements
    assert statement.text == ""


def drift(repository: Repository, made: ConsolidationPayload) -> str:
    problem = patching.drifted(made, repository.tree)
    with pytest.raises(TeamFault) as fault:
        files(repository, made)
    assert fault.value.kind is Kind.BINDING_DRIFT
    assert fault.value.problem == problem
    return problem


def test_a_scene_that_changed_came_or_went_is_drift(repository: Repository) -> None:
    made = payload(repository, operation())
    put_scene(repository.root, a_scene("builds", 6))
    assert "'builds'" in drift(repository, made)
    put_scene(repository.root, a_scene("builds", 5))
    assert patching.drifted(made, repository.tree) == ""
    put_scene(repository.root, a_scene("another"))
    assert "'another'" in drift(repository, made)


def test_another_doctrine_is_drift(repository: Repository) -> None:
    made = payload(repository, operation())
    put_doctrine(repository.root, "By hand.")
    assert "doctrine" in drift(repository, made)


def test_a_cited_entry_that_changed_is_drift_and_another_one_is_not(repository: Repository) -> None:
    first, second = repository.tree.entries
    made = payload(repository, operation(based_on_entry_ids=(first.entry.id,)))
    (repository.root / second.path).unlink()
    assert patching.drifted(made, repository.tree) == ""
    (repository.root / first.path).unlink()
    assert first.entry.id in drift(repository, made)


def test_what_the_sanitiser_takes_out_is_not_written(repository: Repository) -> None:
    made = payload(repository, operation(new_content="See /home/ada/notes, and <system-reminder>."))
    (change,) = files(repository, made).values()
    assert change.data is not None
    assert b"/home/ada" not in change.data and b"<system" not in change.data
