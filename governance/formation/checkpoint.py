"""The checkpoint engine: a session's range becomes facts that wait, are committed, or are proposed (formation.md 5).

Theory of operation: a run is given a boundary. What lies between the cursor and the boundary is cut into segments, each
an operation under an id of its own, and they are formed one after the other, oldest first. A segment ends in exactly
one transaction (`committing`, `closing`). Before it there is nothing, after it there is a receipt, and to run the same
again gives the receipt's answer without a call. A failed range is tried once more, just so, before anything newer.

What the user denied is never read: its span is a barrier, with a receipt that says so. With no model of our own the
range waits for the running agent; what the user asked to be remembered is noted meanwhile, for a person to decide.
"""

import sqlite3
from collections.abc import Callable

import msgspec

from governance.formation.candidates import Formed, Operation
from governance.formation.checkpoint_ports import CheckpointPolicy, CheckpointPorts
from governance.formation.closing import CursorMoved, Ending, Outcome, end
from governance.formation.committing import KNOWN, Committing, Terms
from governance.formation.contracts import (
    Admission,
    Door,
    EvidenceRecord,
    RangeResult,
    RangeStatus,
    Snapshot,
    SnapshotOrigin,
)
from governance.formation.errors import ModelError, ModelErrorKind, ParameterFault, StateFault
from governance.formation.forming import Forming, GateChanged
from governance.formation.ladder import retry_id
from governance.formation.marking import mark
from governance.formation.planning import CHECKPOINT, Planning, Stand, Task, denied_spans, nothing, unavailable
from governance.formation.projecting import request_hash
from governance.formation.segments import MOST_SEGMENTS
from governance.formation.store import ranges, receipts
from recall.contracts import Frozen

MOST_PLANS = 3  # how often the gate may change under a run before the run is left
NO_DRIVER = "no-driver"
_STOPS = frozenset({RangeStatus.PENDING, RangeStatus.UNAVAILABLE})


class OpenRange(Frozen, frozen=True, kw_only=True):
    """The oldest range that is to be done, for the running agent. `records`: what the user wrote in it, as it may be
    shown; `before`: what the agent had said just before each, by ref."""

    operation: Operation
    records: tuple[EvidenceRecord, ...]
    before: dict[str, str]


class Checkpoint:
    """One run's engine: made anew for each, with the driver and the settings of that moment."""

    def __init__(self, ports: CheckpointPorts, policy: CheckpointPolicy | None = None) -> None:
        self._ports = ports
        self._policy = policy or CheckpointPolicy()
        self._planning = Planning(ports.database, ports.material)

    async def run(self, snapshot: Snapshot) -> tuple[RangeResult, ...]:
        """Form what lies up to the boundary: one result a segment, oldest first, or the one reason why nothing was
        done. Raises nothing but what a port other than the driver and the store raises; cancellation passes.
        """
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
                done.append(await self._closed(snapshot, admission))
                return
            try:
                await self._pass(snapshot, admission, done)
                return
            except GateChanged as changed:  # a denial is planned anew; what is closed for a part is closed behind it
                if changed.admission.door is Door.CLOSED:
                    done.append(await self._closed(snapshot, changed.admission))
                    return
        done.append(unavailable(snapshot, "gate-changed"))

    async def _closed(self, snapshot: Snapshot, admission: Admission) -> RangeResult:
        """Nothing is formed. Without a model, what the user asked to be remembered becomes notes that wait."""
        result = unavailable(snapshot, admission.reason)
        if admission.reason != NO_DRIVER:
            return result
        stand = await self._planning.stand(snapshot)
        span = (stand.cursor + 1, snapshot.boundary_seq)
        if span[0] > span[1]:
            return nothing(snapshot)
        found = await self._planning.read(snapshot.session_id, span, denied_spans(snapshot, admission, stand))
        marked = await mark(self._ports, snapshot, found)
        return msgspec.structs.replace(
            result,
            from_seq=span[0],
            through_seq=span[1],
            pending=marked.notes,
            rejected={KNOWN: marked.known} if marked.known else {},
        )

    def _strange(self, snapshot: Snapshot) -> str | None:
        """Why a session is not even looked at."""
        if snapshot.origin is SnapshotOrigin.OWN:
            return "own-session"
        if snapshot.origin is SnapshotOrigin.SUBAGENT and self._policy.exclude_subagents:
            return "subagent"
        return None

    async def _pass(self, snapshot: Snapshot, admission: Admission, done: list[RangeResult]) -> None:
        """One plan, carried out as far as it goes."""
        stand = await self._planning.stand(snapshot)
        if stand.receipt is not None and not done:
            done.append(await self._again(snapshot, stand))
            return
        denied = denied_spans(snapshot, admission, stand)
        failed = await self._planning.failed(snapshot, stand, denied)
        if isinstance(failed, RangeResult):
            done.append(failed)
            return
        if failed is not None:
            done.append(await self._operate(snapshot, failed))
            if done[-1].status in _STOPS:
                return
            stand = await self._planning.stand(snapshot)
        if stand.cursor >= snapshot.boundary_seq:
            if not done:
                done.append(nothing(snapshot))
            return
        for task in await self._planning.tasks(snapshot, stand.cursor, denied, MOST_SEGMENTS - (failed is not None)):
            done.append(await self._operate(snapshot, task))
            if done[-1].status in _STOPS:
                return

    # ----------------------------------------------------------------------------------------------------- what to do

    async def _again(self, snapshot: Snapshot, stand: Stand) -> RangeResult:
        """The answer to a boundary that was formed before: the same, unless the texts are not."""
        receipt = stand.receipt
        assert receipt is not None and receipt.from_seq is not None and receipt.through_seq is not None
        try:
            outcome = msgspec.json.decode(receipt.outcome, type=Outcome)
        except msgspec.MsgspecError as error:
            raise StateFault(
                "state-corrupt", f"The outcome of {receipt.operation_id} cannot be read: {error}."
            ) from error
        if outcome.result.status is RangeStatus.DENIED:  # not even to compare
            return msgspec.structs.replace(outcome.result, calls=0, idempotent=True)
        span = (receipt.from_seq, receipt.through_seq)
        coverage = await self._planning.coverage(snapshot.session_id, span, stand.barriers)
        if coverage == outcome.coverage_hash:
            return msgspec.structs.replace(outcome.result, calls=0, idempotent=True)
        asked = request_hash(*span, coverage)
        now = self._ports.now()
        await self._ports.database.write(
            lambda connection: receipts.conflict(connection, receipt.operation_id, asked, now)
        )
        return unavailable(snapshot, "operation-reused", span)

    # ------------------------------------------------------------------------------------------------- how it is done

    async def _operate(self, snapshot: Snapshot, task: Task) -> RangeResult:
        """Form one segment and commit what it came to. Raises GateChanged and CursorMoved: then nothing is written."""
        operation, formed = task.operation, task.formed
        forming = Forming(self._ports, self._policy, snapshot, operation)
        try:
            formed = formed or await forming.formed()
        except ModelError as error:
            return self._put_off(snapshot, operation, forming.calls, error)
        except ParameterFault:  # what the user added to a prompt cannot be used
            return unavailable(snapshot, str(ModelErrorKind.CONFIGURATION), (operation.from_seq, operation.through_seq))
        if formed.status is not RangeStatus.DENIED:
            await forming.gate()
        result = await self._ports.database.write(self._commit(operation, formed))
        self._ports.fault("after-commit")
        return result

    def _commit(self, operation: Operation, formed: Formed) -> Committing:
        return Committing(
            queue=self._ports.queue,
            terms=self._terms(),
            operation=operation,
            formed=formed,
            now=self._ports.now(),
            new_id=self._ports.new_id,
            fault=self._ports.fault,
        )

    def _put_off(self, snapshot: Snapshot, operation: Operation, calls: int, error: ModelError) -> RangeResult:
        """The provider did not answer: nothing is written, and it counts for nothing."""
        result = unavailable(snapshot, str(error.kind), (operation.from_seq, operation.through_seq))
        said = {"problem": error.problem, "retry_after_ms": error.retry_after_ms}
        return msgspec.structs.replace(result, calls=calls, **said)

    def _terms(self) -> Terms:
        policy = self._policy
        return Terms(
            auto_commit=policy.auto_commit,
            dedupe=policy.dedupe,
            importance=policy.importance,
            min_sessions=policy.min_sessions,
            gap_max_age_days=policy.gap_max_age_days,
            user=self._ports.user,
            agent=self._ports.agent,
        )

    # ------------------------------------------------------------------------------------------ letters, and the agent

    async def retry(self, letter_id: str, snapshot: Snapshot) -> RangeResult:
        """Form a range that was given up; the cursor, which is past it, stays. `snapshot`: of the letter's session.

        Raises ParameterFault: `unknown-letter`, `other-session`, or `letter-retried` when it was formed since.
        """
        letter = await self._ports.database.read(lambda connection: ranges.letter(connection, letter_id))
        if letter is None or letter.pipeline is not CHECKPOINT:
            raise ParameterFault(
                "unknown-letter", f"There is no letter {letter_id[:80]!r}.", "List them with `checkpoint`."
            )
        if letter.session_id != snapshot.session_id:
            raise ParameterFault("other-session", f"The letter is of the session {letter.session_id}.")
        if letter.state != ranges.OPEN:
            raise ParameterFault("letter-retried", "That range was formed since.")
        span = (letter.from_seq, letter.through_seq)
        at = msgspec.structs.replace(snapshot, boundary_seq=letter.through_seq, workspace_key=letter.workspace_key)
        admission = await self._ports.gate.of(at)
        strange = self._strange(at) or (
            admission.reason or str(admission.door) if admission.door is not Door.OPEN else None
        )
        if strange is not None:
            return unavailable(at, strange, span)
        stand = await self._planning.stand(at)
        task = await self._planning.whole(at, span, denied_spans(at, admission, stand))
        held = [one for one in task.operation.evidence if one.record.ref in letter.refs]
        if task.formed is not None or not held:
            return unavailable(at, "coverage-changed", span)
        operation = msgspec.structs.replace(
            task.operation,
            operation_id=retry_id(letter.operation_id, letter.attempts + 1),
            base=letter.operation_id,
            evidence=tuple(held),
            refs=letter.refs,
            letter=letter,
        )
        try:
            return await self._operate(at, Task(operation=operation))
        except GateChanged as changed:
            return unavailable(at, changed.admission.reason or "gate-changed", span)
        except CursorMoved:
            return unavailable(at, "cursor-moved", span)

    async def next_range(self, snapshot: Snapshot) -> OpenRange | RangeResult:
        """The oldest range that the running agent is to form; or why there is none. What needs no model is done on the
        way: denied spans, and ranges without evidence."""
        strange = self._strange(snapshot)
        if strange is not None:
            return unavailable(snapshot, strange)
        admission = await self._ports.gate.of(snapshot)
        if admission.door is Door.CLOSED and admission.reason != NO_DRIVER:
            return unavailable(snapshot, admission.reason)
        stand = await self._planning.stand(snapshot)
        denied = denied_spans(snapshot, admission, stand)
        failed = await self._planning.failed(snapshot, stand, denied)
        if isinstance(failed, RangeResult):
            return failed
        tasks = [failed] if failed else []
        if not tasks and stand.cursor < snapshot.boundary_seq:
            tasks = list(await self._planning.tasks(snapshot, stand.cursor, denied, MOST_SEGMENTS))
        for task in tasks:
            shut = await self._shut(snapshot, task.operation)
            if task.formed is None:
                return shut or _open(task.operation)
            await self._ports.database.write(self._commit(task.operation, task.formed))
        return nothing(snapshot)

    async def _shut(self, snapshot: Snapshot, operation: Operation) -> RangeResult | None:
        """Why a range may not be handed to the running agent, or taken from it; None: it may."""
        at = msgspec.structs.replace(
            snapshot, boundary_seq=operation.through_seq, workspace_key=operation.workspace_key
        )
        admission = await self._ports.gate.of(at)
        if admission.door is Door.OPEN or (admission.door is Door.CLOSED and admission.reason == NO_DRIVER):
            return None
        reason = admission.reason or str(admission.door)
        return unavailable(snapshot, reason, (operation.from_seq, operation.through_seq))

    async def close(
        self, snapshot: Snapshot, open_range: OpenRange, put: Callable[[sqlite3.Connection], tuple[str, ...]]
    ) -> RangeResult:
        """Take what the running agent made of a range: `put` writes it and gives the ids of its items, and the cursor
        moves, in one transaction. Nothing is written when the range is not what it was."""
        operation = open_range.operation
        span = (operation.from_seq, operation.through_seq)
        shut = await self._shut(snapshot, operation)
        if shut is not None:
            return shut
        stand = await self._planning.stand(snapshot)
        denied = denied_spans(snapshot, await self._ports.gate.of(snapshot), stand)
        if await self._planning.coverage(snapshot.session_id, span, denied) != operation.coverage_hash:
            return unavailable(snapshot, "coverage-changed", span)
        now = self._ports.now()

        def work(connection: sqlite3.Connection) -> RangeResult:
            items = put(connection)
            result = RangeResult(
                session_id=snapshot.session_id,
                from_seq=span[0],
                through_seq=span[1],
                status=RangeStatus.EXTRACTED if items else RangeStatus.SKIPPED,
                pending=items,
            )
            result = end(connection, operation, Ending(result=result, item_ids=items), now)
            self._ports.fault("before-commit")
            return result

        try:
            result = await self._ports.database.write(work)
        except CursorMoved:
            return unavailable(snapshot, "cursor-moved", span)
        self._ports.fault("after-commit")
        return result


def _open(operation: Operation) -> OpenRange:
    done = frozenset() if operation.failed is None else frozenset(operation.failed.done_refs)
    left = [one for one in operation.evidence if one.record.ref not in done]
    return OpenRange(
        operation=operation,
        records=tuple(one.record for one in left),
        before={one.record.ref: one.before for one in left if one.before},
    )
