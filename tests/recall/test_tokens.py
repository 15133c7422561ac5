"""One estimate of tokens for every budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.tokens import estimated_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("deployment", 3),
        ("部署流程", 4),
        ("部署 ok", 3),
        ("テスト", 3),
        ("배포 절차", 5),
        ("déjà vu", 3),
        ("🙂", 1),
    ],
)
def test_a_wide_character_is_a_token_and_four_ascii_ones_are(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_longer_text_never_has_fewer_and_two_texts_have_no_more_than_their_sum(one: str, other: str) -> None:
    assert estimated_tokens(one) <= estimated_tokens(one + other)
    assert estimated_tokens(one + other) <= estimated_tokens(one) + estimated_tokens(other)
