"""A request that cannot be taken is refused before any call, with a code for each reason."""

from typing import Any

import msgspec
import pytest

from governance.formation.contracts import EvidenceRef, Limits
from governance.formation.errors import ParameterFault
from governance.formation.requests import check, request_of
from tests.support.noting import a_message, a_request, a_setting

CONTINUATION = {
    "format": "f",
    "algorithmVersion": "a",
    "promptHash": "p",
    "scopeKey": "s",
    "streamId": "t",
    "modelId": "m",
    "windowDigest": "w",
    "snapshotDigest": "d",
    "nextIndex": 0,
}


def raw(**fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(a_request(a_message(1), a_message(2))))
    return {name: value for name, value in plain.items() if value is not None} | fields


def code_of(given: dict[str, Any]) -> str:
    with pytest.raises(ParameterFault) as fault:
        request_of(given)
    return fault.value.code


def with_message(**fields: Any) -> dict[str, Any]:
    given = raw()
    given["messages"][1] = {name: value for name, value in {**given["messages"][1], **fields}.items() if value != "-"}
    return given


def test_a_request_is_read_as_it_was_written() -> None:
    assert request_of(raw()) == a_request(a_message(1), a_message(2))
    assert request_of(raw(startIndex=2, maxNewMessages=100, maxBackgroundMessages=0)).start_index == 2


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (raw(mode="code"), "unknown-field"),
        (raw(strategy="compress"), "unknown-field"),
        (raw(conflictRecallTopK=3), "unknown-field"),
        (raw(limits={"maxTokens": 3}), "unknown-field"),
        (with_message(sender="x"), "unknown-field"),
        (with_message(role="system"), "unknown-role"),
        (with_message(role=3), "unknown-role"),
        (with_message(timestamp="2026-11-30"), "bad-timestamp"),
        (with_message(timestamp=1.5), "bad-timestamp"),
        (with_message(timestamp=-1), "bad-timestamp"),
        (with_message(timestamp=True), "bad-timestamp"),
        (with_message(timestamp="-"), "bad-timestamp"),
        (with_message(timestamp=2**60), "bad-timestamp"),
        (with_message(evidence=[]), "empty-evidence"),
        (with_message(evidence="-"), "empty-evidence"),
        (with_message(evidence=[{"id": " ", "version": 1}]), "empty-evidence"),
        (with_message(id="m1"), "duplicate-message-id"),
        (with_message(id=""), "bad-request"),
        (with_message(content=7), "bad-request"),
        (raw(maxNewMessages=0), "limits-out-of-range"),
        (raw(maxNewMessages=101), "limits-out-of-range"),
        (raw(maxBackgroundMessages=21), "limits-out-of-range"),
        (raw(maxBackgroundMessages=-1), "limits-out-of-range"),
        (raw(limits={"maxInputChars": 0}), "limits-out-of-range"),
        (raw(limits={"maxOutputTokens": 0}), "limits-out-of-range"),
        (raw(limits={"timeoutMs": 0}), "limits-out-of-range"),
        (raw(startIndex=3), "limits-out-of-range"),
        (raw(startIndex=-1), "limits-out-of-range"),
        (raw(startIndex=0, continuation=CONTINUATION), "start-and-continuation"),
        (raw(scopeKey=" "), "bad-request"),
        (raw(messages="none"), "bad-request"),
    ],
)
def test_each_fault_of_a_request_has_its_code(given: dict[str, Any], code: str) -> None:
    assert code_of(given) == code


def test_a_request_out_of_code_is_checked_the_same_way() -> None:
    for request, code in [
        (a_request(a_message(1, evidence=())), "empty-evidence"),
        (a_request(a_message(1, role="robot")), "unknown-role"),
        (a_request(a_message(1, timestamp=None)), "bad-timestamp"),
        (a_request(msgspec.structs.replace(a_message(1), content="half \ud83d")), "bad-content"),
        (a_request(a_message(1), a_message(1)), "duplicate-message-id"),
        (a_request(a_message(1), limits=Limits(timeout_ms=0)), "limits-out-of-range"),
        (a_request(a_message(1), max_new_messages=True), "limits-out-of-range"),
    ]:
        with pytest.raises(ParameterFault) as fault:
            check(request)
        assert fault.value.code == code


def test_an_empty_conversation_is_a_request() -> None:
    check(a_request())
    check(a_request(a_message(1, evidence=(EvidenceRef(id="e", version=0),))))
    assert a_setting().prompt.id == "notes"
