"""stage over a real database and real files (team.md 15: 7, 8, 9, 10, 12, and of 11 the part of stage)."""

import asyncio

import pytest

from governance.team.contracts.rows import CandidateState, ChunkState, TaskState
from governance.team.contracts.staging import AdjudicationTask, Staged, Statement
from governance.team.errors import Kind, TeamFault
from governance.team.store.submissions import Stage as StageName
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_recall import a_turn
from tests.support.team_stage import a_stage, fields, merge, plain, refused, skip, store, update

COUNTED = "Publish only from the release branch; trusted publishing only."


@pytest.mark.promise("team-07")
async def test_item_07_a_draft_with_foreign_evidence_a_double_statement_or_a_secret_falls_alone(tmp_path):
    async with a_stage(tmp_path, *(a_turn(n) for n in range(3)), *(a_turn(n, session="b") for n in range(3))) as stage:
        task, other = await stage.tasks()
        foreign = other.evidence_catalog[0].evidence_id
        bad_evidence = stage.a_draft(
            task,
            "The port is 8080.",
            statements=(Statement(statement_id="s1", text="The port is 8080.", evidence_ids=(foreign,)),),
        )
        twice = tuple(Statement(statement_id="s1", text=text) for text in ("Use uv.", "Never pip."))
        doubled = stage.a_draft(task, "Use uv. Never pip.", statements=twice)
        secret = stage.a_draft(task, "The token is ghp_" + "a1B2" * 9 + ".")

        done = await stage.staging.draft(
            stage.bound, stage.call(), stage.batch(task, bad_evidence, COUNTED, doubled, secret)
        )

        assert isinstance(done, AdjudicationTask)
        assert [(one.index, one.code) for one in done.rejected] == [
            (0, "unknown-evidence"),
            (2, "duplicate-statement"),
            (3, "secret"),
        ]
        assert [one.draft_ref for one in done.drafts] == [f"{task.task_id}-c2"]
        assert await stage.states() == {"draft": 1}
        assert "ghp_" not in str(plain(done))


@pytest.mark.promise("team-07")
async def test_item_07_a_batch_of_which_nothing_is_left_is_refused_and_may_be_sent_again_in_other_words(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        secret = "The token is ghp_" + "a1B2" * 9 + "."
        refusal = await refused(
            Kind.SCHEMA_INVALID, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, secret))
        )
        assert "ghp_" not in str(refusal)
        assert await stage.chunk(task.task_id) is ChunkState.PENDING
        assert isinstance(
            await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, COUNTED)), AdjudicationTask
        )


@pytest.mark.promise("team-07")
async def test_item_07_content_with_an_uncovered_sentence_is_content_not_covered(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        stated = (Statement(statement_id="s1", text="We use uv."),)
        draft = stage.a_draft(task, "- We use uv.\n- And never pip.", statements=stated)
        refusal = await refused(
            Kind.CONTENT_NOT_COVERED, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, draft))
        )
        assert "And never pip" in refusal.problem
        assert await stage.states() == {}


@pytest.mark.promise("team-07")
async def test_item_07_an_empty_batch_closes_its_chunk_and_it_is_not_offered_again(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        done = await stage.staging.draft(stage.bound, stage.call(), stage.batch(task))
        assert isinstance(done, Staged)
        assert (done.done, done.candidates, done.idempotent) == (True, (), False)
        assert await stage.chunk(task.task_id) is ChunkState.EXTRACTED
        assert (await stage.row(task.task_id)).state is TaskState.SUBMITTED
        assert await stage.tasks() == ()
        assert await stage.tasks("number done hand") == ()


@pytest.mark.promise("team-08")
async def test_item_08_a_draft_that_is_sent_again_has_the_same_result_and_another_one_is_a_conflict(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        first = await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, COUNTED))
        again = await stage.staging.draft(stage.bound, stage.call("two"), stage.batch(task, COUNTED, token=True))
        assert isinstance(again, AdjudicationTask)
        assert plain(again) == plain(first) | {"idempotent": True}

        other = stage.batch(task, COUNTED.replace("only.", "only!"))
        await refused(Kind.SUBMISSION_CONFLICT, stage.staging.draft(stage.bound, stage.call(), other))
        statement = "SELECT count(*) FROM team_submission_conflict"
        assert (await stage.database.read(lambda c: c.execute(statement).fetchone()))[0] == 1
        assert await stage.states() == {"draft": 1}

        done = await stage.adjudicate(first)
        decided_again = await stage.adjudicate(first)
        assert plain(decided_again) == plain(done) | {"idempotent": True}
        late = await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, COUNTED))
        assert plain(late) == plain(first) | {"idempotent": True}
        await refused(Kind.SUBMISSION_CONFLICT, stage.adjudicate(first, skip(first.drafts[0].draft_ref, "mem_x")))


@pytest.mark.promise("team-08")
async def test_item_08_the_holder_that_was_killed_goes_on_at_once_and_another_waits_for_the_lease(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task(holder="one")  # and nothing more: it is killed here
        await refused(
            Kind.TASK_NOT_CLAIMABLE, stage.staging.draft(stage.bound, stage.call("two"), stage.batch(task, COUNTED))
        )
        assert (await stage.task(holder="one")).lease.token == task.lease.token
        stage.now += 300_001
        (taken,) = await stage.tasks(holder="two")
        assert (taken.lease.epoch, taken.task_id) == (task.lease.epoch + 1, task.task_id)
        await refused(
            Kind.LEASE_LOST,
            stage.staging.draft(stage.bound, stage.call("one"), stage.batch(task, COUNTED, token=True)),
        )
        done = await stage.staging.draft(stage.bound, stage.call("two"), stage.batch(taken, COUNTED, token=True))
        assert isinstance(done, AdjudicationTask)


@pytest.mark.promise("team-08")
async def test_item_08_of_two_claims_at_once_one_wins(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task(holder="nobody")
        stage.now += 400_000
        sent = [
            stage.staging.draft(stage.bound, stage.call(holder), stage.batch(task, f"{holder} said it."))
            for holder in ("one", "two", "three")
        ]
        answers = await asyncio.gather(*sent, return_exceptions=True)
        won = [one for one in answers if isinstance(one, AdjudicationTask)]
        lost = {one.kind for one in answers if isinstance(one, TeamFault)}
        assert len(won) == 1
        assert lost <= {Kind.TASK_NOT_CLAIMABLE, Kind.SUBMISSION_CONFLICT}
        assert await stage.states() == {"draft": 1}
        assert (await stage.row(task.task_id)).epoch == task.lease.epoch + 1


@pytest.mark.promise("team-09")
async def test_item_09_a_chinese_draft_finds_the_approved_entry_that_says_much_the_same(tmp_path):
    async with a_stage(tmp_path) as stage:
        approved = stage.approve("发布之前必须跑测试")
        stage.approve("数据库每天备份一次", 2)
        task = await stage.draft("发布前先跑测试")
        assert [(one.source_kind, one.id) for one in task.recall_sets[0].ordered][:1] == [("approved", approved)]
        assert next(one.summary for one in task.pool if one.id == approved) == "发布之前必须跑测试"


@pytest.mark.promise("team-09")
async def test_item_09_two_chinese_drafts_are_two_files(tmp_path):
    async with a_stage(tmp_path) as stage:
        one, two = await stage.staged("发布前先跑测试", "发布前先跑测试，再打标签")
        assert one.target_path != two.target_path
        assert [path.rpartition("-")[0] for path in (one.target_path, two.target_path)] == [
            ".remora-pre/memory/entries/work_method"
        ] * 2


@pytest.mark.promise("team-10")
async def test_item_10_a_skip_with_an_approved_cover_is_discarded_and_the_cover_is_stored(tmp_path):
    async with a_stage(tmp_path) as stage:
        approved = stage.approve("Publish only from the release branch.")
        task = await stage.draft(COUNTED)
        done = await stage.adjudicate(task, skip(task.drafts[0].draft_ref, approved))
        (said,) = done.candidates
        assert (said.state, said.covered_by, said.target_path) == ("discarded", (approved,), None)
        held = await stage.candidate(said.candidate_id)
        assert [(one.source_kind, one.id) for one in held.covers] == [("approved", approved)]
        assert held.state is CandidateState.DISCARDED
        assert await stage.chunk(held.task_id) is ChunkState.EXTRACTED


@pytest.mark.promise("team-10")
@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda a, b: (skip(a, b), skip(b, a)), id="a cycle"),
        pytest.param(lambda a, b: (skip(a, a), store(b)), id="itself"),
        pytest.param(lambda a, b: (skip(a), store(b)), id="nothing"),
        pytest.param(lambda a, b: (skip(a, "mem_unknown"), store(b)), id="unknown"),
        pytest.param(lambda a, b: (store(a),), id="a missing draft"),
        pytest.param(lambda a, b: (store(a), store(a), store(b)), id="a draft twice"),
        pytest.param(lambda a, b: (store(a), store(b), store(f"{b}9")), id="a draft that is none"),
        pytest.param(lambda a, b: (update(a, b, fields(("We use uv.", ()))), store(b)), id="an update of a draft"),
    ],
)
async def test_item_10_skip_chains_cycles_missing_and_double_drafts_are_schema_invalid(tmp_path, wrong):
    async with a_stage(tmp_path) as stage:
        task = await stage.draft("We use uv for packages.", "We use uv for packages and tools.")
        a, b = (one.draft_ref for one in task.drafts)
        result = stage.result(task)
        result = type(result)(
            format=result.format, task_id=result.task_id, binding=result.binding, decisions=wrong(a, b)
        )
        await refused(Kind.SCHEMA_INVALID, stage.staging.adjudicate(stage.bound, stage.call(), result))
        assert await stage.states() == {"draft": 2}
        assert (await stage.row(task.task_id)).state is TaskState.PENDING


@pytest.mark.promise("team-10")
async def test_item_10_a_chain_of_skips_is_refused(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.draft("We use uv here.", "We use uv here now.", "We use uv here now too.")
        a, b, c = (one.draft_ref for one in task.drafts)
        await refused(Kind.SCHEMA_INVALID, stage.adjudicate(task, skip(a, b), skip(b, c)))
        done = await stage.adjudicate(task, skip(a, c), skip(b, c))
        assert [one.state for one in done.candidates] == ["discarded", "discarded", "staged"]


@pytest.mark.promise("team-10")
async def test_item_10_a_pool_item_that_changed_between_the_stages_leaves_every_draft_as_it_was(tmp_path):
    async with a_stage(tmp_path) as stage:
        approved = stage.approve("Publish only from the release branch.")
        recall = await stage.task()
        batch = stage.batch(recall, COUNTED)
        task = await stage.staging.draft(stage.bound, stage.call(), batch)
        assert isinstance(task, AdjudicationTask)
        before = await stage.candidate(task.drafts[0].draft_ref)
        file = next(stage.root.rglob("entries/*.md"))
        file.write_bytes(file.read_bytes().replace(b"release branch", b"release tag"))

        refusal = await refused(Kind.BINDING_DRIFT, stage.adjudicate(task, skip(before.candidate_id, approved)))

        assert "same draft batch" in refusal.next_step
        assert (await stage.row(task.task_id)).state is TaskState.STALE
        assert await stage.candidate(before.candidate_id) == before
        await refused(Kind.BINDING_DRIFT, stage.adjudicate(task))
        anew = await stage.staging.draft(stage.bound, stage.call(), batch)
        assert isinstance(anew, AdjudicationTask)
        assert anew.task_id != task.task_id
        done = await stage.adjudicate(anew, skip(before.candidate_id, approved))
        assert done.candidates[0].state == "discarded"


@pytest.mark.promise("team-11")
async def test_item_11_an_update_of_an_approved_entry_is_staged_and_says_what_it_supersedes(tmp_path):
    async with a_stage(tmp_path) as stage:
        old = an_entry("Publish from main.")
        write_entry(stage.root, old)
        task = await stage.draft(COUNTED)
        evidence = task.drafts[0].statements[0].evidence_ids
        pool = next(one for one in task.pool if one.id == old.id)
        merged = fields((COUNTED, [*evidence, f"target:{old.id}/{pool.statement_ids[0]}"]))
        done = await stage.adjudicate(task, update(task.drafts[0].draft_ref, old.id, merged))
        (said,) = done.candidates
        assert (said.state, said.supersedes, said.revision) == ("staged", (old.id,), 2)
        held = await stage.candidate(said.candidate_id)
        assert [(one.source_kind, one.id, one.revision) for one in held.supersedes] == [
            ("approved", old.id, pool.revision)
        ]
        assert old.id in {one.id for one in task.pool}


@pytest.mark.promise("team-12")
async def test_item_12_a_merge_has_statements_of_its_own_with_the_citations_of_its_parts(tmp_path):
    sessions = [*(a_turn(n) for n in range(3)), *(a_turn(n, session="session-b") for n in range(3))]
    async with a_stage(tmp_path, *sessions) as stage:
        first, second = await stage.tasks()
        one = await stage.staging.draft(stage.bound, stage.call(), stage.batch(first, "Wait five minutes for tests."))
        assert isinstance(one, AdjudicationTask)
        await stage.adjudicate(one)
        part = await stage.candidate(one.drafts[0].draft_ref)
        old = (await stage.assessments(part.candidate_id))[0]

        task = await stage.staging.draft(stage.bound, stage.call(), stage.batch(second, "Wait for the tests first."))
        assert isinstance(task, AdjudicationTask)
        own = task.drafts[0].statements[0].evidence_ids[0]
        merged = fields(
            ("Wait for the tests before a release.", [own]),
            ("They take five minutes.", [f"target:{part.candidate_id}/s1"]),
        )
        done = await stage.adjudicate(task, merge(task.drafts[0].draft_ref, [part.candidate_id], merged))

        new = await stage.candidate(done.candidates[0].candidate_id)
        assert new.state is CandidateState.STAGED
        m1, m2 = await stage.assessments(new.candidate_id)
        assert (m1.statement_id, m2.statement_id) == ("m1", "m2")
        assert [cited.evidence_id for cited in m1.citations] == [own]
        assert m2.citations == old.citations
        assert m2.citations_digest == old.citations_digest
        gone = await stage.candidate(part.candidate_id)
        assert (gone.state, gone.covers) == (CandidateState.DISCARDED, ())
        item = await stage.item(part.candidate_id)
        assert item is not None
        assert item.state == "discarded"
        assert (await stage.record(first.task_id, StageName.DRAFT)) is not None
