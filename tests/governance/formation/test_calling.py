"""One attempt: its answer, its time-out, and that nothing of it lives on when it is called off."""

import asyncio

import pytest

from governance.formation import calling
from governance.formation.calling import Stopped, asked
from governance.formation.contracts import ModelRequest, ModelResponse
from governance.formation.errors import ModelError, ModelErrorKind
from tests.support.noting import a_model

REQUEST = ModelRequest(system="", messages=(), max_output_tokens=10, timeout_ms=5_000)


class Deaf:
    """A model that keeps no time and answers never. `ended`: its call was cancelled."""

    id = "deaf"

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = False

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True
        raise AssertionError


async def test_the_answer_comes_back_with_and_without_a_way_to_call_it_off() -> None:
    for cancel in (None, asyncio.Event()):
        answer = await asked(a_model({"text": "yes"}), REQUEST, cancel)
        assert isinstance(answer, ModelResponse) and answer.text == "yes"


async def test_an_error_of_the_model_is_the_callers() -> None:
    with pytest.raises(ModelError) as error:
        await asked(a_model({"error": "rate-limited", "retryAfterMs": 9}), REQUEST, asyncio.Event())
    assert (error.value.kind, error.value.retry_after_ms) == (ModelErrorKind.RATE_LIMITED, 9)


async def test_a_driver_that_keeps_no_time_is_timed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "GRACE_MS", 0)
    driver = Deaf()
    hasty = ModelRequest(system="", messages=(), max_output_tokens=1, timeout_ms=1)
    with pytest.raises(ModelError) as error:
        await asked(driver, hasty, None)
    assert error.value.kind is ModelErrorKind.TIMEOUT
    assert driver.ended


async def test_called_off_before_it_began_nothing_is_asked() -> None:
    cancel = asyncio.Event()
    cancel.set()
    driver = a_model({"text": "yes"})
    assert await asked(driver, REQUEST, cancel) == Stopped(0)
    assert driver.requests == []


async def test_called_off_in_its_midst_the_call_is_over() -> None:
    cancel, driver = asyncio.Event(), Deaf()
    run = asyncio.ensure_future(asked(driver, REQUEST, cancel))
    await driver.begun.wait()
    cancel.set()
    assert await run == Stopped(1)
    assert driver.ended


async def test_a_cancelled_task_takes_its_call_with_it() -> None:
    driver = Deaf()
    run = asyncio.ensure_future(asked(driver, REQUEST, asyncio.Event()))
    await driver.begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert driver.ended
