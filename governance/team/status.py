"""`team status`: what is staged, planned, stuck, waiting or due, and what was answered with nothing (team.md 10)."""

import sqlite3

from governance.team import offering
from governance.team.consolidation import DUE
from governance.team.contracts.base import Bound
from governance.team.contracts.promoting import PlanState
from governance.team.contracts.results import Empty, TeamStatus, Waits
from governance.team.contracts.rows import CandidateState, Plan
from governance.team.formats import Formats
from governance.team.store import candidates, empties, plans, projections, runs, tasks, trust
from governance.team.syncing import Syncing
from governance.team.times import written
from recall.contracts import Database, Millis

SHOWN = 20
STUCK: tuple[PlanState, ...] = ("applying",)
PLANNED: tuple[PlanState, ...] = ("generated", "approved")


class Status:
    """Reads only, but for the projection of what is approved, which follows the files."""

    def __init__(self, database: Database, syncing: Syncing, formats: Formats) -> None:
        self._database = database
        self._syncing = syncing
        self._formats = formats

    async def status(self, bound: Bound, now: Millis, *, everywhere: bool, checkpoints: int) -> TeamStatus:
        """How the memory of a repository stands. `everywhere`: candidates of its earlier places, too; `checkpoints`:
        ranges of conversations here that nobody noted. Raises TeamFault `sync-partial`, `state-corrupt`."""
        await self._syncing.synced(bound, now)
        return await self._database.read(lambda connection: self._told(connection, bound, everywhere, checkpoints))

    def _told(self, connection: sqlite3.Connection, bound: Bound, everywhere: bool, checkpoints: int) -> TeamStatus:
        owner, here = bound.owner, bound.owner.worktree_key
        said = trust.trust_of(connection, owner.repository_key)
        approved = [one for one in projections.entries(connection, here) if one.status == "approved"]
        staged = candidates.listed(connection, owner, candidates.Wanted(states=(CandidateState.STAGED,), limit=SHOWN))
        drafts = candidates.listed(connection, owner, candidates.Wanted(states=(CandidateState.DRAFT,)))
        stuck, last = plans.listed(connection, STUCK, worktree_key=here), runs.last(connection, here)
        return TeamStatus(
            format=self._formats.document("team-status"),
            trusted=None if said is None else said.trusted,
            candidates=candidates.counts(connection, owner),
            tasks=tasks.counts(connection, here),
            plans=plans.counts(connection, here),
            entries=len(approved),
            due=offering.due(connection, bound),
            needed=DUE,
            stuck=tuple(map(_plan, stuck)),
            waiting=tuple(
                Waits(id=one.candidate_id, state=one.state, at=written(one.changed_at), kind=one.kind) for one in staged
            ),
            drafted=tuple(
                {
                    one.task_id: Waits(id=one.task_id, state=one.state, at=written(one.changed_at), kind=one.kind)
                    for one in drafts
                }.values()
            )[:SHOWN],
            planned=tuple(map(_plan, plans.listed(connection, PLANNED, worktree_key=here)))[:SHOWN],
            last_run=None if last is None else Waits(id=last.run_id, state=last.state, at=written(last.changed_at)),
            empty=_empty(connection, here),
            checkpoints=checkpoints,
            elsewhere=candidates.elsewhere(connection, owner) if everywhere else {},
        )


def _plan(one: Plan) -> Waits:
    return Waits(id=one.plan_id, state=one.state, at=written(one.changed_at), kind=one.kind)


def _empty(connection: sqlite3.Connection, worktree_key: str) -> tuple[Empty, ...]:
    """The latest answers that there is nothing."""
    drafts = [
        Empty(task_id=one.task_id, kind="drafts", at=written(one.at), source=one.source)
        for one in empties.empty(connection, worktree_key, SHOWN)
    ]
    consolidations = [
        Empty(task_id=one.task_id, kind="consolidation", at=written(one.changed_at), source=one.mode)
        for one in runs.no_ops(connection, worktree_key)[:SHOWN]
    ]
    return tuple(sorted((*drafts, *consolidations), key=lambda one: one.at, reverse=True)[:SHOWN])
