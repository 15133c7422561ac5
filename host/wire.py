"""One client's connection: reads requests, answers them in order, and never lets a client cost more than its share.

Theory of operation. A `Connection` belongs to one socket. Bytes become messages at once; a worker task takes them one
after another, so that answers keep their order, and connections run side by side. A queue that grows stops the reading;
a client that does not read its answers stops the worker, and after DRAIN_SECONDS loses the connection; a line that is
begun and not ended, or nothing at all for long, ends it too. Nothing here knows what a method does.
"""

import asyncio
import os
from collections import Counter, deque

from host import protocol
from host.connection import Methods, Peer, Reply, Shell, nothing, settle
from host.errors import ProtocolFault
from host.hushed import hushed
from host.namespace import MARK, PROTOCOL, name
from host.protocol import Feed, Malformed, Message, Request, TooLarge, decode_params, refusal
from host.sockets import credentials
from host.tasks import Tasks
from recall.contracts import Frozen

QUEUE_HIGH = 32  # messages that wait; above it nothing more is read
QUEUE_LOW = 8
WRITE_HIGH_BYTES = 256 * 1024
DRAIN_SECONDS = 5.0
HALF_FRAME_SECONDS = 10.0
IDLE_SECONDS = 3600.0
YIELD_EVERY = 16  # requests served in a row before others get their turn


class HelloParams(Frozen, frozen=True, kw_only=True):
    client: str = ""
    protocol: str = PROTOCOL
    capabilities: tuple[str, ...] = ()


class Connections:
    """All connections of one socket: their limits, their counters, their end."""

    def __init__(self, methods: Methods, shell: Shell, version: str, most: int) -> None:
        self.methods = methods
        self.shell = shell
        self.version = version
        self.counts: Counter[str] = Counter()
        self.stopping = False
        self._most = most
        self._open: set[Connection] = set()
        self._workers = Tasks(shell.log)
        self._numbers = 0

    def __call__(self) -> "Connection":
        """A new connection: this object is a protocol factory."""
        return Connection(self)

    def __len__(self) -> int:
        return len(self._open)

    def number(self) -> int:
        """The number of a new connection."""
        self._numbers += 1
        return self._numbers

    def admit(self, connection: "Connection") -> bool:
        """Whether it is served: not when there are too many, or when we are about to end."""
        if self.stopping or len(self._open) >= self._most:
            self.counts["refused"] += 1
            return False
        self._open.add(connection)
        self._workers.spawn(connection.work(), name="connection")
        self.counts["connections"] += 1
        return True

    def leave(self, connection: "Connection") -> None:
        self._open.discard(connection)

    def sweep(self, now: float) -> None:
        """Close those that began a line and do not end it, and those idle for long. `now`: the loop's time."""
        for connection in tuple(self._open):
            if connection.overdue(now):
                self.counts["timed-out"] += 1
                connection.abort()

    async def drain(self, seconds: float) -> None:
        """Read no more, finish what was received, then close; after `seconds` without mercy."""
        self.stopping = True
        for connection in tuple(self._open):
            connection.finish()
        try:
            async with asyncio.timeout(seconds):
                await self._workers.settled()
        except TimeoutError:
            await self._workers.close()
        for connection in tuple(self._open):
            connection.abort()


class Connection(asyncio.Protocol):
    """One connection. Made by `Connections`."""

    def __init__(self, all_of_them: Connections) -> None:
        self._all = all_of_them
        self._loop = asyncio.get_running_loop()
        self._feed = Feed()
        self._queue: deque[Message] = deque()
        self._wake = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False
        self._ended = False
        self._busy = False
        self._line_begun: float | None = None
        self._lingering: float | None = None
        self._last_heard = self._loop.time()
        self._transport: asyncio.Transport
        self._peer: Peer

    # ------------------------------------------------------------------ called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES)
        who = credentials(transport.get_extra_info("socket"))
        self._peer = Peer(self._all.number(), who.uid, who.pid, self._notify)
        if who.uid is not None and who.uid != os.getuid():
            self._all.counts["foreign-uid"] += 1
            transport.abort()
        elif not self._all.admit(self):
            busy = refusal("too-many-connections", "There are too many connections.", "Try again later.")
            transport.write(protocol.fault(None, busy))
            transport.close()

    def data_received(self, data: bytes) -> None:
        messages = self._feed.feed(data)
        self._last_heard = self._loop.time()
        if not self._feed.partial:
            self._line_begun = None
        elif messages or self._line_begun is None:
            self._line_begun = self._last_heard
        if messages:
            self._queue.extend(messages)
            self._wake.set()
            if len(self._queue) > QUEUE_HIGH and not self._paused:
                self._paused = True
                self._transport.pause_reading()

    def eof_received(self) -> bool:
        """The client has said all; it still gets its answers."""
        self._ended = True
        self._wake.set()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._queue.clear()
        self._wake.set()
        self._writable.set()
        self._all.leave(self)
        self._peer.closed.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # ------------------------------------------------------------------ called by Connections

    def overdue(self, now: float) -> bool:
        """Whether a line has been open, or nothing has been heard, for too long."""
        if self._lingering is not None:
            return now - self._lingering > HALF_FRAME_SECONDS
        if self._line_begun is not None and not self._paused:
            return now - self._line_begun > HALF_FRAME_SECONDS
        idle = not self._busy and not self._queue and not self._peer.notified
        return idle and now - self._last_heard > IDLE_SECONDS

    def finish(self) -> None:
        """Read no more; the worker ends once the queue is empty."""
        self._ended = True
        self._wake.set()
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def abort(self) -> None:
        self._ended = True
        self._queue.clear()
        self._wake.set()
        self._transport.abort()

    async def work(self) -> None:
        """The worker: answers what was received, in order, until the connection ends."""
        served = 0
        try:
            while True:
                while self._queue:
                    await self._serve(self._queue.popleft())
                    served += 1
                    if served % YIELD_EVERY == 0:
                        await asyncio.sleep(0)
                if self._ended:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            self._transport.close()

    # ------------------------------------------------------------------ one message

    async def _serve(self, message: Message) -> None:
        if self._paused and len(self._queue) <= QUEUE_LOW:
            self._paused = False
            if not self._ended:
                self._transport.resume_reading()
        self._busy = True
        match message:
            case Request():
                await self._answer(message)
            case Malformed():
                self._all.counts[message.kind] += 1
                await self._write(protocol.fault(message.id, hushed(message.fault())))
            case TooLarge():
                self._all.counts["frame-too-large"] += 1
                await self._write(protocol.fault(None, hushed(message.fault())))
                self._linger()
        self._busy = False

    async def _answer(self, request: Request) -> None:
        self._all.counts["requests"] += 1
        reply, line = await self._line(request)
        told = request.id is not None and await self._write(line)
        if told and reply is not None and await self._flushed(reply):
            await settle(reply.written, self._all.shell.log)
        elif reply is not None:
            await settle(reply.lost, self._all.shell.log)

    async def _line(self, request: Request) -> tuple[Reply | None, bytes]:
        """The reply and the line that says it; for a fault only the line."""
        reply = None
        try:
            given = await self._result(request)
            reply = given if isinstance(given, Reply) else Reply(result=given)
            return reply, protocol.result(request.id, reply.result)
        except ProtocolFault as fault:
            self._all.counts[fault.kind] += 1
            return None, protocol.fault(request.id, hushed(fault))
        except Exception as error:  # noqa: BLE001  (boundary: a connection; answered, then closed)
            self._all.counts["internal"] += 1
            self._all.shell.log.error("request.failed", method=request.method, error=type(error).__name__)
            self._end()
            if reply is not None:  # it cannot be written down
                await settle(reply.lost, self._all.shell.log)
            return None, protocol.fault(request.id, _internal())

    async def _result(self, request: Request) -> object:
        match request.method:
            case "hello":
                return self._greet(decode_params(request, HelloParams))
            case "shutdown":
                self._all.shell.stop()
                return {"stopping": True}
            case _:
                return await self._all.methods.answer(request, self._peer)

    def _greet(self, hello: HelloParams) -> dict[str, object]:
        if hello.protocol != PROTOCOL:
            problem = f"This daemon speaks {PROTOCOL}, not {hello.protocol[:64]!r}."
            raise refusal("unsupported-protocol", problem, "Use a client of the same version.")
        self._peer.client = hello.client[:64]
        self._peer.capabilities = frozenset(hello.capabilities)
        if protocol.LARGE_FRAMES in self._peer.capabilities:
            self._feed.enlarge()
        return {
            "server": name(),
            "version": self._all.version,
            "protocol": PROTOCOL,
            "capabilities": protocol.CAPABILITIES,
            "limits": protocol.LIMITS,
            "channel": MARK,
        }

    # ------------------------------------------------------------------ writing

    async def _write(self, line: bytes) -> bool:
        """Whether the line went out, as far as can be seen. Waits while the client does not read, but not for ever."""
        if self._transport.is_closing():
            return False
        self._transport.write(line)
        return await self._drained()

    async def _flushed(self, reply: Reply) -> bool:
        """Before something depends on the client having the answer, the last byte must have left our hands."""
        if reply.written is nothing or not self._transport.get_write_buffer_size():
            return not self._transport.is_closing()
        self._transport.set_write_buffer_limits(high=0)
        try:
            return await self._drained()
        finally:
            self._transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES)

    async def _drained(self) -> bool:
        if not self._writable.is_set():
            try:
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._writable.wait()
            except TimeoutError:
                self._all.counts["too-slow"] += 1
                self.abort()
        return not self._transport.is_closing()

    def _notify(self, line: bytes) -> bool:
        if self._transport.is_closing() or self._lingering is not None:
            return False
        if not self._writable.is_set():
            self._all.counts["too-slow"] += 1
            self.abort()
            return False
        self._transport.write(line)
        return True

    def _linger(self) -> None:
        """Say that this was all, and let the client finish its line unread: cut off at once, it might miss why."""
        self._lingering = self._loop.time()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def _end(self) -> None:
        """Serve nothing more."""
        self._ended = True
        self._queue.clear()


def _internal() -> ProtocolFault:
    return refusal("internal", "The request failed in the daemon.", "Look into its log, and report it.")
