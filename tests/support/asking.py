"""The service over a whole remora in this process, asked as the wire asks it: JSON in, JSON out."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from host.connection import Peer, Reply
from host.errors import ProtocolFault
from host.protocol import Request
from host.service import Service
from recall.contracts import EventEnvelope
from tests.support.builders import AGENT, SESSION
from tests.support.clock import START
from tests.support.methods import FakeShell
from tests.support.world import World, a_world

Json = dict[str, Any]


class Line:
    """A client's end of a connection: what was sent to it, and whether it still takes anything."""

    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.takes = True
        self._news = asyncio.Event()
        self.peer = Peer(1, None, None, self._send)

    def close(self) -> None:
        self.takes = False
        self.peer.closed.set()

    async def came(self, count: int) -> None:
        """Wait until so many messages were sent."""
        async with asyncio.timeout(5):
            while len(self.sent) < count:
                self._news.clear()
                await self._news.wait()

    def _send(self, line: bytes) -> bool:
        if self.takes:
            self.sent.append(json.loads(line))
            self._news.set()
        return self.takes


class Asking:
    """A world and the service over it. `ask` gives the result as a client reads it; a fault is raised."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.shell = FakeShell()
        self.service = Service(world.parts, self.shell)
        self.line = Line()

    async def reply(self, method: str, line: Line | None = None, **params: Any) -> object:
        raw = msgspec.Raw(msgspec.json.encode(params))
        return await self.service.answer(Request(id=1, method=method, params=raw), (line or self.line).peer)

    async def ask(self, method: str, line: Line | None = None, **params: Any) -> Any:
        given = await self.reply(method, line, **params)
        return json.loads(msgspec.json.encode(given.result if isinstance(given, Reply) else given))

    async def refused(self, method: str, **params: Any) -> ProtocolFault:
        """The fault that answers; that there is one is asserted."""
        try:
            given = await self.reply(method, **params)
        except ProtocolFault as fault:
            return fault
        raise AssertionError(f"{method} was answered: {given}")

    async def append(self, *envelopes: EventEnvelope) -> Any:
        """`event.append`, and wait until the passes of these events are done."""
        answer = await self.ask("event.append", events=[on_wire(envelope) for envelope in envelopes])
        await self.ask("session.status", sessionId=envelopes[-1].session_id, agentId=envelopes[-1].agent_id)
        return answer

    async def claim(self, surface: str = "post-tool", request_id: str = "r1", **params: Any) -> Any:
        owner = {"sessionId": SESSION, "agentId": AGENT, "surface": surface, "requestId": request_id}
        return await self.ask("inbox.claim", **(owner | {"waitMs": 2000} | params))


def on_wire(envelope: EventEnvelope) -> Json:
    """An envelope as a producer sends it."""
    sent: Json = json.loads(msgspec.json.encode(envelope))
    return {name: value for name, value in sent.items() if name not in ("eventSeq", "observedAt")}


@asynccontextmanager
async def asking(folder: Path, start: int = START) -> AsyncIterator[Asking]:
    async with a_world(folder, start=start) as world:
        yield Asking(world)
