"""The matrix against a plain computation: the nearest of the visible ones, whatever was added and removed before."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.vectors.encoder import Floats, quantised
from recall.vectors.matrix import Matrix, Rows

DIMENSION = 96  # not a multiple of 64


def vectors(count: int, seed: int = 0) -> Floats:
    made = np.random.default_rng(seed).standard_normal((count, DIMENSION), np.float32)
    unit: Floats = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def rows(numbers: Sequence[int], scopes: Sequence[int], of: Floats) -> Rows:
    codes, scales = quantised(of)
    return Rows(np.array(numbers, np.int64), np.array(scopes, np.int32), scales, codes)


def small(**limits: int) -> Matrix:
    return Matrix(DIMENSION, block=64, **limits)


def test_the_nearest_come_first_and_only_those_in_scope() -> None:
    made = vectors(300)
    matrix = small()
    matrix.add(rows(range(1, 301), [number % 3 for number in range(300)], made))

    near = matrix.nearest(made[40], [1, 2], 10)

    cosines = made @ made[40]
    expected = [row + 1 for row in np.argsort(-cosines) if row % 3 in (1, 2)][:10]
    assert list(near.rows) == expected and near.rows[0] == 41
    assert np.allclose(near.cosines, [cosines[row - 1] for row in near.rows], atol=0.01)


def test_no_scope_and_no_record_have_no_nearest() -> None:
    matrix = small()
    assert matrix.nearest(vectors(1)[0], [1], 5).rows == ()
    matrix.add(rows([1], [1], vectors(1)))

    assert matrix.nearest(vectors(1)[0], [], 5).rows == ()
    assert matrix.nearest(-vectors(1)[0], [1], 5).rows == ()  # the opposite is not near


def test_of_equally_near_records_the_smaller_row_comes_first() -> None:
    same = np.repeat(vectors(1), 200, axis=0)
    matrix = small(exact=50, rescored=20)
    order = np.random.default_rng(3).permutation(np.arange(1, 201))
    matrix.add(rows(order.tolist(), [1] * 200, same))

    assert matrix.nearest(same[0], [1], 7).rows == (1, 2, 3, 4, 5, 6, 7)


def test_above_the_exact_size_the_sign_bits_lead_to_nearly_the_same_records() -> None:
    made, near_ones = vectors(3000, seed=1), vectors(20, seed=2)
    made[::150] = near_ones + 0.05 * vectors(20, seed=5)
    scanned, exact = small(exact=100, rescored=200), small()
    for matrix in (scanned, exact):
        matrix.add(rows(range(1, 3001), [1] * 3000, made))

    for number, query in enumerate(near_ones):
        assert scanned.nearest(query, [1], 1).rows == exact.nearest(query, [1], 1).rows == (number * 150 + 1,)


def test_a_scan_filters_before_it_limits() -> None:
    made = vectors(1000, seed=4)
    matrix = small(exact=100, rescored=150)
    matrix.add(rows(range(1, 1001), [2 if number % 4 else 1 for number in range(1000)], made))

    near = matrix.nearest(made[8], [1], 200)

    assert near.rows[0] == 9 and len(near.rows) > 60
    assert all((row - 1) % 4 == 0 for row in near.rows)


def test_adding_a_row_again_replaces_it() -> None:
    first, second = vectors(2)
    matrix = small()
    matrix.add(rows([5], [1], first[None]))
    matrix.add(rows([5], [2], second[None]))

    assert matrix.alive == 1 and matrix.count([1]) == 0
    assert matrix.nearest(second, [2], 5).rows == (5,)


def test_vectors_that_are_near_to_one_another_are_named_in_pairs() -> None:
    made = vectors(200, seed=8)
    made[150] = made[20] + 0.01 * made[1]
    matrix = small()
    matrix.add(rows(range(1, 201), [1] * 200, made))

    near = matrix.nearest(made[20], [1], 5)

    assert set(near.rows[:2]) == {21, 151}
    assert matrix.alike(near.places, 0.9) == ((0, 1),)
    assert matrix.alike(near.places[1:], 0.9) == matrix.alike(near.places[:1], 0.9) == ()


def test_clearing_leaves_nothing() -> None:
    matrix = small()
    matrix.add(rows([1, 2], [1, 1], vectors(2)))

    matrix.clear()

    assert matrix.alive == matrix.count([1]) == 0 and matrix.nearest(vectors(1)[0], [1], 5).rows == ()


@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(1, 90), unique=True, max_size=40)), max_size=12))
def test_whatever_came_and_went_the_living_are_found(acts: list[tuple[bool, list[int]]]) -> None:
    made = vectors(91, seed=6)
    matrix = Matrix(DIMENSION, block=16)
    living: set[int] = set()

    for add, numbers in acts:
        if add:
            matrix.add(rows(numbers, [1] * len(numbers), made[numbers]))
            living |= set(numbers)
        else:
            matrix.remove(numbers)
            living -= set(numbers)

    assert matrix.alive == matrix.count([1]) == len(living)
    for number in living:
        assert matrix.nearest(made[number], [1], 1).rows == (number,)


def test_room_of_the_gone_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.vectors.matrix.CHUNK", 10)
    made = vectors(200, seed=7)
    matrix = small()
    matrix.add(rows(range(1, 201), [1] * 200, made))

    matrix.remove(range(1, 191))

    assert len(matrix._blocks) == 1 and matrix.alive == 10
    assert matrix.nearest(made[195], [1], 1).rows == (196,)
