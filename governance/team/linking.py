"""A turn's edges, with what git knows asked for (team.md 4)."""

from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Commits
from governance.team.contracts.turns import Edge, TurnContent
from governance.team.edges import Known, edges, edited, result_text, span

AROUND = 256  # commits of a turn's time that are looked at


async def linked(bound: Bound, content: TurnContent, commits: Commits) -> tuple[Edge, ...]:
    """What the turn is tied to in its repository, as of now."""
    text = result_text(content)
    since, until = span(content)
    known = Known(
        named=tuple(await commits.named(bound, text)),
        abbreviated=tuple(await commits.abbreviated(bound, text)),
        # a turn that edited nothing is not tied by what was committed meanwhile
        around=tuple(await commits.between(bound, since, until, AROUND)) if edited(content, bound.root) else (),
    )
    return edges(content, known, bound.root)
