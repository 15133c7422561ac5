"""The folded copy reads as it is meant, and every place in it maps back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.screening.folding import fold


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ig\u200bno\u00adre", "ignore"),
        ("\uff49\uff47\uff4e\uff4f\uff52\uff45\uff1a", "ignore:"),
        ("\U0001d422\U0001d420nore", "ignore"),
        ("p\u0430yp\u0430l", "paypal"),
        ("two\u00a0words\u2003apart", "two words apart"),
        ("&#105;&#x67;nore", "ignore"),
        ("&#105;gnore", "ignore"),
        ("ign&#x6f;re", "ignore"),
        ("&lt;/memory&gt;", "</memory>"),
        ("\\u0069\\u0067nore", "ignore"),
        ("%69%67%6eore", "ignore"),
        ("pass\\\nword", "password"),
        ("&#00;&#55555;x", "  x"),
    ],
)
def test_a_disguise_is_taken_off(text: str, meant: str) -> None:
    folded = fold(text, text.encode())
    assert folded is not None
    assert folded.text == meant


@pytest.mark.parametrize(
    "text", ["plain", "接口超时设为 30 秒；重试 3 次。", "café", "50% of & all", "a \\\n b", "текст"]
)
def test_a_text_that_is_its_own_copy_is_not_folded(text: str) -> None:
    assert fold(text, text.encode()) is None


def test_places_map_back_to_the_original() -> None:
    text = "a\u200bb &#105;c"
    folded = fold(text + "&#106;", (text + "&#106;").encode())
    assert folded is not None
    assert [folded.origin(folded.text.index(letter)) for letter in "ab"] == [0, 2]
    assert folded.origin(folded.text.index("i")) == text.index("&")
    assert folded.origin(folded.text.index("c")) == text.index("c")
    assert folded.origin(len(folded.text)) == len(text) + 6


@given(st.text(alphabet="ab\u200b\uff41\u0430&#105; %4\\u0069\n", max_size=40))
def test_places_never_run_backwards_or_beyond(text: str) -> None:
    folded = fold(text, text.encode())
    if folded is not None:
        places = [folded.origin(offset) for offset in range(len(folded.text) + 1)]
        assert places == sorted(places)
        assert places[0] >= 0
        assert places[-1] <= len(text)
