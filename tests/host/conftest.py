"""A remora of a test's own: asked over the wire, or whole in this process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.asking import Asking, asking
from tests.support.world import World, a_world


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def folder(remora: Asking) -> str:
    return remora.world.workspace()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as opened:
        yield opened
