"""The lists are what their readers take them for."""

import re

from governance.formation import words
from recall.analyzer import terms


def test_every_phrase_is_a_pattern() -> None:
    for table in (words.DENIALS, words.DENIALS_AHEAD, words.NO_DENIALS, words.QUALIFIERS, words.ORDERED):
        for phrase in table:
            assert re.compile(phrase).search("") is None, phrase


def test_a_traditional_character_is_exchanged_for_one_other() -> None:
    assert "別沒無過".translate(words.SIMPLIFIED) == "别没无过"
    assert all(isinstance(one, str) and len(one) == 1 for one in words.SIMPLIFIED.values())


def test_opposites_are_two_different_words() -> None:
    assert all(this and that and this != that for this, that in words.OPPOSITES)


def test_fillers_are_terms_of_the_analyzer() -> None:
    """In the form in which the analyzer gives them: another spelling would never be met."""
    assert all(terms(word) == [word] for word in words.FILLERS), [w for w in words.FILLERS if terms(w) != [w]]
