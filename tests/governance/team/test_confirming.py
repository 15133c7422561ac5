"""What a yes changes and what takes it back, a transaction each."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.team import confirming
from governance.team.contracts.promoting import PromotionPlan
from governance.team.contracts.rows import Plan
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, plans
from tests.support.clock import START
from tests.support.team_review import AGENT, Desk, a_desk

HOUR = 3_600_000
RULE = "Publish only from the release branch."


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


async def generated(desk: Desk) -> PromotionPlan:
    return await desk.prepare(msgspec.structs.replace(await desk.asked(), approval_digest=None))


async def approve(desk: Desk, plan: PromotionPlan, digest: str | None) -> Plan:
    return await desk.database.write(lambda connection: confirming.approved(connection, plan.plan_id, digest, AGENT))


async def stored(desk: Desk, plan: PromotionPlan) -> Plan:
    return await desk.database.read(lambda connection: plans.needed(connection, plan.plan_id))


async def test_a_generated_plan_is_approved_by_its_digest_and_confirms_its_statements(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    plan = await generated(desk)
    for digest in (None, "0" * 64):
        with pytest.raises(TeamFault) as refused:
            await approve(desk, plan, digest)
        assert refused.value.kind is Kind.PLAN_DIGEST_MISMATCH
    assert await desk.confirmed() == 0
    assert (await approve(desk, plan, plan.plan_digest)).state == "approved"
    assert await desk.supports(candidate.candidate_id) == {Support.HUMAN_CONFIRMED}
    await desk.database.read(
        lambda connection: confirming.unchanged(connection, plans.needed(connection, plan.plan_id))
    )


async def test_an_approved_plan_needs_no_digest_and_refuses_another_one(desk: Desk) -> None:
    await desk.entry(RULE)
    plan = await desk.prepare(await desk.asked())
    assert (await approve(desk, plan, None)).plan_digest == plan.plan_digest
    with pytest.raises(TeamFault) as refused:
        await approve(desk, plan, "0" * 64)
    assert refused.value.kind is Kind.PLAN_DIGEST_MISMATCH


@pytest.mark.parametrize("principal", ["runner", "policy", ""])
async def test_only_a_person_or_their_agent_may_approve(desk: Desk, principal: str) -> None:
    with pytest.raises(TeamFault) as refused:
        confirming.admitted(msgspec.structs.replace(AGENT, principal=principal))
    assert refused.value.kind is Kind.REVIEWER_KIND


async def test_two_generated_plans_of_one_item_are_not_both_approved(desk: Desk) -> None:
    await desk.entry(RULE)
    first = await generated(desk)
    await desk.entry("Tag every release.")
    second = await generated(desk)
    await approve(desk, first, first.plan_digest)
    with pytest.raises(TeamFault) as refused:
        await approve(desk, second, second.plan_digest)
    assert refused.value.kind is Kind.PLAN_STATE_INVALID
    assert (await stored(desk, second)).state == "generated"


async def test_a_plan_whose_item_moved_on_is_stale_and_one_that_is_assessed_otherwise_drifted(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    plan = await stored(desk, await desk.prepare(await desk.asked()))
    await desk.execute("UPDATE team_assessment SET strength = 'observed'")
    with pytest.raises(TeamFault) as drifted:
        await desk.database.read(lambda connection: confirming.unchanged(connection, plan))
    assert drifted.value.kind is Kind.BINDING_DRIFT
    await desk.execute("UPDATE team_candidate SET revision = 7 WHERE candidate_id = ?", candidate.candidate_id)
    with pytest.raises(TeamFault) as stale:
        await desk.database.read(lambda connection: confirming.unchanged(connection, plan))
    assert stale.value.kind is Kind.CANDIDATE_STALE and "revision 7" in stale.value.problem


async def test_a_voided_approval_is_taken_back_whole(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    plan = await desk.prepare(await desk.asked())
    was = await desk.database.write(
        lambda connection: confirming.voided(connection, plan.plan_id, START + 5, "target-drift")
    )
    assert was == "approved" and (await stored(desk, plan)).reason == "target-drift"
    assert await desk.confirmed() == 0
    now = await desk.database.read(lambda connection: candidates.get(connection, candidate.candidate_id))
    assert now is not None and (now.revision, now.state) == (candidate.revision + 1, candidate.state)
    with pytest.raises(TeamFault) as refused:
        await desk.database.write(lambda connection: confirming.voided(connection, plan.plan_id, START, "again"))
    assert refused.value.kind is Kind.PLAN_STATE_INVALID


async def test_a_generated_plan_that_is_voided_leaves_its_items_as_they_are(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    plan = await generated(desk)
    await desk.database.write(lambda connection: confirming.voided(connection, plan.plan_id, START, "discarded"))
    now = await desk.database.read(lambda connection: candidates.get(connection, candidate.candidate_id))
    assert now == candidate


async def test_facts_that_were_verified_stay_so_when_an_approval_is_taken_back(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    await desk.execute("UPDATE team_assessment SET support = 'typed-fact'")
    plan = await desk.prepare(await desk.asked())
    await desk.database.write(lambda connection: confirming.voided(connection, plan.plan_id, START, "drift"))
    assert await desk.supports(candidate.candidate_id) == {Support.TYPED_FACT}


async def test_a_plan_is_in_time_for_a_day(desk: Desk) -> None:
    await desk.entry(RULE)
    plan = await stored(desk, await desk.prepare(await desk.asked()))
    await desk.database.read(lambda connection: confirming.in_time(connection, plan, START + 24 * HOUR))
    with pytest.raises(TeamFault) as expired:
        await desk.database.read(lambda connection: confirming.in_time(connection, plan, START + 25 * HOUR))
    assert expired.value.kind is Kind.APPROVAL_EXPIRED
