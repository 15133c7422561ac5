"""Whether a sentence that somebody else worded bears on what was said. Pure.

Quotes that stand and numbers that agree prove nothing of the words between them. This does not either; it only finds
the sentence that shares not one word with what it is said to rest on, and the one that denies it. Neither is believed
by itself: a person decides.
"""

from collections.abc import Sequence

from governance.formation.claims import COMPARED
from governance.formation.differences import opposite, terms
from governance.formation.negation import count


def rests(content: str, said: Sequence[str]) -> bool:
    """Whether a sentence has a word in common with what was said, and denies none of it. `said`: the quotes, or the
    sentences, that it is to rest on."""
    return covered(content, said) > 0 and not denies(content, said)


def covered(content: str, said: Sequence[str]) -> float:
    """The share of the sentence's terms that stand in what was said: 0 to 1."""
    wanted = terms(content[:COMPARED])
    there = frozenset[str]().union(*(terms(one[:COMPARED]) for one in said))
    return len(wanted & there) / len(wanted) if wanted else 0.0


def denies(content: str, said: Sequence[str]) -> bool:
    """Whether a sentence denies where nothing that was said does, says flatly what all of it denies, or has the
    opposite in its place."""
    denials = [count(one[:COMPARED]) > 0 for one in said]
    if denials and (not any(denials) if count(content[:COMPARED]) else all(denials)):
        return True
    return any(opposite(content[:COMPARED], one[:COMPARED]) for one in said)
