"""Git is asked for what a turn's results name, and for the commits of its time."""

from collections.abc import Sequence

from governance.team.binding import Place, bound_of
from governance.team.contracts.base import Bound
from governance.team.contracts.turns import Commit, Edge, Strength, TerminalState
from governance.team.linking import AROUND, linked
from recall.contracts import Millis
from tests.governance.team.test_edges import ONE, ROOT, TWO, a_content
from tests.support.clock import START
from tests.support.team_history import FORMATS, SECRET


class FakeCommits:
    """Knows two commits, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def named(self, bound: Bound, text: str) -> Sequence[Commit]:
        self.asked.append(text)
        return ()

    async def abbreviated(self, bound: Bound, text: str) -> Sequence[Commit]:
        self.asked.append(text)
        return (Commit(commit=TWO, at=START),)

    async def between(self, bound: Bound, since: Millis, until: Millis, limit: int) -> Sequence[Commit]:
        self.asked.append((since <= START <= until, limit))
        return (Commit(commit=ONE, at=START + 1_000, paths=("src/a.py",)),)


def a_place() -> Bound:
    place = Place(root=ROOT, common=f"{ROOT}/.git", device=1, inode=2, remote=None, workspace_key="ws_1")
    return bound_of(place, SECRET, FORMATS)


async def test_the_edges_of_a_turn_are_those_of_all_that_git_knows() -> None:
    commits = FakeCommits()
    content = a_content([("edit", "src/a.py", TerminalState.COMPLETED)])

    found = await linked(a_place(), content, commits)

    assert found == (
        Edge(kind="commit", target=TWO, strength=Strength.OBSERVED),
        Edge(kind="commit", target=ONE, strength=Strength.OBSERVED),
        Edge(kind="path", target="src/a.py", strength=Strength.OBSERVED),
    )
    assert commits.asked == ["done", "done", (True, AROUND)]


async def test_a_turn_that_edited_nothing_is_not_tied_by_its_time() -> None:
    commits = FakeCommits()

    found = await linked(a_place(), a_content([("shell", "make", TerminalState.COMPLETED)]), commits)

    assert [edge.target for edge in found] == [TWO] and commits.asked == ["done", "done"]
