"""What was approved is written exactly so, or not at all, and the answer says which."""

import asyncio
import errno
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.team.contracts.promoting import PromotionPlan
from governance.team.contracts.rows import CandidateState, Target
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.promoting import DONE
from governance.team.store import journals, projections, trust
from recall.canonical import bytes_digest
from recall.team_entry import Entry, parse
from tests.support.promoting import Stopped, at, stopped_at
from tests.support.team_promoting import FIRST, SECOND, Promotions, promotions, reopened
from tests.support.team_review import AGENT, USER


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path) as made:
        yield made


async def test_an_approved_plan_is_written_and_everything_follows_from_it(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    (change,) = plan.per_file
    result = await shop.promote(plan)

    data = (shop.root / change.target_path).read_bytes()
    entry = parse(data)
    assert isinstance(entry, Entry) and (entry.content, entry.claim_support) == (FIRST, "human-confirmed")
    assert (result.state, result.applied, result.idempotent, result.problem) == ("applied", True, False, None)
    assert [(file.target_path, file.digest) for file in result.files] == [(change.target_path, bytes_digest(data))]
    assert (result.candidates, result.note) == (plan.candidate_ids, DONE)
    assert await shop.state(plan.candidate_ids[0]) == (CandidateState.PROMOTED, 3)
    assert shop.committed.told == [([change.target_path], [])]
    key = shop.desk.bound.owner.worktree_key
    row = await shop.desk.database.read(lambda connection: projections.entry(connection, key, entry.id))
    assert row is not None and row.entry.content == FIRST


async def test_what_was_written_has_a_receipt(shop: Promotions) -> None:
    skill = await shop.desk.stage(shop.desk.a_skill("release", "Run the suite, then publish.\n"))
    await shop.promote(await shop.entry_plan())
    await shop.promote(await shop.planned(skill))

    written = list(shop.memory.rglob("*.md"))
    key = shop.desk.bound.owner.repository_key
    for path in written:
        digest = bytes_digest(path.read_bytes())
        assert await shop.desk.database.read(
            lambda connection, digest=digest: trust.has_receipt(connection, key, digest)
        )
    assert len(written) == 2


async def test_promoted_again_it_is_the_same_result_and_nothing_is_written(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    first = await shop.promote(plan)
    before = {path: path.stat().st_mtime_ns for path in shop.memory.rglob("*")}
    second = await shop.promote(plan)

    assert second == msgspec.structs.replace(first, idempotent=True)
    assert {path: path.stat().st_mtime_ns for path in shop.memory.rglob("*")} == before
    assert await shop.state(plan.candidate_ids[0]) == (CandidateState.PROMOTED, 3)


async def test_an_update_writes_the_new_entry_and_deprecates_the_old_one(shop: Promotions) -> None:
    first = await shop.entry_plan()
    await shop.promote(first)
    old_path = shop.root / first.per_file[0].target_path
    old = parse(old_path.read_bytes())
    assert isinstance(old, Entry)
    target = Target(source_kind="approved", id=old.id, revision=bytes_digest(old_path.read_bytes()))
    second = await shop.entry_plan(SECOND, target)
    await shop.promote(second)

    after = parse(old_path.read_bytes())
    assert isinstance(after, Entry) and after.status == "deprecated"
    new = [one for one in map(parse, (path.read_bytes() for path in shop.memory.rglob("*.md"))) if one != after]
    assert isinstance(new[0], Entry) and (new[0].content, new[0].id) == (SECOND, after.superseded_by)
    assert shop.committed.told[-1][1] == [old.id]


async def test_a_generated_plan_needs_its_digest_and_is_confirmed_by_it(shop: Promotions) -> None:
    made = await shop.desk.entry(FIRST)
    plan = await shop.planned(made, digest=False)

    assert (plan.state, (await shop.refused(plan)).kind) == ("generated", Kind.PLAN_DIGEST_MISMATCH)
    assert (await shop.refused(plan, digest="0" * 64)).kind is Kind.PLAN_DIGEST_MISMATCH
    assert await shop.desk.confirmed() == 0
    assert (await shop.promote(plan, digest=plan.plan_digest)).applied
    assert await shop.desk.supports(made.candidate_id) == {Support.HUMAN_CONFIRMED}


@pytest.mark.parametrize("principal", ["runner", "policy"])
async def test_an_unattended_caller_promotes_nothing(shop: Promotions, principal: str) -> None:
    plan = await shop.entry_plan()

    refused = await shop.refused(plan, call=msgspec.structs.replace(AGENT, principal=principal))
    assert refused.kind is Kind.REVIEWER_KIND
    assert shop.tree == {"./": b""}


async def test_what_is_not_there_or_another_worktree_s_is_refused(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    unknown = msgspec.structs.replace(plan, plan_id="plan-" + "0" * 32)
    assert (await shop.refused(unknown)).kind is Kind.PLAN_NOT_FOUND

    owner = msgspec.structs.replace(shop.desk.bound.owner, worktree_key="f" * 64)
    shop.desk.bound = msgspec.structs.replace(shop.desk.bound, owner=owner)
    assert (await shop.refused(plan)).kind is Kind.OWNER_MISMATCH


async def test_a_worktree_that_is_another_one_now_is_not_written_into(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.gone = True

    assert (await shop.refused(plan)).kind is Kind.OWNER_MISMATCH
    assert (await shop.stored(plan)).state == "approved"


async def test_a_plan_that_drifted_is_voided_and_its_candidates_can_be_reviewed_anew(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    target = shop.root / plan.per_file[0].target_path
    target.parent.mkdir(parents=True)
    target.write_bytes(b"somebody's\n")

    assert (await shop.refused(plan)).kind is Kind.TARGET_DRIFT
    assert (await shop.stored(plan)).state == "voided"
    assert target.read_bytes() == b"somebody's\n"
    target.unlink()
    again = await shop.refused(plan)
    assert again.kind is Kind.PLAN_STATE_INVALID and "target-drift" in again.problem
    (candidate_id,) = plan.candidate_ids
    request = await shop.desk.asked("entry", [candidate_id])
    assert request.approval_digest != plan.approval_digest
    assert (await shop.promote(await shop.desk.prepare(request))).applied


async def test_a_fault_of_the_disk_leaves_the_plan_approved(shop: Promotions) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    plan = await shop.entry_plan()
    refused = await shop.refused(plan, at("disk:write", full))

    assert (refused.kind, (await shop.stored(plan)).state) == (Kind.IO_ERROR, "approved")
    assert "No space" in refused.problem
    assert shop.tree == {"./": b""}
    assert (await shop.promote(plan)).applied


async def test_what_was_stopped_is_finished_by_the_next_promote_of_anything(shop: Promotions) -> None:
    first, second = await shop.entry_plan(FIRST), await shop.entry_plan(SECOND)
    with pytest.raises(Stopped):
        await shop.promote(first, stopped_at("promote:4d"))
    await shop.promote(second)

    assert (await shop.stored(first)).state == (await shop.stored(second)).state == "applied"
    assert len(shop.tree) == 2
    assert (await shop.promote(first)).idempotent


async def test_what_was_stopped_is_finished_at_the_next_start(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    with pytest.raises(Stopped):
        await shop.promote(plan, stopped_at("promote:4c:done"))
    (resumed,) = await shop.resume()

    assert (resumed.plan_id, resumed.state, resumed.problem) == (plan.plan_id, "applied", "")
    assert await shop.resume() == ()
    assert len(shop.committed.told) == 1


async def test_a_start_goes_on_when_a_worktree_is_gone(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    with pytest.raises(Stopped):
        await shop.promote(plan, stopped_at("promote:4c:done"))
    shop.gone = True
    (resumed,) = await shop.resume()

    assert (resumed.state, bool(resumed.problem)) == ("applying", True)


@pytest.mark.parametrize(
    "fault", [TeamFault(Kind.SYNC_PARTIAL, "It cannot follow.", "Again."), OSError(errno.EIO, "Input/output error")]
)
async def test_the_index_that_cannot_follow_is_told_and_promote_again_only_syncs(
    shop: Promotions, fault: Exception
) -> None:
    plan = await shop.entry_plan()
    shop.committed.fails = fault
    result = await shop.promote(plan)
    assert result.applied and (result.problem or "").startswith("sync-partial: ")

    shop.committed.fails = None
    again = await shop.promote(plan)
    assert (again.idempotent, again.problem, len(shop.committed.told)) == (True, None, 1)


async def test_a_promotion_goes_on_when_whoever_asked_goes_away(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    begun, go = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result()

    promoting = shop.promoting(at("promote:4c", wait))
    task = asyncio.create_task(promoting.promote(shop.desk.bound, AGENT, plan.plan_id))
    await begun.wait()
    (under_way,) = promoting._under_way
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    await under_way

    assert (await shop.stored(plan)).state == "applied"


async def test_an_approved_plan_is_given_up(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    done = await shop.discard(plan)

    assert (done.kind, done.state, done.idempotent) == ("plan", "voided", False)
    assert (await shop.discard(plan)).idempotent
    assert (await shop.refused(plan)).kind is Kind.PLAN_STATE_INVALID


async def test_a_plan_that_was_begun_is_only_closed_with_its_files_kept(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    with pytest.raises(Stopped):
        await shop.promote(plan, stopped_at("promote:4e:done"))
    with pytest.raises(Exception, match="--keep-files"):
        await shop.discard(plan)

    done = await shop.discard(plan, keep_files=True)
    assert (done.state, await shop.state(plan.candidate_ids[0])) == ("voided", (CandidateState.STAGED, 3))
    assert (shop.root / plan.per_file[0].target_path).is_file()


async def test_an_applied_plan_is_not_given_up(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.promote(plan)

    with pytest.raises(Exception, match="is applied"):
        await shop.discard(plan)


async def test_what_cannot_be_taken_back_says_so_at_every_promote_and_can_be_closed(shop: Promotions) -> None:
    first = await shop.entry_plan()
    await shop.promote(first)
    path = shop.root / first.per_file[0].target_path
    old = path.read_bytes()
    entry = parse(old)
    assert isinstance(entry, Entry)
    plan = await shop.entry_plan(SECOND, Target(source_kind="approved", id=entry.id))

    def strangers(name: str) -> None:
        if name == "promote:4b":
            path.write_bytes(b"first words\n")
        if name == "undo:stranger":
            path.write_bytes(b"second words\n")

    assert (await shop.refused(plan, strangers)).kind is Kind.ROLLBACK_REQUIRED
    again = await shop.refused(plan)
    assert again.kind is Kind.ROLLBACK_REQUIRED and "--keep-files" in again.next_step
    done = await shop.discard(plan, keep_files=True)
    assert (shop.memory / "entries" / Path(done.recovered[-1]).name).read_bytes() == b"first words\n"
    assert path.read_bytes() == b"second words\n"
    assert old in shop.aside().values()


async def test_a_database_that_cannot_be_written_is_told(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    loop = asyncio.get_running_loop()

    def lose() -> None:
        spoil = shop.desk.execute("ALTER TABLE team_plan_file RENAME TO lost")
        asyncio.run_coroutine_threadsafe(spoil, loop).result()

    refused = await shop.refused(plan, at("promote:4e", lose))
    assert refused.kind in (Kind.STATE_FAILED, Kind.IO_ERROR)
    await shop.desk.execute("ALTER TABLE lost RENAME TO team_plan_file")
    await shop.resume()
    assert (await shop.stored(plan)).state in ("applied", "approved")


async def test_nothing_is_unfinished_after_a_promotion(shop: Promotions) -> None:
    await shop.promote(await shop.entry_plan(), call=USER)

    assert await shop.desk.database.read(journals.unfinished) == ()


@pytest.mark.parametrize("point", ["promote:3", "promote:4a", "promote:4c", "promote:5", "promote:6"])
def test_a_program_that_ends_amid_a_promotion_ends_and_the_next_one_finishes_it(tmp_path: Path, point: str) -> None:
    go = threading.Event()

    async def ends() -> PromotionPlan:
        async with asyncio.timeout(30), promotions(tmp_path / "work") as shop:
            plan = await shop.entry_plan()
            begun = asyncio.Event()
            loop = asyncio.get_running_loop()

            def wait() -> None:
                loop.call_soon_threadsafe(begun.set)
                go.wait(30)

            promoting = shop.promoting(at(point, wait))
            promote = asyncio.create_task(promoting.promote(shop.desk.bound, AGENT, plan.plan_id))
            await begun.wait()
            promote.cancel()
            go.set()
            return plan  # the database is closed while the thread is at work

    async def starts(plan: PromotionPlan) -> None:
        async with asyncio.timeout(30), reopened(tmp_path / "work") as shop:
            await shop.resume()
            state = (await shop.stored(plan)).state
            written = {file.target_path: file.new for file in await shop.files(plan)}
            assert shop.tree == (written if state == "applied" else {"./": b""})
            assert state in ("applied", "approved")

    asyncio.run(starts(asyncio.run(ends())))
