"""A session and the stage that its passes are played on; and a step of it that fails."""

from host.contracts import MemoryPacket
from host.runtime import SessionRuntime
from host.scenery import EMPTY
from host.stage import Stage
from recall.contracts import Found
from tests.support.builders import AGENT, SESSION, a_call, a_candidate, a_memory_id, a_prompt, a_result
from tests.support.world import World

SECOND = "cargo build fails with E0463 can't find crate for core until rustup target add thumbv7em-none-eabihf was run."
SECOND_FAILURE = (
    "error[E0463]: can't find crate for `core`\n"
    "the thumbv7em-none-eabihf target may not be installed: rustup target add"
)


async def opened(world: World, host: str = "socket") -> tuple[Stage, SessionRuntime]:
    runtime = await world.feed(a_prompt("Good morning, let us go on.", workspace=world.workspace()), host=host)
    return world.parts.host.stage, runtime


async def fail(world: World, call: str, failure: str, call_id: str) -> SessionRuntime:
    where = {"call_id": call_id, "workspace": world.workspace()}
    return await world.feed(a_call(call, **where), a_result(failure, **where))


async def pending(world: World) -> MemoryPacket:
    slot, _ = await world.parts.inbox.slot(SESSION, AGENT)
    assert slot is not None
    return slot.packet


def found(*ids: int) -> Found:
    candidates = tuple(a_candidate(memory_id=a_memory_id(number)) for number in ids)
    return Found(candidates=candidates, arms=(), statistics=EMPTY, index_version="idx_1")
