"""A skill proposed out of a recall task (team.md 6.4): staged at once, for there is nothing to compare it with."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from governance.formation.errors import AnswerFault
from governance.review import ItemKind
from governance.screen import secrets
from governance.team import leases, payloads, queueing
from governance.team.assessing import assessed, basis
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.recalling import TaskContext
from governance.team.contracts.rows import (
    Assessment,
    Candidate,
    CandidateState,
    ChunkState,
    EvidenceRow,
    SkillPayload,
    Task,
    TaskKind,
)
from governance.team.contracts.staging import SkillCandidate, Staged, Statement
from governance.team.decoding import HEAD
from governance.team.drafting import Born, flags_of, stated
from governance.team.errors import Kind, TeamFault
from governance.team.files import MOST_SKILLS, Skill, checked_skill, normal, skill_path
from governance.team.pooling import Pooling, encoded
from governance.team.queueing import Proposal
from governance.team.receiving import Begun, Receiving
from governance.team.store import candidates, submissions, tasks
from governance.team.store.submissions import Stage, StageState
from governance.team.syncing import Syncing
from governance.team.trees import Tree
from recall.contracts import Database

MOST_STATEMENTS = 64


class _Context(msgspec.Struct, frozen=True):
    context: TaskContext


@dataclass(frozen=True, kw_only=True, slots=True)
class Skilling:
    database: Database
    syncing: Syncing
    receiving: Receiving
    pooling: Pooling

    async def skill(self, bound: Bound, call: Call, document: SkillCandidate) -> Staged:
        """Stage a skill. Raises TeamFault: `schema-invalid`, `capacity-exceeded`, `binding-drift` when the skill or the
        memories that it was written beside have changed, and as every stage document."""
        record = await self.receiving.met(bound, Stage.SKILL, document.task_id, document, call.now)
        if record is not None and record.state is StageState.COMPLETE:
            outcome = self.pooling.outcome(record)
            assert isinstance(outcome, Staged)
            return msgspec.structs.replace(outcome, idempotent=True)
        task, rows, number = await self.database.read(lambda connection: _task(connection, bound, document.task_id))
        skill = await asyncio.to_thread(_checked, document, frozenset(row.evidence_id for row in rows))
        if msgspec.json.decode(task.document, type=_Context).context.digest != document.memory_context_digest:
            raise TeamFault(
                Kind.BINDING_DRIFT,
                "memoryContextDigest is not that of the task.",
                "Echo `context.digest` as recall gave it.",
            )
        begun = await self.receiving.begin(bound, call, Stage.SKILL, document)
        synced = await self.syncing.synced(bound, call.now)
        _fits(document, synced.tree)
        made = _candidate(bound, Born(task_id=task.task_id, number=number, at=call.now), document, skill)
        assessments = tuple(
            assessed(one, {row.evidence_id: (basis(task.task_id, row),) for row in rows}) for one in document.statements
        )
        return await self.database.write(
            lambda connection: self._staged(connection, (bound, call), begun, made, assessments)
        )

    def _staged(
        self,
        connection: sqlite3.Connection,
        who: tuple[Bound, Call],
        begun: Begun,
        made: Candidate,
        assessments: Sequence[Assessment],
    ) -> Staged:
        bound, call = who
        done = self.pooling.staged(begun.task.task_id, [made])
        record = self.receiving.taken(connection, begun)
        if record is None:
            return msgspec.structs.replace(done, idempotent=True)
        leases.submitted(connection, begun.task, call.now)
        candidates.insert(connection, made, assessments)
        skill = payloads.skill(made).skill
        proposal = Proposal(kind=ItemKind.SKILL, title=f"{skill.name}: {skill.description}", text=skill.body)
        queueing.staged(connection, made, proposal, bound, call)
        tasks.move_chunk(connection, begun.task.task_id, ChunkState.EXTRACTED, call.now)
        submissions.move(connection, record, StageState.COMPLETE, encoded(done), call.now)
        return done


def _task(connection: sqlite3.Connection, bound: Bound, task_id: str) -> tuple[Task, tuple[EvidenceRow, ...], int]:
    """The task, what may be cited, and the number of its next candidate."""
    task = tasks.needed(connection, task_id, bound.owner, TaskKind.RECALL)
    return task, tasks.evidence(connection, task_id), candidates.next_number(connection, task_id)


def _checked(document: SkillCandidate, known: frozenset[str]) -> Skill:
    """The skill as its file would say it. Raises TeamFault `schema-invalid`."""
    proposed = document.skill
    try:
        skill = Skill(name=proposed.name, description=proposed.description.strip(), body=normal(proposed.body))
    except AnswerFault as fault:
        raise _invalid(f"skill.body: {fault.problem}") from None
    wrong = checked_skill(skill)
    if wrong is not None:
        raise _invalid(f"skill: {wrong.problem}")
    if (proposed.action == "create") != (proposed.expected_content_digest is None):
        raise _invalid("expectedContentDigest is null for a new skill, and that of the file for an update.")
    _stated(document.statements, known)
    said = (part for one in document.statements for part in (one.statement_id, one.text))
    for text in (skill.description, skill.body, *said):
        found = secrets(text)
        if found:
            raise _invalid(f"secret: it holds a secret or personal datum ({found[0].family}).")
    return skill


def _stated(statements: Sequence[Statement], known: frozenset[str]) -> None:
    if not 1 <= len(statements) <= MOST_STATEMENTS:
        raise _invalid(f"It has {len(statements)} statements; 1 to {MOST_STATEMENTS} are taken.")
    if len({one.statement_id for one in statements}) != len(statements):
        raise _invalid("Two statements have one id.")
    stated("skill", statements)
    for one in statements:
        if not one.evidence_ids:
            raise _invalid(f"The statement {one.statement_id!r} cites nothing.")
        foreign = next((evidence_id for evidence_id in one.evidence_ids if evidence_id not in known), None)
        if foreign is not None:
            raise _invalid(f"unknown-evidence: {one.statement_id!r} cites {foreign[:HEAD]!r}.")


def _fits(document: SkillCandidate, tree: Tree) -> None:
    """Whether the skill is as the document takes it to be."""
    proposed, held = document.skill, tree.skill(document.skill.name)
    if proposed.action == "create":
        if held is not None:
            raise _invalid(f"There is a skill {proposed.name!r} already: update it.")
        if len(tree.skills) >= MOST_SKILLS:
            raise TeamFault(
                Kind.CAPACITY_EXCEEDED, f"There are {MOST_SKILLS} skills already.", "Update one of them instead."
            )
    elif held is None or held.digest != proposed.expected_content_digest:
        raise TeamFault(
            Kind.BINDING_DRIFT,
            f"The skill {proposed.name!r} is not as it was when it was read.",
            "Call recall again, and write the update over what stands there now.",
        )


def _candidate(bound: Bound, born: Born, document: SkillCandidate, skill: Skill) -> Candidate:
    proposed = msgspec.structs.replace(document.skill, description=skill.description, body=skill.body)
    return Candidate(
        candidate_id=f"{born.task_id}-c{born.number}",
        kind="skill",
        task_id=born.task_id,
        owner=bound.owner,
        state=CandidateState.STAGED,
        revision=1,
        memory_id="",
        target_path=f"{bound.binding.memory_root}/{skill_path(skill.name)}",
        payload=payloads.encoded(SkillPayload(skill=proposed, statements=document.statements)),
        flags=flags_of(skill.body, skill.description),
        created_at=born.at,
        changed_at=born.at,
    )


def _invalid(problem: str) -> TeamFault:
    return TeamFault(Kind.SCHEMA_INVALID, problem, "Correct the document; nothing was changed.")
