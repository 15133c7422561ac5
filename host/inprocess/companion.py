"""The daemon, for a program that must not notice it: exchanges that never raise and never last, whatever happens.

Theory of operation. Each exchange has a connection of its own, so a daemon that was started again is simply found. What
could not be told is kept, in order and within bounds, and goes first the next time: events have ids, so one that
arrives twice is one. A daemon that is there and does not answer costs one time-out; then it is left alone for a pause
that doubles while it stays silent. No daemon costs nothing; with `start`, one is started beside.
"""

import asyncio
import itertools
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from host.client import DaemonAbsent, Refused, call_sync, connect
from host.clock import SystemClock
from host.config import environment, locate
from host.inprocess.outbox import Outbox, kept
from host.inprocess.talk import Call
from host.launch import launch, wait_until_ready
from host.namespace import SCRIPT
from host.sockets import is_stopped
from recall.contracts import Millis

SECONDS = 0.5  # that one exchange may take
PARTING_SECONDS = 0.1  # that one may take which nobody waits for any more
WAIT_MS = 150  # that a claim waits for the pass in flight
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 60.0  # in which a silent daemon is left alone
START_SECONDS = 60.0  # between two attempts to start one

_made = itertools.count()


class Companion:
    """What a program holds of the daemon for as long as it runs. Any number of agents and threads may share it."""

    def __init__(
        self,
        workspace: Path | str | None = None,
        *,
        socket: Path | str | None = None,
        start: bool = False,
        seconds: float = SECONDS,
    ) -> None:
        """`workspace`: the folder that the agents work in; the current one unless given. `socket`: the daemon's; where
        the command line has it unless given. `start`: start a daemon when there is none. `seconds`: for how long an
        agent may be kept waiting before a request."""
        self.workspace = str(Path(workspace or ".").absolute())
        self.problem = ""  # why the daemon could not be asked last; empty: it could, or nobody tried
        self.wait_ms = max(0, min(WAIT_MS, int(seconds * 500)))
        self._paths = locate(environment())
        self._socket = Path(socket) if socket is not None else self._paths.socket
        self._start = start
        self._seconds = seconds
        self._clock = SystemClock()
        self._kept: list[Call] = []
        self._lock = threading.Lock()
        self._pause = PAUSE_SECONDS
        self._asked_from = self._started_from = self._clock.micros()
        self._made = f"{self._clock.now():x}.{next(_made):x}"
        self._marks = itertools.count(1)

    def mark(self) -> str:
        """A name that nothing else has, in this process, one that forks off it, or another one."""
        return f"{os.getpid():x}.{self._made}.{next(self._marks):x}"

    def now(self) -> Millis:
        """Epoch milliseconds."""
        return self._clock.now()

    # ------------------------------------------------------------------ one exchange, in both colours

    async def exchange(self, calls: Sequence[Call]) -> msgspec.Raw | None:
        """Send what was kept and then `calls`, in order. The result of the last one; None when there is none."""
        outbox = self._taken(calls)
        if outbox.next() is None:
            return None
        if self._resting():
            self._keep(outbox)
            return None
        try:
            async with asyncio.timeout(self._seconds), connect(self._socket) as client:
                while call := outbox.next():
                    try:
                        outbox.answered(await client.call_as(msgspec.Raw, call.method, call.params))
                    except Refused as refused:
                        outbox.refused(refused.kind, str(refused))
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self._failed(outbox, error)
            return None
        except BaseException:  # cancelled: what it had to tell stays true
            self._keep(outbox)
            raise
        return self._done(outbox)

    def exchange_sync(self, calls: Sequence[Call], seconds: float | None = None) -> msgspec.Raw | None:
        """The same without a loop. `seconds`: less time than usual; were it too short, that says nothing of the
        daemon."""
        outbox = self._taken(calls)
        if outbox.next() is None:
            return None
        if self._resting():
            self._keep(outbox)
            return None
        until = self._clock.micros() + int((seconds or self._seconds) * 1_000_000)
        try:
            while call := outbox.next():
                left = max(0.001, (until - self._clock.micros()) / 1_000_000)
                try:
                    outbox.answered(call_sync(self._socket, call.method, call.params, timeout=left))
                except Refused as refused:
                    outbox.refused(refused.kind, str(refused))
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self._failed(outbox, error, rest=seconds is None)
            return None
        return self._done(outbox)

    def give_back(self, calls: Sequence[Call]) -> None:
        """The same where nobody can wait: what does not go at once is kept."""
        if calls:
            self.exchange_sync(calls, PARTING_SECONDS)

    def ready(self) -> bool:
        """Wait until the daemon answers, one that is started here included; for up to ten seconds. False: `problem`
        says why it does not. For a program's own start; agents need not wait for it."""
        try:
            try:
                call_sync(self._socket, "health")
            except DaemonAbsent:
                if not self._start:
                    raise
                self._launch()
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self.problem = str(error)
            return False
        self.problem = ""
        return True

    # ------------------------------------------------------------------ what waits, and for how long

    def _taken(self, calls: Sequence[Call]) -> Outbox:
        with self._lock:
            before, self._kept = self._kept, []
        return Outbox([*before, *calls])

    def _keep(self, outbox: Outbox) -> None:
        """What was not answered goes first the next time: before what somebody else has kept since."""
        with self._lock:
            self._kept = kept([*outbox.left(), *self._kept])

    def _resting(self) -> bool:
        return self._clock.micros() < self._asked_from

    def _done(self, outbox: Outbox) -> msgspec.Raw | None:
        self.problem, self._pause = outbox.problem, PAUSE_SECONDS
        self._keep(outbox)
        return outbox.answer

    def _failed(self, outbox: Outbox, error: Exception, *, rest: bool = True) -> None:
        silent = f"The daemon at {self._socket} does not answer in time. Look at `{SCRIPT} status`."
        self.problem = str(error) or silent
        self._keep(outbox)
        if isinstance(error, DaemonAbsent):
            self._start_beside()
        elif rest:
            self._asked_from = self._clock.micros() + int(self._pause * 1_000_000)
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    # ------------------------------------------------------------------ starting one

    def _start_beside(self) -> None:
        with self._lock:
            if not self._start or is_stopped(self._socket.parent) or self._clock.micros() < self._started_from:
                return
            self._started_from = self._clock.micros() + int(START_SECONDS * 1_000_000)
        threading.Thread(target=self.ready, name="daemon-start", daemon=True).start()

    def _launch(self) -> None:
        """Start a daemon and wait for it. Raises RemoraError when it does not come up."""
        launched = launch(["--background"], environment(), self._paths.log_file)
        threading.Thread(target=launched.process.wait, name="daemon-reaper", daemon=True).start()
        wait_until_ready(launched, self._socket)
