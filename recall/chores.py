"""What goes on in the background for somebody, and ends with him."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Chores:
    """Tasks that nobody may be waiting for; an error is for whoever does."""

    def __init__(self) -> None:
        self.closed = False
        self._tasks: dict[asyncio.Task[None], float] = {}  # and when they began

    def begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks[task] = asyncio.get_running_loop().time()
        task.add_done_callback(self._ended)
        return task

    async def wait(self, task: "asyncio.Task[None]", patience_seconds: float) -> None:
        """Wait for a task until it is that old; it goes on. So whoever comes late does not wait at all. Raises what the
        task raised."""
        begun = self._tasks.get(task)
        if begun is not None:
            left = begun + patience_seconds - asyncio.get_running_loop().time()
            await asyncio.wait([task], timeout=max(0.0, left))
        if task.done() and not task.cancelled():
            task.result()

    async def close(self) -> None:
        """Cancel what goes on, and wait until it has ended."""
        self.closed = True
        while self._tasks:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(self._tasks)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            task.exception()  # whoever waited for it got it
