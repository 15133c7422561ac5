"""Ranges are cut at denied spans, at workspaces and at turns; every event is in one segment, and every text in one."""

import itertools
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.contracts import Barrier
from governance.formation.projecting import LONGEST_EVIDENCE, MOST_RECORDS, Evidence, evidence
from governance.formation.segments import (
    MOST_PLANNED,
    MOST_SEGMENTS,
    Segment,
    denied_within,
    fits,
    floor_of,
    in_one_job,
    plan,
)
from tests.support.builders import WORKSPACE
from tests.support.checkpoints import said


def barred(*spans: tuple[int, int]) -> tuple[Barrier, ...]:
    return tuple(Barrier(session_id="s", from_seq=first, through_seq=last) for first, last in spans)


def shown(seq: int, weight: int = 100, **fields: object) -> Evidence:
    (one,) = evidence([said("Some words.", seq, **fields)])
    return msgspec.structs.replace(one, weight=weight)


def spans(segments: Sequence[Segment]) -> list[tuple[int, int, bool]]:
    return [(one.from_seq, one.through_seq, one.denied) for one in segments]


def test_a_small_range_is_one_segment() -> None:
    segments = plan((0, 9), WORKSPACE, (), [shown(3), shown(5)])
    assert spans(segments) == [(0, 9, False)]
    assert [one.record.event_seq for one in segments[0].evidence] == [3, 5]


def test_a_denied_span_is_a_segment_of_its_own_and_a_floor_for_what_follows() -> None:
    segments = plan((0, 20), WORKSPACE, barred((5, 7), (6, 9)), [shown(3), shown(6), shown(12)])
    assert spans(segments) == [(0, 4, False), (5, 9, True), (10, 20, False)]
    assert segments[1].evidence == () and segments[2].floor == 10 and segments[0].floor == 0


def test_a_denied_span_that_goes_beyond_the_range_is_cut_to_it() -> None:
    assert spans(plan((4, 8), WORKSPACE, barred((0, 5), (8, 30)), ())) == [(4, 5, True), (6, 7, False), (8, 8, True)]
    assert denied_within(barred((0, 3), (9, 12)), 4, 8) == ()


def test_the_floor_is_behind_the_last_denied_span_before_it() -> None:
    assert floor_of(barred((0, 3), (9, 12)), 8) == 4
    assert floor_of(barred((0, 3), (9, 12)), 13) == 13
    assert floor_of((), 13) == 0


def test_a_range_is_split_where_the_workspace_changes() -> None:
    segments = plan(
        (0, 9), WORKSPACE, (), [shown(1), shown(3, workspace_key="b"), shown(6, workspace_key="b"), shown(8)]
    )
    assert spans(segments) == [(0, 2, False), (3, 7, False), (8, 9, False)]
    assert [one.workspace_key for one in segments] == [WORKSPACE, "b", WORKSPACE]


def test_a_large_range_is_split_at_the_turn_nearest_half_of_its_weight() -> None:
    heavy = [shown(seq, 4000, turn=turn) for seq, turn in ((1, 1), (2, 1), (3, 2), (4, 3))]
    assert spans(plan((0, 9), WORKSPACE, (), heavy)) == [(0, 2, False), (3, 9, False)]


def test_a_turn_that_is_too_large_by_itself_is_split_between_its_messages() -> None:
    heavy = [shown(seq, 5000, turn=1) for seq in (1, 2, 3, 4)]
    segments = plan((0, 9), WORKSPACE, (), heavy)
    assert [len(one.evidence) for one in segments] == [2, 2]


def test_more_than_64_records_are_too_many() -> None:
    segments = plan((0, 99), WORKSPACE, (), [shown(seq, 10) for seq in range(65)])
    assert all(fits(one.evidence) for one in segments) and len(segments) == 2


def test_a_job_takes_eight_segments_that_need_a_model_and_whatever_needs_none() -> None:
    texts = [shown(seq * 10, LONGEST_EVIDENCE) for seq in range(1, 13)]
    segments = in_one_job(plan((0, 200), WORKSPACE, barred((11, 12)), texts))
    asked = [one for one in segments if one.evidence]
    assert len(asked) == MOST_SEGMENTS and any(one.denied for one in segments)
    assert sum(bool(one.evidence) for one in in_one_job(segments, 1)) == 1


def test_a_job_looks_no_further_than_it_goes() -> None:
    """What lies behind is not even read: own work stays small, however long a session waited."""
    looked = 0

    def endless():
        nonlocal looked
        for seq in range(10_000):
            looked += 1
            yield shown(seq, 4000)

    segments = plan((0, 10_000), WORKSPACE, (), endless())
    assert looked == MOST_PLANNED // 4000 + 1
    assert segments[-1].through_seq == looked - 2


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(1, LONGEST_EVIDENCE), st.integers(1, 4), st.sampled_from("ab")),
        max_size=60,
    ),
    st.lists(st.tuples(st.integers(0, 150), st.integers(0, 20)), max_size=4),
)
def test_segments_cover_every_event_once_and_every_text_that_is_not_denied(
    texts: list[tuple[int, int, int, str]], denied: list[tuple[int, int]]
) -> None:
    found, seq, turn = [], 0, 0
    for step, weight, turns, workspace in texts:
        seq, turn = seq + step, turn + turns // 4
        found.append(shown(seq, weight, turn=turn, workspace_key=workspace))
    barriers = barred(*((first, first + length) for first, length in denied))
    segments = plan((0, seq + 5), "a", barriers, found)
    assert segments[0].from_seq == 0
    for before, after in itertools.pairwise(segments):
        assert after.from_seq == before.through_seq + 1
    for one in segments:
        assert len({text.record.workspace_key for text in one.evidence}) <= 1
        assert fits(one.evidence)
    taken = [text.record.event_seq for one in segments for text in one.evidence]
    reached = segments[-1].through_seq
    inside = {e for first, last in denied_within(barriers, 0, seq + 5) for e in range(first, last + 1)}
    assert taken == [
        one.record.event_seq for one in found if one.record.event_seq <= reached and one.record.event_seq not in inside
    ]
    assert reached == seq + 5 or sum(one.weight for one in found) > MOST_PLANNED


@pytest.mark.parametrize("count", [MOST_RECORDS, MOST_RECORDS + 1])
def test_the_bounds_of_a_segment_are_inside(count: int) -> None:
    assert fits([shown(seq, LONGEST_EVIDENCE // 65) for seq in range(count)]) is (count == MOST_RECORDS)
