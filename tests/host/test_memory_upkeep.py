"""Looking after the index and the vectors over the wire: work is begun, gets on, and says how it stands."""

import asyncio
from dataclasses import replace

from host.service import Service
from recall.frames import EngineState, EngineStatus
from tests.support.asking import Asking
from tests.support.engines import StillEngine
from tests.support.remembering import break_index, found


async def test_an_index_at_rest_says_so(remora: Asking) -> None:
    assert await remora.ask("index.progress") == {"stage": "idle", "done": 0, "total": 0}


async def test_a_broken_index_is_made_anew_while_somebody_watches(remora: Asking) -> None:
    folder = remora.world.workspace()
    memory_id = await remora.world.remember("Deploys go through the heron gateway.")
    assert await found(remora, "heron", folder) == [memory_id]
    await break_index(remora)

    started = await remora.ask("index.rebuild")
    first = await remora.ask("index.progress")
    second = await remora.ask("index.rebuild")
    async with asyncio.timeout(5):
        while (await remora.ask("index.progress"))["stage"] != "idle":
            await asyncio.sleep(0)

    assert (started, first["stage"], second) == ({"started": True}, "rebuilding", {"started": False})
    answer = await remora.ask("memory.search", query="heron", workspace=folder)
    assert ([hit["memoryId"] for hit in answer["hits"]], answer["degraded"]) == ([memory_id], False)
    assert "problem" not in await remora.ask("index.progress")


async def test_without_the_extra_there_are_no_vectors_to_make_anew(remora: Asking) -> None:
    fault = await remora.refused("engine.reembed")

    assert (fault.kind, "semantic" in fault.next_step) == ("no-engine", True)
    assert "engine" not in await remora.ask("index.progress")


async def test_vectors_are_made_anew_and_the_progress_is_told(remora: Asking) -> None:
    engine = StillEngine(EngineStatus(state=EngineState.EMBEDDING, model="m", dimension=8, records=10, embedded=4))
    remora.service = Service(replace(remora.world.parts, engine=engine), remora.shell)

    assert await remora.ask("engine.reembed") == {"started": True}
    told = (await remora.ask("index.progress"))["engine"]

    assert engine.made_anew == 1
    assert (told["state"], told["records"], told["embedded"], told["dimension"]) == ("embedding", 10, 4, 8)
