"""What was approved and overtaken is refused before anything is touched, and whether that ends the plan."""

import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.team.contracts.promoting import PromotionPlan
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.store import plans
from tests.support.promoting import at
from tests.support.team_promoting import Promotions, promotions

DAY = 24 * 60 * 60 * 1000


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path) as made:
        yield made


async def refused(shop: Promotions, plan: PromotionPlan, kind: Kind, state: str = "voided") -> TeamFault:
    """Refused so, with that state after it, and nothing of ours in the worktree."""
    before = shop.tree
    fault = await shop.refused(plan)
    assert (fault.kind, (await shop.stored(plan)).state) == (kind, state)
    assert fault.problem and fault.next_step
    assert shop.tree == before
    return fault


async def test_a_plan_is_good_for_a_day(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.now += DAY

    assert (await shop.promote(plan)).applied


async def test_after_a_day_it_is_expired(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.now += DAY + 1

    await refused(shop, plan, Kind.APPROVAL_EXPIRED)


async def test_a_clock_that_is_set_back_prolongs_nothing(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.desk.database.write(lambda connection: plans.seen(connection, shop.desk.now + DAY + 1))
    shop.desk.now -= DAY

    await refused(shop, plan, Kind.APPROVAL_EXPIRED)


async def test_a_plan_of_another_policy_is_not_known(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.formats = Formats(prefix="remora-pre", mark="later", folder=".remora-pre")

    fault = await refused(shop, plan, Kind.BINDING_DRIFT)
    assert "sanitize-pre@1" in fault.problem and "sanitize-later@1" in fault.problem


async def test_a_candidate_that_was_changed_is_stale(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.desk.execute("UPDATE team_candidate SET revision = revision + 1")

    await refused(shop, plan, Kind.CANDIDATE_STALE)


async def test_statements_that_are_assessed_otherwise_are_drift(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.desk.execute("UPDATE team_assessment SET strength = 'contextual'")

    await refused(shop, plan, Kind.BINDING_DRIFT)


async def test_what_is_cited_and_gone_is_drift(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.citations.reasons = {plan.candidate_ids[0]: "the session was deleted"}

    fault = await refused(shop, plan, Kind.BINDING_DRIFT)
    assert "the session was deleted" in fault.problem


async def test_a_target_that_is_there_by_now_is_drift(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    _written(shop, plan, b"somebody's\n")

    await refused(shop, plan, Kind.TARGET_DRIFT)


async def test_a_target_that_happens_to_hold_the_new_bytes_is_drift(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    (file,) = await shop.files(plan)
    _written(shop, plan, file.new or b"")

    await refused(shop, plan, Kind.TARGET_DRIFT)


@pytest.mark.parametrize("folder", [False, True])
async def test_a_link_is_drift_and_not_followed(shop: Promotions, tmp_path: Path, folder: bool) -> None:
    plan = await shop.entry_plan()
    outside = tmp_path / "outside"
    outside.mkdir()
    target = shop.root / plan.per_file[0].target_path
    shop.memory.mkdir(parents=True)
    if folder:
        target.parent.symlink_to(outside)
    else:
        target.parent.mkdir()
        target.symlink_to(outside / "file.md")

    await refused(shop, plan, Kind.TARGET_DRIFT)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["../../../outside.md", "entries/../../../.git/hooks/post-commit", "index.json"])
async def test_a_path_that_no_plan_may_have_is_refused(shop: Promotions, path: str) -> None:
    plan = await shop.entry_plan()
    await shop.desk.execute("UPDATE team_plan_file SET target_path = ?", f".remora-pre/memory/{path}")

    await refused(shop, plan, Kind.TARGET_PATH_INVALID)


async def test_a_text_that_the_screen_finds_by_now_is_blocked(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    (file,) = await shop.files(plan)
    text = (file.new or b"") + b"\nThe key is " + "".join(("AK", "IA", "Z7Q2X5", "M4K8P1", "W9RT")).encode() + b"\n"
    await shop.desk.execute("UPDATE team_plan_file SET new = ?", text)

    fault = await refused(shop, plan, Kind.SANITIZATION_BLOCKED)
    assert "Z7Q2X5M4" not in fault.problem


async def test_a_file_system_that_can_only_replace_is_not_written_to(shop: Promotions) -> None:
    plan = await shop.entry_plan()

    def none(point: str) -> None:
        if point == "disk:link":
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    assert (await shop.promote(plan, none)).applied  # a renaming that spares is enough


async def test_a_folder_that_cannot_be_written_leaves_the_plan_approved(shop: Promotions) -> None:
    plan = await shop.entry_plan()

    def refuse() -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    fault = await shop.refused(plan, at("disk:link", refuse))
    assert (fault.kind, (await shop.stored(plan)).state, shop.tree) == (Kind.IO_ERROR, "approved", {"./": b""})


async def test_a_file_that_cannot_be_read_says_nothing_of_the_plan(shop: Promotions) -> None:
    plan = await shop.entry_plan()

    def refuse() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    fault = await shop.refused(plan, at("disk:read", refuse))
    assert (fault.kind, (await shop.stored(plan)).state) == (Kind.IO_ERROR, "approved")
    assert (await shop.promote(plan)).applied


async def test_nothing_is_left_of_the_probe(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.memory.mkdir(parents=True)
    seen: list[list[str]] = []
    await shop.promote(plan, at("promote:2", lambda: seen.append(list(shop.tree))))

    assert seen == [[".remora-pre/memory/"]]


async def test_a_plan_is_stored_as_it_was_prepared(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    stored = await shop.stored(plan)

    assert (stored.policy_version, stored.assessment_digest) == (plan.policy_version, plan.assessment_digest)
    assert msgspec.json.decode(stored.document)["planId"] == plan.plan_id


def _written(shop: Promotions, plan: PromotionPlan, data: bytes) -> None:
    target = shop.root / plan.per_file[0].target_path
    target.parent.mkdir(parents=True)
    target.write_bytes(data)
