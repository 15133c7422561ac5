"""What follows from a written plan is one transaction: all of it, or none."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.formation.store import items
from governance.review import ItemKind, State
from governance.team import queueing
from governance.team.completing import completed, superseded
from governance.team.contracts.rows import CandidateState
from governance.team.errors import Kind, TeamFault
from governance.team.store import plans
from tests.support.team_promoting import FIRST, SECOND, Promotions, promotions
from tests.support.team_review import AGENT


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path) as made:
        yield made


async def test_the_item_in_the_queue_is_promoted_with_its_candidate(shop: Promotions) -> None:
    made = await shop.desk.entry(FIRST)
    proposal = queueing.Proposal(kind=ItemKind.ENTRY, title="Publish", text=FIRST)
    await shop.desk.database.write(
        lambda connection: queueing.staged(connection, made, proposal, shop.desk.bound, AGENT)
    )
    await shop.promote(await shop.planned(made))

    item = await shop.desk.database.read(lambda connection: items.get(connection, made.candidate_id))
    assert item is not None and item.state is State.PROMOTED


async def test_a_candidate_is_searched_no_more_and_knows_its_plan(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    await shop.promote(plan)

    held = "SELECT plan_id FROM team_candidate"
    found = await shop.desk.database.read(lambda connection: connection.execute(held).fetchall())
    assert found == [(plan.plan_id,)]


async def test_one_candidate_that_is_another_by_now_undoes_all_of_it(shop: Promotions) -> None:
    one, two = await shop.desk.entry(FIRST), await shop.desk.entry(SECOND)
    plan = await shop.planned(one, two)
    stored, files = await shop.stored(plan), await shop.files(plan)
    await shop.desk.execute("UPDATE team_plan SET state = 'applying', phase = 'mutating'")
    await shop.desk.execute("UPDATE team_candidate SET state = 'discarded' WHERE candidate_id = ?", two.candidate_id)

    with pytest.raises(TeamFault) as refused:
        await shop.desk.database.write(
            lambda connection: completed(connection, shop.queue, stored, files, shop.desk.now)
        )
    assert refused.value.kind is Kind.CANDIDATE_STALE
    assert await shop.state(one.candidate_id) == (CandidateState.STAGED, 2)
    assert (await shop.stored(plan)).state == "applying"


async def test_a_candidate_that_is_gone_undoes_all_of_it(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    stored, files = await shop.stored(plan), await shop.files(plan)
    await shop.desk.execute("DELETE FROM team_candidate")

    with pytest.raises(TeamFault) as refused:
        await shop.desk.database.write(
            lambda connection: completed(connection, shop.queue, stored, files, shop.desk.now)
        )
    assert refused.value.kind is Kind.CANDIDATE_NOT_FOUND


async def test_what_is_superseded_is_told_of_entries_and_private_records(shop: Promotions) -> None:
    made = await shop.desk.entry(FIRST)
    plan = await shop.planned(made)
    encoded = '[{"sourceKind":"approved","id":"mem_a"},{"sourceKind":"private","id":"mem_b"},'
    await shop.desk.execute(
        "UPDATE team_candidate SET supersedes = ?", encoded + '{"sourceKind":"candidate","id":"x"}]'
    )

    found = await shop.desk.database.read(
        lambda connection: superseded(connection, plans.needed(connection, plan.plan_id))
    )
    assert found == ("mem_a", "mem_b")
