"""The figures of retrieval, against values worked out by hand."""

import math

import pytest

from host.evaluation.metrics import auc, ndcg, percentile, quality, recall_at, reciprocal_rank

LOG3, LOG5 = math.log2(3), math.log2(5)


@pytest.mark.parametrize(
    ("depth", "found", "relevant", "expected"),
    [
        (1, [7, 8, 9], {7}, 1.0),
        (1, [7, 8, 9], {8}, 0.0),
        (5, [7, 8, 9], {8, 4}, 0.5),
        (10, [], {1}, 0.0),
        (2, [7, 7, 8], {8}, 0.0),
    ],
)
def test_recall_is_the_share_of_the_relevant_among_the_first(
    depth: int, found: list[int], relevant: set[int], expected: float
) -> None:
    assert recall_at(depth, found, relevant) == expected


@pytest.mark.parametrize(
    ("found", "relevant", "expected"),
    [([5, 6], {5}, 1.0), ([5, 6], {6, 9}, 0.5), (list(range(20)), {10}, 0.0), ([], {1}, 0.0)],
)
def test_the_reciprocal_rank_is_that_of_the_first_relevant_one_of_ten(
    found: list[int], relevant: set[int], expected: float
) -> None:
    assert reciprocal_rank(found, relevant) == expected


@pytest.mark.parametrize(
    ("found", "relevant", "expected"),
    [
        ([1, 2], {1}, 1.0),
        ([2, 1], {1}, 1 / LOG3),
        ([1, 9, 9, 2], {1, 2}, (1 + 1 / LOG5) / (1 + 1 / LOG3)),
        (list(range(30)), {10}, 0.0),
        ([1], set(range(1, 13)), 1 / sum(1 / math.log2(place + 2) for place in range(10))),
    ],
)
def test_ndcg_discounts_by_place_and_is_one_for_a_perfect_answer(
    found: list[int], relevant: set[int], expected: float
) -> None:
    assert ndcg(found, relevant) == pytest.approx(expected)


def test_the_quality_of_several_queries_is_their_mean() -> None:
    one = quality([([1, 2], {1}), ([2, 1], {1}), ([], {3})])

    assert (one.queries, one.recall1, one.recall5, one.recall10) == (3, pytest.approx(1 / 3), 2 / 3, 2 / 3)
    assert one.mrr == pytest.approx(0.5)
    assert one.ndcg10 == pytest.approx((1 + 1 / LOG3) / 3)


def test_without_queries_every_figure_is_nought() -> None:
    assert quality([]).ndcg10 == 0
    assert percentile([], 0.5) == 0


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2), (0.99, 4), (0.01, 1)])
def test_a_percentile_is_a_value_that_was_seen(share: float, expected: float) -> None:
    assert percentile([4, 1, 3, 2], share) == expected


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        ([2, 3], [0, 1], 1.0),
        ([0], [1, 2], 0.0),
        ([1, 1], [1], 0.5),
        ([1, 3], [2, 2], 0.5),
        ([1, 2, 3], [2], 0.5),
        ([], [1], None),
        ([1], [], None),
    ],
)
def test_auc_is_how_often_a_positive_stands_above_a_negative(
    positive: list[float], negative: list[float], expected: float | None
) -> None:
    assert auc(positive, negative) == expected
