"""Whether a text says what a record says already, says it otherwise, or is news. Pure.

The worst mistake is an update taken for a duplicate: it loses a memory, and nobody sees it. So *the same* is narrow:
equal after NFKC, lower case, white space, the style of quotation marks and final punctuation, or different in articles
and "please" alone. A number, a weekday, a negation or any other word that differs is never the same. *Update* costs a
question to a person, no more, and may be a little wider: one text takes the other back (`contradiction`), or one frame
holds another value. What is neither is new.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from rapidfuzz import fuzz

from recall.compare_words import (
    ARTICLES,
    CHOICE,
    COPULA,
    DAYS,
    DENIAL,
    MONTHS,
    OPPOSITES,
    PLAIN,
    QUANTITY,
    REFERRED,
    SINCE,
    SLOT,
)
from recall.contracts import Frozen
from recall.contradiction import LONGEST_SENTENCE, contradicts

COMPARED = 2_000  # characters of a text that are read for an update
SENTENCES = 12  # of a text that are compared with those of the other
VALUE = 4  # tokens that a value has at most: more is another sentence
FRAME = 0.5  # share of the longer sentence that both have in common
WIDE = 0.5  # a character of a script without spaces counts as half a word
LIKE = 80.0  # how alike two sentences are of which one denies the other

_SPACE = re.compile(r"\s+")
_NEAR_WIDE = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]) | (?=[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef])"
)
_FINAL = re.compile(r"[.!;:。…]+[ \t]*$", re.MULTILINE)
_SPELLING = str.maketrans({"`": None} | dict.fromkeys("“”„‟«»「」『』", '"') | dict.fromkeys("‘’‚‛", "'"))
_QUOTED = re.compile("[\"'`“”„‟‘’‚‛«»「」『』]")
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+(?!\d)", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?;](?=\s|$)|[。！？；\n]")
_PIECE = re.compile(
    rf"(?P<day>{DAYS})|(?P<month>{MONTHS})"
    r"|(?P<number>[vV]?\d[\d.:,_/-]{0,24}\d[a-zA-Z%°]{0,3}|[vV]?\d[a-zA-Z%°]{0,3})(?![A-Za-z_])"
    r"|(?P<wide>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
    r"|(?P<word>(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\w)+"
    r"(?:(?:[-./:]|::|'(?=t\b))(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\w)+)*[+#]*)"
    r"|(?P<sign>[^\s\w.,;:!()\[\]{}*。、，；：！\"'`“”‘’«»「」-]+)",
    re.IGNORECASE,
)


class Same(Frozen, frozen=True, kw_only=True):
    """The record `id` says this already."""

    id: str


class Update(Frozen, frozen=True, kw_only=True):
    """The records `ids` say otherwise about the same matter, in the order given."""

    ids: tuple[str, ...]


class New(Frozen, frozen=True, kw_only=True):
    """Nothing of what was compared speaks of it."""


Comparison = Same | Update | New


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of a sentence in lower case, and what sort it is: day, month, number, wide, word or sign."""

    text: str
    kind: str


@dataclass(frozen=True)
class _Sentence:
    """A sentence without articles, and since when it says that it holds."""

    tokens: tuple[_Token, ...]
    since: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens)


@dataclass(frozen=True, slots=True)
class _Region:
    """Where two sentences differ: what stands there in each, and what stands before and after it in both."""

    before: _Token | None
    values: tuple[_Token, ...]
    others: tuple[_Token, ...]
    after: _Token | None
    slotted: bool  # a word before it says that a value comes

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(token.kind for token in (*self.values, *self.others))

    @property
    def names_things(self) -> bool:
        """Whether the two values are what the sentences speak of: node 1 is here, node 2 is there."""
        beside = {token.text for token in (self.before, self.after) if token is not None}
        if (self.after is not None and self.after.text in COPULA) or not beside.isdisjoint(REFERRED):
            return True
        bare = all(token.text.isdigit() for token in (*self.values, *self.others))
        return bare and not self.slotted and beside.isdisjoint(QUANTITY)


def compare(text: str, others: Sequence[tuple[str, str]]) -> Comparison:
    """What `text`, the newer one, is to the others, given as (id, text). The first that says the same decides."""
    for one, other in others:
        if same(text, other):
            return Same(id=one)
    ids = tuple(one for one, other in others if updates(text, other))
    return Update(ids=ids) if ids else New()


def same(one: str, other: str) -> bool:
    """Whether two texts say the same in the same words."""
    return folded(one) == folded(other) or (_prose(one) and _prose(other) and _bare(one) == _bare(other))


def folded(text: str) -> str:
    """What is left of a text when its spelling is left out: texts with one folded form say the same.

    NFKC would turn 10² into 102, so superscripts, circled numbers and fractions stand as they are; `ß` is not `ss`.
    In a text with a code fence the white space at the beginning of a line counts.
    """
    plain = _lower(text)
    if _FENCE.search(plain):
        lines = (line.rstrip() for line in plain.splitlines())
        return "\n".join(line for line in lines if line)
    plain = _BULLET.sub("", plain).translate(_SPELLING)
    plain = _SPACE.sub(" ", _FINAL.sub("", plain))
    return _NEAR_WIDE.sub("", plain).strip()


def updates(newer: str, older: str) -> bool:
    """Whether the newer text says otherwise about the same matter than the older one."""
    one, two = newer[:COMPARED], older[:COMPARED]
    if _subjects_differ(one, two):
        return False
    if contradicts(one, two):
        return True
    return any(_differs_in_value(a, b) for a in _sentences(one) for b in _sentences(two))


# -- the same


def _lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    kept = (f"\ue000{c}" if unicodedata.category(c) == "No" else c for c in text)
    return unicodedata.normalize("NFKC", "".join(kept)).lower()


def _prose(text: str) -> bool:
    """Whether articles may be left out: nothing is quoted, no code, no formula."""
    return _QUOTED.search(text) is None and len(text) <= COMPARED


def _bare(text: str) -> str:
    """The folded text without articles and "please". An article stands before a word and is not written large."""
    return folded(ARTICLES.sub(" ", text))


# -- an update


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    parts = _SENTENCE.split(unicodedata.normalize("NFKC", text)[:COMPARED])  # one character can become eighteen
    read = (_Sentence(_tokens(SINCE.sub(" ", part)), tuple(SINCE.findall(part))) for part in parts)
    return tuple(sentence for sentence in read if len(sentence.tokens) >= 3)[:SENTENCES]


def _tokens(sentence: str) -> tuple[_Token, ...]:
    found: list[_Token] = []
    for match in _PIECE.finditer(sentence):
        kind, raw = match.lastgroup or "word", match[0]
        text = f"{kind} {raw.lower()[:3]}" if kind in ("day", "month") else raw.lower()
        if text not in PLAIN:
            found.append(_Token(text, kind))
    return tuple(found)


def _differs_in_value(one: _Sentence, two: _Sentence) -> bool:
    if len(one.words & two.words) < 2:
        return False
    if _denies_the_other(one.tokens, two.tokens) or _turned_round(one.tokens, two.tokens):
        return True
    if one.tokens == two.tokens:
        return one.since != two.since
    region = _region(one.tokens, two.tokens)
    if region is None or region.names_things:
        return False
    if region.kinds <= {"day", "month", "number"}:
        return True
    values = (*region.values, *region.others)
    if len(values) == 2 and frozenset(value.text for value in values) in OPPOSITES:
        return True
    return region.before is not None and region.before.text in SLOT


def _region(one: tuple[_Token, ...], two: tuple[_Token, ...]) -> _Region | None:
    """The one place where two sentences that are otherwise alike differ."""
    if max(len(one), len(two)) > LONGEST_SENTENCE:
        return None
    texts, others = [token.text for token in one], [token.text for token in two]
    codes = SequenceMatcher(None, texts, others, autojunk=False).get_opcodes()
    changes = [code for code in codes if code[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, start, stop, other_start, other_stop = changes[0]
    alike = sum(WIDE if token.kind == "wide" else 1.0 for token in (*one[:start], *one[stop:]))
    whole = max(sum(WIDE if token.kind == "wide" else 1.0 for token in tokens) for tokens in (one, two))
    small = stop - start <= VALUE and other_stop - other_start <= VALUE
    if not small or alike < 2 or alike < FRAME * whole:
        return None
    return _Region(
        before=one[start - 1] if start else None,
        values=one[start:stop],
        others=two[other_start:other_stop],
        after=one[stop] if stop < len(one) else None,
        slotted=any(token.text in SLOT for token in one[:start]),
    )


def _denies_the_other(one: tuple[_Token, ...], two: tuple[_Token, ...]) -> bool:
    """Whether one says no to just what the other says."""
    text, other = _joined(one), _joined(two)
    if len(DENIAL.findall(text)) % 2 == len(DENIAL.findall(other)) % 2:
        return False
    plain, plain_other = (_SPACE.sub(" ", DENIAL.sub(" ", said)).strip() for said in (text, other))
    if min(len(plain), len(plain_other)) < 4:
        return False
    return fuzz.ratio(plain, plain_other) >= LIKE


def _turned_round(one: tuple[_Token, ...], two: tuple[_Token, ...]) -> bool:
    """The same words in another order around a word of choice: A, not B; B, not A."""
    texts, others = [token.text for token in one], [token.text for token in two]
    return texts != others and sorted(texts) == sorted(others) and not CHOICE.isdisjoint(texts)


def _joined(tokens: tuple[_Token, ...]) -> str:
    """The sentence again, each word with a blank at both ends, characters of unspaced scripts without."""
    return "".join(token.text if token.kind == "wide" else f" {token.text} " for token in tokens)


def _subjects_differ(one: str, two: str) -> bool:
    """Whether two texts of one sentence each speak of two things in the same words."""
    first, second = _sentences(one), _sentences(two)
    if len(first) != 1 or len(second) != 1 or len(first[0].words & second[0].words) < 2:
        return False
    region = _region(first[0].tokens, second[0].tokens)
    return region is not None and region.names_things
