"""Runs of consolidation: what waits, what succeeded, and what is due."""

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from governance.migrations import queue_steps
from governance.team.contracts.base import Owner
from governance.team.contracts.consolidating import EntryRevision, RunMode
from governance.team.contracts.rows import RunState
from governance.team.errors import Kind, TeamFault
from governance.team.store import runs
from governance.team.store.runs import Run
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

T = TypeVar("T")
OWNER = Owner(repository_key="r" * 64, worktree_key="w" * 64)
HERE = OWNER.worktree_key


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


def an_entry(name: int, version: int = 1) -> EntryRevision:
    return EntryRevision(id=f"mem_{name:032x}", digest=f"{version:064x}")


def a_run(number: int, state: RunState = RunState.PENDING_REVIEW, **other: object) -> Run:
    given = {
        "run_id": f"run-{number}",
        "owner": OWNER,
        "mode": "incremental",
        "state": state,
        "task_id": f"consolidate-{number}",
        "candidate_id": "" if state is RunState.NO_OP else f"consolidate-{number}-c1",
        "entries": (an_entry(number),),
        "number": number,
        "created_at": START,
        "changed_at": START,
    }
    return Run(**(given | other))  # type: ignore[arg-type]  # the fields of a Run


async def put(database: FakeDatabase, *made: Run) -> None:
    for run in made:
        await database.write(lambda connection, run=run: runs.put(connection, run))  # type: ignore[misc]  # bound


async def test_a_run_is_found_as_it_was_written_by_its_candidate_and_as_the_one_that_waits(
    database: FakeDatabase,
) -> None:
    await put(database, a_run(1, RunState.NO_OP), a_run(2))
    assert await database.read(lambda connection: runs.of_candidate(connection, "consolidate-2-c1")) == a_run(2)
    assert await database.read(lambda connection: runs.pending(connection, HERE)) == a_run(2)
    assert await database.read(lambda connection: runs.last(connection, HERE)) == a_run(2)
    assert await database.read(lambda connection: runs.pending(connection, "elsewhere")) is None
    assert await database.read(lambda connection: runs.of_candidate(connection, "")) is None


async def test_what_successful_runs_saw_is_not_due_and_what_changed_since_is(database: FakeDatabase) -> None:
    await put(database, a_run(1, RunState.APPLIED), a_run(2, RunState.NO_OP), a_run(3, RunState.STALE), a_run(4))
    now = [an_entry(1), an_entry(2, version=2), an_entry(3), an_entry(4)]
    assert await database.read(lambda connection: runs.due(connection, HERE, now)) == 3
    assert await database.read(lambda connection: runs.due(connection, "elsewhere", now)) == 4


async def test_a_run_ends_once(database: FakeDatabase) -> None:
    await put(database, a_run(1))
    assert await database.write(lambda connection: runs.applied(connection, "consolidate-1-c1", START + 5))
    assert not await database.write(lambda connection: runs.stale(connection, "consolidate-1-c1", START + 6))
    found = await database.read(lambda connection: runs.of_candidate(connection, "consolidate-1-c1"))
    assert found == a_run(1, RunState.APPLIED, changed_at=START + 5)


async def test_an_empty_answer_has_no_candidate_to_end(database: FakeDatabase) -> None:
    await put(database, a_run(1, RunState.NO_OP))
    assert not await database.write(lambda connection: runs.stale(connection, "", START))
    assert await database.read(lambda connection: runs.no_ops(connection, HERE)) == (a_run(1, RunState.NO_OP),)


async def test_a_row_that_cannot_be_read_is_a_fault_and_not_no_run(database: FakeDatabase) -> None:
    await put(database, a_run(1))
    await database.write(lambda connection: connection.execute("UPDATE team_run SET entry_set = '[1]'"))
    with pytest.raises(TeamFault) as fault:
        await database.read(lambda connection: runs.pending(connection, HERE))
    assert fault.value.kind is Kind.STATE_CORRUPT


class Runs(RuleBasedStateMachine):
    """Runs that begin, are applied, come to nothing, or had nothing to say, beside a model of them in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.database = FakeDatabase(queue_steps())
        self.made: list[Run] = []

    def do(self, work: Callable[..., T]) -> T:
        return work(self.database.connection)

    @property
    def waiting(self) -> list[Run]:
        return [run for run in self.made if run.state is RunState.PENDING_REVIEW]

    def begin(self, state: RunState, mode: RunMode, names: set[int]) -> None:
        number = self.do(runs.number)
        run = a_run(number, state, mode=mode, entries=tuple(an_entry(name) for name in sorted(names)))
        self.do(lambda connection: runs.put(connection, run))
        self.made.append(run)

    @initialize()
    def nothing_yet(self) -> None:
        assert self.do(lambda connection: runs.last(connection, HERE)) is None

    @precondition(lambda self: not self.waiting)
    @rule(mode=st.sampled_from(["incremental", "full"]), names=st.sets(st.integers(0, 5), max_size=4))
    def a_patch(self, mode: RunMode, names: set[int]) -> None:
        self.begin(RunState.PENDING_REVIEW, mode, names)

    @precondition(lambda self: not self.waiting)
    @rule(mode=st.sampled_from(["incremental", "full"]), names=st.sets(st.integers(0, 5), max_size=4))
    def an_empty_patch(self, mode: RunMode, names: set[int]) -> None:
        self.begin(RunState.NO_OP, mode, names)

    @rule(applied=st.booleans(), pick=st.integers(0, 30))
    def an_end(self, applied: bool, pick: int) -> None:
        """Of any candidate, also of one that ended before: only one that waits ends."""
        candidates = [run for run in self.made if run.candidate_id]
        if not candidates:
            return
        run = candidates[pick % len(candidates)]
        end = runs.applied if applied else runs.stale
        ended = self.do(lambda connection: end(connection, run.candidate_id, START + 1))
        assert ended is (run.state is RunState.PENDING_REVIEW)
        if ended:
            state = RunState.APPLIED if applied else RunState.STALE
            place = self.made.index(run)
            self.made[place] = a_run(run.number, state, mode=run.mode, entries=run.entries, changed_at=START + 1)

    @invariant()
    def the_table_says_what_happened(self) -> None:
        successes = [run for run in self.made if run.state in (RunState.APPLIED, RunState.NO_OP)]
        assert self.do(lambda connection: runs.pending(connection, HERE)) == next(iter(self.waiting), None)
        assert self.do(lambda connection: runs.last(connection, HERE)) == (self.made[-1] if self.made else None)
        assert self.do(lambda connection: runs.succeeded(connection, HERE)) == (successes[-1] if successes else None)
        assert self.do(lambda connection: runs.seen(connection, HERE)) == {e for run in successes for e in run.entries}


TestRuns = Runs.TestCase
TestRuns.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
