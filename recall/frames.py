"""What the daemon and the engine's process say to each other (M-07): length-prefixed MessagePack, bounded. Pure.

A frame is four bytes of length (big-endian) and that many bytes. Every request has a number and is answered by one
reply with the same number; a `Report` comes unasked whenever the engine's state has changed.
"""

import struct
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from recall.contracts import Frozen, ScopeRef
from recall.errors import EngineFault

MOST_BYTES = 1 << 20  # of one frame
ASKED = 400  # characters of a text that the encoder is given
ROWS = 2_000  # that one search may ask for
DIGESTS = 4_096  # that one request may name
_LENGTH = struct.Struct(">I")

Number = Annotated[int, Meta(ge=0)]


class EngineState(StrEnum):
    """`off`: not started. `loading`: starting. `embedding`: texts are given their vectors. `stale`: the stored vectors
    are another model's, and wait to be made anew. `broken`: the process ended or made no sense."""

    OFF = "off"
    LOADING = "loading"
    READY = "ready"
    EMBEDDING = "embedding"
    STALE = "stale"
    BROKEN = "broken"


class EngineStatus(Frozen, frozen=True, kw_only=True):
    """How the engine stands. `records`: searchable ones; `embedded`: those of them that have a vector."""

    state: EngineState
    model: str = ""  # name and version
    dimension: int = 0
    records: int = 0
    embedded: int = 0
    problem: str = ""
    pid: int = 0


class EngineHits(Frozen, frozen=True, kw_only=True):
    """The nearest records, best first. `epoch`: of the index that the rows are of; a digest belongs to its row.

    `alike`: pairs of places in these lists whose records say the same, as far as the model can tell.
    """

    epoch: int
    rows: tuple[int, ...]
    digests: tuple[str, ...]
    cosines: tuple[float, ...]
    alike: tuple[tuple[int, int], ...] = ()


class Hello(Frozen, frozen=True, kw_only=True, tag="hello"):
    """Asks for a `Done` as soon as the model is loaded."""

    number: Number


class Search(Frozen, frozen=True, kw_only=True, tag="search"):
    """The records of these scopes that are nearest to a text."""

    number: Number
    text: Annotated[str, Meta(max_length=ASKED)]
    scopes: Annotated[tuple[ScopeRef, ...], Meta(max_length=16)]
    limit: Annotated[int, Meta(ge=1, le=ROWS)]


class Sync(Frozen, frozen=True, kw_only=True, tag="sync"):
    """The index has changed."""

    number: Number


class Reembed(Frozen, frozen=True, kw_only=True, tag="reembed"):
    """Make every vector anew, from now on."""

    number: Number


class Forget(Frozen, frozen=True, kw_only=True, tag="forget"):
    """Drop the vectors of these record digests."""

    number: Number
    digests: Annotated[tuple[str, ...], Meta(max_length=DIGESTS)]


class Found(Frozen, frozen=True, kw_only=True, tag="found"):
    number: Number
    hits: EngineHits


class Away(Frozen, frozen=True, kw_only=True, tag="away"):
    """No answer just now. `shortfall`: loading | stale-vectors."""

    number: Number
    shortfall: str
    detail: str = ""


class Done(Frozen, frozen=True, kw_only=True, tag="done"):
    number: Number


class Failed(Frozen, frozen=True, kw_only=True, tag="failed"):
    """A request that could not be answered; the process goes on."""

    number: Number
    problem: str


class Report(Frozen, frozen=True, kw_only=True, tag="report"):
    status: EngineStatus


Request = Hello | Search | Sync | Reembed | Forget
Answer = Found | Away | Done | Failed
Reply = Answer | Report

_encoder = msgspec.msgpack.Encoder()
_requests: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)
T = TypeVar("T")


def frame(message: Request | Reply) -> bytes:
    """One message as it goes over the pipe."""
    body = _encoder.encode(message)
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Bytes in, whole messages out. Raises EngineFault for what is no message: nothing after it can be trusted."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def requests(self, data: bytes) -> Iterator[Request]:
        """The requests that are complete with `data`."""
        return (_decoded(_requests, body) for body in self._bodies(data))

    def replies(self, data: bytes) -> Iterator[Reply]:
        """The replies that are complete with `data`."""
        return (_decoded(_replies, body) for body in self._bodies(data))

    def _bodies(self, data: bytes) -> Iterator[bytes]:
        self._pending += data
        while len(self._pending) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._pending)
            if length > MOST_BYTES:
                raise EngineFault(f"A message of {length} bytes was announced; {MOST_BYTES} are allowed.")
            end = _LENGTH.size + length
            if len(self._pending) < end:
                return
            body = bytes(self._pending[_LENGTH.size : end])
            del self._pending[:end]
            yield body


def _decoded(decoder: "msgspec.msgpack.Decoder[T]", body: bytes) -> T:
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as error:
        raise EngineFault("What came is no message.") from error
