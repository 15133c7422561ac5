"""Places in the code: the line that a memory names is found again after the file has changed, or is said to be gone."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.code_anchors import AnchorState, Found, locate
from recall.contracts import CodeAnchor

CASES = Path(__file__).parents[1] / "data" / "cases"
CODE = "import q\n\ndef round_half_even(x):\n    return q(x)\n\ndef other(x):\n    return q(x)\n"


def at(line: int, snippet: str) -> CodeAnchor:
    return CodeAnchor(path="lib/money.py", line=line, snippet=snippet)


@pytest.mark.promise("field-cases")
def test_a_line_that_was_pushed_down_is_found_where_it_is_now() -> None:
    told = json.loads((CASES / "anchor-line-moved.json").read_text("utf-8"))
    given_anchor = told["given"]["memory"]["anchor"]
    anchor = CodeAnchor(path=given_anchor["path"], line=given_anchor["line"], snippet=given_anchor["snippet"])
    code = told["given"]["code"][anchor.path]

    before = locate(anchor, code)
    after = locate(anchor, "# moved\n" * told["given"]["then_insert_lines_above"] + code)

    expected = told["then"]["m1"]
    assert before == Found(state=AnchorState.UNCHANGED, lines=(1,))
    assert (after.state, after.lines) == (expected["state"], (expected["line"],))


@pytest.mark.parametrize(
    ("anchor", "state", "lines"),
    [
        (at(3, "def round_half_even(x):"), "unchanged", (3,)),
        (at(1, "def round_half_even(x):"), "moved", (3,)),
        (at(3, "  def round_half_even(x):  "), "unchanged", (3,)),
        (at(2, "    return q(x)"), "ambiguous", (4, 7)),
        (at(7, "    return q(x)"), "unchanged", (7,)),
        (at(2, "return q(x)"), "ambiguous", (4, 7)),
        (at(3, "def round_half_up(x):"), "gone", ()),
        (at(3, "def round_half"), "gone", ()),
        (at(3, ""), "gone", ()),
        (at(3, "  "), "gone", ()),
        (at(0, "import q"), "moved", (1,)),
    ],
)
def test_a_place_is_unchanged_moved_gone_or_not_to_be_told_apart(
    anchor: CodeAnchor, state: str, lines: tuple[int, ...]
) -> None:
    assert locate(anchor, CODE) == Found(state=AnchorState(state), lines=lines)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(newline: str) -> None:
    assert locate(at(1, "import q"), CODE.replace("\n", newline)).state is AnchorState.UNCHANGED


lines = st.lists(st.sampled_from(["", "  a", "a", "b", "def f():", "}"]), max_size=30)


@given(lines, st.sampled_from(["a", "b", "def f():", "}"]), lines)
def test_a_snippet_that_stands_in_the_text_is_never_gone(before: list[str], snippet: str, after: list[str]) -> None:
    place = len(before) + 1

    found = locate(at(place, snippet), "\n".join([*before, snippet, *after]))

    assert found == Found(state=AnchorState.UNCHANGED, lines=(place,))
