"""How far a workspace is rolled out, and that a restart knows it."""

from pathlib import Path

import pytest

from governance.contracts import AuditKind
from host.contracts import Claimed, Reason, Rollout, Silence
from host.history import put_number
from host.rollouts import CANARY_PERCENT, MOST_SPANS, SINCE
from recall.workspace import workspace_key
from tests.support.builders import SESSION, WORKSPACE, a_call, a_result
from tests.support.world import FAILURE, LESSON, a_world

OTHER = "ws_" + "b" * 32


async def test_a_workspace_that_nobody_set_is_active(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        assert world.parts.rollouts.of(WORKSPACE, SESSION) is Rollout.ACTIVE


@pytest.mark.parametrize("level", [Rollout.OFF, Rollout.SHADOW, Rollout.ACTIVE])
async def test_a_level_holds_at_once_for_its_workspace_alone_and_after_a_restart(
    tmp_path: Path, level: Rollout
) -> None:
    async with a_world(tmp_path) as world:
        await world.parts.rollouts.set(OTHER, Rollout.SHADOW)
        await world.parts.rollouts.set(WORKSPACE, Rollout.OFF)
        await world.parts.rollouts.set(WORKSPACE, level)
        assert world.parts.rollouts.of(WORKSPACE, SESSION) is level
    async with a_world(tmp_path) as world:
        assert (world.parts.rollouts.of(WORKSPACE, SESSION), world.parts.rollouts.of(OTHER, SESSION)) == (
            level,
            Rollout.SHADOW,
        )


async def test_a_canary_is_active_for_its_share_of_sessions_and_always_for_the_same(tmp_path: Path) -> None:
    sessions = [f"session-{number}" for number in range(2000)]
    async with a_world(tmp_path) as world:
        await world.parts.rollouts.set(WORKSPACE, Rollout.CANARY)
        levels = [world.parts.rollouts.of(WORKSPACE, session) for session in sessions]
    async with a_world(tmp_path) as world:
        again = [world.parts.rollouts.of(WORKSPACE, session) for session in sessions]

    assert again == levels
    assert set(levels) == {Rollout.ACTIVE, Rollout.SHADOW}
    share = levels.count(Rollout.ACTIVE) * 100 / len(sessions)
    assert CANARY_PERCENT * 0.7 < share < CANARY_PERCENT * 1.3


async def test_what_came_while_a_workspace_was_off_is_never_decided_not_even_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        folder = world.workspace()
        key = workspace_key(folder)
        await world.remember(LESSON)
        await world.parts.rollouts.set(key, Rollout.OFF, world.clock.now())
        await world.feed(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
        world.clock.set(world.clock.now() + 1)
        await world.parts.rollouts.set(key, Rollout.ACTIVE, world.clock.now())
        later = world.clock.now()

    async with a_world(tmp_path / "data", start=later) as world:
        claim = await world.claim()
        assert isinstance(claim, Silence) and not await world.audit(kind=AuditKind.PASS)
        await world.feed(a_result(FAILURE, call_id="c2", workspace=folder))
        assert isinstance(await world.claim(), Claimed)


async def test_only_switching_on_begins_anew(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.parts.rollouts.set(WORKSPACE, Rollout.ACTIVE, 50)

        assert not world.parts.rollouts.asleep(WORKSPACE, SESSION, 10)


async def test_only_what_came_while_a_workspace_was_off_was_asleep_each_time_and_after_a_restart_too(
    tmp_path: Path,
) -> None:
    switches = [
        (Rollout.OFF, 100),
        (Rollout.OFF, 150),
        (Rollout.ACTIVE, 200),
        (Rollout.OFF, 300),
        (Rollout.SHADOW, 400),
    ]
    async with a_world(tmp_path) as world:
        for level, at in switches:
            await world.parts.rollouts.set(WORKSPACE, level, at)
        asleep = [at for at in range(50, 500, 50) if world.parts.rollouts.asleep(WORKSPACE, SESSION, at)]
        assert asleep == [100, 150, 300, 350]

    async with a_world(tmp_path) as world:
        assert [at for at in range(50, 500, 50) if world.parts.rollouts.asleep(WORKSPACE, SESSION, at)] == asleep
        await world.parts.rollouts.set(WORKSPACE, Rollout.OFF, 450)
        assert world.parts.rollouts.asleep(WORKSPACE, SESSION, 50), "while it is off, nothing is"


async def test_of_a_workspace_that_an_earlier_version_switched_on_all_before_that_counts_as_off(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await put_number(world.parts.main, f"{SINCE}{WORKSPACE}", 200)

    async with a_world(tmp_path) as world:
        assert [at for at in (0, 199, 200) if world.parts.rollouts.asleep(WORKSPACE, SESSION, at)] == [0, 199]


async def test_a_workspace_that_is_switched_off_and_on_for_ever_keeps_a_bounded_list(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        for number in range(2 * MOST_SPANS + 10):
            level = Rollout.ACTIVE if number % 2 else Rollout.OFF
            await world.parts.rollouts.set(WORKSPACE, level, 100 * number)
        row = await world.parts.main.read(
            lambda c: c.execute("SELECT length(value) FROM setting WHERE name GLOB 'rollout-off:*'").fetchone()
        )

    assert row[0] < 20 * MOST_SPANS


@pytest.mark.parametrize(("level", "reason"), [(Rollout.OFF, Reason.ROLLOUT_OFF), (Rollout.SHADOW, Reason.SHADOW)])
async def test_what_waits_is_not_handed_over_where_a_workspace_was_closed_since(
    tmp_path: Path, level: Rollout, reason: Reason
) -> None:
    async with a_world(tmp_path / "data") as world:
        folder = world.workspace()
        await world.remember(LESSON)
        await world.feed(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
    async with a_world(tmp_path / "data") as world:
        await world.parts.rollouts.set(workspace_key(folder), level)  # before anyone knows the session again

        assert await world.claim() == Silence(reason=reason)
        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
        assert [entry.reason for entry in await world.audit(kind=AuditKind.DROP)] == [reason]


async def test_the_level_of_a_canary_is_told_as_it_was_set(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.parts.rollouts.set(WORKSPACE, Rollout.CANARY)
        assert (world.parts.rollouts.level(WORKSPACE), world.parts.rollouts.level(OTHER)) == (
            Rollout.CANARY,
            Rollout.ACTIVE,
        )
