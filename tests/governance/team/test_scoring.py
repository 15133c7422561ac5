"""The score of a session, part by part."""

import pytest

from governance.team.contracts.turns import Edge, Strength, TerminalState
from governance.team.scoring import recovered, score
from governance.team.turns import Recorded, Use
from tests.governance.team.test_edges import ONE, TWO, a_turn

COMPLETED, FAILED, CANCELLED = TerminalState.COMPLETED, TerminalState.FAILED, TerminalState.CANCELLED


def a_use(state: TerminalState = COMPLETED, about: str = "x", tool: str = "shell") -> Use:
    return Use(tools=(tool,), state=state, about=about)


def a_record(*uses: Use, conclusive: bool = False) -> Recorded:
    return Recorded(
        turn=a_turn(),
        session_id="s",
        folder="/p",
        seal_seq=9,
        agent="main",
        observed=(),
        uses=uses,
        conclusive=conclusive,
    )


def test_each_turn_is_direct_evidence_of_itself() -> None:
    assert score([a_record()], []) == 40 and score([a_record(), a_record()], []) == 80
    assert score([], []) == 0


def test_edges_count_once_as_strong_as_the_strongest_says() -> None:
    edges = [
        Edge(kind="commit", target=ONE, strength=Strength.OBSERVED),
        Edge(kind="commit", target=ONE, strength=Strength.DIRECT),
        Edge(kind="commit", target=TWO, strength=Strength.OBSERVED),
        Edge(kind="path", target=TWO, strength=Strength.OBSERVED),
        Edge(kind="path", target="x", strength=Strength.CONTEXTUAL),
    ]

    assert score([a_record()], edges) == 40 + 40 + 25 + 25


@pytest.mark.parametrize(
    ("calls", "turns", "points"), [(0, 1, 0), (1, 20, 1), (1, 21, 0), (1, 3, 3), (1, 4, 3), (9, 3, 10)]
)
def test_calls_for_each_turn_give_up_to_ten_points(calls: int, turns: int, points: int) -> None:
    records = [a_record(*(a_use(about=str(n)) for n in range(calls))), *(a_record() for _ in range(turns - 1))]

    assert score(records, []) == 40 * turns + points


def test_a_last_answer_that_concludes_gives_five() -> None:
    assert score([a_record(), a_record(conclusive=True)], []) == 85
    assert score([a_record(conclusive=True), a_record()], []) == 80


def test_a_chain_of_failures_that_ended_well_counts_once() -> None:
    chain = [a_use(FAILED), a_use(FAILED), a_use(COMPLETED)]

    assert recovered(chain) == 1 and recovered([*chain, *chain]) == 2
    assert recovered([a_use(FAILED), a_use(COMPLETED, "other")]) == 0
    assert recovered([a_use(FAILED), a_use(COMPLETED, tool="edit")]) == 0
    assert recovered([a_use(CANCELLED), a_use(COMPLETED)]) == 1
    assert recovered([a_use(COMPLETED), a_use(FAILED)]) == 0
    assert score([a_record(a_use(FAILED)), a_record(a_use())], []) == 80 + 15 + 10
