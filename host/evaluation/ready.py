"""Waiting until all of a store can be found: by words, and by meaning if the engine is there."""

from collections.abc import Callable
from functools import partial
from operator import ne

from host.errors import RemoraError
from recall.engine import Engine, EngineState
from recall.library import Library

Hear = Callable[[str, int, int], None]
"""What is under way, how far it is, of how much."""


async def searchable(library: Library) -> int:
    """How many records can be found. Raises RemoraError when the index is not well."""
    status = await library.status()
    if status.damaged or status.problem:
        raise RemoraError(
            f"The documents could not be indexed: {status.problem or 'the index is damaged'}.",
            "Is there room in the folder for temporary files?",
        )
    return status.searchable


async def embedded(engine: Engine, records: int, hear: Hear) -> None:
    """Wait until every record has its vector. Raises RemoraError when the engine breaks."""
    engine.start()
    status = engine.status()
    while not (status.state is EngineState.READY and status.embedded >= records):
        if status.state in (EngineState.BROKEN, EngineState.STALE):
            raise RemoraError(
                f"The engine is {status.state}: {status.problem or 'it gave no reason'}.",
                "Leave it out, or install the extra semantic anew.",
            )
        hear("embedding", status.embedded, records)
        status = await engine.wait_until(partial(ne, status))
