"""A child process that answers numbered requests over its standard input and output (M-07).

Whoever stops waiting leaves the process alone: its answer is dropped when it comes. A process that owes an answer for
too long, or says what is no message, is killed; everybody who waits for it is told. It is always reaped.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from recall.errors import EngineFault
from recall.frames import Answer, EngineStatus, Frames, Report, Request, frame

MOST_WAITING = 16  # requests without an answer: more means that it does not keep up


class Child(asyncio.SubprocessProtocol):
    """One process, from its start to its end. `ended` is told once why it is of no use any more."""

    def __init__(
        self, heard: Callable[[EngineStatus], None], ended: Callable[["Child", str], None], patience_seconds: float
    ) -> None:
        self._heard = heard
        self._ended = ended
        self._patience = patience_seconds
        self._frames = Frames()
        self._number = 0
        self._waiting: dict[int, tuple[asyncio.Future[Answer], asyncio.TimerHandle]] = {}
        self._transport: asyncio.SubprocessTransport | None = None
        self._given_up = False
        self.gone = asyncio.Event()

    async def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the process. Raises OSError when there is no such program."""
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environment),
        )

    @property
    def pid(self) -> int:
        return (self._transport.get_pid() or 0) if self._transport else 0

    def number(self) -> int:
        """The number of the next request."""
        self._number += 1
        return self._number

    def ask(self, request: Request, patience_seconds: float | None = None) -> "asyncio.Future[Answer]":
        """Send a request. The answer comes, or EngineFault. Raises EngineFault at once when it cannot be sent."""
        if self._transport is None or self._given_up:
            raise EngineFault("The engine's process is gone.")
        if len(self._waiting) >= MOST_WAITING:
            raise EngineFault("The engine does not keep up.")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting
        seconds = self._patience if patience_seconds is None else patience_seconds
        overdue = loop.call_later(seconds, self.give_up, f"The engine gave no answer for {seconds:g} s.")
        self._waiting[request.number] = answer, overdue
        cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0)).write(frame(request))
        return answer

    def dismiss(self) -> None:
        """Close its input: it ends by itself."""
        self._given_up = True
        self._settle("The engine was stopped.")
        if self._transport is not None and (pipe := self._transport.get_pipe_transport(0)) is not None:
            pipe.close()

    def give_up(self, problem: str) -> None:
        """Kill it, and tell everybody why."""
        told, self._given_up = self._given_up, True
        self._settle(problem)
        if self._transport is None:
            self.gone.set()  # it never began
        else:
            self._transport.close()  # kills and reaps
        if not told:
            self._ended(self, problem)

    # ------------------------------------------------------------------------------------------- what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self._given_up:
            return
        try:
            for reply in self._frames.replies(data):
                if isinstance(reply, Report):
                    self._heard(reply.status)
                elif reply.number in self._waiting:
                    answer, overdue = self._waiting.pop(reply.number)
                    overdue.cancel()
                    if not answer.done():
                        answer.set_result(reply)
        except EngineFault as fault:
            self.give_up(str(fault))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if not self._given_up:
            self.give_up("The engine's process closed its pipe.")

    def process_exited(self) -> None:
        if not self._given_up:
            self.give_up("The engine's process ended.")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._transport.close()
        self.gone.set()

    def _settle(self, problem: str) -> None:
        waiting, self._waiting = self._waiting, {}
        for answer, overdue in waiting.values():
            overdue.cancel()
            if not answer.done():
                answer.set_exception(EngineFault(problem))
