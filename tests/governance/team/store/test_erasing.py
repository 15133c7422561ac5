"""What leaves the team's tables with a private record that is forgotten."""

import pytest

from governance.formation.store import items
from governance.review import QUOTE, Citation, ItemKind, QueueItem, State
from governance.team import queueing
from governance.team.contracts.ports import Private
from governance.team.contracts.rows import CandidateState
from governance.team.contracts.staging import Share
from governance.team.errors import Kind
from governance.team.store import erasing
from tests.support.builders import a_memory_id
from tests.support.team_recall import FORMATS
from tests.support.team_stage import WORKSPACE, a_stage, fields, refused, update

HERON = "The heron gateway is nobody's."
RECORD = Private(memory_id=a_memory_id(1), text=HERON, revision="r1")
QUOTED = Citation(kind=QUOTE, ref="m-1", quote="the heron is nobody's", end=21, session="s", seq=3, role="user", at=1)


_STATES = "SELECT p.state, f.new FROM team_plan p JOIN team_plan_file f USING (plan_id)"


async def shared(stage):
    item = QueueItem(
        item_id="note_1",
        kind=ItemKind.NOTE,
        pipeline="notes",
        workspace_key=WORKSPACE,
        created_at=1,
        state=State.KEPT,
        citations=(QUOTED,),
        record_id=RECORD.memory_id,
    )
    await stage.database.write(lambda c: items.insert(c, item))
    await stage.tasks()
    document = Share(format=FORMATS.document("share"), item_ids=("note_1",))
    return await stage.staging.share(stage.bound, stage.call(), document)


def kept(connection, word: str) -> list[str]:
    """The tables of ours in which a word stands."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return [
        name
        for name in tables
        if name.startswith("team_")
        and any(word in str(value).lower() for row in connection.execute(f"SELECT * FROM {name}") for value in row)
    ]


async def forget(stage):
    return await stage.database.write(lambda c: erasing.erase(c, RECORD.memory_id, 9))


async def words(stage) -> list[str]:
    return await stage.database.read(lambda c: kept(c, "heron"))


@pytest.mark.parametrize("staged", [False, True])
async def test_no_table_keeps_a_word_of_what_was_shared(tmp_path, staged):
    async with a_stage(tmp_path, privates=[RECORD]) as stage:
        task = await shared(stage)
        if staged:
            await stage.adjudicate(task)
        assert "team_candidate" in await words(stage)
        assert await forget(stage) == (task.drafts[0].draft_ref,)
        assert await words(stage) == []
        held = await stage.candidate(task.drafts[0].draft_ref)
        assert (held.state, held.reason) == (CandidateState.DISCARDED, erasing.FORGOTTEN)
        assert await forget(stage) == (held.candidate_id,)


async def test_a_comparison_that_showed_it_keeps_no_word_and_the_draft_stays(tmp_path):
    async with a_stage(tmp_path, privates=[RECORD]) as stage:
        task = await stage.draft("The gateway is slow.")
        assert [one.id for one in task.pool] == [RECORD.memory_id]
        assert await forget(stage) == ()
        assert await words(stage) == []
        stage.privates.records.clear()
        await refused(Kind.BINDING_DRIFT, stage.adjudicate(task))
        assert await stage.states() == {"draft": 1}


async def test_a_candidate_is_forgotten_by_its_own_id_too(tmp_path):
    async with a_stage(tmp_path) as stage:
        one, two = await stage.staged("The heron is mine.", "The gull is ours.")
        erased = await stage.database.write(lambda c: erasing.erase(c, one.candidate_id, 9))
        assert erased == (one.candidate_id,)
        assert await words(stage) == []
        assert (await stage.candidate(two.candidate_id)) == two


async def test_what_took_its_words_over_goes_too_and_what_is_promoted_stays(tmp_path):
    async with a_stage(tmp_path, privates=[RECORD]) as stage:
        task = await stage.draft("The heron is mine.", "The heron is ours.")
        one, two = (draft.draft_ref for draft in task.drafts)
        merged = fields((HERON, ()))
        await stage.adjudicate(task, update(one, RECORD.memory_id, merged))
        assert await forget(stage) == (one,)
        assert (await stage.candidate(two)).state is CandidateState.STAGED

    async with a_stage(tmp_path / "other", privates=[RECORD]) as stage:
        task = await shared(stage)
        await stage.adjudicate(task)
        held = await stage.candidate(task.drafts[0].draft_ref)
        await stage.database.write(lambda c: queueing.promote(c, stage.queue, held, stage.call()))
        assert await forget(stage) == ()
        assert (await stage.candidate(held.candidate_id)).state is CandidateState.PROMOTED


@pytest.mark.parametrize(
    ("state", "after"), [("approved", "voided"), ("generated", "voided"), ("applying", "applying")]
)
async def test_a_plan_with_it_is_voided_and_keeps_no_bytes_but_one_that_is_being_applied(tmp_path, state, after):
    async with a_stage(tmp_path, privates=[RECORD]) as stage:
        task = await shared(stage)
        await stage.adjudicate(task)
        held = await stage.candidate(task.drafts[0].draft_ref)
        await stage.database.write(lambda c: _plan(c, state, held))
        erased = await forget(stage)
        row = await stage.database.read(lambda c: c.execute(_STATES).fetchone())
        assert row[0] == after
        if after == "voided":
            assert (erased, row[1], await words(stage)) == ((held.candidate_id,), None, [])
        else:
            assert erased == ()


def _plan(connection, state: str, candidate) -> None:
    connection.execute(
        "INSERT INTO team_plan (plan_id, repository_key, worktree_key, kind, state, plan_digest, assessment_digest,"
        " policy_version, document, number, created_at, changed_at)"
        " VALUES ('p', 'r', 'w', 'entry', ?, 'd', 'a', 'v', ?, 1, 1, 1)",
        (state, f'{{"targetPath":"{candidate.target_path}"}}'),
    )
    connection.execute(
        "INSERT INTO team_plan_candidate (plan_id, candidate_id, revision) VALUES ('p', ?, 2)",
        (candidate.candidate_id,),
    )
    connection.execute(
        "INSERT INTO team_plan_file (plan_id, place, target_path, operation, new) VALUES ('p', 0, ?, 'write', ?)",
        (candidate.target_path, b"the heron"),
    )
