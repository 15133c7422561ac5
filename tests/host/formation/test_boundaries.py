"""When a session is formed: its events, its rest, a start of the daemon; and never in the way of anything."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import Job, JobState, Pipeline, Trigger
from governance.formation.store import jobs
from host.config import FormationSettings
from host.contracts import Rollout
from host.formation.boundaries import RESTS_MS
from host.history import HISTORY, put_number
from host.runtime import SESSION_SET
from host.upkeep import IDLE_MS, rest, settle
from recall.contracts import EventType, SourceKind
from tests.support.builders import SESSION, a_prompt, a_reply, a_start, an_event
from tests.support.clock import START
from tests.support.formed import ON, team_of
from tests.support.world import World, a_world

SCRIPTED = '{"answers": []}'


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", formation=ON) as made:
        yield made


def scripted(folder: Path, **fields: Any) -> FormationSettings:
    """A driver of its own, as a user configures one."""
    path = folder / "script.json"
    path.write_text(SCRIPTED)
    return msgspec.structs.replace(FormationSettings(driver="scripted", script=str(path)), **fields)


async def every(world: World) -> list[Job]:
    await world.parts.tasks.settled()
    return list(await world.parts.kept.read(lambda connection: jobs.in_states(connection, JobState)))


@pytest.mark.parametrize(
    ("event", "trigger"),
    [("session/compacting", Trigger.COMPACT), ("session/compacted", Trigger.COMPACT), ("session/end", Trigger.END)],
)
async def test_a_boundary_of_the_session_becomes_a_job(world: World, event: str, trigger: Trigger) -> None:
    here = {"workspace": world.workspace()}
    await world.feed(a_start(**here), a_prompt(**here), an_event(event, {}, **here))

    (job,) = await every(world)

    assert (job.trigger, job.boundary_seq, job.pipeline) == (trigger, 3, Pipeline.CHECKPOINT)
    assert job.workspace_key == team_of(world)


async def test_one_compaction_told_three_times_is_one_waiting_job(world: World) -> None:
    here = {"workspace": world.workspace()}
    for event in ("session/compacting", "session/compacted"):
        await world.feed(a_prompt(**here), an_event(event, {}, **here))
        await world.parts.tasks.settled()
    await world.feed(a_start("compact", **here))

    (job,) = await every(world)

    assert job.boundary_seq == 5


@pytest.mark.promise("formation-14")
async def test_a_subagents_events_are_no_boundary(world: World) -> None:
    await world.feed(a_prompt(), an_event("session/end", {}, agent_id="sub-1"))
    await world.feed(an_event("session/compacting", {}, agent_id="sub-1"))

    assert await every(world) == []


async def test_a_workspace_that_is_off_has_no_jobs(world: World) -> None:
    await world.parts.rollouts.set(team_of(world), Rollout.OFF)
    here = {"workspace": world.workspace()}

    await world.feed(a_prompt(**here), an_event("session/end", {}, **here))

    assert await every(world) == []


async def test_a_session_that_rests_is_formed(world: World) -> None:
    await world.feed(a_prompt(workspace=world.workspace()))
    world.clock.set(START + IDLE_MS + 1)

    await rest(world.parts)

    (job,) = await every(world)
    assert (job.trigger, job.session_id, job.boundary_seq) == (Trigger.IDLE, SESSION, 1)


async def test_a_start_finds_what_the_last_run_did_not_write_down(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await settle(world.parts)
        for session in ("one", "two"):
            await world.feed(a_prompt(session_id=session, workspace=world.workspace()))
        await world.parts.eventlog.append([a_prompt(session_id="past")], START, past=True)
        await put_number(world.parts.main, HISTORY + "past", START)
        assert await every(world) == [], "they were cut short"

    later = START + RESTS_MS + 1
    async with a_world(tmp_path / "data", formation=ON, start=later) as world:
        await settle(world.parts)
        await world.feed(a_prompt(session_id="live", workspace=world.workspace()))
        assert await world.parts.boundaries.catch_up(later) == 2
        found = await every(world)

        assert {one.session_id for one in found} == {"one", "two"}, "history and what is live are left alone"
        await world.parts.boundaries.catch_up(later)
        assert len(await every(world)) == 2


async def test_a_boundary_that_was_told_just_before_the_end_is_found_at_the_start(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        here = {"workspace": world.workspace()}
        await world.feed(a_prompt(session_id="over", **here), an_event("session/end", {}, session_id="over", **here))
        await world.feed(a_prompt(session_id="live", **here))
        await world.parts.tasks.settled()
        await world.parts.kept.write(lambda connection: connection.execute("DELETE FROM job"))

    async with a_world(tmp_path / "data", formation=ON) as world:
        assert await world.parts.boundaries.catch_up(START) == 1
        (job,) = await every(world)

    assert (job.session_id, job.boundary_seq) == ("over", 2)


async def test_what_was_over_before_formation_was_switched_on_is_left_alone(tmp_path: Path) -> None:
    """The work of years must neither be told as waiting nor be sent to a model unasked."""
    later = START + RESTS_MS + 1
    for on in (False, True):
        settings = ON if on else FormationSettings(enabled=False)
        async with a_world(tmp_path / "data", formation=settings, start=later if on else START) as world:
            await settle(world.parts)
            if not on:
                await world.feed(a_prompt(session_id="old", workspace=world.workspace()))
            assert await world.parts.boundaries.catch_up(later) == 0
            assert await every(world) == []


async def test_ranges_that_waited_for_a_driver_are_formed_once_there_is_one(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        await world.feed(a_prompt(workspace=world.workspace()), an_event("session/end", {}))
        await world.parts.tasks.settled()
        await world.parts.kept.write(lambda c: c.execute("UPDATE job SET state = 'done', reason = 'no-driver'"))

    async with a_world(tmp_path / "data", formation=scripted(tmp_path)) as world:
        assert await world.parts.boundaries.catch_up(START) == 1

        (job,) = await every(world)
        assert job.state is JobState.QUEUED


async def test_history_is_formed_in_batches_where_there_is_a_driver_and_not_at_all_without(tmp_path: Path) -> None:
    for settings, expected in ((ON, []), (scripted(tmp_path), [(Pipeline.BATCH, Trigger.IMPORT)])):
        async with a_world(tmp_path / settings.driver, formation=settings) as world:
            await world.parts.eventlog.append([a_prompt()], START, past=True)
            await world.parts.boundaries.imported(SESSION)

            assert [(one.pipeline, one.trigger) for one in await every(world)] == expected


async def test_turns_of_the_user_are_counted_where_running_sessions_are_formed_in_batches(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=scripted(tmp_path, batch=True)) as world:
        here = {"workspace": world.workspace()}
        boundaries: list[int] = []
        for number in range(1, 6):
            await world.feed(a_prompt(f"We ship on Thursdays, {number}.", **here))
            await world.feed(a_prompt("machine", source_kind=SourceKind.LIFECYCLE, **here), a_reply(**here))
            found = await every(world)
            boundaries.append(max((one.boundary_seq for one in found), default=0))
            await world.parts.kept.write(lambda c: c.execute("DELETE FROM job"))
            await world.parts.kept.write(
                lambda c, to=boundaries[-1]: (
                    to  # type: ignore[misc]
                    and c.execute("INSERT OR REPLACE INTO cursor VALUES ('batch', ?, ?, 0)", (SESSION, to))
                )
            )

        assert [bool(one) for one in boundaries] == [True, True, False, True, False]


async def test_without_the_setting_turns_are_not_counted(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=scripted(tmp_path)) as world:
        await world.feed(a_prompt(workspace=world.workspace()))
        await world.parts.boundaries.paused(START + 10**9)

        assert await every(world) == []


async def test_a_session_that_pauses_is_formed_in_a_batch(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=scripted(tmp_path, batch=True)) as world:
        here = {"workspace": world.workspace()}
        await world.feed(*(a_prompt(f"We ship on Thursdays, {number}.", **here) for number in range(3)))
        await every(world)
        await world.parts.kept.write(lambda c: c.execute("UPDATE job SET state = 'done'"))
        await world.parts.kept.write(
            lambda c: c.execute("INSERT OR REPLACE INTO cursor VALUES ('batch', ?, 2, 0)", (SESSION,))
        )
        world.clock.set(START + 600_001)

        await world.parts.boundaries.paused(world.clock.now())
        await world.parts.boundaries.paused(world.clock.now())

        queued = [one for one in await every(world) if one.state is JobState.QUEUED]
        assert [(one.trigger, one.boundary_seq) for one in queued] == [(Trigger.IDLE, 3)]


async def test_an_incognito_session_is_a_job_that_the_gate_denies(world: World) -> None:
    """That it ended is no secret; nothing of it is read."""
    here = {"workspace": world.workspace()}
    await world.feed(an_event(SESSION_SET, {"incognito": True}, **here), a_prompt("hidden", **here))
    await world.feed(an_event(EventType.SESSION_END, {}, **here))

    (job,) = await every(world)
    assert await world.parts.formation.material.read(SESSION, -1, job.boundary_seq) == ()
