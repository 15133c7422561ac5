"""JSON text edited in place: what goes in comes out, and nothing else moves."""

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.setup.json_text import Node, cut, has_notes, insert, plain, scan, value_of
from tests.support.json_texts import TEXTS

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
        ("{}", '{\n  "k": [1]\n}'),
        ('{"a":1}', '{"a":1, "k": [1]}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": [1]\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "k": [1]\r\n}'),
    ],
)
def test_a_member_is_written_as_the_text_is(before: str, after: str) -> None:
    assert insert(before, scan(before), [1], "k") == after


def test_the_outermost_objects_stand_over_lines_and_what_is_in_them_on_one() -> None:
    text = '{\r\n\t"a": 1\r\n}'
    after = insert(text, scan(text), {"b": {"c": [{"d": 2}], "e": {"f": 3}}, "g": {}}, "k", opened=2)

    said = ["{", '\t"a": 1,', '\t"k": {', '\t\t"b": {', '\t\t\t"c": [{"d": 2}],', '\t\t\t"e": {"f": 3}', "\t\t},"]
    assert after.split("\r\n") == [*said, '\t\t"g": {}', "\t}", "}"]
    assert cut(after, scan(after), 1) == text


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


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a":1,,}', "{,}", "[,]", '{"a":,}', "{'a':1}", '{"a":NaN}', "[" * 100_000, "{} {}", "/* {}", "// x"],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        scan(text)


# ------------------------------------------------------------------------------------- comments and trailing commas


def containers(node: Node) -> Iterator[Node]:
    if node.opened:
        yield node
        for item in node.items:
            yield from containers(item.value)


def notes(text: str) -> list[str]:
    found = re.finditer(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', text, re.DOTALL)
    return [match[0].strip() for match in found if not match[0].startswith('"')]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "k": 2\n}'),
        ('{\n  "a": 1, // one\n}', '{\n  "a": 1, // one\n  "k": 2,\n}'),
        ('{\n  "a": 1 /* one */ // two\n  // three\n}', '{\n  "a": 1, /* one */ // two\n  "k": 2\n  // three\n}'),
        ('{"a": 1 /* one */}', '{"a": 1, /* one */ "k": 2}'),
        ('{"a": 1 // one\n}', '{"a": 1, // one\n"k": 2\n}'),
        ("{\n  // none yet\n}", '{\n  // none yet\n  "k": 2\n}'),
        ("{ /* none */ }", '{ /* none */\n  "k": 2 }'),
        ('// first\n{\n\t/* a */ "a": 1,\n}\n', '// first\n{\n\t/* a */ "a": 1,\n\t"k": 2,\n}\n'),
    ],
)
def test_an_entry_goes_after_the_comment_of_the_one_before(before: str, after: str) -> None:
    assert insert(before, scan(before), 2, "k") == after
    tree = scan(after)
    assert cut(after, tree, len(tree.items) - 1) == before


@given(TEXTS, st.data())
def test_what_was_put_into_any_text_can_be_cut_out_again(before: str, data: st.DataObject) -> None:
    container = data.draw(st.sampled_from(list(containers(scan(before)))))
    key = "ours" if container.opened == "{" else None

    after = insert(before, container, {"x": [1]}, key)

    grown = next(one for one in containers(scan(after)) if one.start == container.start)
    number = len(grown.items) - 1 if key is None else grown.at(key)
    assert number is not None and value_of(after, grown.items[number].value) == {"x": [1]}
    assert notes(after) == notes(before)
    assert cut(after, grown, number) == before


@given(TEXTS, st.data())
def test_a_cut_takes_one_item_and_no_comment_around_it(before: str, data: st.DataObject) -> None:
    filled = [one for one in containers(scan(before)) if one.items]
    if not filled:
        return
    container = data.draw(st.sampled_from(filled))
    number = data.draw(st.integers(0, len(container.items) - 1))

    after = cut(before, container, number)

    left = next(one for one in containers(scan(after)) if one.start == container.start)
    kept = [item for place, item in enumerate(container.items) if place != number]
    assert [value_of(after, item.value) for item in left.items] == [value_of(before, item.value) for item in kept]
    gone = container.items[number]
    assert notes(after) == notes(before[: gone.start]) + notes(before[gone.value.end :])


def test_the_plain_text_is_strict_and_every_character_stands_where_it_stood() -> None:
    text = '{"a": "// no, }", /* {,} */ "b": [1, 2 ,\n // c\n ], }'

    bare = plain(text)

    assert json.loads(bare) == {"a": "// no, }", "b": [1, 2]}
    assert len(bare) == len(text) and all(one in (other, " ") for one, other in zip(bare, text, strict=True))
    assert plain(bare) == bare


def test_whether_comments_stand_inside_a_node_is_known() -> None:
    text = '{"a": {"u": "http://x.test"}, "b": [1, /* c */ 2]}'
    tree = scan(text)
    assert [has_notes(text, item.value) for item in tree.items] == [False, True]
    assert value_of(text, tree.items[1].value) == [1, 2]
