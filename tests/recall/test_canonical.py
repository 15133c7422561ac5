"""recall/canonical.py: one text for one value, or a clear refusal."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.canonical import MAX_INT, NotCanonical, bytes_digest, canonical, digest, keyed, short_id, text_digest
from recall.contracts import Scope, ScopeRef


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        ({"é": 1, "z": 2}, '{"z":2,"é":1}'),
        ("e\u0301", '"é"'),
        ({"e\u0301": "e\u0301"}, '{"é":"é"}'),
        (Scope.USER, '"User"'),
        (ScopeRef(kind=Scope.USER, key="user"), '{"key":"user","kind":"User"}'),
        ((1, 2), "[1,2]"),
        (MAX_INT, str(MAX_INT)),
        ("a/b\n\u0001", '"a/b\\n\\u0001"'),
    ],
)
def test_a_value_has_one_canonical_text(value: object, expected: str) -> None:
    assert canonical(value).decode() == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1.5]}, r"\$\.a\[0\]: float"),
        (MAX_INT + 1, "outside"),
        (-MAX_INT - 1, "outside"),
        ({"a": "\ud800"}, r"\$\.a: .*lone surrogate"),
        ({"\u00e9": 1, "e\u0301": 2}, "equal after NFC"),
    ],
)
def test_a_value_without_a_canonical_text_is_refused_by_name(value: object, said: str) -> None:
    with pytest.raises(NotCanonical, match=said):
        canonical(value)


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | _text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), inner),
    max_leaves=12,
)


@pytest.mark.promise("deterministic")
@given(_json)
def test_the_order_of_keys_does_not_matter_and_reading_back_changes_nothing(value: Any) -> None:
    text = canonical(value)
    assert canonical(_reversed(value)) == text
    assert canonical(json.loads(text)) == text


def _reversed(value: Any) -> Any:
    match value:
        case dict():
            return {key: _reversed(value[key]) for key in reversed(value)}
        case list():
            return [_reversed(item) for item in value]
        case _:
            return value


def test_digests_are_64_lowercase_hex_digits_of_the_exact_bytes() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert bytes_digest(b"") == text_digest("") == empty
    assert digest({"a": 1}) == bytes_digest(b'{"a":1}')
    assert text_digest("e\u0301") != text_digest("é")  # of the bytes as they are
    assert digest("e\u0301") == digest("é")


def test_a_keyed_digest_depends_on_the_key() -> None:
    assert keyed(b"one", b"data") != keyed(b"two", b"data")
    assert len(keyed(b"one", b"data")) == 64


def test_a_short_id_is_its_prefix_and_32_digits() -> None:
    assert short_id("seg_", [1]) == "seg_" + digest([1])[:32]
