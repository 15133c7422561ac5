"""Leases of tasks: one holder at a time, and nobody loses work because a process died (team.md 6, 12).

Every function belongs into its caller's transaction, together with what the caller writes: so a claim and the record of
what was submitted are one. A lease ends by itself. Whoever held it goes on with it while nobody else took the task.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from governance.team.contracts.base import Call
from governance.team.contracts.recalling import Lease
from governance.team.contracts.rows import ChunkState, Task, TaskState
from governance.team.errors import Kind, TeamFault
from governance.team.store import tasks
from governance.team.times import written
from recall.contracts import Millis

LEASE_SECONDS = 300
LONGEST_SECONDS = 24 * 60 * 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Issue:
    """How leases are given. `token`: a new one at each call, never one twice; `seconds`: how long, at most 24 h."""

    token: Callable[[], str]
    seconds: int = LEASE_SECONDS

    @classmethod
    def of(cls, new_id: Callable[[str], str], seconds: int = LEASE_SECONDS) -> "Issue":
        """Tokens of the program's factory of ids."""
        return cls(token=lambda: new_id("lease-"), seconds=seconds)

    def until(self, now: Millis) -> Millis:
        """When a lease ends that is given now."""
        return now + 1000 * min(max(self.seconds, 1), LONGEST_SECONDS)


def claim(connection: sqlite3.Connection, task: Task, call: Call, issue: Issue) -> Task:
    """The task with a lease of the caller's: the one that they hold, or a new one with the next epoch.

    Raises TeamFault: `task-not-claimable` while another holds it or when it was answered, `binding-drift` when it is
    stale.
    """
    _not_final(task)
    if not claimable(task, call):
        raise TeamFault(
            Kind.TASK_NOT_CLAIMABLE,
            f"Another session works on {task.task_id} until {written(task.lease_until)}.",
            "Take another task, or come back after that time.",
        )
    kept = task.state is TaskState.CLAIMED and task.holder == call.holder and task.lease_until > call.now
    return _written(connection, task, _prolonged(task, call, issue) if kept else _issued(task, call, issue))


def claimable(task: Task, call: Call) -> bool:
    """Whether `claim` would give it."""
    if task.state not in tasks.UNFINISHED:
        return False
    if task.state is TaskState.PENDING or task.holder == call.holder:
        return True
    # No lease ends later than that: it is of a clock that was set back since, and would keep others waiting for long.
    return not call.now < task.lease_until <= call.now + 1000 * LONGEST_SECONDS


def admitted(connection: sqlite3.Connection, task: Task, token: str | None, call: Call, issue: Issue) -> Task:
    """The task with the lease under which an answer to it comes. `token`: as the answer says it; None: it says none.

    The token that holds now is enough, whoever brings it and however late: nobody else was given the task since.
    Raises TeamFault as `claim`, and `lease-lost`: the task was given to another, or given back, after that token.
    """
    _not_final(task)
    if token is None:
        return claim(connection, task, call, issue)
    if token != task.token or task.state is not TaskState.CLAIMED:
        raise _lost(task)
    return _written(connection, task, _prolonged(task, call, issue))


def submitted(connection: sqlite3.Connection, task: Task, at: Millis) -> Task:
    """The task was answered, for good. Raises TeamFault `lease-lost`: it is not the caller's any more."""
    return _written(connection, task, msgspec.structs.replace(task, state=TaskState.SUBMITTED, changed_at=at))


def stale(connection: sqlite3.Connection, task: Task, reason: str, at: Millis) -> bool:
    """What the task rests on is not there any more; its chunk goes with it. False: another holds it since, or it is
    final, and nothing changes."""
    if task.state not in tasks.UNFINISHED:
        return False
    after = msgspec.structs.replace(task, state=TaskState.STALE, reason=reason, changed_at=at)
    if not tasks.moved(connection, task, after):
        return False
    if tasks.chunk(connection, task.task_id) is not ChunkState.EXTRACTED:
        tasks.move_chunk(connection, task.task_id, ChunkState.STALE, at)
    return True


def returned(connection: sqlite3.Connection, task: Task, at: Millis) -> bool:
    """Give a task back: it waits again, for anybody. False: as for `stale`."""
    if task.state is not TaskState.CLAIMED:
        return task.state is TaskState.PENDING
    gone = {"state": TaskState.PENDING, "token": "", "holder": "", "lease_until": 0, "changed_at": at}
    return tasks.moved(connection, task, msgspec.structs.replace(task, **gone))


def lease_of(task: Task) -> Lease:
    """As documents tell it."""
    return Lease(token=task.token, epoch=task.epoch, expires_at=written(task.lease_until))


def _issued(task: Task, call: Call, issue: Issue) -> Task:
    return msgspec.structs.replace(
        task,
        state=TaskState.CLAIMED,
        epoch=task.epoch + 1,
        token=issue.token(),
        holder=call.holder,
        lease_until=issue.until(call.now),
        changed_at=call.now,
    )


def _prolonged(task: Task, call: Call, issue: Issue) -> Task:
    return msgspec.structs.replace(
        task,
        holder=call.holder,
        lease_until=max(task.lease_until, issue.until(call.now)),
        changed_at=call.now,
    )


def _written(connection: sqlite3.Connection, before: Task, after: Task) -> Task:
    if not tasks.moved(connection, before, after):
        raise _lost(before)
    return after


def _not_final(task: Task) -> None:
    if task.state is TaskState.SUBMITTED:
        raise TeamFault(
            Kind.TASK_NOT_CLAIMABLE, f"{task.task_id} was answered already.", "Call recall for what is still waiting."
        )
    if task.state is TaskState.STALE:
        why = task.reason or "what it rests on has changed"
        raise TeamFault(Kind.BINDING_DRIFT, f"{task.task_id} does not hold any more: {why}.", "Call recall again.")


def _lost(task: Task) -> TeamFault:
    return TeamFault(
        Kind.LEASE_LOST,
        f"The lease of {task.task_id} is not yours any more: the task was handed out again, or given back.",
        "Call recall again, and answer what it hands out.",
    )
