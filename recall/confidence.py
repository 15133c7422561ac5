"""The confidence gate (C-03 after C-05): is the best record worth a word? Pure, standard library only.

It weighs each candidate by the evidence that the window of the cue holds beyond chance:

    q(term) = (events of the session with it + prior · background share) / (terms counted in the session + prior)
    p(term) = 1 - exp(-q · distinct terms of the window)             a chance match in a text of that length
    mass(m) = Σ over terms of m in the window: -ln p · idf / max idf
    z(m)    = (mass - its expectation under p) / √(its variance + 1)

and opens one of two doors. *Evidence*: mass plus the agreement of earlier passes clears an absolute bar, and

- some of it stands in the event itself, not only around it;
- it comes from several things: one name counts whole and in parts, and a name is a topic, not yet a need. A prompt is
  exempt, its words were chosen one by one;
- the agent is not just saying it: a reply that holds much of what the record holds has found it out already.

A failing result is evidence of a need by itself, so its bar is lower. One that names its error as the record names it
needs little more: the command that failed, or one other rare thing. What stood around it says nothing against that, so
result and call are a window of their own then, and names count once, not in parts. Who corrects the agent states the
rule himself, so the bar of such a prompt is higher.

Terms of records that the window was given already count a quarter: a second record has to bring evidence of its own.
*Answer*: the user's prompt is explained by one record (`recall/answer.py`). Where no door opens, an episode may speak
that its source met exactly; it is weighed with nothing and takes nobody's place. How the numbers were found:
docs/explanation/calibration.md.
"""

import math
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from recall.answer import AnswerPolicy, answered, evidential, part, things, wholes
from recall.background import Background
from recall.came_up import came_up, parted
from recall.contracts import Cue, Frozen, Noise, Ranked, Scored, SegmentKind, TermStatistics

Positive = Annotated[float, Meta(gt=0)]


class ConfidencePolicy(Frozen, frozen=True, kw_only=True):
    """The bar and its constants. Mass is in nats of the analyzer that the background table belongs to."""

    id: str = "confidence_pre_v3"
    theta: Positive = 17.0
    failed: Annotated[float, Meta(ge=0)] = 3.0  # nats that the bar of a failing result is lower
    named: Positive = 8.0  # nats of whole things that a failing result and a record which name one error have to share
    named_things: Annotated[float, Meta(ge=1)] = 2.0  # and how many, the error being one
    corrected: Annotated[float, Meta(ge=0)] = 8.0  # nats that the bar of a prompt that corrects is higher
    large: Positive = 1000.0  # records; above, the bar rises by the logarithm: the best of many is better by chance
    agree_weight: Annotated[float, Meta(ge=0, le=2)] = 0.7
    told_weight: Annotated[float, Meta(ge=0, le=1)] = 0.25
    focus_least: Annotated[float, Meta(ge=0)] = 3.0  # nats that the event itself has to hold
    things: Annotated[float, Meta(ge=0)] = 4.0  # that a window around anything but a prompt shares with the record
    stated: Annotated[float, Meta(gt=0, le=1)] = 0.3  # of a record's information, that a reply or call may hold
    replies: bool = True  # whether a record may be handed over because of what the agent says
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
    records, episodes = parted(ranked.ranked, bar.policy.theta / ConfidencePolicy().theta)
    weighed = sorted((_weigh(one, ranked.told, scale) for one in records), key=_best_first)
    chosen = _evident(weighed, cue, scale) or _named(weighed, ranked.told, cue, scale)
    if chosen is None:
        chosen = answered([one.scored for one in weighed], cue, statistics, bar.policy.answer, bar.background)
    if chosen is None and cue.segment_kind is not None:
        chosen = came_up(episodes)
    return Ranked(
        ranked=() if chosen is None else (chosen,),
        dropped=ranked.dropped,
        votes=_votes(weighed, scale),
        weighed=(*(one.scored for one in weighed), *episodes),
        told=ranked.told,
    )


class _Weighed(NamedTuple):
    scored: Scored
    focus: float  # nats matched in the event itself
    full: float  # nats matched, those of terms told already included
    z_most: float  # its z is not larger: what was not matched only adds to what chance would bring

    @property
    def memory_id(self) -> str:
        return self.scored.candidate.memory_id


def _votes(weighed: Sequence[_Weighed], scale: "_Scale") -> tuple[str, ...]:
    """The best by z, which takes all terms of a record: it is reckoned out only for those that can be among them."""
    best: list[tuple[float, str]] = []
    for one in sorted(weighed, key=lambda one: -one.z_most):
        if len(best) == scale.policy.voters and one.z_most < -best[-1][0]:
            break
        if one.scored.mass > 0:
            best = sorted([*best, (-scale.z(one), one.memory_id)])[: scale.policy.voters]
    return tuple(memory_id for _, memory_id in best)


def _evident(weighed: Sequence[_Weighed], cue: Cue, scale: "_Scale") -> Scored | None:
    """The best record over the bar whose evidence holds up."""
    least = scale.policy.focus_least if cue.focus else 0.0
    for one in weighed:
        if one.scored.score < one.scored.bar:
            return None
        if one.focus >= least and _holds_up(one.scored.candidate.terms, cue.segment_kind, scale):
            return msgspec.structs.replace(one.scored, reasons=(*one.scored.reasons, "evidence"))
    return None


def _named(weighed: Sequence[_Weighed], told: frozenset[str], cue: Cue, scale: "_Scale") -> Scored | None:
    """The record that names the error of a failing result, and enough besides; its score and bar are of this match."""
    errors = frozenset(cue.errors)
    named = [one.scored for one in weighed if not errors.isdisjoint(one.scored.candidate.terms)]
    if not named:
        return None
    alone = scale.narrowed(cue, (*cue.focus, *cue.act))
    found = [(alone.shared(one.candidate.terms, told), one) for one in named]
    held = [(nats, one) for (nats, count), one in found if count >= scale.policy.named_things and nats >= alone.named]
    if not held:
        return None
    nats, chosen = min(held, key=lambda pair: (-pair[0], pair[1].candidate.memory_id))
    return msgspec.structs.replace(chosen, score=nats, bar=alone.named, reasons=(*chosen.reasons, "evidence"))


def _holds_up(terms: Sequence[str], kind: SegmentKind | None, scale: "_Scale") -> bool:
    """Whether the match is more than one name, and more than the agent's own words. `terms`: of the record."""
    if kind is SegmentKind.REPLY and not scale.policy.replies:
        return False
    if kind in ITS_OWN and scale.stated(terms) >= scale.policy.stated:
        return False
    return kind in UNASKED or things(term for term in terms if term in scale.window) >= scale.policy.things


ITS_OWN = (SegmentKind.REPLY, SegmentKind.CALL)  # what the agent says, and what it is about to run
UNASKED = (None, SegmentKind.PROMPT)  # cues whose evidence may be one name: a seed or search, and what a person wrote


def _weigh(one: Scored, told: frozenset[str], scale: "_Scale") -> _Weighed:
    mass = full = focus = expected = variance = 0.0
    for term in filter(scale.window.__contains__, one.candidate.terms):
        nats, mean, spread = scale.of(term)
        expected += mean
        variance += spread
        full += nats
        mass += nats * scale.policy.told_weight if term in told else nats
        focus += nats if term in scale.focus else 0.0
    agree = scale.noise.agree.get(one.candidate.memory_id, 0.0)
    scored = Scored(
        candidate=one.candidate,
        score=mass + scale.policy.agree_weight * agree,
        mass=mass,
        agree=agree,
        bar=scale.bar,
        reasons=one.reasons,
        confidences=one.confidences,
    )
    return _Weighed(scored, focus, full, max(0.0, full - expected) / math.sqrt(variance + 1))


_Weight = tuple[float, float, float]  # nats that a match of a term counts; their mean and variance by chance


class _Scale:
    """Chance and weight of terms in one pass, computed once a term."""

    def __init__(self, cue: Cue, noise: Noise, statistics: TermStatistics, bar: Bar) -> None:
        self.policy = bar.policy
        self.noise = noise
        self.window = frozenset(term for term in cue.terms if evidential(term))
        self.focus = frozenset(cue.focus)
        self._statistics = statistics
        self._background = bar.background
        self.bar = self._bar(cue)
        self.named = bar.policy.named + self._growth
        self._known: dict[str, _Weight] = {}
        self._alike: dict[tuple[int, float, int], _Weight] = {}
        self._idf_most = _idf(statistics.total, 1)

    def of(self, term: str) -> _Weight:
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = self._of(term)
        return known

    def z(self, one: _Weighed) -> float:
        """How far what a record matched is from what chance brings a record of its terms."""
        expected = variance = 0.0
        for term in one.scored.candidate.terms:
            _, mean, spread = self.of(term)
            expected += mean
            variance += spread
        return (one.full - expected) / math.sqrt(variance + 1)

    def narrowed(self, cue: Cue, terms: Iterable[str]) -> "_Scale":
        """The same scale over a part of the window."""
        bar = Bar(self.policy, self._background)
        return _Scale(msgspec.structs.replace(cue, terms=tuple(terms)), self.noise, self._statistics, bar)

    def shared(self, terms: Iterable[str], told: frozenset[str]) -> tuple[float, float]:
        """(nats, number) of the whole things that a record of these terms shares with the window."""
        whole = wholes(term for term in terms if term in self.window)
        nats = sum(part(term) * self.of(term)[0] * (self.policy.told_weight if term in told else 1.0) for term in whole)
        return nats, sum(map(part, whole))

    @property
    def _growth(self) -> float:
        return max(0.0, math.log(max(1, self._statistics.total) / self.policy.large))

    def _bar(self, cue: Cue) -> float:
        higher = self.policy.corrected if cue.corrects else 0.0
        if cue.segment_kind is SegmentKind.RESULT:
            higher -= self.policy.failed  # only failing results are looked up for
        return max(0.0, self.policy.theta + higher) + self._growth

    def stated(self, terms: Iterable[str]) -> float:
        """Which share of the information of a record's terms the event itself holds: rare words say more."""
        held = whole = 0.0
        for term in filter(evidential, terms):
            information = -math.log(self._background.share(term, self.policy.floor))
            whole += information
            held += information if term in self.focus else 0.0
        return held / whole if whole else 0.0

    def _of(self, term: str) -> _Weight:
        if not evidential(term):
            return 0.0, 0.0, 0.0
        share = self._background.share(term, self.policy.floor)
        figures = self.noise.counts.get(term, 0), share, self._statistics.counts.get(term, 1)
        found = self._alike.get(figures)  # rare terms have the same figures, and most terms are rare
        if found is None:
            found = self._alike[figures] = self._reckoned(*figures)
        return found

    def _reckoned(self, seen: int, share: float, records: int) -> _Weight:
        """The weight of a term by its counts: in the session, in the background, and in the store."""
        policy = self.policy
        q = (seen + policy.prior * share) / (self.noise.total + policy.prior)
        p = min(policy.p_most, max(policy.p_least, 1 - math.exp(-q * len(self.window))))
        nats = -math.log(p) * _idf(self._statistics.total, records) / self._idf_most
        return nats, p * nats, p * (1 - p) * nats * nats


def _idf(total: int, count: int) -> float:
    """Rarity of a term among the eligible records; positive also for a term that all of them hold."""
    return math.log(1 + (max(total, count) - count + 0.5) / (count + 0.5))


def _best_first(one: _Weighed) -> tuple[float, str]:
    return -one.scored.score, one.memory_id
