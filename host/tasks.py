"""Background tasks that nobody awaits: owned, named, and never silent when they fail."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import structlog


class Tasks:
    """Spawns tasks outside any task group, so that one that fails takes no other with it. `failed` feeds health."""

    def __init__(self, log: structlog.typing.FilteringBoundLogger) -> None:
        self._log = log
        self._running: set[asyncio.Task[Any]] = set()
        self.failed: Counter[str] = Counter()

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run `work`; an exception is logged and remembered by the task's name."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def close(self) -> None:
        """Cancel what runs and wait for its end."""
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until nothing runs any more."""
        while self._running:
            await asyncio.gather(*self._running, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.failed[task.get_name()] += 1
            self._log.error("task.failed", task=task.get_name(), error=type(task.exception()).__name__)
