"""Batch extraction: a session is read window by window, and what matters of it becomes memories (formation.md 6).

Theory of operation: what lies between the cursor and the boundary is cut into windows, each an operation under an id of
its own, formed one after the other, oldest first, until none is left. A window ends in exactly one transaction
(`batch_commit`, `closing`): before it there is nothing, after it there is a receipt and the cursor is past it. A window
that failed is tried once more, just so, before anything newer. What the user denied is never read.

Whose memories are compared is said by the isolation key. With a part of it unset nothing is asked and nothing written.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence

import msgspec

from governance.formation.batch_commit import BatchCommit, Batched, Terms
from governance.formation.batch_forming import BatchForming
from governance.formation.batch_ports import BatchPolicy, BatchPorts
from governance.formation.batch_windows import PROJECTION, Window, windows, without
from governance.formation.candidates import Operation
from governance.formation.closing import CursorMoved
from governance.formation.contracts import (
    Admission,
    Barrier,
    DeadLetter,
    Door,
    IsolationKey,
    Pipeline,
    RangeResult,
    RangeStatus,
    Snapshot,
    SnapshotOrigin,
)
from governance.formation.errors import ModelError, ModelErrorKind, ParameterFault, StateFault
from governance.formation.forming import GateChanged
from governance.formation.ladder import retry_id
from governance.formation.planning import Stand, denied_spans, nothing, unavailable
from governance.formation.segments import denied_within
from governance.formation.store import memories, ranges
from recall.canonical import short_id

BATCH = Pipeline.BATCH
SCOPE_UNSET = "scope-unset"
MOST_PLANS = 3  # how often the gate may change under a run before the run is left
READ_AT_ONCE = 4_000  # events
READ_BEFORE = 200  # events before a range in which what helps to understand it is looked for
_STOPS = frozenset({RangeStatus.PENDING, RangeStatus.UNAVAILABLE})

__all__ = ["Batch", "BatchPolicy", "BatchPorts"]


class Batch:
    """One run's engine: made anew for each, with the driver and the settings of that moment."""

    def __init__(self, ports: BatchPorts, policy: BatchPolicy | None = None) -> None:
        self._ports = ports
        self._policy = policy or BatchPolicy()
        self._scene: str | None = None  # None: as it stands in the store

    async def run(self, snapshot: Snapshot) -> tuple[RangeResult, ...]:
        """Form what lies up to the boundary: one result a window, oldest first, or the one reason why nothing was done.
        Raises nothing but what a port other than the driver and the store raises; cancellation passes."""
        done: list[RangeResult] = []
        try:
            await self._run(snapshot, done)
        except CursorMoved:
            done.append(unavailable(snapshot, "cursor-moved"))
        except StateFault as fault:
            done.append(unavailable(snapshot, "store" if fault.code == "state-failed" else fault.code))
        except sqlite3.Error:
            done.append(unavailable(snapshot, "store"))
        return tuple(done)

    async def _run(self, snapshot: Snapshot, done: list[RangeResult]) -> None:
        strange = self._strange(snapshot)
        if strange is not None:
            done.append(unavailable(snapshot, strange))
            return
        for _ in range(MOST_PLANS):
            admission = await self._ports.gate.of(snapshot)
            if admission.door is Door.CLOSED:
                done.append(unavailable(snapshot, admission.reason))
                return
            try:
                await self._pass(snapshot, admission, done)
                return
            except GateChanged:  # planned anew with what the gate says now
                continue
        done.append(unavailable(snapshot, "gate-changed"))

    def _strange(self, snapshot: Snapshot) -> str | None:
        """Why a session is not even looked at."""
        if not IsolationKey(team=snapshot.workspace_key, user=self._ports.user, agent=self._ports.agent).whole:
            return SCOPE_UNSET
        if snapshot.origin is SnapshotOrigin.OWN:
            return "own-session"
        if snapshot.origin is SnapshotOrigin.SUBAGENT and self._policy.exclude_subagents:
            return "subagent"
        return None

    async def _pass(self, snapshot: Snapshot, admission: Admission, done: list[RangeResult]) -> None:
        """One plan, carried out as far as it goes."""
        stand = await self._stand(snapshot)
        denied = denied_spans(snapshot, admission, stand)
        if stand.failure is not None and (again := await self._again(snapshot, stand, denied)) is not None:
            done.append(again)
            if again.status in _STOPS:
                return
            stand = await self._stand(snapshot)
        if stand.cursor >= snapshot.boundary_seq:
            if not done:
                done.append(nothing(snapshot))
            return
        async for window in self._windows(snapshot, stand.cursor, denied):
            done.append(await self._operate(snapshot, window, _operation(snapshot, window)))
            if done[-1].status in _STOPS:
                return

    # ----------------------------------------------------------------------------------------------------- what to do

    async def _stand(self, snapshot: Snapshot) -> Stand:
        session = snapshot.session_id
        return await self._ports.database.read(
            lambda connection: Stand(
                cursor=ranges.cursor(connection, BATCH, session),
                failure=ranges.failure(connection, BATCH, session),
                barriers=ranges.barriers(connection, session),
                receipt=None,
            )
        )

    async def _windows(self, snapshot: Snapshot, cursor: int, denied: Sequence[Barrier]) -> AsyncIterator[Window]:
        """The windows after the cursor, read piece by piece: only the last one of all may hold fewer than it could."""
        boundary, size = snapshot.boundary_seq, READ_AT_ONCE
        while cursor < boundary:
            through = min(boundary, cursor + size)
            found = await self._read(snapshot, (cursor + 1, through), denied)
            whole = found if through == boundary else found[:-1]
            size = READ_AT_ONCE if whole else 2 * size
            for window in whole:
                yield window
                cursor = window.through_seq

    async def _read(self, snapshot: Snapshot, span: tuple[int, int], denied: Sequence[Barrier]) -> list[Window]:
        first, last = span
        after = max(-1, first - 1 - READ_BEFORE)
        found = await self._ports.material.read(snapshot.session_id, after, last)
        # Each text is screened: much of it takes a while, and hooks are answered meanwhile.
        return await asyncio.to_thread(lambda: list(windows(found, span, snapshot.workspace_key, denied)))

    async def _again(self, snapshot: Snapshot, stand: Stand, denied: Sequence[Barrier]) -> RangeResult | None:
        """The window that failed before, tried just so; None: there is none any more."""
        failure = stand.failure
        assert failure is not None
        span = (failure.from_seq, failure.through_seq)
        if failure.from_seq != stand.cursor + 1 or denied_within(denied, *span):  # what was denied since is not read
            await self._clear(snapshot)
            return None
        if failure.through_seq > snapshot.boundary_seq:
            return unavailable(snapshot, "range-ahead", span)
        found = await self._read(snapshot, span, denied)
        if failure.projection == PROJECTION and [one.coverage_hash for one in found] != [failure.coverage_hash]:
            return unavailable(snapshot, "coverage-changed", span)
        if len(found) > 1:  # what is shown was changed since, and more of it qualifies
            await self._clear(snapshot)
            return None
        operation = msgspec.structs.replace(
            _operation(snapshot, found[0]),
            operation_id=retry_id(failure.operation_id, failure.attempts + 1),
            base=failure.operation_id,
            failed=failure,
        )
        return await self._operate(snapshot, without(found[0], failure.done_refs), operation)

    async def _clear(self, snapshot: Snapshot) -> None:
        session = snapshot.session_id
        await self._ports.database.write(lambda connection: ranges.clear_failure(connection, BATCH, session))

    async def retry(self, letter_id: str, snapshot: Snapshot) -> RangeResult:
        """Form a window that was given up; the cursor, which is past it, stays. `snapshot`: of the letter's session.

        Raises ParameterFault: `unknown-letter`, `other-session`, or `letter-retried` when it was formed since.
        """
        letter = await self._ports.database.read(lambda connection: ranges.letter(connection, letter_id))
        _retriable(letter_id, letter, snapshot)
        assert letter is not None
        span = (letter.from_seq, letter.through_seq)
        at = msgspec.structs.replace(snapshot, boundary_seq=letter.through_seq, workspace_key=letter.workspace_key)
        admission = await self._ports.gate.of(at)
        strange = self._strange(at) or (
            None if admission.door is Door.OPEN else admission.reason or str(admission.door)
        )
        if strange is not None:
            return unavailable(at, strange, span)
        stand = await self._stand(at)
        found = await self._read(at, span, denied_spans(at, admission, stand))
        refs = frozenset(one.record.ref for window in found for one in window.new)
        if len(found) != 1 or not refs.issuperset(letter.refs):
            return unavailable(at, "coverage-changed", span)
        operation = msgspec.structs.replace(
            _operation(at, found[0]),
            operation_id=retry_id(letter.operation_id, letter.attempts + 1),
            base=letter.operation_id,
            refs=letter.refs,
            letter=letter,
        )
        try:
            return await self._operate(at, without(found[0], refs - set(letter.refs)), operation)
        except GateChanged as changed:
            return unavailable(at, changed.admission.reason or "gate-changed", span)
        except CursorMoved:
            return unavailable(at, "cursor-moved", span)

    # ------------------------------------------------------------------------------------------------- how it is done

    async def _operate(self, snapshot: Snapshot, window: Window, operation: Operation) -> RangeResult:
        """Form one window and commit what it came to. Raises GateChanged and CursorMoved: then nothing is written."""
        forming = BatchForming(self._ports, self._policy, snapshot, operation, window)
        try:
            batched = await forming.formed(await self._scene_before(forming.key, snapshot.session_id))
        except ModelError as error:
            result = unavailable(snapshot, str(error.kind), (window.from_seq, window.through_seq))
            return msgspec.structs.replace(result, calls=forming.calls, retry_after_ms=error.retry_after_ms)
        except ParameterFault:  # what the user added to a prompt cannot be used
            return unavailable(snapshot, str(ModelErrorKind.CONFIGURATION), (window.from_seq, window.through_seq))
        if not window.denied:
            await forming.gate()
        result = await self._ports.database.write(self._commit(forming.key, window, operation, batched))
        self._scene = forming.scene
        self._ports.fault("after-commit")
        return result

    def _commit(self, key: IsolationKey, window: Window, operation: Operation, batched: Batched) -> BatchCommit:
        terms = Terms(
            key=key,
            auto_commit=self._policy.auto_commit,
            importance=self._policy.importance,
            now=self._ports.now(),
        )
        return BatchCommit(
            queue=self._ports.queue,
            terms=terms,
            window=window,
            operation=operation,
            batched=batched,
            new_id=self._ports.new_id,
            fault=self._ports.fault,
        )

    async def _scene_before(self, key: IsolationKey, session_id: str) -> str:
        if self._scene is None:
            return await self._ports.database.read(lambda connection: memories.last_scene(connection, key, session_id))
        return self._scene


def _operation(snapshot: Snapshot, window: Window) -> Operation:
    """What forms a window. Its id is made of the window, not of what set it off: a window is formed once."""
    span = {"fromSeq": window.from_seq, "throughSeq": window.through_seq}
    id_ = short_id("batch_", {"sessionId": snapshot.session_id, **span})
    return Operation(
        session_id=snapshot.session_id,
        conversation_key=snapshot.conversation_key,
        workspace_key=window.workspace_key,
        from_seq=window.from_seq,
        through_seq=window.through_seq,
        operation_id=id_,
        base=id_,
        coverage_hash=window.coverage_hash,
        request_hash=window.request_hash,
        pipeline=BATCH,
        projection=PROJECTION,
        refs=tuple(one.record.ref for one in window.new),
    )


def _retriable(letter_id: str, letter: DeadLetter | None, snapshot: Snapshot) -> None:
    if letter is None or letter.pipeline is not BATCH:
        problem = f"There is no letter {letter_id[:80]!r} of batch extraction."
        raise ParameterFault("unknown-letter", problem, "List them with `checkpoint`.")
    if letter.session_id != snapshot.session_id:
        raise ParameterFault("other-session", f"The letter is of the session {letter.session_id}.")
    if letter.state != ranges.OPEN:
        raise ParameterFault("letter-retried", "That range was formed since.")
