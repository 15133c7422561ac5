"""team.md 10 and 12: any order of entries, patches, discards and promotions, as a machine: one run waits at most, what
is over stays over, a task that was answered is never handed out again, and heat counts the promotions of a scene."""

import asyncio
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from governance.team import patching, queueing
from governance.team.contracts.consolidating import ConsolidationTask, EntryRevision, PatchOperation
from governance.team.contracts.rows import RunState
from governance.team.errors import Kind, TeamFault
from governance.team.store import candidates, runs
from tests.support.clock import START
from tests.support.consolidating import MEMORY, OWNER, Repository, a_call, operation
from tests.support.team_entries import an_entry, path_of, write_entry

HERE = OWNER.worktree_key
NAMES = st.sampled_from(["builds", "tests", "releases"])
MODES = st.sampled_from(["incremental", "if-due", "full"])


class Consolidations(RuleBasedStateMachine):
    """`seen`, `heat`, `waiting`: what a model of it all says."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir="/tmp"))
        self.repository = Repository(self.folder / "repository")
        self.runner = asyncio.Runner()
        self.now = START
        self.entries: dict[int, str] = {}
        self.heat: dict[str, int] = {}
        self.seen: set[EntryRevision] = set()
        self.task: ConsolidationTask | None = None
        self.waiting: tuple[ConsolidationTask, PatchOperation] | None = None
        self.answered: set[str] = set()
        self.over: dict[str, RunState] = {}

    def teardown(self) -> None:
        self.runner.close()
        shutil.rmtree(self.folder)

    @property
    def connection(self):  # type: ignore[no-untyped-def]  # sqlite3's
        return self.repository.database.connection

    def later(self) -> int:
        self.now += 1_000
        return self.now

    def now_there(self) -> set[EntryRevision]:
        return {EntryRevision(id=one.entry.id, digest=one.digest) for one in self.repository.tree.entries}

    @initialize()
    def two_entries(self) -> None:
        self.write(1, 1)
        self.write(2, 1)

    def write(self, number: int, version: int) -> None:
        self.take_away(number)
        self.entries[number] = f"Fact {number} in its version {version}."
        write_entry(self.repository.root, an_entry(self.entries[number], number))

    def take_away(self, number: int) -> None:
        if number in self.entries:
            path = path_of(an_entry(self.entries.pop(number), number))
            (self.repository.root / path).unlink()

    @rule(number=st.integers(1, 4), version=st.integers(0, 3))
    def an_entry_changes(self, number: int, version: int) -> None:
        if version:
            self.write(number, version)
        else:
            self.take_away(number)

    @rule(mode=MODES)
    def it_is_asked(self, mode: str) -> None:
        self.ask(mode)

    def ask(self, mode: str) -> None:
        asked = self.runner.run(self.repository.synthesize(mode, self.later()))
        due = len(self.now_there() - self.seen)
        assert asked.due == due
        if self.waiting is not None:
            assert asked.task is None and asked.pending_run_id is not None
            return
        assert asked.pending_run_id is None
        wanted = bool(self.entries) if mode == "full" else due >= (20 if mode == "if-due" else 1)
        assert (asked.task is not None) is wanted
        if asked.task is not None:
            assert asked.task.task_id not in self.answered
            self.task = asked.task

    @precondition(lambda self: self.waiting is None)
    @rule(mode=st.sampled_from(["incremental", "full"]), name=NAMES, empty=st.integers(0, 3))
    def it_is_asked_and_answered(self, mode: str, name: str, empty: int) -> None:
        self.ask(mode)
        if self.task is not None:
            self.answer(name, empty=empty == 0)

    @precondition(lambda self: self.task is not None)
    @rule(name=NAMES, empty=st.booleans())
    def an_earlier_task_is_answered(self, name: str, empty: bool) -> None:
        self.answer(name, empty=empty)

    def answer(self, name: str, *, empty: bool) -> None:
        task = self.task
        assert task is not None
        held = self.holds(task)
        made = operation("update" if name in self.heat else "create", name, new_content=f"{name} at {self.now}.")
        answer = () if empty else (made,)
        try:
            staged = self.runner.run(self.repository.answer(task, *answer, at=self.later()))
        except TeamFault as fault:
            assert not held or self.waiting is not None
            assert fault.kind in {Kind.BINDING_DRIFT, Kind.TASK_NOT_CLAIMABLE, Kind.SUBMISSION_CONFLICT}
            if fault.kind is Kind.BINDING_DRIFT:
                self.answered.add(task.task_id)
                self.task = None
            return
        assert held and self.waiting is None and not staged.idempotent
        self.answered.add(task.task_id)
        if empty:
            self.seen |= set(task.binding.entry_revisions)
        else:
            self.waiting = task, made
        self.task = None

    def holds(self, task: ConsolidationTask) -> bool:
        """Whether what a task was bound to is what is there."""
        now = {one.scene.name: one.digest for one in self.repository.tree.scenes}
        scenes = {one.name: one.content_digest for one in task.binding.scene_revisions}
        there = self.now_there()
        due = there if task.binding.replay.mode == "full" else there - self.seen
        return scenes == now and set(task.binding.entry_revisions) == due and task.task_id not in self.answered

    @precondition(lambda self: self.waiting is not None)
    @rule(promoted=st.booleans())
    def what_waits_ends(self, promoted: bool) -> None:
        assert self.waiting is not None
        task, made = self.waiting
        found = candidates.get(self.connection, f"{task.task_id}-c1")
        assert found is not None
        if not promoted:
            queueing.discard(self.connection, found, "no", a_call(self.later()))
            runs.stale(self.connection, found.candidate_id, self.now)
            self.over[found.candidate_id] = RunState.STALE
        else:
            payload = self.repository.payload(found.candidate_id)
            for change in patching.files_of(payload, self.repository.tree, MEMORY):
                target = self.repository.root / change.target_path
                target.parent.mkdir(parents=True, exist_ok=True)
                assert change.data is not None
                target.write_bytes(change.data)
            runs.applied(self.connection, found.candidate_id, self.later())
            self.over[found.candidate_id] = RunState.APPLIED
            self.seen |= set(task.binding.entry_revisions)
            self.heat[made.name] = self.heat.get(made.name, 0) + 1
        self.waiting = None

    @invariant()
    def what_is_over_stays_over_and_one_run_waits_at_most(self) -> None:
        waiting = self.connection.execute("SELECT count(*) FROM team_run WHERE state = 'pending_review'").fetchone()[0]
        assert waiting == (self.waiting is not None)
        for candidate_id, state in self.over.items():
            run = runs.of_candidate(self.connection, candidate_id)
            assert run is not None and run.state is state

    @invariant()
    def heat_counts_the_promotions(self) -> None:
        assert {one.scene.name: one.scene.heat for one in self.repository.tree.scenes} == self.heat


TestConsolidations = pytest.mark.promise("team-22", "team-23")(Consolidations.TestCase)
TestConsolidations.settings = settings(
    max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
