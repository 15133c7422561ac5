"""The parts of a running remora: one frozen bundle of everything."""

import dataclasses
from pathlib import Path

import pytest

from tests.support.world import a_world


async def test_no_part_can_be_exchanged_while_it_runs(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        with pytest.raises(dataclasses.FrozenInstanceError):
            world.parts.clock = world.clock  # type: ignore[misc]
