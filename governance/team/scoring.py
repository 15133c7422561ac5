"""Which session comes first (team.md 4). Pure."""

from collections.abc import Iterable, Sequence

from governance.team.contracts.turns import STRENGTHS, Edge, Strength, TerminalState
from governance.team.turns import Recorded, Use

DIRECT, OBSERVED, RECOVERED, CONCLUSIVE, MOST_FOR_CALLS = 40, 25, 15, 5, 10
_RANK = STRENGTHS.index
_FAILED = (TerminalState.FAILED, TerminalState.CANCELLED)


def score(turns: Sequence[Recorded], edges: Iterable[Edge]) -> int:
    """A session's score. `turns`: its matched ones, in order, each of which is direct evidence of itself; `edges`: what
    they are tied to, each once."""
    told: dict[tuple[str, str], Strength] = {}
    for edge in edges:
        told[edge.kind, edge.target] = min(told.get((edge.kind, edge.target), edge.strength), edge.strength, key=_RANK)
    direct = len(turns) + sum(strength is Strength.DIRECT for strength in told.values())
    observed = sum(strength is Strength.OBSERVED for strength in told.values())
    uses = [use for one in turns for use in one.uses]
    # ⌊10·calls/turns + ½⌋ in whole numbers
    often = min(MOST_FOR_CALLS, (20 * len(uses) + len(turns)) // (2 * len(turns))) if turns else 0
    conclusive = CONCLUSIVE if turns and turns[-1].conclusive else 0
    return DIRECT * direct + OBSERVED * observed + RECOVERED * recovered(uses) + often + conclusive


def recovered(uses: Iterable[Use]) -> int:
    """How many chains of failures ended well: the same tool on the same thing failed, once or more often, and then did
    not."""
    failing: set[tuple[tuple[str, ...], str]] = set()
    chains = 0
    for use in uses:
        key = (use.tools, use.about)
        if use.state in _FAILED:
            failing.add(key)
        elif use.state is TerminalState.COMPLETED and key in failing:
            failing.discard(key)
            chains += 1
    return chains
