"""A submitted task is open again: its lease is new, its chunk waits, and nothing of the answer is left."""

from pathlib import Path

from governance.team.contracts.rows import ChunkState, TaskState
from governance.team.store import reopening
from governance.team.store.submissions import Stage as Answer
from tests.support.team_stage import a_stage

WORDS = "Publish only from the release branch."


async def test_a_submitted_task_is_open_again(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        compared = await stage.draft(WORDS)
        task_id = (await stage.candidate(compared.drafts[0].draft_ref)).task_id
        before = await stage.row(task_id)

        did = await stage.database.write(lambda connection: reopening.reopened(connection, task_id, stage.now + 1))
        again = await stage.database.write(lambda connection: reopening.reopened(connection, task_id, stage.now + 2))
        after, child = await stage.row(task_id), await stage.row(compared.task_id)

        assert (did, again) == (True, False)
        assert (after.state, after.epoch, after.token, after.changed_at) == (
            TaskState.PENDING,
            before.epoch + 1,
            "",
            stage.now + 1,
        )
        assert child.state is TaskState.STALE
        assert await stage.chunk(task_id) is ChunkState.PENDING
        assert await stage.record(task_id, Answer.DRAFT) is None
