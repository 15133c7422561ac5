"""Whether what candidates cite is still there."""

import msgspec
import pytest

from governance.team.contracts.ports import Private
from governance.team.contracts.rows import Candidate, CandidateState, Cited, Target
from governance.team.contracts.turns import Seal
from governance.team.store import candidates
from tests.support.team_stage import a_stage, fields, update

HERON = "The heron gateway is ours."


async def test_citations_that_hold_are_left_out(tmp_path):
    async with a_stage(tmp_path) as stage:
        found = await stage.staged(HERON)
        assert await stage.citing.check(stage.bound, found) == {}
        assert await stage.citing.check(stage.bound, []) == {}


@pytest.mark.parametrize(
    ("now", "said"),
    [
        pytest.param(None, "not there any more", id="deleted"),
        pytest.param({"active": False}, "taken back", id="rewound"),
        pytest.param({"seal": Seal.OPEN}, "taken back", id="open"),
        pytest.param({"revision": 2}, "changed", id="changed"),
    ],
)
async def test_a_cited_turn_that_is_not_as_it_was_is_drift_of_its_candidate_alone(tmp_path, now, said):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        cited = [one.evidence_id for one in task.evidence_catalog]
        drafts = [
            stage.a_draft(
                task,
                text,
                statements=(
                    msgspec.structs.replace(stage.a_draft(task, text).statements[0], evidence_ids=(evidence,)),
                ),
            )
            for text, evidence in zip((HERON, "The heron is a bird."), cited, strict=False)
        ]
        found = await stage.staged(*drafts)
        keys = await stage.citing.references(found[0])
        key = keys["s1"][0].turn_key
        if now is None:
            del stage.recalled.history.contents[key]
        else:
            content = stage.recalled.history.contents[key]
            turn = msgspec.structs.replace(content.turn, **now)
            stage.recalled.history.put(msgspec.structs.replace(content, turn=turn))
        drift = await stage.citing.check(stage.bound, found)
        assert list(drift) == [found[0].candidate_id]
        assert said in drift[found[0].candidate_id]


async def test_an_approved_entry_vouches_for_itself(tmp_path):
    async with a_stage(tmp_path) as stage:
        old = stage.approve("The heron gateway is theirs.")
        task = await stage.draft(HERON)
        ref = task.drafts[0].draft_ref
        await stage.adjudicate(task, update(ref, old, fields((HERON, [f"target:{old}/content"]))))
        stage.recalled.history.contents.clear()
        found = await stage.candidate(ref)
        assert await stage.citing.check(stage.bound, [found]) == {}
        assert await stage.citing.references(found) == {"m1": ()}


async def test_a_private_record_that_was_changed_or_is_gone_is_drift(tmp_path):
    private = Private(memory_id="mem_" + "9" * 32, text="The heron gateway is mine.", revision="r1")
    async with a_stage(tmp_path, privates=[private]) as stage:
        task = await stage.draft(HERON)
        ref = task.drafts[0].draft_ref
        await stage.adjudicate(task, update(ref, private.memory_id, fields((HERON, ()))))
        found = await stage.candidate(ref)
        assert await stage.citing.check(stage.bound, [found]) == {}
        stage.privates.records[private.memory_id] = msgspec.structs.replace(private, revision="r2")
        assert "was changed" in (await stage.citing.check(stage.bound, [found]))[ref]
        stage.privates.records.clear()
        assert "not there" in (await stage.citing.check(stage.bound, [found]))[ref]


async def test_evidence_of_another_digest_is_drift(tmp_path):
    async with a_stage(tmp_path) as stage:
        (one,) = await stage.staged(HERON)
        await stage.database.write(lambda c: c.execute("UPDATE team_evidence SET pointer_digest = 'x'").rowcount)
        assert "not in its catalogue" in (await stage.citing.check(stage.bound, [one]))[one.candidate_id]


async def test_consolidation_is_looked_at_where_files_are(tmp_path):
    async with a_stage(tmp_path) as stage:
        (made,) = [
            one for candidate in await stage.staged(HERON) for one in await stage.assessments(candidate.candidate_id)
        ]
        cited = (Cited(evidence_id="mem_1", pointer_digest="d", task_id="consolidate-1"),)
        patch = Candidate(
            candidate_id="consolidate-1-c1",
            kind="consolidation",
            task_id="consolidate-1",
            owner=stage.bound.owner,
            state=CandidateState.STAGED,
            revision=1,
            memory_id="",
            target_path="",
            payload="{}",
            supersedes=(Target(source_kind="approved", id="mem_1"),),
            created_at=1,
            changed_at=1,
        )
        assessments = [msgspec.structs.replace(made, citations=cited)]
        await stage.database.write(lambda c: candidates.insert(c, patch, assessments))
        assert await stage.citing.check(stage.bound, [patch]) == {}
