"""The confidence gate (C-03 after C-05): is the best record worth a word? Pure, standard library only.

It weighs each candidate by the evidence that the window of the cue holds beyond chance:

    q(term) = (events of the session with it + prior · background share) / (terms counted in the session + prior)
    p(term) = 1 - exp(-q · distinct terms of the window)             a chance match in a text of that length
    mass(m) = Σ over terms of m in the window: -ln p · idf / max idf
    z(m)    = (mass - its expectation under p) / √(its variance + 1)

and opens one of two doors. *Evidence*: mass plus the agreement of earlier passes clears an absolute bar, and some of it
stands in the event itself, not only around it. Terms of records that the window was given already count half: a second
record has to bring evidence of its own. *Answer*: the user's prompt is explained by one record (`recall/answer.py`).
How the numbers were found: docs/explanation/calibration.md.
"""

import math
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from recall.answer import AnswerPolicy, answered, evidential
from recall.background import Background
from recall.contracts import Cue, Frozen, Noise, Ranked, Scored, TermStatistics

Positive = Annotated[float, Meta(gt=0)]


class ConfidencePolicy(Frozen, frozen=True, kw_only=True):
    """The bar and its constants. Mass is in nats of the analyzer that the background table belongs to."""

    id: str = "confidence_pre_v1"
    theta: Positive = 16.0
    large: Positive = 1000.0  # records; above, the bar rises by the logarithm: the best of many is better by chance
    agree_weight: Annotated[float, Meta(ge=0, le=2)] = 0.7
    told_weight: Annotated[float, Meta(ge=0, le=1)] = 0.5
    focus_least: Annotated[float, Meta(ge=0)] = 3.0  # nats that the event itself has to hold
    voters: Annotated[int, Meta(ge=1, le=10)] = 3
    prior: Positive = 3000.0
    floor: Positive = 2e-6
    p_least: Positive = 1e-5
    p_most: Annotated[float, Meta(gt=0, lt=1)] = 0.98
    answer: AnswerPolicy = AnswerPolicy()


@dataclass(frozen=True, slots=True)
class Bar:
    """What a candidate has to clear."""

    policy: ConfidencePolicy
    background: Background


AGREE_DECAY = 0.9


def tally(counts: MutableMapping[str, int], terms: Iterable[str]) -> int:
    """Count the distinct terms of one event's segment text; returns how many there were. To be called for every segment
    when it is pushed, so that the decided event is counted too."""
    added = 0
    for term in terms:
        counts[term] = counts.get(term, 0) + 1
        added += 1
    return added


def aged(agree: Mapping[str, float], votes: Iterable[str], decay: float = AGREE_DECAY) -> dict[str, float]:
    """Agreement after a pass that ran recall: everything earlier fades, its votes count one."""
    faded = {memory_id: value * decay for memory_id, value in agree.items() if value * decay >= 0.01}
    for memory_id in votes:
        faded[memory_id] = faded.get(memory_id, 0.0) + 1.0
    return faded


def confident(ranked: Ranked, cue: Cue, noise: Noise, statistics: TermStatistics, bar: Bar) -> Ranked:
    """The one record worth a word, or none: `ranked` keeps at most one; `weighed` holds all, best first; `votes` the
    top ones by z."""
    scale = _Scale(cue, noise, statistics, bar)
    weighed = sorted((_weigh(one, ranked.told, scale) for one in ranked.ranked), key=_best_first)
    by_z = sorted((one for one in weighed if one.scored.mass > 0), key=lambda one: (-one.scored.z, one.memory_id))
    chosen = _evident(weighed, cue, statistics.total, bar.policy)
    if chosen is None:
        chosen = answered([one.scored for one in weighed], cue, statistics, bar.policy.answer, bar.background)
    return Ranked(
        ranked=() if chosen is None else (chosen,),
        dropped=ranked.dropped,
        votes=tuple(one.memory_id for one in by_z[: bar.policy.voters]),
        weighed=tuple(one.scored for one in weighed),
        told=ranked.told,
    )


@dataclass(frozen=True, slots=True)
class _Weighed:
    scored: Scored
    focus: float  # nats matched in the event itself

    @property
    def memory_id(self) -> str:
        return self.scored.candidate.memory_id


def _evident(weighed: Sequence[_Weighed], cue: Cue, records: int, policy: ConfidencePolicy) -> Scored | None:
    least = policy.focus_least if cue.focus else 0.0
    best = next((one.scored for one in weighed if one.focus >= least), None)
    if best is None or best.score < policy.theta + max(0.0, math.log(max(1, records) / policy.large)):
        return None
    return msgspec.structs.replace(best, reasons=(*best.reasons, "evidence"))


def _weigh(one: Scored, told: frozenset[str], scale: "_Scale") -> _Weighed:
    mass = full = focus = expected = variance = 0.0
    for term in one.candidate.terms:
        p, nats = scale.of(term)
        expected += p * nats
        variance += p * (1 - p) * nats * nats
        if term in scale.window:
            new = nats * scale.policy.told_weight if term in told else nats
            full += nats
            mass += new
            focus += nats if term in scale.focus else 0.0
    agree = scale.noise.agree.get(one.candidate.memory_id, 0.0)
    scored = Scored(
        candidate=one.candidate,
        score=mass + scale.policy.agree_weight * agree,
        mass=mass,
        z=(full - expected) / math.sqrt(variance + 1),
        agree=agree,
        reasons=one.reasons,
    )
    return _Weighed(scored, focus)


class _Scale:
    """Chance and weight of terms in one pass, computed once a term."""

    def __init__(self, cue: Cue, noise: Noise, statistics: TermStatistics, bar: Bar) -> None:
        self.policy = bar.policy
        self.noise = noise
        self.window = frozenset(term for term in cue.terms if evidential(term))
        self.focus = frozenset(cue.focus)
        self._statistics = statistics
        self._background = bar.background
        self._known: dict[str, tuple[float, float]] = {}
        self._idf_most = _idf(statistics.total, 1)

    def of(self, term: str) -> tuple[float, float]:
        """(chance of a match, nats that a match counts)."""
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = self._of(term)
        return known

    def _of(self, term: str) -> tuple[float, float]:
        if not evidential(term):
            return 0.0, 0.0
        policy = self.policy
        expected = policy.prior * self._background.share(term, policy.floor)
        q = (self.noise.counts.get(term, 0) + expected) / (self.noise.total + policy.prior)
        p = min(policy.p_most, max(policy.p_least, 1 - math.exp(-q * len(self.window))))
        idf = _idf(self._statistics.total, self._statistics.counts.get(term, 1))
        return p, -math.log(p) * idf / self._idf_most


def _idf(total: int, count: int) -> float:
    """Rarity of a term among the eligible records; positive also for a term that all of them hold."""
    return math.log(1 + (max(total, count) - count + 0.5) / (count + 0.5))


def _best_first(one: _Weighed) -> tuple[float, str]:
    return -one.scored.score, one.memory_id
