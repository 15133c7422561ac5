"""The unattended run: off by default, two calls at most, and never further than staged."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.formation.errors import ModelError, ModelErrorKind
from governance.team.contracts.rows import CandidateState
from governance.team.contracts.staging import Staged
from governance.team.errors import Kind, TeamFault
from governance.team.running import Running
from tests.support.team_running import Runner, a_draft, a_runner, stores


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[Runner]:
    async with a_runner(tmp_path) as made:
        yield made


async def test_it_is_off_by_default_and_asks_no_model(runner: Runner) -> None:
    assert Running.__dataclass_fields__["enabled"].default is False
    runner.running = runner.as_set(enabled=False)
    with pytest.raises(TeamFault) as fault:
        await runner.run()
    assert fault.value.kind is Kind.REQUEST_INVALID and "[team]" in fault.value.next_step
    assert runner.model.requests == []


async def test_a_portion_is_drafted_decided_about_and_staged(runner: Runner) -> None:
    done = await runner.run(a_draft, stores)
    (made,) = done.candidates
    candidate = await runner.stage.candidate(made.candidate_id)
    assert candidate.state is CandidateState.STAGED
    assert len(runner.model.requests) == 2 and runner.model.answers == []


async def test_nothing_worth_keeping_closes_the_portion(runner: Runner) -> None:
    done = await runner.run({"candidates": []})
    assert done.done and done.candidates == ()
    again = await runner.run()
    assert again.candidates == () and again.note and len(runner.model.requests) == 1


async def test_drafts_that_fell_are_told(runner: Runner) -> None:
    def two(request: object) -> dict[str, object]:
        good = a_draft(request)["candidates"]
        return {"candidates": [good[0] | {"priority": 900}, *good]}

    done = await runner.run(two, stores)
    assert [(one.index, one.code) for one in done.rejected] == [(0, "schema")]
    assert len(done.candidates) == 1


async def test_a_decision_that_was_not_made_is_made_by_the_next_run(runner: Runner) -> None:
    gone = ModelError(ModelErrorKind.UNAVAILABLE, "Nobody answers.")
    with pytest.raises(ModelError):
        await runner.run(a_draft, gone)
    assert await runner.stage.states() == {"draft": 1}
    done = await runner.run(stores)
    assert len(done.candidates) == 1 and await runner.stage.states() == {"staged": 1}


async def test_the_drafts_of_an_agent_are_left_to_it(runner: Runner) -> None:
    task = await runner.stage.draft("Number 2 is done by hand.")
    done = await runner.run()
    assert done.candidates == () and runner.model.requests == []
    assert (await runner.stage.adjudicate(task)).candidates


async def test_an_answer_that_cannot_be_used_stages_nothing(runner: Runner) -> None:
    with pytest.raises(TeamFault) as fault:
        await runner.run("I would rather not.")
    assert fault.value.kind is Kind.SCHEMA_INVALID
    assert await runner.stage.states() == {}
    assert isinstance(await runner.run(a_draft, stores), Staged)


async def test_without_a_request_it_consolidates(runner: Runner) -> None:
    await runner.trust()
    runner.stage.approve("Builds are cached.")
    operation = {
        "operationId": "o1",
        "op": "create",
        "target": "scene",
        "name": "Builds",
        "newContent": "Builds are cached.",
        "summary": "Builds",
        "rationale": "It came up.",
    }
    done = await runner.run({"operations": [operation]}, consolidate=True)
    candidate = await runner.stage.candidate(done.candidates[0].candidate_id)
    assert (candidate.kind, candidate.state) == ("consolidation", CandidateState.STAGED)
    assert (await runner.run(consolidate=True)).note


async def test_what_it_stages_is_the_work_of_a_runner(runner: Runner) -> None:
    done = await runner.run(a_draft, stores)
    task = await runner.stage.row(done.candidates[0].candidate_id.rpartition("-c")[0])
    assert task.holder.startswith("runner:")
    item = await runner.stage.item(done.candidates[0].candidate_id)
    assert item is not None and item.proposed_by != "human"
