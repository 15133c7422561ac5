"""What every adapter keeps, whatever its host: new lines of the table join by themselves."""

import json

import pytest

from host.adapters import ADAPTERS, Adapter
from host.capability import hosts
from host.contracts import Heard, Surface
from host.errors import ProtocolFault

EVERY = pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())


@EVERY
@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b'"text"', b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_object_is_a_bad_payload_that_says_what_is_wrong(adapter: Adapter, raw: bytes) -> None:
    with pytest.raises(ProtocolFault) as caught:
        adapter.decode(raw)
    assert caught.value.kind == "bad-payload"
    assert caught.value.problem


@EVERY
@pytest.mark.parametrize("event", ["", "AnEventOfTomorrow", "SessionStart"])
@pytest.mark.parametrize("text", [None, "", "x" * 100_000])
def test_an_answer_is_nothing_or_one_line_of_json(adapter: Adapter, event: str, text: str | None) -> None:
    heard = Heard(envelopes=(), session_id="s", agent_id="main", event=event, surface=Surface.SESSION_START)
    answer = adapter.encode(heard, text)
    assert answer == b"" or (b"\n" not in answer and isinstance(json.loads(answer), dict))


def test_every_adapter_has_a_capability() -> None:
    assert set(ADAPTERS) <= set(hosts())
