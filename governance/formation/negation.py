"""Whether a quote leaves out the word that denies it. Pure, linear time.

A clause ends at `。，；！？;!?`, at the end of a line, and at `.` or `,` before white space. A quote is a cut when the
clause that holds it has a word of denial outside of it, whole or in part. The lists stand in `words`; what holds such a
word and denies nothing ("not only", 不同) counts only when the quote cuts it in two.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from governance.formation.words import DENIALS, DENIALS_AHEAD, DENYING_PREFIXES, NO_DENIALS, SIMPLIFIED

_BOUNDARY = re.compile("[。，；！？;!?\n\r\v\f\x85\u2028\u2029]|[.,](?=\\s|\\Z)")
_LETTERS = "A-Za-z\u0400-\u04ff"
_EDGE = " \t\u3000\xa0"


def _pattern(phrases: Iterable[str]) -> str:
    return "|".join(phrases).replace(" ", r"\s+").replace("’", "['’ʼ＇´`]")


def _branches(wide: bool) -> str:
    """The three tables, as far as they are written in letters without spaces between words, or with them."""
    tables = {"none": NO_DENIALS, "both": DENIALS, "ahead": DENIALS_AHEAD}
    phrases = {kind: [one for one in table if (max(one) > "\u2fff") is wide] for kind, table in tables.items()}
    return "|".join(f"(?P<{kind}{'_' if wide else ''}>{_pattern(table)})" for kind, table in phrases.items())


# What can begin nowhere but at the beginning of a word is looked for nowhere else: most places are inside of one.
_WORDS = re.compile(
    rf"(?<![{_LETTERS}0-9_])(?=[{_LETTERS}])(?:{_branches(False)})|(?=[^\x00-\u2fff])(?:{_branches(True)})",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"[a-z]+\Z", re.IGNORECASE)


class _Places(NamedTuple):
    """Spans in order, none of which overlap."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def any_outside(self, within: tuple[int, int], quote: tuple[int, int]) -> bool:
        """Whether one that lies in the first span does not lie in the second."""
        first = bisect_left(self.starts, within[0])
        if first < len(self.starts) and self.starts[first] < min(quote[0], within[1]):
            return True
        last = bisect_right(self.ends, within[1]) - 1
        return last >= 0 and self.ends[last] > max(quote[1], within[0])

    def split_at(self, place: int) -> bool:
        """Whether one begins before a place and ends behind it."""
        index = bisect_left(self.starts, place) - 1
        return index >= 0 and self.ends[index] > place


class _Reading(NamedTuple):
    """What of a message matters here."""

    boundaries: tuple[int, ...]
    both: _Places
    ahead: _Places
    none: _Places


def cuts(content: str, start: int, end: int) -> bool:
    """Whether `content[start:end]`, taken alone, hides that its clause denies it. Code points, half-open."""
    while start < end and (content[start] in _EDGE or _BOUNDARY.match(content, start)):
        start += 1
    reading = _read(content)
    clause = _clause(reading.boundaries, start, end)
    if reading.both.any_outside(clause, (start, end)) or reading.ahead.any_outside((clause[0], start), (start, start)):
        return True
    if reading.none.split_at(start) or reading.none.split_at(end) or reading.ahead.split_at(start):
        return True
    return _prefix_cut(content, start, end)


def count(text: str) -> int:
    """How many words of denial a text has."""
    reading = _read(text)
    return len(reading.both.starts) + len(reading.ahead.starts)


def parity(text: str) -> int:
    """Whether a text denies, as far as counting tells: 0 or 1."""
    return count(text) % 2


def affirmed(text: str) -> str:
    """A text without its words of denial."""
    return _WORDS.sub(lambda match: match[0] if _kind(match) == "none" else " ", text.translate(SIMPLIFIED))


def _kind(match: re.Match[str]) -> str:
    return (match.lastgroup or "").removesuffix("_")


def _clause(boundaries: tuple[int, ...], start: int, end: int) -> tuple[int, int]:
    """From the last boundary before the quote to the first one at its end or behind it."""
    before = bisect_left(boundaries, start)
    behind = bisect_left(boundaries, max(end - 1, start))
    first = boundaries[before - 1] + 1 if before else 0
    last = boundaries[behind] if behind < len(boundaries) else 2**62
    return first, max(last, end)


def _prefix_cut(content: str, start: int, end: int) -> bool:
    """Whether the quote begins in the middle of a word, behind the part that denies the rest."""
    if not (start < end and content[start].isascii() and content[start].isalpha()):
        return False
    prefix = _PREFIX.search(content, max(0, start - 8), start)
    return prefix is not None and prefix[0].lower() in DENYING_PREFIXES and content[start].islower()


@lru_cache(maxsize=64)  # the quotes of one answer come from a few messages
def _read(content: str) -> _Reading:
    spans: dict[str, list[tuple[int, int]]] = {"none": [], "both": [], "ahead": []}
    for match in _WORDS.finditer(content.translate(SIMPLIFIED)):
        spans[_kind(match)].append(match.span())
    both, ahead, none = (
        _Places(tuple(start for start, _ in found), tuple(end for _, end in found))
        for found in (spans["both"], spans["ahead"], spans["none"])
    )
    return _Reading(tuple(match.start() for match in _BOUNDARY.finditer(content)), both, ahead, none)
