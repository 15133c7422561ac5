"""The distinct terms of long texts, made fast (team.md 4). Pure.

The analyzer makes terms of what stands between blanks, and never of what stands on both sides of one. Tools say the
same words again and again: each is looked at once.
"""

from itertools import chain

from recall.analyzer import terms

REMEMBERED = 50_000  # words
LONGEST = 80  # characters of one that is remembered


class Vocabulary:
    """The words that were met, with their terms. For one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, text: str) -> frozenset[str]:
        """The distinct terms of a text: what the analyzer says of it, without order."""
        return frozenset(chain.from_iterable(map(self._of, set(text.split()))))

    def _of(self, word: str) -> tuple[str, ...]:
        known = self._known.get(word)
        if known is None:
            known = tuple(terms(word))
            if len(word) <= LONGEST:
                if len(self._known) >= REMEMBERED:
                    self._known.clear()
                self._known[word] = known
        return known
