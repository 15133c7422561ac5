"""How a program speaks to the daemon: `connect` for asyncio, `call_sync` for one question. Thin: msgspec and the
standard library.

    async with connect(path) as client:
        done = await client.step([event], surface="post-tool")
        if done.packet:
            ...  # put done.packet.rendered into the next request, then:
            await client.delivered(done)

A connection ends with its daemon, and a fault is raised. A program that must notice neither has a `Companion`
(`host/inprocess/companion.py`).
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from host.errors import RemoraError, SocketFault
from host.namespace import PROTOCOL, SCRIPT, name
from host.paths import folder_problem
from host.protocol import FRAME_BYTES, LARGE_FRAME_BYTES, LARGE_FRAMES
from host.sockets import credentials
from recall.contracts import ContextCursor, EventEnvelope, Frozen

T = TypeVar("T")

ANSWER_BYTES = 64 * 1024 * 1024
TIMEOUT_SECONDS = 5.0
WAIT_MS = 150
HOST = "socket"  # a program of one's own
TOO_LARGE = "input-too-large"
LARGER: Mapping[str, object] = {"client": name("client"), "protocol": PROTOCOL, "capabilities": (LARGE_FRAMES,)}
NOTICES = 1024  # that wait to be read; the connection stands still above it


class DaemonAbsent(RemoraError):
    """No daemon listens there, or it ended before it answered."""


class DaemonSilent(RemoraError):
    """A daemon listens, but does not answer in time."""


class Refused(RemoraError):
    """The daemon's own error. `kind` names it for programs, `code` is JSON-RPC's."""

    def __init__(self, kind: str, code: int, problem: str, next_step: str) -> None:
        self.kind = kind
        self.code = code
        super().__init__(problem, next_step)


class Notice(Frozen, frozen=True, kw_only=True):
    """Something the daemon said unasked, as after `audit.subscribe`."""

    method: str
    params: msgspec.Raw


class Handed(Frozen, frozen=True, kw_only=True):
    """A packet, as far as a program needs it: `rendered` goes into the next request."""

    packet_id: str
    rendered: str


class Stepped(Frozen, frozen=True, kw_only=True):
    """The answer of `step`. `reason` says why there is no packet. `owner`: the claim's session and agent."""

    accepted: int
    duplicates: int
    cursor: ContextCursor
    packet: Handed | None = None
    claim_id: str | None = None
    reason: str | None = None
    owner: tuple[str, str] = ("", "")


class _Call(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: int
    method: str
    params: object


class _Data(msgspec.Struct, frozen=True):
    kind: str = "unknown"
    problem: str = ""
    next: str = ""


class _Error(msgspec.Struct, frozen=True):
    code: int
    message: str = ""
    data: _Data = _Data()


class _Heard(msgspec.Struct, frozen=True):
    id: int | str | None = None
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Heard).decode


# ----------------------------------------------------------------------------------------------------------- one call


def call_sync(
    path: Path | str, method: str, params: Mapping[str, object] | None = None, timeout: float = TIMEOUT_SECONDS
) -> msgspec.Raw:
    """One request over a connection of its own; its result as JSON. `timeout`: seconds without any byte.

    Raises DaemonAbsent, DaemonSilent, Refused, and SocketFault when the socket is not safe to use.
    """
    _check_folder(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.settimeout(timeout)
        try:
            connected.connect(str(path))
            _check_peer(connected)
            line = _line(1, method, params)
            if len(line) > FRAME_BYTES:
                connected.sendall(_line(0, "hello", LARGER))
                _result(_read_line(connected))
            connected.sendall(line)
            return _result(_read_line(connected))
        except TimeoutError as error:
            raise DaemonSilent(f"The daemon at {path} does not answer.", f"Look at `{SCRIPT} status`.") from error
        except OSError as error:
            raise _absent(path, error) from error


def _read_line(connected: socket.socket) -> _Heard:
    answer = bytearray()
    while not answer.endswith(b"\n"):
        piece = connected.recv(1 << 18)
        if not piece or len(answer) > ANSWER_BYTES:
            raise ConnectionResetError("it ended before it answered")
        answer += piece
    return _read(bytes(answer))


# --------------------------------------------------------------------------------------------------------- connections


class Client:
    """A connection. Calls may run side by side; the daemon answers them in the order they were sent."""

    def __init__(self, path: Path | str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._path = path
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[_Heard]] = {}
        self._notices: asyncio.Queue[Notice | None] = asyncio.Queue(NOTICES)
        self._number = 0
        self._large = False  # whether long lines were agreed upon
        self._ended: RemoraError | None = None

    async def call(self, method: str, params: Mapping[str, object] | None = None) -> Any:
        """The result as plain Python values."""
        return msgspec.json.decode(_result(await self._ask(method, params)))

    async def call_as(self, kind: type[T], method: str, params: Mapping[str, object] | None = None) -> T:
        """The result as `kind`."""
        return msgspec.json.decode(_result(await self._ask(method, params)), type=kind)

    async def step(
        self,
        events: Sequence[EventEnvelope | Mapping[str, object]],
        surface: str | None = None,
        wait_ms: int = WAIT_MS,
        request_id: str | None = None,
        host: str = HOST,
    ) -> Stepped:
        """Report what happened; with a surface, also ask what should enter the next request there. `host`: what the
        agent runs in, by the name that the daemon's table has for it."""
        params: dict[str, object] = {"events": events, "host": host}
        if surface:
            params["claim"] = {"surface": surface, "waitMs": wait_ms, "requestId": request_id}
        done = await self.call_as(Stepped, "step", params)
        return msgspec.structs.replace(done, owner=_owner(events[-1]))

    async def delivered(self, done: Stepped) -> None:
        """The packet's text is in the next request."""
        await self._settle("inbox.delivered", done, {})

    async def release(self, done: Stepped, reason: str) -> None:
        """The packet was not used."""
        await self._settle("inbox.release", done, {"reason": reason})

    async def _settle(self, method: str, done: Stepped, more: Mapping[str, object]) -> None:
        if done.packet is None:
            return
        session, agent = done.owner
        params = {"sessionId": session, "agentId": agent, "packetId": done.packet.packet_id, "claimId": done.claim_id}
        await self.call(method, {**params, **more})

    async def notifications(self) -> AsyncIterator[Notice]:
        """What the daemon says unasked, until the connection ends."""
        while (notice := await self._notices.get()) is not None:
            yield notice

    async def _ask(self, method: str, params: Mapping[str, object] | None) -> _Heard:
        if self._ended is not None:
            raise self._ended
        line = _line(self._number + 1, method, params)
        if len(line) > FRAME_BYTES and not self._large:
            self._large = True
            _result(await self._ask("hello", LARGER))
            line = _line(self._number + 1, method, params)
        self._number += 1
        answer: asyncio.Future[_Heard] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        self._writer.write(line)
        try:
            await self._writer.drain()
            return await answer
        except OSError as error:
            raise _absent(self._path, error) from error

    async def listen(self) -> None:
        """The reading task of `connect`."""
        try:
            while line := await self._reader.readline():
                heard = _read(line)
                if heard.method is not None:
                    await self._notices.put(Notice(method=heard.method, params=heard.params))
                elif isinstance(heard.id, int) and (answer := self._waiting.pop(heard.id, None)) and not answer.done():
                    answer.set_result(heard)
                elif heard.error is not None and heard.id is None:
                    self._end(_refused(heard.error))
            self._end(DaemonAbsent(f"The daemon at {self._path} closed the connection.", "Connect again."))
        except (OSError, ValueError, RemoraError) as error:
            self._end(DaemonAbsent(f"The connection to {self._path} broke: {error}.", "Connect again."))

    def _end(self, why: RemoraError) -> None:
        self._ended = self._ended or why
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._ended)
        self._waiting.clear()
        if self._notices.full():
            self._notices.get_nowait()
        self._notices.put_nowait(None)


@contextlib.asynccontextmanager
async def connect(path: Path | str) -> AsyncIterator[Client]:
    """A connection for the length of the block. Raises DaemonAbsent, and SocketFault when the socket is not safe."""
    _check_folder(path)
    try:
        reader, writer = await asyncio.open_unix_connection(str(path), limit=ANSWER_BYTES)
    except OSError as error:
        raise _absent(path, error) from error
    client = Client(path, reader, writer)
    listening = asyncio.create_task(client.listen(), name="client")
    try:
        _check_peer(writer.get_extra_info("socket"))
        yield client
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


# -------------------------------------------------------------------------------------------------------------- pieces


def _owner(event: EventEnvelope | Mapping[str, object]) -> tuple[str, str]:
    if isinstance(event, EventEnvelope):
        return event.session_id, event.agent_id
    return str(event["sessionId"]), str(event["agentId"])


def _line(number: int, method: str, params: Mapping[str, object] | None) -> bytes:
    """One request. Raises Refused for one that no daemon takes."""
    line = _encode(_Call("2.0", number, method, {} if params is None else params)).replace(b"\n", b" ") + b"\n"
    if len(line) > LARGE_FRAME_BYTES:
        problem = f"The call has {len(line)} bytes; {LARGE_FRAME_BYTES} are taken."
        raise Refused(TOO_LARGE, 0, problem, "Give less at a time.")
    return line


def _read(line: bytes) -> _Heard:
    try:
        return _decode(line)
    except msgspec.DecodeError as error:
        raise DaemonSilent(
            "What listens there does not speak our protocol.", "Look at what holds the socket."
        ) from error


def _result(heard: _Heard) -> msgspec.Raw:
    if heard.error is not None:
        raise _refused(heard.error)
    return heard.result


def _refused(error: _Error) -> Refused:
    return Refused(error.data.kind, error.code, error.data.problem or error.message, error.data.next)


def _absent(path: Path | str, error: OSError) -> DaemonAbsent:
    why = error.strerror or str(error)
    return DaemonAbsent(f"No daemon answers at {path} ({why}).", f"Start it with `{SCRIPT} start`.")


def _check_folder(path: Path | str) -> None:
    folder = Path(path).parent
    is_there = folder.exists()  # asked first: a daemon that is starting makes it at any moment
    problem = folder_problem(str(folder), os.getuid())
    if problem is None:
        return
    if not is_there:
        raise DaemonAbsent(f"No daemon answers at {path}.", f"Start it with `{SCRIPT} start`.")
    raise SocketFault(f"The socket folder {folder} is not safe: {problem}.", "Give it to yourself with mode 0700.")


def _check_peer(connected: socket.socket) -> None:
    who = credentials(connected)
    if who.uid is not None and who.uid != os.getuid():
        raise SocketFault("Another user's process holds our socket.", "Find out whose it is; do not talk to it.")
