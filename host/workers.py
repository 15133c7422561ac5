"""The session tasks: envelopes wait in their runtime's queue and are heard one after the other, in the log's order.

One task a session, while it has something to do. Ingestion goes first: while many appends are under way, passes wait a
little (never longer than `PAUSE_SECONDS` a round); while any is, each envelope lets it go first (`MOMENT_SECONDS`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from governance.errors import AuditUnavailable
from host.runtime import SessionRuntime
from host.sessions import QUEUE_MAX, Sessions
from host.tasks import Tasks
from recall.contracts import EventEnvelope

BUSY_APPENDS = 8
PAUSE_SECONDS = 0.1
MOMENT_SECONDS = 0.002
ROUND = 32
BACKLOG = 64

Hear = Callable[[EventEnvelope, SessionRuntime], Awaitable[None]]
Told = Callable[[Collection[str], str], Coroutine[Any, Any, None]]  # these sessions are of that product


class Workers:
    """Feeds runtimes and runs their tasks. `hear` is bound by the composition root."""

    hear: Hear

    def __init__(self, sessions: Sessions, tasks: Tasks, told: Told | None = None) -> None:
        self.sessions = sessions
        self._told = told
        self._tasks = tasks
        self._appends = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self._none = asyncio.Event()
        self._none.set()

    @contextmanager
    def appending(self) -> Iterator[None]:
        """Around an append: many at once hold passes back."""
        self._appends += 1
        self._none.clear()
        if self._appends >= BUSY_APPENDS:
            self._calm.clear()
        try:
            yield
        finally:
            self._appends -= 1
            if self._appends < BUSY_APPENDS:
                self._calm.set()
            if not self._appends:
                self._none.set()

    def enqueue(self, stored: Sequence[EventEnvelope], host: str) -> None:
        """Hand stored envelopes to their runtimes. What does not fit a queue is read from the log later.

        Calls come in the order of their commits, and what is queued here is queued before anything is awaited: no
        later envelope can come before it. A runtime that has to be opened first reads its envelopes from the log.
        """
        absent: dict[tuple[str, str], None] = {}
        for envelope in stored:
            if envelope.event_seq == 1 and self._told is not None:  # the session's very first
                self._tasks.spawn(self._told((envelope.session_id,), host), name="product")
            runtime = self.sessions.of(envelope)
            if runtime is None:
                absent[envelope.session_id, envelope.agent_id] = None
            else:
                self._queue(envelope, runtime, host)
        for session_id, agent_id in absent:
            self._tasks.spawn(self._open(session_id, agent_id, host), name="open")

    async def _open(self, session_id: str, agent_id: str, host: str) -> None:
        """A long past takes a while to fold: no acknowledgement waits for it."""
        runtime = await self.sessions.open(session_id, agent_id)
        runtime.host = host
        self.wake(runtime)
        if self._told is not None:  # last: a full disk keeps no session from being heard
            await self._told((session_id,), host)

    def _queue(self, envelope: EventEnvelope, runtime: SessionRuntime, host: str) -> None:
        runtime.host = host
        runtime.stored_seq = max(runtime.stored_seq, envelope.event_seq)
        if envelope.event_seq <= runtime.enqueued_seq:
            return
        if runtime.behind or len(runtime.queue) >= QUEUE_MAX:
            runtime.behind = True
        else:
            runtime.queue.append(envelope)
            runtime.enqueued_seq = envelope.event_seq
        self.wake(runtime)

    def wake(self, runtime: SessionRuntime) -> None:
        """Start the runtime's task unless it runs."""
        if runtime.idle.is_set():
            runtime.idle.clear()
            self._tasks.spawn(self._work(runtime), name="session")

    def overtaken(self, runtime: SessionRuntime) -> bool:
        """Whether so much is waiting that a pass now would come too late for its step."""
        return runtime.behind or len(runtime.queue) > BACKLOG

    async def _work(self, runtime: SessionRuntime) -> None:
        try:
            while True:
                await self.sessions.refill(runtime)
                if not runtime.queue and not runtime.behind:
                    return
                await self._wait(self._calm, PAUSE_SECONDS)
                async with runtime.lock:
                    for _ in range(min(ROUND, len(runtime.queue))):
                        await self._wait(self._none, MOMENT_SECONDS)
                        await self.hear(runtime.queue.popleft(), runtime)
        except (AuditUnavailable, asyncio.CancelledError):
            self.sessions.forsake(runtime)  # nothing may be decided unrecorded: the log is read again later
            raise
        finally:
            runtime.idle.set()

    async def _wait(self, condition: asyncio.Event, seconds: float) -> None:
        """Wait for a condition, but never longer than that."""
        if condition.is_set():
            return
        try:
            async with asyncio.timeout(seconds):
                await condition.wait()
        except TimeoutError:
            return
