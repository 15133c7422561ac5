"""Whether a quote stands in a message, and where. Pure, linear time.

Compared after NFC with every run of white space folded to one blank; letters, case, punctuation and ellipses must be
equal. What is given back is a slice of the original: code points, half-open. White space at the ends of a quote does
not count.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

SHORTEST, LONGEST = 4, 1_000  # code points of the slice
MOST_PLACES = 16  # of one quote in one message: the first that serves is taken

_SPACE = re.compile(r"\s+")
_VARIANTS = "\ufe0e\ufe0f"  # text or picture: the sign before it is the same sign


class Span(NamedTuple):
    """A slice of a message: code points, half-open."""

    start: int
    end: int


class _Folded(NamedTuple):
    """A message as it is compared. `origins[i]` is where its i-th character stands in the original, with one more for
    the end; None where every character stands in its own place."""

    text: str
    origins: "array[int] | None"


def find(quote: str, content: str) -> Span | None:
    """The first place of a quote in a message; None: its author did not write that."""
    return next(places(quote, content), None)


def places(quote: str, content: str) -> Iterator[Span]:
    """Every place of a quote, first ones first, at most MOST_PLACES. A blank quote has none."""
    wanted = _SPACE.sub(" ", unicodedata.normalize("NFC", quote)).strip(" ")
    if not wanted:
        return
    folded, at = _folded(content), -1
    tried = found = 0
    while found < MOST_PLACES and tried < 4 * MOST_PLACES:
        at = folded.text.find(wanted, at + 1)
        if at < 0:
            return
        tried += 1
        span = _original(folded, at, at + len(wanted), content)
        if span is not None:
            found += 1
            yield span


def too_short(span: Span, content: str) -> bool:
    """Whether a quote says too little: fewer than SHORTEST characters, and not the whole message."""
    return span.end - span.start < SHORTEST and content[span.start : span.end] != content.strip()


def too_long(span: Span) -> bool:
    """Whether a quote is longer than LONGEST characters."""
    return span.end - span.start > LONGEST


def _original(folded: _Folded, start: int, end: int, content: str) -> Span | None:
    """The slice of the original for one of the folded text. None where it would begin or end inside a letter: between
    a letter and its marks, or inside what NFC made of several characters. Half a letter is another letter."""
    if folded.origins is None:
        span = Span(start, end)
    else:
        span = Span(folded.origins[start], folded.origins[end])
        if (start and folded.origins[start - 1] == span.start) or folded.origins[end - 1] == span.end:
            return None
    if span.end < len(content) and _joins(content[span.end]) and content[span.end] not in _VARIANTS:
        return None
    return span


@lru_cache(maxsize=64)  # the quotes of one answer come from a few messages
def _folded(content: str) -> _Folded:
    if unicodedata.is_normalized("NFC", content):
        if all(run == " " for run in _SPACE.findall(content)):
            return _Folded(content, None)
        pieces, origins = _with_spaces_folded(content)
    else:
        pieces, origins = _with_letters_composed(content)
    origins.append(len(content))
    return _Folded("".join(pieces), origins)


def _with_spaces_folded(content: str) -> "tuple[list[str], array[int]]":
    pieces: list[str] = []
    origins, last = array("L"), 0
    for run in _SPACE.finditer(content):
        pieces += (content[last : run.start()], " ")
        origins.extend(range(last, run.start() + 1))
        last = run.end()
    pieces.append(content[last:])
    origins.extend(range(last, len(content)))
    return pieces, origins


def _with_letters_composed(content: str) -> "tuple[list[str], array[int]]":
    """The same, letter by letter: what NFC puts together or takes apart stands within a letter and its marks."""
    pieces: list[str] = []
    origins, place = array("L"), 0
    while place < len(content):
        end = _end_of_letter(content, place)
        letter = content[place:end]
        piece = " " if letter.isspace() else unicodedata.normalize("NFC", letter)
        origins.extend(range(place, end) if piece == letter else [place] * len(piece))
        pieces.append(piece)
        place = end
    return pieces, origins


def _end_of_letter(content: str, place: int) -> int:
    space = _SPACE.match(content, place)
    if space is not None:
        return space.end()
    end = place + 1
    while end < len(content) and _joins(content[end]):
        end += 1
    return end


def _joins(character: str) -> bool:
    """Whether a character may grow together with the one before it: a mark, or a part of a Hangul syllable."""
    return character > "\u02ff" and (unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff")
