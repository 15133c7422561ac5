"""A daemon that a test scripts: it answers what programs ask, and remembers what it was told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from host.connection import Peer
from host.errors import ProtocolFault
from host.protocol import Request, decode_params
from host.sockets import Listener
from host.wire import Connections
from tests.support.methods import FakeMethods, FakeShell

Json = dict[str, Any]
CURSOR = {"sessionId": "s", "eventSeq": 1, "contextVersion": 1}


class Scripted(FakeMethods):
    """Answers what a program asks. `packets`: handed over by the next claims; `faults`: raised by the next calls of
    a method; `told`: the calls it took, in order, and `events` the events of those."""

    def __init__(self) -> None:
        super().__init__()
        self.packets: list[str] = []
        self.faults: dict[str, list[ProtocolFault]] = {}
        self.told: list[tuple[str, Json]] = []
        self.known: set[str] = set()
        self._claims = 0

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.told]

    @property
    def events(self) -> list[Json]:
        return [event for _, params in self.told for event in params.get("events", ())]

    async def answer(self, request: Request, peer: Peer) -> object:
        if request.method in self.table and request.method != "hook":
            return await super().answer(request, peer)
        params = decode_params(request, Json)
        if waiting := self.faults.get(request.method):
            raise waiting.pop(0)
        self.told.append((request.method, params))
        match request.method:
            case "session.status" if params["sessionId"] not in self.known:
                raise ProtocolFault("unknown-session", "No event of it was received.", "Send one first.")
            case "hook":
                return self._hooked(params["payload"])
            case "step" | "inbox.claim" if "claim" in params or request.method == "inbox.claim":
                return {"accepted": 1, "duplicates": 0, "cursor": CURSOR} | self._claimed()
            case _:
                return {"accepted": 1, "duplicates": 0, "cursor": CURSOR, "settled": True}

    def _claimed(self) -> Json:
        if not self.packets:
            return {"packet": None, "reason": "none-pending"}
        self._claims += 1
        return {
            "packet": {"packetId": f"p{self._claims}", "rendered": self.packets.pop(0), "items": []},
            "claimId": f"c{self._claims}",
        }

    def _hooked(self, payload: Json) -> Json:
        speaks = payload["hook_event_name"] in ("SessionStart", "UserPromptSubmit", "PostToolBatch")
        claimed = self._claimed() if speaks else {"packet": None}
        if claimed["packet"] is None:
            return {"output": None}
        said = {"hookEventName": payload["hook_event_name"], "additionalContext": claimed["packet"]["rendered"]}
        owner = {"sessionId": payload["session_id"], "agentId": "main"}
        claim = owner | {"packetId": claimed["packet"]["packetId"], "claimId": claimed["claimId"]}
        return {"output": {"hookSpecificOutput": said}, "claim": claim}


@asynccontextmanager
async def listening(path: Path, methods: FakeMethods) -> AsyncIterator[None]:
    """Serve the methods at a socket."""
    connections = Connections(methods, FakeShell(), "1", 64)
    listener = Listener(path, connections)
    await listener.open()
    try:
        async with asyncio.timeout(20):
            yield
    finally:
        methods.go.set()
        listener.close()
        await connections.drain(2)


@asynccontextmanager
async def scripted(path: Path) -> AsyncIterator[Scripted]:
    """A scripted daemon at a socket."""
    methods = Scripted()
    async with listening(path, methods):
        yield methods
