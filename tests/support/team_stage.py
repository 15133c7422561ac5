"""Recall tasks answered: stage over a real database and a real folder, the history in memory."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from governance.formation.queue import Queue
from governance.formation.store import items
from governance.migrations import queue_steps
from governance.review import QueueItem
from governance.team.binding import Place, bound_of
from governance.team.citing import Citing
from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Private
from governance.team.contracts.recalling import ExtractionTask
from governance.team.contracts.rows import Assessment, Candidate, ChunkState, Task
from governance.team.contracts.staging import (
    Adjudicated,
    AdjudicationResult,
    AdjudicationTask,
    Draft,
    DraftBatch,
    MergedFields,
    Staged,
    Statement,
)
from governance.team.contracts.turns import TurnContent
from governance.team.errors import Kind, TeamFault
from governance.team.staging import Staging
from governance.team.store import bindings, candidates, submissions, tasks, texts
from governance.team.syncing import Syncing
from governance.team.tree import read_tree
from host.database import open_database
from recall.analyzer import distinct
from recall.contracts import Database
from tests.support.clock import START
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_recall import FORMATS, INSTALLATION, Recalled, a_call, a_request, a_turn

KEY = b"k" * 32
WORKSPACE = "ws_" + "a" * 32


class FakePrivates:
    """A `Privates` in memory: near is what shares a term, most shared first."""

    def __init__(self, *records: Private) -> None:
        self.records = {one.memory_id: one for one in records}

    async def near(self, bound: Bound, text: str, limit: int) -> Sequence[Private]:
        wanted = set(distinct(text))
        found = [(len(wanted & set(distinct(one.text))), one) for one in self.records.values()]
        ranked = sorted((one for one in found if one[0]), key=lambda one: (-one[0], one[1].memory_id))
        return [one for _, one in ranked[:limit]]

    async def get(self, bound: Bound, memory_id: str) -> Private | None:
        return self.records.get(memory_id)


class Stage:
    """What a session with its tasks does. `now` is the clock of its calls."""

    def __init__(self, database: Database, root: Path, *contents: TurnContent, privates: FakePrivates) -> None:
        self.recalled = Recalled(*contents, database=database)
        self.database = database
        self.root = root
        self.recalled.bound = self.bound = bound_of(
            Place(
                root=str(root),
                common=f"{root}/.git",
                device=1,
                inode=2,
                remote="git@code.example:org/project.git",
                workspace_key=WORKSPACE,
            ),
            INSTALLATION.secret,
            FORMATS,
        )
        self.queue = Queue(database, KEY)
        self.privates = privates
        self.syncing = Syncing(database=database, read=lambda bound: read_tree(bound.root, bound.binding.memory_root))
        self.staging = Staging(
            database=database,
            queue=self.queue,
            syncing=self.syncing,
            privates=privates,
            sources=self.recalled.sources,
            formats=FORMATS,
            issue=self.recalled.issue,
        )
        self.citing = Citing(database=database, history=self.recalled.history, privates=privates)
        self.now = START

    def call(self, holder: str = "one", principal: str = "agent") -> Any:
        return a_call(holder=holder, now=self.now, principal=principal)

    # ---------------------------------------------------------------------------------------------------- what is sent

    async def task(self, query: str | None = None, holder: str = "one") -> ExtractionTask:
        """The first task that recall hands out."""
        return (await self.tasks(query, holder))[0]

    async def tasks(self, query: str | None = None, holder: str = "one") -> tuple[ExtractionTask, ...]:
        await self.database.write(lambda connection: bindings.installation(connection, INSTALLATION))
        found = await self.recalled.recalling.recall(self.bound, self.call(holder), a_request(query), 8)
        return found.sources

    def batch(self, task: ExtractionTask, *drafts: Draft | str, token: bool = False) -> DraftBatch:
        """A batch that answers a task; a text is a draft of one statement over the task's first turn."""
        return DraftBatch(
            format=FORMATS.document("candidate-draft-batch"),
            task_id=task.task_id,
            binding=task.binding,
            candidates=tuple(self.a_draft(task, one) if isinstance(one, str) else one for one in drafts),
            lease_token=task.lease.token if token else None,
        )

    def a_draft(self, task: ExtractionTask, content: str, **fields: Any) -> Draft:
        cited = (task.evidence_catalog[0].evidence_id,)
        given: dict[str, Any] = {
            "content": content,
            "type": "work_method",
            "priority": 70,
            "confidence": "high",
            "statements": (Statement(statement_id="s1", text=content, evidence_ids=cited),),
        }
        return Draft(**(given | fields))

    def result(self, task: AdjudicationTask, *decisions: Adjudicated) -> AdjudicationResult:
        """Decisions about the drafts; those that none is given for are stored."""
        decided = {one.draft_ref for one in decisions}
        rest = [store(one.draft_ref) for one in task.drafts if one.draft_ref not in decided]
        return AdjudicationResult(
            format=FORMATS.document("adjudication-result"),
            task_id=task.task_id,
            binding=task.binding,
            decisions=(*decisions, *rest),
        )

    async def draft(self, *drafts: Draft | str, query: str | None = None) -> AdjudicationTask:
        """Recall, and draft these over its first task."""
        found = await self.staging.draft(self.bound, self.call(), self.batch(await self.task(query), *drafts))
        assert isinstance(found, AdjudicationTask), found
        return found

    async def adjudicate(self, task: AdjudicationTask, *decisions: Adjudicated, holder: str = "one") -> Staged:
        return await self.staging.adjudicate(self.bound, self.call(holder), self.result(task, *decisions))

    async def staged(self, *drafts: Draft | str, query: str | None = None) -> list[Candidate]:
        """The whole way to staged, every draft stored."""
        done = await self.adjudicate(await self.draft(*drafts, query=query))
        return [await self.candidate(one.candidate_id) for one in done.candidates]

    # --------------------------------------------------------------------------------------------------- what is there

    def approve(self, content: str, number: int = 1, **fields: Any) -> str:
        """An approved entry in its file, as a pull brings it; its id."""
        entry = an_entry(content, number, **fields)
        write_entry(self.root, entry)
        return entry.id

    async def candidate(self, candidate_id: str) -> Candidate:
        return await self.database.read(lambda connection: candidates.owned(connection, self.bound.owner, candidate_id))

    async def assessments(self, candidate_id: str) -> tuple[Assessment, ...]:
        return await self.database.read(lambda connection: candidates.assessments(connection, candidate_id))

    async def states(self) -> dict[str, int]:
        return await self.database.read(lambda connection: candidates.counts(connection, self.bound.owner))

    async def chunk(self, task_id: str) -> ChunkState | None:
        return await self.database.read(lambda connection: tasks.chunk(connection, task_id))

    async def row(self, task_id: str) -> Task:
        return await self.database.read(lambda connection: tasks.needed(connection, task_id, self.bound.owner))

    async def record(self, task_id: str, stage: submissions.Stage) -> submissions.Submission | None:
        return await self.database.read(lambda connection: submissions.get(connection, task_id, stage))

    async def item(self, item_id: str) -> QueueItem | None:
        return await self.database.read(lambda connection: items.get(connection, item_id))

    async def generation(self) -> int:
        row = await self.database.read(lambda connection: candidates.projection(connection, self.bound.owner))
        return row.generation

    async def searched(self, source: texts.Source) -> frozenset[str]:
        key = self.bound.owner.worktree_key
        return await self.database.read(lambda connection: texts.items(connection, key, source))


@asynccontextmanager
async def a_stage(folder: Path, *contents: TurnContent, privates: Sequence[Private] = ()) -> AsyncIterator[Stage]:
    """A worktree below a folder, its database, and a history of these turns (none given: three of one session)."""
    root = (folder / "repository").resolve()
    root.mkdir(parents=True, exist_ok=True)
    turns = contents or tuple(a_turn(place) for place in range(3))
    async with open_database(folder / "governance.db", queue_steps()) as database:
        yield Stage(database, root, *turns, privates=FakePrivates(*privates))


def store(draft_ref: str) -> Adjudicated:
    return Adjudicated(draft_ref=draft_ref, action="store")


def skip(draft_ref: str, *targets: str) -> Adjudicated:
    return Adjudicated(draft_ref=draft_ref, action="skip", target_ids=targets)


def update(draft_ref: str, target: str, merged: MergedFields) -> Adjudicated:
    return Adjudicated(draft_ref=draft_ref, action="update", target_ids=(target,), merged_fields=merged)


def merge(draft_ref: str, targets: Sequence[str], merged: MergedFields) -> Adjudicated:
    return Adjudicated(draft_ref=draft_ref, action="merge", target_ids=tuple(targets), merged_fields=merged)


def fields(*stated: tuple[str, Sequence[str]], **given: Any) -> MergedFields:
    """Merged fields of these statements: (text, evidence ids). The content is their texts."""
    statements = tuple(
        Statement(statement_id=f"m{number}", text=text, evidence_ids=tuple(cited))
        for number, (text, cited) in enumerate(stated, start=1)
    )
    return MergedFields(**({"content": " ".join(text for text, _ in stated), "statements": statements} | given))


def plain(document: Any) -> Mapping[str, Any]:
    """A document by the wire's names."""
    found: Mapping[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return found


async def refused(kind: Kind, answer: Any) -> TeamFault:
    """The refusal of that kind."""
    try:
        done = await answer
    except TeamFault as fault:
        assert fault.kind is kind, (fault.kind, str(fault))
        return fault
    raise AssertionError(f"it was taken: {done}")
