"""The terms of a text are the analyzer's, however often its words were met before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team import vocabulary
from governance.team.vocabulary import LONGEST, Vocabulary
from recall.analyzer import terms

SHARED = Vocabulary()
PIECES = ["release", "src/a.py", "C++", "E0277", "1.2.3", "camelCase", "::", "don't"]
PIECES += ["数据库的备份", "申请表", "हिन्दी", "\u00a8", "\u0301"]
BLANKS = [" ", "\n", "\t", "\u00a0", "\u3000", "\u2028", ""]
PARTS = st.tuples(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), st.sampled_from(BLANKS))


@given(st.lists(PARTS, max_size=12))
def test_the_terms_are_the_analyzers(parts: list[tuple[str, str]]) -> None:
    text = "".join(piece + blank for piece, blank in parts)

    assert SHARED.terms(text) == frozenset(terms(text))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "REMEMBERED", 2)
    made = Vocabulary()

    assert made.terms("alpha beta gamma delta") == frozenset(terms("alpha beta gamma delta"))
    assert made.terms("x" * (LONGEST + 1)) == frozenset(terms("x" * (LONGEST + 1)))
    assert len(made._known) <= 2 and "x" * (LONGEST + 1) not in made._known
