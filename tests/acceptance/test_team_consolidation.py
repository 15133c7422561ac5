"""team.md 15, items 22 and 23: heat and the number of scenes are ours, and an empty patch is an answer."""

from pathlib import Path

import pytest

from governance.team import patching
from governance.team.contracts.consolidating import PatchOperation
from governance.team.contracts.rows import RunState
from governance.team.errors import Kind, TeamFault
from governance.team.files import Scene, parse_scene
from governance.team.heat import HOTTEST
from governance.team.store import candidates, runs
from tests.support.clock import START
from tests.support.consolidating import MEMORY, OWNER, Repository, a_scene, operation, put_scene

CJK, EMOJI, COMBINED = "长", "\U0001f680", "e\u0301"  # one, one and two code points
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # five: three people and two joiners
item_22, item_23 = pytest.mark.promise("team-22"), pytest.mark.promise("team-23")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.entries("Builds are cached.")
    return made


async def written(repository: Repository, *operations: PatchOperation) -> dict[str, Scene]:
    """The scenes that a patch would write, by their names."""
    staged = await repository.answer(await repository.task(), *operations)
    payload = repository.payload(staged.candidates[0].candidate_id)
    changes = patching.files_of(payload, repository.tree, MEMORY)
    parsed = [parse_scene(one.target_path, one.data) for one in changes if one.data is not None]
    return {one.name: one for one in parsed if isinstance(one, Scene)}


async def refused(repository: Repository, *operations: PatchOperation) -> Kind:
    task = await repository.task()
    with pytest.raises(TeamFault) as fault:
        await repository.answer(task, *operations)
    assert not candidates.of_task(repository.database.connection, task.task_id)
    assert runs.last(repository.database.connection, OWNER.worktree_key) is None
    return fault.value.kind


@item_22
async def test_item_22_heat_is_one_at_creation_six_after_five_and_eight_of_three_and_four(
    repository: Repository,
) -> None:
    for name, hot in (("five", 5), ("three", 3), ("four", 4)):
        put_scene(repository.root, a_scene(name, hot))
    merge = operation("merge", "both", merge_sources=("three", "four"))
    made = await written(repository, operation(name="new"), operation("update", "five"), merge)
    assert {name: one.heat for name, one in made.items()} == {"new": 1, "five": 6, "both": 8}


@item_22
@pytest.mark.parametrize("forged", ["heat: 9000\nWhat holds.", "What holds.\n\n- Heat: 9000"])
async def test_item_22_a_forged_heat_is_refused(repository: Repository, forged: str) -> None:
    assert await refused(repository, operation(new_content=forged)) is Kind.SCHEMA_INVALID


@item_22
@pytest.mark.parametrize(("one", "other"), [(HOTTEST, 1), (HOTTEST - 1, 1), (2**30, 2**30)])
async def test_item_22_heat_that_cannot_be_counted_is_over_capacity(
    repository: Repository, one: int, other: int
) -> None:
    put_scene(repository.root, a_scene("hot", one))
    put_scene(repository.root, a_scene("hotter", other))
    merge = operation("merge", "hot", merge_sources=("hot", "hotter"))
    assert await refused(repository, merge) is Kind.CAPACITY_EXCEEDED


@item_22
async def test_item_22_the_hottest_heat_that_can_be_counted_is_written(repository: Repository) -> None:
    put_scene(repository.root, a_scene("hot", HOTTEST - 2))
    put_scene(repository.root, a_scene("cold", 1))
    made = await written(repository, operation("merge", "hot", merge_sources=("hot", "cold")))
    assert made["hot"].heat == HOTTEST


def crowd(repository: Repository, number: int) -> None:
    for one in range(number):
        put_scene(repository.root, a_scene(f"scene-{one}"))


@item_22
async def test_item_22_at_eleven_scenes_a_patch_creates_one(repository: Repository) -> None:
    crowd(repository, 11)
    assert await refused(repository, operation(), operation(name="Another")) is Kind.CAPACITY_EXCEEDED
    assert list(await written(repository, operation())) == ["Releases"]


@item_22
@pytest.mark.parametrize("number", [12, 13])
async def test_item_22_at_twelve_and_thirteen_it_says_why_it_cannot_fit(repository: Repository, number: int) -> None:
    crowd(repository, number)
    assert await refused(repository, operation()) is Kind.CAPACITY_EXCEEDED
    assert list(await written(repository, operation(rationale="Releases cannot fit into builds."))) == ["Releases"]


@item_22
async def test_item_22_at_fourteen_none_is_created_and_those_that_there_are_may_change(
    repository: Repository,
) -> None:
    crowd(repository, 14)
    assert await refused(repository, operation(rationale="It cannot fit.")) is Kind.CAPACITY_EXCEEDED
    assert list(await written(repository, operation("update", "scene-1"))) == ["scene-1"]


@item_22
async def test_item_22_at_fifteen_a_patch_ends_below_fifteen(repository: Repository) -> None:
    crowd(repository, 15)
    assert await refused(repository, operation("update", "scene-1")) is Kind.CAPACITY_EXCEEDED
    merge = operation("merge", "scene-1", merge_sources=("scene-1", "scene-2"))
    assert list(await written(repository, merge)) == ["scene-1"]


def of_length(unit: str, length: int) -> str:
    """A text of so many code points, made of a unit and letters before it."""
    return "x" * (length % len(unit)) + unit * (length // len(unit))


@item_22
@pytest.mark.parametrize("unit", [CJK, EMOJI, FAMILY, COMBINED], ids=["cjk", "emoji", "zwj", "combining"])
async def test_item_22_texts_are_counted_in_code_points_after_normalisation(repository: Repository, unit: str) -> None:
    over = {"summary": of_length(unit, 41)}, {"new_content": of_length(unit, 1_501)}
    for wrong in over:
        assert await refused(repository, operation(**wrong)) is Kind.SCHEMA_INVALID
    doctrine = operation(name="doctrine", target="doctrine", summary="", operation_id="d")
    too_long = PatchOperation(**{**_fields(doctrine), "new_content": of_length(unit, 1_201)})
    assert await refused(repository, too_long) is Kind.SCHEMA_INVALID
    just = operation(summary=of_length(unit, 40), new_content=of_length(unit, 1_500) + "  \r\n\r\n")
    fits = PatchOperation(**{**_fields(doctrine), "new_content": of_length(unit, 1_200) + "\r\n"})
    made = await written(repository, just, fits)
    assert (made["Releases"].summary, made["Releases"].body) == (of_length(unit, 40), of_length(unit, 1_500))


def _fields(operation: PatchOperation) -> dict[str, object]:
    return {name: getattr(operation, name) for name in operation.__struct_fields__}


@item_23
async def test_item_23_an_empty_patch_is_a_run_of_its_own_and_its_entries_are_not_offered_again(
    repository: Repository,
) -> None:
    first = await repository.task()
    staged = await repository.answer(first)
    assert staged.done and staged.candidates == ()
    run = runs.last(repository.database.connection, OWNER.worktree_key)
    assert run is not None and run.state is RunState.NO_OP and run.entries == first.binding.entry_revisions
    again = await repository.synthesize()
    assert again.task is None and again.pending_run_id is None and again.due == 0


@item_23
async def test_item_23_full_looks_past_an_empty_patch_and_each_time_is_another_task(repository: Repository) -> None:
    seen = []
    for number in range(3):
        task = await repository.task("full")
        assert [one.content for one in task.entries] == ["Builds are cached."]
        seen.append(task.task_id)
        assert (await repository.answer(task, at=START + 60_000 * number)).done
    assert len(set(seen)) == 3


@item_23
async def test_item_23_what_changes_after_an_empty_patch_is_offered(repository: Repository) -> None:
    await repository.answer(await repository.task())
    repository.entries("Tests run first.", start=2)
    assert [one.content for one in (await repository.task()).entries] == ["Tests run first."]
