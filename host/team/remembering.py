"""History put together, for the composition root."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from host.clock import Clock
from host.eventlog import EventLog
from host.formation.lineage import Lineage
from host.places import Places
from host.products import Providers
from host.rollouts import Rollouts
from host.team.commits import DulwichCommits
from host.team.cutting import Cutter
from host.team.history import TeamHistory
from host.team.past_turns import PastTurns
from host.team.turn_texts import TurnTexts
from host.team.worktrees import Worktrees
from recall.contracts import Database


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryNeeds:
    """What history is built of. `main`: the event log's database; `kept`: governance.db; `ref`: the keyed name of a
    session; `own`: folders of our own sessions, as `host.models.own_folders` names them."""

    eventlog: EventLog
    main: Database
    kept: Database
    places: Places
    rollouts: Rollouts
    providers: Providers
    ref: Callable[[str], str]
    clock: Clock
    own: Collection[str] = ()


def history_of(needs: HistoryNeeds) -> tuple[TeamHistory, DulwichCommits]:
    """The ports `History` and `Commits`. The second holds files open: it has a `close`."""
    commits = DulwichCommits()
    cutter = Cutter(eventlog=needs.eventlog, lineage=Lineage(needs.eventlog))
    past = PastTurns(
        cutter=cutter,
        main=needs.main,
        database=needs.kept,
        worktrees=Worktrees(needs.places.key, needs.own),
        ref=needs.ref,
        providers=needs.providers,
        clock=needs.clock,
    )
    texts = TurnTexts(cutter, needs.kept, commits)
    return TeamHistory(past=past, texts=texts, asleep=needs.rollouts.asleep), commits
