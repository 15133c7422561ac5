"""Formation as the daemon sees it: boundaries in, ranges formed, what waits told; a broken file breaks nothing else."""

import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.formation import jobs as policy
from governance.formation.contracts import (
    DeadLetter,
    FailureClass,
    Job,
    JobState,
    ModelDriver,
    Pipeline,
    RangeResult,
    RangeStatus,
    Snapshot,
    Trigger,
)
from governance.formation.errors import ModelError, ParameterFault, StateFault
from governance.formation.store import ranges
from host.config import FormationSettings
from host.formation.ports import Ask
from recall.contracts import EventType
from tests.support.builders import SESSION, a_prompt, a_reply, an_event
from tests.support.formed import ON
from tests.support.world import World, a_world


class Engine:
    """An engine that the test tells what to answer. `seen`: snapshots, and by which driver."""

    def __init__(self) -> None:
        self.seen: list[tuple[Snapshot, str]] = []
        self.results: Sequence[RangeResult] = ()

    async def __call__(self, snapshot: Snapshot, driver: ModelDriver | None) -> Sequence[RangeResult]:
        self.seen.append((snapshot, "" if driver is None else driver.id))
        return self.results


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


@pytest.fixture
def engine(world: World) -> Engine:
    made = Engine()
    world.parts.formation.engines = {Pipeline.CHECKPOINT: made, Pipeline.BATCH: made}
    return made


def script(folder: Path) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps({"id": "demo", "answers": []}))
    return f"scripted:{path}"


def result(status: RangeStatus, reason: str = "") -> RangeResult:
    return RangeResult(session_id=SESSION, from_seq=0, through_seq=2, status=status, reason=reason)


async def done(world: World) -> list[Job]:
    """Run what waits; the jobs as they stand then."""
    formation = world.parts.formation
    await formation.runner._round()
    await world.parts.tasks.settled()
    found = await world.parts.kept.read(lambda c: c.execute("SELECT job_id FROM job").fetchall())
    from governance.formation.store import jobs

    read = [await world.parts.kept.read(lambda c, one=one: jobs.of(c, one[0])) for one in found]  # type: ignore[misc]
    return [one for one in read if one is not None]


async def test_a_boundary_is_a_row_and_nothing_more(world: World, engine: Engine) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))

    job_id = await world.parts.formation.boundary(Trigger.END, SESSION)

    (job,) = await world.parts.formation.jobs()
    assert (job.job_id, job.state, job.boundary_seq) == (job_id, JobState.QUEUED, 1)
    assert engine.seen == []
    assert await world.parts.formation.boundary(Trigger.END, SESSION) == job_id
    assert await world.parts.formation.boundary(Trigger.END, "nobody") is None


async def test_a_job_is_a_run_of_its_pipeline_over_the_session_as_it_stood(world: World, engine: Engine) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))
    await world.parts.formation.boundary(Trigger.COMPACT, SESSION)
    await world.feed(a_reply(workspace=world.workspace()))
    engine.results = (result(RangeStatus.EXTRACTED),)

    (job,) = await done(world)

    ((snapshot, driver),) = engine.seen
    assert (snapshot.boundary_seq, snapshot.trigger, snapshot.conversation_key) == (1, Trigger.COMPACT, SESSION)
    assert driver == "" and job.state is JobState.DONE


async def test_a_range_without_a_driver_waits_and_one_in_which_nobody_spoke_does_not(
    world: World, engine: Engine
) -> None:
    here = {"workspace": world.workspace()}
    await world.feed(a_prompt("We ship on Thursdays.", **here))
    await world.feed(a_reply("hello", session_id="quiet", **here))
    engine.results = (result(RangeStatus.UNAVAILABLE, policy.NO_DRIVER),)
    for session in (SESSION, "quiet"):
        await world.parts.formation.boundary(Trigger.END, session)

    await done(world)

    (waits,) = await world.parts.formation.waiting()
    assert (waits.session_id, waits.reason) == (SESSION, policy.NO_DRIVER)
    assert (await world.parts.formation.status()).waiting == 1


async def test_what_waits_for_the_agent_is_counted_in_memory_and_anew_after_each_run(
    world: World, engine: Engine
) -> None:
    """The runtime context asks at every pass: it reads no table."""
    here = world.workspace()
    key = world.parts.places.key(here)
    await world.feed(a_prompt("We ship on Thursdays.", workspace=here))
    engine.results = (result(RangeStatus.UNAVAILABLE, policy.NO_DRIVER),)
    await world.parts.formation.boundary(Trigger.END, SESSION)
    assert world.parts.formation.waits(key) == 0

    await done(world)
    assert (world.parts.formation.waits(key), world.parts.formation.waits("")) == (1, 1)
    assert world.parts.formation.waits("ws_other") == 0

    await world.parts.kept.write(lambda c: c.execute("INSERT INTO cursor VALUES ('checkpoint', ?, 9, 0)", (SESSION,)))
    await world.parts.formation.recount()
    assert world.parts.formation.waits(key) == 0


async def test_what_waits_is_known_at_the_start(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await world.feed(a_prompt("We ship on Thursdays.", workspace=world.workspace()))
        await world.parts.formation.run(Ask(session_id=SESSION))

    async with a_world(tmp_path / "data", formation=ON) as world:
        assert world.parts.formation.waits(world.parts.places.key(world.workspace())) == 1


async def test_who_asks_is_told_what_became_of_it(world: World, engine: Engine, tmp_path: Path) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))
    engine.results = (result(RangeStatus.EXTRACTED),)

    told = await world.parts.formation.run(Ask(session_id=SESSION, driver=script(tmp_path)))

    assert [one.status for one in told] == [RangeStatus.EXTRACTED]
    assert engine.seen[0][1].startswith("scripted")
    assert await world.parts.formation.jobs() == ()


async def test_what_cannot_be_asked_is_said_before_anything_is_written(world: World, engine: Engine) -> None:
    formation = world.parts.formation
    with pytest.raises(ParameterFault) as raised:
        await formation.run(Ask(session_id="nobody"))
    assert raised.value.code == "unknown-session"
    await world.feed(a_prompt())
    with pytest.raises(ModelError, match="no model driver"):
        await formation.run(Ask(session_id=SESSION, driver="nonsense"))

    assert engine.seen == []
    assert await world.parts.kept.read(lambda c: c.execute("SELECT count(*) FROM job").fetchone()) == (0,)


async def test_a_configured_driver_that_cannot_be_made_is_a_problem_that_is_told_and_waited_for(
    tmp_path: Path,
) -> None:
    settings = FormationSettings(driver="scripted", script=str(tmp_path / "absent.json"))
    async with a_world(tmp_path / "data", formation=settings) as world:
        await world.feed(a_prompt(workspace=world.workspace()))
        await world.parts.formation.boundary(Trigger.END, SESSION)
        (job,) = await done(world)

        status = await world.parts.formation.status()

        assert status.state == "ok" and "absent.json" in status.driver_problem
        assert (job.state, job.reason, job.waits) == (JobState.QUEUED, "configuration", 1)


async def test_formation_that_is_off_writes_no_row(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=FormationSettings(enabled=False)) as world:
        await world.feed(a_prompt(), an_event(EventType.SESSION_END, {}))
        await world.parts.tasks.settled()

        assert await world.parts.formation.boundary(Trigger.END, SESSION) is None
        assert await world.parts.formation.jobs() == ()
        assert (await world.parts.formation.status()).state == "off"
        with pytest.raises(ParameterFault):
            await world.parts.formation.run(Ask(session_id=SESSION))


async def test_ranges_that_were_given_up_are_counted(world: World) -> None:
    letter = DeadLetter(
        letter_id="letter_1",
        pipeline=Pipeline.CHECKPOINT,
        session_id=SESSION,
        workspace_key="ws_1",
        from_seq=0,
        through_seq=9,
        class_=FailureClass.SCHEMA,
        refs=(),
        attempts=2,
        operation_id="memory_1",
        state="open",
        at=7,
    )
    await world.parts.kept.write(lambda connection: ranges.bury(connection, letter))
    assert (await world.parts.formation.status()).given_up == 1
    await world.parts.kept.write(lambda connection: ranges.retried(connection, letter.letter_id))
    assert (await world.parts.formation.status()).given_up == 0


async def test_a_failed_job_is_tried_again_by_hand_alone(world: World, engine: Engine) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))
    job_id = await world.parts.formation.boundary(Trigger.END, SESSION)
    assert job_id is not None
    await world.parts.kept.write(lambda c: c.execute("UPDATE job SET state = 'failed', starts = 3, reason = 'poison'"))
    assert (await world.parts.formation.status()).poison == 1
    await done(world)
    assert engine.seen == []

    assert await world.parts.formation.retry(job_id) and not await world.parts.formation.retry(job_id)
    await done(world)

    assert len(engine.seen) == 1
    assert not await world.parts.formation.retry("job_none")


# ------------------------------------------------------------------------------------------------ a file that is broken


BREAKS: list[Any] = [
    lambda path: path.unlink(),
    lambda path: path.write_bytes(b"not a database at all" * 400),
    lambda path: newer(path),
]


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize("broken", BREAKS, ids=["missing", "damaged", "newer"])
async def test_formation_answers_state_failed_and_events_recall_and_injection_run_on(
    tmp_path: Path, broken: Any
) -> None:
    from host.contracts import Claimed
    from tests.support.builders import a_call, a_result
    from tests.support.world import FAILURE, LESSON

    async with a_world(tmp_path / "data", formation=ON) as world:
        await world.remember(LESSON)
        await world.feed(a_prompt(workspace=world.workspace(), session_id="earlier"))
    for log in ("-wal", "-shm"):
        (tmp_path / "data" / f"governance.db{log}").unlink(missing_ok=True)
    broken(tmp_path / "data" / "governance.db")

    async with a_world(tmp_path / "data", formation=ON) as world:
        here = {"workspace": world.workspace()}
        await world.feed(a_prompt("run the tests", **here), a_call("make integration-test", **here))
        await world.feed(a_result(FAILURE, **here))
        assert isinstance(await world.claim(), Claimed)
        await world.feed(an_event(EventType.SESSION_END, {}, **here))
        await world.parts.tasks.settled()

        formation = world.parts.formation
        assert (await formation.status()).state == "state-failed" and formation.problem()
        with pytest.raises(StateFault) as raised:
            await formation.run(Ask(session_id=SESSION))
        assert raised.value.code == "state-failed"
        assert await formation.boundary(Trigger.END, SESSION) is None


def test_the_status_is_data_that_goes_over_the_wire() -> None:
    from host.formation.ports import FormationStatus

    assert msgspec.json.decode(msgspec.json.encode(FormationStatus(state="ok")))["driverProblem"] == ""
