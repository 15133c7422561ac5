"""Sessions that are over wait once each, in their order; nobody waits for more than there is."""

import asyncio

from host.endings import MOST, Endings


async def test_each_session_waits_once_and_the_first_comes_first() -> None:
    endings = Endings()
    for session in ("a", "b", "a"):
        endings.ended(session)

    assert [await endings.next(), await endings.next()] == ["a", "b"]
    assert len(endings) == 0


async def test_who_asks_too_early_waits_for_one() -> None:
    endings = Endings()
    asked = asyncio.create_task(endings.next())
    await asyncio.sleep(0)
    waiting = not asked.done()
    endings.ended("a")

    async with asyncio.timeout(5):
        assert (waiting, await asked) == (True, "a")


async def test_the_oldest_go_when_there_are_too_many() -> None:
    endings = Endings()
    for number in range(MOST + 2):
        endings.ended(str(number))

    assert len(endings) == MOST and await endings.next() == "2"
