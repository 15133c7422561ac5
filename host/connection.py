"""What the daemon and its methods know of each other: the peer, the reply, and the two sides as protocols.

`host/wire.py` and `host/http.py` carry it out; the composition root supplies the methods.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from host import protocol
from host.protocol import Request
from host.tasks import Tasks


async def nothing() -> None:
    """What happens after most answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A result, and what is to happen once it was written to the client, or could not be."""

    result: object
    written: Callable[[], Awaitable[None]] = nothing
    lost: Callable[[], Awaitable[None]] = nothing


class Peer:
    """The client of one connection, as methods see it."""

    def __init__(self, number: int, uid: int | None, pid: int | None, send: Callable[[bytes], bool]) -> None:
        self.number = number
        self.uid = uid
        self.pid = pid
        self.client = ""  # as its hello says
        self.capabilities: frozenset[str] = frozenset()
        self.closed = asyncio.Event()
        self.notified = False
        self.subscribed = False  # to the audit: once a connection
        self._send = send

    def notify(self, method: str, params: object) -> bool:
        """Send a notification. False: the client is gone, or so slow that it was cut off."""
        self.notified = True
        return self._send(protocol.notification(method, params))


class Methods(Protocol):
    """What answers: the method table of the wire, and the hooks that come over HTTP."""

    async def answer(self, request: Request, peer: Peer) -> object:
        """The result, or a Reply. Raises ProtocolFault."""
        ...

    async def hook(self, host: str, raw: bytes) -> Reply:
        """The answer to a host's hook: bytes, empty for silence. Raises ProtocolFault `unknown-host`."""
        ...


class Shell(Protocol):
    """What the daemon offers to whoever composes its methods."""

    @property
    def tasks(self) -> Tasks: ...

    @property
    def log(self) -> structlog.typing.FilteringBoundLogger: ...

    def parts(self) -> dict[str, str]:
        """The state of the daemon's own parts: "ok", "off", or what is wrong."""
        ...

    def statistics(self) -> dict[str, int]:
        """Counters of the wire."""
        ...

    def stop(self) -> None:
        """Begin to drain and end."""
        ...


async def settle(act: Callable[[], Awaitable[None]], log: structlog.typing.FilteringBoundLogger) -> None:
    """Do what follows an answer. It is out already: a failure is logged and changes nothing for the client."""
    try:
        await act()
    except Exception as error:  # noqa: BLE001  (boundary: a connection; the answer has been given)
        log.error("settle.failed", error=type(error).__name__)
