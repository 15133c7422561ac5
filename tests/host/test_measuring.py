"""The audit in numbers, and what handing over changed, read from real stores and the same after a restart."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.contracts import AuditEntry
from governance.outcomes import LeftOut, Outcome, Share, Stats, Verdict
from host.contracts import Claimed
from host.measuring import Measuring
from host.steps import STEP_END
from recall.contracts import CodeAnchor, EventType
from recall.errors import IndexFault
from recall.workspace import workspace_key
from tests.support.builders import a_call, a_prompt, a_result, a_scope, an_event
from tests.support.clock import START
from tests.support.holdout import HALF, fail
from tests.support.world import FAILURE, LESSON, World, a_world

SESSIONS = 48
DAY = 86_400_000


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data", HALF) as opened:
        yield opened


async def a_story(world: World, session: str, project: str = "project") -> bool:
    """A failure; where its lesson is given the agent follows it, where it is held out the same fails again. Whether it
    was given."""
    where = {"session_id": session, "workspace": world.workspace(project)}
    await world.feed(a_call("make integration-test", **where), a_result(FAILURE, **where))
    claim = await world.claim(session=session)
    given = isinstance(claim, Claimed)
    if given:
        await world.deliver(claim, session=session)
    command = "docker compose up -d pg-fixture" if given else "make integration-test"
    await world.feed(
        an_event(STEP_END, {}, **where),
        a_call(command, call_id="call-2", **where),
        a_result("Started" if given else FAILURE, ok=given, call_id="call-2", **where),
    )
    return given


async def stories(world: World, count: int = SESSIONS) -> int:
    """So many sessions; in how many the lesson was given."""
    await world.remember(LESSON)
    return sum([await a_story(world, f"s{number}") for number in range(count)])


async def stats(world: World, **fields: object) -> Stats:
    return await Measuring(world.parts).stats(**fields)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------- counts


async def test_passes_silences_and_packets_are_counted(world: World) -> None:
    given = await stories(world, 8)

    found = await stats(world)

    assert (found.since, found.sessions, found.entries) == (None, 8, await world.parts.audit.count())
    assert found.passes == {"silence": 24, "packet": given, "held-out": 8 - given} and 0 < given < 8
    assert found.packets == {"built": 8, "held-out": 8 - given, "claimed": given, "delivered": given}
    assert sum(found.silences.values()) == 24
    assert list(found.silences.values()) == sorted(found.silences.values(), reverse=True)
    assert found.bytes == world.parts.tally.metrics.injected_bytes > 0
    assert found.drops == {}


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
async def test_however_it_is_paged_the_numbers_are_the_same(
    world: World, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stories(world, 6)
    whole = await stats(world)

    monkeypatch.setattr("host.measuring.PAGE", size)
    monkeypatch.setattr("host.measuring.CHUNK", size)

    assert await stats(world) == whole


async def test_what_is_older_is_left_out(world: World) -> None:
    await stories(world, 3)
    world.clock.set(START + DAY)
    await a_story(world, "later")

    found = await stats(world, since=START + DAY)

    assert (found.sessions, found.since) == (1, START + DAY)
    assert found.measured.given + found.measured.held_out == 1
    assert (await stats(world, since=START + DAY + 1)).entries == 0


async def test_a_session_belongs_to_the_workspace_in_which_it_was_last(world: World) -> None:
    await world.remember(LESSON)
    await world.remember(LESSON, workspace=world.workspace("other"))
    await a_story(world, "s1")
    await a_story(world, "s2", "other")
    await a_story(world, "s3", "other")

    counts = [
        (await stats(world, workspace=world.workspace(name))).sessions for name in ("project", "other", "elsewhere")
    ]

    assert counts == [1, 2, 0]


async def test_of_nothing_there_is_nothing_to_say(world: World) -> None:
    found = await stats(world)

    assert (found.entries, found.sessions, found.passes, found.silences) == (0, 0, {}, {})
    assert (found.measured.given, found.measured.held_out, found.measured.share) == (0, 0, 0.5)


# -------------------------------------------------------------------------------------------------- what it changed


async def test_what_the_lesson_changed_shows_as_a_difference(world: World) -> None:
    given = await stories(world)
    held_out = SESSIONS - given

    measured = (await stats(world)).measured

    assert (measured.given, measured.delivered, measured.held_out) == (given, given, held_out)
    assert (measured.share, measured.steps, measured.fewest) == (0.5, 10, 20) and held_out >= 20
    found = {one.outcome: one for one in measured.outcomes}
    used, repeated = found[Outcome.COMMAND_USED], found[Outcome.FAILURE_REPEATED]
    assert (used.given, used.held_out) == (Share(happened=given, of=given), Share(of=held_out))
    assert (used.verdict, used.difference) == (Verdict.MORE, 1.0)
    assert (repeated.verdict, repeated.difference) == (Verdict.LESS, -1.0)
    assert found[Outcome.CORRECTED].verdict is Verdict.NO_DIFFERENCE
    assert found[Outcome.FILE_OPENED].given.of == given  # the memory's own file can always be opened


async def test_a_restart_changes_no_number(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", HALF) as world:
        await stories(world, 12)
        before = await stats(world)

    async with a_world(tmp_path / "data", HALF) as world:
        assert await stats(world) == before
        assert (await stats(world, since=START)).measured == before.measured


async def test_a_restart_between_a_packet_and_what_follows_changes_no_number(tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole" / "data", tmp_path / "parted" / "data"
    async with a_world(whole, HALF) as world:
        await stories(world, 4)
        await after_a_prompt(world)
        expected = await stats(world)
    async with a_world(parted, HALF) as world:
        await stories(world, 4)
    async with a_world(parted, HALF) as world:
        await after_a_prompt(world)

        assert (await stats(world)).measured == expected.measured
    corrected = {one.outcome: one for one in expected.measured.outcomes}[Outcome.CORRECTED]
    assert corrected.given.happened + corrected.held_out.happened == 4


async def after_a_prompt(world: World) -> None:
    for number in range(4):
        where = {"session_id": f"s{number}", "workspace": world.workspace()}
        await world.feed(a_prompt("No, use the pg-fixture container instead.", **where))


@pytest.mark.parametrize(("steps", "used"), [(9, 1), (10, 0)])
async def test_what_follows_is_read_to_the_last_step_that_counts(world: World, steps: int, used: int) -> None:
    await world.remember(LESSON)
    await fail(world, "s1", "c1")
    where = {"session_id": "s1", "workspace": world.workspace()}
    for number in range(steps):
        await world.feed(
            an_event(STEP_END, {}, **where),
            *(a_call(f"ls {number} {call}", call_id=f"c{number}-{call}", **where) for call in range(9)),
        )
    await world.feed(
        an_event(STEP_END, {}, **where), a_call("docker compose up -d pg-fixture", call_id="last", **where)
    )

    found = {one.outcome: one for one in (await stats(world)).measured.outcomes}[Outcome.COMMAND_USED]

    assert (found.given.happened + found.held_out.happened, found.given.of + found.held_out.of) == (used, 1)


async def test_a_packet_counts_only_once_a_step_followed(world: World) -> None:
    await world.remember(LESSON)
    await fail(world, "s1", "c1")

    measured = (await stats(world)).measured

    assert (measured.given, measured.held_out) == (0, 0)
    assert measured.left_out == {LeftOut.NO_STEP: 1}


async def test_calls_whose_host_tells_of_no_step_leave_their_packet_out_and_that_is_said(world: World) -> None:
    await world.remember(LESSON)
    await fail(world, "s1", "c1")
    where = {"session_id": "s1", "workspace": world.workspace()}
    for number in range(3):  # no `step`, no end of a batch, no prompt: all of it may be one reply
        await world.feed(a_call(f"ls {number}", call_id=f"d{number}", **where))

    measured = (await stats(world)).measured

    assert (measured.given + measured.held_out, measured.left_out) == (0, {LeftOut.NO_STEP: 1})


async def test_a_packet_that_was_given_and_never_asked_for_counts_as_given(world: World) -> None:
    await world.remember(LESSON)
    for number in range(8):
        await fail(world, f"s{number}", "c1")
        where = {"session_id": f"s{number}", "workspace": world.workspace()}
        await world.feed(an_event(STEP_END, {}, **where), a_call("ls", call_id="c2", **where))

    measured = (await stats(world)).measured

    assert (measured.given + measured.held_out, measured.delivered) == (8, 0) and measured.given > 0


async def test_a_forgotten_memory_is_counted_no_more(world: World) -> None:
    await stories(world, 6)

    await world.parts.inbox.erase(f"mem_{1:032x}")

    measured = (await stats(world)).measured
    assert (measured.given, measured.held_out, measured.left_out) == (0, 0, {LeftOut.ERASED: 6})


async def test_a_memory_that_is_gone_from_the_index_leaves_what_its_packet_names(world: World) -> None:
    await stories(world, 4)
    scope = a_scope(workspace=workspace_key(world.workspace()))
    assert await world.parts.library.forget(f"mem_{1:032x}", scope) is True

    found = {one.outcome: one for one in (await stats(world)).measured.outcomes}

    assert found[Outcome.FILE_OPENED].given.of + found[Outcome.FILE_OPENED].held_out.of == 0
    assert found[Outcome.COMMAND_USED].given.of + found[Outcome.COMMAND_USED].held_out.of == 4


async def test_without_its_packet_or_its_events_nothing_is_said_of_a_trial(world: World) -> None:
    await stories(world, 4)

    async def measured() -> tuple[int, dict[LeftOut, int]]:
        found = (await stats(world)).measured
        return found.given + found.held_out, found.left_out

    counts = [await measured()]
    for table in ("event", "packet"):
        await world.parts.inbox._database.write(
            lambda connection, table=table: connection.execute(f"DELETE FROM {table}")
        )
        counts.append(await measured())

    assert counts == [(4, {}), (0, {LeftOut.NO_EVENTS: 4}), (0, {LeftOut.ERASED: 4})]


async def test_the_place_that_a_memory_is_about_counts_as_its_file(world: World) -> None:
    await world.remember(LESSON, about=CodeAnchor(path="deploy/fixtures.yml", line=3, snippet="pg:"))
    where = {"session_id": "s1", "workspace": world.workspace()}
    await fail(world, "s1", "c1")
    await world.feed(
        an_event(STEP_END, {}, **where),
        an_event(EventType.TOOL_CALL, {"tool": "read", "path": "/srv/deploy/fixtures.yml"}, **where),
    )

    opened = next(one for one in (await stats(world)).measured.outcomes if one.outcome is Outcome.FILE_OPENED)

    assert opened.given.happened + opened.held_out.happened == 1


async def test_a_broken_index_leaves_only_what_the_packet_names(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await stories(world, 4)

    async def broken(*_: object) -> AuditEntry:
        raise IndexFault("broken")

    monkeypatch.setattr(world.parts.library, "get", broken)
    found = {one.outcome: one for one in (await stats(world)).measured.outcomes}

    assert found[Outcome.FILE_OPENED].given.of + found[Outcome.FILE_OPENED].held_out.of == 0
    assert found[Outcome.COMMAND_USED].given.of + found[Outcome.COMMAND_USED].held_out.of == 4
