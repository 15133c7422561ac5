"""When a running session is formed in batches."""

import pytest

from governance.formation.turns import IDLE_MS, due, mark


def test_it_is_done_after_one_two_and_four_turns_and_then_every_five() -> None:
    formed, done = 0, []
    for turn in range(1, 21):
        if due(turn, formed):
            done.append(turn)
            formed = turn
    assert done == [1, 2, 4, 9, 14, 19]


@pytest.mark.parametrize(("turns", "last"), [(0, 0), (1, 1), (3, 2), (4, 4), (8, 4), (9, 9), (13, 9), (1004, 1004)])
def test_the_last_mark_of_so_many_turns(turns: int, last: int) -> None:
    assert mark(turns) == last


def test_what_was_missed_is_made_up_for_at_the_next_turn() -> None:
    assert due(6, formed=3)
    assert not due(6, formed=4)


def test_an_idle_session_is_done_when_it_said_something_new() -> None:
    assert due(6, formed=5, idle_ms=IDLE_MS)
    assert not due(6, formed=5, idle_ms=IDLE_MS - 1)
    assert not due(5, formed=5, idle_ms=10 * IDLE_MS)
