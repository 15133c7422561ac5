"""Whether two claims are one. Pure.

`same` is a matter of spelling. `near` is a matter of words: nearly all of them are the same, and nothing differs that
makes another claim of it (`differences`). Losing a claim costs more than keeping it twice.
"""

import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

from governance.formation.differences import in_order, names_apart, opposite, subject, terms, told_apart, values
from governance.formation.marks import plain_form
from governance.formation.negation import count
from governance.formation.numerals import in_digits
from recall.canonical import bytes_digest

NEAR = 92.0  # rapidfuzz token_set_ratio over analyzer terms
TIED = 0.6  # share of terms that a claim and an open gap have in common
COMPARED = 4_000  # characters of a claim that are compared by their words; claims have 2 000 at most

_SPACE = re.compile(r"\s+")
_FINAL = re.compile(r"[\s.!;:,…。！；：，、]+\Z")  # a question mark stays: a question claims nothing
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("‘’‚‛ʼ", "'"))


def same(a: str, b: str) -> bool:
    """Whether two texts are equal after NFKC, case folding, folding of white space and final punctuation."""
    return a == b or _folded(a) == _folded(b)


def claim_of(text: str) -> str:
    """A digest of the text as `same` compares it: 64 hex digits, equal for what is the same."""
    return bytes_digest(_folded(text).encode("utf-8", "surrogatepass"))


def near(a: str, b: str) -> bool:
    """Whether two claims say the same in nearly the same words. Symmetric; holds for all that `same` holds for."""
    if same(a, b):
        return True
    one, two = in_digits(a[:COMPARED]), in_digits(b[:COMPARED])
    if len(a) > COMPARED or len(b) > COMPARED or not _alike_in_words(one, two):
        return False
    return values(one) == values(two) and count(one) == count(two) and not told_apart(one, two)


def shared_terms(a: str, b: str) -> float:
    """The share of the smaller text's terms that the other has too: 0 to 1; 0 where one has none."""
    one, two = terms(a[:COMPARED]), terms(b[:COMPARED])
    return len(one & two) / min(len(one), len(two)) if one and two else 0.0


def tied(content: str, gap: str) -> bool:
    """Whether a claim that cites a gap is about that gap: `near`, or most terms are shared, two at least, and neither
    has a value in the place of the other's, nor denies what the other says."""
    if near(content, gap):
        return True
    one, two = in_digits(content[:COMPARED]), in_digits(gap[:COMPARED])
    if shared_terms(one, two) < TIED or len(terms(one) & terms(two)) < 2:
        return False
    left, right = values(one), values(two)
    return not (left - right and right - left) and count(one) % 2 == count(two) % 2


def contrary(a: str, b: str) -> bool:
    """Whether two claims speak of one thing, with another number, day or identifier, or one denies the other."""
    one, two = in_digits(a[:COMPARED]), in_digits(b[:COMPARED])
    if values(one) == values(two) and count(one) % 2 == count(two) % 2 and not opposite(one, two):
        return False
    if names_apart(one, two):
        return False
    about, other = subject(one), subject(two)
    both = about & other
    return bool(both) and len(both) >= TIED * len(about | other)


@lru_cache(maxsize=4096)  # what was put away is compared with every proposal
def _folded(text: str) -> str:
    plain = plain_form(text).translate(_QUOTES).casefold()
    return _FINAL.sub("", _SPACE.sub(" ", unicodedata.normalize("NFKC", plain))).strip()


def _alike_in_words(a: str, b: str) -> bool:
    one, two = in_order(a), in_order(b)
    return bool(one and two) and fuzz.token_set_ratio(" ".join(one), " ".join(two), score_cutoff=NEAR) >= NEAR
