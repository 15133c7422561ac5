"""Formation as the rest of the daemon sees it: boundaries go in, ranges are formed, and what waits can be asked.

Whatever happens to governance.db, a boundary raises nothing: a range that has no job is found again at the next start.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from governance.formation import jobs as policy
from governance.formation.batch import Batch
from governance.formation.checkpoint import Checkpoint
from governance.formation.contracts import (
    Job,
    JobState,
    ModelDriver,
    Pipeline,
    RangeResult,
    RangeStatus,
    Role,
    Snapshot,
    SnapshotOrigin,
    Trigger,
)
from governance.formation.errors import ModelError, ModelErrorKind, ParameterFault, StateFault
from governance.formation.store import jobs, outbox, ranges
from host.clock import Clock
from host.config import FormationSettings
from host.eventlog import EventLog, LoggedSession
from host.formation.gate import IDLE_REASONS, Gate
from host.formation.known import LibraryKnown
from host.formation.lineage import Lineage
from host.formation.material import SessionMaterial
from host.formation.ports import Ask, FormationStatus, Recovered, WaitingRange
from host.formation.projector import Projector
from host.formation.reconciling import Reconciling
from host.formation.recovery import Recovery
from host.formation.runner import Runner
from host.kept import KeptDatabase

AGENT = "agent"
Engine = Callable[[Snapshot, ModelDriver | None], Awaitable[Sequence[RangeResult]]]
MakeDriver = Callable[[str], Awaitable[ModelDriver]]  # a spec -> its driver. Raises ModelError


@dataclass(kw_only=True, slots=True)
class Formation:
    """`engines`: what each pipeline does with a snapshot. `key`: a folder's workspace key."""

    settings: FormationSettings
    database: KeptDatabase
    eventlog: EventLog
    material: SessionMaterial
    lineage: Lineage
    gate: Gate
    known: LibraryKnown
    projector: Projector
    recovery: Recovery
    reconciling: Reconciling
    engines: Mapping[Pipeline, Engine]
    checkpoints: Callable[[ModelDriver | None], Checkpoint]  # for ranges that an agent forms
    batches: Callable[[ModelDriver], Batch]
    make_driver: MakeDriver
    key: Callable[[str], str]
    clock: Clock
    log: structlog.typing.FilteringBoundLogger
    runner: Runner = field(init=False)
    driver_trouble: Callable[[], str] = (
        str  # what keeps the driver from its first call; empty: nothing that can be seen
    )
    driver: ModelDriver | None = None  # None: the running agent is the model, or the configured one cannot be made
    driver_problem: str = ""
    _waits: dict[str, list[str]] = field(default_factory=dict)  # sessions of the ranges, by workspace

    # ------------------------------------------------------------------ state

    @property
    def enabled(self) -> bool:
        return self.settings.enabled

    def problem(self) -> str:
        """Why governance.db cannot be used; empty: it can."""
        return self.database.problem

    def ready(self) -> None:
        """Raises StateFault (`state-failed`) when governance.db cannot be used."""
        if problem := self.problem():
            raise StateFault("state-failed", problem)

    async def load_driver(self) -> None:
        """Make the configured driver. One that cannot be made is a problem that `status` tells, no fault."""
        if not self.settings.enabled or self.settings.driver == AGENT:
            return
        try:
            self.driver, self.driver_problem = await self.make_driver(self.settings.driver), ""
        except ModelError as error:
            self.driver, self.driver_problem = None, str(error)
            self.log.warning("formation.no-driver", problem=str(error.kind))

    async def status(self) -> FormationStatus:
        """How formation stands."""
        said = self.settings.driver if self.driver is None else self.driver.id
        problem = self.driver_problem or self.driver_trouble()
        known = FormationStatus(state="ok", driver=said, driver_problem=problem)
        if not self.enabled:
            return FormationStatus(state="off", driver=said)
        try:
            return await self.database.read(lambda connection: self._counted(connection, known))
        except (sqlite3.Error, StateFault) as error:
            return FormationStatus(state="state-failed", problem=str(error), driver=said)

    def _counted(self, connection: sqlite3.Connection, known: FormationStatus) -> FormationStatus:
        live = jobs.in_states(connection, [JobState.QUEUED, JobState.RUNNING, JobState.FAILED])
        count = {state: sum(one.state is state for one in live) for state in JobState}
        return FormationStatus(
            state="ok",
            driver=known.driver,
            driver_problem=known.driver_problem,
            waiting=len(jobs.waiting(connection, IDLE_REASONS)),
            queued=count[JobState.QUEUED],
            running=count[JobState.RUNNING],
            poison=count[JobState.FAILED],
            given_up=len(ranges.letters(connection)),
            outbox=outbox.depth(connection),
            outbox_problem=self.projector.problem,
        )

    # ------------------------------------------------------------------ boundaries

    async def boundary(
        self, trigger: Trigger, session_id: str, seq: int | None = None, pipeline: Pipeline = Pipeline.CHECKPOINT
    ) -> str | None:
        """Have a session formed up to an event (None: its last) when there is time. The job's id; None: formation is
        off, the session is not known, or the job could not be written down. Raises nothing."""
        if not self.enabled:
            return None
        try:
            logged = await self.eventlog.last(session_id)
            if logged is None:
                return None
            job = self._job(pipeline, trigger, logged, seq)
            kept = await self.database.write(lambda connection: jobs.put(connection, job))
        except (sqlite3.Error, StateFault) as error:
            self.log.warning("job.unwritten", trigger=str(trigger), error=type(error).__name__)
            return None
        self.runner.nudge()
        return kept.job_id

    async def again(self, one: WaitingRange) -> str | None:
        """Have a range that waits formed: the job's id. None: it waits in a job already, or cannot be written down."""
        if one.state in (JobState.QUEUED, JobState.RUNNING, JobState.FAILED):
            return None
        now = self.clock.now()

        def work(connection: sqlite3.Connection) -> str | None:
            job = jobs.of(connection, one.job_id)
            done = None if job is None else jobs.change(connection, job, one.state, lambda old: policy.again(old, now))
            return None if done is None else done.job_id

        try:
            return await self.database.write(work)
        except (sqlite3.Error, StateFault):
            return None

    async def snapshot(self, session_id: str, trigger: Trigger = Trigger.COMMAND, seq: int | None = None) -> Snapshot:
        """A session as it stands. Raises ParameterFault (`unknown-session`)."""
        logged = await self.eventlog.last(session_id)
        if logged is None:
            problem = f"No event of the session {session_id[:64]!r} was received."
            raise ParameterFault("unknown-session", problem, "Give the id that the agent product calls it by.")
        return Snapshot(
            trigger=trigger,
            session_id=session_id,
            conversation_key=await self.lineage.root(session_id),
            boundary_seq=logged.event_seq if seq is None else seq,
            workspace_key=self.key(logged.workspace) if logged.workspace else "",
            origin=SnapshotOrigin.MAIN,
        )

    # ------------------------------------------------------------------ runs

    async def run(self, ask: Ask) -> Sequence[RangeResult]:
        """Form a session now, and wait for the outcome.

        Raises StateFault, ParameterFault (`unknown-session`, `disabled`) and ModelError (`configuration`: no such
        driver can be made).
        """
        self.ready()
        if not self.enabled:
            raise ParameterFault("disabled", "Formation is off.", "Set `enabled = true` under [formation].")
        if ask.driver and ask.driver != AGENT:
            await self.make_driver(ask.driver)  # what cannot be made is said before anything is written down
        logged = await self.eventlog.last(ask.session_id)
        if logged is None:
            await self.snapshot(ask.session_id)  # raises
            return ()
        job = self._job(ask.pipeline, ask.trigger, logged, None)
        results = await self.runner.ask(job, ask.driver)
        await self.recount()
        await self._written()
        return results

    async def work(self, job: Job, driver: str) -> Sequence[RangeResult]:
        """What a job's pipeline does; for the runner. `driver`: a spec; empty: the configured one."""
        snapshot = await self.snapshot(job.session_id, job.trigger, job.boundary_seq)
        model = await self._model(driver)
        engine = self.engines.get(job.pipeline)
        if engine is None:
            return ()
        if model is None and driver != AGENT and self.driver_problem:
            return (self._unavailable(job, ModelErrorKind.CONFIGURATION, self.driver_problem),)
        results = await engine(snapshot, model)
        self.projector.nudge()
        if len(results) == 1 and results[0].reason == policy.NO_DRIVER and not await self._said(job):
            return (self._unavailable(job, policy.EMPTY),)
        return results

    async def _model(self, driver: str) -> ModelDriver | None:
        if not driver:
            return self.driver
        return None if driver == AGENT else await self.make_driver(driver)

    def _unavailable(self, job: Job, reason: str, problem: str = "") -> RangeResult:
        return RangeResult(
            session_id=job.session_id,
            from_seq=0,
            through_seq=job.boundary_seq,
            status=RangeStatus.UNAVAILABLE,
            reason=str(reason),
            problem=problem,
        )

    async def _said(self, job: Job) -> bool:
        """Whether the user said anything in the range that waits."""
        after = await self.database.read(lambda connection: jobs.processed(connection, job.pipeline, job.session_id))
        records = await self.material.read(job.session_id, after, job.boundary_seq)
        return any(one.role == Role.USER for one in records)

    async def _written(self) -> None:
        """Have what was committed in its files: whoever asked looks there next."""
        try:
            await self.projector.drain()
        except sqlite3.Error:
            self.projector.nudge()

    def _job(self, pipeline: Pipeline, trigger: Trigger, logged: LoggedSession, seq: int | None) -> Job:
        now, at = self.clock.now(), logged.event_seq if seq is None else seq
        return Job(
            job_id=policy.job_id(pipeline, logged.session_id, trigger, at),
            pipeline=pipeline,
            session_id=logged.session_id,
            trigger=trigger,
            boundary_seq=at,
            workspace_key=self.key(logged.workspace) if logged.workspace else "",
            state=JobState.QUEUED,
            created_at=now,
            changed_at=now,
        )

    # ------------------------------------------------------------------ what waits

    async def waiting(self, workspace_key: str = "") -> tuple[WaitingRange, ...]:
        """Ranges whose boundary was reached and which nobody formed, oldest first. Raises StateFault."""
        return await self.database.read(lambda connection: jobs.waiting(connection, IDLE_REASONS, workspace_key))

    def waits(self, workspace_key: str, but_session: str = "") -> int:
        """How many ranges of that workspace ("": of all) wait for the running agent, as they were counted last; without
        those of a session."""
        counted = [self._waits.get(workspace_key, [])] if workspace_key else self._waits.values()
        return sum(session != but_session for sessions in counted for session in sessions)

    async def recount(self) -> None:
        """Count them again: a range was formed, or waits now. Raises nothing: what cannot be counted is as it was."""
        try:
            await self.database.write(jobs.passed)
            found = await self.waiting()
        except (sqlite3.Error, StateFault):
            return
        self._waits = {}
        for one in found:
            if one.reason == policy.NO_DRIVER:
                self._waits.setdefault(one.workspace_key, []).append(one.session_id)

    async def jobs(self) -> tuple[Job, ...]:
        """Jobs that wait, run or failed, oldest first. Raises StateFault."""
        states = [JobState.QUEUED, JobState.RUNNING, JobState.FAILED]
        return await self.database.read(lambda connection: jobs.in_states(connection, states))

    async def retry(self, job_id: str) -> bool:
        """Have a failed job tried again. False: there is no such one. Raises StateFault."""
        now = self.clock.now()

        def work(connection: sqlite3.Connection) -> bool:
            job = jobs.of(connection, job_id)
            if job is None:
                return False
            return jobs.change(connection, job, JobState.FAILED, lambda one: policy.again(one, now)) is not None

        done = await self.database.write(work)
        self.runner.nudge()
        return done

    # ------------------------------------------------------------------ files

    def nudge(self) -> None:
        """Changes were committed: write them into their files soon."""
        self.projector.nudge()

    async def projected(self) -> int:
        """Write every change into its files now; how many could not be. Raises StateFault."""
        return await self.projector.drain()

    async def forgotten(self, memory_id: str) -> None:
        """A memory is forgotten: no line of the journal, and none that is still to be written, holds its words. A
        broken governance.db keeps nobody from forgetting. Raises OSError when the journal cannot be written."""
        now = self.clock.now()
        with suppress(sqlite3.Error):
            await self.database.write(lambda connection: outbox.forget(connection, memory_id, now))
        await self.projector.forget(memory_id)

    async def recover(self) -> Recovered:
        """Make governance.db again from the lines of what was written. Raises StateFault (newer, or in use)."""
        found = await self.recovery.run()
        self.projector.nudge()
        self.runner.nudge()
        await self.recount()
        return found
