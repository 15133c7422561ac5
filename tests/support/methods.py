"""Methods that a test decides: what the daemon's outer parts are tested with in place of the real ones."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from host.connection import Peer, Reply
from host.errors import ProtocolFault
from host.protocol import Request, decode_params, unknown_method
from host.tasks import Tasks


class FakeMethods:
    """Answers `echo`, `wait` (until `go` is set), `large`, `fail`, `break`, `hand` (a Reply), `subscribe`, `health`."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.waiting = asyncio.Event()
        self.asked: list[str] = []
        self.settled: list[str] = []
        self.peers: list[Peer] = []
        self.hooks: list[tuple[str, bytes]] = []
        self.say = b'{"additionalContext":"memory"}'
        self.table: dict[str, Callable[[Request, Peer], Awaitable[object]]] = {
            "echo": self._echo,
            "wait": self._wait,
            "large": self._large,
            "fail": self._fail,
            "break": self._break,
            "hand": self._hand,
            "odd": self._odd,
            "subscribe": self._subscribe,
            "health": self._health,
            "hook": self._hook,
        }

    async def answer(self, request: Request, peer: Peer) -> object:
        self.asked.append(request.method)
        self.peers.append(peer)
        if request.method not in self.table:
            raise unknown_method(request)
        return await self.table[request.method](request, peer)

    async def hook(self, host: str, raw: bytes) -> Reply:
        self.hooks.append((host, raw))
        match host:
            case "known":
                return self.reply(self.say)
            case "slow":
                self.waiting.set()
                await self.go.wait()
                return self.reply(self.say)
            case "broken":
                raise RuntimeError("inside")
            case "unhappy":
                raise ProtocolFault("bad-payload", "Not understood.")
            case _:
                raise ProtocolFault("unknown-host", f"No adapter for {host}.", "Use another.")

    def reply(self, result: object) -> Reply:
        async def written() -> None:
            self.settled.append("written")

        async def lost() -> None:
            self.settled.append("lost")

        return Reply(result=result, written=written, lost=lost)

    async def _echo(self, request: Request, peer: Peer) -> object:
        return decode_params(request, dict[str, Any])

    async def _wait(self, request: Request, peer: Peer) -> object:
        self.waiting.set()
        await self.go.wait()
        return self.reply("waited")

    async def _large(self, request: Request, peer: Peer) -> object:
        return self.reply("x" * decode_params(request, dict[str, int])["bytes"])

    async def _fail(self, request: Request, peer: Peer) -> object:
        raise ProtocolFault("conflict", "It differs.", "Send another.")

    async def _break(self, request: Request, peer: Peer) -> object:
        raise RuntimeError("a canary")

    async def _hand(self, request: Request, peer: Peer) -> object:
        return self.reply({"handed": 1})

    async def _odd(self, request: Request, peer: Peer) -> object:
        return self.reply(object())

    async def _subscribe(self, request: Request, peer: Peer) -> object:
        peer.notify("tick", {"n": 1})
        return {"subscribed": True}

    async def _health(self, request: Request, peer: Peer) -> object:
        return {"ready": True, "parts": {}}

    async def _hook(self, request: Request, peer: Peer) -> object:
        return self.reply({"output": {"said": 1}})


class FakeShell:
    """A `Shell` that remembers that it was told to stop."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.log: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
            None, processors=[self._keep], wrapper_class=structlog.make_filtering_bound_logger(0)
        )
        self.tasks = Tasks(self.log)
        self.stopped = asyncio.Event()

    def parts(self) -> dict[str, str]:
        return {}

    def statistics(self) -> dict[str, int]:
        return {}

    def stop(self) -> None:
        self.stopped.set()

    def _keep(self, logger: object, name: str, event: Any) -> Any:
        self.lines.append(dict(event))
        raise structlog.DropEvent
