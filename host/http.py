"""Hooks over HTTP: `POST /hook/{host}` on a second Unix socket and, for hosts that need it, on loopback with a token.

Fails open: whatever goes wrong inside, or takes too long, the host gets 200 and nothing to say. Only a stranger is
told off: 401 without the token, 403 from a web page or under another name than ours, 404 for an unknown host, 413 for
too large a body.
"""

import asyncio
import hmac
import logging
import os
import socket

import structlog
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from host.connection import Methods, Reply, settle
from host.errors import ProtocolFault
from host.hushed import hushed
from host.protocol import LARGE_FRAME_BYTES
from host.sockets import credentials

BODY_BYTES = LARGE_FRAME_BYTES
HOOK_SECONDS = 0.4  # after which the agent, who waits at every step, gets silence; what it told is stored all the same
HASTY_SECONDS = 0.05  # the same while hooks are late: a slow daemon costs an agent two waits, not two at every step
LATE_IN_A_ROW = 2  # from then on they are: one may have met a slow disk
LATE_SECONDS = 5.0  # after which a late hook is given up
HEAD_SECONDS = 5.0  # a connection that has not asked by then is closed
BODY_SECONDS = 5.0
KEEP_ALIVE_SECONDS = 75
REQUESTS_AT_ONCE = 256
LAST = {"connection": "close"}  # what a stranger holds open, nobody else can have
OUR_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})

Log = structlog.typing.FilteringBoundLogger


class TooLarge(Exception):
    """A body beyond BODY_BYTES."""


def hook_app(methods: Methods, token: str | None, log: Log) -> ASGIApp:
    """The application. With a token (loopback) callers must have it and must have asked for us by a local name."""

    patience = Patience()

    async def hook(request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                raw = await _body(request)
        except TimeoutError:
            return PlainTextResponse("The body came too slowly.\n", 408, headers=LAST)
        except TooLarge:
            return PlainTextResponse("The body is too large.\n", 413)
        except ClientDisconnect:
            return Response()
        answering = patience.watch(asyncio.ensure_future(methods.hook(request.path_params["host"], raw)))
        try:
            await asyncio.wait({answering}, timeout=patience.seconds)
        except asyncio.CancelledError:
            answering.cancel()
            raise
        if not answering.done():
            log.warning("hook.late")
            return Response(background=BackgroundTask(_late, answering, log))
        try:
            return HookResponse(request, answering.result(), log)
        except ProtocolFault as fault:
            if fault.kind == "unknown-host":
                return PlainTextResponse(f"{hushed(fault)}\n", 404)
            log.warning("hook.refused", kind=fault.kind)
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            log.error("hook.failed", error=type(error).__name__)
        return Response()

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    routes = [Route("/hook/{host}", hook, methods=["POST"]), Route("/health", health, methods=["GET"])]
    return _guarded(Starlette(routes=routes), token)


class Patience:
    """How long an agent is kept waiting for the answer to a hook: hardly at all once several in a row were late, until
    one is in time again."""

    def __init__(self) -> None:
        self._late = 0  # in a row

    @property
    def seconds(self) -> float:
        return HASTY_SECONDS if self._late >= LATE_IN_A_ROW else HOOK_SECONDS

    def watch(self, answering: asyncio.Future[Reply]) -> asyncio.Future[Reply]:
        """The same future. That it is late is noted when it is, and that it was in time at its end."""
        timer = asyncio.get_running_loop().call_later(HOOK_SECONDS, self._count)

        def ended(_: asyncio.Future[Reply]) -> None:
            if not timer.cancelled() and timer.when() > asyncio.get_running_loop().time():
                self._late = 0
            timer.cancel()

        answering.add_done_callback(ended)
        return answering

    def _count(self) -> None:
        self._late += 1


async def _late(answering: asyncio.Future[Reply], log: Log) -> None:
    """See a hook to its end that was answered by silence: what it told is stored, and nobody has its text."""
    try:
        async with asyncio.timeout(LATE_SECONDS):
            reply = await answering
    except Exception as error:  # noqa: BLE001  (boundary: a connection; the answer has been given)
        log.error("hook.failed", error=type(error).__name__)
    else:
        await settle(reply.lost, log)


class HookResponse(Response):
    """An answer that is followed by `written` once it is out, or by `lost` when nobody waits for it any more."""

    def __init__(self, request: Request, reply: Reply, log: Log) -> None:
        content = reply.result if isinstance(reply.result, bytes) else b""
        super().__init__(content, media_type="application/json")
        self._request = request
        self._reply = reply
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if await self._request.is_disconnected():
            await settle(self._reply.lost, self._log)
            return
        await super().__call__(scope, receive, send)
        await settle(self._reply.written, self._log)


class OwnProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, closed at once to another user's process, and soon to one that does not ask.

    Over TCP the token must do.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        super().connection_made(transport)
        connected = transport.get_extra_info("socket")
        if connected.family == socket.AF_UNIX and credentials(connected).uid not in (None, os.getuid()):
            transport.abort()
        self._due = self.loop.call_later(HEAD_SECONDS, self.hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._due.cancel()
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """Close unless a request has begun."""
        if self.cycle is None:
            self.transport.abort()


class HttpServing:
    """uvicorn's protocol on sockets of ours, without its own loop, signals and log. A protocol factory."""

    def __init__(self, app: ASGIApp) -> None:
        self._state = ServerState()
        self._config = Config(
            app=app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            limit_concurrency=REQUESTS_AT_ONCE,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        quiet = logging.getLogger("uvicorn")
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        self._config.load()

    def __call__(self) -> asyncio.Protocol:
        return OwnProtocol(config=self._config, server_state=self._state, app_state={})

    async def drain(self, seconds: float) -> None:
        """Let answers under way be given; idle connections are closed at once, the rest after `seconds`."""
        for connection in tuple(self._state.connections):
            connection.shutdown()
        tasks = tuple(self._state.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for connection in tuple(self._state.connections):
            connection.transport.abort()


def _guarded(app: ASGIApp, token: str | None) -> ASGIApp:
    """The app behind its door: who asks, and under which name."""
    wanted = None if token is None else f"Bearer {token}".encode()

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(Request(scope), wanted) if scope["type"] == "http" else None
        await (refusal or app)(scope, receive, send)

    return door


def _refusal(request: Request, wanted: bytes | None) -> Response | None:
    if "origin" in request.headers:  # a web page, whatever it says
        return PlainTextResponse("Not for web pages.\n", 403, headers=LAST)
    if wanted is None:
        return None
    host, _, port = request.headers.get("host", "").rpartition(":")
    if (host if port.isdigit() else request.headers.get("host", "")) not in OUR_NAMES:
        return PlainTextResponse("Ask for this machine by its local name.\n", 403, headers=LAST)
    if not hmac.compare_digest(request.headers.get("authorization", "").encode(), wanted):
        return PlainTextResponse("The token is missing or wrong.\n", 401, headers=LAST)
    return None


async def _body(request: Request) -> bytes:
    if int(request.headers.get("content-length", "0") or 0) > BODY_BYTES:
        raise TooLarge
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES:
            raise TooLarge
    return bytes(body)
