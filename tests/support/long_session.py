"""One long session beside a daemon that is restarted in it, and what it is told of the runtime context."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from governance.contracts import AuditKind, Stage
from governance.lives import Life
from host.claims import Settled
from host.clock import SetClock
from host.contracts import Claimed, MemoryPacket, Surface
from host.policy import Policy
from host.runtime import SessionRuntime
from host.steps import STEP_END
from host.trace import CONTEXT
from recall.contracts import MemoryKind, Origin
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result, a_start, an_event
from tests.support.clock import START
from tests.support.pins import set_pin
from tests.support.world import World, a_world

BRITISH = "Answer in British English."
SMALL = "Commits in this repository are small, one thought each."
DEPLOY = "Deploy to staging: run `make ship`, wait for the green light, then tag the release."
STEPS = 20


@dataclass
class Session:
    """One session beside a daemon that can be restarted, and all that it was handed."""

    stack: AsyncExitStack
    folder: Path
    host: str = "socket"
    policy: Policy | None = None
    world: World = field(init=False)
    steps: int = 0

    async def opened(self) -> "Session":
        clock = SetClock(self.world.clock.now() if hasattr(self, "world") else START)
        self.world = await self.stack.enter_async_context(a_world(self.folder, self.policy, clock=clock))
        return self

    async def restarts(self) -> None:
        await self.stack.aclose()
        await self.opened()

    @property
    def where(self) -> dict[str, str]:
        return {"workspace": self.world.workspace()}

    async def begins(self, source: str = "startup") -> MemoryPacket | None:
        self.world.clock.set(self.world.clock.now() + 1000)
        await self.world.feed(a_start(source, event_id=f"start:{self.world.clock.now()}", **self.where), host=self.host)
        return await self.takes(Surface.SESSION_START)

    async def works(self) -> None:
        """A routine step: nothing in it asks for a memory."""
        self.steps += 1
        self.world.clock.set(self.world.clock.now() + 1000)
        call, where = f"step{self.steps}", self.where
        await self.world.feed(
            a_call(f"ls src/{self.steps}", call_id=call, **where),
            a_result(f"main{self.steps}.py", ok=True, call_id=call, **where),
            an_event(STEP_END, {}, event_id=f"end:{call}", **where),
            host=self.host,
        )

    async def says(self, text: str) -> None:
        """One prompt, and nothing else."""
        self.world.clock.set(self.world.clock.now() + 1000)
        await self.world.feed(a_prompt(text, event_id=f"p:{self.world.clock.now()}", **self.where), host=self.host)

    async def step(self) -> MemoryPacket | None:
        await self.works()
        return await self.takes()

    async def takes(self, surface: Surface = Surface.POST_TOOL) -> MemoryPacket | None:
        claim = await self.world.claim(surface)
        if not isinstance(claim, Claimed):
            return None
        assert await self.world.deliver(claim) == Settled(settled=True)
        return claim.packet

    async def told(self, steps: int = STEPS, between: Callable[[int], object] = lambda _: None) -> list[str]:
        """What it was told of in these steps."""
        given: list[str] = []
        for number in range(steps):
            packet = await self.step()
            given += [] if packet is None else [packet.rendered]
            done = between(number)
            if done is not None:
                await self.restarts()
        return given

    async def runtime(self) -> SessionRuntime:
        return await self.world.parts.sessions.find(SESSION, AGENT)

    async def passes(self) -> list[tuple[str, str]]:
        entries = await self.world.audit(kind=AuditKind.PASS)
        return [(one.outcome, one.reason) for one in entries if one.trigger == CONTEXT]


def every_third(number: int) -> object:
    return "restart" if number % 3 == 1 else None


def never(number: int) -> object:
    return None


Between = Callable[[int], object]


async def a_procedure(session: Session, stage: Stage = Stage.ACTIVE) -> str:
    memory_id = await session.world.remember(
        DEPLOY, title="Deploy to staging", kind=MemoryKind.PROCEDURAL, origin=Origin.REVIEWED
    )
    await moves(session, memory_id, stage)
    return memory_id


async def moves(session: Session, memory_id: str, stage: Stage) -> None:
    life = Life(stage=stage, since=session.world.clock.now(), reason="kept")
    await session.world.parts.lives.move(memory_id, life)


async def due(session: Session) -> str:
    """A session that was told of one pin, and now there are two."""
    await session.world.remember(BRITISH, pinned=True)
    small = await session.world.remember(SMALL)
    await session.begins()
    await set_pin(session.world, small, pinned=True)
    return small
