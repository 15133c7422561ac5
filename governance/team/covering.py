"""Whether statements cover a content: nothing is left of it without them but space, bullets and punctuation. Pure.

So the digests of the statements bind all words that are written to disk. White space counts as one space, and a text
counts only where it begins and ends with a word: letters that happen to stand in other words cover nothing.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_BULLET = re.compile(r"(?:[-*+>•◦▪‣●○■□]+ ?|\[[ xX]\] ?|#{1,6} |\d{1,3}[.)] |\| ?)+")
_MARKS = frozenset("+|~`^<>=•◦▪‣●○■□")  # of lists, quotes, tables and headings; of other symbols a reader makes sense
EXCERPT = 80
_UNSPACED = 0x0E00  # from here on most scripts write words without spaces between them


def uncovered(content: str, statements: Sequence[str]) -> str | None:
    """The first words of the content that no statement says, at most 80 characters. None: there are none."""
    text, covered = _laid(content)
    for statement in statements:
        words = " ".join(statement.split())
        for start in _places(text, words):
            covered[start : start + len(words)] = b"\1" * len(words)
    bare = (place for place, character in enumerate(text) if not covered[place] and _says(character))
    first = next(bare, None)
    return None if first is None else _from(text, covered, first)


def absent(content: str, statements: Sequence[str]) -> int | None:
    """The index of the first statement that the content does not say word for word. None: it says all."""
    text = " ".join(content.split())
    for index, statement in enumerate(statements):
        words = " ".join(statement.split())
        if next(_places(text, words), None) is None:
            return index
    return None


def _laid(content: str) -> tuple[str, bytearray]:
    """The content with one space for all white space, and which of its characters are bullets."""
    text: list[str] = []
    covered = bytearray()
    for line in content.splitlines():
        plain = " ".join(line.split())
        if not plain:
            continue
        bullet = _BULLET.match(plain)
        bullets = bullet.end() if bullet else 0
        text.append(plain)
        covered += b"\1" * bullets + b"\0" * (len(plain) - bullets) + b"\1"
    return " ".join(text), covered


def _places(text: str, words: str) -> Iterator[int]:
    """Where the words stand in the text as words of their own, without overlap."""
    place = text.find(words) if words else -1
    while place >= 0:
        end = place + len(words)
        if not _inside(text, place) and not _inside(text, end):
            yield place
        place = text.find(words, end)


def _inside(text: str, place: int) -> bool:
    """Whether a word is cut there. Scripts without spaces have no such places."""
    return 0 < place < len(text) and _spaced(text[place - 1]) and _spaced(text[place])


def _spaced(character: str) -> bool:
    return (character.isalnum() or character == "_") and ord(character) < _UNSPACED


def _says(character: str) -> bool:
    """Whether a character says anything."""
    kind = unicodedata.category(character)
    return not (character in _MARKS or character.isspace() or kind[0] == "P" or kind == "Cc")


def _from(text: str, covered: bytearray, start: int) -> str:
    end = start
    while end < len(text) and not covered[end] and end - start < EXCERPT:
        end += 1
    return text[start:end].strip()
