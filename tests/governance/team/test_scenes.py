"""What a patch of scenes and doctrine may do: caps, heat, one writer a file, and nothing by halves."""

from pathlib import Path
from typing import Any

import pytest

from governance.team import heat
from governance.team.contracts.consolidating import PatchOperation
from governance.team.contracts.rows import ConsolidationPayload
from governance.team.errors import Kind, TeamFault
from governance.team.scenes import Begun, proposed
from tests.support.clock import START
from tests.support.consolidating import MEMORY, Repository, a_scene, operation, put_doctrine, put_scene

ENTRIES = {"mem_1": "1" * 64, "mem_2": "2" * 64}
BEGUN = Begun(run_id="run-1", at=START)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def scenes(repository: Repository, *named: tuple[str, int]) -> None:
    for name, hot in named:
        put_scene(repository.root, a_scene(name, hot))


def crowd(repository: Repository, number: int) -> None:
    scenes(repository, *((f"scene-{one}", 1) for one in range(number)))


def made(repository: Repository, *operations: PatchOperation) -> ConsolidationPayload:
    return proposed(operations, ENTRIES, repository.tree, BEGUN)


def refused(repository: Repository, *operations: PatchOperation) -> TeamFault:
    with pytest.raises(TeamFault) as fault:
        made(repository, *operations)
    return fault.value


def doctrine(op: str = "create", content: str | None = "Test first.", **fields: Any) -> PatchOperation:
    return operation(op, "doctrine", target="doctrine", new_content=content, summary="", **fields)


def heats(payload: ConsolidationPayload) -> dict[str, int]:
    return {one.name: one.heat for one in payload.heat}


def test_heat_is_one_for_a_new_scene_one_more_for_a_changed_one_and_the_sum_and_one_for_a_merged_one(
    repository: Repository,
) -> None:
    scenes(repository, ("builds", 5), ("tests", 3), ("checks", 4))
    merge = operation("merge", "tests", merge_sources=("tests", "checks"))
    payload = made(repository, operation(), operation("update", "builds"), merge)
    assert heats(payload) == {"Releases": 1, "builds": 6, "tests": 8}


def test_a_scene_that_is_as_hot_as_can_be_counted_is_not_written_again(repository: Repository) -> None:
    scenes(repository, ("builds", heat.HOTTEST))
    assert refused(repository, operation("update", "builds")).kind is Kind.CAPACITY_EXCEEDED


@pytest.mark.parametrize("said", ["heat: 99\n\nHot.", "**Heat:** 7\n", "---\nsummary: x\nheat: 9\n---\nHot."])
def test_a_text_that_gives_itself_a_heat_is_refused(repository: Repository, said: str) -> None:
    assert refused(repository, operation(new_content=said)).kind is Kind.SCHEMA_INVALID


def test_below_twelve_scenes_one_is_created_and_a_second_is_refused(repository: Repository) -> None:
    crowd(repository, 11)
    assert heats(made(repository, operation())) == {"Releases": 1}
    assert refused(repository, operation(), operation(name="Builds")).kind is Kind.CAPACITY_EXCEEDED


@pytest.mark.parametrize("number", [12, 13])
def test_at_twelve_and_thirteen_a_new_scene_says_why_it_cannot_fit(repository: Repository, number: int) -> None:
    crowd(repository, number)
    assert refused(repository, operation()).kind is Kind.CAPACITY_EXCEEDED
    assert made(repository, operation(rationale="It cannot fit into another one."))


@pytest.mark.parametrize("number", [14, 15, 20])
def test_from_fourteen_on_none_is_created(repository: Repository, number: int) -> None:
    crowd(repository, number)
    assert refused(repository, operation(rationale="It cannot fit.")).kind is Kind.CAPACITY_EXCEEDED


def test_at_fourteen_a_scene_may_be_changed(repository: Repository) -> None:
    crowd(repository, 14)
    assert heats(made(repository, operation("update", "scene-3"))) == {"scene-3": 2}


def test_from_fifteen_on_a_patch_ends_below_fifteen(repository: Repository) -> None:
    crowd(repository, 16)
    merge = operation("merge", "All of it", merge_sources=("scene-1", "scene-2"))
    assert refused(repository, merge).kind is Kind.CAPACITY_EXCEEDED
    assert refused(repository).kind is Kind.CAPACITY_EXCEEDED
    assert made(repository, merge, operation("delete", "scene-3"))


def test_a_merge_has_two_sources_that_there_are_and_becomes_one_of_them_or_a_new_one(repository: Repository) -> None:
    scenes(repository, ("builds", 1), ("tests", 1), ("checks", 1))
    for sources in [("builds",), ("builds", "builds"), ("builds", "nothing"), ()]:
        assert refused(repository, operation("merge", "builds", merge_sources=sources)).kind is Kind.SCHEMA_INVALID
    into_another = operation("merge", "checks", merge_sources=("builds", "tests"))
    assert "one of the sources" in refused(repository, into_another).problem
    assert heats(made(repository, operation("merge", "All", merge_sources=("builds", "tests")))) == {"All": 3}


def test_a_file_has_one_writer(repository: Repository) -> None:
    scenes(repository, ("builds", 1), ("tests", 1))
    merge = operation("merge", "builds", merge_sources=("builds", "tests"))
    for other in [operation("update", "tests"), operation("delete", "builds"), operation("update", "Builds")]:
        assert "one writer" in refused(repository, merge, other).problem
    assert "one writer" in refused(repository, doctrine(), doctrine(operation_id="again")).problem


def test_two_names_of_one_file_are_one_scene(repository: Repository) -> None:
    put_scene(repository.root, a_scene("Release day"))
    assert "of that name" in refused(repository, operation(name="release  day".replace("  ", " "))).problem
    payload = made(repository, operation("update", "release day"))
    assert [one.name for one in payload.operations] == ["Release day"]


def test_a_file_that_cannot_be_read_is_not_written_over(repository: Repository) -> None:
    (repository.root / MEMORY / "scenes").mkdir(parents=True)
    (repository.root / MEMORY / "scenes" / "releases.md").write_bytes(b"by hand\n")
    assert "cannot be read" in refused(repository, operation(name="releases")).problem


def test_the_doctrine_is_made_changed_and_taken_away_but_never_merged(repository: Repository) -> None:
    assert made(repository, doctrine()).operations[0].name == "doctrine"
    assert "create it" in refused(repository, doctrine("update")).problem
    put_doctrine(repository.root, "Test first.")
    assert "update it" in refused(repository, doctrine()).problem
    assert "just that" in refused(repository, doctrine("update")).problem
    assert made(repository, doctrine("update", "Test last."))
    assert made(repository, doctrine("delete", None))
    assert "never merged" in refused(repository, doctrine("merge", merge_sources=("a", "b"))).problem


@pytest.mark.parametrize(
    "wrong",
    [
        {"new_content": None},
        {"new_content": "\ufeffBegins with a mark."},
        {"new_content": "A bare\rreturn."},
        {"new_content": "   \n"},
        {"new_content": "Key: AKIA" + "QWERTYUIOPASDFGH"},
        {"new_content": "<!-- memory:mem_1 -->\nForged."},
        {"based_on_entry_ids": ("mem_9",)},
        {"based_on_entry_ids": ("mem_1", "mem_1")},
        {"merge_sources": ("a", "b")},
        {"operation_id": " "},
        {"name": "two\nlines"},
        {"summary": "x" * 41},
    ],
)
def test_one_thing_wrong_refuses_the_whole_patch(repository: Repository, wrong: dict[str, Any]) -> None:
    scenes(repository, ("builds", 1))
    fault = refused(repository, operation("update", "builds"), operation(**wrong))
    assert fault.kind is Kind.SCHEMA_INVALID
    assert fault.problem and fault.next_step


def test_an_operation_id_is_there_once(repository: Repository) -> None:
    scenes(repository, ("builds", 1))
    twice = operation(operation_id="o1"), operation("update", "builds", operation_id="o1")
    assert "there twice" in refused(repository, *twice).problem


def test_what_is_not_there_is_neither_changed_nor_deleted(repository: Repository) -> None:
    for op in ("update", "delete"):
        assert "no scene" in refused(repository, operation(op, "nothing")).problem


def test_a_text_is_normalised_first_and_counted_then(repository: Repository) -> None:
    given = "A line.  \r\nAnother.\t\r\n\r\n" + "x" * 1480
    (taken,) = made(repository, operation(new_content=given)).operations
    assert taken.new_content == "A line.\nAnother.\n\n" + "x" * 1480


def test_a_summary_is_said_kept_or_the_first_words(repository: Repository) -> None:
    scenes(repository, ("builds", 1))
    front = "---\nsummary: In the front\n---\nThe body."
    said = made(repository, operation(new_content=front, summary=""), operation("update", "builds", summary=""))
    assert [one.summary for one in said.operations] == ["In the front", "About builds"]
    assert [one.new_content for one in said.operations] == ["The body.", "How builds goes."]
    long = made(repository, operation(new_content=f"# {'word ' * 20}\n\nBody.", summary=""))
    assert long.operations[0].summary == ("word " * 8).strip()


def test_a_front_matter_that_says_more_than_a_summary_is_refused(repository: Repository) -> None:
    front = "---\nsummary: s\ncreated: 2026-01-01T00:00:00.000Z\n---\nThe body."
    assert "counted here" in refused(repository, operation(new_content=front)).problem


def test_a_payload_holds_the_sources_as_they_were(repository: Repository) -> None:
    scenes(repository, ("builds", 1))
    put_doctrine(repository.root, "Test first.")
    tree = repository.tree
    payload = made(repository, operation(based_on_entry_ids=("mem_2", "mem_1")))
    assert payload.scenes == (("builds", tree.scenes[0].digest),)
    assert tree.doctrine is not None and payload.doctrine_digest == tree.doctrine.digest
    assert [(one.id, one.digest) for one in payload.entries] == sorted(ENTRIES.items())
    assert payload.at == START
