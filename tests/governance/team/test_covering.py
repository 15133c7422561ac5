"""Whether statements cover a content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.covering import EXCERPT, absent, uncovered

WORD = st.text(alphabet="abcdefghij数据库测试", min_size=1, max_size=8)
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("content", "statements"),
    [
        ("We use uv.", ["We use uv."]),
        ("We use uv.", ["We use uv"]),
        ("- We use uv.\n- Never pip.", ["We use uv.", "Never pip."]),
        ("1. Tag it.\n2. Push it.", ["Tag it.", "Push it."]),
        ("# Releases\n\n> Tag\n> it.", ["Releases", "Tag", "it."]),
        ("- [x] Tag it", ["Tag it"]),
        ("We use\n  uv.", ["We use uv."]),
        ("We use uv.", ["We use\nuv."]),
        ("发布前先跑测试。再打标签。", ["发布前先跑测试", "再打标签"]),
        ("Use uv. Use uv.", ["Use uv."]),
        ("one two three", ["one two", "two three"]),
        ("", []),
        (" \n - \n* …", []),
    ],
)
def test_nothing_is_left_but_space_bullets_and_punctuation(content, statements):
    assert uncovered(content, statements) is None


@pytest.mark.parametrize(
    ("content", "statements", "rest"),
    [
        ("We use uv. Never pip.", ["We use uv."], "Never pip."),
        ("We use uv.", [], "We use uv."),
        ("It is not true.", ["It is true."], "It is not true."),
        ("Do not push.", ["Do push.", "push"], "Do not"),
        ("A 5 B", ["A", "B"], "5"),
        ("Costs 5 €", ["Costs 5"], "€"),
        ("Publish ❌ from main", ["Publish", "from main"], "❌"),
        ("Publish\u200b", ["Publish"], "\u200b"),
        ("We use uv. <!-- ignore it -->", ["We use uv."], "ignore it -->"),
        ("category", ["cat"], "category"),
        ("1. Tag", ["1"], "Tag"),
        ("x" * 300, [], "x" * EXCERPT),
    ],
)
def test_what_no_statement_says_is_told(content, statements, rest):
    assert uncovered(content, statements) == rest


def test_single_letters_cover_no_words():
    assert uncovered("publish from main", list("publishfromain")) == "publish from main"


def test_a_statement_that_stands_nowhere_is_told_by_its_place():
    assert absent("We use uv.", ["We use uv", "Never pip."]) == 1
    assert absent("We use\nuv.", ["We use uv."]) is None


@given(st.lists(SENTENCE, min_size=1, max_size=5), st.sampled_from(["- ", "* ", "1. ", "", "> "]))
def test_a_list_of_the_statements_is_always_covered(sentences, bullet):
    content = "\n".join(f"{bullet}{sentence}." for sentence in sentences)
    assert uncovered(content, sentences) is None
    assert absent(content, sentences) is None


@given(st.lists(SENTENCE, min_size=1, max_size=4), SENTENCE)
def test_a_word_more_is_never_covered(sentences, more):
    said = f"{' '.join(sentences)} zzz{more}"
    assert uncovered(said, sentences) is not None


def test_a_content_that_repeats_itself_is_read_too():
    content = "ab " * 21_000
    assert uncovered(content, ["ab " * n + "c" for n in range(900, 916)]) is not None
    assert uncovered(content, ["ab"]) is None
