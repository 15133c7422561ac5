"""Decisions about drafts, carried out."""

import pytest

from governance.team import payloads
from governance.team.contracts.ports import Private
from governance.team.contracts.rows import CandidateState, ChunkState, TaskState
from governance.team.contracts.staging import AdjudicationTask
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind
from governance.team.settling import FROM_PRIVATE
from recall.team_entry import CommitRef, EntryEvidence
from tests.support.team_recall import a_turn
from tests.support.team_stage import a_stage, fields, merge, refused, skip, update

HERON = "The heron gateway is ours."
HASH = "a" * 40
TURNS = [a_turn(place, session=session) for session in ("session-a", "session-b") for place in range(3)]


async def two(stage) -> tuple[str, AdjudicationTask]:
    """A staged candidate, and a task with one draft near to it."""
    first, second = await stage.tasks()
    one = await stage.staging.draft(stage.bound, stage.call(), stage.batch(first, "The heron gateway is old."))
    await stage.adjudicate(one)
    task = await stage.staging.draft(stage.bound, stage.call(), stage.batch(second, HERON))
    assert isinstance(task, AdjudicationTask)
    return one.drafts[0].draft_ref, task


async def test_an_update_rewrites_draft_path_search_and_assessments(tmp_path):
    async with a_stage(tmp_path) as stage:
        old = stage.approve(
            "The heron gateway is theirs.",
            occurred=("2026-02-03",),
            evidence=EntryEvidence(commits=(CommitRef(repo=None, hash=HASH),), paths=("src/heron.py",)),
            provenance_strength="observed",
            limitations=("old-limit",),
        )
        task = await stage.draft(HERON)
        before = await stage.candidate(task.drafts[0].draft_ref)
        own = task.drafts[0].statements[0].evidence_ids[0]
        merged = fields(
            ("The gateway of herons is ours.", [own]),
            ("It was theirs.", [f"target:{old}/content"]),
            type="work_artifact",
            priority=3,
            scene="Gateways",
        )
        done = await stage.adjudicate(task, update(before.candidate_id, old, merged))
        after = await stage.candidate(done.candidates[0].candidate_id)
        payload = payloads.entry(after)
        assert (payload.type, payload.priority, payload.scene, payload.confidence) == (
            "work_artifact",
            3,
            "Gateways",
            "high",
        )
        assert (after.memory_id, after.revision) == (before.memory_id, before.revision + 1)
        assert after.target_path != before.target_path
        assert "the-gateway-of-herons-is-ours" in after.target_path
        assert "2026-02-03" in payload.occurred
        assert (payload.commits, payload.paths) == ((HASH,), ("src/heron.py",))
        m1, m2 = await stage.assessments(after.candidate_id)
        assert (m1.strength, m2.strength) == (Strength.DIRECT, Strength.OBSERVED)
        assert m2.limitations == ("old-limit",)
        assert [cited.evidence_id for cited in m2.citations] == [f"target:{old}/content"]
        assert m1.revision == after.revision


async def test_what_is_not_inherited_of_is_not_told_of(tmp_path):
    async with a_stage(tmp_path) as stage:
        old = stage.approve("The heron gateway is theirs.", occurred=("2026-02-03",))
        task = await stage.draft(HERON)
        own = task.drafts[0].statements[0].evidence_ids
        done = await stage.adjudicate(task, update(task.drafts[0].draft_ref, old, fields((HERON, own))))
        payload = payloads.entry(await stage.candidate(done.candidates[0].candidate_id))
        assert "2026-02-03" not in payload.occurred


async def test_a_private_record_is_recorded_as_superseded_and_gives_what_it_can(tmp_path):
    private = Private(memory_id="mem_" + "9" * 32, text="The heron gateway is mine.", revision="r1")
    async with a_stage(tmp_path, privates=[private]) as stage:
        task = await stage.draft(HERON)
        merged = fields((HERON, [f"target:{private.memory_id}/content"]))
        done = await stage.adjudicate(task, update(task.drafts[0].draft_ref, private.memory_id, merged))
        (said,) = done.candidates
        assert said.supersedes == (private.memory_id,)
        (made,) = await stage.assessments(said.candidate_id)
        assert (made.strength, made.limitations) == (Strength.CONTEXTUAL, (FROM_PRIVATE,))


@pytest.mark.parametrize(
    "cited", ["ev-99-000000000000", "target:mem_x/content", "target:{old}/s9", "target:", "target:{old}"]
)
async def test_evidence_that_nobody_can_cite_is_refused_and_nothing_is_changed(tmp_path, cited):
    async with a_stage(tmp_path) as stage:
        old = stage.approve("The heron gateway is theirs.")
        task = await stage.draft(HERON)
        merged = fields((HERON, [cited.replace("{old}", old)]))
        await refused(Kind.SCHEMA_INVALID, stage.adjudicate(task, update(task.drafts[0].draft_ref, old, merged)))
        assert await stage.states() == {"draft": 1}
        assert (await stage.row(task.task_id)).state is TaskState.PENDING
        await stage.adjudicate(task)


async def test_dates_are_those_of_what_is_cited(tmp_path):
    async with a_stage(tmp_path) as stage:
        old = stage.approve("The heron gateway is theirs.", occurred=("2026-02-03",))
        task = await stage.draft(HERON)
        ref, cited = task.drafts[0].draft_ref, [f"target:{old}/content"]
        wrong = fields((HERON, cited), occurred=("2026-02-04",))
        await refused(Kind.SCHEMA_INVALID, stage.adjudicate(task, update(ref, old, wrong)))
        await stage.adjudicate(task, update(ref, old, fields((HERON, cited), occurred=("2026-02-03",))))
        assert payloads.entry(await stage.candidate(ref)).occurred == ("2026-02-03",)


async def test_a_candidate_that_is_merged_hands_on_what_it_was_to_supersede(tmp_path):
    async with a_stage(tmp_path, *TURNS) as stage:
        old = stage.approve("The heron gateway is theirs.")
        first, second = await stage.tasks()
        one = await stage.staging.draft(stage.bound, stage.call(), stage.batch(first, "The heron gateway is old."))
        ref = one.drafts[0].draft_ref
        await stage.adjudicate(one, update(ref, old, fields(("The heron gateway is old.", ()))))
        task = await stage.staging.draft(stage.bound, stage.call(), stage.batch(second, HERON))
        done = await stage.adjudicate(task, merge(task.drafts[0].draft_ref, [ref], fields((HERON, ()))))
        assert done.candidates[0].supersedes == (old,)
        gone = await stage.candidate(ref)
        assert gone.state is CandidateState.DISCARDED
        assert gone.reason == f"replaced by {task.drafts[0].draft_ref}"


async def test_a_draft_of_the_batch_may_cover_another(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.draft(HERON, "The heron gateway is ours now.")
        one, other = (draft.draft_ref for draft in task.drafts)
        done = await stage.adjudicate(task, skip(one, other))
        assert [(said.state, said.covered_by) for said in done.candidates] == [("discarded", (other,)), ("staged", ())]


@pytest.mark.parametrize("state", ["approved", "applying"])
async def test_a_target_of_an_approved_plan_makes_the_task_stale_and_leaves_the_drafts(tmp_path, state):
    async with a_stage(tmp_path, *TURNS) as stage:
        target, task = await two(stage)
        await stage.database.write(lambda c: _plan(c, stage.bound.owner, state, candidate=target))
        merged = fields((HERON, ()))
        await refused(Kind.BINDING_DRIFT, stage.adjudicate(task, update(task.drafts[0].draft_ref, target, merged)))
        assert (await stage.row(task.task_id)).state is TaskState.STALE
        assert (await stage.candidate(target)).state is CandidateState.STAGED
        assert await stage.states() == {"draft": 1, "staged": 1}


async def test_an_entry_that_an_approved_plan_is_about_is_not_replaced(tmp_path):
    async with a_stage(tmp_path) as stage:
        old = stage.approve("The heron gateway is theirs.")
        task = await stage.draft(HERON)
        path = next(stage.root.rglob("entries/*.md")).relative_to(stage.root)
        await stage.database.write(lambda c: _plan(c, stage.bound.owner, "approved", path=str(path)))
        merged = fields((HERON, ()))
        await refused(Kind.BINDING_DRIFT, stage.adjudicate(task, update(task.drafts[0].draft_ref, old, merged)))


async def test_a_candidate_that_was_changed_meanwhile_is_drift(tmp_path):
    async with a_stage(tmp_path, *TURNS) as stage:
        target, task = await two(stage)
        await stage.database.write(
            lambda c: (
                c.execute(
                    "UPDATE team_candidate SET revision = revision + 1 WHERE candidate_id = ?", (target,)
                ).rowcount
            )
        )
        await refused(Kind.BINDING_DRIFT, stage.adjudicate(task))
        assert await stage.states() == {"draft": 1, "staged": 1}
        assert await stage.chunk((await stage.row(task.task_id)).parent) is ChunkState.DRAFTED


def _plan(connection, owner, state: str, candidate: str = "", path: str = "") -> None:
    connection.execute(
        "INSERT INTO team_plan (plan_id, repository_key, worktree_key, kind, state, plan_digest, assessment_digest,"
        " policy_version, document, number, created_at, changed_at)"
        " VALUES ('p', ?, ?, 'entry', ?, 'd', 'a', 'v', '{}', 1, 1, 1)",
        (owner.repository_key, owner.worktree_key, state),
    )
    if candidate:
        connection.execute(
            "INSERT INTO team_plan_candidate (plan_id, candidate_id, revision) VALUES ('p', ?, 2)", (candidate,)
        )
    if path:
        connection.execute(
            "INSERT INTO team_plan_file (plan_id, place, target_path, operation) VALUES ('p', 0, ?, 'write')", (path,)
        )
