"""Jobs at work: at most two, of a session one at a time, begun where a trigger or an earlier run left them.

A person who asks for a run has it in the same places: it waits for one, and its outcome is told to the one who asked.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
import structlog

from governance.formation import jobs as policy
from governance.formation.contracts import Job, JobState, RangeResult
from governance.formation.errors import StateFault
from governance.formation.store import jobs
from host.clock import Clock
from host.tasks import Tasks
from recall.contracts import Database

ROUND_SECONDS = 60.0  # a clock may be set, and a database may be well again
Work = Callable[[Job, str], Awaitable[Sequence[RangeResult]]]  # a job, and whose model: empty, as configured


@dataclass(kw_only=True, slots=True)
class Runner:
    """`work`: what a job's pipeline does. `owner`: this run of the daemon."""

    database: Database
    work: Work
    clock: Clock
    tasks: Tasks
    log: structlog.typing.FilteringBoundLogger
    owner: str
    ended: Callable[[], Awaitable[None]] | None = None  # told after each job that ended by itself
    running: dict[str, Job] = field(default_factory=dict)  # by session
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _freed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def nudge(self) -> None:
        """A job was put in."""
        self._news.set()

    async def run(self) -> None:
        """Take over what an earlier daemon left, then begin each job when it may."""
        taken = False
        while True:
            self._news.clear()
            wait = ROUND_SECONDS
            try:
                taken = taken or await self._take_over()
                wait = await self._round()
            except (sqlite3.Error, StateFault) as error:
                self.log.warning("jobs.unread", error=type(error).__name__)
            try:
                async with asyncio.timeout(wait):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def ask(self, job: Job, driver: str) -> Sequence[RangeResult]:
        """Run a job now that a person waits for, once there is a place. Raises what its pipeline raises, StateFault."""
        async with self._freed:
            await self._freed.wait_for(lambda: self._free(job.session_id))
            self.running[job.session_id] = job
        done = False
        try:
            now = self.clock.now()
            begun = msgspec.structs.replace(job, state=JobState.RUNNING, owner=self.owner, starts=1, changed_at=now)
            await self.database.write(lambda connection: jobs.save(connection, begun))
            results = await self.work(begun, driver)
            await self._over(begun, results)
            done = True
            return results
        finally:
            if not done:  # whoever asked knows; it is not at work any more
                with suppress(sqlite3.Error, StateFault):
                    await self._over(job, ())
            await self._leave(job)

    async def _over(self, job: Job, results: Sequence[RangeResult]) -> None:
        over = policy.answered(job, results, self.clock.now())
        await self.database.write(lambda connection: jobs.save(connection, over))

    async def _take_over(self) -> bool:
        """Jobs that were running when their daemon died wait again. Nobody waits for a provider from before the start:
        what kept it away may have been mended."""
        now = self.clock.now()

        def work(connection: sqlite3.Connection) -> int:
            left = [one for one in jobs.in_states(connection, [JobState.RUNNING]) if one.owner != self.owner]
            for one in left:
                jobs.save(connection, policy.orphaned(one, now))
            for one in jobs.in_states(connection, [JobState.QUEUED]):
                jobs.save(connection, msgspec.structs.replace(one, not_before=0))
            return len(left)

        left = await self.database.write(work)
        if left:
            self.log.info("jobs.taken-over", jobs=left)
        return True

    async def _round(self) -> float:
        """Begin what may begin; how long there is nothing more to do, in seconds."""
        now = self.clock.now()
        live = await self.database.read(
            lambda connection: jobs.in_states(connection, [JobState.QUEUED, JobState.RUNNING])
        )
        queued = [one for one in live if one.state is JobState.QUEUED]
        for stray in live:  # how it ended could not be written down: the disk was full, say
            if stray.state is JobState.RUNNING and stray.owner == self.owner and stray.session_id not in self.running:
                left = await self._change(stray, JobState.RUNNING, lambda one: policy.orphaned(one, now))
                queued += [left] if left is not None else []
        for job in policy.startable(queued, list(self.running.values()), now):
            self.running[job.session_id] = job
            self.tasks.spawn(self._begin(job), name="formation")
        later = policy.next_at(queued, now)
        return ROUND_SECONDS if later is None else min(ROUND_SECONDS, max(0.0, (later - now) / 1000))

    async def _begin(self, queued: Job) -> None:
        try:
            job = await self._change(
                queued, JobState.QUEUED, lambda one: policy.begun(one, self.owner, self.clock.now())
            )
            if job is None or job.state is not JobState.RUNNING:
                return  # failed by now: begun too often
            (results,) = await asyncio.gather(self.work(job, ""), return_exceptions=True)
            now = self.clock.now()
            if isinstance(results, BaseException):  # one job's fault is not the next one's
                if not isinstance(results, Exception):
                    raise results
                why = type(results).__name__
                self.log.error("job.broke", job=job.job_id, error=why)
                await self._change(job, JobState.RUNNING, lambda one: policy.broken(one, why, now))
                return
            found = results
            self.log.info("job.ended", job=job.job_id, pipeline=str(job.pipeline), results=len(found))
            await self._change(job, JobState.RUNNING, lambda one: policy.ended(one, found, now))
            if self.ended is not None:
                await self.ended()
        except (sqlite3.Error, StateFault) as error:  # the next round finds it as it stands
            self.log.warning("job.unwritten", job=queued.job_id, error=type(error).__name__)
        finally:
            await self._leave(queued)

    async def _change(self, job: Job, expected: JobState, after: Callable[[Job], Job]) -> Job | None:
        return await self.database.write(lambda connection: jobs.change(connection, job, expected, after))

    def _free(self, session_id: str) -> bool:
        return session_id not in self.running and len(self.running) < policy.MOST_RUNNING

    async def _leave(self, job: Job) -> None:
        self.running.pop(job.session_id, None)
        async with self._freed:
            self._freed.notify_all()
        self._news.set()
