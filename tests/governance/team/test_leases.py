"""Leases: one holder at a time, and nothing is lost when one dies."""

import sqlite3
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from governance.migrations import queue_steps
from governance.team import leases
from governance.team.contracts.rows import ChunkState, ChunkTurn, Task, TaskKind, TaskState
from governance.team.errors import Kind, TeamFault
from governance.team.leases import Issue
from governance.team.store import tasks
from tests.support.clock import START, CountedIds
from tests.support.fakes import FakeDatabase
from tests.support.team_recall import a_bound, a_call

OWNER = a_bound().owner
SECOND = 1000
TASK = Task(
    task_id="extract-1",
    kind=TaskKind.RECALL,
    owner=OWNER,
    state=TaskState.PENDING,
    source_digest="d",
    document="{}",
    created_at=START,
    changed_at=START,
)


class Desk:
    """A task with a chunk, and what people do with it, each in a transaction of its own."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection = FakeDatabase(queue_steps()).connection
        self.issue = Issue.of(CountedIds())
        tasks.put(self.connection, TASK)
        turns = [ChunkTurn(turn_key="t1", revision=1, payload_digest="p")]
        tasks.put_chunk(self.connection, TASK.task_id, OWNER, turns, START)

    @property
    def task(self) -> Task:
        return tasks.needed(self.connection, TASK.task_id, OWNER)

    def claim(self, holder: str = "one", after: int = 0) -> Task:
        return leases.claim(self.connection, self.task, a_call(holder, START + after * SECOND), self.issue)

    def admitted(self, token: str | None, holder: str = "one", after: int = 0) -> Task:
        call = a_call(holder, START + after * SECOND)
        return leases.admitted(self.connection, self.task, token, call, self.issue)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def fault(act: Callable[[], object]) -> Kind:
    with pytest.raises(TeamFault) as found:
        act()
    assert found.value.next_step
    return found.value.kind


def test_a_claim_gives_a_token_the_next_epoch_and_300_seconds(desk: Desk) -> None:
    task = desk.claim()
    assert (task.state, task.epoch, task.holder) == (TaskState.CLAIMED, 1, "one")
    assert task.lease_until == START + 300 * SECOND
    assert desk.task == task
    lease = leases.lease_of(task)
    assert (lease.token, lease.epoch, lease.expires_at) == (task.token, 1, "2026-05-28T20:31:40.000Z")


def test_the_same_holder_gets_the_same_token_back_and_more_time(desk: Desk) -> None:
    first, second = desk.claim(), desk.claim(after=100)
    assert (first.token, first.epoch) == (second.token, second.epoch)
    assert second.lease_until == START + 400 * SECOND


def test_another_waits_for_the_lease_and_then_has_an_epoch_of_their_own(desk: Desk) -> None:
    first = desk.claim()
    assert fault(lambda: desk.claim("two", after=299)) is Kind.TASK_NOT_CLAIMABLE
    second = desk.claim("two", after=300)
    assert second.epoch == 2
    assert second.token != first.token
    assert fault(lambda: desk.claim("one", after=301)) is Kind.TASK_NOT_CLAIMABLE


def test_a_token_that_was_given_again_is_lost(desk: Desk) -> None:
    first = desk.claim()
    desk.claim("two", after=300)
    assert fault(lambda: desk.admitted(first.token, after=301)) is Kind.LEASE_LOST


def test_a_token_that_nobody_took_over_still_holds_late_and_for_whoever_brings_it(desk: Desk) -> None:
    first = desk.claim()
    late = desk.admitted(first.token, "the same agent, started again", after=5000)
    assert (late.token, late.epoch, late.holder) == (first.token, 1, "the same agent, started again")
    assert late.lease_until == START + 5300 * SECOND
    assert desk.admitted(None, "the same agent, started again", after=5001).token == first.token


def test_an_answer_without_a_token_claims(desk: Desk) -> None:
    assert desk.admitted(None).epoch == 1
    assert fault(lambda: desk.admitted(None, "two", after=1)) is Kind.TASK_NOT_CLAIMABLE


def test_a_token_that_was_never_given_is_none(desk: Desk) -> None:
    assert fault(lambda: desk.admitted("")) is Kind.LEASE_LOST
    assert fault(lambda: desk.admitted("lease-made-up")) is Kind.LEASE_LOST
    assert desk.task == TASK


def test_what_was_answered_is_final(desk: Desk) -> None:
    done = leases.submitted(desk.connection, desk.claim(), START + 1)
    assert desk.task == done
    assert done.state is TaskState.SUBMITTED
    assert fault(desk.claim) is Kind.TASK_NOT_CLAIMABLE
    assert fault(lambda: desk.admitted(done.token)) is Kind.TASK_NOT_CLAIMABLE
    assert not leases.stale(desk.connection, desk.task, "late", START + 2)
    assert not leases.returned(desk.connection, desk.task, START + 2)


def test_what_is_stale_is_answered_by_nobody_and_says_why(desk: Desk) -> None:
    assert leases.stale(desk.connection, desk.claim(), "a turn of it has changed", START + 1)
    assert desk.task.state is TaskState.STALE
    assert tasks.chunk(desk.connection, TASK.task_id) is ChunkState.STALE
    with pytest.raises(TeamFault, match="a turn of it has changed") as found:
        desk.admitted(desk.task.token)
    assert found.value.kind is Kind.BINDING_DRIFT
    assert not leases.stale(desk.connection, desk.task, "again", START + 2)


def test_a_lease_that_was_given_again_is_not_made_stale_by_who_looked_before(desk: Desk) -> None:
    seen = desk.claim()
    again = desk.claim("two", after=300)
    assert not leases.stale(desk.connection, seen, "it has changed", START + 301 * SECOND)
    assert desk.task == again
    assert tasks.chunk(desk.connection, TASK.task_id) is ChunkState.PENDING


def test_who_lost_the_lease_cannot_submit(desk: Desk) -> None:
    mine = desk.claim()
    theirs = desk.claim("two", after=300)
    assert fault(lambda: leases.submitted(desk.connection, mine, START)) is Kind.LEASE_LOST
    assert desk.task == theirs


def test_a_task_that_is_given_back_waits_for_anybody(desk: Desk) -> None:
    mine = desk.claim()
    assert leases.returned(desk.connection, mine, START + 1)
    assert (desk.task.state, desk.task.epoch, desk.task.token) == (TaskState.PENDING, 1, "")
    assert leases.returned(desk.connection, desk.task, START + 2)
    assert fault(lambda: desk.admitted(mine.token, after=2)) is Kind.LEASE_LOST
    assert desk.claim("two", after=2).epoch == 2


def test_a_lease_is_24_hours_at_most() -> None:
    for seconds, given in ((10**9, 86_400), (0, 1), (-5, 1), (600, 600)):
        assert Issue.of(CountedIds(), seconds).until(START) == START + given * SECOND


def test_a_clock_that_was_set_back_shortens_no_lease(desk: Desk) -> None:
    first = desk.claim(after=1000)
    assert desk.claim(after=0).lease_until == first.lease_until


def test_a_clock_that_was_set_back_by_more_than_a_day_keeps_nobody_waiting(desk: Desk) -> None:
    """A lease that ends later than any lease may is of another time; who holds it goes on with it until then."""
    month = 30 * 86_400
    first = desk.claim("one", after=month)
    assert leases.claimable(desk.task, a_call("two"))
    assert desk.claim("one").token == first.token
    assert desk.claim("two").epoch == first.epoch + 1
    with pytest.raises(TeamFault):
        desk.admitted(first.token)


def test_what_would_be_given_is_known_before(desk: Desk) -> None:
    assert leases.claimable(desk.task, a_call("two"))
    task = desk.claim()
    assert leases.claimable(task, a_call())
    assert not leases.claimable(task, a_call("two"))
    assert leases.claimable(task, a_call("two", START + 300 * SECOND))
    assert not leases.claimable(msgspec.structs.replace(task, state=TaskState.STALE), a_call())


HOLDERS = st.sampled_from(["one", "two", "three"])


class Life(RuleBasedStateMachine):
    """What holders do in any order, against what the table of team.md 12 allows."""

    tokens: Bundle[str] = Bundle("tokens")

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.now = START
        self.state, self.epoch = TaskState.PENDING, 0
        self.holder, self.until, self.token = "", START, ""

    def _claims(self, holder: str, act: Callable[[], Task]) -> Task | None:
        live = self.state is TaskState.CLAIMED and self.until > self.now
        allowed = self.state in (TaskState.PENDING, TaskState.CLAIMED) and (not live or self.holder == holder)
        if not allowed:
            assert fault(act) in (Kind.TASK_NOT_CLAIMABLE, Kind.BINDING_DRIFT)
            return None
        task = act()
        assert (task.token == self.token) == live
        assert task.epoch == self.epoch + (0 if live else 1)
        return task

    def _held(self, task: Task) -> None:
        self.state, self.epoch = TaskState.CLAIMED, task.epoch
        self.holder, self.until, self.token = task.holder, task.lease_until, task.token

    @rule(target=tokens, holder=HOLDERS)
    def claim(self, holder: str) -> str:
        call = a_call(holder, self.now)
        act = lambda: leases.claim(self.desk.connection, self.desk.task, call, self.desk.issue)  # noqa: E731
        task = self._claims(holder, act)
        if task is not None:
            self._held(task)
        return self.token

    @rule(token=tokens, holder=HOLDERS, answers=st.booleans())
    def answer(self, token: str, holder: str, answers: bool) -> None:
        call = a_call(holder, self.now)
        act = lambda: leases.admitted(self.desk.connection, self.desk.task, token, call, self.desk.issue)  # noqa: E731
        if self.state is TaskState.CLAIMED and token == self.token:
            task = act()
            assert (task.token, task.epoch) == (self.token, self.epoch)
            self._held(task)
            if answers:
                leases.submitted(self.desk.connection, task, self.now)
                self.state = TaskState.SUBMITTED
        else:
            assert fault(act) in (Kind.LEASE_LOST, Kind.TASK_NOT_CLAIMABLE, Kind.BINDING_DRIFT)

    @rule(seconds=st.sampled_from([1, 299, 300, 4000]))
    def time_goes_on(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @rule()
    def give_back(self) -> None:
        done = leases.returned(self.desk.connection, self.desk.task, self.now)
        assert done == (self.state in (TaskState.PENDING, TaskState.CLAIMED))
        if done:
            self.state, self.token, self.holder = TaskState.PENDING, "", ""

    @rule(rare=st.integers(0, 9))
    def drift(self, rare: int) -> None:
        if rare == 0:
            done = leases.stale(self.desk.connection, self.desk.task, "drift", self.now)
            assert done == (self.state in (TaskState.PENDING, TaskState.CLAIMED))
            self.state = TaskState.STALE if done else self.state

    @invariant()
    def the_row_is_what_happened(self) -> None:
        task = self.desk.task
        assert (task.state, task.epoch) == (self.state, self.epoch)
        if self.state is TaskState.CLAIMED:
            assert (task.token, task.holder, task.lease_until) == (self.token, self.holder, self.until)


Life.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestLife = Life.TestCase
