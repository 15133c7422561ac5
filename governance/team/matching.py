"""Whether a turn is one that a request asks for (team.md 4). Pure."""

from collections.abc import Iterable, Sequence

from governance.team.contracts.recalling import Filters
from governance.team.contracts.turns import ResultEvidence, TerminalState
from governance.team.turns import Recorded
from recall.analyzer import distinct
from recall.contracts import Frozen

_NONE = Filters()


class Wanted(Frozen, frozen=True, kw_only=True):
    """A query's distinct terms, and how many of them a turn must hold at least."""

    terms: tuple[str, ...] = ()
    least: int = 0


def wanted(query: str | None) -> Wanted:
    """Half of the query's distinct terms, rounded up. A query without a term, as symbols alone, is held by no turn."""
    terms = distinct(query) if query else ()
    if query and query.strip() and not terms:
        return Wanted(least=1)
    return Wanted(terms=terms, least=(len(terms) + 1) // 2)


def told(terms: Iterable[str]) -> str:
    """A turn's terms as one text, each between two blanks: none of them holds one."""
    return f" {' '.join(sorted(set(terms)))} "


def holds(terms: str, query: Wanted) -> bool:
    """Whether a turn with these terms holds enough of the query. `terms`: as `told` writes them."""
    return query.least <= 0 or sum(f" {term} " in terms for term in query.terms) >= query.least


def provided(provider: str, names: Sequence[str]) -> bool:
    """Whether an adapter's name is among `names`. The first word of a name stands for all that begin with it: `claude`
    for `claude-code`."""
    return not names or any(provider == name or provider.startswith(f"{name}-") for name in names)


def fits(recorded: Recorded, filters: Filters | None) -> bool:
    """Whether a turn passes filters about what happened in it. Of a filter's values one is enough; all filters that
    are set must be passed. States are those of the calls that the filters of tools and skills name."""
    filters = filters or _NONE
    turn = recorded.turn
    if filters.result_evidence and ResultEvidence(turn.result_evidence) not in filters.result_evidence:
        return False
    if filters.skill_keys and not set(recorded.skills) & set(filters.skill_keys):
        return False
    if filters.tool_keys and not set(turn.tools) & set(filters.tool_keys):
        return False
    if not filters.terminal_states:
        return True
    return bool(set(filters.terminal_states) & _states(recorded, filters))


def _states(recorded: Recorded, filters: Filters) -> set[TerminalState]:
    return {
        use.state
        for use in recorded.uses
        if set(use.tools) & set(filters.tool_keys) or set(use.skills) & set(filters.skill_keys)
    }
