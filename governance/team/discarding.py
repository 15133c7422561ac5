"""`discard`: a candidate, a task or a plan is given up (team.md 10, 12).

A candidate in an approved plan is held by it: the plan is discarded first. A task that was answered opens again when
nothing of it is staged or promoted, so that it can be answered otherwise.
"""

import sqlite3
from collections.abc import Awaitable, Callable
from typing import Literal

from governance.team import leases, queueing
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.results import Discarded, DiscardRequest
from governance.team.contracts.rows import Candidate, CandidateState, Task, TaskKind, TaskState
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.store import candidates, reopening, runs, tasks
from recall.contracts import Database

ANSWERED = (TaskKind.RECALL, TaskKind.SHARE)  # kinds of tasks that can be answered otherwise
DiscardedKind = Literal["candidate", "task", "plan"]
Close = Callable[[Bound, Call, str, bool], Awaitable[Discarded]]


class Discarding:
    """`close`: what ends a plan, its files included (`Promoting.closed`)."""

    def __init__(self, database: Database, formats: Formats, close: Close) -> None:
        self._database = database
        self._formats = formats
        self._close = close

    async def discard(self, bound: Bound, call: Call, request: DiscardRequest) -> Discarded:
        """Give up what is named. Raises TeamFault: `request-invalid`, and whatever says that there is none, that it is
        another by now, or that it is bound to a plan."""
        named = [one for one in (request.candidate_id, request.task_id, request.plan_id) if one is not None]
        if len(named) != 1:
            problem = "Exactly one of candidate, task and plan can be discarded at a time."
            raise TeamFault(Kind.REQUEST_INVALID, problem, "Name one.")
        if request.plan_id is not None:
            return await self._close(bound, call, request.plan_id, request.keep_files)
        if request.candidate_id is not None:
            return await self._database.write(lambda connection: self._candidate(connection, bound, call, request))
        return await self._database.write(lambda connection: self._task(connection, bound, call, request))

    def _candidate(
        self, connection: sqlite3.Connection, bound: Bound, call: Call, request: DiscardRequest
    ) -> Discarded:
        found = candidates.owned(connection, bound.owner, request.candidate_id or "")
        if found.state is CandidateState.DISCARDED:
            return self._done(found.candidate_id, "candidate", found.state, idempotent=True)
        if found.revision != request.revision:
            problem = f"{found.candidate_id} stands at revision {found.revision}, not {request.revision}."
            raise TeamFault(Kind.CANDIDATE_STALE, problem, "Look at it again, and discard it as it is.")
        _given_up(connection, found, request.reason, call)
        return self._done(found.candidate_id, "candidate", CandidateState.DISCARDED)

    def _task(self, connection: sqlite3.Connection, bound: Bound, call: Call, request: DiscardRequest) -> Discarded:
        task = tasks.needed(connection, request.task_id or "", bound.owner, *TaskKind)
        if task.state is TaskState.SUBMITTED and task.kind in ANSWERED:
            return self._answered(connection, task, request.reason, call)
        if task.state is TaskState.STALE:
            return self._done(task.task_id, "task", task.state, idempotent=True)
        if task.state is TaskState.SUBMITTED:
            problem = f"{task.task_id} was answered: what came of it is what can be discarded."
            raise TeamFault(Kind.TASK_NOT_CLAIMABLE, problem, "Discard its candidates.")
        if task.kind in ANSWERED:
            again = task.state is TaskState.PENDING
            if not again:
                leases.returned(connection, task, call.now)
            return self._done(task.task_id, "task", TaskState.PENDING, idempotent=again)
        leases.stale(connection, task, request.reason or "discarded", call.now)
        return self._done(task.task_id, "task", TaskState.STALE)

    def _answered(self, connection: sqlite3.Connection, task: Task, reason: str, call: Call) -> Discarded:
        """Its drafts are given up, and it is open again."""
        made = candidates.of_task(connection, task.task_id)
        kept = [one for one in made if one.state in (CandidateState.STAGED, CandidateState.PROMOTED)]
        if kept:
            problem = f"{kept[0].candidate_id} of this task is {kept[0].state}."
            raise TeamFault(Kind.TASK_NOT_CLAIMABLE, problem, "Discard what is staged first; what is promoted stays.")
        for one in made:
            if one.state is CandidateState.DRAFT:
                _given_up(connection, one, reason, call)
        reopening.reopened(connection, task.task_id, call.now)
        return self._done(task.task_id, "task", TaskState.PENDING)

    def _done(self, name: str, kind: DiscardedKind, state: str, *, idempotent: bool = False) -> Discarded:
        return Discarded(
            format=self._formats.document("discarded"), id=name, kind=kind, state=state, idempotent=idempotent
        )


def _given_up(connection: sqlite3.Connection, candidate: Candidate, reason: str, call: Call) -> None:
    """A consolidation that is given up ends its run, too."""
    queueing.discard(connection, candidate, reason, call)
    runs.stale(connection, candidate.candidate_id, call.now)
