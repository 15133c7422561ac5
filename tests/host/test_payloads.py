"""Payloads as stored: bounded, without secrets, blobs described; what needs nothing stays byte for byte."""

import base64
import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.contracts import Finding
from governance.screen import redact as screened
from host.payloads import MARGIN, NODES, PAYLOAD_BYTES, PayloadFault, bound, mend
from recall.canonical import text_digest

SECRET = re.compile(r"hush-\d+|(?<=password: )\S+")


def redact(text: str) -> tuple[str, tuple[Finding, ...]]:
    """A screen that knows two kinds of secrets."""
    return SECRET.sub("[secret:test]", text), ()


def stored(payload: object) -> Any:
    raw = bound(json.dumps(payload).encode(), redact)
    assert len(raw) <= PAYLOAD_BYTES
    return json.loads(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{ "text" : "two  spaces", "ratio": 1.50, "big": 12345678901234567890 }',
        '{"text":"日本語 \\u0000 \\n 👍"}'.encode(),
        b'{"text":"/a/long/path/with/many/parts/and/no/space/' + b"x" * 400 + b'"}',
        b'{"text":"' + b"word " * 2000 + b'"}',
        b'{"text":"' + b"=" * 3000 + b'"}',
    ],
    ids=lambda raw: raw[:24].decode("utf-8", "replace"),
)
def test_what_fits_and_is_harmless_is_stored_as_it_came(raw: bytes) -> None:
    assert bound(raw, redact) == raw


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"text": "it is hush-12."}, {"text": "it is [secret:test]."}),
        ({"calls": [{"env": {"password": "sesame"}}]}, {"calls": [{"env": {"password": "[secret:test]"}}]}),
        ({"a": "hush-1", "b": ["hush-2", 5, None]}, {"a": "[secret:test]", "b": ["[secret:test]", 5, None]}),
    ],
)
def test_secrets_are_replaced_wherever_they_stand(payload: object, expected: object) -> None:
    assert stored(payload) == expected


def encoded(size: int) -> str:
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (
            {"source": {"type": "base64", "media_type": "image/png", "data": encoded(3000)}},
            {"source": {"type": "base64", "media_type": "image/png", "data": "[image/png, 3000 bytes, sha256 …]"}},
        ),
        (
            {"data": encoded(300), "mimeType": "audio/wav"},
            {"data": "[audio/wav, 300 bytes, sha256 …]", "mimeType": "audio/wav"},
        ),
        (
            {"text": f"see data:image/png;base64,{encoded(100)} there"},
            {"text": "see [image/png, 100 bytes, sha256 …] there"},
        ),
        ({"text": f"a file: {encoded(2000)} end"}, {"text": "a file: [base64, 2000 bytes, sha256 …] end"}),
    ],
)
def test_images_and_base64_give_way_to_a_descriptor(payload: object, expected: object) -> None:
    said = json.dumps(stored(payload))

    assert json.loads(re.sub(r"sha256 [0-9a-f]{32}", "sha256 …", said)) == expected


def test_wrapped_base64_is_described_too() -> None:
    lines = base64.encodebytes(random.Random(1).randbytes(2000)).decode()

    assert re.fullmatch(
        r"-- \n\[base64, \d+ bytes, sha256 [0-9a-f]{32}\] --",
        stored({"text": f"-- \n{lines} --"})["text"].replace("\n ", " "),
    )


def test_a_long_text_keeps_head_and_tail_and_says_what_it_lost() -> None:
    text = "begin " + "line of text\n" * 20_000 + " end"

    kept = stored({"tool": "shell", "text": text})

    assert kept["text"].startswith("begin line") and kept["text"].endswith("text\n end")
    assert re.search(r"\n\[… \d+ characters left out …\]\n", kept["text"])
    assert kept["truncated"] == [{"field": "text", "originalBytes": len(text), "digest": text_digest(text)}]
    assert kept["tool"] == "shell"
    assert len(json.dumps(kept)) > PAYLOAD_BYTES // 2, "most of the room is used"


def test_only_the_long_texts_are_cut() -> None:
    kept = stored({"calls": [{"out": "a b " * 40_000}, {"out": "short"}], "more": "c d " * 30_000})

    assert [note["field"] for note in kept["truncated"]] == ["calls[0].out", "more"]
    assert kept["calls"][1] == {"out": "short"}


def test_a_secret_at_the_cut_is_not_cut_in_two() -> None:
    filler = "word " * 40_000
    for place in (PAYLOAD_BYTES - 3, PAYLOAD_BYTES, PAYLOAD_BYTES + MARGIN - 20):
        text = filler[:place] + " hush-123456789 " + filler
        assert "hush" not in stored({"text": text})["text"]


@pytest.mark.parametrize(
    "payload",
    [
        {f"key{number}": "v" for number in range(NODES + 1)} | {"text": "hush-1"},
        {"deep": [[number] for number in range(60_000)], "text": "hush-1", "ok": True},
        {f"k{number}": number for number in range(60_000)},
        {"x" * 70_000: "hush-1"},
    ],
    ids=["texts", "lists", "numbers", "key"],
)
def test_a_payload_that_is_all_structure_keeps_its_first_short_fields(payload: dict[str, object]) -> None:
    kept = stored(payload)

    assert kept["truncated"][0]["field"] == "$"
    assert "hush" not in json.dumps(kept)
    assert len(kept) > 1


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"[]", "object"),
        (b'"x"', "object"),
        (b"{", "JSON"),
        (b'{"a":1e999}', "JSON"),
        (b'{"a":"\\ud800"}', "JSON"),
        (b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", "deeper"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "deeper"),
    ],
)
def test_a_payload_that_cannot_be_stored_says_why(raw: bytes, why: str) -> None:
    with pytest.raises(PayloadFault, match=why):
        bound(raw, redact)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=8), _json, max_size=6), st.integers(0, 3), st.integers(0, 30_000))
def test_the_stored_form_is_bounded_json_and_binding_again_changes_nothing(
    payload: dict[str, object], copies: int, size: int
) -> None:
    payload |= {f"text{number}": "äb c" * size for number in range(copies)}
    raw = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")

    once = bound(raw, redact)

    assert len(once) <= PAYLOAD_BYTES
    assert isinstance(json.loads(once), dict)
    assert bound(once, redact) == once


@pytest.mark.parametrize(
    ("raw", "mended"),
    [
        (rb'{"a":"\ud83d"}', {"a": "\ufffd"}),
        (rb'{"a":"\uDE00 \ud83d\ude00"}', {"a": "\ufffd 😀"}),
        (rb'{"a":"\\ud83d"}', {"a": "\\ud83d"}),
        (rb'{"a":"\\\ud83d."}', {"a": "\\\ufffd."}),
        (b'{"a":"\xff\xe4\xb8\xad"}', {"a": "\ufffd中"}),
        (b'{"a":"plain"}', {"a": "plain"}),
    ],
)
def test_hosts_json_that_is_none_is_mended(raw: bytes, mended: object) -> None:
    assert json.loads(mend(raw)) == mended


TOKEN = "gh" + "p_" + "aB3d" * 9


@pytest.mark.promise("no-secret-kept")
@pytest.mark.parametrize(
    "raw",
    [
        f'{{"{TOKEN}": 1}}',
        f'{{"a": {{"b": [{{"{TOKEN}": []}}]}}}}',
        f'{{"a": "{TOKEN}", "a": "harmless"}}',
        f'{{"a":"{TOKEN}","a":"harmless"}}',
        f'{{"a" :"{TOKEN}","a":"harmless"}}',
        f'{{"a":"{TOKEN}","a":"x","b\\\\":"y"}}',
        '{"phone": 13800138000}',
        '{"rows": [{"card": 4111111111111111}]}',
    ],
)
def test_a_key_a_number_and_a_value_that_nobody_reads_are_looked_at_too(raw: str) -> None:
    kept = bound(raw.encode(), screened)
    assert not any(value in kept for value in (TOKEN.encode(), b"13800138000", b"4111111111111111"))
    json.loads(kept)


def test_large_numbers_and_long_keys_that_are_none_stay_as_they_are() -> None:
    raw = b'{ "a_key_of_some_length" : 1795910400500, "n": 12345678901234567890, "t": "a \\": b" }'
    assert bound(raw, screened) == raw
