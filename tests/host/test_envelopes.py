"""Envelopes as they come in: what is refused, and under which name."""

import hashlib
import json
from typing import Any

import msgspec
import pytest

from host.envelopes import EventsParams, check, check_digest, read_events
from host.errors import ProtocolFault
from host.protocol import Request
from recall.contracts import EventEnvelope
from tests.support.builders import a_prompt


def sent(**fields: Any) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "sessionId": "s1",
        "agentId": "main",
        "workspace": "/w",
        "channel": "session",
        "eventType": "user/message",
        "timestamp": 1_795_910_400_000,
        "sourceKind": "user",
        "payload": {"text": "hi"},
    } | fields


def request(*events: object) -> Request:
    return Request(id=1, method="event.append", params=msgspec.Raw(json.dumps({"events": events}).encode()))


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in sent().items() if key != name}


def test_events_are_read_with_their_payload_as_sent() -> None:
    params = read_events(request(sent(eventId="e1", futureField=1)), EventsParams)

    assert isinstance(params.events[0], EventEnvelope)
    assert params.events[0].event_id == "e1"
    assert bytes(params.events[0].payload) == b'{"text": "hi"}'


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([without("sessionId")], "no-owner"),
        ([without("agentId")], "no-owner"),
        ([sent(), sent(sessionId=None)], "no-owner"),
        ([sent(agentId=7)], "no-owner"),
        ([without("schemaVersion")], "unsupported-schema"),
        ([sent(schemaVersion="1")], "unsupported-schema"),
        ([sent(schemaVersion=True)], "unsupported-schema"),
        ([{"schemaVersion": 2, "owner": "s1"}], "unsupported-schema"),
        ([without("payload")], "invalid-params"),
        ([without("workspace")], "invalid-params"),
        ([sent(sourceKind="USER")], "invalid-params"),
        ([sent(timestamp="yesterday")], "invalid-params"),
        ([sent(eventSeq=1.5)], "invalid-params"),
        ([sent()] * 257, "invalid-params"),
        ([], "invalid-params"),
        (["x"], "invalid-params"),
    ],
)
def test_events_that_cannot_be_read_are_refused_by_kind(events: list[object], kind: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        read_events(request(*events), EventsParams)

    assert (caught.value.kind, caught.value.code) == (kind, -32602)


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"schema_version": 0}, "unsupported-schema"),
        ({"session_id": ""}, "no-owner"),
        ({"agent_id": ""}, "no-owner"),
        ({"session_id": "a\0b"}, "invalid-params"),
        ({"session_id": "../../etc"}, "invalid-params"),
        ({"agent_id": "a b"}, "invalid-params"),
        ({"event_id": "%"}, "invalid-params"),
        ({"call_id": "a\nb"}, "invalid-params"),
        ({"message_id": "é"}, "invalid-params"),
        ({"root_call_id": "x" * 129}, "invalid-params"),
        ({"event_type": ""}, "invalid-params"),
        ({"event_type": "x" * 65}, "invalid-params"),
        ({"workspace": "/a\0b"}, "invalid-params"),
        ({"workspace": "/" * 4097}, "invalid-params"),
        ({"timestamp": 2**53}, "invalid-params"),
        ({"event_seq": -1}, "invalid-params"),
        ({"native_seq": 2**63}, "invalid-params"),
        ({"turn": -1}, "invalid-params"),
        ({"step": 2**53}, "invalid-params"),
    ],
)
def test_an_envelope_is_checked_whoever_made_it(fields: dict[str, Any], kind: str) -> None:
    with pytest.raises(ProtocolFault) as caught:
        check(msgspec.structs.replace(a_prompt("hi"), **fields))

    assert caught.value.kind == kind


@pytest.mark.parametrize("fields", [{}, {"workspace": ""}, {"timestamp": -1}, {"event_type": "their/own-Type.2"}])
def test_what_is_odd_but_harmless_passes(fields: dict[str, Any]) -> None:
    check(msgspec.structs.replace(a_prompt("hi"), **fields))


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_a_producers_own_digest_is_verified_over_the_bytes_as_sent(prefix: str) -> None:
    payload = b'{"text":  "two spaces"}'
    said = prefix + hashlib.sha256(payload).hexdigest()
    envelope = msgspec.structs.replace(a_prompt("hi"), payload_digest=said)

    check_digest(envelope, payload)
    with pytest.raises(ProtocolFault, match="payloadDigest"):
        check_digest(envelope, b'{"text": "two spaces"}')
