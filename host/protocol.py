"""The wire, sans I/O: bytes in, messages out (protocol `PROTOCOL` of `host/namespace.py`). Limits are a table.

Theory of operation. JSON-RPC 2.0, one JSON document a line. A `Feed` belongs to one connection. Each line becomes one
message: a `Request`, or a `Malformed` that says what is wrong and leaves the connection usable, since the line's end
is known. A line longer than the limit becomes `TooLarge`, the last message that a feed gives: nobody knows where the
next line begins, so the connection must be closed. How the bytes are cut into pieces changes nothing.

A line is valid UTF-8 and nests at most DEPTH deep; lone surrogates and raw control characters are no JSON here.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

import msgspec

from host.errors import ProtocolFault
from recall.canonical import MAX_INT
from recall.contracts import Frozen

T = TypeVar("T")
Id = int | str | None

FRAME_BYTES = 1024 * 1024
LARGE_FRAME_BYTES = 4 * 1024 * 1024 + 64 * 1024  # after a hello that offers LARGE_FRAMES
LARGE_FRAMES = "large-frames"
DEPTH = 64
EVENTS_PER_CALL = 256
ID_CHARACTERS = 128
METHOD_CHARACTERS = 64
WAIT_MS = 2_000  # the longest that a claim may wait
LIMITS: Mapping[str, int] = {
    "frameBytes": FRAME_BYTES,
    "largeFrameBytes": LARGE_FRAME_BYTES,
    "depth": DEPTH,
    "eventsPerCall": EVENTS_PER_CALL,
    "idCharacters": ID_CHARACTERS,
    "waitMs": WAIT_MS,
}
CAPABILITIES: Sequence[str] = (LARGE_FRAMES, "step", "audit-notifications")

# kind -> JSON-RPC code; a kind that is not here is a fault of our own domain
CODES: Mapping[str, int] = {
    "parse-error": -32700,
    "invalid-request": -32600,
    "batch-refused": -32600,
    "unknown-method": -32601,
    "invalid-params": -32602,
    "no-owner": -32602,
    "unsupported-schema": -32602,
    "unsupported-protocol": -32602,
    "internal": -32603,
    "frame-too-large": -32001,
    "too-many-connections": -32002,
    "conflict": -32010,
    "store-unavailable": -32011,
    "state-failed": -32012,
    "state-corrupt": -32013,
}

# Ids of sessions, agents, events, calls: no white space, no wildcard, nothing that climbs a path. Use fullmatch.
IDENTIFIER = re.compile(rf"(?!.*\.\.)[A-Za-z0-9_:@+=|~#-][A-Za-z0-9._:@/+=|~#-]{{0,{ID_CHARACTERS - 1}}}")


def refusal(kind: str, problem: str, next_step: str) -> ProtocolFault:
    """A fault of one of the kinds of CODES, with its code."""
    return ProtocolFault(kind, problem, next_step, CODES[kind])


class Request(Frozen, frozen=True, kw_only=True):
    """A request, or with `id` None a notification that is never answered. `params` is a JSON object, not yet read."""

    id: Id
    method: str
    params: msgspec.Raw


class Malformed(Frozen, frozen=True, kw_only=True):
    """A line that is no request. `id` is the request's if it could be read."""

    id: Id
    kind: str
    problem: str
    next_step: str

    def fault(self) -> ProtocolFault:
        """The same as an error to answer with."""
        return refusal(self.kind, self.problem, self.next_step)


class TooLarge(Frozen, frozen=True, kw_only=True):
    """A line beyond `limit` bytes: answer once, then close."""

    limit: int

    def fault(self) -> ProtocolFault:
        """The same as an error to answer with."""
        next_step = f"Send less a call, or offer `{LARGE_FRAMES}` in hello. The connection is closed."
        return refusal("frame-too-large", f"A line is longer than {self.limit} bytes.", next_step)


Message = Request | Malformed | TooLarge


class Feed:
    """Cuts one connection's bytes into messages. `limit`: bytes a line, its end not counted."""

    def __init__(self, limit: int = FRAME_BYTES) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._over = False

    @property
    def partial(self) -> int:
        """Bytes of a line whose end has not come yet."""
        return len(self._rest)

    def enlarge(self) -> None:
        """The peer offered large frames: later lines may have LARGE_FRAME_BYTES."""
        self._limit = max(self._limit, LARGE_FRAME_BYTES)

    def feed(self, data: bytes) -> list[Message]:
        """The messages that these bytes complete. Nothing any more after a TooLarge."""
        if self._over:
            return []
        first, *others = data.split(b"\n")
        self._rest += first
        messages: list[Message] = []
        for following in others:
            if not self._take(bytes(self._rest), messages):
                return messages
            self._rest = bytearray(following)
        if len(self._rest) > self._limit:
            self._refuse(messages)
        return messages

    def _take(self, line: bytes, messages: list[Message]) -> bool:
        if len(line) > self._limit:
            self._refuse(messages)
            return False
        if line.strip():
            messages.append(read_line(line))
        return True

    def _refuse(self, messages: list[Message]) -> None:
        self._over = True
        self._rest.clear()
        messages.append(TooLarge(limit=self._limit))


# ------------------------------------------------------------------------------------------------------------ reading


class _Frame(msgspec.Struct, frozen=True):
    jsonrpc: str = ""
    id: int | str | msgspec.UnsetType | None = msgspec.UNSET
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Named(msgspec.Struct, frozen=True):
    id: msgspec.Raw = msgspec.Raw(b"null")


_frames = msgspec.json.Decoder(_Frame)
_names = msgspec.json.Decoder(_Named)
_ids = msgspec.json.Decoder(int | str | None)


def read_line(line: bytes) -> Request | Malformed:
    """One line, without its end, as a message."""
    try:
        if not line.isascii():
            line.decode("utf-8")
        frame = _frames.decode(line)
    except UnicodeDecodeError as error:
        return _parse_error(f"The line is not valid UTF-8 (byte {error.start}).")
    except msgspec.ValidationError as error:
        return _no_request(line, error)
    except msgspec.DecodeError as error:
        return _parse_error(f"The line is not JSON: {error}.")
    except RecursionError:
        return _too_deep(None)
    problem = _problem(frame)
    number = None if isinstance(frame.id, msgspec.UnsetType) or not _is_id(frame.id) else frame.id
    if problem:
        return _invalid(number, problem)
    if too_deep(line):
        return _too_deep(number)
    params = msgspec.Raw(b"{}") if bytes(memoryview(frame.params)[:4]) == b"null" else frame.params
    return Request(id=number, method=frame.method, params=params)


def too_deep(document: bytes) -> bool:
    """Whether well-formed JSON nests deeper than DEPTH.

    Strings are taken out first: without escaped backslashes and quotes, every second piece between quotes is one.
    """
    if document.count(b"[") + document.count(b"{") <= DEPTH:
        return False
    bare = document.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    if b'"' in bare:
        bare = b"".join(bare.split(b'"')[::2])
    return any(depth > DEPTH for depth in accumulate(map(_STEP.__getitem__, bare)))


_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))


def _problem(frame: _Frame) -> str:
    if frame.jsonrpc != "2.0":
        return '`jsonrpc` must be "2.0".'
    if not isinstance(frame.id, msgspec.UnsetType) and not _is_id(frame.id):
        return f"`id` must be an integer within ±(2^53 − 1), a text of at most {ID_CHARACTERS} characters, or null."
    if not 0 < len(frame.method) <= METHOD_CHARACTERS:
        return f"`method` must be a text of 1 to {METHOD_CHARACTERS} characters."
    return ""


def _is_id(value: Id) -> bool:
    match value:
        case int():
            return -MAX_INT <= value <= MAX_INT
        case str():
            return len(value) <= ID_CHARACTERS
        case None:
            return True


def _no_request(line: bytes, error: msgspec.ValidationError) -> Malformed:
    if line.lstrip()[:1] == b"[":
        next_step = "Send one request a line; lines may follow each other without waiting."
        return Malformed(id=None, kind="batch-refused", problem="A batch is not taken.", next_step=next_step)
    try:
        number = _ids.decode(_names.decode(line).id)
    except msgspec.DecodeError:
        number = None
    return _invalid(number if _is_id(number) else None, f"This is no request: {error}.")


def _invalid(number: Id, problem: str) -> Malformed:
    next_step = 'Send {"jsonrpc": "2.0", "id": …, "method": …, "params": {…}} on one line.'
    return Malformed(id=number, kind="invalid-request", problem=problem, next_step=next_step)


def _parse_error(problem: str) -> Malformed:
    return Malformed(id=None, kind="parse-error", problem=problem, next_step="Send one JSON document a line, in UTF-8.")


def _too_deep(number: Id) -> Malformed:
    next_step = "Send deeply nested data as text."
    return Malformed(
        id=number, kind="invalid-request", problem=f"The line nests deeper than {DEPTH}.", next_step=next_step
    )


def decode_params(request: Request, kind: type[T]) -> T:
    """The request's params as `kind`. Raises ProtocolFault `invalid-params` that names the field."""
    try:
        return msgspec.json.decode(request.params, type=kind)
    except msgspec.DecodeError as error:
        raise invalid_params(f"{request.method}: {error}.") from error


def invalid_params(problem: str, kind: str = "invalid-params") -> ProtocolFault:
    """Parameters that cannot be used: `problem` names the field."""
    next_step = "See the method's page in the protocol reference."
    return refusal(kind, problem, next_step)


def unknown_method(request: Request) -> ProtocolFault:
    """There is no such method."""
    problem = f"There is no method `{request.method}`."
    return refusal("unknown-method", problem, "See the protocol reference for the list.")


# ------------------------------------------------------------------------------------------------------------ writing


class _Result(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: Id
    result: object


class _ErrorData(msgspec.Struct, frozen=True):
    kind: str
    problem: str
    next: str


class _Error(msgspec.Struct, frozen=True):
    code: int
    message: str
    data: _ErrorData


class _Fault(msgspec.Struct, frozen=True):
    jsonrpc: str
    id: Id
    error: _Error


class _Notification(msgspec.Struct, frozen=True):
    jsonrpc: str
    method: str
    params: object


_encoder = msgspec.json.Encoder()


def result(number: Id, value: object) -> bytes:
    """The answer to a request, as one line: always `{"jsonrpc":"2.0","id":…,"result":…}` in this order."""
    return _line(_Result("2.0", number, value))


def fault(number: Id, error: ProtocolFault) -> bytes:
    """The refusal of a request, as one line."""
    return _line(
        _Fault("2.0", number, _Error(error.code, str(error), _ErrorData(error.kind, error.problem, error.next_step)))
    )


def notification(method: str, params: object) -> bytes:
    """Something the peer did not ask for, as one line."""
    return _line(_Notification("2.0", method, params))


def _line(message: msgspec.Struct) -> bytes:
    """One line. A raw line end can only be white space of embedded JSON: inside strings it is always escaped."""
    return _encoder.encode(message).replace(b"\n", b" ") + b"\n"
