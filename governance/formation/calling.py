"""One call of a model that can be called off (formation.md 4.1)."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from governance.formation.contracts import Cancel, ModelDriver, ModelRequest, ModelResponse
from governance.formation.errors import ModelError, ModelErrorKind

GRACE_MS = 2_000  # after its own time-out a driver has this long to say so itself


class Stopped(NamedTuple):
    """The run was called off. `calls`: how many had begun."""

    calls: int


async def asked(driver: ModelDriver, request: ModelRequest, cancel: Cancel | None) -> ModelResponse | Stopped:
    """One attempt. Raises ModelError, `timeout` also for a driver that keeps no time. A cancelled task cancels the call
    and goes on being cancelled."""
    if cancel is not None and cancel.is_set():
        return Stopped(0)
    call = asyncio.ensure_future(driver.complete(request))
    waiting: list[asyncio.Future[ModelResponse] | asyncio.Future[object]] = [call]
    if cancel is not None:
        waiting.append(asyncio.ensure_future(_set(cancel)))
    try:
        seconds = (request.timeout_ms + GRACE_MS) / 1000
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if cancel is not None and cancel.is_set():
            return Stopped(1)
        if not call.done():
            problem = f"The model did not answer within {request.timeout_ms} ms."
            raise ModelError(ModelErrorKind.TIMEOUT, problem)
        return call.result()
    finally:
        await _over(waiting)


async def _set(cancel: Cancel) -> object:
    return await cancel.wait()


async def _over(tasks: Sequence["asyncio.Future[ModelResponse] | asyncio.Future[object]"]) -> None:
    """No call outlives the run that made it: its connection is closed before we go on."""
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
