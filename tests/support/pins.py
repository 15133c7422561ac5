"""Pins that change, as a person changes them: in the memory file, through the library."""

import msgspec

from host.verbs import reach
from recall.contracts import MemoryRecord, RuntimeScope
from recall.workspace import workspace_key
from tests.support.world import World


async def set_pin(world: World, memory_id: str, *, pinned: bool, workspace: str = "") -> None:
    """Pin a record, or unpin it."""
    await changed(world, memory_id, workspace, pinned=pinned)


async def changed(world: World, memory_id: str, workspace: str = "", **fields: object) -> None:
    """Write the record with these fields in its place, also right after a restart."""
    scope = await reach(world.parts, workspace or world.workspace())
    record, digest = await record_of(world, memory_id, scope)
    done = await world.parts.library.edit(msgspec.structs.replace(record, **fields), digest, scope)
    assert done, done


async def record_of(world: World, memory_id: str, scope: RuntimeScope) -> tuple[MemoryRecord, str]:
    """The record as it stands, and its digest."""
    found = await world.parts.library.get(memory_id, scope)
    assert found is not None, memory_id
    record, locator = found
    return record, locator.record_digest


def here(world: World, workspace: str = "") -> RuntimeScope:
    """What can be seen from a folder."""
    return RuntimeScope(
        session_id="", agent_id="", workspace=workspace_key(workspace or world.workspace()), user="user"
    )
