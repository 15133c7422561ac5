"""Runs of consolidation from the task to the candidate: one at a time, answered once, and never in vain."""

from pathlib import Path

import msgspec
import pytest

from governance.formation.store import items
from governance.review import ItemKind, State
from governance.team.contracts.rows import CandidateState, RunState, TaskState
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, runs, submissions, tasks
from tests.support.clock import START
from tests.support.consolidating import (
    OWNER,
    Repository,
    a_call,
    a_scene,
    operation,
    patch_of,
    put_scene,
)

HERE = OWNER.worktree_key


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.entries("Builds are cached.", "Tests run first.")
    return made


async def test_a_task_offers_what_is_new_with_the_scenes(repository: Repository) -> None:
    put_scene(repository.root, a_scene("builds", 5))
    asked = await repository.synthesize()
    assert asked.task is not None and (asked.due, asked.needed, asked.pending_run_id) == (2, 20, None)
    assert [one.content for one in asked.task.entries] == ["Builds are cached.", "Tests run first."]
    assert [(one.name, one.heat) for one in asked.task.scenes] == [("builds", 5)]
    assert asked.task.contract.prompts and asked.task.contract.rules
    assert await repository.synthesize() == asked


async def test_if_due_waits_for_twenty_entries(repository: Repository) -> None:
    asked = await repository.synthesize("if-due")
    assert asked.task is None and "2 entries" in asked.note
    repository.entries(*(f"Fact number {number}." for number in range(3, 21)), start=3)
    due = await repository.synthesize("if-due")
    assert due.task is not None and due.task.binding.replay.mode == "incremental"


async def test_a_mode_that_there_is_not_is_refused(repository: Repository) -> None:
    with pytest.raises(TeamFault) as fault:
        await repository.synthesize("now and then")
    assert fault.value.kind is Kind.REQUEST_INVALID


async def test_a_patch_is_one_staged_candidate_with_one_statement_an_operation(repository: Repository) -> None:
    task = await repository.task()
    ids = tuple(one.id for one in task.entries)
    staged = await repository.answer(task, operation(based_on_entry_ids=ids))
    (made,) = staged.candidates
    assert made.candidate_id == f"{task.task_id}-c1"
    connection = repository.database.connection
    (assessment,) = candidates.assessments(connection, made.candidate_id)
    assert assessment.strength is Strength.CONTEXTUAL
    assert [one.evidence_id for one in assessment.citations] == sorted(ids)
    assert [one.evidence_id for one in tasks.evidence(connection, task.task_id)] == sorted(ids)
    item = items.get(connection, made.candidate_id)
    assert item is not None and (item.kind, item.state, item.pipeline) == (ItemKind.SCENE, State.STAGED, "team")
    run = runs.of_candidate(connection, made.candidate_id)
    assert run is not None and run.state is RunState.PENDING_REVIEW and run.entries == task.binding.entry_revisions
    found = tasks.get(connection, task.task_id)
    assert found is not None and found.state is TaskState.SUBMITTED


async def test_the_same_patch_again_is_the_same_answer_and_another_is_refused_and_noted(
    repository: Repository,
) -> None:
    task = await repository.task()
    first = await repository.answer(task, operation())
    again = await repository.answer(task, operation(), at=START + 90_000)
    assert again == msgspec.structs.replace(first, idempotent=True)
    with pytest.raises(TeamFault) as fault:
        await repository.answer(task, operation(new_content="Other words."))
    assert fault.value.kind is Kind.SUBMISSION_CONFLICT
    assert submissions.conflicts(repository.database.connection, task.task_id) == 1


async def test_while_a_run_waits_its_id_is_the_answer(repository: Repository) -> None:
    staged = await repository.answer(await repository.task(), operation())
    waiting = await repository.synthesize("full")
    assert waiting.task is None and waiting.pending_run_id is not None
    assert f"Review and promote {staged.candidates[0].candidate_id}" in waiting.note
    put_scene(repository.root, a_scene("by-hand"))
    assert "Discard" in (await repository.synthesize()).note


async def test_a_second_task_is_not_answered_while_a_run_waits(repository: Repository) -> None:
    first, second = await repository.task("incremental"), await repository.task("full")
    await repository.answer(first, operation())
    with pytest.raises(TeamFault) as fault:
        await repository.answer(second, operation(name="Another"))
    assert fault.value.kind is Kind.TASK_NOT_CLAIMABLE


async def test_a_refused_patch_leaves_the_task_open(repository: Repository) -> None:
    task = await repository.task()
    with pytest.raises(TeamFault) as fault:
        await repository.answer(task, operation("update", "nothing"))
    assert fault.value.kind is Kind.SCHEMA_INVALID
    assert (await repository.answer(task, operation())).candidates


async def test_another_binding_is_drift_and_the_task_stays(repository: Repository) -> None:
    task = await repository.task()
    forged = msgspec.structs.replace(task, binding=msgspec.structs.replace(task.binding, entry_set_digest="0" * 64))
    with pytest.raises(TeamFault) as fault:
        await repository.answer(forged, operation())
    assert fault.value.kind is Kind.BINDING_DRIFT
    assert (await repository.answer(task, operation())).candidates


async def test_files_that_changed_make_the_task_stale_and_the_same_files_again_another_task(
    repository: Repository,
) -> None:
    task = await repository.task()
    put_scene(repository.root, a_scene("by-hand"))
    with pytest.raises(TeamFault) as fault:
        await repository.answer(task, operation())
    assert fault.value.kind is Kind.BINDING_DRIFT
    found = tasks.get(repository.database.connection, task.task_id)
    assert found is not None and found.state is TaskState.STALE
    (repository.root / repository.tree.scenes[0].path).unlink()
    again = await repository.task()
    assert again.task_id != task.task_id and again.binding.replay.attempt == 1
    assert (await repository.answer(again, operation())).candidates


async def test_a_discarded_patch_can_be_asked_for_again(repository: Repository) -> None:
    task = await repository.task()
    staged = await repository.answer(task, operation())
    runs.stale(repository.database.connection, staged.candidates[0].candidate_id, START + 90_000)
    again = await repository.task()
    assert again.task_id != task.task_id
    assert again.entries == task.entries


async def test_an_applied_run_is_not_offered_again_and_a_changed_entry_is(repository: Repository) -> None:
    staged = await repository.answer(await repository.task(), operation())
    runs.applied(repository.database.connection, staged.candidates[0].candidate_id, START + 90_000)
    assert (await repository.synthesize()).task is None
    repository.entries("Tests run last.", start=2)
    (old,) = [one for one in repository.tree.faults if one.code == "duplicate-id"][:1]
    (repository.root / next(one.path for one in repository.tree.faults if "first" in one.path)).unlink()
    assert old.code == "duplicate-id"
    assert [one.content for one in (await repository.task()).entries] == ["Tests run last."]


async def test_a_tree_that_cannot_be_read_whole_is_not_consolidated(repository: Repository, tmp_path: Path) -> None:
    scenes = repository.root / ".remora-pre" / "memory" / "scenes"
    scenes.symlink_to(tmp_path)
    with pytest.raises(TeamFault) as fault:
        await repository.synthesize()
    assert fault.value.kind is Kind.SYNC_PARTIAL


async def test_another_session_may_answer_what_one_was_handed(repository: Repository) -> None:
    task = await repository.task()
    call = a_call(START + 1_000, holder="s-two")
    staged = await repository.consolidating.patch(repository.bound, call, patch_of(task, [operation()]))
    found = candidates.get(repository.database.connection, staged.candidates[0].candidate_id)
    assert found is not None and found.state is CandidateState.STAGED


async def test_an_unknown_task_is_not_found(repository: Repository) -> None:
    task = msgspec.structs.replace(await repository.task(), task_id="consolidate-" + "0" * 64)
    with pytest.raises(TeamFault) as fault:
        await repository.answer(task, operation())
    assert fault.value.kind is Kind.TASK_NOT_FOUND


async def test_what_nobody_trusts_is_not_consolidated_and_what_we_wrote_ourselves_is(repository: Repository) -> None:
    repository.trust(False)
    none = await repository.synthesize()
    assert none.task is None and "2 more are left out" in none.note and "init" in none.note
    first = repository.tree.entries[0]
    repository.receive(repository.root / first.path)
    assert [one.id for one in (await repository.task()).entries] == [first.entry.id]
