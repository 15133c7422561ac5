"""Drafts compared, and handed out to be decided about: the adjudication task (team.md 6.2).

The caller has read the files, and the user's own records are asked first; what is in the database is compared in the
transaction that writes the task. A task that has become stale is followed by another one over the same drafts.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from governance.team import payloads
from governance.team.comparing import ALGORITHM, Asked, Compared, compare
from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Privates
from governance.team.contracts.rows import Candidate, CandidateState, ChunkState, Task, TaskKind, TaskState
from governance.team.contracts.staging import (
    AdjudicationBinding,
    AdjudicationTask,
    PoolRevision,
    Projection,
    RejectedDraft,
    Staged,
    StagedCandidate,
    TaskDraft,
)
from governance.team.decoding import format_of
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.prompts import prompt
from governance.team.store import bindings, candidates, submissions, tasks
from governance.team.store.submissions import Stage, StageState, Submission
from governance.team.store.texts import Row
from governance.team.syncing import needed
from recall.analyzer import ANALYZER
from recall.canonical import digest, text_digest
from recall.contracts import Database, Millis

ADJUDICATE = "adjudicate"
NEAR = 15
TRIES = 5
_encoder = msgspec.json.Encoder(order="sorted")
_rejected = msgspec.json.Decoder(tuple[RejectedDraft, ...])
_task = msgspec.json.Decoder(AdjudicationTask)
_staged = msgspec.json.Decoder(Staged)
STAGES = {TaskKind.RECALL: Stage.DRAFT, TaskKind.SHARE: Stage.SHARE}


def encoded(outcome: AdjudicationTask | Staged | tuple[RejectedDraft, ...]) -> str:
    """An outcome as a stage record keeps it."""
    return _encoder.encode(outcome).decode()


@dataclass(frozen=True, kw_only=True, slots=True)
class Pooling:
    """`privates`: the user's own records."""

    database: Database
    privates: Privates
    formats: Formats

    async def opened(self, bound: Bound, task_id: str, stage: Stage, now: Millis) -> AdjudicationTask | Staged:
        """Compare the drafts of a task with what the projections hold, and hand them out. When none is left, others
        have replaced them: what became of them.

        Raises TeamFault: `sync-partial`, `submission-conflict` when the task was answered anew meanwhile.
        """
        for _ in range(TRIES):
            drafts = await self.database.read(lambda connection: drafts_of(connection, task_id))
            asked = await self.asked(bound, drafts)

            def work(
                connection: sqlite3.Connection, asked: tuple[Asked, ...] = asked
            ) -> AdjudicationTask | Staged | None:
                return self._opened(connection, bound, (task_id, stage), asked, now)

            done = await self.database.write(work)
            if done is not None:
                return done
        problem = f"The drafts of {task_id} are being changed by others again and again."
        raise TeamFault(Kind.SUBMISSION_CONFLICT, problem, "Send the same document again in a moment.")

    async def asked(self, bound: Bound, drafts: Sequence[Candidate]) -> tuple[Asked, ...]:
        """Drafts as they are compared, with the user's own records that come near; none that a draft is made of."""
        found: list[Asked] = []
        for draft in drafts:
            content = payloads.entry(draft).content
            own = {target.id for target in draft.supersedes if target.source_kind == "private"}
            near = await self.privates.near(bound, content, NEAR + len(own))
            others = tuple(one for one in near if one.memory_id not in own)
            found.append(Asked(draft_ref=draft.candidate_id, content=content, near=others))
        return tuple(found)

    def again(self, connection: sqlite3.Connection, record: Submission) -> AdjudicationTask | Staged | None:
        """What a record was answered with. None: nothing yet, or a task that is stale by now."""
        if record.state is StageState.ADJUDICATING:
            return None
        outcome = self.outcome(record)
        if isinstance(outcome, Staged) or record.state is not StageState.AWAITING:
            return outcome
        task = tasks.get(connection, outcome.task_id)
        return None if task is None or task.state is TaskState.STALE else outcome

    def outcome(self, record: Submission) -> AdjudicationTask | Staged:
        """The stored answer. Raises TeamFault `state-corrupt`."""
        try:
            if format_of(record.outcome.encode()) == self.formats.document("staged"):
                return _staged.decode(record.outcome)
            return _task.decode(record.outcome)
        except (msgspec.MsgspecError, TeamFault) as error:
            problem = f"The outcome of {record.task_id} cannot be read: {error}."
            raise TeamFault(Kind.STATE_CORRUPT, problem, "Discard the candidates and stage again.") from None

    def staged(self, task_id: str, found: Sequence[Candidate], rejected: tuple[RejectedDraft, ...] = ()) -> Staged:
        """What became of candidates, as a document."""
        return Staged(
            format=self.formats.document("staged"),
            task_id=task_id,
            candidates=tuple(_said(one) for one in found),
            rejected=rejected,
        )

    def _opened(
        self,
        connection: sqlite3.Connection,
        bound: Bound,
        about: tuple[str, Stage],
        asked: tuple[Asked, ...],
        now: Millis,
    ) -> AdjudicationTask | Staged | None:
        task_id, stage = about
        record = submissions.get(connection, task_id, stage)
        if record is None:
            problem = f"The task {task_id} is answered anew."
            raise TeamFault(Kind.SUBMISSION_CONFLICT, problem, "Ask for the team's status, or recall again.")
        known = self.again(connection, record)
        if known is not None:
            return known
        drafts = drafts_of(connection, task_id)
        if [one.candidate_id for one in drafts] != [one.draft_ref for one in asked]:
            return None
        if not drafts:
            return self._none_left(connection, record, now)
        compared = compare(connection, bound.owner, asked)
        needed(compared.approved)
        document = self._document(connection, bound, record, drafts, compared)
        row = Task(
            task_id=document.task_id,
            kind=TaskKind.ADJUDICATION,
            owner=bound.owner,
            state=TaskState.PENDING,
            source_digest=compared.result_set_digest,
            document=encoded(document),
            parent=task_id,
            created_at=now,
            changed_at=now,
        )
        tasks.put(connection, row)
        submissions.move(connection, record, StageState.AWAITING, row.document, now)
        return document

    def _none_left(self, connection: sqlite3.Connection, record: Submission, now: Millis) -> Staged:
        done = self.staged(record.task_id, candidates.of_task(connection, record.task_id), self.rejected(record))
        finished(connection, record, encoded(done), now)
        return done

    def rejected(self, record: Submission) -> tuple[RejectedDraft, ...]:
        """The drafts of a batch that fell."""
        if record.state is StageState.ADJUDICATING:
            return _rejected.decode(record.outcome)
        return self.outcome(record).rejected

    def _document(
        self,
        connection: sqlite3.Connection,
        bound: Bound,
        record: Submission,
        drafts: Sequence[Candidate],
        compared: Compared,
    ) -> AdjudicationTask:
        used = prompt(ADJUDICATE)
        binding = AdjudicationBinding(
            state_uuid=bindings.installed(connection).uuid,
            owner=bound.owner,
            draft_batch_digest=batch_digest(drafts),
            approved_projection=_projection(compared.approved),
            candidate_projection=_projection(compared.candidate),
            recall_algorithm=ALGORITHM,
            result_set_digest=compared.result_set_digest,
            pool_item_revisions=tuple(
                PoolRevision(source_kind=one.source_kind, id=one.id, revision=one.revision) for one in compared.pool
            ),
            versions={
                "analyzer": ANALYZER,
                "prompt": f"{used.id}:{used.sha256[:12]}",
                "schema": self.formats.document("adjudication-result"),
            },
        )
        earlier = len(tasks.children(connection, record.task_id))
        source = {"parent": record.task_id, "binding": binding, "earlier": earlier}
        return AdjudicationTask(
            format=self.formats.document("adjudication-task"),
            task_id=f"adjudicate-{digest(source)}",
            binding=binding,
            drafts=tuple(_draft(one) for one in drafts),
            recall_sets=compared.recall_sets,
            pool=compared.pool,
            rejected=self.rejected(record),
        )


def drafts_of(connection: sqlite3.Connection, task_id: str) -> tuple[Candidate, ...]:
    """The candidates of a task that are drafts still."""
    return tuple(one for one in candidates.of_task(connection, task_id) if one.state is CandidateState.DRAFT)


def finished(connection: sqlite3.Connection, record: Submission, outcome: str, now: Millis) -> None:
    """All drafts of a batch are decided about: its record is complete, and its chunk extracted."""
    if record.state is StageState.AWAITING:
        record = submissions.move(connection, record, StageState.DECIDING, record.outcome, now)
    submissions.move(connection, record, StageState.COMPLETE, outcome, now)
    tasks.move_chunk(connection, record.task_id, ChunkState.EXTRACTED, now)


def batch_digest(drafts: Sequence[Candidate]) -> str:
    """Of drafts as they stand."""
    return digest(
        [
            {"draftRef": one.candidate_id, "revision": one.revision, "payloadDigest": text_digest(one.payload)}
            for one in drafts
        ]
    )


def _projection(row: Row) -> Projection:
    return Projection(generation=row.generation, analyzer_version=row.analyzer_version)


def _draft(candidate: Candidate) -> TaskDraft:
    payload = payloads.entry(candidate)
    return TaskDraft(
        draft_ref=candidate.candidate_id,
        content=payload.content,
        type=payload.type,
        priority=payload.priority,
        confidence=payload.confidence,
        scene=payload.scene,
        statements=payload.statements,
    )


def _said(candidate: Candidate) -> StagedCandidate:
    discarded = candidate.state is CandidateState.DISCARDED
    return StagedCandidate(
        candidate_id=candidate.candidate_id,
        state=candidate.state,
        revision=candidate.revision,
        memory_id=None if discarded else candidate.memory_id or None,
        target_path=None if discarded else candidate.target_path or None,
        supersedes=tuple(one.id for one in candidate.supersedes) if not discarded else (),
        covered_by=tuple(one.id for one in candidate.covers),
    )
