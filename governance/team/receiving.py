"""How every stage document is taken in (team.md 6): once, by one holder, and only while its task still holds.

The claim and the stage record are one transaction. What was refused in between is written down, so that the same
document finds its outcome again and another one is told that it came too late.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec

from governance.team import leases
from governance.team.contracts.base import Bound, Call, Document
from governance.team.contracts.recalling import TaskBinding
from governance.team.contracts.rows import Task, TaskKind
from governance.team.contracts.staging import AdjudicationResult
from governance.team.errors import Kind, TeamFault
from governance.team.leases import Issue
from governance.team.store import submissions, tasks
from governance.team.store.submissions import Stage, StageState, Submission
from recall.canonical import NotCanonical, digest
from recall.contracts import Database, Millis

T = TypeVar("T")
_DRIFT = (Kind.BINDING_DRIFT, Kind.PAYLOAD_CHANGED)


class Sourced(Protocol):
    """Looks at the turns of a task once more."""

    async def drift(self, bound: Bound, task: Task) -> str:
        """Why the task is not what its turns would give now; empty: it is. Raises TeamFault."""
        ...


class Answer(Protocol):
    """What a document that answers a recall task says of it."""

    @property
    def task_id(self) -> str: ...

    @property
    def binding(self) -> TaskBinding: ...

    @property
    def lease_token(self) -> str | None: ...


class _Document(msgspec.Struct, frozen=True):
    binding: TaskBinding


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A document that may be taken in. `task`: with the lease that it comes under."""

    task: Task
    stage: Stage
    digest: str


def document_digest(document: Document) -> str:
    """Of all that a document says, but for the lease that it comes under: the same words are the same document.

    Raises TeamFault `schema-invalid` for numbers and texts that have no canonical form.
    """
    plain = msgspec.to_builtins(document, str_keys=True)
    plain.pop("leaseToken", None)
    try:
        return digest(plain)
    except NotCanonical as error:
        problem = f"The document cannot be digested: {error}."
        raise TeamFault(Kind.SCHEMA_INVALID, problem, "Echo what was handed out, and use plain text.") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Receiving:
    """`issue`: how leases are given."""

    database: Database
    sources: Sourced
    issue: Issue

    async def met(self, bound: Bound, stage: Stage, task_id: str, document: Document, now: Millis) -> Submission | None:
        """The record of this very document; None: it was not taken in yet.

        Raises TeamFault: `task-not-found`, `submission-conflict` (which is written down).
        """
        said = document_digest(document)

        def work(connection: sqlite3.Connection) -> Submission | None:
            tasks.needed(connection, task_id, bound.owner)
            try:
                return submissions.met(connection, task_id, stage, said)
            except TeamFault:
                submissions.conflict(connection, task_id, stage, said, now)
                raise

        return await faulting(self.database, work)

    async def begin(self, bound: Bound, call: Call, stage: Stage, document: Answer) -> Begun:
        """Claim the task, say that this document is being taken in, and look at the task's turns once more.

        Raises TeamFault: `binding-drift` (the task is stale then, unless only the echo is wrong), `task-not-claimable`,
        `lease-lost`, `task-not-found`, `submission-conflict`, and what reading turns raises.
        """
        assert isinstance(document, Document)
        said = document_digest(document)

        def work(connection: sqlite3.Connection) -> Task:
            task = tasks.needed(connection, document.task_id, bound.owner, TaskKind.RECALL)
            task = leases.admitted(connection, task, document.lease_token, call, self.issue)
            if msgspec.json.decode(task.document, type=_Document).binding != document.binding:
                raise TeamFault(
                    Kind.BINDING_DRIFT,
                    "The binding is not that of the task.",
                    "Echo taskId and binding as recall gave them.",
                )
            submissions.begin(connection, task.task_id, stage, said, call.now)
            return task

        task = await self.database.write(work)
        await self._unchanged(bound, call, stage, task)
        return Begun(task=task, stage=stage, digest=said)

    async def _unchanged(self, bound: Bound, call: Call, stage: Stage, task: Task) -> None:
        try:
            drift = await self.sources.drift(bound, task)
        except TeamFault as fault:
            if fault.kind not in _DRIFT:
                raise
            drift = fault.problem
        if drift:
            await self.database.write(lambda connection: _stale(connection, task, stage, drift, call.now))
            raise TeamFault(
                Kind.BINDING_DRIFT, f"{task.task_id} does not hold any more: {drift}.", "Call recall again."
            )

    def taken(self, connection: sqlite3.Connection, begun: Begun) -> Submission | None:
        """The record of a document that is still to be taken in, within the transaction that does it. None: it was
        taken in meanwhile. Raises TeamFault `submission-conflict`."""
        found = submissions.met(connection, begun.task.task_id, begun.stage, begun.digest)
        if found is None:
            raise TeamFault(
                Kind.SUBMISSION_CONFLICT,
                f"Another document for {begun.task.task_id} came meanwhile.",
                "Ask for the team's status, or recall again.",
            )
        return found if found.state is StageState.SUBMITTING else None

    def complete(
        self, connection: sqlite3.Connection, stage: Stage, document: AdjudicationResult, outcome: str, now: Millis
    ) -> None:
        """Write down what a document came to that is taken in within one transaction. Raises TeamFault
        `submission-conflict`."""
        said = document_digest(document)
        submissions.begin(connection, document.task_id, stage, said, now)
        record = submissions.get(connection, document.task_id, stage)
        assert record is not None
        submissions.move(connection, record, StageState.COMPLETE, outcome, now)


def _stale(connection: sqlite3.Connection, task: Task, stage: Stage, reason: str, at: Millis) -> None:
    if leases.stale(connection, task, reason, at):
        submissions.forget(connection, task.task_id, stage)


async def faulting(database: Database, work: Callable[[sqlite3.Connection], T]) -> T:
    """Run a transaction whose refusal is written down too: what `work` did before it raised a TeamFault stays."""

    def kept(connection: sqlite3.Connection) -> T | TeamFault:
        try:
            return work(connection)
        except TeamFault as fault:
            return fault

    done = await database.write(kept)
    if isinstance(done, TeamFault):
        raise done
    return done
