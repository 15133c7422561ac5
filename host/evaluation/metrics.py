"""The figures of retrieval, as the sets define them: binary gain, ten places. Documents go by number. Pure."""

import math
from collections.abc import Collection, Iterable, Sequence

from recall.contracts import Frozen

DEPTH = 10


class Quality(Frozen, frozen=True, kw_only=True):
    """Means over queries. Recall: the share of the relevant documents in the first k. MRR and nDCG look at ten."""

    queries: int
    recall1: float
    recall5: float
    recall10: float
    mrr: float
    ndcg10: float


def quality(answers: Iterable[tuple[Sequence[int], Collection[int]]]) -> Quality:
    """The means over (what was found, best first; what is relevant). Without queries all are 0."""
    rows = [
        (
            recall_at(1, found, relevant),
            recall_at(5, found, relevant),
            recall_at(10, found, relevant),
            reciprocal_rank(found, relevant),
            ndcg(found, relevant),
        )
        for found, relevant in answers
    ]
    means = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [0.0] * 5
    return Quality(
        queries=len(rows), recall1=means[0], recall5=means[1], recall10=means[2], mrr=means[3], ndcg10=means[4]
    )


def recall_at(depth: int, found: Sequence[int], relevant: Collection[int]) -> float:
    """The share of the relevant documents among the first `depth` found."""
    return len(set(found[:depth]).intersection(relevant)) / len(relevant)


def reciprocal_rank(found: Sequence[int], relevant: Collection[int]) -> float:
    """One by the place of the first relevant id; 0 when none is among the first ten."""
    return next((1 / place for place, one in enumerate(found[:DEPTH], start=1) if one in relevant), 0.0)


def ndcg(found: Sequence[int], relevant: Collection[int]) -> float:
    """Gain discounted by the place's logarithm, by that of a perfect answer."""
    gain = sum(_discount(place) for place, one in enumerate(found[:DEPTH]) if one in relevant)
    return gain / sum(map(_discount, range(min(DEPTH, len(relevant)))))


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)


def percentile(values: Collection[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def auc(positive: Collection[float], negative: Collection[float]) -> float | None:
    """How often a positive stands above a negative, a tie counting half. None when there is none of one kind."""
    if not positive or not negative:
        return None
    ordered = sorted([(value, True) for value in positive] + [(value, False) for value in negative])
    above = 0.0
    below = 0  # negatives below the values at hand
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        wins = sum(is_positive for _, is_positive in ordered[start:end])
        ties = end - start - wins
        above += wins * (below + ties / 2)
        below += ties
        start = end
    return above / (len(positive) * len(negative))
