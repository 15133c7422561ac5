"""Scenes, persona, doctrine and skills of each workspace: what stands in their files, what is proposed, and what a
decision does to them (formation.md 3).

Theory of operation: a proposal waits in the queue beside what it would change. Kept, it is planned against the files as
they stand; then the plan is written down, the files are changed one by one, each under the digest that was read, and
the decision and the documents' rows are written together. A file that somebody changed meanwhile has all of it taken
back, and nothing was decided. A process that ends in between finishes the plan, or takes it back, when it starts again.
"""

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import msgspec

from governance.formation import applying, docitems
from governance.formation.applying import ChangeSet, ChangeState, Journal, Standing
from governance.formation.contracts import (
    Atom,
    Document,
    DocumentKind,
    DocumentsResult,
    ExtractL2Request,
    ExtractL3Request,
    Fault,
    FileStep,
    Generation,
    Mode,
    Strategy,
    no_fault,
)
from governance.formation.doctrine_desk import KINDS
from governance.formation.documents import fresh
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.queue import FORGOTTEN, Outcome, Put, Queue, Words, screened
from governance.formation.standing import looked
from governance.formation.store import documents as store
from governance.formation.store import generations, items
from governance.review import Act, Decision, Principal, QueueItem, Refusal, RefusalCode, State, decided
from host.clock import Clock
from host.formation.document_files import DocumentFiles, NotWritten
from recall.canonical import short_id
from recall.contracts import Database, Frozen

REPLACED = "replaced"
KEEPING = frozenset({Act.KEEP, Act.EDIT_AND_KEEP})


class _Refused(Exception):
    """The decision does not hold after all: what was begun is taken back."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.problem)
        self.refusal = refusal


class Outlook(Frozen, frozen=True, kw_only=True):
    """`replaces`: the documents in whose place others come, or that go. `stale`: why it cannot be kept as it is."""

    replaces: tuple[Document, ...] = ()
    stale: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FormedDocuments:
    """The documents of every workspace. `fault`: named points, where tests stop the process."""

    database: Database
    queue: Queue
    files: DocumentFiles
    clock: Clock
    fault: Fault = no_fault
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one that looks and then writes, at a time

    async def standing(self, workspace_key: str) -> Standing:
        """The documents as their files say them; what a person changed there is written down as the next version."""
        async with self.turn:
            return await self._standing(workspace_key)

    async def l2(
        self,
        workspace_key: str,
        run_id: str,
        atoms: Sequence[Atom],
        mode: Mode = Mode.CODE,
        strategy: Strategy | None = None,
    ) -> ExtractL2Request:
        """A request for scenes, with those that there are. `atoms`: every lesson that was kept; those that a scene
        rests on already are left out."""
        scenes = (await self.standing(workspace_key)).of(DocumentKind.SCENE)
        return ExtractL2Request(
            run_id=run_id,
            scope_key=workspace_key,
            memories=fresh(atoms, scenes),
            scenes=scenes,
            mode=mode,
            strategy=strategy,
        )

    async def l3(
        self, workspace_key: str, run_id: str, mode: Mode = Mode.CODE, strategy: Strategy | None = None
    ) -> ExtractL3Request:
        """A request for the persona or the doctrine, with the scenes that the last one was made of."""
        standing = await self.standing(workspace_key)
        held = next((one for one in standing.held.values() if one.document.kind is KINDS[mode]), None)
        return ExtractL3Request(
            run_id=run_id,
            scope_key=workspace_key,
            scenes=standing.of(DocumentKind.SCENE),
            persona=None if held is None else held.document,
            previous_scene_versions=() if held is None else held.kept.scene_versions,
            mode=mode,
            strategy=strategy,
        )

    async def propose(self, run: docitems.Run, result: DocumentsResult, mode: Mode = Mode.CODE) -> tuple[Put, ...]:
        """Put what a run proposes into the queue, and write the run down. A proposal that waits about the same document
        is superseded by it. Proposed again, or said no to once, it is not there a second time."""
        standing = await self.standing(run.workspace_key)
        made = [(screened(item), change_set) for item, change_set in docitems.items_of(run, result, standing)]
        ran = _generation(run, result, mode, [item.item_id for item, _ in made])

        def work(connection: sqlite3.Connection) -> tuple[Put, ...]:
            done = tuple(self._put(connection, item, change_set) for item, change_set in made)
            if ran is not None:
                generations.put(connection, ran, [change_set.changes[0].document_id for _, change_set in made])
            return done

        return await self.database.write(work)

    async def outlook(self, item: QueueItem) -> Outlook:
        """What keeping a proposal would replace, as it stands now, and why it cannot be kept, if it cannot."""
        async with self.turn:
            change_set = await self.database.read(lambda connection: store.change(connection, item.item_id))
            if change_set is None:
                return Outlook()
            standing = await self._standing(item.workspace_key)
            wanted = [one.id for change in change_set.changes for one in change.before]
            replaced = tuple(standing.held[one].document for one in wanted if one in standing.held)
            if change_set.state is not ChangeState.WAITING:
                return Outlook()
            would = Decision(actor=Principal.HUMAN, kind=Act.KEEP, at=self.clock.now(), expected_revision=item.revision)
            try:
                await self._plan(change_set, standing, would)
            except (StaleRead, ParameterFault) as fault:
                return Outlook(replaces=replaced, stale=fault.problem)
            return Outlook(replaces=replaced)

    async def decide(self, item: QueueItem, decision: Decision, text: str | None = None) -> QueueItem | Refusal:
        """Carry a person's decision about a proposal out, and write it down. `text`: the words of edit-and-keep.

        Raises StaleRead when something that the proposal was made of is other now, ParameterFault when no document may
        hold the words: nothing was decided then.
        """
        async with self.turn:
            allowed = decided(item, decision)
            if isinstance(allowed, Refusal):
                return allowed
            change_set = await self.database.read(lambda connection: store.change(connection, item.item_id))
            if change_set is not None and change_set.state is ChangeState.APPLYING:  # an error left it half done
                await self._settled(change_set)
                problem = "An earlier decision about it was being carried out: look at it again."
                return Refusal(code=RefusalCode.CONFLICT, problem=problem)
            if decision.kind in KEEPING:
                return await self._kept(item, change_set, decision, text)
            if change_set is None or change_set.state is ChangeState.WAITING:
                return await self.database.write(
                    lambda connection: self.queue.decision(connection, item.item_id, decision)
                )
            standing = await self._standing(item.workspace_key)
            return await self._carried_out(change_set, applying.taken_back(change_set, standing, decision))

    async def settle(self) -> tuple[str, ...]:
        """Finish, or take back, what a process that ended left half done; the items. To be called once, at start-up."""
        async with self.turn:
            left = await self.database.read(store.applying)
            for change_set in left:
                await self._settled(change_set)
            return tuple(one.item_id for one in left)

    async def forgotten(self, ids: Collection[str], at: int) -> tuple[str, ...]:
        """Memories were forgotten: proposals that rest on them are gone, with their words. The names of the documents
        that rest on them still: a person is to look at those."""

        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            for item_id in store.forget(connection, ids):
                self.queue.end(connection, item_id, FORGOTTEN, at)
                items.empty(connection, item_id, ())
            return tuple(name for _, name in store.resting_on(connection, ids))

        return await self.database.write(work)

    async def _settled(self, change_set: ChangeSet) -> None:
        try:
            await self._finished(change_set)
        except (NotWritten, _Refused):
            await self._undone(change_set)

    async def _standing(self, workspace_key: str) -> Standing:
        texts = await self.files.texts(workspace_key)
        rows = await self.database.read(lambda connection: store.rows(connection, workspace_key))
        seen = looked(workspace_key, texts.said, texts.unreadable, rows, self.clock.now())
        if seen.news:

            def work(connection: sqlite3.Connection) -> None:
                for row in seen.news:
                    store.put(connection, workspace_key, row)

            await self.database.write(work)
        return seen.standing

    def _put(self, connection: sqlite3.Connection, item: QueueItem, change_set: ChangeSet) -> Put:
        done = self.queue.put(connection, item)
        if done.outcome is Outcome.INSERTED or done.state is State.PENDING:
            store.put_change(connection, change_set)
            for other in store.others(connection, change_set):
                self.queue.end(connection, other, REPLACED, item.created_at)
        return done

    async def _kept(
        self, item: QueueItem, change_set: ChangeSet | None, decision: Decision, text: str | None
    ) -> QueueItem | Refusal:
        if change_set is None:
            problem = "What this would change is not kept any more: a memory that it rested on was forgotten."
            return Refusal(code=RefusalCode.UNKNOWN_ITEM, problem=problem)
        wanted = change_set if text is None else docitems.edited(change_set, text)
        standing = await self._standing(item.workspace_key)
        plan = await self._plan(wanted, standing, decision)
        if text is not None:
            read = docitems.text_of(wanted.changes, standing)
            plan = msgspec.structs.replace(plan, text=read, edited=wanted.changes)
        return await self._carried_out(change_set, plan)

    async def _plan(self, change_set: ChangeSet, standing: Standing, decision: Decision) -> Journal:
        beside = await self.database.read(
            lambda connection: store.of_run(connection, change_set.workspace_key, change_set.run_id)
        )
        return applying.planned(change_set, standing, beside, decision)

    async def _carried_out(self, change_set: ChangeSet, plan: Journal) -> QueueItem | Refusal:
        begun = msgspec.structs.replace(change_set, state=ChangeState.APPLYING, journal=plan)
        await self.database.write(lambda connection: store.move(connection, begun))
        self.fault("planned")
        try:
            return await self._finished(begun)
        except NotWritten as error:
            await self._undone(begun)
            raise StaleRead(error.problem, error.next_step) from error
        except _Refused as error:
            await self._undone(begun)
            return error.refusal

    async def _finished(self, change_set: ChangeSet) -> QueueItem:
        """Do what is left of a plan. Raises NotWritten, or _Refused when the decision does not hold any more."""
        plan = _plan_of(change_set)
        for step in plan.steps:
            await self.files.take(change_set.workspace_key, step)
            self.fault("file")
        words = None if plan.text is None else Words(text=plan.text)
        applied = plan.then is ChangeState.APPLIED
        done = msgspec.structs.replace(
            change_set,
            state=plan.then,
            journal=plan if applied else None,
            changes=plan.edited or change_set.changes,
        )

        def work(connection: sqlite3.Connection) -> QueueItem:
            item = self.queue.decision(connection, change_set.item_id, plan.decision, words)
            if isinstance(item, Refusal):
                raise _Refused(item)
            for row in plan.rows:
                store.put(connection, change_set.workspace_key, row)
            store.move(connection, done)
            self.fault("before-commit")
            return item

        item = await self.database.write(work)
        self.fault("after-commit")
        return item

    async def _undone(self, change_set: ChangeSet) -> None:
        """Take back what was done of a plan. A file that is somebody else's meanwhile stays as it is."""
        plan = _plan_of(change_set)
        for step in reversed(plan.steps):
            try:
                await self.files.take(
                    change_set.workspace_key, FileStep(file=step.file, before=step.after, after=step.before)
                )
            except NotWritten:
                continue
        back = msgspec.structs.replace(
            change_set,
            state=ChangeState.WAITING if plan.earlier is None else ChangeState.APPLIED,
            journal=plan.earlier,
        )
        await self.database.write(lambda connection: store.move(connection, back))


def _plan_of(change_set: ChangeSet) -> Journal:
    if change_set.journal is None:
        raise StaleRead(f"{change_set.item_id} has no plan.", "Decide again.")
    return change_set.journal


def _generation(run: docitems.Run, result: DocumentsResult, mode: Mode, item_ids: Sequence[str]) -> Generation | None:
    """What is written down of a run: no words. None: it was made without a prompt."""
    made = result.provenance
    if made.prompt is None:
        return None
    return Generation(
        generation_id=short_id("gen_", [run.workspace_key, run.run_id, run.layer, made.input_hash]),
        layer=run.layer,
        status=result.status,
        isolation=run.workspace_key,
        prompt=made.prompt,
        input_refs=tuple(f"{one.id}@{one.version}" for one in result.read_set),
        output_refs=tuple(item_ids),
        model_id=made.model_id,
        mode=mode,
        calls=made.calls,
        usage=made.usage,
        started_at=made.started_at,
        finished_at=made.finished_at,
    )
