"""`discard`: what was proposed is given up, and what was answered can be answered otherwise."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.review import State
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.results import Discarded, DiscardRequest
from governance.team.contracts.rows import CandidateState, ChunkState, TaskState
from governance.team.discarding import Discarding
from governance.team.errors import Kind, TeamFault
from tests.support.team_recall import FORMATS
from tests.support.team_stage import Stage, a_stage, skip

WORDS = "Publish only from the release branch."


class Closed:
    """Stands for what ends a plan."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []

    async def __call__(self, bound: Bound, call: Call, plan_id: str, keep_files: bool) -> Discarded:
        self.asked.append((plan_id, keep_files))
        return Discarded(format=FORMATS.document("discarded"), id=plan_id, kind="plan", state="voided")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as made:
        yield made


async def discard(stage: Stage, closed: Closed | None = None, **named: object) -> Discarded:
    discarding = Discarding(stage.database, FORMATS, closed or Closed())
    return await discarding.discard(stage.bound, stage.call(), DiscardRequest(**named))  # type: ignore[arg-type]


async def refused(stage: Stage, **named: object) -> Kind:
    with pytest.raises(TeamFault) as caught:
        await discard(stage, **named)
    assert caught.value.next_step
    return caught.value.kind


async def test_a_staged_candidate_is_given_up_once(stage: Stage) -> None:
    (one,) = await stage.staged(WORDS)

    done = await discard(stage, candidate_id=one.candidate_id, revision=one.revision, reason="said elsewhere")
    again = await discard(stage, candidate_id=one.candidate_id, revision=one.revision)

    assert (done.state, done.idempotent, again.state, again.idempotent) == ("discarded", False, "discarded", True)
    after, item = await stage.candidate(one.candidate_id), await stage.item(one.candidate_id)
    assert (after.state, after.reason, after.revision) == (CandidateState.DISCARDED, "said elsewhere", one.revision + 1)
    assert item is not None and item.state is State.DISCARDED
    assert await stage.searched("candidate") == frozenset()


async def test_a_candidate_is_given_up_as_it_was_seen(stage: Stage) -> None:
    (one,) = await stage.staged(WORDS)

    assert await refused(stage, candidate_id=one.candidate_id, revision=one.revision - 1) is Kind.CANDIDATE_STALE
    assert await refused(stage, candidate_id=one.candidate_id) is Kind.CANDIDATE_STALE
    assert await refused(stage, candidate_id="extract-0-c1", revision=1) is Kind.CANDIDATE_NOT_FOUND
    assert (await stage.candidate(one.candidate_id)).state is CandidateState.STAGED


async def test_a_task_that_somebody_holds_is_open_again(stage: Stage) -> None:
    task = await stage.task()

    done = await discard(stage, task_id=task.task_id)
    again = await discard(stage, task_id=task.task_id)

    assert (done.state, done.idempotent, again.idempotent) == ("pending", False, True)
    assert (await stage.row(task.task_id)).state is TaskState.PENDING
    assert (await stage.task(holder="two")).task_id == task.task_id


async def test_a_task_whose_answers_were_given_up_can_be_answered_otherwise(stage: Stage) -> None:
    (one,) = await stage.staged(WORDS)
    assert await refused(stage, task_id=one.task_id) is Kind.TASK_NOT_CLAIMABLE
    await discard(stage, candidate_id=one.candidate_id, revision=one.revision)

    done = await discard(stage, task_id=one.task_id)
    (other,) = await stage.staged("Publish from a tag alone.")

    assert done.state == "pending"
    assert (other.task_id, other.candidate_id) == (one.task_id, f"{one.task_id}-c2")
    assert await stage.chunk(one.task_id) is ChunkState.EXTRACTED


async def test_drafts_that_nobody_decided_upon_go_with_their_task(stage: Stage) -> None:
    compared = await stage.draft(WORDS)
    (draft,) = compared.drafts
    task_id = (await stage.candidate(draft.draft_ref)).task_id

    await discard(stage, task_id=task_id)

    assert (await stage.candidate(draft.draft_ref)).state is CandidateState.DISCARDED
    assert (await stage.row(compared.task_id)).state is TaskState.STALE
    assert (await stage.task()).task_id == task_id


async def test_what_was_answered_with_nothing_is_offered_again(stage: Stage) -> None:
    task = await stage.task()
    await stage.staging.draft(stage.bound, stage.call(), stage.batch(task))
    assert await stage.tasks() == ()

    await discard(stage, task_id=task.task_id)

    assert (await stage.task()).task_id == task.task_id


async def test_a_comparison_is_stale_once_it_is_given_up(stage: Stage) -> None:
    compared = await stage.draft(WORDS)

    done = await discard(stage, task_id=compared.task_id, reason="not now")

    assert done.state == "stale"
    assert (await stage.row(compared.task_id)).reason == "not now"
    assert (await discard(stage, task_id=compared.task_id)).idempotent


async def test_an_answered_comparison_stands(stage: Stage) -> None:
    known = stage.approve(WORDS)
    compared = await stage.draft(WORDS)
    await stage.adjudicate(compared, skip(compared.drafts[0].draft_ref, known))

    assert await refused(stage, task_id=compared.task_id) is Kind.TASK_NOT_CLAIMABLE


async def test_a_plan_is_ended_by_what_knows_its_files(stage: Stage) -> None:
    closed = Closed()

    done = await discard(stage, closed, plan_id="plan-1", keep_files=True)

    assert (done.state, closed.asked) == ("voided", [("plan-1", True)])


@pytest.mark.parametrize("named", [{}, {"task_id": "t", "plan_id": "p"}, {"candidate_id": "c", "task_id": "t"}])
async def test_one_thing_is_given_up_at_a_time(stage: Stage, named: dict[str, str]) -> None:
    assert await refused(stage, **named) is Kind.REQUEST_INVALID
