"""The sheet on which words are put right: what was written comes back, and what stands below the scissors does not."""

import pytest
from hypothesis import given

from host.cli import review_sheet
from host.cli.review_sheet import Wording
from tests.support.texts import any_text


def test_what_is_written_is_read_back_and_what_helps_is_left_out() -> None:
    words = Wording(text="We ship on Thursdays.\n\n- after the tests\n# not a comment", title="Release day")
    document = review_sheet.write(words, ["It rests on:", "  you, yesterday:", ""])
    assert "# It rests on:" in document
    assert review_sheet.read(document) == words


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("no sheet at all\n", Wording(text="no sheet at all")),
        ("\ufefftitle: A\n\nB\n", Wording(text="B", title="A")),
        ("Title:  A  b \r\nC\r\n", Wording(text="C", title="A b")),
        (f"title: \n\n{review_sheet.SCISSORS}\n# x", Wording(text="")),
        (f"\n{review_sheet.SCISSORS}\n# x", Wording(text="")),
        ("", Wording(text="")),
    ],
)
def test_a_sheet_that_was_changed_by_hand_is_read_as_far_as_it_goes(document: str, words: Wording) -> None:
    assert review_sheet.read(document) == words


@given(any_text())
def test_any_text_comes_back(text: str) -> None:
    words = Wording(text=text.replace("\r", "\n").strip(), title="t")
    if review_sheet.SCISSORS not in text:
        assert review_sheet.read(review_sheet.write(words, [])).text == words.text
