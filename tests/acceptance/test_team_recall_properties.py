"""recall under anything that can happen meanwhile (team.md 15: 6, 8): sessions grow and change, several agents ask,
some answer and some die. What was extracted never comes back, a task is one holder's, and what is handed out holds."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from governance.team import leases
from governance.team.chunking import CHUNK_BYTES
from governance.team.contracts.rows import ChunkState, Task, TaskKind, TaskState
from governance.team.errors import Kind, TeamFault
from governance.team.store import tasks
from tests.support.clock import START
from tests.support.team_recall import Recalled, a_call, a_request, a_tool, a_turn, an_event

SECOND = 1000
HOLDERS = st.sampled_from(["one", "two"])
SESSIONS = st.sampled_from(["session-a", "session-b"])
WINDOWS = st.sampled_from([1.0, 30.0])  # days


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.recalled = Recalled()
        self.now = START
        self.lengths = {"session-a": 0, "session-b": 0}
        self.revisions: dict[tuple[str, int], int] = {}
        self.extracted: set[tuple[str, int]] = set()  # (turn key, revision)
        self.leases: dict[str, tuple[str, int]] = {}  # task -> (holder, until)

    def _turn(self, session: str, place: int, large: bool = False) -> None:
        revision = self.revisions.setdefault((session, place), 0) + 1
        self.revisions[session, place] = revision
        said = an_event("user", "u" * (CHUNK_BYTES // 2) if large else f"Question {place}", place * 10)
        self.recalled.history.put(
            a_turn(place, said, a_tool(f"answer {revision}", place * 10 + 1), session=session, revision=revision)
        )

    def _task(self, task_id: str) -> Task:
        return tasks.needed(self.recalled.database.connection, task_id, self.recalled.bound.owner)

    @rule(session=SESSIONS, large=st.booleans())
    def a_session_grows(self, session: str, large: bool) -> None:
        self._turn(session, self.lengths[session], large)
        self.lengths[session] += 1

    @rule(session=SESSIONS, place=st.integers(0, 5))
    def a_turn_changes(self, session: str, place: int) -> None:
        if place < self.lengths[session]:
            self._turn(session, place)

    @rule(session=SESSIONS, place=st.integers(0, 5))
    def a_turn_is_taken_back(self, session: str, place: int) -> None:
        if place < self.lengths[session]:
            key = f"turn-{session}-{place}"
            content = self.recalled.history.contents[key]
            gone = msgspec.structs.replace(content.turn, active=False)
            self.recalled.history.put(msgspec.structs.replace(content, turn=gone))

    @rule(seconds=st.sampled_from([10, 299, 301]))
    def time_goes_on(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @rule(holder=HOLDERS, limit=st.integers(1, 3), days=WINDOWS)
    def somebody_recalls(self, holder: str, limit: int, days: float) -> None:
        answer = asyncio.run(self.recalled.ask(a_request(days=days), limit, holder=holder, now=self.now))
        offered = [one["taskId"] for one in answer["sources"]]
        assert len(offered) <= limit
        assert len(offered) == len(set(offered))
        for task_id in offered:
            owner, until = self.leases.get(task_id, (holder, 0))
            assert owner == holder or until <= self.now, "a task that another holds"
            held = tasks.chunk_turns(self.recalled.database.connection, task_id)
            assert not {(one.turn_key, one.revision) for one in held} & self.extracted
            assert asyncio.run(self.recalled.sources.drift(self.recalled.bound, self._task(task_id))) == ""
            self.leases[task_id] = (holder, self._task(task_id).lease_until)

    @rule(holder=HOLDERS, data=st.data())
    def somebody_answers(self, holder: str, data: Any) -> None:
        """As stage does it: the record, the drift, then the claim and the answer in one transaction."""
        known = sorted(self.leases)
        if not known:
            return
        task = self._task(data.draw(st.sampled_from(known)))
        connection, call = self.recalled.database.connection, a_call(holder, self.now)
        if task.state in tasks.UNFINISHED:
            drift = asyncio.run(self.recalled.sources.drift(self.recalled.bound, task))
            if drift:
                assert leases.stale(connection, task, drift, self.now)
                task = self._task(task.task_id)
        owner, until = self.leases[task.task_id]
        others = task.state is TaskState.CLAIMED and owner != holder and until > self.now
        if task.state not in tasks.UNFINISHED or others:
            with pytest.raises(TeamFault) as found:
                leases.admitted(connection, task, None, call, self.recalled.issue)
            assert found.value.kind in (Kind.TASK_NOT_CLAIMABLE, Kind.BINDING_DRIFT)
            return
        mine = leases.admitted(connection, task, None, call, self.recalled.issue)
        leases.submitted(connection, mine, self.now)
        tasks.move_chunk(connection, task.task_id, ChunkState.EXTRACTED, self.now)
        turns = tasks.chunk_turns(connection, task.task_id)
        self.extracted |= {(one.turn_key, one.revision) for one in turns}

    @invariant()
    def every_task_has_a_chunk_that_fits_it(self) -> None:
        connection = self.recalled.database.connection
        for task in tasks.listed(connection, self.recalled.bound.owner.worktree_key, TaskKind.RECALL):
            state = tasks.chunk(connection, task.task_id)
            expected = {
                TaskState.SUBMITTED: ChunkState.EXTRACTED,
                TaskState.STALE: ChunkState.STALE,
            }.get(task.state, ChunkState.PENDING)
            assert state is expected
            assert tasks.evidence(connection, task.task_id)


Life.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestLife = pytest.mark.promise("team-06")(Life.TestCase)
