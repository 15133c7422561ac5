"""stage as a whole: whatever order two agents come in, wherever a step is stopped."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from governance.migrations import queue_steps
from governance.team import payloads, queueing
from governance.team.contracts.rows import CandidateState, ChunkState, TaskState
from governance.team.contracts.staging import AdjudicationTask, Staged
from governance.team.errors import Kind, TeamFault
from governance.team.pooling import encoded
from governance.team.store import candidates, reopening, submissions, tasks, texts
from governance.team.store.submissions import Stage as StageName
from governance.team.store.submissions import StageState
from tests.support.fakes import FakeDatabase
from tests.support.team_recall import a_turn
from tests.support.team_stage import FakePrivates, Stage, a_stage, fields, refused, skip, update

HERON = "The heron gateway is ours."
TEXTS = (HERON, "The heron is a bird.", "Wait for the tests.")
HOLDERS = ("one", "two")


class StoppedError(Exception):
    """The process ended here."""


class StoppableDatabase(FakeDatabase):
    """`writes_left`: so many transactions are committed, then the process ends; None: it goes on."""

    writes_left: int | None = None

    async def write(self, work: Any) -> Any:
        if self.writes_left is not None:
            if self.writes_left == 0:
                raise StoppedError
            self.writes_left -= 1
        return await super().write(work)


def a_stage_in_memory(root: Path) -> Stage:
    database = StoppableDatabase(queue_steps())
    return Stage(database, root, *(a_turn(place) for place in range(3)), privates=FakePrivates())


# ------------------------------------------------------------------------------------------------------- two agents

STEP = st.one_of(
    st.tuples(st.just("recall"), st.sampled_from(HOLDERS), st.just(0)),
    st.tuples(st.just("draft"), st.sampled_from(HOLDERS), st.integers(0, 2)),
    st.tuples(st.just("decide"), st.sampled_from(HOLDERS), st.integers(0, 1)),
    st.tuples(st.just("wait"), st.just("one"), st.sampled_from([1_000, 200_000, 400_000])),
)
EXPECTED = {Kind.TASK_NOT_CLAIMABLE, Kind.SUBMISSION_CONFLICT, Kind.LEASE_LOST}


@settings(max_examples=120, deadline=None)
@given(st.lists(STEP, min_size=2, max_size=14), st.booleans())
def test_in_any_order_of_two_agents_one_batch_and_one_decision_are_taken(steps, with_token):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_in_order(Path(folder).resolve(), steps, with_token))


async def _in_order(root: Path, steps: list[tuple[str, str, int]], with_token: bool) -> None:
    stage = a_stage_in_memory(root)
    first = await stage.task(holder="one")
    held = {"one": first, "two": first}
    taken: list[tuple[int, AdjudicationTask]] = []
    decided: list[tuple[int, Staged]] = []
    for act, holder, number in steps:
        try:
            match act:
                case "recall":
                    found = await stage.tasks(holder=holder)
                    held[holder] = found[0] if found else held[holder]
                case "draft":
                    batch = stage.batch(held[holder], *TEXTS[: number + 1], token=with_token)
                    answer = await stage.staging.draft(stage.bound, stage.call(holder), batch)
                    assert isinstance(answer, AdjudicationTask)
                    taken.append((number, answer))
                case "decide" if taken:
                    task = taken[-1][1]
                    refs = [one.draft_ref for one in task.drafts]
                    chosen = [skip(refs[0], refs[1])] if number and len(refs) > 1 else []
                    done = await stage.adjudicate(task, *chosen, holder=holder)
                    decided.append((len(chosen), done))
                case "wait":
                    stage.now += number
        except TeamFault as fault:
            assert fault.kind in EXPECTED, fault
    assert len({number for number, _ in taken}) <= 1
    assert len({encoded(msgspec.structs.replace(answer, idempotent=False)) for _, answer in taken}) <= 1
    assert [answer.idempotent for _, answer in taken] == [False, *[True] * len(taken)][: len(taken)]
    assert len({chosen for chosen, _ in decided}) <= 1
    assert [done.idempotent for _, done in decided] == [False, *[True] * len(decided)][: len(decided)]
    states = await stage.states()
    assert sum(states.values()) == (taken[0][0] + 1 if taken else 0)
    assert ("draft" in states) == (bool(taken) and not decided)


# ------------------------------------------------------------------------------------------------ the record's states

_NEXT = {
    None: {None, StageState.SUBMITTING, StageState.ADJUDICATING, StageState.AWAITING, StageState.COMPLETE},
    StageState.SUBMITTING: {*StageState, None} - {StageState.DECIDING},
    StageState.ADJUDICATING: {StageState.ADJUDICATING, StageState.AWAITING, StageState.COMPLETE},
    StageState.AWAITING: {StageState.AWAITING, StageState.COMPLETE},
    StageState.COMPLETE: {StageState.COMPLETE},
}
_CHUNKS = {
    None: ChunkState.PENDING,
    StageState.SUBMITTING: ChunkState.PENDING,
    StageState.ADJUDICATING: ChunkState.DRAFTED,
    StageState.AWAITING: ChunkState.DRAFTED,
    StageState.COMPLETE: ChunkState.EXTRACTED,
}
_LIVES = {
    CandidateState.DRAFT: {CandidateState.DRAFT, CandidateState.STAGED, CandidateState.DISCARDED},
    CandidateState.STAGED: {CandidateState.STAGED, CandidateState.DISCARDED, CandidateState.PROMOTED},
    CandidateState.DISCARDED: {CandidateState.DISCARDED},
    CandidateState.PROMOTED: {CandidateState.PROMOTED},
}


class StageMachine(RuleBasedStateMachine):
    """One chunk, answered by two sessions that are stopped anywhere, while files and candidates change."""

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp()).resolve()
        self.stage = a_stage_in_memory(self.folder)
        self.database: StoppableDatabase = self.stage.database
        self.entry = self.stage.approve("The heron gateway is theirs.")
        self.task = self.run(self.stage.task())
        self.open: AdjudicationTask | None = None
        self.state: StageState | None = None
        self.seen: dict[str, tuple[CandidateState, int]] = {}
        self.generation = 0
        self.waits = 0

    def run(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(what)

    def attempt(self, what: Coroutine[Any, Any, Any], writes: int | None) -> Any:
        """The answer; None: it was refused, or the process was stopped after so many transactions."""
        self.database.writes_left = writes
        try:
            return self.run(what)
        except (TeamFault, StoppedError):
            return None
        finally:
            self.database.writes_left = None

    @rule(
        number=st.integers(0, 2),
        holder=st.sampled_from(HOLDERS),
        writes=st.sampled_from([None, None, None, 0, 1, 2, 3, 4]),
    )
    def draft(self, number: int, holder: str, writes: int | None) -> None:
        batch = self.stage.batch(self.task, *TEXTS[: number + 1])
        answer = self.attempt(self.stage.staging.draft(self.stage.bound, self.stage.call(holder), batch), writes)
        if isinstance(answer, AdjudicationTask):
            self.open, self.number = answer, number

    @precondition(lambda self: self.waits >= 2)  # else hardly anything else would be seen
    @rule(holder=st.sampled_from(HOLDERS))
    def nothing(self, holder: str) -> None:
        call = self.stage.call(holder)
        self.attempt(self.stage.staging.draft(self.stage.bound, call, self.stage.batch(self.task)), None)

    @precondition(lambda self: self.open is not None)
    @rule(what=st.sampled_from(["store", "skip", "update"]), writes=st.sampled_from([None, None, 0, 1, 2]))
    def decide(self, what: str, writes: int | None) -> None:
        ref = self.open.drafts[0].draft_ref
        chosen = {
            "store": [],
            "skip": [skip(ref, self.entry)],
            "update": [update(ref, self.entry, fields(("The heron gateway was theirs.", ())))],
        }[what]
        self.attempt(self.stage.adjudicate(self.open, *chosen), writes)

    @precondition(lambda self: self.open is not None)
    @rule(holder=st.sampled_from(HOLDERS))
    def compare_again(self, holder: str) -> None:
        """What a session does after binding-drift: the same batch once more."""
        batch = self.stage.batch(self.task, *TEXTS[: self.number + 1])
        answer = self.attempt(self.stage.staging.draft(self.stage.bound, self.stage.call(holder), batch), None)
        if isinstance(answer, AdjudicationTask):
            self.open = answer
            self.attempt(self.stage.adjudicate(answer), None)

    @rule(content=st.sampled_from(["The heron gateway is theirs.", "The heron gateway is nobody's.", "A bird."]))
    def edit(self, content: str) -> None:
        file = next(self.folder.rglob("entries/*.md"))
        head = file.read_text("utf-8").partition("-->\n")[0]
        file.write_text(f"{head}-->\n{content}\n", "utf-8")

    @precondition(lambda self: self.seen)
    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        candidate_id = data.draw(st.sampled_from(sorted(self.seen)))
        candidate = self.run(self.stage.candidate(candidate_id))
        call = self.stage.call()
        self.attempt(self.database.write(lambda c: queueing.discard(c, candidate, "given up", call)), None)

    @rule(by=st.sampled_from([1_000, 400_000]))
    def wait(self, by: int) -> None:
        self.stage.now += by
        self.waits += 1

    @invariant()
    def everything_is_in_its_place(self) -> None:
        if not hasattr(self, "stage"):
            return
        connection, owner = self.database.connection, self.stage.bound.owner
        record = submissions.get(connection, self.task.task_id, StageName.DRAFT)
        state = None if record is None else record.state
        assert state in _NEXT[self.state], (self.state, state)
        assert tasks.chunk(connection, self.task.task_id) is _CHUNKS[state]
        row = tasks.needed(connection, self.task.task_id, owner)
        answered = state in (StageState.ADJUDICATING, StageState.AWAITING, StageState.COMPLETE)
        assert (row.state is TaskState.SUBMITTED) == answered
        self.state = state
        made = candidates.of_task(connection, self.task.task_id)
        for one in made:
            before, revision = self.seen.get(one.candidate_id, (CandidateState.DRAFT, 1))
            assert one.state in _LIVES[before]
            assert one.revision == revision if one.state is before else one.revision > revision
            self.seen[one.candidate_id] = (one.state, one.revision)
            stated = {said.statement_id for said in payloads.entry(one).statements}
            assert {said.statement_id for said in candidates.assessments(connection, one.candidate_id)} == stated
        searched = texts.items(connection, owner.worktree_key, texts.Source.CANDIDATE)
        assert searched == {one.candidate_id for one in made if one.state in candidates.OPEN}
        generation = candidates.projection(connection, owner).generation
        assert generation >= self.generation
        self.generation = generation

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.runner.close()
            shutil.rmtree(self.folder, ignore_errors=True)


StageMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestStageRecord = StageMachine.TestCase


# ------------------------------------------------------------------------------------------------------------- others


async def test_a_task_that_was_answered_otherwise_takes_no_drafts(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        await stage.staging.draft(stage.bound, stage.call(), stage.batch(task))
        await refused(
            Kind.SUBMISSION_CONFLICT, stage.staging.draft(stage.bound, stage.call(), stage.batch(task, HERON))
        )


async def test_a_task_that_was_given_up_and_opened_again_counts_on(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        batch = stage.batch(task, HERON, "The heron is a bird.")
        first = await stage.staging.draft(stage.bound, stage.call(), batch)
        for ref in (one.draft_ref for one in first.drafts):
            draft = await stage.candidate(ref)
            await stage.database.write(lambda c, draft=draft: queueing.discard(c, draft, "", stage.call()))
        await stage.database.write(lambda c: reopening.reopened(c, task.task_id, stage.now))
        await refused(Kind.BINDING_DRIFT, stage.adjudicate(first))
        again = await stage.task()
        assert again.task_id == task.task_id
        second = await stage.staging.draft(stage.bound, stage.call(), batch)
        assert [one.draft_ref for one in second.drafts] == [f"{task.task_id}-c3", f"{task.task_id}-c4"]
        await stage.adjudicate(second)
        assert await stage.states() == {"discarded": 2, "staged": 2}


async def test_several_drafts_are_one_generation(tmp_path):
    async with a_stage(tmp_path) as stage:
        before = await stage.generation()
        await stage.draft(*TEXTS)
        assert await stage.generation() == before + 1


async def test_two_holders_at_once_have_one_winner(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        stage.now += 400_000  # nobody's any more
        sent = [
            stage.staging.draft(stage.bound, stage.call(holder), stage.batch(task, text))
            for holder, text in zip(HOLDERS, TEXTS, strict=False)
        ]
        answers = await asyncio.gather(*sent, return_exceptions=True)
        assert sorted(type(one).__name__ for one in answers) == ["AdjudicationTask", "TeamFault"]
        assert await stage.states() == {"draft": 1}


async def test_one_document_sent_twice_at_once_is_taken_in_once(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.task()
        batch = stage.batch(task, HERON)
        answers = await asyncio.gather(
            *(stage.staging.draft(stage.bound, stage.call(), batch) for _ in range(4)), return_exceptions=True
        )
        ids = {one.task_id for one in answers if isinstance(one, AdjudicationTask)}
        faults = [one for one in answers if isinstance(one, BaseException)]
        assert len(ids) == 1
        assert faults == []
        assert await stage.states() == {"draft": 1}


@pytest.mark.parametrize("count", [0, 1, 8])
async def test_up_to_eight_drafts_are_staged_each_under_its_number(tmp_path, count):
    async with a_stage(tmp_path) as stage:
        said = [f"Heron number {n} is ours." for n in range(count)]
        task = await stage.task()
        answer = await stage.staging.draft(stage.bound, stage.call(), stage.batch(task, *said))
        if not count:
            assert isinstance(answer, Staged)
            return
        assert [one.draft_ref for one in answer.drafts] == [f"{task.task_id}-c{n}" for n in range(1, count + 1)]
        done = await stage.adjudicate(answer)
        assert len({one.target_path for one in done.candidates}) == count
