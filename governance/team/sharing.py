"""Share (team.md 6.4): what the user keeps privately becomes drafts for the team.

The draft says what the record says now, and rests on what the item cites. The record itself stays as it is, and is
superseded when what came of it is promoted.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from governance.formation.contracts import FormedMemory, MemoryType
from governance.formation.queue import Queue
from governance.formation.store import items, memories
from governance.review import ItemKind, QueueItem, State, quotes_of
from governance.team import drafting, queueing
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.ports import Private, Privates
from governance.team.contracts.rows import CandidateState, EvidenceRow, Target, Task, TaskKind, TaskState
from governance.team.contracts.staging import Confidence, Draft, EntryType, Share, Statement
from governance.team.contracts.turns import Strength
from governance.team.decoding import HEAD
from governance.team.drafting import Born, Made
from governance.team.errors import Kind, TeamFault
from governance.team.pooling import encoded
from governance.team.receiving import document_digest
from governance.team.store import candidates, submissions, tasks
from governance.team.store.submissions import Stage, StageState, Submission
from recall.canonical import canonical, digest, text_digest
from recall.contracts import Database, Frozen

MOST_ITEMS = 64
SHAREABLE = frozenset({State.KEPT, State.COMMITTED})
KINDS = frozenset({ItemKind.NOTE, ItemKind.MEMORY})
LOCAL = "source-local-only"
STATEMENT = "s1"
MIDDLE = 50  # a priority
_QUOTED = 200  # characters of a quote that the catalogue shows
_TYPES: dict[MemoryType, EntryType] = {
    MemoryType.WORK_TASK: "work_task",
    MemoryType.WORK_METHOD: "work_method",
    MemoryType.WORK_ARTIFACT: "work_artifact",
    MemoryType.EPISODIC: "work_task",
}


class _Shared(Frozen, frozen=True, kw_only=True):
    """An item with its record as it stands now."""

    item: QueueItem
    record: Private
    formed: FormedMemory | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sharing:
    database: Database
    queue: Queue
    privates: Privates

    async def begun(self, bound: Bound, call: Call, document: Share) -> tuple[Submission | None, str]:
        """Make the drafts: the record of the same share when there is one, and the id of its task.

        Raises TeamFault: `schema-invalid`, `candidate-not-found`, `candidate-stale`, `candidate-kind-mismatch`,
        `unverified-claim` for an item that a person has to look at first.
        """
        ids = document.item_ids
        if not 1 <= len(ids) <= MOST_ITEMS or len(set(ids)) != len(ids):
            problem = f"itemIds has {len(ids)} ids; 1 to {MOST_ITEMS} different ones are taken."
            raise TeamFault(Kind.SCHEMA_INVALID, problem, "Name the items that are to be shared.")
        found = await self.database.read(lambda connection: [_item(connection, bound, one) for one in ids])
        shared = [await self._shared(bound, item) for item in found]
        return await self.database.write(lambda connection: self._written(connection, bound, call, document, shared))

    async def _shared(self, bound: Bound, item: QueueItem) -> _Shared:
        record = None if item.record_id is None else await self.privates.get(bound, item.record_id)
        if record is None:
            problem = f"The memory of the item {item.item_id} is not there any more."
            raise TeamFault(Kind.CANDIDATE_STALE, problem, "Share another one.")
        formed = await self.database.read(lambda connection: memories.of(connection, record.memory_id))
        return _Shared(item=item, record=record, formed=formed)

    def _written(
        self, connection: sqlite3.Connection, bound: Bound, call: Call, document: Share, shared: Sequence[_Shared]
    ) -> tuple[Submission | None, str]:
        source = digest([[one.item.item_id, one.record.memory_id, one.record.revision] for one in shared])
        task_id = _task_id(connection, bound, source)
        record = submissions.get(connection, task_id, Stage.SHARE)
        if record is not None:
            return record, task_id
        rows = [_rows(connection, one, place) for place, one in enumerate(shared)]
        every = [row for group in rows for row in group]
        made = [
            _made(bound, Born(task_id=task_id, number=n, at=call.now), one, rows[n - 1])
            for n, one in enumerate(shared, start=1)
        ]
        task = Task(
            task_id=task_id,
            kind=TaskKind.SHARE,
            owner=bound.owner,
            state=TaskState.SUBMITTED,
            source_digest=source,
            document=canonical({"itemIds": list(document.item_ids)}).decode(),
            created_at=call.now,
            changed_at=call.now,
        )
        tasks.put(connection, task)
        tasks.put_evidence(connection, task_id, every)
        candidates.insert_all(connection, [(one.candidate, one.assessments, one.text) for one in made])
        for one in shared:
            queueing.shared(connection, self.queue, one.item, call)
        submissions.begin(connection, task_id, Stage.SHARE, document_digest(document), call.now)
        begun = submissions.get(connection, task_id, Stage.SHARE)
        assert begun is not None
        submissions.move(connection, begun, StageState.ADJUDICATING, encoded(()), call.now)
        return None, task_id


def _item(connection: sqlite3.Connection, bound: Bound, item_id: str) -> QueueItem:
    item = items.get(connection, item_id)
    if item is None or item.workspace_key != bound.workspace_key:  # what holds everywhere stays the user's
        problem = f"There is no item {item_id[:HEAD]!r} of this repository."
        raise TeamFault(Kind.CANDIDATE_NOT_FOUND, problem, "`review` lists those that there are.")
    if item.kind not in KINDS:
        problem = f"The item {item_id} is of kind {item.kind}: notes and memories are shared."
        raise TeamFault(Kind.CANDIDATE_KIND_MISMATCH, problem, "Name another one.")
    if item.state not in SHAREABLE:
        problem = f"The item {item_id} is {item.state}: what is kept or committed is shared."
        raise TeamFault(Kind.CANDIDATE_STALE, problem, "Have it kept first, or name another one.")
    if item.flags:
        problem = f"The item {item_id} waits for a person: {', '.join(item.flags)}."
        raise TeamFault(Kind.UNVERIFIED_CLAIM, problem, "Let the user look at it with `review`.")
    return item


def _task_id(connection: sqlite3.Connection, bound: Bound, source: str) -> str:
    """Of the same items in the same words: the same task, until all that came of it was discarded."""
    number = 0
    while True:
        task_id = f"extract-{digest({'owner': bound.owner, 'share': source, 'number': number})}"
        found = candidates.of_task(connection, task_id)
        if not found or any(one.state is not CandidateState.DISCARDED for one in found):
            return task_id
        number += 1


def _rows(connection: sqlite3.Connection, one: _Shared, place: int) -> tuple[EvidenceRow, ...]:
    """What the item rests on, as a catalogue: quotes word for word, else the messages that its record names."""
    quotes = quotes_of(one.item)
    pointers: list[tuple[dict[str, str | int], str]] = [
        (
            {"itemId": one.item.item_id, "ref": cited.ref, "quote": text_digest(cited.quote), "at": cited.at},
            f"{cited.role or 'user'}: {cited.quote[:_QUOTED]}",
        )
        for cited in quotes
    ]
    if not quotes:
        pointers = [
            ({"itemId": one.item.item_id, "ref": source.message_id, "quote": "", "at": source.at}, "a message")
            for source in memories.sources(connection, one.record.memory_id)
        ]
    strength = Strength.DIRECT if quotes else Strength.CONTEXTUAL
    found = {digest(pointer): (pointer, display) for pointer, display in pointers}
    return tuple(
        EvidenceRow(
            evidence_id=f"ev-{place * 1000 + number}-{pointer_digest[:12]}",
            kind="turn",
            pointer_digest=pointer_digest,
            display=" ".join(display.split()),
            pointer=canonical(pointer).decode(),
            strength=strength,
            limitations=(LOCAL,),
        )
        for number, (pointer_digest, (pointer, display)) in enumerate(found.items(), start=1)
    )


def _made(bound: Bound, born: Born, one: _Shared, rows: Sequence[EvidenceRow]) -> Made:
    text = one.record.text
    cited = tuple(row.evidence_id for row in rows)
    scene = "" if one.formed is None else one.formed.scene_name.strip()
    draft = Draft(
        content=text,
        type="work_fact" if one.formed is None else _TYPES.get(one.formed.type, "work_fact"),
        priority=MIDDLE if one.formed is None else min(max(one.formed.priority, 0), 100),
        confidence=_confidence(one.item),
        scene=scene[: drafting.MOST_SCENE] or None,
        statements=(Statement(statement_id=STATEMENT, text=text, evidence_ids=cited),),
    )
    drafting.shaped(f"the item {one.item.item_id}", draft.content, draft.statements, draft.scene)
    wrong = drafting.unfit(draft.content, draft.statements, draft.scene, cited)
    if wrong is not None:
        problem = f"The item {one.item.item_id} cannot be shared: {wrong[0]}, {wrong[1]}."
        raise TeamFault(Kind.SCHEMA_INVALID, problem, "Leave it out, or put it into other words first.")
    made = drafting.made(bound, born, draft, rows)
    target = Target(source_kind="private", id=one.record.memory_id, revision=one.record.revision)
    return msgspec.structs.replace(made, candidate=msgspec.structs.replace(made.candidate, supersedes=(target,)))


def _confidence(item: QueueItem) -> Confidence:
    return "high" if item.state is State.KEPT else "medium"
