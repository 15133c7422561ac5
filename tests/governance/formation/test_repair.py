"""Where JSON ends, what is whole of it when it was cut, and what is set right."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.repair import Cut, cut_of, end_of, mended

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ('x {"a": "}"} y', 2, 12),
        ('["\\"]"]', 0, 7),
        ("[[1], {}]", 0, 9),
        ("[1}", 0, None),
        ('["a]', 0, None),
        ("[", 0, None),
    ],
)
def test_a_value_ends_at_its_own_bracket(text: str, start: int, end: int | None) -> None:
    assert end_of(text, start) == end


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ('[1, "a", [2', Cut('[1, "a"]', '[1, "a", []]', True)),
        ('{"a": 1, "b": [1, {"c": 2', Cut('{"a": 1, "b": [1]}', '{"a": 1, "b": [1, {}]}', True)),
        ('{"a": {"b": 1}, "c', Cut('{"a": {"b": 1}}', '{"a": {"b": 1}}', True)),
        ('["abc', Cut(None, "[]", False)),
        ('{"notes": [', Cut('{"notes": []}', '{"notes": []}', True)),
        ("[1]", None),
        ("[1}", None),
    ],
)
def test_of_a_cut_value_the_whole_part_is_kept(text: str, cut: Cut | None) -> None:
    assert cut_of(text, 0) == cut


def test_what_is_right_is_left_alone() -> None:
    text = '{"priority": 3, "a": ["x, ]", "\\ud83d\\ude00", "\\\\ud83d", "\\n"], "b": "priority"}'
    assert mended(text) == (text, ())


def test_all_that_is_wrong_is_set_right_in_one_round() -> None:
    better, repairs = mended('{"priority": high, "a": "1\n\\d\\udc00",}')
    assert json.loads(better) == {"priority": 50, "a": "1\n\\d\ufffd"}
    assert repairs == ("bare-priority", "control-characters", "escape", "lone-surrogate", "trailing-comma")


@given(VALUES)
def test_any_json_ends_where_it_ends_and_needs_no_repair(value: object) -> None:
    text = json.dumps([value])
    assert end_of(f"{text} and so on]", 0) == len(text)
    assert json.loads(mended(text)[0]) == json.loads(text.encode("utf-8", "replace"))


@given(st.lists(VALUES, min_size=1), st.integers(0))
def test_any_cut_list_closes_to_json_of_its_first_elements(values: list[object], place: int) -> None:
    text = json.dumps(values)
    cut = cut_of(text[: 1 + place % (len(text) - 1)], 0)
    assert cut is not None
    json.loads(cut.closed)
    if cut.whole is not None:
        whole = json.loads(cut.whole)
        assert whole == json.loads(text)[: len(whole)]


@given(st.text(alphabet='{}[]",:\\a\n '))
def test_any_text_is_mended_to_something(text: str) -> None:
    better, repairs = mended(text)
    assert (better == text) == (repairs == ())
