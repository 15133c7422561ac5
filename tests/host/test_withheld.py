"""What is not handed over although it was offered: where a workspace is closed, and which items are muted there."""

from pathlib import Path

from host.capability import Client
from host.contracts import Reason, Rollout, Surface
from host.withheld import withheld
from tests.support.builders import a_scope
from tests.support.world import a_world


async def test_a_closed_workspace_gets_nothing_and_an_open_one_all(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        parts = world.parts
        closed, _ = withheld(parts.rollouts, parts.marks, parts.clock)
        before = closed(a_scope(), Client(), None)
        await parts.rollouts.set(a_scope().workspace, Rollout.OFF)

        assert (before, closed(a_scope(), Client(), None)) == (None, Reason.ROLLOUT_OFF)


async def test_a_client_gets_nothing_at_a_surface_that_its_row_does_not_have(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        closed, _ = withheld(world.parts.rollouts, world.parts.marks, world.parts.clock)
        editor, line = Client(host="cursor", version="3.12.17"), Client(host="cursor", version="2026.07.23")

        assert closed(a_scope(), editor, Surface.SESSION_START) is Reason.NO_SURFACE
        assert closed(a_scope(), line, Surface.SESSION_START) is None
        assert closed(a_scope(), editor, None) is None


async def test_a_client_of_an_unknown_version_gets_nothing(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        closed, _ = withheld(world.parts.rollouts, world.parts.marks, world.parts.clock)

        assert closed(a_scope(), Client(host="codex", version="9.0.0"), Surface.POST_TOOL) is Reason.UNKNOWN_VERSION
        assert closed(a_scope(), Client(host="codex"), Surface.POST_TOOL) is None
