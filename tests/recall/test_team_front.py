"""One grammar for front matter: what is doubtful is a fault, what is read is spelled as it was, and nothing is slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.team_front import (
    DEEPEST,
    MOST_BODY,
    MOST_FRONT,
    MOST_LINE,
    MOST_LINES,
    EntryFault,
    Front,
    read_front,
    read_text,
    spelled,
    value_of,
    write_front,
)

NAMES = ("a", "b", "c")

_texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)


def front(text: str) -> Front:
    made = read_front(text.encode(), NAMES, ("b", "c"))
    assert isinstance(made, Front), made
    return made


def fault(data: bytes) -> tuple[str, int]:
    made = read_front(data, NAMES, ("b", "c"))
    assert isinstance(made, EntryFault), made
    assert made.problem
    return made.code, made.line


def test_a_field_is_a_json_literal_or_a_bare_string() -> None:
    made = front('---\na: 12\nb: no\nc: "x # y"\n---\ntext\n')

    assert made.values == {"a": 12, "b": "no", "c": "x # y"}
    assert (made.body, made.line) == ("text\n", 6)


@pytest.mark.parametrize("word", ["no", "yes", "2026-11-29", "1.2.3", "1e", "~", "don't", "*x", "&y", "發布 流程"])
def test_what_is_no_json_stays_a_string(word: str) -> None:
    assert front(f"---\na: {word}\n---\n").values == {"a": word}


def test_json_goes_on_over_lines_until_its_brackets_balance() -> None:
    made = front('---\na: [\n  {"x": "]"},\n  2\n]\nb: 1\n---\n')

    assert made.values == {"a": [{"x": "]"}, 2], "b": 1}
    assert made.lines == {"a": 2, "b": 6}
    assert write_front(list(made.written.items())) == '---\na: [\n  {"x": "]"},\n  2\n]\nb: 1\n---\n'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ("no-front-matter", 1)),
        (b"text\n", ("no-front-matter", 1)),
        (b"---\na: 1\n", ("not-ended", 1)),
        (b"---\na: 1\n--- \nx", ("not-ended", 1)),
        (b"\xef\xbb\xbf---\na: 1\n---\n", ("bom", 1)),
        (b"---\na: 1\r\n---\n", ("cr", 2)),
        (b"---\na: 1\n---\nx\ry", ("cr", 4)),
        (b"---\na: 1\n---\nx\0y", ("control", 4)),
        (b"---\na: 1\n---\n\xc2\x85", ("control", 4)),
        (b"---\na: 1\n---\n\xff", ("not-utf-8", 4)),
        (b"---\na: 1\n---\nx\n<<<<<<< HEAD\n", ("conflict-markers", 5)),
        (b"---\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n---\n", ("conflict-markers", 2)),
        (b"---\na: 1\nd: 2\n---\n", ("unknown-field", 3)),
        (b"---\n---\n", ("missing-field", 0)),
        (b"---\nb: 2\n---\n", ("missing-field", 0)),
        (b"---\na: 1\na: 2\n---\n", ("duplicate-field", 3)),
        (b"---\nb: 1\na: 2\n---\n", ("wrong-order", 3)),
        (b"---\n\ta: 1\n---\n", ("not-a-field", 2)),
        (b"---\na:1\n---\n", ("not-a-field", 2)),
        (b"---\na: 1\n\n---\n", ("not-a-field", 3)),
        (b"---\n# a comment\na: 1\n---\n", ("not-a-field", 2)),
        (b"---\n<<: {status: approved}\na: 1\n---\n", ("not-a-field", 2)),
        (b"---\na:\n---\n", ("bad-value", 2)),
        (b"---\na: x # y\n---\n", ("bad-value", 2)),
        (b"---\na: #\n---\n", ("bad-value", 2)),
        (b'---\na: "x\n---\n', ("bad-value", 2)),
        (b'---\na: {"x": 1, "x": 2}\n---\n', ("bad-value", 2)),
        (b"---\na: [NaN]\n---\n", ("bad-value", 2)),
        (b"---\na: [1] x\n---\n", ("bad-value", 2)),
        (b"---\na: [1\n---\n", ("bad-value", 2)),
        (b"---\na: [1]]\n---\n", ("bad-value", 2)),
        (b"---\na: " + b"9" * 5_000 + b"\n---\n", ("bad-value", 2)),
        (b"---\na: " + b"[" * (DEEPEST + 1) + b"\n---\n", ("too-deep", 2)),
        (b"---\na: " + b"x" * MOST_LINE + b"\n---\n", ("line-too-long", 2)),
        (b"---\na: [" + b"\n" * MOST_LINES + b"]\n---\n", ("too-many-lines", 0)),
        (b"---\na: " + b"x\n" * (MOST_FRONT // 2 + 1) + b"---\n", ("not-ended", 1)),
        (b"---\na: " + b"x\n" * (MOST_FRONT + 1_000), ("too-large", 0)),
        (b"---\na: 1\n---\n" + b"x" * (MOST_BODY + 1), ("too-large", 0)),
    ],
)
def test_what_is_doubtful_is_a_fault_with_its_line(data: bytes, expected: tuple[str, int]) -> None:
    assert fault(data) == expected


def test_every_bound_can_be_reached() -> None:
    deep = "[" * DEEPEST + "]" * DEEPEST
    long = "x" * (MOST_LINE - len("b: "))
    lines = "\n".join(["[", *['"x",'] * (MOST_LINES - 4), '"x"]'])

    made = front(f"---\na: {deep}\nb: {long}\nc: {lines}\n---\n{'y' * MOST_BODY}")

    assert len(str(made.values["b"])) == MOST_LINE - 3
    assert len(made.body) == MOST_BODY


def test_a_text_that_is_no_file_of_ours_is_still_a_text() -> None:
    assert read_text("發布\n".encode()) == "發布\n"
    assert isinstance(read_text(b"a\r\n"), EntryFault)


@pytest.mark.parametrize("word", ["true", "null", "Yes", "off", "1", "", " x", "a#b", "x:", '"', "發布"])
def test_a_string_that_could_be_taken_for_something_else_is_quoted(word: str) -> None:
    assert spelled(word).startswith(' "')
    assert value_of(spelled(word)) == word


@given(_values)
def test_what_is_spelled_is_read_as_it_was(value: object) -> None:
    """And what is read is written with the same bytes."""
    text = write_front([("a", spelled(value))])
    made = read_front(text.encode(), NAMES, ("b", "c"))

    if isinstance(made, EntryFault):  # deeper, or longer, than it may be
        assert made.code in ("too-deep", "line-too-long")
    else:
        assert made.values == {"a": value}
        assert write_front(list(made.written.items())) == text


@given(st.binary(max_size=200) | st.text(alphabet='-abc:[]{}"\\# \n1', max_size=200).map(str.encode))
def test_whatever_the_bytes_are_they_are_read_or_a_fault(data: bytes) -> None:
    for given_bytes in (data, b"---\n" + data + b"\n---\n"):
        made = read_front(given_bytes, NAMES, ("b", "c"))

        if isinstance(made, Front):
            assert f"{write_front(list(made.written.items()))}{made.body}".encode() == given_bytes


@pytest.mark.parametrize(
    "row",
    [b"a: " + b"[" * 8_000, b'a: ["' + b"\\a" * 4_000, b"a: " + b'{"x":' * 1_000, b"a: [" + b'"x",' * 2_000],
)
def test_a_bomb_is_a_fault_at_its_first_doubtful_line(row: bytes) -> None:
    code, line = fault(b"---\n" + b"\n".join([row] * 7) + b"\n---\n")

    assert code in ("too-deep", "bad-value")
    assert line in (2, 3)
