"""stage (team.md 6): drafts become candidates, and candidates become staged by a decision about each.

A batch of drafts goes its way in steps that are each one transaction: *submitting* → *adjudicating* →
*awaiting-adjudication* → *submitting-adjudication* → *complete*. Whoever is stopped in between sends the same document
again and goes on from there. When what was compared has changed, the adjudication is stale and the drafts are not: the
same batch, sent again, is compared anew.
"""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from governance.formation.queue import Queue
from governance.team import adjudicating, drafting, leases, queueing
from governance.team.adjudicating import Decided
from governance.team.comparing import Asked, compare
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.ports import Privates
from governance.team.contracts.rows import ChunkState, EvidenceRow, Task, TaskKind, TaskState
from governance.team.contracts.staging import (
    AdjudicationResult,
    AdjudicationTask,
    DraftBatch,
    RejectedDraft,
    Share,
    SkillCandidate,
    Staged,
)
from governance.team.drafting import SAID_NO, Born, Checked, Kept, Made
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.leases import Issue
from governance.team.pooling import STAGES, Pooling, drafts_of, encoded, finished
from governance.team.receiving import Begun, Receiving, Sourced, faulting
from governance.team.settling import Drifted, Settling
from governance.team.sharing import Sharing
from governance.team.skilling import Skilling
from governance.team.store import candidates, submissions, tasks
from governance.team.store.submissions import Stage, StageState, Submission
from governance.team.syncing import Syncing, needed
from governance.team.typed import Unverified, Verified
from recall.contracts import Database, Millis

_document = msgspec.json.Decoder(AdjudicationTask)
Typed = Mapping[str, frozenset[str]]  # draft -> ids of its statements that were verified by themselves
ANEW = "Send the same draft batch again: its drafts are compared anew."


@dataclass(frozen=True, kw_only=True, slots=True)
class Staging:
    """`sources`: looks at a task's turns once more; `issue`: how leases are given; `facts`: which statements need no
    person."""

    database: Database
    queue: Queue
    syncing: Syncing
    privates: Privates
    sources: Sourced
    formats: Formats
    issue: Issue
    facts: Verified = field(default_factory=Unverified)
    receiving: Receiving = field(init=False)
    pooling: Pooling = field(init=False)

    def __post_init__(self) -> None:
        receiving = Receiving(database=self.database, sources=self.sources, issue=self.issue)
        pooling = Pooling(database=self.database, privates=self.privates, formats=self.formats)
        object.__setattr__(self, "receiving", receiving)
        object.__setattr__(self, "pooling", pooling)

    async def draft(self, bound: Bound, call: Call, batch: DraftBatch) -> AdjudicationTask | Staged:
        """Take in the drafts of a recall task. An empty batch says that there is nothing to remember in it.

        Raises TeamFault: `task-not-found`, `task-not-claimable`, `lease-lost`, `binding-drift`, `submission-conflict`,
        `schema-invalid`, `content-not-covered`, `sync-partial`.
        """
        record = await self.receiving.met(bound, Stage.DRAFT, batch.task_id, batch, call.now)
        if record is not None and record.state is not StageState.SUBMITTING:
            return await self._again(bound, call, record)
        rows, number = await self._evidence(bound, batch.task_id)
        known = frozenset(row.evidence_id for row in rows)
        kept = await asyncio.to_thread(drafting.checked, batch.candidates, known)
        begun = await self.receiving.begin(bound, call, Stage.DRAFT, batch)
        if not batch.candidates:
            return await self.database.write(lambda connection: self._empty(connection, begun, call.now))
        await self.syncing.synced(bound, call.now)  # what cannot be compared is not taken in either
        born = Born(task_id=batch.task_id, number=number, at=call.now)
        typed = [await self.facts.verified(bound, one.draft.statements, rows) for one in kept.kept]
        made = await asyncio.to_thread(_made, bound, born, list(zip(kept.kept, typed, strict=True)), rows)
        await self.database.write(lambda connection: self._taken(connection, bound, call, begun, (kept, made)))
        return await self.pooling.opened(bound, batch.task_id, Stage.DRAFT, call.now)

    async def adjudicate(self, bound: Bound, call: Call, result: AdjudicationResult) -> Staged:
        """Carry out what was decided about drafts, all of it or nothing.

        Raises TeamFault: `task-not-found`, `binding-drift` (the task is stale then), `submission-conflict`,
        `schema-invalid`, `content-not-covered`, `sync-partial`.
        """
        record = await self.receiving.met(bound, Stage.ADJUDICATION, result.task_id, result, call.now)
        if record is not None:
            outcome = self.pooling.outcome(record)
            assert isinstance(outcome, Staged)
            return replace(outcome, idempotent=True)
        task = await self._open(bound, result.task_id)
        document = _document.decode(task.document)
        decisions = await asyncio.to_thread(adjudicating.decided, document, result)
        await self.syncing.synced(bound, call.now)
        drafts = await self.database.read(lambda connection: drafts_of(connection, task.parent))
        asked = await self.pooling.asked(bound, drafts)
        typed = await self._typed(bound, task.parent, decisions)

        def work(connection: sqlite3.Connection) -> Staged:
            return self._adjudicated(connection, (bound, call), result, (decisions, typed), asked)

        return await faulting(self.database, work)

    async def skill(self, bound: Bound, call: Call, document: SkillCandidate) -> Staged:
        """Answer a recall task with a skill: staged at once. Raises TeamFault as `draft`, and `capacity-exceeded`."""
        skilling = Skilling(
            database=self.database, syncing=self.syncing, receiving=self.receiving, pooling=self.pooling
        )
        return await skilling.skill(bound, call, document)

    async def share(self, bound: Bound, call: Call, document: Share) -> AdjudicationTask | Staged:
        """Make drafts of kept or committed items of the review queue.

        Raises TeamFault: `candidate-not-found`, `candidate-stale`, `schema-invalid`, `sync-partial`.
        """
        sharing = Sharing(database=self.database, queue=self.queue, privates=self.privates)
        record, task_id = await sharing.begun(bound, call, document)
        if record is not None:
            return await self._again(bound, call, record)
        await self.syncing.synced(bound, call.now)
        return await self.pooling.opened(bound, task_id, Stage.SHARE, call.now)

    # ---------------------------------------------------------------------------------------------------------- drafts

    async def _again(self, bound: Bound, call: Call, record: Submission) -> AdjudicationTask | Staged:
        """The answer to a document that was taken in before, or the next step of it."""
        known = await self.database.read(lambda connection: self.pooling.again(connection, record))
        if known is not None:
            return replace(known, idempotent=True)
        await self.syncing.synced(bound, call.now)
        return await self.pooling.opened(bound, record.task_id, record.stage, call.now)

    async def _evidence(self, bound: Bound, task_id: str) -> tuple[tuple[EvidenceRow, ...], int]:
        """What a task's drafts may cite, and the number of its next candidate."""

        def work(connection: sqlite3.Connection) -> tuple[tuple[EvidenceRow, ...], int]:
            tasks.needed(connection, task_id, bound.owner, TaskKind.RECALL)
            return tasks.evidence(connection, task_id), candidates.next_number(connection, task_id)

        return await self.database.read(work)

    def _empty(self, connection: sqlite3.Connection, begun: Begun, now: Millis) -> Staged:
        record = self.receiving.taken(connection, begun)
        done = Staged(format=self.formats.document("staged"), task_id=begun.task.task_id, done=True)
        if record is None:
            return replace(done, idempotent=True)
        leases.submitted(connection, begun.task, now)
        tasks.move_chunk(connection, begun.task.task_id, ChunkState.EXTRACTED, now)
        submissions.move(connection, record, StageState.COMPLETE, encoded(done), now)
        return done

    def _taken(
        self,
        connection: sqlite3.Connection,
        bound: Bound,
        call: Call,
        begun: Begun,
        found: tuple[Checked, Sequence[Made]],
    ) -> None:
        """Write the drafts down: once, whoever sends them."""
        record = self.receiving.taken(connection, begun)
        if record is None:
            return
        checked, made = found
        fresh: list[Made] = []
        rejected = list(checked.rejected)
        for kept, one in zip(checked.kept, made, strict=True):
            item = queueing.item_of(one.candidate, queueing.proposal_of(one.text), bound, call)
            if queueing.said_no(connection, self.queue, item):
                rejected.append(RejectedDraft(index=kept.index, code=SAID_NO, detail="the user said no to these words"))
            else:
                fresh.append(one)
        rejected.sort(key=lambda one: one.index)
        drafting.left(len(rejected), len(fresh), rejected)
        leases.submitted(connection, begun.task, call.now)
        candidates.insert_all(connection, [(one.candidate, one.assessments, one.text) for one in fresh])
        tasks.move_chunk(connection, begun.task.task_id, ChunkState.DRAFTED, call.now)
        submissions.move(connection, record, StageState.ADJUDICATING, encoded(tuple(rejected)), call.now)

    # ------------------------------------------------------------------------------------------------------- decisions

    async def _open(self, bound: Bound, task_id: str) -> Task:
        def work(connection: sqlite3.Connection) -> Task:
            return tasks.needed(connection, task_id, bound.owner, TaskKind.ADJUDICATION)

        task = await self.database.read(work)
        if task.state is TaskState.STALE:
            raise TeamFault(Kind.BINDING_DRIFT, f"{task_id} does not hold any more: {task.reason}.", ANEW)
        return task

    async def _typed(self, bound: Bound, parent: str, decisions: Sequence[Decided]) -> Typed:
        """By draft, the merged statements that need no person."""
        rows = await self.database.read(lambda connection: tasks.evidence(connection, parent))
        return {
            one.draft_ref: await self.facts.verified(bound, one.merged.statements, rows)
            for one in decisions
            if one.merged is not None
        }

    def _adjudicated(
        self,
        connection: sqlite3.Connection,
        who: tuple[Bound, Call],
        result: AdjudicationResult,
        decisions: tuple[Sequence[Decided], Typed],
        asked: Sequence[Asked],
    ) -> Staged:
        bound, call = who
        task = tasks.needed(connection, result.task_id, bound.owner, TaskKind.ADJUDICATION)
        connection.execute("SAVEPOINT adjudication")
        try:
            done = self._settled(connection, who, (task, result), decisions, asked)
        except Drifted as drift:
            connection.execute("ROLLBACK TO adjudication")
            connection.execute("RELEASE adjudication")
            leases.stale(connection, task, str(drift), call.now)
            problem = f"What was decided about has changed since: {drift}."
            raise TeamFault(Kind.BINDING_DRIFT, problem, ANEW) from None
        except BaseException:
            connection.execute("ROLLBACK TO adjudication")
            connection.execute("RELEASE adjudication")
            raise
        connection.execute("RELEASE adjudication")
        return done

    def _settled(
        self,
        connection: sqlite3.Connection,
        who: tuple[Bound, Call],
        answered: tuple[Task, AdjudicationResult],
        decisions: tuple[Sequence[Decided], Typed],
        asked: Sequence[Asked],
    ) -> Staged:
        (bound, call), (task, result), (decided, typed) = who, answered, decisions
        claimed = leases.admitted(connection, task, None, call, self.issue)
        parent = tasks.needed(connection, task.parent, bound.owner)
        record = submissions.get(connection, parent.task_id, STAGES[parent.kind])
        if record is None or record.state is not StageState.AWAITING:
            raise Drifted("its drafts were decided about otherwise")
        if [one.draft_ref for one in asked] != [one.draft_ref for one in decided]:
            raise Drifted("its drafts are not all there any more")
        compared = compare(connection, bound.owner, asked)
        needed(compared.approved)
        if compared.result_set_digest != task.source_digest:
            raise Drifted("the memories that the drafts were compared with are not the same")
        settling = Settling(
            bound=bound,
            call=call,
            pool={item.id: item for item in reversed(compared.pool)},  # of one id, the approved entry
            rows=tasks.evidence(connection, parent.task_id),
            task_id=parent.task_id,
            typed=typed,
        )
        done = self.pooling.staged(result.task_id, settling.settle(connection, decided))
        leases.submitted(connection, claimed, call.now)
        self.receiving.complete(connection, Stage.ADJUDICATION, result, encoded(done), call.now)
        finished(connection, record, record.outcome, call.now)
        return done


def _made(
    bound: Bound, first: Born, found: Sequence[tuple[Kept, frozenset[str]]], rows: Sequence[EvidenceRow]
) -> tuple[Made, ...]:
    """The candidates of drafts that hold, each with its statements that need no person. `first`: whose the first draft
    of the batch is."""
    return tuple(
        drafting.made(bound, replace(first, number=first.number + kept.index), kept.draft, rows, typed)
        for kept, typed in found
    )
