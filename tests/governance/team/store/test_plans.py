"""Plans: written once, moved by the state machine alone, and too old by whichever clock says so."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from governance.migrations import queue_steps
from governance.team.contracts.base import Owner
from governance.team.contracts.promoting import PlanState
from governance.team.contracts.rows import Plan, PlanFile
from governance.team.errors import Kind, TeamFault
from governance.team.store import plans
from tests.support.clock import START

HOUR = 3_600_000
OWNER = Owner(repository_key="repo", worktree_key="tree")
DELETED = PlanFile(
    target_path=".m/entries/a.md", operation="delete", target_blob="a" * 64, sanitized_digest=None, new=None
)
WRITTEN = PlanFile(
    target_path=".m/entries/b.md", operation="write", target_blob=None, sanitized_digest="b" * 64, new=b"new\n"
)
PATHS = [WRITTEN.target_path, DELETED.target_path]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(a_connection()) as opened:
        yield opened


def a_connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in queue_steps():
        connection.executescript(step)
    return connection


def a_plan(plan_id: str, *candidate_ids: str, state: PlanState = "generated", at: int = START, number: int = 1) -> Plan:
    return Plan(
        plan_id=plan_id,
        owner=OWNER,
        kind="entry",
        state=state,
        plan_digest="d" * 64,
        approval_digest=None,
        assessment_digest="e" * 64,
        policy_version="sanitize@1",
        candidate_ids=candidate_ids or ("c1",),
        document="{}",
        number=number,
        created_at=at,
        changed_at=at,
        approved_at=at if state == "approved" else None,
    )


def put(connection: sqlite3.Connection, plan: Plan, *files: PlanFile) -> None:
    plans.put(connection, plan, files, dict.fromkeys(plan.candidate_ids, 2))


def test_a_plan_is_found_as_it_was_written_with_its_files_in_the_order_of_writing(
    connection: sqlite3.Connection,
) -> None:
    plan = a_plan("plan-1", "c1", "c2", state="approved")
    put(connection, plan, DELETED, WRITTEN)
    assert plans.of(connection, "plan-1") == plan
    assert plans.files(connection, "plan-1") == (WRITTEN, DELETED)
    assert plans.revisions(connection, "plan-1") == {"c1": 2, "c2": 2}
    assert plans.counts(connection, "tree") == {"approved": 1}
    assert plans.number(connection) == 2


def test_a_plan_of_the_same_id_is_refused_and_changes_nothing(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-1"))
    with pytest.raises(TeamFault) as refused:
        put(connection, a_plan("plan-1", "c9", state="approved"))
    assert refused.value.kind is Kind.PLAN_STATE_INVALID
    assert plans.needed(connection, "plan-1").candidate_ids == ("c1",)


def test_a_plan_that_is_not_there_is_said_so(connection: sqlite3.Connection) -> None:
    assert plans.of(connection, "plan-9") is None
    with pytest.raises(TeamFault) as missing:
        plans.needed(connection, "plan-9")
    assert missing.value.kind is Kind.PLAN_NOT_FOUND


def test_plans_are_listed_in_their_order_by_state_worktree_and_repository(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-z", number=1, at=START + 5))
    put(connection, a_plan("plan-a", number=2, at=START))
    put(connection, a_plan("plan-b", "c2", number=3, state="approved"))
    ids = [plan.plan_id for plan in plans.listed(connection, ("generated",), worktree_key="tree")]
    assert ids == ["plan-z", "plan-a"]
    assert plans.listed(connection, ("generated",), worktree_key="other") == ()
    assert [plan.plan_id for plan in plans.listed(connection, plans.HOLDING, repository_key="repo")] == ["plan-b"]


def test_a_candidate_of_an_approved_plan_is_held_until_the_plan_is_voided(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-1", "c1", state="approved"))
    put(connection, a_plan("plan-2", "c2", number=2))
    assert plans.held(connection, ("c1", "c2", "c3")) == {"c1": "plan-1"}
    with pytest.raises(TeamFault, match="plan-1") as refused:
        plans.free(connection, ("c2", "c1"))
    assert refused.value.kind is Kind.PLAN_STATE_INVALID
    plans.move(connection, "plan-1", "voided", START + 1, "discarded")
    plans.free(connection, ("c1", "c2"))
    assert plans.needed(connection, "plan-1").reason == "discarded"


def test_a_plan_that_comes_to_nothing_keeps_no_text_of_its_files(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-1", state="approved"), WRITTEN)
    plans.move(connection, "plan-1", "voided", START + 1)
    (file,) = plans.files(connection, "plan-1")
    assert (file.new, file.sanitized_digest) == (None, WRITTEN.sanitized_digest)


def test_an_approval_lives_a_day_and_a_clock_set_back_prolongs_nothing(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-1", state="approved"))
    assert not plans.expired(connection, "plan-1", START + 24 * HOUR)
    assert plans.expired(connection, "plan-1", START + 24 * HOUR + 1)
    plans.seen(connection, START + 25 * HOUR)
    assert plans.expired(connection, "plan-1", START)
    assert plans.highest(connection) == START + 25 * HOUR


def test_a_clock_that_was_ahead_neither_shortens_nor_prolongs_a_later_approval(connection: sqlite3.Connection) -> None:
    plans.seen(connection, START + 9_000 * HOUR)
    put(connection, a_plan("plan-1"))
    plans.move(connection, "plan-1", "approved", START)
    assert plans.needed(connection, "plan-1").approved_at == START
    assert not plans.expired(connection, "plan-1", START + 23 * HOUR)
    assert plans.expired(connection, "plan-1", START + 25 * HOUR)


def test_a_plan_that_nobody_approved_does_not_expire(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-1"))
    assert not plans.expired(connection, "plan-1", START + 999 * HOUR)


def test_a_state_that_is_none_is_said_to_be_corrupt(connection: sqlite3.Connection) -> None:
    put(connection, a_plan("plan-1"))
    connection.execute("UPDATE team_plan SET state = 'odd'")
    with pytest.raises(TeamFault) as corrupt:
        plans.of(connection, "plan-1")
    assert corrupt.value.kind is Kind.STATE_CORRUPT


class PlanStates(RuleBasedStateMachine):
    """Any moves in any order: what the table of team.md 12 has is done, and everything else is refused."""

    TABLE = {
        "generated": {"approved", "voided"},
        "approved": {"applying", "voided"},
        "applying": {"applied", "voided", "approved"},
        "applied": set[str](),
        "voided": set[str](),
    }

    def __init__(self) -> None:
        super().__init__()
        self.connection = a_connection()
        self.states: dict[str, str] = {}
        self.approved: dict[str, int] = {}
        self.clock = START
        self.top = START

    def teardown(self) -> None:
        self.connection.close()

    @initialize()
    def first(self) -> None:
        self.prepare()

    @rule()
    def prepare(self) -> None:
        number = plans.number(self.connection)
        plan_id = f"plan-{number}"
        put(self.connection, a_plan(plan_id, f"c{number}", at=self.clock, number=number), WRITTEN, DELETED)
        self.states[plan_id] = "generated"

    @rule(back=st.integers(-30 * HOUR, 30 * HOUR))
    def pass_time(self, back: int) -> None:
        self.clock += back
        self.top = max(self.top, self.clock)
        plans.seen(self.connection, self.clock)

    @rule(which=st.integers(0, 9), state=st.sampled_from(get_args(PlanState)))
    def move(self, which: int, state: PlanState) -> None:
        plan_id = sorted(self.states)[which % len(self.states)]
        was = self.states[plan_id]
        if state in self.TABLE[was]:
            assert plans.move(self.connection, plan_id, state, self.clock, "why") == was
            self.states[plan_id] = state
            if was == "generated" and state == "approved":
                self.approved[plan_id] = self.clock
            return
        with pytest.raises(TeamFault) as refused:
            plans.move(self.connection, plan_id, state, self.clock)
        assert refused.value.kind is Kind.PLAN_STATE_INVALID

    @invariant()
    def what_is_stored_is_what_was_moved(self) -> None:
        for plan_id, state in self.states.items():
            assert plans.needed(self.connection, plan_id).state == state
            candidate = f"c{plan_id.removeprefix('plan-')}"
            assert bool(plans.held(self.connection, (candidate,))) == (state in ("approved", "applying"))
            assert [file.target_path for file in plans.files(self.connection, plan_id)] == PATHS

    @invariant()
    def an_approval_never_outlives_a_day_of_its_clock(self) -> None:
        for plan_id, at in self.approved.items():
            if self.clock - at > 24 * HOUR:
                assert plans.expired(self.connection, plan_id, self.clock)


PlanStates.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestPlanStates = PlanStates.TestCase
