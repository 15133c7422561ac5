"""Notes of a session: by a model, window by window, or by the running agent, a task at a time (formation.md 2, 4.3).

A session is one stream. What is noted of it is what its log holds, less what the user denied; where the last run ended
is kept with its notes. A message that is too long for a window is shown without its middle, and says so. A task is made
anew from the same events when its answer comes, and nothing of it is stored but what it binds to.
"""

import asyncio
import sqlite3
from collections.abc import Mapping
from weakref import WeakValueDictionary

import msgspec

from governance.formation.checkpoint import OpenRange
from governance.formation.contracts import (
    Completeness,
    Door,
    EvidenceRecord,
    ExtractL1Request,
    ExtractL1Result,
    Limits,
    Message,
    ModelDriver,
    Pipeline,
    RangeResult,
    Receipt,
    Rejected,
    Role,
    RunError,
    RunStatus,
    Snapshot,
)
from governance.formation.errors import ParameterFault
from governance.formation.formats import Formats
from governance.formation.notes import NoteTask, Setting, extract_l1, taken, task
from governance.formation.oversize import Strategy, apply_oversize_strategy
from governance.formation.prompts import addition, load
from governance.formation.saving import Occasion, Prepared, Saved, Saving, Standing, prepare
from governance.formation.store import notes as stored
from governance.formation.store import receipts, tasks
from governance.formation.store.tasks import TaskKind, TaskRow
from host.clock import MachineZone
from host.formation.engines import prompts_of
from host.growing.handing import NOTES, as_task
from host.namespace import name
from host.parts import Parts
from recall.canonical import short_id, text_digest
from recall.contracts import Frozen

PROMPT = "notes"
NO_DRIVER = "no-driver"
ANEW = "Ask for the task again."
MEND = {"schema": "Answer as the task's contract says, and stage it again."}
MOST_RECORDS = 64  # of a checkpoint's range, which is one window
MODEL_CHARS = Limits().max_input_chars  # of a window
AGENT_CHARS = 40_000  # of one for the running agent: products cut long answers of tools


class Noted(Frozen, frozen=True, kw_only=True):
    """What came of noting. `notes`: ids of new ones; `known`: of those that stood there; `buried`: how many were said
    no to before. `shortened`: messages that were shown without their middle. `remaining`: those that nobody noted yet.
    `error`: why it ended early."""

    session_id: str
    status: str
    windows: int = 0
    calls: int = 0
    notes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    buried: int = 0
    rejected: tuple[Rejected, ...] = ()
    shortened: tuple[str, ...] = ()
    remaining: int = 0
    error: RunError | None = None
    idempotent: bool = False


class Noting:
    """Over the parts of a running daemon. One run of a session at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._formats = Formats(prefix=name())
        self._saving = Saving(database=parts.kept, queue=parts.queue)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of sessions at work

    async def run(self, session_id: str, driver: ModelDriver) -> Noted:
        """Note what was not noted yet, window after window, until nothing is left or one fails. Raises ParameterFault
        (`unknown-session`, `closed`), StateFault."""
        async with self._turn(session_id):
            snapshot = await self._snapshot(session_id)
            request = await self._request(snapshot, snapshot.boundary_seq, MODEL_CHARS)
            done = _nothing(session_id, request)
            setting, began = self._setting(snapshot.workspace_key), request.start_index
            while True:
                result = await extract_l1(driver, request, setting)
                await self._gate(snapshot)  # what was denied meanwhile is not written down
                saved = await self._saving.save(result, self._occasion(snapshot, began=began))
                done = _added(done, result, saved)
                if result.continuation is None:
                    return done
                began = result.continuation.next_index
                request = msgspec.structs.replace(request, start_index=None, continuation=result.continuation)

    async def task(self, session_id: str, agent: str) -> NoteTask | Noted:
        """The next window as a task for the running agent; or that there is none. Raises as `run` does."""
        snapshot = await self._snapshot(session_id)
        request = await self._request(snapshot, snapshot.boundary_seq, AGENT_CHARS)
        made = await asyncio.to_thread(task, request, self._setting(snapshot.workspace_key), agent, "")
        if isinstance(made, NoteTask):
            return await self._handed(made, TaskKind.NOTES, snapshot, (request.start_index or 0, snapshot.boundary_seq))
        return _added(_nothing(session_id, request), made, Saved())

    async def range_task(self, session_id: str, agent: str) -> NoteTask | RangeResult:
        """The oldest range of a session that waits, as a task; or why there is none. Raises as `run` does."""
        snapshot = await self._parts.formation.snapshot(session_id)
        found = await self._parts.formation.checkpoints(None).next_range(snapshot)
        if isinstance(found, RangeResult):
            await self._parts.formation.recount()  # a range without any word of the user is done with by looking
            return found
        request = await self._of_records(snapshot, found)
        setting = self._setting(found.operation.workspace_key)
        made = await asyncio.to_thread(task, request, setting, agent, "")
        if isinstance(made, ExtractL1Result):
            problem = made.error.problem if made.error else "The range holds nothing that could be noted."
            raise ParameterFault(made.error.code if made.error else "empty", problem)
        return await self._handed(
            made, TaskKind.CHECKPOINT, snapshot, (found.operation.from_seq, snapshot.boundary_seq)
        )

    async def stage(self, row: TaskRow, batch: Mapping[str, object], agent: str) -> Noted:
        """Take what the running agent noted of a task. The same again gives the same answer. Raises ParameterFault:
        `operation-reused` for another answer to a task that was answered, and as `run` does."""
        told = text_digest(msgspec.json.encode(batch, order="sorted").decode())
        async with self._turn(row.session_id):
            if (before := await self._before(row, told)) is not None:
                return before
            snapshot = await self._parts.formation.snapshot(row.session_id, seq=row.through_seq)
            if row.kind is TaskKind.CHECKPOINT:
                return await self._close(row, snapshot, batch, agent, told)
            snapshot = msgspec.structs.replace(snapshot, workspace_key=row.workspace_key)  # it may have moved since
            await self._gate(snapshot)
            now = await self._request(snapshot, row.through_seq, AGENT_CHARS)
            request = msgspec.structs.replace(now, start_index=min(row.from_seq, len(now.messages)))
            result = await self._judged(request, batch, self._setting(row.workspace_key), agent)
            prepared = await asyncio.to_thread(prepare, result, self._occasion(snapshot, began=now.start_index))

            def work(connection: sqlite3.Connection) -> Noted:
                saved = self._saving.save_in(connection, prepared)
                return self._ended(connection, row, told, _added(_nothing(row.session_id), result, saved))

            return await self._parts.kept.write(work)

    # ------------------------------------------------------------------------------------------------------ the pieces

    async def _close(
        self, row: TaskRow, snapshot: Snapshot, batch: Mapping[str, object], agent: str, told: str
    ) -> Noted:
        """The answer to a range: its notes, the cursor and the receipts are one transaction."""
        engine = self._parts.formation.checkpoints(None)
        found = await engine.next_range(snapshot)
        if isinstance(found, RangeResult):
            raise _stale(f"the range was formed, or cannot be: {found.reason or found.status}")
        here = found.operation.workspace_key
        request = await self._of_records(snapshot, found)
        result = await self._judged(request, batch, self._setting(here), agent)
        occasion = msgspec.structs.replace(self._occasion(snapshot), scope_key=here, moves=False)
        prepared: Prepared = await asyncio.to_thread(prepare, result, occasion)
        done = _nothing(row.session_id)

        def put(connection: sqlite3.Connection) -> tuple[str, ...]:
            nonlocal done
            saved = self._saving.save_in(connection, prepared)
            done = self._ended(connection, row, told, _added(_nothing(row.session_id), result, saved))
            return saved.ids()

        ended = await engine.close(snapshot, found, put)
        self._parts.formation.nudge()
        await self._parts.formation.recount()
        if ended.reason:
            raise _stale(ended.reason)
        return done

    async def _judged(
        self, request: ExtractL1Request, batch: Mapping[str, object], setting: Setting, agent: str
    ) -> ExtractL1Result:
        """The agent's notes, judged. Raises ParameterFault for a batch that cannot be taken, and for one of which no
        candidate can: then nothing is written, and the agent may try again."""
        result = await asyncio.to_thread(taken, request, batch, setting, agent)
        if result.error is not None:
            raise ParameterFault(result.error.code, result.error.problem, MEND.get(result.error.code, ANEW))
        if result.rejected and not result.changes:
            said = "; ".join(f"note {one.index}: {one.code}, {one.detail.rstrip('.')}" for one in result.rejected[:8])
            raise ParameterFault("rejected", f"No note can be taken: {said}.", "Mend them, or send an empty list.")
        return result

    async def _before(self, row: TaskRow, told: str) -> Noted | None:
        """The answer to a batch that was taken before."""
        now = self._parts.clock.now()
        found = await self._parts.kept.write(lambda connection: receipts.look(connection, row.task_id, told, now))
        if found is None:
            return None
        if isinstance(found, receipts.Reused):
            raise ParameterFault(
                "operation-reused", f"The task {row.task_id} was answered otherwise before.", "Ask for the next task."
            )
        return msgspec.structs.replace(msgspec.json.decode(found.outcome, type=Noted), idempotent=True)

    def _ended(self, connection: sqlite3.Connection, row: TaskRow, told: str, done: Noted) -> Noted:
        now = self._parts.clock.now()
        tasks.done(connection, row.task_id, now)
        receipts.put(
            connection,
            Receipt(
                operation_id=row.task_id,
                request_hash=told,
                pipeline=Pipeline.NOTES,
                status=done.status,
                outcome=msgspec.json.encode(done).decode(),
                committed_at=now,
                item_ids=done.notes,
            ),
        )
        return done

    async def _handed(self, made: NoteTask, kind: TaskKind, snapshot: Snapshot, span: tuple[int, int]) -> NoteTask:
        """The task under its id, written down."""
        now = self._parts.clock.now()
        task_id = short_id("task_", [kind, snapshot.session_id, made.packet.scope_key, made.binding, list(span)])
        row = TaskRow(
            task_id=task_id,
            kind=kind,
            workspace_key=made.packet.scope_key,
            session_id=snapshot.session_id,
            from_seq=span[0],
            through_seq=span[1],
            binding=made.binding,
            created_at=now,
            changed_at=now,
        )
        await self._parts.kept.write(lambda connection: tasks.put(connection, row))
        return msgspec.structs.replace(made, task_id=task_id, instructions=as_task(made.instructions, NOTES))

    async def _snapshot(self, session_id: str) -> Snapshot:
        snapshot = await self._parts.formation.snapshot(session_id)
        await self._gate(snapshot)
        return snapshot

    async def _gate(self, snapshot: Snapshot) -> None:
        """Raises ParameterFault `closed` for a session that may not be formed now."""
        admission = await self._parts.formation.gate.of(snapshot)
        if admission.door is Door.OPEN or admission.reason == NO_DRIVER:
            return
        why = admission.reason or str(admission.door)
        problem = f"Nothing of the session {snapshot.session_id} may be noted now: {why}."
        raise ParameterFault("closed", problem, "Name another session, or end what keeps it closed.")

    async def _request(self, snapshot: Snapshot, through: int, most: int) -> ExtractL1Request:
        """The whole session up to an event, from where the last run ended, in windows of at most `most` characters."""
        scope, session = snapshot.workspace_key, snapshot.session_id
        messages = await self._parts.formation.material.messages(session, 0, through, scope)
        fitted = await asyncio.to_thread(apply_oversize_strategy, messages, most, Strategy.COMPRESS)
        row = await self._parts.kept.read(lambda connection: stored.stream_of(connection, scope, session))
        return ExtractL1Request(
            run_id=f"{session}#{through}",
            scope_key=scope,
            stream_id=session,
            messages=fitted.messages,
            limits=Limits(max_input_chars=most),
            start_index=stored.place_in(row, messages),
        )

    async def _of_records(self, snapshot: Snapshot, found: OpenRange) -> ExtractL1Request:
        """A range as one window: what the user wrote in it, and nothing else."""
        at, session = found.operation, snapshot.session_id
        messages = await self._parts.formation.material.messages(session, at.from_seq - 1, at.through_seq)
        said = {ref.id: message for message in messages for ref in message.evidence}
        return ExtractL1Request(
            run_id=f"{session}#{snapshot.boundary_seq}",
            scope_key=at.workspace_key,
            stream_id=session,
            messages=tuple(_as_shown(one, said[one.ref]) for one in found.records if one.ref in said),
            max_new_messages=MOST_RECORDS,
        )

    def _setting(self, workspace_key: str) -> Setting:
        additions = prompts_of(self._parts.formation.settings.prompts, self._parts.places.key)
        prompt = load(PROMPT, addition(additions, PROMPT, workspace=workspace_key))
        return Setting(prompt=prompt, formats=self._formats, now=self._parts.clock.now, zone=MachineZone())

    def _occasion(self, snapshot: Snapshot, began: int | None = None) -> Occasion:
        return Occasion(
            at=self._parts.clock.now(),
            scope_key=snapshot.workspace_key,
            stream_id=snapshot.session_id,
            conversation_key=snapshot.conversation_key,
            began=began,
        )

    def _turn(self, session_id: str) -> asyncio.Lock:
        return self._turns.setdefault(session_id, asyncio.Lock())


def _nothing(session_id: str, request: ExtractL1Request | None = None) -> Noted:
    """Before anything was noted, with all that a request leaves to be noted."""
    left = () if request is None else request.messages[request.start_index or 0 :]
    count = sum(one.role is not Role.TOOL and bool(one.content.strip()) for one in left)
    return Noted(session_id=session_id, status=RunStatus.COMPLETED, remaining=count)


def _added(done: Noted, result: ExtractL1Result, saved: Saved) -> Noted:
    """What came so far, with one more window. One that failed leaves its messages where they are."""
    rejected = (*done.rejected, *result.rejected)
    remaining = done.remaining if result.error else result.coverage.remaining
    ended = RunStatus.PARTIAL if rejected or remaining else RunStatus.COMPLETED
    return msgspec.structs.replace(
        done,
        status=result.status if result.error else ended,
        windows=done.windows + bool(result.packet),
        calls=done.calls + result.provenance.calls,
        notes=(*done.notes, *saved.ids()),
        known=(*done.known, *saved.ids(Standing.SAME)),
        buried=done.buried + len(saved.ids(Standing.BURIED)),
        rejected=rejected,
        shortened=(*done.shortened, *(one for one in result.coverage.truncated_ids if one in result.coverage.new_ids)),
        remaining=remaining,
        error=result.error,
    )


def not_noted(session_id: str, fault: ParameterFault) -> Noted:
    """A session of several of which nothing may be noted."""
    error = RunError(code=fault.code, problem=fault.problem)
    return Noted(session_id=session_id, status=RunStatus.FAILED, error=error)


def _stale(why: str) -> ParameterFault:
    return ParameterFault("task-stale", f"The task is not open any more: {why}.", ANEW)


def _as_shown(record: EvidenceRecord, whole: Message) -> Message:
    """A record's message: as it was written, or as much of it as the range shows."""
    if not record.truncated:
        return whole
    cut = {"content": record.text, "hash": whole.hash or text_digest(whole.content)}
    return msgspec.structs.replace(whole, completeness=Completeness.TRUNCATED, **cut)
