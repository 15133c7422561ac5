"""The answer door of the confidence gate: one record explains what a prompt asks. Pure, standard library only.

The evidence door needs more words than a short question has, and in a store of three records rarity says nothing. Here
the measure is the prompt itself:

    p(term)  = 1 - exp(-rate · terms of the record)    rate: from the store where it is large, from the background else
    words(m) = Σ over terms of the prompt in m: -ln p  -  ln(ways to pick as many of the prompt's)  -  ln(records)

that is, minus the logarithm of how many records of this store would match the prompt as well by chance. It has to be
high, and the record has to cover enough of what the prompt says: little where several terms of a prompt that opens a
task agree, for who begins says much that no record holds; far more else. Where the engine answers, its cosine is
evidence of the same kind, in the same unit:

    meaning(m) = -ln(chance that two texts which have nothing to do with each other are as close)  -  ln(records)

Words and meaning together clear a bar of their own, whatever is covered: both have to agree on one record, or one of
them has to be very sure. An order within a task is judged by words alone: what it is near to, the task was near to
all along. All is absolute: a larger store or a longer prompt has to match more. Figures: docs/explanation/prompts.md.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from recall.analyzer import distinct
from recall.background import Background
from recall.contracts import Cue, Frozen, Scored, SegmentKind, SourceName, TermStatistics

Share = Annotated[float, Meta(gt=0, le=1)]


class AnswerPolicy(Frozen, frozen=True, kw_only=True):
    """The bar for prompts. Surprise is in nats; coverage is a share of the prompt's weighed terms."""

    surprise: Annotated[float, Meta(gt=0)] = 3.5  # for a question
    surprise_of_one: Annotated[float, Meta(gt=0)] = 4.5  # for a question about a single thing
    surprise_of_order: Annotated[float, Meta(gt=0)] = 4.0  # for any other prompt, and more the larger the store:
    order_growth: Annotated[float, Meta(ge=0)] = 0.3  # words of one store go together more often than chance says
    coverage: Share = 0.5
    phrase_coverage: Share = 0.2  # of an order, when two words that stand together in it do so in the record
    several: Annotated[float, Meta(ge=1)] = 2.5  # terms matched, from which a prompt that opens a task needs less:
    several_coverage: Share = 0.15
    order_coverage: Share = 0.35  # of an order within a task, with a phrase or without
    least: Annotated[float, Meta(ge=1)] = 1.5  # terms matched; a pair of CJK characters counts half
    length: Annotated[float, Meta(gt=0)] = 16.0  # terms of an ordinary record
    prior: Annotated[float, Meta(gt=0)] = 20.0  # records that the background stands for
    floor: Annotated[float, Meta(gt=0)] = 5e-5
    both: Annotated[float, Meta(gt=0)] = 6.0  # words and meaning together, for a question that opens a task
    both_of_order: Annotated[float, Meta(gt=0)] = 9.0  # for an order that does, and for a later question
    cosine: Annotated[float, Meta(ge=-1, le=1)] = 0.08  # of texts without relation, its mean with the encoder we ship
    cosine_growth: Annotated[float, Meta(ge=0, le=1)] = 0.03  # and what it grows by with the logarithm of the terms
    short: Annotated[float, Meta(ge=1)] = 8.0  # from so many on
    deviation: Annotated[float, Meta(gt=0, le=1)] = 0.1  # and its standard deviation, tails included


_EXTENSIONS = (
    "md py js ts go rs rb java json yml yaml toml txt sh jsonl tsx jsx css html ex exs lock mod sum cfg ini log sql xml"
)
EXTENSIONS = frozenset(_EXTENSIONS.split())
# Words that say that something is asked, not what.
_ASKING = (
    "decide decided decision agree agreed discuss discussed say said remember remind recall know known tell explain"
    " mean means note noted talk happen choose chose chosen settle settled conclude concluded ask question need want"
    " like do use find look check see think thing way work help go right best rule rules convention"
    " 决定 记得 说过 规定 约定 讨论 告诉 解释 知道 意思 介绍"
)
ASKING = frozenset(distinct(_ASKING))


def evidential(term: str) -> bool:
    """Whether a match of this term says anything: not a path with its folders (its parts count), not a file's
    extension, not a number of one or two digits."""
    if "/" in term or term in EXTENSIONS:
        return False
    return len(term) > 2 or not term.isdigit()


def answered(
    weighed: Sequence[Scored], cue: Cue, statistics: TermStatistics, policy: AnswerPolicy, background: Background
) -> Scored | None:
    """The record that explains the prompt, if one does; its score is the evidence in nats, its bar what was asked."""
    if cue.segment_kind is not SegmentKind.PROMPT:
        return None
    opens = len(cue.parts) < 2  # nothing was said before it in this context
    if cue.corrects and not (opens or cue.question):
        return None
    prompt = _Prompt(subject(cue.focus), cue.question, opens, statistics, policy, background)
    explained = [(cleared, one) for one in weighed if (cleared := prompt.explained_by(one))]
    if not explained:
        return None
    (nats, bar), chosen = min(explained, key=lambda found: (-found[0][0], found[1].candidate.memory_id))
    return msgspec.structs.replace(chosen, score=nats, bar=bar, reasons=(*chosen.reasons, "answer"))


def things(terms: Iterable[str]) -> float:
    """How many different things terms name: parts of a longer one of them do not count, and of CJK pairs, which
    overlap, each counts half."""
    return _size(wholes(terms))


def wholes(terms: Iterable[str]) -> list[str]:
    """Terms that are no part of a longer one of them, the longest first."""
    found: list[str] = []
    for term in sorted(terms, key=lambda term: (-len(term), term)):
        if not any(term in longer for longer in found):
            found.append(term)
    return found


def part(term: str) -> float:
    """A word counts one; pairs of CJK characters overlap, so each counts half."""
    return 1.0 if term.isascii() else 0.5


def subject(focus: Iterable[str]) -> tuple[str, ...]:
    """What a prompt is about: its terms without words of asking, single characters and whole CJK runs."""
    return tuple(
        term for term in focus if evidential(term) and term not in ASKING and (term.isascii() or len(term) == 2)
    )


@dataclass(frozen=True)
class _Prompt:
    """What a prompt says, and how likely a record of the store says the same by chance. What is the same for all
    records is reckoned once."""

    terms: tuple[str, ...]
    question: bool
    opens: bool
    statistics: TermStatistics
    policy: AnswerPolicy
    background: Background

    def explained_by(self, one: Scored) -> tuple[float, float] | None:
        """(evidence, bar) of a record that clears one of the bars, the higher evidence of the two."""
        terms = one.candidate.terms
        held = frozenset(terms)
        matched = [term for term in self.terms if term in held]
        words = self._words(matched, len(held))
        cleared = []
        bar = self._bar(_size(matched))
        if words >= bar and self._covers(matched, terms):
            cleared.append((words, bar))
        cosine = one.confidences.get(SourceName.ENGINE)
        if cosine is not None and (self.question or self.opens):
            bar = self.policy.both if self.question and self.opens else self.policy.both_of_order
            both = words + self._meaning(cosine)
            if both >= bar:
                cleared.append((both, bar))
        return max(cleared, default=None)

    def _words(self, matched: Sequence[str], length: int) -> float:
        """Nats of the words in common, beyond what the best of the store has by chance."""
        count, every = _size(matched), self._every
        nats = -sum(part(term) * math.log(self._chance(term, length)) for term in matched)
        ways = math.lgamma(every + 1) - math.lgamma(count + 1) - math.lgamma(every - count + 1)
        return nats - ways - self._records

    def _meaning(self, cosine: float) -> float:
        """Nats of a cosine, beyond what the nearest of the store has by chance."""
        return unlikely((cosine - self._usual) / self.policy.deviation) - self._records

    @cached_property
    def _every(self) -> float:
        return _size(self.terms)

    @cached_property
    def _usual(self) -> float:
        """The cosine to a record without relation: a long text is a little like everything."""
        policy = self.policy
        return policy.cosine + policy.cosine_growth * math.log(max(1.0, self._every / policy.short))

    @cached_property
    def _said(self) -> float:
        return self._information(self.terms)

    @cached_property
    def _records(self) -> float:
        return math.log(max(1, self.statistics.total))

    def _covers(self, matched: Sequence[str], terms: Sequence[str]) -> bool:
        """Whether the record holds enough of what the prompt says."""
        count = _size(matched) if self.opens else things(matched)  # within a task a name is its topic
        single = self.question and list(matched) == list(self.terms)
        if not matched or (count < self.policy.least and not single):
            return False
        return self._information(matched) >= self._coverage(count, terms) * self._said

    def _coverage(self, count: float, terms: Sequence[str]) -> float:
        """Which share of it that is, where so many terms are matched."""
        policy = self.policy
        if self.opens and count >= policy.several:
            return policy.several_coverage
        if self.question:
            return policy.coverage
        if not self.opens:
            return policy.order_coverage
        return policy.phrase_coverage if _share_a_phrase(self.terms, terms) else policy.coverage

    def _bar(self, count: float) -> float:
        policy = self.policy
        if not self.question:
            return policy.surprise_of_order + policy.order_growth * self._records
        return policy.surprise if count >= policy.least else policy.surprise_of_one

    def _chance(self, term: str, length: int) -> float:
        """That a record of this many terms holds the term, by the other records and the background."""
        policy = self.policy
        others = max(0, self.statistics.counts.get(term, 0) - 1)
        expected = others + policy.prior * policy.length * self.background.share(term, policy.floor)
        rate = expected / ((max(0, self.statistics.total - 1) + policy.prior) * policy.length)
        return 1 - math.exp(-rate * length)

    def _information(self, terms: Iterable[str]) -> float:
        """What terms say in general: a rare word says more than a common one."""
        return sum(-part(term) * math.log(self.background.share(term, self.policy.floor)) for term in terms)


def unlikely(z: float) -> float:
    """-ln of the chance that a normal deviate is larger than `z`, as far as numbers go."""
    return -math.log(max(math.erfc(z / math.sqrt(2)) / 2, sys.float_info.min))


def _share_a_phrase(prompt: Sequence[str], record: Sequence[str]) -> bool:
    return not set(pairwise(prompt)).isdisjoint(pairwise(record))


def _size(terms: Iterable[str]) -> float:
    return sum(map(part, terms))
