"""Bringing the arms' candidates together (C-05): one entry a memory, its relevance a weighted sum of normalised scores.

An arm's scores are taken as shares of its best one, after the filters, and added with `lexical` of the weight for the
lexical arm. Stretching them from worst to best would make much of small differences; plain reciprocal rank lets a weak
arm sink a good one (docs/explanation/retrieval.md). An arm that knows one kind of memory alone takes no weight from
those that know all: its find counts as far as they say less of it. What each arm said in absolute terms is kept beside:
the confidence gate needs it. Pure.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from recall.contracts import Candidate, Frozen, SourceName

OF_A_KIND = frozenset({SourceName.EPISODIC, SourceName.SEMANTIC, SourceName.PROCEDURAL})
ALONE = 0.5  # what an arm of one kind counts beside the others


class FusionPolicy(Frozen, frozen=True, kw_only=True):
    """How much each arm counts."""

    id: str = "fusion_pre_v1"
    lexical: Annotated[float, Meta(ge=0, le=1)] = 0.82  # the other arms share the rest


class Fused(Frozen, frozen=True, kw_only=True):
    """A memory with its relevance in [0, 1] and what each arm that found it said."""

    candidate: Candidate
    relevance: float
    confidences: Mapping[str, float]
    scores: Mapping[str, float]
    reasons: tuple[str, ...] = ()


def fuse(candidates: Sequence[Candidate], policy: FusionPolicy) -> tuple[list[Fused], list[str]]:
    """(one entry a memory in the order of its id, ids that came with two digests: those are nobody's record)."""
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=lambda one: (one.memory_id, one.source, -one.score, one.id)):
        groups[candidate.memory_id].append(candidate)
    conflicts = [key for key, group in groups.items() if len({one.record_digest for one in group}) > 1]
    for memory_id in conflicts:
        del groups[memory_id]
    best = _best(groups)
    weights = _weights(tuple(best), policy)
    return [_fused(group, best, weights) for group in groups.values()], conflicts


def _best(groups: Mapping[str, Sequence[Candidate]]) -> dict[SourceName, float]:
    best: dict[SourceName, float] = {}
    for candidate in (one for group in groups.values() for one in group):
        best[candidate.source] = max(best.get(candidate.source, 0.0), candidate.score)
    return best


def _weights(sources: Sequence[SourceName], policy: FusionPolicy) -> dict[SourceName, float]:
    of_all = [source for source in sources if source not in OF_A_KIND]
    if 0 < len(of_all) < len(sources):
        return dict.fromkeys(sources, ALONE) | _weights(of_all, policy)
    if len(sources) < 2:
        return dict.fromkeys(sources, 1.0)
    others = max(1, len(sources) - (SourceName.LEXICAL in sources))
    rest = (1 - policy.lexical) / others
    return {source: policy.lexical if source is SourceName.LEXICAL else rest for source in sources}


def _fused(group: Sequence[Candidate], best: Mapping[SourceName, float], weights: Mapping[SourceName, float]) -> Fused:
    if len(group) == 1:  # most are found by one arm
        one, high = group[0], best[group[0].source]
        return Fused(
            candidate=one,
            relevance=weights[one.source] * max(0.0, one.score) / high if high > 0 else 0.0,
            confidences={one.source: one.confidence},
            scores={one.source: one.score},
            reasons=one.reasons,
        )
    shares: dict[SourceName, float] = {}
    for one in reversed(group):  # an arm that names it twice says it once
        high = best[one.source]
        shares[one.source] = weights[one.source] * (max(0.0, one.score) / high if high > 0 else 0.0)
    of_kind = max((share for source, share in shares.items() if source in OF_A_KIND), default=0.0)
    relevance = max(of_kind, sum(share for source, share in shares.items() if source not in OF_A_KIND))
    return Fused(
        candidate=next((one for one in group if one.source is SourceName.LEXICAL), group[0]),
        relevance=relevance,
        confidences={one.source: one.confidence for one in reversed(group)},
        scores={one.source: one.score for one in reversed(group)},
        reasons=tuple(dict.fromkeys(reason for one in group for reason in one.reasons)),
    )
