"""What goes on in the background ends with its owner, and its errors are for whoever waits."""

import asyncio

import pytest

from recall.chores import Chores


async def test_closing_ends_what_goes_on_and_waits_for_it() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("one")

    chores = Chores()
    task = chores.begin(forever())
    await asyncio.sleep(0)
    assert not chores.closed

    await chores.close()

    assert ended == ["one"] and task.cancelled() and chores.closed


async def test_an_error_is_for_whoever_waits() -> None:
    async def breaks() -> None:
        raise RuntimeError

    chores = Chores()
    for wait in (chores.begin(breaks()), chores.wait(chores.begin(breaks()), 5)):
        with pytest.raises(RuntimeError):
            await wait
    unheard = chores.begin(breaks())
    await asyncio.wait([unheard])

    await chores.close()


async def test_waiting_ends_when_the_task_is_old_enough_and_it_goes_on() -> None:
    chores, go = Chores(), asyncio.Event()

    async def waits() -> None:
        await go.wait()

    task = chores.begin(waits())
    await chores.wait(task, 0)
    assert not task.done()

    go.set()
    await chores.wait(task, 5)
    assert task.done()
    await chores.wait(task, 5)  # nobody waits for what is over
