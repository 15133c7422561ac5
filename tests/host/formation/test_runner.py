"""Jobs at work: few at once, in their order, with patience, and taken over from a daemon that died."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import structlog

from governance.formation import jobs as policy
from governance.formation.contracts import Job, JobState, RangeResult, RangeStatus
from governance.formation.store import jobs
from governance.migrations import queue_steps
from host.clock import SetClock
from host.formation.runner import Runner
from host.tasks import Tasks
from tests.governance.formation.test_jobs import NOW, a_job
from tests.support.fakes import FakeDatabase


class Bench:
    """A runner whose work is told by the test. `at_work`: sessions, in the order in which they began."""

    def __init__(self, database: FakeDatabase, owner: str = "run_1") -> None:
        self.clock = SetClock(NOW + 1_000)
        self.database = database
        log = structlog.wrap_logger(structlog.testing.CapturingLogger(), processors=[])
        self.tasks = Tasks(log)
        self.at_work: list[str] = []
        self.drivers: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.outcome: Sequence[RangeResult] | Exception = ()
        self.runner = Runner(
            database=database, work=self.work, clock=self.clock, tasks=self.tasks, log=log, owner=owner
        )

    async def work(self, job: Job, driver: str) -> Sequence[RangeResult]:
        self.at_work.append(job.session_id)
        self.drivers.append(driver)
        if job.session_id in self.gates:
            await self.gates[job.session_id].wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def put(self, *given: Job) -> None:
        for job in given:
            await self.database.write(lambda connection, job=job: jobs.put(connection, job))  # type: ignore[misc]
        self.runner.nudge()

    async def states(self) -> dict[str, JobState]:
        found = await self.database.read(lambda connection: jobs.in_states(connection, JobState))
        return {one.job_id: one.state for one in found}

    async def one(self, job_id: str = "job_1") -> Job:
        found = await self.database.read(lambda connection: jobs.of(connection, job_id))
        assert found is not None
        return found

    async def until(self, *states: JobState) -> None:
        """Run until every job stands so."""
        async with asyncio.timeout(5):
            while set((await self.states()).values()) != set(states):
                await asyncio.sleep(0)

    async def began(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.at_work) < count:
                await asyncio.sleep(0)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    database = FakeDatabase(queue_steps())
    made = Bench(database)
    task = asyncio.create_task(made.runner.run())
    yield made
    task.cancel()
    await made.tasks.close()
    database.close()


def away(reason: str = "unavailable", **fields: Any) -> RangeResult:
    return RangeResult(
        session_id="s-1", from_seq=0, through_seq=10, status=RangeStatus.UNAVAILABLE, reason=reason, **fields
    )


async def test_what_is_put_in_is_done(bench: Bench) -> None:
    await bench.put(a_job())
    await bench.until(JobState.DONE)

    assert bench.at_work == ["s-1"] and bench.drivers == [""]


async def test_two_work_at_once_and_the_third_waits_for_a_place(bench: Bench) -> None:
    bench.gates = {f"s-{number}": asyncio.Event() for number in (1, 2, 3)}
    await bench.put(a_job(1), a_job(2), a_job(3))
    await bench.began(2)
    for _ in range(20):
        await asyncio.sleep(0)
    assert bench.at_work == ["s-1", "s-2"]

    bench.gates["s-2"].set()
    await bench.began(3)

    assert bench.at_work == ["s-1", "s-2", "s-3"]
    for gate in bench.gates.values():
        gate.set()
    await bench.until(JobState.DONE)


async def test_a_session_has_one_at_work_and_the_next_comes_after_it(bench: Bench) -> None:
    bench.gates = {"s-1": asyncio.Event()}
    await bench.put(a_job(1))
    await bench.began(1)
    await bench.put(a_job(2, session_id="s-1", boundary_seq=20))
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(bench.at_work) == 1

    bench.gates["s-1"].set()
    await bench.until(JobState.DONE)

    assert bench.at_work == ["s-1", "s-1"]


async def test_a_provider_that_is_away_is_asked_again_when_it_is_time(bench: Bench) -> None:
    bench.outcome = (away(),)
    await bench.put(a_job())
    await bench.began(1)
    await bench.until(JobState.QUEUED)
    job = await bench.one()
    assert (job.waits, job.starts, job.not_before) == (1, 0, bench.clock.now() + 60_000)

    bench.outcome = (RangeResult(session_id="s-1", from_seq=0, through_seq=10, status=RangeStatus.EXTRACTED),)
    bench.clock.set(job.not_before)
    bench.runner.nudge()
    await bench.until(JobState.DONE)

    assert bench.at_work == ["s-1", "s-1"]


async def test_a_wait_that_the_provider_asks_for_is_kept(bench: Bench) -> None:
    bench.outcome = (away("rate-limited", retry_after_ms=600_000),)
    await bench.put(a_job())
    await bench.began(1)
    await bench.until(JobState.QUEUED)

    assert (await bench.one()).not_before == bench.clock.now() + 600_000


async def test_one_jobs_fault_is_not_the_next_ones(bench: Bench) -> None:
    bench.outcome = ValueError("unforeseen")
    await bench.put(a_job(1))
    await bench.began(1)
    await bench.until(JobState.QUEUED)
    bench.outcome = ()
    await bench.put(a_job(2))
    async with asyncio.timeout(5):
        while (await bench.states())["job_2"] is not JobState.DONE:
            await asyncio.sleep(0)

    assert (await bench.one()).reason == "ValueError"


async def test_what_an_earlier_daemon_left_running_is_begun_again_and_the_fourth_time_not(tmp_path: Any) -> None:
    database = FakeDatabase(queue_steps())
    for number in range(policy.MOST_STARTS):
        bench = Bench(database, f"run_{number}")
        bench.gates = {"s-1": asyncio.Event()}
        await bench.put(*([a_job()] if number == 0 else []))
        task = asyncio.create_task(bench.runner.run())
        await bench.began(1)
        assert (await bench.one()).starts == number + 1
        task.cancel()
        await bench.tasks.close()  # the daemon dies

    bench = Bench(database, "run_last")
    task = asyncio.create_task(bench.runner.run())
    await bench.until(JobState.FAILED)

    assert bench.at_work == [] and (await bench.one()).reason == policy.POISON
    task.cancel()
    await bench.tasks.close()
    database.close()


async def test_a_job_whose_end_could_not_be_written_down_is_done_again_when_it_can(bench: Bench) -> None:
    gate = bench.gates["s-1"] = asyncio.Event()
    await bench.put(a_job())
    await bench.began(1)
    bench.database.fail_next = sqlite3.OperationalError("database or disk is full")
    gate.set()
    async with asyncio.timeout(5):
        while bench.runner.running:
            await asyncio.sleep(0)

    await bench.until(JobState.DONE)

    assert bench.at_work == ["s-1", "s-1"] and not bench.tasks.failed


async def test_a_start_waits_for_no_provider_from_before(bench: Bench) -> None:
    database = FakeDatabase(queue_steps())
    later = Bench(database, "run_2")
    await later.put(a_job(not_before=NOW + 10**9, waits=5))
    task = asyncio.create_task(later.runner.run())
    await later.until(JobState.DONE)
    task.cancel()
    database.close()

    assert later.at_work == ["s-1"]


async def test_who_asks_is_told_and_waits_for_a_place_like_everybody(bench: Bench) -> None:
    bench.gates = {"s-1": asyncio.Event()}
    await bench.put(a_job(1))
    await bench.began(1)
    bench.outcome = (away(),)
    asking = asyncio.create_task(bench.runner.ask(a_job(9, session_id="s-1"), "scripted:x.json"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not asking.done()

    bench.gates["s-1"].set()
    async with asyncio.timeout(5):
        results = await asking

    assert [one.reason for one in results] == ["unavailable"]
    assert bench.drivers == ["", "scripted:x.json"]
    assert (await bench.one("job_9")).state is JobState.DONE, (
        "who asked may ask again: nothing is tried behind his back"
    )


async def test_what_an_asked_run_raises_reaches_the_one_who_asked_and_frees_the_place(bench: Bench) -> None:
    bench.outcome = ValueError("broken")
    with pytest.raises(ValueError, match="broken"):
        await bench.runner.ask(a_job(), "")
    assert (await bench.one()).state is JobState.DONE

    bench.outcome = ()
    assert await bench.runner.ask(a_job(2, session_id="s-1"), "") == ()
