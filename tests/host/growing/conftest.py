"""A whole remora of a test's own, in which the running agent is the model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.config import FormationSettings
from tests.support.asking import Asking
from tests.support.world import a_world


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with a_world(tmp_path / "data", formation=FormationSettings()) as world:
        yield Asking(world)
