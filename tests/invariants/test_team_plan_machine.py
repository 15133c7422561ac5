"""Candidates and their plans as callers meet them: staged, reviewed, prepared, approved, voided, promoted and discarded
in any order, while time goes both ways and requests are sent again."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from governance.formation.queue import Queue
from governance.migrations import queue_steps
from governance.team import confirming, queueing
from governance.team.binding import Place, bound_of
from governance.team.contracts.promoting import PrepareRequest
from governance.team.contracts.rows import Candidate, CandidateState
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, plans
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.team_review import AGENT, FORMATS, Desk

HOUR = 3_600_000
STATES = ("generated", "approved", "applying", "applied", "voided")
NUMBERS = st.integers(0, 7)
MOVES = {
    CandidateState.STAGED: {CandidateState.STAGED, CandidateState.PROMOTED, CandidateState.DISCARDED},
    CandidateState.PROMOTED: {CandidateState.PROMOTED},
    CandidateState.DISCARDED: {CandidateState.DISCARDED},
}
PLAN_MOVES = {
    "generated": {"generated", "approved", "voided"},
    "approved": {"approved", "applying", "voided"},
    "applying": {"applying", "applied", "approved", "voided"},
    "applied": {"applied"},
    "voided": {"voided"},
}


class PlanMachine(RuleBasedStateMachine):
    """What was there after the last step is kept beside the store, and every request that a review ever gave."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()  # one loop for all steps: to open one takes longer than a step
        self.folder = Path(tempfile.mkdtemp(prefix="plans"))
        root = self.folder / "repository"
        root.mkdir()
        place = Place(root=str(root), common=f"{root}/.git", device=1, inode=2, remote=None, workspace_key="ws")
        self.database = FakeDatabase(queue_steps())
        self.desk = Desk(database=self.database, bound=bound_of(place, b"k" * 32, FORMATS))
        self.queue = Queue(self.database, b"k" * 32)
        self.known: list[str] = []
        self.requests: list[PrepareRequest] = []
        self.before: dict[str, Candidate] = {}
        self.plans: dict[str, str] = {}
        self.spent: set[str] = set()  # approvals whose plan was voided

    def teardown(self) -> None:
        self.runner.close()
        self.database.connection.close()
        shutil.rmtree(self.folder)

    def run_now(self, work: Any) -> Any:
        return self.runner.run(work)

    def write(self, work: Any) -> Any:
        """A transaction, or nothing of it."""
        connection = self.database.connection
        connection.execute("BEGIN")
        try:
            found = work(connection)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        return found

    def supports(self, name: str) -> set[Support]:
        return {one.support for one in candidates.assessments(self.database.connection, name)}

    def a_plan(self, which: int, state: str) -> str | None:
        fitting = sorted(name for name, now in self.plans.items() if now == state)
        return fitting[which % len(fitting)] if fitting else None

    @rule(parts=st.integers(1, 2))
    def stage(self, parts: int) -> None:
        texts = [f"Rule {len(self.known)} part {n} is kept by all." for n in range(parts)]
        candidate = self.desk.an_entry(" ".join(texts), parts=texts)
        self.run_now(self.desk.stage(candidate))
        self.known.append(candidate.candidate_id)

    @initialize()
    def begin_with_two(self) -> None:
        self.stage(1)
        self.stage(2)

    @rule(some=st.sets(NUMBERS, max_size=3))
    def review(self, some: set[int]) -> None:
        """A review changes nothing; what it offers is kept."""
        ids = sorted({self.known[n % len(self.known)] for n in some}) if self.known else []
        review = self.run_now(self.desk.review(ids=ids or None))
        if review.approval is not None:
            self.requests.append(review.approval.prepare_request)

    @precondition(lambda self: self.requests)
    @rule(which=NUMBERS, approved=st.booleans())
    def prepare(self, which: int, approved: bool) -> None:
        """Any request that there ever was, with its approval or without."""
        request = self.requests[-1 - which % len(self.requests)]
        asked = request if approved else msgspec.structs.replace(request, approval_digest=None)
        confirmed = self.run_now(self.desk.confirmed())
        spent = asked.approval_digest in self.spent
        expiring = self.expiring({one.candidate_id for one in request.candidates})
        try:
            plan = self.run_now(self.desk.prepare(asked))
        except TeamFault as fault:
            if fault.kind is Kind.APPROVAL_EXPIRED:
                assert expiring
            else:
                assert self.run_now(self.desk.confirmed()) == confirmed
            return
        assert not spent, "an approval served two plans"
        assert plan.plan_id in self.stored() and plan.approval_digest == asked.approval_digest
        if not plan.idempotent:
            assert plan.state == ("approved" if approved else "generated")

    @rule(some=st.sets(NUMBERS, max_size=2), approved=st.booleans())
    def review_and_prepare(self, some: set[int], approved: bool) -> None:
        """As it is meant."""
        self.review(some)
        if self.requests:
            self.prepare(0, approved)

    @precondition(lambda self: self.a_plan(0, "generated"))
    @rule(which=NUMBERS, right=st.booleans())
    def approve(self, which: int, right: bool) -> None:
        plan_id = self.a_plan(which, "generated")
        assert plan_id is not None
        plan = self.write(lambda connection: plans.needed(connection, plan_id))
        digest = plan.plan_digest if right else "0" * 64
        call = msgspec.structs.replace(AGENT, now=self.desk.now)
        try:
            done = self.write(lambda connection: confirming.approved(connection, plan_id, digest, call))
        except TeamFault as fault:
            allowed = {Kind.PLAN_STATE_INVALID, Kind.CANDIDATE_STALE} if right else {Kind.PLAN_DIGEST_MISMATCH}
            assert fault.kind in allowed
            return
        assert right and done.state == "approved"

    @precondition(lambda self: any(self.a_plan(0, state) for state in ("generated", "approved", "applying")))
    @rule(which=NUMBERS, state=st.sampled_from(["generated", "approved", "applying"]))
    def void(self, which: int, state: str) -> None:
        plan_id = self.a_plan(which, state)
        if plan_id is not None:
            self.write(lambda connection: confirming.voided(connection, plan_id, self.desk.now, "drift"))

    @precondition(lambda self: self.a_plan(0, "approved"))
    @rule(which=NUMBERS)
    def begin(self, which: int) -> None:
        plan_id = self.a_plan(which, "approved")
        self.write(lambda connection: plans.move(connection, plan_id, "applying", self.desk.now))

    @precondition(lambda self: self.a_plan(0, "applying"))
    @rule(which=NUMBERS, well=st.booleans())
    def end(self, which: int, well: bool) -> None:
        """Promoted with all its candidates in one transaction, or rolled back for a fault of ours."""
        plan_id = self.a_plan(which, "applying")
        assert plan_id is not None

        def work(connection: Any) -> None:
            if well:
                for one in plans.needed(connection, plan_id).candidate_ids:
                    candidate = candidates.owned(connection, self.desk.bound.owner, one)
                    queueing.promote(connection, self.queue, candidate, AGENT)
            plans.move(connection, plan_id, "applied" if well else "approved", self.desk.now)

        self.write(work)

    @rule(which=NUMBERS)
    def discard(self, which: int) -> None:
        name = self.known[which % len(self.known)]
        candidate = self.before.get(name)
        held = self.write(lambda connection: plans.held(connection, [name]))
        if candidate is None or candidate.state is not CandidateState.STAGED:
            return
        if held:
            with pytest.raises(TeamFault) as refused:
                self.write(lambda connection: queueing.discard(connection, candidate, "no", AGENT))
            assert refused.value.kind is Kind.PLAN_STATE_INVALID
            return
        self.write(lambda connection: queueing.discard(connection, candidate, "no", AGENT))

    @rule(hours=st.integers(-30, 30))
    def pass_time(self, hours: int) -> None:
        self.desk.now = max(START, self.desk.now + hours * HOUR)

    def stored(self) -> dict[str, str]:
        rows = self.write(lambda connection: plans.listed(connection, STATES))
        return {plan.plan_id: plan.state for plan in rows}

    def expiring(self, ids: set[str]) -> bool:
        def work(connection: Any) -> bool:
            plans.seen(connection, self.desk.now)
            held = set(plans.held(connection, ids).values())
            return any(plans.expired(connection, one, self.desk.now) for one in held)

        found: bool = self.write(work)
        return found

    @invariant()
    def candidates_move_as_tabled_and_each_change_is_one_more_revision(self) -> None:
        for name in self.known:
            now = self.write(lambda connection, name=name: candidates.get(connection, name))
            was = self.before.get(name, now)
            assert now.state in MOVES[was.state]
            assert now.revision >= was.revision
            assert (now.revision == was.revision) == (now == was)
            self.before[name] = now

    @invariant()
    def plans_move_as_tabled(self) -> None:
        now = self.stored()
        for plan_id, state in now.items():
            assert state in PLAN_MOVES[self.plans.get(plan_id, state)]
            if state == "voided" and self.plans.get(plan_id) in ("approved", "applying"):
                plan = self.write(lambda connection, plan_id=plan_id: plans.needed(connection, plan_id))
                self.spent |= {plan.approval_digest} if plan.approval_digest else set()
        assert self.plans.keys() <= now.keys()
        self.plans = now

    @invariant()
    def what_an_approved_plan_holds_is_confirmed_staged_and_held_once(self) -> None:
        holding: dict[str, str] = {}
        for plan in self.write(lambda connection: plans.listed(connection, plans.HOLDING)):
            revisions = self.write(lambda connection, plan=plan: plans.revisions(connection, plan.plan_id))
            for name in plan.candidate_ids:
                assert name not in holding, "two plans hold one candidate"
                holding[name] = plan.plan_id
                candidate = self.before[name]
                assert (candidate.state, candidate.revision) == (CandidateState.STAGED, revisions[name])
                assert self.supports(name) == {Support.HUMAN_CONFIRMED}
        for name, candidate in self.before.items():
            if candidate.state is CandidateState.STAGED and name not in holding:
                assert self.supports(name) == {Support.UNVERIFIED}, "confirmed, and in no plan"


PlanMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestPlanMachine = PlanMachine.TestCase
