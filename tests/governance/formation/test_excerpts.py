"""The sentence of a message that a memory rests on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.excerpts import LONGEST, excerpt


@pytest.mark.parametrize(
    ("content", "text", "found"),
    [
        ("Releases go out on Thursdays.", "Hi there. We release on Thursdays! Thanks.", "We release on Thursdays!"),
        ("Use version 1.2.3 of pnpm.", "Ok. Take pnpm 1.2.3 here.\nBye now.", "Take pnpm 1.2.3 here."),
        ("周四发布。", "你好。我们周四发布新版本！谢谢。", "我们周四发布新版本！"),
        ("Nothing of it", "First sentence. Second sentence.", "First sentence."),
        ("Anything", "ok", "ok"),
        ("Anything", "a" * 2_000, "a" * LONGEST),
    ],
)
def test_it_is_the_sentence_that_says_most_of_it(content: str, text: str, found: str) -> None:
    assert excerpt(content, text) == found


@given(st.text(max_size=60), st.text(min_size=1, max_size=300).filter(str.strip))
def test_it_is_a_slice_of_the_message_and_never_empty(content: str, text: str) -> None:
    found = excerpt(content, text)
    assert found and found in text


@pytest.mark.parametrize("piece", [".", "a.", "a. ", "!? ", "\n", "。"])
def test_many_sentences_are_read_in_linear_time(piece: str) -> None:
    """Of the square of a text's length, the first of these would take minutes here."""
    assert excerpt("a", "b" + piece * (200_000 // len(piece)))
