"""Two statements that cannot both hold wait for a person; what replaces another or agrees with it does not."""

from pathlib import Path

import pytest

from governance.formation.queue import QueueFilter
from governance.review import ItemFlag
from host.contesting import contest
from recall.contracts import MemoryRecord
from recall.workspace import workspace_key
from tests.support.world import World, a_world


async def kept(world: World, text: str) -> MemoryRecord:
    memory_id = await world.remember(text)
    scope = world.parts.sessions.scope("", "", workspace_key(world.workspace()))
    found = await world.parts.library.get(memory_id, scope)
    assert found is not None
    return found[0]


async def waiting(world: World) -> list[tuple[str | None, tuple[ItemFlag, ...]]]:
    items = (await world.parts.queue.list(QueueFilter())).items
    return sorted((item.record_id, item.flags) for item in items)


@pytest.mark.promise("conflicts-as-such")
async def test_both_wait_once(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        one = await kept(world, "The staging port is 8443")
        two = await kept(world, "The staging port is 9443")

        first, again = await contest(world.parts, two), await contest(world.parts, two)

        assert first == again == (one.memory_id,)
        assert await waiting(world) == [(one.memory_id, (ItemFlag.CONFLICT,)), (two.memory_id, (ItemFlag.CONFLICT,))]


@pytest.mark.parametrize(
    "text", ["The staging port is `8443`.", "The prod port is 9443", "Ask Ana about the staging port."]
)
async def test_what_agrees_is_another_matter_or_states_nothing_waits_for_nobody(tmp_path: Path, text: str) -> None:
    async with a_world(tmp_path / "data") as world:
        await kept(world, "The staging port is 8443")

        assert await contest(world.parts, await kept(world, text)) == ()
        assert await waiting(world) == []
