"""Drafts handed out to be decided about."""

import msgspec
import pytest

from governance.team.comparing import ALGORITHM
from governance.team.contracts.rows import CandidateState, ChunkState, TaskKind, TaskState
from governance.team.contracts.staging import AdjudicationTask, Staged
from governance.team.errors import Kind, TeamFault
from governance.team.pooling import batch_digest, drafts_of
from governance.team.store.submissions import Stage, StageState
from recall.analyzer import ANALYZER
from tests.support.team_recall import INSTALLATION, a_turn
from tests.support.team_stage import a_stage, fields, merge, refused

HERON = "The heron gateway is ours."


async def test_the_task_binds_everything_that_was_compared(tmp_path):
    async with a_stage(tmp_path) as stage:
        approved = stage.approve(HERON)
        task = await stage.draft("The heron is a bird.")
        binding = task.binding
        assert binding.state_uuid == INSTALLATION.uuid
        assert binding.owner == stage.bound.owner
        assert (binding.approved_projection.generation, binding.approved_projection.analyzer_version) == (1, ANALYZER)
        assert binding.candidate_projection.generation == await stage.generation()
        assert binding.recall_algorithm == ALGORITHM
        assert [(one.source_kind, one.id) for one in binding.pool_item_revisions] == [("approved", approved)]
        row = await stage.row(task.task_id)
        assert (row.kind, row.state, row.source_digest) == (
            TaskKind.ADJUDICATION,
            TaskState.PENDING,
            binding.result_set_digest,
        )
        record = await stage.record(row.parent, Stage.DRAFT)
        assert record is not None
        assert record.state is StageState.AWAITING
        assert await stage.chunk(row.parent) is ChunkState.DRAFTED


async def test_partial_entries_refuse_the_drafts_before_any_is_taken_in(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        whole = stage.syncing.read
        object.__setattr__(
            stage.syncing,
            "read",
            lambda bound: msgspec.structs.replace(whole(bound), complete=False, problem="it moved"),
        )
        await refused(Kind.SYNC_PARTIAL, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON)))
        assert await stage.states() == {}
        object.__setattr__(stage.syncing, "read", whole)
        assert isinstance(
            await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON)), AdjudicationTask
        )


async def test_who_was_stopped_after_the_drafts_goes_on_with_the_same_document(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        batch = stage.batch(task, HERON)
        opened = type(stage.staging.pooling).opened

        async def stopped(*given):
            raise KeyboardInterrupt

        type(stage.staging.pooling).opened = stopped
        try:
            with pytest.raises(KeyboardInterrupt):
                await stage.staging.draft(stage.bound, stage.call(), batch)
        finally:
            type(stage.staging.pooling).opened = opened
        record = await stage.record(task.task_id, Stage.DRAFT)
        assert record is not None
        assert record.state is StageState.ADJUDICATING
        done = await stage.staging.draft(stage.bound, stage.call("another"), batch)
        assert isinstance(done, AdjudicationTask)
        assert await stage.states() == {"draft": 1}


async def test_drafts_that_others_have_all_replaced_are_done(tmp_path):
    turns = [a_turn(place, session=session) for session in ("session-a", "session-b") for place in range(3)]
    async with a_stage(tmp_path, *turns) as stage:
        first, second = await stage.tasks()
        batch = stage.batch(first, "The heron gateway is old.")
        one = await stage.staging.draft(stage.bound, stage.call(), batch)
        two = await stage.staging.draft(stage.bound, stage.call(), stage.batch(second, HERON))
        assert isinstance(one, AdjudicationTask)
        assert isinstance(two, AdjudicationTask)
        gone = one.drafts[0].draft_ref
        own = two.drafts[0].statements[0].evidence_ids
        merged = fields((HERON, own), ("It is old.", [f"target:{gone}/s1"]))
        await stage.adjudicate(two, merge(two.drafts[0].draft_ref, [gone], merged))

        await refused(Kind.BINDING_DRIFT, stage.adjudicate(one))
        done = await stage.staging.draft(stage.bound, stage.call(), batch)
        assert isinstance(done, Staged)
        assert [said.state for said in done.candidates] == ["discarded"]
        assert await stage.chunk(first.task_id) is ChunkState.EXTRACTED
        assert await stage.staging.draft(stage.bound, stage.call(), batch) == msgspec.structs.replace(
            done, idempotent=True
        )


async def test_the_digest_of_a_batch_is_of_drafts_as_they_stand(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.draft(HERON)
        row = await stage.row(task.task_id)
        drafts = await stage.database.read(lambda c: drafts_of(c, row.parent))
        assert task.binding.draft_batch_digest == batch_digest(drafts)
        assert batch_digest(drafts) != batch_digest([msgspec.structs.replace(drafts[0], revision=2)])
        assert drafts[0].state is CandidateState.DRAFT


async def test_an_outcome_that_cannot_be_read_is_told(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        batch = stage.batch(task, HERON)
        await stage.staging.draft(stage.bound, stage.call(), batch)
        await stage.database.write(lambda c: c.execute("UPDATE team_submission SET outcome = '{'").rowcount)
        with pytest.raises(TeamFault) as fault:
            await stage.staging.draft(stage.bound, stage.call(), batch)
        assert fault.value.kind is Kind.STATE_CORRUPT
