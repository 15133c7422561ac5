"""How far a workspace is rolled out, and that a restart knows it."""

from pathlib import Path

import pytest

from host.contracts import Rollout
from host.rollouts import CANARY_PERCENT
from tests.support.builders import SESSION, WORKSPACE
from tests.support.world import a_world

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
