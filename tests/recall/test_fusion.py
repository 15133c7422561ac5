"""Arms are brought together by weighted, normalised scores; what each said in absolute terms is kept."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import Candidate, SourceName
from recall.fusion import Fused, FusionPolicy, fuse
from tests.support.builders import a_candidate, a_memory_id

POLICY = FusionPolicy(lexical=0.75)


def by(source: SourceName, number: int, score: float, **fields: Any) -> Candidate:
    memory_id = a_memory_id(number)
    given = {"source": source, "memory_id": memory_id, "score": score, "id": f"{source}:{memory_id}"} | fields
    return a_candidate(f"Fact {number}.", **given)


def lexical(number: int, score: float, **fields: Any) -> Candidate:
    return by(SourceName.LEXICAL, number, score, **fields)


def engine(number: int, score: float, **fields: Any) -> Candidate:
    return by(SourceName.ENGINE, number, score, **fields)


def relevances(candidates: Sequence[Candidate], policy: FusionPolicy = POLICY) -> dict[int, float]:
    fused, _ = fuse(candidates, policy)
    return {int(one.candidate.memory_id.removeprefix("mem_"), 16): pytest.approx(one.relevance) for one in fused}


def order(fused: Sequence[Fused]) -> list[str]:
    return [one.candidate.memory_id for one in sorted(fused, key=lambda one: (-one.relevance, one.candidate.memory_id))]


def test_a_memory_of_two_arms_is_one_entry_that_adds_their_shares() -> None:
    fused = relevances([lexical(1, 8.0), lexical(2, 4.0), engine(1, 0.3), engine(3, 0.7), engine(4, 0.5)])

    assert fused == {
        1: 0.75 * 1.0 + 0.25 * 3 / 7,
        2: 0.75 * 0.5,  # half the best one's score
        3: 0.25 * 1.0,
        4: 0.25 * 5 / 7,
    }


def test_an_arm_alone_has_all_the_weight_and_its_own_order() -> None:
    scores = [(1, 0.2), (2, 0.9), (3, 0.5)]

    for source in (SourceName.LEXICAL, SourceName.ENGINE):
        fused, _ = fuse([by(source, number, score) for number, score in scores], POLICY)
        assert order(fused) == [a_memory_id(2), a_memory_id(3), a_memory_id(1)]
        assert max(one.relevance for one in fused) == 1.0


def test_one_hit_and_equal_hits_count_in_full() -> None:
    assert relevances([lexical(1, 3.0)]) == {1: 1.0}
    assert relevances([engine(1, 0.4), engine(2, 0.4)]) == {1: 1.0, 2: 1.0}


def test_an_arm_that_gave_nothing_any_score_adds_nothing() -> None:
    assert relevances([lexical(1, 0.0), engine(2, -0.1)]) == {1: 0.0, 2: 0.0}


def test_the_arm_beside_the_lexical_one_gets_what_it_leaves_and_one_of_a_single_kind_takes_from_neither() -> None:
    fused = relevances([lexical(1, 5.0), engine(2, 0.9), by(SourceName.EPISODIC, 3, 2.0)])

    assert fused == {1: 0.75, 2: 0.25, 3: 0.5}


def test_what_an_arm_of_a_single_kind_finds_counts_as_far_as_the_others_say_less() -> None:
    fused = relevances(
        [lexical(1, 5.0), lexical(2, 1.0), by(SourceName.SEMANTIC, 1, 2.0), by(SourceName.SEMANTIC, 2, 2.0)]
    )

    assert fused == {1: 1.0, 2: 0.5}


def test_what_each_arm_said_in_absolute_terms_survives() -> None:
    found, _ = fuse(
        [
            lexical(1, 9.0, confidence=0.4, reasons=("words",)),
            engine(1, 0.62, confidence=0.62, reasons=("meaning", "words")),
            engine(2, 0.1, confidence=0.1),
        ],
        POLICY,
    )

    assert found[0].confidences == {"lexical": 0.4, "engine": 0.62}
    assert found[0].scores == {"lexical": 9.0, "engine": 0.62}
    assert set(found[0].reasons) == {"words", "meaning"} and len(found[0].reasons) == 2
    assert found[0].candidate.source is SourceName.LEXICAL  # its terms are those of the words that matched
    assert found[1].confidences == {"engine": 0.1}


def test_a_weak_hit_of_a_second_arm_does_not_sink_a_good_one_of_the_first() -> None:
    fused, _ = fuse([lexical(1, 10.0), lexical(2, 9.0), engine(2, 0.2), engine(3, 0.9), engine(4, 0.8)], POLICY)

    assert order(fused)[:2] == [a_memory_id(1), a_memory_id(2)]


def test_an_id_with_two_digests_is_nobodys_and_moves_no_bounds() -> None:
    clash = [lexical(1, 90.0), engine(1, 0.9, record_digest="f" * 64)]

    fused, conflicts = fuse([*clash, lexical(2, 4.0), lexical(3, 2.0)], POLICY)

    assert conflicts == [a_memory_id(1)]
    assert {one.candidate.memory_id: one.relevance for one in fused} == {a_memory_id(2): 1.0, a_memory_id(3): 0.5}


def test_an_arm_that_names_a_memory_twice_says_it_once() -> None:
    fused = relevances([lexical(1, 4.0), lexical(1, 2.0, id="lexical:again"), lexical(2, 1.0)])

    assert fused == {1: 1.0, 2: 0.25}


def test_nothing_is_fused_from_nothing() -> None:
    assert fuse([], POLICY) == ([], [])


hits = st.lists(
    st.tuples(st.sampled_from([lexical, engine]), st.integers(1, 8), st.floats(-1, 20, allow_nan=False)), max_size=16
)


@given(hits, st.randoms(use_true_random=False), st.floats(0, 1))
def test_the_order_in_which_arms_answer_changes_nothing(made: list[Any], chance: Any, weight: float) -> None:
    candidates = [make(number, score, id=f"{place}") for place, (make, number, score) in enumerate(made)]
    mixed = list(candidates)
    chance.shuffle(mixed)
    policy = FusionPolicy(lexical=weight)

    fused, conflicts = fuse(candidates, policy)

    assert fuse(mixed, policy) == (fused, conflicts)
    assert conflicts == [] and {one.candidate.memory_id for one in fused} == {one.memory_id for one in candidates}
