"""How stage documents are taken in."""

import msgspec
import pytest

from governance.team.contracts.rows import ChunkState, TaskState
from governance.team.contracts.staging import AdjudicationTask
from governance.team.errors import Kind, TeamFault
from governance.team.receiving import document_digest, faulting
from governance.team.store import submissions
from governance.team.store.submissions import Stage, StageState
from tests.support.team_recall import a_tool, a_turn, an_event
from tests.support.team_stage import a_stage, refused

HERON = "The heron gateway is ours."


def changed(place: int, **fields):
    """A turn whose tool said something else."""
    return a_turn(
        place, an_event("user", f"How is number {place} done?", place * 10), a_tool("new", place * 10 + 2), **fields
    )


async def test_the_lease_is_no_part_of_the_document(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        with_token, without = stage.batch(task, HERON, token=True), stage.batch(task, HERON)
        assert document_digest(with_token) == document_digest(without)
        assert document_digest(without) != document_digest(stage.batch(task, HERON + "!"))


async def test_material_that_has_changed_makes_the_task_stale(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        stage.recalled.history.put(changed(1, revision=2))
        await refused(Kind.BINDING_DRIFT, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON)))
        assert (await stage.row(task.task_id)).state is TaskState.STALE
        assert await stage.chunk(task.task_id) is ChunkState.STALE
        assert await stage.record(task.task_id, Stage.DRAFT) is None
        await refused(Kind.BINDING_DRIFT, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON)))
        assert (await stage.task()).task_id != task.task_id


async def test_a_wrong_echo_is_binding_drift_and_the_task_stands(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        batch = stage.batch(task, HERON)
        other = msgspec.structs.replace(batch.binding, source_input_digest="0" * 64)
        wrong = msgspec.structs.replace(batch, binding=other)
        await refused(Kind.BINDING_DRIFT, stage.staging.draft(stage.bound, stage.call(), wrong))
        assert (await stage.row(task.task_id)).state is TaskState.CLAIMED
        assert isinstance(await stage.staging.draft(stage.bound, stage.call(), batch), AdjudicationTask)


async def test_material_that_changes_while_it_is_read_makes_the_task_stale_too(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        stage.recalled.history.changes.append(changed(0, revision=2))
        await refused(Kind.BINDING_DRIFT, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON)))
        assert (await stage.row(task.task_id)).state is TaskState.STALE


async def test_material_that_cannot_be_read_leaves_the_task_as_it_is(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()

        async def torn(turn):
            raise TeamFault(Kind.COVERAGE_INCOMPLETE, "An event is missing.", "")

        stage.recalled.history.content = torn
        await refused(
            Kind.COVERAGE_INCOMPLETE, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON))
        )
        assert (await stage.row(task.task_id)).state is TaskState.CLAIMED


async def test_an_echo_that_has_no_canonical_form_is_schema_invalid(tmp_path):
    async with a_stage(tmp_path) as stage:
        batch = stage.batch(await stage.task(), HERON)
        provenance = msgspec.structs.replace(batch.binding.provenance, snapshot_seq=2**60)
        binding = msgspec.structs.replace(batch.binding, provenance=provenance)
        wrong = msgspec.structs.replace(batch, binding=binding)
        await refused(Kind.SCHEMA_INVALID, stage.staging.draft(stage.bound, stage.call(), wrong))


async def test_a_task_of_another_worktree_is_none(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        owner = msgspec.structs.replace(stage.bound.owner, worktree_key="w9")
        bound = msgspec.structs.replace(stage.bound, owner=owner)
        await refused(Kind.TASK_NOT_FOUND, stage.staging.draft(bound, stage.call(), stage.batch(task, HERON)))


async def test_who_was_stopped_before_anything_was_taken_in_may_answer_otherwise(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        batch = stage.batch(task, HERON)
        await stage.staging.receiving.begin(stage.bound, stage.call(), Stage.DRAFT, batch)  # and no further
        record = await stage.record(task.task_id, Stage.DRAFT)
        assert record is not None
        assert record.state is StageState.SUBMITTING
        done = await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, "The heron is a bird."))
        assert isinstance(done, AdjudicationTask)
        await refused(Kind.SUBMISSION_CONFLICT, stage.staging.draft(stage.bound, stage.call(), batch))


async def test_of_two_documents_at_once_one_is_taken_in(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        receiving = stage.staging.receiving
        first = await receiving.begin(stage.bound, stage.call(), Stage.DRAFT, stage.batch(task, HERON))
        second = await receiving.begin(stage.bound, stage.call(), Stage.DRAFT, stage.batch(task, "A heron flies."))
        assert await stage.database.read(lambda c: receiving.taken(c, second)) is not None
        with pytest.raises(TeamFault) as fault:
            await stage.database.read(lambda c: receiving.taken(c, first))
        assert fault.value.kind is Kind.SUBMISSION_CONFLICT


async def test_what_a_refusal_wrote_down_stays(tmp_path):
    async with a_stage(tmp_path) as stage:

        def work(connection):
            submissions.conflict(connection, "t", Stage.DRAFT, "d", 1)
            raise TeamFault(Kind.IO_ERROR, "No.", "")

        with pytest.raises(TeamFault):
            await faulting(stage.database, work)
        assert await stage.database.read(lambda c: submissions.conflicts(c, "t")) == 1
