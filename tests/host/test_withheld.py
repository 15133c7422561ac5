"""What is not handed over although it was offered: where a workspace is closed, and which items are muted there."""

from pathlib import Path

from host.contracts import Reason, Rollout
from host.withheld import withheld
from tests.support.builders import a_scope
from tests.support.world import a_world


async def test_a_closed_workspace_gets_nothing_and_an_open_one_all(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        parts = world.parts
        closed, _ = withheld(parts.rollouts, parts.marks, parts.clock)
        before = closed(a_scope())
        await parts.rollouts.set(a_scope().workspace, Rollout.OFF)

        assert (before, closed(a_scope())) == (None, Reason.ROLLOUT_OFF)
