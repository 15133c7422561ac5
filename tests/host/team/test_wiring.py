"""The operations are put together over the parts of a remora, and read no less than is there."""

from dataclasses import replace
from pathlib import Path

from governance.team.registry import OPERATIONS
from host.team.formats import FORMATS
from host.team.wiring import team_of
from tests.support.team_history import a_repository
from tests.support.world import a_world


async def test_every_operation_is_there_and_nothing_is_drawn_before_it_is_asked_for(tmp_path: Path) -> None:
    root, drawn = a_repository(tmp_path / "repository"), list[bytes]()

    def draw() -> bytes:
        drawn.append(b"s" * 32)
        return drawn[-1]

    async with a_world(tmp_path / "data") as world:
        operations = team_of(replace(world.parts, drawn=draw))
        assert drawn == []
        bound = await operations.binding.bind(str(root))
        again = await operations.binding.bind(str(root))
        found = await operations.status.status(bound, 0, everywhere=True, checkpoints=0)
        await operations.close()

    assert bound == again and bound.root == str(root)
    assert found.entries == 0
    assert FORMATS.memory_root == ".remora-pre/memory"
    assert {"recalling", "staging", "reviewing", "preparing", "promoting"} <= set(type(operations).__slots__)
    assert len(OPERATIONS) > 10
