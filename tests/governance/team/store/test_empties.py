"""Tasks that were answered with nothing, latest first, of one worktree."""

from pathlib import Path

from governance.team.store import empties
from tests.support.team_recall import a_turn
from tests.support.team_stage import a_stage

WORDS = "Publish only from the release branch."


async def test_empty_answers_come_latest_first_and_others_do_not(tmp_path: Path) -> None:
    turns = [a_turn(place, session=f"session-{name}") for name in "abc" for place in range(3)]
    async with a_stage(tmp_path, *turns) as stage:
        first, second, third = await stage.tasks()
        for task in (first, second):
            stage.now += 1
            await stage.staging.draft(stage.bound, stage.call(), stage.batch(task))
        await stage.staging.draft(stage.bound, stage.call(), stage.batch(third, WORDS))
        key = stage.bound.owner.worktree_key

        found = await stage.database.read(lambda connection: empties.empty(connection, key, 10))
        one = await stage.database.read(lambda connection: empties.empty(connection, key, 1))
        none = await stage.database.read(lambda connection: empties.empty(connection, "another", 10))

    assert [(each.task_id, each.at, each.source) for each in found] == [
        (second.task_id, stage.now, second.session),
        (first.task_id, stage.now - 1, first.session),
    ]
    assert one == found[:1] and none == ()
