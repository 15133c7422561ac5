"""Heat: one for what is new, one more for what is written again, and an end to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team import heat
from governance.team.errors import Kind, TeamFault


def test_a_new_scene_is_one_a_changed_one_is_one_more_and_a_merged_one_is_all_of_them_and_one() -> None:
    assert (heat.created(), heat.updated(5), heat.merged((3, 4))) == (1, 6, 8)


@given(st.lists(st.integers(min_value=1, max_value=heat.HOTTEST), min_size=2, max_size=6))
def test_heat_is_counted_up_to_its_end_and_never_over_it(sources: list[int]) -> None:
    wanted = sum(sources) + 1
    if wanted <= heat.HOTTEST:
        assert heat.merged(sources) == wanted
        return
    with pytest.raises(TeamFault) as fault:
        heat.merged(sources)
    assert fault.value.kind is Kind.CAPACITY_EXCEEDED


def test_the_hottest_scene_cannot_be_written_again() -> None:
    assert heat.updated(heat.HOTTEST - 1) == heat.HOTTEST
    with pytest.raises(TeamFault) as fault:
        heat.updated(heat.HOTTEST)
    assert fault.value.kind is Kind.CAPACITY_EXCEEDED
