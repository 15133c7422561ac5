"""What was staged is reviewed, confirmed and promoted over its real citations (team.md 15, items 12, 20 and 21)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from governance.formation.queue import Queue
from governance.team.contracts.staging import AdjudicationTask
from governance.team.errors import Kind, TeamFault
from governance.team.store import bindings
from recall.team_entry import Entry, parse
from tests.support.team_promoting import Promotions
from tests.support.team_recall import a_turn, an_event
from tests.support.team_review import Desk
from tests.support.team_stage import KEY, Stage, a_stage, fields, merge

SAID = "We wait for the tests, they take five minutes, see /home/anna/log."
SESSIONS = tuple(
    a_turn(place, an_event("user", SAID, place * 10), an_event("assistant", "Noted.", place * 10 + 1), session=session)
    for session in ("session-a", "session-b")
    for place in range(3)
)


@asynccontextmanager
async def a_shop(folder: Path) -> AsyncIterator[tuple[Stage, Promotions]]:
    """A worktree in which candidates are staged, and what reviews and promotes them."""
    async with a_stage(folder, *SESSIONS) as stage:
        desk = Desk(
            database=stage.database,
            bound=stage.bound,
            citations=stage.citing,
            history=stage.recalled.history,
            now=stage.now,
        )
        await stage.database.write(lambda connection: bindings.put(connection, stage.bound, stage.now))
        yield stage, Promotions(desk=desk, folder=folder, queue=Queue(stage.database, KEY))


async def drafted(stage: Stage, number: int, content: str) -> AdjudicationTask:
    task = (await stage.tasks())[number]
    found = await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, content))
    assert isinstance(found, AdjudicationTask)
    return found


@pytest.mark.promise("team-12")
async def test_item_12_statements_of_a_part_are_refused_and_those_of_the_merge_carry_what_they_inherit(
    tmp_path: Path,
) -> None:
    async with a_shop(tmp_path) as (stage, shop):
        first = await drafted(stage, 0, "Wait five minutes for the tests.")
        await stage.adjudicate(first)
        part = first.drafts[0].draft_ref
        (was,) = (await shop.desk.asked(ids=[part])).candidates
        task = await drafted(stage, 0, "Wait for the tests first.")
        (draft,) = task.drafts
        merged = fields(
            ("Wait for the tests before a release.", draft.statements[0].evidence_ids),
            ("They take five minutes.", [f"target:{part}/s1"]),
        )
        await stage.adjudicate(task, merge(draft.draft_ref, [part], merged))

        review = await shop.desk.review()
        (item,) = review.items
        assert item.candidate_id == draft.draft_ref and review.approval is not None
        own, inherited = (statement.evidence for statement in item.statements)
        assert len(own) == len(inherited) == 1
        assert inherited[0].quote == "We wait for the tests, they take five minutes, see ~/log."
        request = review.approval.prepare_request
        (now,) = request.candidates
        assert {one.citations_digest for one in was.statements} < {one.citations_digest for one in now.statements}
        for statements in (was.statements, (*was.statements, *now.statements)):
            asked = msgspec.structs.replace(now, statements=statements)
            with pytest.raises(TeamFault) as refused:
                await shop.desk.prepare(msgspec.structs.replace(request, candidates=(asked,)))
            assert refused.value.kind is Kind.APPROVAL_MISMATCH and "statements" in refused.value.problem
        assert await shop.desk.confirmed() == 0
        assert (await shop.promote(await shop.desk.prepare(request))).applied


@pytest.mark.promise("team-20")
async def test_item_20_a_cited_session_that_is_deleted_after_prepare_is_drift(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as (stage, shop):
        await stage.adjudicate(await drafted(stage, 0, "Wait five minutes for the tests."))
        request = await shop.desk.asked()
        plan = await shop.desk.prepare(request)
        for key in [key for key in stage.recalled.history.contents if "session-a" in key]:
            del stage.recalled.history.contents[key]
        fault = await shop.refused(plan)
        assert fault.kind is Kind.BINDING_DRIFT
        assert (await shop.stored(plan)).state == "voided" and await shop.desk.confirmed() == 0
        assert not list(shop.root.rglob("*.md"))
        review = await shop.desk.review()
        assert [one.kind for one in review.broken] == ["binding-drift"] and review.approval is None


@pytest.mark.promise("team-21")
async def test_item_21_no_name_of_a_session_or_turn_and_no_home_folder_stands_in_a_file(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as (stage, shop):
        await stage.adjudicate(await drafted(stage, 0, "Wait five minutes, see /home/anna/log and /Users/anna/log."))
        plan = await shop.desk.prepare(await shop.desk.asked())
        assert (await shop.promote(plan)).applied
        data = (shop.root / plan.per_file[0].target_path).read_bytes()
        entry = parse(data)
        assert isinstance(entry, Entry) and entry.content == "Wait five minutes, see ~/log and ~/log."
        cited = list(stage.recalled.history.contents)
        hidden = ["anna", "session-a", *cited, stage.bound.owner.worktree_key, stage.bound.root, "extract-"]
        assert not [one for one in hidden if one in data.decode()]
        assert len(entry.occurred) == 1
