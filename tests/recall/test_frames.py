"""Frames: any split of the bytes gives the same messages, and what is no message is refused."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import Scope, ScopeRef
from recall.errors import EngineFault
from recall.frames import (
    ASKED,
    MOST_BYTES,
    Away,
    Done,
    EngineHits,
    EngineState,
    EngineStatus,
    Failed,
    Forget,
    Found,
    Frames,
    Hello,
    Reembed,
    Report,
    Search,
    Sync,
    frame,
)

SCOPES = (ScopeRef(kind=Scope.WORKSPACE, key="ws_1"),)
REQUESTS = (
    Hello(number=1),
    Search(number=2, text="数据库 backup", scopes=SCOPES, limit=10),
    Sync(number=3),
    Reembed(number=4),
    Forget(number=5, digests=("ab" * 32,)),
)
REPLIES = (
    Done(number=1),
    Found(number=2, hits=EngineHits(epoch=3, rows=(7,), digests=("ab" * 32,), cosines=(0.5,))),
    Away(number=3, shortfall="loading"),
    Failed(number=4, problem="ValueError"),
    Report(status=EngineStatus(state=EngineState.READY, model="tiny 1", dimension=256)),
)


@given(st.lists(st.integers(1, 60), max_size=40))
def test_any_split_of_the_bytes_gives_the_same_messages(cuts: list[int]) -> None:
    data = b"".join(map(frame, REQUESTS))
    frames, seen = Frames(), []

    for size in cuts:
        seen += frames.requests(data[:size])
        data = data[size:]
    seen += frames.requests(data)

    assert tuple(seen) == REQUESTS


def test_replies_come_back_as_they_were_sent() -> None:
    assert tuple(Frames().replies(b"".join(map(frame, REPLIES)))) == REPLIES


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", MOST_BYTES + 1),
        b"Traceback (most recent call last):\n",
        struct.pack(">I", 3) + b"\xc1\xc1\xc1",
        struct.pack(">I", 0),
        frame(Done(number=1)),  # a reply where requests are read
    ],
    ids=["too-long", "text", "no-msgpack", "empty", "a-reply"],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(EngineFault):
        list(Frames().requests(data))


def test_a_search_at_its_bounds_is_taken() -> None:
    widest = Search(number=0, text="备" * ASKED, scopes=SCOPES * 16, limit=2_000)
    assert list(Frames().requests(frame(widest))) == [widest]


@pytest.mark.parametrize(
    "fields", [{"text": "x" * (ASKED + 1)}, {"limit": 0}, {"limit": 2_001}, {"scopes": SCOPES * 17}], ids=str
)
def test_a_search_beyond_its_bounds_is_refused(fields: dict[str, object]) -> None:
    given = {"number": 1, "text": "x", "scopes": SCOPES, "limit": 1} | fields
    with pytest.raises(EngineFault):
        list(Frames().requests(frame(Search(**given))))  # type: ignore[arg-type]
