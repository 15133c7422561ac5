"""Background tasks: whatever becomes of them is known, and none outlives its owner."""

import asyncio

import pytest
import structlog

from host.tasks import Tasks


@pytest.fixture
def lines() -> structlog.testing.CapturingLogger:
    return structlog.testing.CapturingLogger()


@pytest.fixture
def tasks(lines: structlog.testing.CapturingLogger) -> Tasks:
    return Tasks(structlog.wrap_logger(lines, processors=[]))


async def fail(words: str) -> None:
    raise RuntimeError(words)


async def test_a_task_that_fails_is_logged_and_counted_by_name_without_its_words(
    tasks: Tasks, lines: structlog.testing.CapturingLogger
) -> None:
    for _ in range(2):
        tasks.spawn(fail("a canary"), name="watch")

    await tasks.settled()

    assert tasks.failed == {"watch": 2}
    assert [call.kwargs for call in lines.calls] == [
        {"event": "task.failed", "task": "watch", "error": "RuntimeError"}
    ] * 2


async def test_a_task_that_fails_takes_no_other_with_it(tasks: Tasks) -> None:
    go = asyncio.Event()

    async def other() -> str:
        await go.wait()
        return "done"

    running = tasks.spawn(other(), name="other")
    with pytest.raises(RuntimeError):
        await tasks.spawn(fail("a canary"), name="failing")
    go.set()

    assert await running == "done"
    assert tasks.failed == {"failing": 1}


async def test_closing_cancels_what_runs_and_waits_for_its_end(
    tasks: Tasks, lines: structlog.testing.CapturingLogger
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # an end that takes its time
            ended.set()

    task = tasks.spawn(endless(), name="endless")
    await begun.wait()

    await tasks.close()

    assert task.cancelled()
    assert ended.is_set()
    assert (tasks.failed, lines.calls) == ({}, [])  # to be stopped is no failure


async def test_a_failure_at_the_end_is_logged_too(tasks: Tasks) -> None:
    begun = asyncio.Event()

    async def stubborn() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError

    tasks.spawn(stubborn(), name="stubborn")
    await begun.wait()

    await tasks.close()

    assert tasks.failed == {"stubborn": 1}


async def test_settled_waits_for_tasks_that_tasks_start(tasks: Tasks) -> None:
    done: list[int] = []

    async def count_down(number: int) -> None:
        await asyncio.sleep(0)
        done.append(number)
        if number:
            tasks.spawn(count_down(number - 1), name="count")

    tasks.spawn(count_down(3), name="count")

    async with asyncio.timeout(5):
        await tasks.settled()

    assert done == [3, 2, 1, 0]


async def test_closing_what_has_nothing_to_do_is_nothing(tasks: Tasks) -> None:
    await tasks.settled()
    await tasks.close()

    assert tasks.failed == {}
