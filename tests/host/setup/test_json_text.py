"""JSON text edited in place: what goes in comes out, and nothing else moves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.setup.json_text import cut, insert, scan

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=3)
WRITERS = st.sampled_from(
    [
        json.dumps,
        lambda value: json.dumps(value, indent=2),
        lambda value: json.dumps(value, indent="\t") + "\n",
        lambda value: json.dumps(value, indent=4, ensure_ascii=False).replace("\n", "\r\n"),
        lambda value: "\ufeff" + json.dumps(value, indent=0),
        lambda value: f"\n {json.dumps(value, separators=(',', ':'))} ",
    ]
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ('{"a":1}', '{"a":1, "k": [1]}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": [\n\t\t1\n\t]\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "k": [\r\n        1\r\n    ]\r\n}'),
    ],
)
def test_a_member_is_written_as_the_text_is(before: str, after: str) -> None:
    assert insert(before, scan(before), [1], "k") == after


@given(OBJECTS, WRITERS, JSON)
def test_what_was_put_in_can_be_cut_out_again(value: dict[str, object], write: object, added: object) -> None:
    before = write(value)  # type: ignore[operator]  # one of WRITERS

    after = insert(before, scan(before), added, "added")

    assert json.loads(after.removeprefix("\ufeff")) == value | {"added": added}
    tree = scan(after)
    number = tree.at("added")
    assert number is not None
    assert cut(after, tree, number) == before


@given(st.lists(JSON, max_size=4), WRITERS, JSON)
def test_elements_too_go_in_at_the_end_and_out_again(value: list[object], write: object, added: object) -> None:
    before = write({"list": value})  # type: ignore[operator]  # one of WRITERS
    inner = scan(before).member("list")
    assert inner is not None

    after = insert(before, inner, added)

    assert json.loads(after.removeprefix("\ufeff")) == {"list": [*value, added]}
    grown = scan(after).member("list")
    assert grown is not None
    assert cut(after, grown, len(value)) == before


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), WRITERS, st.data())
def test_any_element_can_be_cut(value: list[int], write: object, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(value) - 1))
    text = write({"list": value})  # type: ignore[operator]  # one of WRITERS
    inner = scan(text).member("list")
    assert inner is not None
    assert json.loads(cut(text, inner, number).removeprefix("\ufeff"))["list"] == value[:number] + value[number + 1 :]


def test_the_last_of_repeated_keys_counts() -> None:
    text = '{"a": [1], "a": [2]}'
    member = scan(text).member("a")
    assert member is not None
    assert text[member.start : member.end] == "[2]"
    assert scan(text).member("b") is None


def test_strings_hide_brackets_and_quotes() -> None:
    text = r'{"a\"}": "]}\\", "b": {"c": -1.5e3}}'
    assert [item.key for item in scan(text).items] == ['a"}', "b"]


@pytest.mark.parametrize("text", ["", "{", '{"a":1,}', "// x\n{}", "{'a':1}", '{"a":NaN}', "[" * 100_000, "{} {}"])
def test_what_is_not_strict_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        scan(text)
