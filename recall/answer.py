"""The answer door of the confidence gate: one record explains what a prompt asks. Pure, standard library only.

The evidence door needs more words than a short question has, and in a store of three records rarity says nothing. Here
the measure is the prompt itself:

    p(term) = 1 - exp(-rate · terms of the record)     rate: from the store where it is large, from the background else
    surprise(m) = Σ over terms of the prompt in m: -ln p  -  ln(records)  -  ln(ways to pick as many of the prompt's)

that is, minus the logarithm of how many records of this store would match the prompt as well by chance. It has to be
high, and the record has to cover enough of what the prompt says. Both are absolute: a larger store or a longer prompt
has to match more.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from recall.analyzer import distinct
from recall.background import Background
from recall.contracts import Cue, Frozen, Scored, SegmentKind, TermStatistics

Share = Annotated[float, Meta(gt=0, le=1)]


class AnswerPolicy(Frozen, frozen=True, kw_only=True):
    """The bar for prompts. Surprise is in nats; coverage is a share of the prompt's weighed terms."""

    surprise: Annotated[float, Meta(gt=0)] = 3.5  # for a question
    surprise_of_one: Annotated[float, Meta(gt=0)] = 4.0  # for a question about a single thing
    surprise_of_order: Annotated[float, Meta(gt=0)] = 4.0  # for any other prompt, and more the larger the store:
    order_growth: Annotated[float, Meta(ge=0)] = 0.3  # words of one store go together more often than chance says
    coverage: Share = 0.5
    phrase_coverage: Share = 0.34  # of an order, when two words that stand together in it do so in the record
    least: Annotated[float, Meta(ge=1)] = 1.5  # terms matched; a pair of CJK characters counts half
    length: Annotated[float, Meta(gt=0)] = 16.0  # terms of an ordinary record
    prior: Annotated[float, Meta(gt=0)] = 20.0  # records that the background stands for
    floor: Annotated[float, Meta(gt=0)] = 5e-5


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
    """The record that explains the prompt, if one does; its score is the surprise in nats."""
    if cue.segment_kind is not SegmentKind.PROMPT:
        return None
    prompt = _Prompt(subject(cue.focus), cue.question, statistics, policy, background)
    explained = [(surprise, one) for one in weighed if (surprise := prompt.explained_by(one.candidate.terms))]
    if not explained:
        return None
    surprise, chosen = min(explained, key=lambda found: (-found[0], found[1].candidate.memory_id))
    return msgspec.structs.replace(chosen, score=surprise, reasons=(*chosen.reasons, "answer"))


def subject(focus: Iterable[str]) -> tuple[str, ...]:
    """What a prompt is about: its terms without words of asking, single characters and whole CJK runs."""
    return tuple(
        term for term in focus if evidential(term) and term not in ASKING and (term.isascii() or len(term) == 2)
    )


@dataclass(frozen=True, slots=True)
class _Prompt:
    """What a prompt says, and how likely a record of the store says the same by chance."""

    terms: tuple[str, ...]
    question: bool
    statistics: TermStatistics
    policy: AnswerPolicy
    background: Background

    def explained_by(self, terms: Sequence[str]) -> float | None:
        """The surprise of a record with these terms, when it clears the bar."""
        held = frozenset(terms)
        matched = [term for term in self.terms if term in held]
        count, every = _size(matched), _size(self.terms)
        single = self.question and matched == list(self.terms)
        if not matched or (count < self.policy.least and not single):
            return None
        coverage = self._information(matched) / self._information(self.terms)
        phrase = not self.question and _share_a_phrase(self.terms, terms)
        if coverage < (self.policy.phrase_coverage if phrase else self.policy.coverage):
            return None
        nats = -sum(_part(term) * math.log(self._chance(term, len(held))) for term in matched)
        ways = math.lgamma(every + 1) - math.lgamma(count + 1) - math.lgamma(every - count + 1)
        surprise = nats - math.log(max(1, self.statistics.total)) - ways
        return surprise if surprise >= self._bar(count) else None

    def _bar(self, count: float) -> float:
        policy = self.policy
        if not self.question:
            return policy.surprise_of_order + policy.order_growth * math.log(max(1, self.statistics.total))
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
        return sum(-_part(term) * math.log(self.background.share(term, self.policy.floor)) for term in terms)


def _share_a_phrase(prompt: Sequence[str], record: Sequence[str]) -> bool:
    return not set(pairwise(prompt)).isdisjoint(pairwise(record))


def _size(terms: Iterable[str]) -> float:
    return sum(map(_part, terms))


def _part(term: str) -> float:
    """A word counts one; pairs of CJK characters overlap, so each counts half."""
    return 1.0 if term.isascii() else 0.5
