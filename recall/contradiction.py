"""Whether a newer record takes back an older one: same matter, other number, other choice, or the opposite. Pure.

Only the dates of two records tell which one holds; the texts tell that they cannot both hold. Three signs are read,
each only between texts that share their subject: one clause affirms what a clause of the other denies; one slot after
a copula or a preposition is filled differently in otherwise like sentences; the newer text says what it replaces.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from recall.analyzer import distinct, entities, normal

COMPARED = 2_000  # characters of a text that are read: every clause meets every clause of the other
MOST_PARTS = 64  # clauses, and sentences, of a text that are compared
LONGEST_SENTENCE = 256  # tokens: matching two sequences that repeat themselves costs the cube of their length
SHARED_CLAUSE = 0.5  # share of the shorter clause's terms that two opposite clauses have in common
SHARED_SHORT = 0.8  # the same when only three terms are shared
SHARED_SUBJECT = 0.3  # share of the older text, without what is replaced, that a text which replaces it says too
SHARED_SLOT = 0.6  # the same for two sentences that differ in one slot

_CLAUSE = re.compile(r"[.!?;:](?=\s|$)|[。！？；：，\n]|,\s|\s[-–—]\s|\bbut\b|\band (?=not\b|never\b)")
_SENTENCE = re.compile(r"[.!?;](?=\s|$)|[。！？；\n]")
_DENIAL = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|none|nothing|nowhere|no longer"
    r"|(?:is|are|was|were|do|does|did|wo|ca|could|should|must)n't"
    r"|avoid|forbidden|refus\w+|exclud\w+|exempt\w*|except|skip\w*|disabl\w+|ignor\w+"
    r"|unsupported|removed|deprecated|dropped|stopped|fails?)\b"
    r"|不|没|無|无(?!论)|未|別|别(?!的|名)|勿|禁止|停用|废弃|移除|取消|排除|跳过|避免"
)
_REPLACED = re.compile(
    r"(?:instead of|rather than|no longer|replac(?:es|ed|ing)|in place of|used to be|formerly|, not"
    r"|(?:moved|switched|migrated|changed|renamed|went)(?: away)? from"
    r"|取代|替代|代替|不再[是用]?|而不是|原来是|以前是)"
    r"\s*((?:[^.;,。；，]|\.(?=\S)){2,60}?)(?= to |\.(?:\s|$)|[;,。；，]|$)",
)
_SLOT_WORDS = (
    "is are was were be to use uses using need needs require requires return returns in on at as from by with run runs"
    " after every default = : 是 为 用 在 到 成 于 每 周 星 期 需 要 回"
)
_FILLER_WORDS = "the a an of our your their its we you they all now always only must should will"
_SLOT_BEFORE = frozenset(_SLOT_WORDS.split())
_COPULA = frozenset(("is", "are", "was", "were", "be", "是"))
_FILLER = frozenset(_FILLER_WORDS.split())
_TOKEN = re.compile(r"[a-z0-9_]+(?:[-./][a-z0-9_]+)*|[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]|[=:]")
_DOT_FILE = re.compile(r"(?<![\w.])\.[a-z][\w-]+")
_NUMBER = re.compile(r"v?\d[\d.:_-]*[a-z]{0,2}")


@dataclass(frozen=True)
class Reading:
    """A record's text as this module compares it."""

    text: str

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(distinct(self.text))

    @cached_property
    def plain(self) -> str:
        """The text as its words are looked for: one character can become eighteen."""
        return normal(self.text).lower()[:COMPARED]

    @cached_property
    def denies(self) -> bool:
        """Whether any word of the text denies."""
        return _DENIAL.search(self.plain) is not None

    @cached_property
    def clauses(self) -> tuple[tuple[frozenset[str], bool], ...]:
        """(terms, denies) of each clause that says something."""
        parts = [part for part in _CLAUSE.split(self.plain) if part and part.strip()][:MOST_PARTS]
        read = ((frozenset(distinct(part)), _DENIAL.search(part) is not None) for part in parts)
        return tuple((terms, denies) for terms, denies in read if len(terms) >= 2)

    @cached_property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        parts = _SENTENCE.split(self.plain)
        return tuple(tokens for part in parts if (tokens := _tokens(part)))[:MOST_PARTS]

    @cached_property
    def openings(self) -> frozenset[str]:
        """The first words of its sentences."""
        return frozenset(sentence[0] for sentence in self.sentences)

    def may_take_back(self, older: "Reading") -> bool:
        """Whether the pair shows any of the three signs at all: most show none, and this costs next to nothing."""
        denial = self.denies or older.denies
        return denial or bool(self.replaced) or not self.openings.isdisjoint(older.openings)

    @cached_property
    def replaced(self) -> tuple[frozenset[str], ...]:
        """The terms of each thing that the text says is no longer so."""
        return tuple(frozenset(distinct(found)) for found in _REPLACED.findall(self.plain))

    @cached_property
    def names(self) -> frozenset[str]:
        """Identifiers, paths and dot files: what a denial can be about."""
        dotted = _DOT_FILE.findall(self.text.lower())
        return frozenset([*dotted, *(name for name in entities(self.text) if not name.isalpha())])


def reading(text: str) -> Reading:
    """The reading of a text, or of its beginning when it is longer than COMPARED."""
    return _reading(text[:COMPARED])


def contradicts(newer: str, older: str) -> bool:
    """Whether the newer text takes back the older one. Texts of different matters never do. See `reading`."""
    return _contradicts(newer[:COMPARED], older[:COMPARED])


@lru_cache(maxsize=2048)  # records come back pass after pass
def _reading(text: str) -> Reading:
    return Reading(text)


@lru_cache(maxsize=4096)
def _contradicts(newer: str, older: str) -> bool:
    one, two = _reading(newer), _reading(older)
    signs = one.may_take_back(two) and (_other_slot(one, two) or _opposite(one, two) or _replaces(one, two))
    return signs and len(one.terms & two.terms) >= 2


def _opposite(newer: Reading, older: Reading) -> bool:
    """A clause of one affirms what a clause of the other denies; or the newer denies a thing the older names."""
    if not (newer.denies or older.denies):
        return False  # no clause denies either
    older_denies = any(denied for _, denied in older.clauses)
    for terms, denies in newer.clauses:
        for others, denied in older.clauses:
            if denies == denied:
                continue
            both = terms & others
            if len(both) >= 3 and _largely(both, terms, others):
                return True
            if not denies or older_denies:
                continue
            if any(both.issuperset(distinct(name)) for name in newer.names & older.names):
                return len(_independent(newer.terms & older.terms)) >= 3
    return False


def _largely(both: frozenset[str], terms: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two clauses have most of the shorter one in common: `both`."""
    shared = len(_independent(both))
    if shared < 3:
        return False
    shorter = min(len(_independent(terms)), len(_independent(others)))
    return shared >= (SHARED_CLAUSE if shared >= 4 else SHARED_SHORT) * shorter


def _other_slot(newer: Reading, older: Reading) -> bool:
    """Two sentences that are alike from their first word on, and fill one slot differently."""
    return any(_slot_differs(one, two) for one in newer.sentences for two in older.sentences)


def _slot_differs(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    if one[0] != two[0] or one == two or max(len(one), len(two)) > LONGEST_SENTENCE:
        return False
    if _ends_alike(one, two) < SHARED_SLOT * min(len(one), len(two)):
        return False  # what is the same around one slot is a beginning and an end, and there is no need to match
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return False
    _, start, stop, _, other_stop = changes[0]
    same = len(one) - (stop - start)
    if same < SHARED_SLOT * min(len(one), len(two)):
        return False
    numbers = all(_NUMBER.fullmatch(token) for token in (*one[start:stop], *two[start:other_stop]))
    before = one[max(0, start - 2) : start]
    # "X is fast" and "X is shared" can both hold; "X returns A" and "X returns B" cannot.
    least = 3 if not _COPULA.isdisjoint(before) and not numbers else 2
    return start >= 1 and same >= least and (numbers or not _SLOT_BEFORE.isdisjoint(before))


def _ends_alike(one: Sequence[str], two: Sequence[str]) -> int:
    """How many tokens two sentences begin and end with alike."""
    alike = 0
    for pairs in (zip(one, two, strict=False), zip(reversed(one), reversed(two), strict=False)):
        alike += next((place for place, (this, that) in enumerate(pairs) if this != that), min(len(one), len(two)))
    return alike


def _replaces(newer: Reading, older: Reading) -> bool:
    """The newer text names what it replaces, and the older one affirms just that about the same subject."""
    withdrawn = frozenset[str]().union(*older.replaced)
    for gone in newer.replaced:
        subject = older.terms - gone
        named = len((gone & older.terms) - withdrawn) >= 0.5 * max(1, len(gone))
        if named and subject and len(subject & (newer.terms - gone)) >= SHARED_SUBJECT * len(subject):
            return True
    return False


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(token for token in _TOKEN.findall(text) if token not in _FILLER)


def _independent(terms: frozenset[str]) -> list[str]:
    """Without the parts of longer terms that are there too: an identifier counts once. CJK counts by bigrams."""
    whole = [term for term in terms if not term.isalnum()]
    return [
        term
        for term in terms
        if (term.isascii() and not any(term in one and term != one for one in whole))
        or (not term.isascii() and len(term) <= 2)
    ]
