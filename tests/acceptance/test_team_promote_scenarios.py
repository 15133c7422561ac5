"""All promotion scenarios of the adversarial fixtures, each ending as it says.

Where a scenario leaves it to the project, the test of its kind says what we do. Three are about a commit of ours: there
is none, for no git command of ours ever writes; so the user's lock, hook or HEAD is in nobody's way.
"""

import asyncio
import errno
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.team.contracts.promoting import PromotionPlan
from governance.team.contracts.rows import CandidateState, Target
from governance.team.errors import Kind, TeamFault
from governance.team.store import plans
from recall.canonical import bytes_digest
from recall.team_entry import Entry, parse
from tests.support.promoting import Stopped, at, stopped_at, tree
from tests.support.team_promoting import FIRST, SECOND, Promotions, promotions
from tests.support.team_review import AGENT

FIXTURE = Path(__file__).parents[1] / "data" / "adversarial" / "promotion_scenarios.jsonl"
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in FIXTURE.read_text(encoding="utf-8").splitlines()]
pytestmark = pytest.mark.promise("team-hostile")
DAY = 24 * 60 * 60 * 1000
UNTOUCHED = {"./": b""}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path) as made:
        yield made


async def base(shop: Promotions) -> tuple[PromotionPlan, Path]:
    """A plan that changes a file that is there, and that file."""
    first = await shop.entry_plan()
    await shop.promote(first)
    path = shop.root / first.per_file[0].target_path
    entry = parse(path.read_bytes())
    assert isinstance(entry, Entry)
    target = Target(source_kind="approved", id=entry.id, revision=bytes_digest(path.read_bytes()))
    return await shop.entry_plan(SECOND, target), path


async def stopped(shop: Promotions, plan: PromotionPlan, point: str) -> None:
    with pytest.raises(Stopped):
        await shop.promote(plan, stopped_at(point))


async def refused(shop: Promotions, plan: PromotionPlan, *kinds: Kind) -> None:
    """Refused, and the files as they were; the plan is void, or approved as before."""
    before = shop.tree
    fault = await shop.refused(plan)
    assert fault.kind in kinds
    assert shop.tree == before
    assert (await shop.stored(plan)).state in ("voided", "approved")


async def happy(shop: Promotions) -> None:
    made = await shop.desk.entry(FIRST)
    review = await shop.desk.review("entry", [made.candidate_id])
    assert review.approval is not None
    (change,) = review.approval.changes
    await shop.promote(await shop.desk.prepare(review.approval.prepare_request))
    assert (shop.root / change.target_path).read_text(encoding="utf-8") == change.content


async def edit_after_approve(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.desk.execute("UPDATE team_candidate SET payload = ?, revision = revision + 1", "{}")
    await refused(shop, plan, Kind.CANDIDATE_STALE)


async def evidence_removed(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.citations.reasons = {plan.candidate_ids[0]: "it was retracted"}
    await refused(shop, plan, Kind.BINDING_DRIFT)


async def base_changed(shop: Promotions) -> None:
    plan, path = await base(shop)
    path.write_bytes(path.read_bytes() + b"\nAnd more.\n")
    await refused(shop, plan, Kind.TARGET_DRIFT)


async def base_changed_unseen(shop: Promotions) -> None:
    plan, path = await base(shop)
    seen = path.stat()
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (seen.st_size, seen.st_mtime_ns)
    await refused(shop, plan, Kind.TARGET_DRIFT)


async def swapped(shop: Promotions, parent: bool) -> None:
    plan, path = await base(shop)
    outside = shop.folder / "outside"
    outside.mkdir()
    moved = path.parent if parent else path
    moved.rename(outside / "moved")
    moved.symlink_to(outside / "moved")
    before = tree(outside)
    await refused(shop, plan, Kind.TARGET_DRIFT)
    assert tree(outside) == before


async def double_promote(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.promote(plan)
    before = shop.tree
    assert (await shop.promote(plan)).idempotent
    assert shop.tree == before


async def two_promoters(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    two = [shop.promoting(wait_seconds=30).promote(shop.desk.bound, AGENT, plan.plan_id) for _ in range(2)]
    results = await asyncio.gather(*two)
    assert sorted(result.idempotent for result in results) == [False, True]


async def two_notes(shop: Promotions) -> None:
    """Both take the place of one entry: the second one finds it changed."""
    first, path = await base(shop)
    old = parse(path.read_bytes())
    assert isinstance(old, Entry)
    second = await shop.entry_plan("Publish on Mondays.", Target(source_kind="approved", id=old.id))
    both = [shop.promoting(wait_seconds=30).promote(shop.desk.bound, AGENT, one.plan_id) for one in (first, second)]
    results = await asyncio.gather(*both, return_exceptions=True)
    faults = [result for result in results if isinstance(result, TeamFault)]
    assert [fault.kind for fault in faults] == [Kind.TARGET_DRIFT]
    assert len([one for one in results if not isinstance(one, BaseException)]) == 1
    entries = [parse(one.read_bytes()) for one in shop.memory.rglob("*.md")]
    assert [one.status for one in entries if isinstance(one, Entry)].count("approved") == 1
    assert len([state for state, _ in [await shop.state(one.candidate_ids[0]) for one in (first, second)]]) == 2


async def not_prepared(shop: Promotions, kind: Kind, **changed: Any) -> None:
    made = await shop.desk.entry(FIRST)
    request = await shop.desk.asked("entry", [made.candidate_id])
    with pytest.raises(TeamFault) as fault:
        await shop.desk.prepare(msgspec.structs.replace(request, **changed))
    assert (fault.value.kind, await shop.desk.confirmed()) == (kind, 0)
    assert (await shop.desk.states(), shop.tree) == ({}, UNTOUCHED)


async def by_an_agent(shop: Promotions) -> None:
    asked = (await shop.desk.asked("entry", [(await shop.desk.entry(SECOND)).candidate_id])).confirmation
    await not_prepared(shop, Kind.REVIEWER_KIND, confirmation=msgspec.structs.replace(asked, by="agent"))


async def other_digest(shop: Promotions) -> None:
    await not_prepared(shop, Kind.APPROVAL_MISMATCH, approval_digest="0" * 64)


async def replayed(shop: Promotions) -> None:
    other = await shop.desk.asked("entry", [(await shop.desk.entry(SECOND)).candidate_id])
    await not_prepared(shop, Kind.APPROVAL_MISMATCH, approval_digest=other.approval_digest)


async def expired(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.now += DAY + 1
    await refused(shop, plan, Kind.APPROVAL_EXPIRED)


async def crash_before_journal(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await stopped(shop, plan, "promote:2")
    await shop.resume()
    assert ((await shop.stored(plan)).state, shop.tree) == ("approved", UNTOUCHED)
    assert (await shop.promote(plan)).applied


async def whole(shop: Promotions, plan: PromotionPlan, before: dict[str, bytes | str]) -> str:
    """After a restart all is new, or all is old; nothing hidden is left."""
    state = (await shop.stored(plan)).state
    new = {file.target_path: file.new for file in await shop.files(plan)}
    assert shop.tree == ({**before, **new} if state == "applied" else before)
    held, _ = await shop.state(plan.candidate_ids[0])
    assert (held is CandidateState.PROMOTED) == (state == "applied")
    return state


async def crash(shop: Promotions, point: str, *ends: str) -> None:
    plan, _ = await base(shop)
    before = shop.tree
    await stopped(shop, plan, point)
    await shop.resume()
    assert await whole(shop, plan, before) in ends


async def crash_around_a_commit(shop: Promotions, point: str) -> None:
    """There is no commit of ours to crash around; the user's one commit holds all of it."""
    shop.git("init", "--quiet", "--initial-branch=main")
    shop.git("commit", "--quiet", "--allow-empty", "--message", "first")
    plan = await shop.entry_plan()
    await stopped(shop, plan, point)
    await shop.resume()
    assert await whole(shop, plan, {}) == "applied"
    assert shop.git("rev-list", "--count", "HEAD").strip() == "1"
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "the memory")
    assert shop.git("show", "--name-only", "--format=", "HEAD").split() == [plan.per_file[0].target_path]


async def crash_in_recovery(shop: Promotions) -> None:
    plan, _ = await base(shop)
    before = shop.tree
    await stopped(shop, plan, "promote:4b:done")
    with pytest.raises(Stopped):
        await shop.promoting(stopped_at("promote:4c")).resume(shop.desk.now)
    await shop.resume()
    assert await whole(shop, plan, before) == "applied"


async def failing(shop: Promotions, point: str, code: int) -> None:
    plan, _ = await base(shop)
    before = shop.tree

    def fail() -> None:
        raise OSError(code, os.strerror(code))

    fault = await shop.refused(plan, at(point, fail))
    assert (fault.kind, await whole(shop, plan, before)) == (Kind.IO_ERROR, "approved")
    assert (await shop.promote(plan)).applied


async def git_index_locked(shop: Promotions) -> None:
    shop.git("init", "--quiet", "--initial-branch=main")
    lock = shop.root / ".git/index.lock"
    lock.write_bytes(b"theirs")
    assert (await shop.promote(await shop.entry_plan())).applied
    assert lock.read_bytes() == b"theirs"


async def dirty_worktree(shop: Promotions) -> None:
    shop.git("init", "--quiet", "--initial-branch=main")
    (shop.root / "work.py").write_bytes(b"work\n")
    shop.git("add", "work.py")
    assert (await shop.promote(await shop.entry_plan())).applied
    assert shop.git("status", "--porcelain").splitlines() == ["A  work.py", "?? .remora-pre/"]


async def detached_head(shop: Promotions) -> None:
    shop.git("init", "--quiet", "--initial-branch=main")
    shop.git("commit", "--quiet", "--allow-empty", "--message", "first")
    shop.git("checkout", "--quiet", "--detach")
    head = (shop.root / ".git/HEAD").read_bytes()
    assert (await shop.promote(await shop.entry_plan())).applied
    assert (shop.root / ".git/HEAD").read_bytes() == head


async def hook_fails(shop: Promotions) -> None:
    shop.git("init", "--quiet", "--initial-branch=main")
    hook = shop.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    assert (await shop.promote(await shop.entry_plan())).applied
    assert not (shop.root / "ran").exists()


async def secret_added(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    secret = "".join(("AK", "IA", "Z7Q2X5", "M4K8P1", "W9RT"))
    (file,) = await shop.files(plan)
    text = (file.new or b"") + f"\nThe key is {secret}\n".encode()
    await shop.desk.execute("UPDATE team_plan_file SET new = ?, sanitized_digest = ?", text, bytes_digest(text))
    await refused(shop, plan, Kind.SANITIZATION_BLOCKED)


async def clock_back(shop: Promotions) -> None:
    """The later plan is the later one, whatever the clock says."""
    first = await shop.entry_plan(FIRST)
    shop.desk.now -= 86_400_000
    second = await shop.entry_plan(SECOND)
    numbers = [(await shop.stored(one)).number for one in (first, second)]
    assert numbers == sorted(numbers)
    for plan in (second, first):
        assert (await shop.promote(plan)).applied
    shop.desk.now += DAY + 1
    highest = await shop.desk.database.read(plans.highest)
    assert highest >= shop.desk.now - DAY


Scenario = Callable[[Promotions], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {
    "happy": happy,
    "edit-after-approve": edit_after_approve,
    "evidence-removed-after-approve": evidence_removed,
    "base-changed": base_changed,
    "base-changed-same-size-mtime": base_changed_unseen,
    "target-swapped-to-symlink": lambda shop: swapped(shop, parent=False),
    "parent-swapped-to-symlink": lambda shop: swapped(shop, parent=True),
    "double-promote": double_promote,
    "two-promoters": two_promoters,
    "two-notes-one-file": two_notes,
    "approve-by-agent": by_an_agent,
    "approve-other-digest": other_digest,
    "approval-replayed": replayed,
    "approval-expired": expired,
    "crash-before-journal": crash_before_journal,
    "crash-after-journal": lambda shop: crash(shop, "promote:2:done", "approved"),
    "crash-after-tmp": lambda shop: crash(shop, "promote:3:done", "approved"),
    "crash-after-rename": lambda shop: crash(shop, "promote:4c:done", "applied"),
    "crash-before-git-commit": lambda shop: crash_around_a_commit(shop, "promote:5"),
    "crash-after-git-commit": lambda shop: crash_around_a_commit(shop, "promote:5:done"),
    "crash-in-recovery": crash_in_recovery,
    "enospc-on-tmp": lambda shop: failing(shop, "disk:write", errno.ENOSPC),
    "eio-on-fsync": lambda shop: failing(shop, "disk:fsync", errno.EIO),
    "git-index-locked": git_index_locked,
    "dirty-worktree": dirty_worktree,
    "detached-head": detached_head,
    "hook-fails": hook_fails,
    "secret-added-after-scan": secret_added,
    "read-only-fs": lambda shop: failing(shop, "disk:create", errno.EROFS),
    "clock-back": clock_back,
}


@pytest.mark.parametrize("record", RECORDS, ids=[record["id"] for record in RECORDS])
async def test_a_scenario_ends_as_it_says(shop: Promotions, record: dict[str, Any]) -> None:
    async with asyncio.timeout(60):
        await SCENARIOS[record["kind"]](shop)


def test_every_scenario_is_of_a_kind_that_is_tested() -> None:
    assert {record["kind"] for record in RECORDS} == set(SCENARIOS)
    assert len(RECORDS) == 30
