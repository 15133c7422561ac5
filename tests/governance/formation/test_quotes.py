"""A quote is found where its author wrote it, and nowhere else; what is kept is the original slice."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.quotes import MOST_PLACES, Span, find, places, too_long, too_short

FOUND = [  # (quote, message, slice)
    ("retry limit 3", "The retry limit 3 holds.", "retry limit 3"),
    ("a b", "x a\r\n  b y", "a\r\n  b"),
    ("a\nb", "a b", "a b"),
    ("a\u3000b", "a b", "a b"),
    ("  a b \n", "xa by", "a b"),
    ("🙂 ship it", "👩‍👩‍👧 ok 🙂\tship it!", "🙂\tship it"),
    ("café", "un cafe\u0301 noir", "cafe\u0301"),
    ("cafe\u0301", "un café noir", "café"),
    ("한글", "\u1112\u1161\u11ab글 쓰기", "\u1112\u1161\u11ab글"),
    ("缓存 目录", "请看 缓存\n目录 。", "缓存\n目录"),
    ("Å", "1 \u212b", "\u212b"),
    ("I ❤", "I ❤️ it", "I ❤"),
    ("\ud800x", "a\ud800x", "\ud800x"),
]
NOT_FOUND = [  # (quote, message): one letter, one mark, one case, one sign
    ("retry limit 3", "The retry limit of 3 holds."),
    ("Retry limit", "retry limit"),
    ("wait...", "wait…"),
    ("wait…", "wait..."),
    ("don't", "don’t"),
    ("ab", "a b"),
    ("缓存目录", "缓存 目录"),
    ("cafe", "cafe\u0301"),
    ("\u0301 noir", "cafe\u0301 noir"),
    ("क", "कि"),
    ("क", "\u0958"),
    ("Ａ", "A"),
    ("", "anything"),
    (" \n", " \n"),
]


@pytest.mark.parametrize(("quote", "message", "kept"), FOUND)
def test_what_is_kept_is_the_slice_as_it_was_written(quote: str, message: str, kept: str) -> None:
    span = find(quote, message)
    assert span is not None
    assert message[span.start : span.end] == kept


@pytest.mark.parametrize(("quote", "message"), NOT_FOUND)
def test_a_changed_letter_sign_or_case_is_not_found(quote: str, message: str) -> None:
    assert find(quote, message) is None


def test_every_place_is_given_in_order_up_to_a_bound() -> None:
    assert list(places("use X", "use X, use X")) == [Span(0, 5), Span(7, 12)]
    assert len(list(places("ab", "ab " * 100))) == MOST_PLACES


@pytest.mark.parametrize(
    ("quote", "message", "short"),
    [("yes", "yes", True), ("用中文", "请用中文", True), ("yes!", "oh yes!", False), ("用中文。", "请用中文。", False)],
)
def test_fewer_than_four_characters_are_too_few(quote: str, message: str, short: bool) -> None:
    span = find(quote, message + " and more")
    assert span is not None
    assert too_short(span, message + " and more") is short


def test_a_whole_message_may_be_short_and_a_quote_has_a_thousand_characters_at_most() -> None:
    assert not too_short(Span(1, 4), " 用中文\n")
    assert not too_long(Span(0, 1_000))
    assert too_long(Span(0, 1_001))


letters = st.text(
    st.sampled_from("ab \n\t\u3000é\u0301\u0323한\u1112\u1161\u11ab缓🙂\u200d\ufe0f\u0958\u212b\ud800"), max_size=30
)


def _compared(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


@given(letters, letters)
def test_a_found_slice_reads_as_the_quote_does(quote: str, message: str) -> None:
    for span in places(quote, message):
        assert 0 <= span.start < span.end <= len(message)
        assert _compared(message[span.start : span.end]) == _compared(quote)


@given(st.text(max_size=20), st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_whatever_stands_between_blanks_is_found(before: str, quote: str, after: str) -> None:
    if _compared(quote):
        assert find(quote, f"{before} . {quote} . {after}") is not None


@given(st.text(st.sampled_from("abc \u0301é"), max_size=40), st.sampled_from(["NFC", "NFD"]))
def test_the_form_of_the_message_does_not_matter(message: str, form: str) -> None:
    """A message and its decomposed form hold the same whole words."""
    for word in message.split():
        if not unicodedata.combining(word[0]):
            assert find(word, unicodedata.normalize(form, message)) is not None  # type: ignore[arg-type]


HOSTILE = ["a" * 65_536, "e\u0301" * 32_768, "a \n" * 21_845, "\u0301" * 65_536, "\u1161" * 65_536, "한" * 65_536]


@pytest.mark.parametrize("message", HOSTILE)
def test_a_hostile_message_of_64_kib_is_read_to_its_end(message: str) -> None:
    assert find("the end", message + "\u2029 the end") is not None
    assert find(message[:900] + "?", message) is None
