"""The wire, sans I/O: what bytes become messages, whatever the pieces they come in."""

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host import protocol
from host.errors import ProtocolFault
from host.protocol import (
    DEPTH,
    FRAME_BYTES,
    LARGE_FRAME_BYTES,
    Feed,
    Malformed,
    Request,
    TooLarge,
    decode_params,
    read_line,
    too_deep,
)
from recall.contracts import Frozen
from tests.support.frames import append, frames, json_suite

HELLO = b'{"jsonrpc":"2.0","id":7,"method":"hello"}'


def call(method: str = "m", params: bytes = b"{}", number: bytes = b"1") -> bytes:
    return b'{"jsonrpc":"2.0","id":' + number + b',"method":"' + method.encode() + b'","params":' + params + b"}"


def check(line: bytes, kind: str, code: int, number: object = None) -> None:
    message = read_line(line)
    assert isinstance(message, Malformed)
    assert (message.kind, message.fault().code, message.id) == (kind, code, number)
    assert message.problem and message.next_step


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    ("line", "kind", "code", "number"),
    [
        (b"not json", "parse-error", -32700, None),
        (b'{"jsonrpc":"2.0"', "parse-error", -32700, None),
        (call(params=b'{"a":NaN}'), "parse-error", -32700, None),
        (call(params=b'{"a":"\xff"}'), "parse-error", -32700, None),
        (call(params=b'{"a":"\xed\xa0\x80"}'), "parse-error", -32700, None),
        (call(params=b'{"a":"\\ud800"}'), "parse-error", -32700, None),
        (call(params=b'{"a":"\x00"}'), "parse-error", -32700, None),
        (b"\xef\xbb\xbf" + HELLO, "parse-error", -32700, None),
        (HELLO + b" " + HELLO, "parse-error", -32700, None),
        (b"[" + HELLO + b"]", "batch-refused", -32600, None),
        (b"null", "invalid-request", -32600, None),
        (b'{"id":4,"method":"hello"}', "invalid-request", -32600, 4),
        (b'{"jsonrpc":2,"id":"x","method":"hello"}', "invalid-request", -32600, "x"),
        (b'{"jsonrpc":"2.0","id":4}', "invalid-request", -32600, 4),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"a"}', "invalid-request", -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"a"}', "invalid-request", -32600, None),
        (call(number=str(2**53).encode()), "invalid-request", -32600, None),
        (call(number=b'"' + b"x" * 129 + b'"'), "invalid-request", -32600, None),
        (call(method="x" * 65), "invalid-request", -32600, 1),
        (call(params=b"[" * 65 + b"]" * 65), "invalid-request", -32600, 1),
        (call(params=b"[" * 100_000 + b"]" * 100_000), "invalid-request", -32600, None),
        (call(params=b'{"a":' * 90_000), "invalid-request", -32600, None),
    ],
    ids=str,
)
def test_a_line_that_is_no_request_says_what_is_wrong(line: bytes, kind: str, code: int, number: object) -> None:
    check(line, kind, code, number)


def test_a_request_is_read_with_its_params_untouched() -> None:
    (request,) = Feed().feed(call("event.append", b'{ "b": 1.50, "a": "\xe4\xb8\xad" }') + b"\r\n")

    assert isinstance(request, Request)
    assert (request.id, request.method, bytes(request.params)) == (
        1,
        "event.append",
        b'{ "b": 1.50, "a": "\xe4\xb8\xad" }',
    )


@pytest.mark.parametrize("params", [b"", b',"params":null'])
def test_params_may_be_absent(params: bytes) -> None:
    message = read_line(HELLO[:-1] + params + b"}")

    assert isinstance(message, Request)
    assert bytes(message.params) == b"{}"


def test_a_request_without_an_id_is_a_notification() -> None:
    message = read_line(b'{"jsonrpc":"2.0","method":"a"}')

    assert isinstance(message, Request)
    assert message.id is None


def test_empty_lines_are_no_messages() -> None:
    assert Feed().feed(b"\n\r\n   \t\n") == []


# -------------------------------------------------------------------------------------------------------------- depth


@pytest.mark.parametrize(
    ("document", "deep"),
    [
        (b"[" * DEPTH + b"]" * DEPTH, False),
        (b"[" * (DEPTH + 1) + b"]" * (DEPTH + 1), True),
        (b'[{"a":' * 32 + b"1" + b"}]" * 32, False),
        (b'[{"a":' * 33 + b"1" + b"}]" * 33, True),
        (b"[" + b"[],{}," * 500 + b"1]", False),
        (b'["' + b"[" * 500 + b'"]', False),
        (b'["a\\"' + b"[" * 500 + b'"]', False),
        (b'["\\\\",' + b"[" * 80 + b"]" * 80 + b"]", True),
        (b'["\\\\\\"[[","]]"' + b',"","[["' * 100 + b"]", False),
        (b'{"a":"\\\\","b":"' + b"{" * 200 + b'"}', False),
    ],
)
def test_depth_counts_structure_and_not_text(document: bytes, deep: bool) -> None:
    json.loads(document)

    assert too_deep(document) is deep


def _depth(value: object) -> int:
    match value:
        case dict():
            return 1 + max((_depth(item) for item in value.values()), default=0)
        case list():
            return 1 + max((_depth(item) for item in value), default=0)
        case _:
            return 0


_texts = st.text(alphabet='[]{}"\\a', max_size=8)
_values = st.recursive(
    st.none() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=40,
)


@given(_values, st.integers(min_value=0, max_value=2 * DEPTH))
def test_depth_agrees_with_a_parser(value: Any, more: int) -> None:
    for _ in range(more):
        value = [value, "["]

    assert too_deep(json.dumps(value).encode()) is (_depth(value) > DEPTH)


# --------------------------------------------------------------------------------------------------------------- feed


def _fed(pieces: list[bytes], limit: int) -> list[object]:
    feed = Feed(limit)
    found = [message for piece in pieces for message in feed.feed(piece)]
    return [_plain(message) for message in found]


def _plain(message: protocol.Message) -> object:
    if isinstance(message, Request):
        return message.id, message.method, bytes(message.params)
    return message


_lines = st.lists(
    st.sampled_from([HELLO, call(), b"", b"junk", b"[]", b'{"a":"\xe4\xb8\xad"}', b"x" * 60, b"y" * 61, b"\xff"]),
    max_size=12,
)


@given(_lines, st.lists(st.integers(min_value=0, max_value=400), max_size=20), st.booleans())
def test_how_the_bytes_are_cut_changes_no_message(lines: list[bytes], cuts: list[int], ended: bool) -> None:
    stream = b"\n".join(lines) + (b"\n" if ended else b"")
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    pieces = [stream[begin:end] for begin, end in itertools.pairwise(places)]

    assert _fed(pieces, 60) == _fed([stream], 60) == _fed([bytes([byte]) for byte in stream], 60)


@pytest.mark.promise("bad-input")
def test_a_line_beyond_the_limit_is_the_last_message_and_is_not_kept() -> None:
    feed = Feed()
    assert [feed.feed(b"x" * 262_144) for _ in range(4)] == [[], [], [], []]
    (message,) = feed.feed(b"x")

    assert message == TooLarge(limit=FRAME_BYTES)
    assert message.fault().kind == "frame-too-large"
    assert feed.feed(b"\n" + HELLO + b"\n") == []
    assert feed.partial == 0


def test_a_line_of_exactly_the_limit_is_read() -> None:
    padded = HELLO + b" " * (FRAME_BYTES - len(HELLO)) + b"\n"

    assert isinstance(Feed().feed(padded)[0], Request)


def test_large_frames_are_read_once_they_were_agreed() -> None:
    feed = Feed()
    feed.enlarge()
    text = b'{"t":"' + b"x" * (LARGE_FRAME_BYTES - 200) + b'"}'

    assert isinstance(feed.feed(call(params=text) + b"\n")[0], Request)
    assert feed.feed(b"y" * (LARGE_FRAME_BYTES + 1)) == [TooLarge(limit=LARGE_FRAME_BYTES)]


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize("document", [*json_suite(), *frames()], ids=lambda record: record[0])
def test_no_document_breaks_the_feed(document: tuple[str, str, bytes]) -> None:
    kind, _, data = document
    feed = Feed()

    messages = feed.feed(data + b"\n")

    assert not any(isinstance(message, Request) for message in messages), "none of them is a JSON-RPC request"
    if not any(isinstance(message, TooLarge) for message in messages):
        assert isinstance(feed.feed(HELLO + b"\n")[-1], Request), kind


@pytest.mark.parametrize("document", [*json_suite()], ids=lambda record: record[0])
def test_params_are_json_exactly_when_the_suite_says_so(document: tuple[str, str, bytes]) -> None:
    kind, expect, data = document

    message = read_line(call(params=b'{"v":' + data + b"}").replace(b"\n", b" "))

    if expect == "well_formed":
        assert isinstance(message, Request), kind
    elif expect == "reject" and not any(mark in kind for mark in ("newline", "new_line", "structure_close_unopened")):
        assert isinstance(message, Malformed), kind


# ---------------------------------------------------------------------------------------------------- params, answers


class Wanted(Frozen, frozen=True, kw_only=True):
    session_id: str
    limit: int = 5


@pytest.mark.parametrize(
    ("params", "field"),
    [
        (b"{}", "sessionId"),
        (b'{"sessionId":4}', "$.sessionId"),
        (b'{"sessionId":"a","limit":"x"}', "$.limit"),
        (b"[]", "array"),
    ],
)
def test_wrong_params_name_the_field(params: bytes, field: str) -> None:
    request = Request(id=1, method="m", params=msgspec.Raw(params))

    with pytest.raises(ProtocolFault, match="m: ") as caught:
        decode_params(request, Wanted)

    assert (caught.value.kind, caught.value.code) == ("invalid-params", -32602)
    assert field in caught.value.problem


def test_right_params_are_typed_and_unknown_fields_ignored() -> None:
    request = Request(id=1, method="m", params=msgspec.Raw(b'{"sessionId":"a","later":1}'))

    assert decode_params(request, Wanted) == Wanted(session_id="a")


def test_answers_are_one_line_each() -> None:
    embedded = {"payload": msgspec.Raw(b'{\n "a": "x\\n"}')}

    assert protocol.result(3, embedded) == b'{"jsonrpc":"2.0","id":3,"result":{"payload":{  "a": "x\\n"}}}\n'
    assert protocol.notification("n", {"b": 1}) == b'{"jsonrpc":"2.0","method":"n","params":{"b":1}}\n'


def test_an_error_says_kind_problem_and_what_to_do() -> None:
    answer = json.loads(protocol.fault("x", ProtocolFault("conflict", "It differs.", "Send another.", -32010)))

    assert answer["id"] == "x"
    assert answer["error"]["code"] == -32010
    assert answer["error"]["data"] == {"kind": "conflict", "problem": "It differs.", "next": "Send another."}


def test_an_unknown_method_is_named() -> None:
    fault = protocol.unknown_method(Request(id=1, method="no.such", params=msgspec.Raw(b"{}")))

    assert (fault.kind, fault.code) == ("unknown-method", -32601)
    assert "no.such" in fault.problem


@pytest.mark.parametrize("text", ["a", "0b1c2d3e-1111-2222", "msg:12/3", "x@y.z", "call|fc_1", "a=b+c~d#e"])
def test_an_id_may_be(text: str) -> None:
    assert protocol.IDENTIFIER.fullmatch(text)


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize("text", ["", " a", "a\n", "a\0", "%", "a*", "../a", "a/../b", ".a", "/a", "\u202e", "x" * 129])
def test_an_id_may_not_be(text: str) -> None:
    assert not protocol.IDENTIFIER.fullmatch(text)


def test_the_helper_of_these_tests_makes_requests() -> None:
    assert isinstance(Feed().feed(append(b"{}"))[0], Request)
