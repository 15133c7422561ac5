"""The confidence gate (C-03 after C-05): is the best record worth a word? Pure, standard library only.

It weighs each candidate by the evidence that the window of the cue holds beyond chance:

    q(term) = (events of the session with it + prior · background share) / (terms counted in the session + prior)
    p(term) = 1 - exp(-q · distinct terms of the window)             a chance match in a text of that length
    mass(m) = Σ over terms of m in the window: -ln p · idf / max idf
    z(m)    = (mass - its expectation under p) / √(its variance + 1)

and speaks only when mass plus the agreement of earlier passes clears an absolute bar: docs/explanation/calibration.md.
"""

import math
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from recall.background import Background
from recall.contracts import Cue, Frozen, Noise, Ranked, Scored, TermStatistics

Positive = Annotated[float, Meta(gt=0)]


class ConfidencePolicy(Frozen, frozen=True, kw_only=True):
    """The bar and its constants. Mass is in nats of the analyzer that the background table belongs to."""

    id: str = "confidence_pre_v1"
    theta: Positive = 21.0
    agree_weight: Annotated[float, Meta(ge=0, le=2)] = 0.7
    agree_decay: Annotated[float, Meta(gt=0, lt=1)] = 0.9
    voters: Annotated[int, Meta(ge=1, le=10)] = 3
    prior: Positive = 3000.0
    floor: Positive = 2e-6
    p_least: Positive = 1e-5
    p_most: Annotated[float, Meta(gt=0, lt=1)] = 0.98


@dataclass(frozen=True, slots=True)
class Bar:
    """What a candidate has to clear."""

    policy: ConfidencePolicy
    background: Background


def tally(counts: MutableMapping[str, int], terms: Iterable[str]) -> int:
    """Count the distinct terms of one event's segment text; returns how many there were. Call it for every segment,
    when it is pushed, so that the decided event is counted too."""
    added = 0
    for term in terms:
        counts[term] = counts.get(term, 0) + 1
        added += 1
    return added


def aged(agree: Mapping[str, float], votes: Iterable[str], decay: float = 0.9) -> dict[str, float]:
    """Agreement after a pass that ran recall: everything earlier fades, its votes count one."""
    faded = {memory_id: value * decay for memory_id, value in agree.items() if value * decay >= 0.01}
    for memory_id in votes:
        faded[memory_id] = faded.get(memory_id, 0.0) + 1.0
    return faded


def confident(ranked: Ranked, cue: Cue, noise: Noise, statistics: TermStatistics, bar: Bar) -> Ranked:
    """The one record worth a word, or none: `ranked` keeps at most one; `weighed` holds all, best first; `votes` the
    top ones by z."""
    weighed = sorted(_weigh(ranked.ranked, cue, noise, statistics, bar), key=_best_first)
    by_z = sorted(weighed, key=lambda one: (-one.z, one.candidate.memory_id))
    votes = tuple(one.candidate.memory_id for one in by_z[: bar.policy.voters] if one.mass > 0)
    chosen = tuple(one for one in weighed[:1] if one.score >= bar.policy.theta)
    return Ranked(ranked=chosen, dropped=ranked.dropped, votes=votes, weighed=tuple(weighed))


def _weigh(ranked: Iterable[Scored], cue: Cue, noise: Noise, statistics: TermStatistics, bar: Bar) -> Iterable[Scored]:
    policy = bar.policy
    window = frozenset(cue.terms)
    weights = _Weights(cue, noise, statistics, bar)
    for one in ranked:
        mass = expected = variance = 0.0
        for term in one.candidate.terms:
            p, nats = weights.of(term)
            expected += p * nats
            variance += p * (1 - p) * nats * nats
            if term in window:
                mass += nats
        z = (mass - expected) / math.sqrt(variance + 1)
        agree = noise.agree.get(one.candidate.memory_id, 0.0)
        yield Scored(
            candidate=one.candidate,
            score=mass + policy.agree_weight * agree,
            mass=mass,
            z=z,
            agree=agree,
            reasons=one.reasons,
        )


class _Weights:
    """Chance and weight of terms in one pass, computed once a term."""

    def __init__(self, cue: Cue, noise: Noise, statistics: TermStatistics, bar: Bar) -> None:
        self._noise = noise
        self._statistics = statistics
        self._bar = bar
        self._length = len(cue.terms)
        self._known: dict[str, tuple[float, float]] = {}
        self._idf_most = _idf(statistics.total, 1)

    def of(self, term: str) -> tuple[float, float]:
        """(chance of a match, nats that a match counts)."""
        known = self._known.get(term)
        if known is None:
            policy = self._bar.policy
            share = self._bar.background.share(term, policy.floor)
            q = (self._noise.counts.get(term, 0) + policy.prior * share) / (self._noise.total + policy.prior)
            p = min(policy.p_most, max(policy.p_least, 1 - math.exp(-q * self._length)))
            idf = _idf(self._statistics.total, self._statistics.counts.get(term, 1))
            known = self._known[term] = (p, -math.log(p) * idf / self._idf_most)
        return known


def _idf(total: int, count: int) -> float:
    return math.log(1 + (total - count + 0.5) / (count + 0.5)) if total else 1.0


def _best_first(one: Scored) -> tuple[float, str]:
    return -one.score, one.candidate.memory_id
