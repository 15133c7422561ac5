"""Recall: history as tasks for the agent that is already running (team.md 5).

The material is read first, twice at most. Then one transaction plans the tasks, lets go of those that rest on what is
not there any more, and claims what is handed out. Same material, same task: nothing of when or how it was asked for is
in a task's name. What people said is not kept with the task; it is read anew whenever the task is handed out.
"""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import msgspec

from governance.team import catalogue, guiding, leases, requests
from governance.team.chunking import coverage
from governance.team.collecting import ATTEMPTS, Collected, Collector, Material
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.recalling import (
    AgentRecall,
    Chunk,
    ExtractionRequest,
    ExtractionTask,
    Lease,
    SelectionDigests,
    SelectionSummary,
    Snapshot,
    TaskBinding,
    TaskContext,
    TurnRange,
)
from governance.team.contracts.rows import Task, TaskKind, TaskState
from governance.team.contracts.turns import Selection, Turn
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.leases import Issue
from governance.team.store import bindings, tasks
from governance.team.surroundings import LISTS_BYTES, Context
from governance.team.times import written
from recall.canonical import canonical, digest
from recall.contracts import Database, Frozen

MOST_TURNS = 200
ANSWER_BYTES = 4 * 1024 * 1024 - 64 * 1024  # of an answer: what a frame takes, and the rest of the answer


class Gathered(Frozen, frozen=True, kw_only=True):
    """What was read. `collected`: by session, best first; `done`: turns of it that were dealt with before."""

    selection: Selection
    collected: tuple[Collected, ...]
    done: int

    @property
    def materials(self) -> tuple[Material, ...]:
        return tuple(material for one in self.collected for material in one.materials)

    @property
    def too_large(self) -> tuple[Turn, ...]:
        return tuple(turn for one in self.collected for turn in one.too_large)


@dataclass(frozen=True, slots=True)
class Handed:
    """A task that the caller holds now, and its material."""

    task: Task
    material: Material


@dataclass(slots=True)
class Planned:
    """What the transaction made of it. `waiting`: chunks that nobody has answered, `held`: of those, others'."""

    handed: list[Handed] = field(default_factory=list)
    waiting: int = 0
    held: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalling:
    """`providers`: the agent products there are; `issue`: how leases are given."""

    database: Database
    collector: Collector
    context: Context
    formats: Formats
    providers: Collection[str]
    issue: Issue

    async def recall(self, bound: Bound, call: Call, request: ExtractionRequest, limit: int = 1) -> AgentRecall:
        """Up to `limit` tasks of what the request matches, each claimed by the caller.

        Raises TeamFault: `request-invalid`, `query-too-broad`, `coverage-incomplete`, `payload-changed`.
        """
        most = requests.checked_limit(limit)
        wanted = requests.normalised(request, self.providers)
        gathered = await self._twice(bound, wanted)
        digests = _digests(bound, wanted, gathered.selection)
        plan = _Planning(self.formats, self.collector, bound, call, digests)
        planned = await self.database.write(lambda connection: plan.made(connection, gathered, most, self.issue))
        sources = await self._sources(bound, call, planned.handed)
        found = guiding.Found(
            turns=gathered.selection.matched,
            chunks=planned.waiting,
            handed=len(sources),
            held=planned.held,
            done=gathered.done,
            too_large=len(gathered.too_large),
        )
        return AgentRecall(
            format=self.formats.document("agent-recall"),
            selection=_summary(gathered, digests, planned.waiting),
            sources=sources,
            guidance=guiding.guidance(self.formats, found),
            note=guiding.note(found),
        )

    async def _twice(self, bound: Bound, wanted: ExtractionRequest) -> Gathered:
        """What changes while it is read is read once more, whole."""
        try:
            return await self._gathered(bound, wanted)
        except TeamFault as fault:
            if fault.kind is not Kind.PAYLOAD_CHANGED:
                raise
        return await self._gathered(bound, wanted)

    async def _gathered(self, bound: Bound, wanted: ExtractionRequest) -> Gathered:
        selection = await self.collector.history.select(bound, wanted, MOST_TURNS)
        if selection.matched > MOST_TURNS:
            raise TeamFault(
                Kind.QUERY_TOO_BROAD,
                f"{selection.matched} turns match; at most {MOST_TURNS} are read at a time.",
                "Take a shorter window, or add words to the query.",
            )
        keys = [turn.turn_key for session in selection.sessions for turn in session.turns]
        tree = bound.owner.worktree_key
        done = await self.database.read(lambda connection: tasks.finished(connection, tree, keys))
        collected = [await self.collector.collected(bound, session, done) for session in selection.sessions]
        turns = [turn for session in selection.sessions for turn in session.turns]
        before = sum((turn.turn_key, turn.revision) in done for turn in turns)
        return Gathered(selection=selection, collected=tuple(collected), done=before)

    async def _sources(self, bound: Bound, call: Call, handed: Sequence[Handed]) -> tuple[ExtractionTask, ...]:
        contexts = await self.context.around(bound, [_spoken(one.material) for one in handed], call.now)
        made = [_task(self.formats, one, context) for one, context in zip(handed, contexts, strict=True)]
        await self.database.write(lambda connection: _note_contexts(connection, made))
        return tuple(made)


@dataclass(frozen=True, slots=True)
class _Planning:
    """One recall's transaction."""

    formats: Formats
    collector: Collector
    bound: Bound
    call: Call
    digests: SelectionDigests

    def made(self, connection: sqlite3.Connection, gathered: Gathered, most: int, issue: Issue) -> Planned:
        uuid = bindings.installed(connection).uuid
        planned, room = Planned(), ANSWER_BYTES
        materials = [_open(connection, material) for material in gathered.materials]
        for material in materials:
            self._put(connection, material, uuid, gathered.selection)
        self._let_go(connection, gathered.selection, materials)
        for material in materials:
            task = tasks.needed(connection, material.task_id, self.bound.owner, TaskKind.RECALL)
            if task.state not in tasks.UNFINISHED:
                continue
            planned.waiting += 1
            if not leases.claimable(task, self.call):
                planned.held += 1
            elif len(planned.handed) < most and (size := _size(task, material)) <= room:
                room -= size
                planned.handed.append(Handed(leases.claim(connection, task, self.call, issue), material))
        return planned

    def _put(self, connection: sqlite3.Connection, material: Material, uuid: str, selection: Selection) -> None:
        """Write a task down that is not there yet. What it is bound to is said once, when it is made."""
        now = self.call.now
        binding = TaskBinding(
            database_uuid=uuid,
            owner=self.bound.owner,
            source_input_digest=material.source_digest,
            selection=self.digests,
            turn_revisions=tuple(one.revision for one in material.turns),
            payload_digests=tuple(one.payload_digest for one in material.turns),
            edge_revisions=material.edge_revisions,
            versions=self.collector.versions,
            provenance=Snapshot(snapshot_seq=_last_seq(selection), evaluated_at=written(now)),
        )
        bare = _document(self.formats, material, binding)
        row = Task(
            task_id=material.task_id,
            kind=TaskKind.RECALL,
            owner=self.bound.owner,
            state=TaskState.PENDING,
            source_digest=material.source_digest,
            document=canonical(bare).decode(),
            created_at=now,
            changed_at=now,
            session_key=material.session,
        )
        if tasks.put(connection, row):
            tasks.put_chunk(connection, material.task_id, self.bound.owner, material.turns, now)
            tasks.put_evidence(connection, material.task_id, material.evidence)

    def _let_go(self, connection: sqlite3.Connection, selection: Selection, materials: Sequence[Material]) -> None:
        """Tasks that hold a turn as it was before it changed, and those with the same turns and other evidence."""
        now = {turn.turn_key: turn.revision for session in selection.sessions for turn in session.turns}
        made = {material.turns: material.task_id for material in materials}
        for task in tasks.holding(connection, self.bound.owner.worktree_key, tuple(now)):
            held = tasks.chunk_turns(connection, task.task_id)
            if any(now.get(one.turn_key, one.revision) != one.revision for one in held):
                leases.stale(connection, task, "a turn of it has changed", self.call.now)
            elif made.get(held, task.task_id) != task.task_id:
                leases.stale(connection, task, "its evidence has changed", self.call.now)


def _open(connection: sqlite3.Connection, material: Material) -> Material:
    """The material under the first name whose task was not let go of."""
    for attempt in range(ATTEMPTS):
        named = material.anew(attempt)
        task = tasks.get(connection, named.task_id)
        if task is None or task.state is not TaskState.STALE:
            break
    return named


def _document(formats: Formats, material: Material, binding: TaskBinding) -> ExtractionTask:
    """A task as it is kept: whole but for what was said, the lease and the context."""
    places = [one.turn.place for one in material.shown]
    return ExtractionTask(
        format=formats.document("extraction-task"),
        task_id=material.task_id,
        lease=Lease(token="", epoch=0, expires_at=binding.provenance.evaluated_at),
        binding=binding,
        session=material.session,
        evidence_catalog=catalogue.entries(material.evidence),
        chunk=Chunk(
            turn_range=TurnRange(first=min(places), last=max(places)),
            coverage=coverage(material.shown),
            turn_evidence=catalogue.turn_evidence(material.shown, material.evidence),
            transcript="",
        ),
        context=TaskContext(),
        contract=guiding.contract(formats),
    )


def _kept(task: Task) -> ExtractionTask:
    try:
        return msgspec.json.decode(task.document, type=ExtractionTask)
    except msgspec.DecodeError as error:
        raise TeamFault(
            Kind.STATE_CORRUPT,
            f"The task {task.task_id} cannot be read: {error}.",
            "Discard it, and call recall again.",
        ) from error


def _task(formats: Formats, handed: Handed, context: TaskContext) -> ExtractionTask:
    """A task as it is handed out: bound as it was when it was made, with what was said."""
    kept = _kept(handed.task)
    fresh = _document(formats, handed.material, kept.binding)
    chunk = msgspec.structs.replace(fresh.chunk, transcript=handed.material.transcript)
    return msgspec.structs.replace(fresh, lease=leases.lease_of(handed.task), chunk=chunk, context=context)


def _note_contexts(connection: sqlite3.Connection, made: Sequence[ExtractionTask]) -> None:
    """Keep the digest of the context that goes with each task: a skill that answers it echoes that."""
    for one in made:
        bare = msgspec.structs.replace(
            one,
            lease=Lease(token="", epoch=0, expires_at=one.binding.provenance.evaluated_at),
            chunk=msgspec.structs.replace(one.chunk, transcript=""),
            context=TaskContext(digest=one.context.digest),
        )
        tasks.document(connection, one.task_id, canonical(bare).decode())


def _size(task: Task, material: Material) -> int:
    """Bytes that a task takes in an answer, at most: each list of the context may be as large as it may be."""
    return LISTS_BYTES + len(task.document) + len(msgspec.json.encode(material.transcript))


def _spoken(material: Material) -> str:
    """What the user said in it: what its context is looked up by."""
    return "\n".join(part.text for shown in material.shown for part in shown.parts if part.kind == "user")


def _digests(bound: Bound, wanted: ExtractionRequest, selection: Selection) -> SelectionDigests:
    """Of what was asked, what was found, and where."""
    found = [
        [session.session_key, [[turn.turn_key, turn.revision, turn.payload_digest] for turn in session.turns]]
        for session in selection.sessions
    ]
    return SelectionDigests(
        request_digest=requests.request_digest(wanted),
        result_set_digest=digest(found),
        source_binding_digest=digest(bound.binding),
    )


def _summary(gathered: Gathered, digests: SelectionDigests, waiting: int) -> SelectionSummary:
    selection = gathered.selection
    return SelectionSummary(
        request_digest=digests.request_digest,
        result_set_digest=digests.result_set_digest,
        source_binding_digest=digests.source_binding_digest,
        matched_turns=selection.matched,
        matched_sessions=len(selection.sessions),
        rejected_sessions=selection.rejected,
        pending_chunks=waiting,
        too_large=tuple(f"{turn.session_key}#{turn.place}" for turn in gathered.too_large),
    )


def _last_seq(selection: Selection) -> int:
    return max((turn.last_seq for session in selection.sessions for turn in session.turns), default=0)
