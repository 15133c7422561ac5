"""What tells two claims in like words apart. Pure.

Whatever might be a difference is one: a number, a version, a date, an identifier, a weekday, a condition, one of two
opposites, an order of words that says something, a word in the place of another word, many words more.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from governance.formation.marks import Mark, marks_of, plain_form
from governance.formation.negation import affirmed
from governance.formation.words import (
    COPULAS,
    FILLERS,
    OPPOSITES,
    ORDERED,
    PARTICLES,
    QUALIFIERS,
    QUANTITIES,
    REFERRED,
    SIMPLIFIED,
)
from recall.analyzer import distinct

SHORTEST_TYPO = 6  # letters of a word that may be misspelt
TYPO = 85.0  # how alike two words are that are one word, misspelt
EXTRA = 0.34  # share of the shorter claim's terms that the longer one may have on top

_SPACE = re.compile(r"\s+")
_SIGN = re.compile(r"(?<![<>=!-])(?:[<>!=]=|[<>≤≥≠=])(?![<>=])")
_NAMED = re.compile(rf"(?:{REFERRED})\s?#?\d+|\d+\s?(?:{COPULAS})(?![a-z])", re.IGNORECASE)
_QUANTITY = re.compile(rf"(?<![a-z])(?:{QUANTITIES})(?![a-z])", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+")
_LETTER = re.compile(
    r"(?<![A-Za-z0-9_.'’+#/-])(?:[B-HJ-Zb-hj-z]|(?<=[a-z,\u3400-\u9fff] )A)(?![A-Za-z0-9_'’+#/-]|\.\w)"
)  # option B
_CAPITALS = re.compile(r"(?<![A-Za-z0-9_])[A-Z]{2,}(?![A-Za-z0-9_])")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DAYS = (
    r"\b(?:(?P<en>mon|tues|wednes|thurs|fri|satur|sun)days?|(?P<short>(?-i:Mon|Tue|Wed|Thu|Fri|Sat|Sun))(?![a-z]))\b"
    r"|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])"
)
_DAY = re.compile(_DAYS, re.IGNORECASE)
_MONTH = re.compile(
    r"\b(?:january|february|(?-i:March|May)|april|june|july|august|september|october|november|december)\b"
    r"|(?<!\d)(?:1[0-2]|[1-9])月",
    re.IGNORECASE,
)
_ENGLISH_DAYS = {name: place for place, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_CHINESE_DAYS = {name: place for place, name in enumerate("一二三四五六日")} | {"天": 6}
_QUALIFIED = re.compile("|".join(QUALIFIERS).replace(" ", r"\s+"), re.IGNORECASE)
_IN_ORDER = re.compile("|".join(ORDERED).replace(" ", r"\s+"), re.IGNORECASE)


@lru_cache(maxsize=512)
def values(text: str) -> Counter[tuple[str, ...]]:
    """What must be equal in two claims that are one: marks, weekdays, months, and things called by one letter."""
    plain = plain_form(text).translate(SIMPLIFIED)
    found: Counter[tuple[str, ...]] = Counter(tuple(mark) for mark in _counted(plain))
    for day in weekdays(plain):
        found["weekday", str(day)] += 1
    for match in _MONTH.finditer(plain):
        found["month", match[0].lower()] += 1
    for match in _LETTER.finditer(plain):
        found["letter", match[0].lower()] += 1
    for match in _SIGN.finditer(plain):
        found["sign", match[0]] += 1
    if plain.rstrip().endswith("?"):  # a question claims nothing
        found["question",] = 1
    return found


def weekdays(text: str) -> Iterator[int]:
    """The weekdays that a text names, in order: 0 is Monday."""
    for match in _DAY.finditer(text.translate(SIMPLIFIED)):
        english = (match["en"] or match["short"] or "")[:3].lower()
        yield _ENGLISH_DAYS[english] if english else _CHINESE_DAYS[match["zh"]]


def _counted(text: str) -> list[Mark]:
    """The marks of a claim. How a name is spoken is no difference of its own."""
    return [mark if mark.kind == "number" else Mark(mark.kind, mark.form) for mark in marks_of(text).elements()]


def told_apart(a: str, b: str) -> bool:
    """Whether two claims in nearly the same words are two claims after all."""
    return (
        opposite(a, b)
        or _conditions(a) != _conditions(b)
        or not (_has_words(_capitals(a), b) and _has_words(_capitals(b), a))
        or _turned_round(a, b)
        or _other_words(a, b)
    )


def opposite(a: str, b: str) -> bool:
    one, two = _Words.of(a), _Words.of(b)
    return any(
        (one.has(this) and two.has(that) and not one.has(that) and not two.has(this))
        or (one.has(that) and two.has(this) and not one.has(this) and not two.has(that))
        for this, that in OPPOSITES
    )


def _conditions(text: str) -> frozenset[str]:
    return frozenset(_SPACE.sub(" ", found.lower()) for found in _QUALIFIED.findall(text.translate(SIMPLIFIED)))


def _capitals(text: str) -> frozenset[str]:
    """What is written in capitals may be an abbreviation that the analyzer takes for a stop word: US, IT."""
    return frozenset(found.lower() for found in _CAPITALS.findall(text))


def _has_words(words: frozenset[str], text: str) -> bool:
    return words <= _Words.of(text).latin


def _turned_round(a: str, b: str) -> bool:
    """The same words in another order, where the order says something: from npm to pnpm, from pnpm to npm. Elsewhere
    one part may have gone to the other end ("for installs use uv"), or one number have moved; what has changed places
    ("a worker calls the API") is another claim."""
    if _LETTER.findall(a) != _LETTER.findall(b):
        return True
    one, two = in_order(a), in_order(b)
    both = set(one) & set(two)
    left, right = [term for term in one if term in both], [term for term in two if term in both]
    if left == right:
        return False
    if _IN_ORDER.search(a.translate(SIMPLIFIED).lower()) or _IN_ORDER.search(b.translate(SIMPLIFIED).lower()):
        return True
    if sum(1 for term in left if _DIGIT.search(term)) == 1:
        left, right = ([term for term in terms if not _DIGIT.search(term)] for terms in (left, right))
    return not _turned_over(left, right)


def _turned_over(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two lists of the same terms, each once, are one list whose beginning has gone to the end."""
    if left == right:
        return True
    place = right.index(left[0])
    return [*right[place:], *right[:place]] == left


def _other_words(a: str, b: str) -> bool:
    """Whether one has words in the place of others, or far more words."""
    left, right = _left_over(a, b), _left_over(b, a)
    for word in list(left):
        twin = next((other for other in right if _one_word(word, other)), None)
        if twin is not None:
            left.remove(word)
            right.remove(twin)
    wide, other_wide = _wide(a), _wide(b)
    more, less = wide - other_wide, other_wide - wide
    if (left or more) and (right or less):
        return True
    size = min(_size(a), _size(b))
    return len(left) + len(right) + (more.total() + less.total()) / 2 > EXTRA * size


def _left_over(a: str, b: str) -> list[str]:
    """The words of one text, as terms, that the other does not have; CJK apart."""
    others = terms(b)
    return [term for term in in_order(a) if term not in others and term not in FILLERS and not _WIDE.search(term)]


def _wide(text: str) -> Counter[str]:
    return Counter(character for character in _WIDE.findall(text.translate(SIMPLIFIED)) if character not in PARTICLES)


def _size(text: str) -> float:
    """How many words a text has; two characters of a script without spaces count as one."""
    words = sum(1 for term in in_order(text) if term not in FILLERS and not _WIDE.search(term))
    return words + _wide(text).total() / 2


def _one_word(one: str, other: str) -> bool:
    """Whether two words are one, misspelt. `sync` and `async`, `http` and `https` are two."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return len(shorter) >= SHORTEST_TYPO and not longer.endswith(shorter) and fuzz.ratio(one, other) >= TYPO


@lru_cache(maxsize=4096)  # what was put away is compared with every proposal
def in_order(text: str) -> tuple[str, ...]:
    return distinct(text.translate(SIMPLIFIED))


@lru_cache(maxsize=512)
def terms(text: str) -> frozenset[str]:
    """The terms that count one by one: of a script without spaces pairs of characters, not its runs."""
    return frozenset(term for term in in_order(text) if len(term) <= 2 or not _WIDE.search(term))


def subject(text: str) -> frozenset[str]:
    """The terms of a text without its values: what it speaks of."""
    plain = affirmed(plain_form(text))
    named = " ".join(f"{mark.form} {mark.detail}" for mark in marks_of(plain))
    found = terms(_DAY.sub(" ", _MONTH.sub(" ", plain))) - terms(named)
    return frozenset(term for term in found if not (_DIGIT.search(term) or PARTICLES.issuperset(term)))


def names_apart(a: str, b: str) -> bool:
    """Whether the numbers of two texts name what they speak of: node 1 is here, node 2 is there."""
    differing = (values(a) - values(b)) | (values(b) - values(a))
    if not differing or any(kind != "number" for kind, *_ in differing):
        return False
    one, two = (affirmed(plain_form(text)) for text in (a, b))
    return all(_NAMED.search(text) and not _QUANTITY.search(text) for text in (one, two))


class _Words(NamedTuple):
    """The words of a text, for looking one up."""

    latin: frozenset[str]
    text: str

    @classmethod
    def of(cls, text: str) -> "_Words":
        return _words(text)

    def has(self, word: str) -> bool:
        return word in self.latin if word.isascii() else word in self.text


@lru_cache(maxsize=512)
def _words(text: str) -> _Words:
    plain = plain_form(text).translate(SIMPLIFIED).lower()
    return _Words(frozenset(_WORD.findall(plain)), plain)
