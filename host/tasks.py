"""Background tasks that nobody awaits: owned, named, and never silent when they fail."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import structlog

RECENT_SECONDS = 300.0


class Tasks:
    """Spawns tasks outside any task group, so that one that fails takes no other with it. `failed` feeds health."""

    def __init__(self, log: structlog.typing.FilteringBoundLogger) -> None:
        self._log = log
        self._running: set[asyncio.Task[Any]] = set()
        self.failed: Counter[str] = Counter()
        self._failed_at: dict[str, float] = {}

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run `work`; an exception is logged and remembered by the task's name."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def failing(self) -> dict[str, int]:
        """Tasks that failed within the last minutes, with how often they have failed in all."""
        since = asyncio.get_running_loop().time() - RECENT_SECONDS
        return {name: self.failed[name] for name, at in sorted(self._failed_at.items()) if at >= since}

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
            self._failed_at[task.get_name()] = task.get_loop().time()
            self._log.error("task.failed", task=task.get_name(), error=type(task.exception()).__name__)
