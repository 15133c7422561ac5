"""What a checkpoint is to do: where a session stands, and the operations up to a boundary (formation.md 5.2).

Nothing here asks a model. Texts are cleaned and screened on a thread, so that nobody else waits for a long session.
Of the store it changes one thing: a failure that is of no range any more is taken away.
"""

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from governance.formation.candidates import Formed, Operation
from governance.formation.contracts import (
    Admission,
    Barrier,
    Door,
    EvidenceRecord,
    Failure,
    FailureClass,
    Material,
    Pipeline,
    RangeResult,
    RangeStatus,
    Receipt,
    Snapshot,
)
from governance.formation.ladder import RangeFault, operation_id, retry_id
from governance.formation.projecting import PROJECTION, Evidence, check, coverage_hash, evidence, request_hash
from governance.formation.segments import Segment, denied_within, fits, floor_of, in_one_job, pieces, plan
from governance.formation.store import ranges, receipts
from recall.contracts import Database, Frozen

CHECKPOINT = Pipeline.CHECKPOINT


class Stand(Frozen, frozen=True, kw_only=True):
    """Where a session stands in the store."""

    cursor: int
    failure: Failure | None
    barriers: tuple[Barrier, ...]
    receipt: Receipt | None


class Task(Frozen, frozen=True, kw_only=True):
    """One operation; `formed`: what it comes to where no model has to be asked."""

    operation: Operation
    formed: Formed | None = None


class Planning:
    """Plans over what stands in the store and in the session's texts."""

    def __init__(self, database: Database, material: Material) -> None:
        self._database = database
        self._material = material

    async def stand(self, snapshot: Snapshot) -> Stand:
        session = snapshot.session_id
        operation = operation_id(session, str(snapshot.trigger), snapshot.boundary_seq)
        return await self._database.read(
            lambda connection: Stand(
                cursor=ranges.cursor(connection, CHECKPOINT, session),
                failure=ranges.failure(connection, CHECKPOINT, session),
                barriers=ranges.barriers(connection, session),
                receipt=receipts.find(connection, operation),
            )
        )

    async def failed(self, snapshot: Snapshot, stand: Stand, denied: Sequence[Barrier]) -> Task | RangeResult | None:
        """The range that failed before, to be tried again just so; or why it cannot be. None: there is none."""
        failure = stand.failure
        if failure is None:
            return None
        stale = failure.from_seq != stand.cursor + 1
        if stale or denied_within(denied, failure.from_seq, failure.through_seq):  # what was denied since is not read
            session = snapshot.session_id
            await self._database.write(lambda connection: ranges.clear_failure(connection, CHECKPOINT, session))
            return None
        span = (failure.from_seq, failure.through_seq)
        if failure.through_seq > snapshot.boundary_seq:
            return unavailable(snapshot, "range-ahead", span)
        task = await self.whole(snapshot, span, denied)
        if task.operation.coverage_hash != failure.coverage_hash and failure.projection == PROJECTION:
            return unavailable(snapshot, "coverage-changed", span)
        operation = msgspec.structs.replace(
            task.operation,
            operation_id=retry_id(failure.operation_id, failure.attempts + 1),
            base=failure.operation_id,
            failed=failure,
        )
        return msgspec.structs.replace(task, operation=operation)

    async def tasks(self, snapshot: Snapshot, cursor: int, denied: Sequence[Barrier], most: int) -> Sequence[Task]:
        """What is to be done between the cursor and the boundary, oldest first."""
        span = (cursor + 1, snapshot.boundary_seq)
        try:
            found = await self.evidence(snapshot.session_id, span, denied)
        except RangeFault as fault:
            operation = operation_of(
                snapshot, Segment(from_seq=span[0], through_seq=span[1], workspace_key=snapshot.workspace_key)
            )
            return [Task(operation=operation, formed=Formed(fault=fault.class_))]
        segments = await asyncio.to_thread(plan, span, snapshot.workspace_key, denied, found)
        return [task_of(snapshot, segment) for segment in in_one_job(segments, most)]

    async def whole(self, snapshot: Snapshot, span: tuple[int, int], denied: Sequence[Barrier]) -> Task:
        """A span as one segment, however large."""
        segment = Segment(
            from_seq=span[0], through_seq=span[1], workspace_key=snapshot.workspace_key, floor=floor_of(denied, span[0])
        )
        try:
            found = await asyncio.to_thread(tuple, await self.evidence(snapshot.session_id, span, denied))
        except RangeFault as fault:
            return Task(operation=operation_of(snapshot, segment), formed=Formed(fault=fault.class_))
        workspace = found[0].record.workspace_key if found else snapshot.workspace_key
        return task_of(snapshot, msgspec.structs.replace(segment, workspace_key=workspace, evidence=found))

    async def evidence(self, session_id: str, span: tuple[int, int], denied: Sequence[Barrier]) -> Iterable[Evidence]:
        """The evidence of a span, one by one. Raises RangeFault (`evidence`) when its texts break its bounds."""
        pieces = await self._read(session_id, span, denied)
        check([record for piece in pieces for record in piece], span[0] - 1, span[1])
        return (one for piece in pieces for one in evidence(piece))

    async def coverage(self, session_id: str, span: tuple[int, int], denied: Sequence[Barrier]) -> str:
        """The coverage hash of a span as its texts are now. Texts that break its bounds cover nothing."""
        try:
            return await asyncio.to_thread(coverage_hash, await self.evidence(session_id, span, denied))
        except RangeFault:
            return coverage_hash(())

    async def read(self, session_id: str, span: tuple[int, int], denied: Sequence[Barrier]) -> Sequence[EvidenceRecord]:
        """The texts of a span; what the user denied is not even read."""
        return [record for piece in await self._read(session_id, span, denied) for record in piece]

    async def _read(
        self, session_id: str, span: tuple[int, int], denied: Sequence[Barrier]
    ) -> list[Sequence[EvidenceRecord]]:
        """The texts of each part of a span that no denied one divides: nothing of one helps to understand another."""
        parts = pieces(*span, denied_within(denied, *span))
        return [await self._material.read(session_id, first - 1, last) for first, last, barred in parts if not barred]


def task_of(snapshot: Snapshot, segment: Segment) -> Task:
    operation = operation_of(snapshot, segment)
    if segment.denied:
        return Task(operation=operation, formed=Formed(status=RangeStatus.DENIED))
    if not segment.evidence:
        return Task(operation=operation, formed=Formed(status=RangeStatus.SKIPPED))
    if not fits(segment.evidence):
        return Task(operation=operation, formed=Formed(fault=FailureClass.EVIDENCE))
    return Task(operation=operation)


def operation_of(snapshot: Snapshot, segment: Segment) -> Operation:
    coverage = coverage_hash(segment.evidence)
    id_ = operation_id(snapshot.session_id, str(snapshot.trigger), segment.through_seq)
    return Operation(
        session_id=snapshot.session_id,
        conversation_key=snapshot.conversation_key,
        workspace_key=segment.workspace_key,
        from_seq=segment.from_seq,
        through_seq=segment.through_seq,
        operation_id=id_,
        base=id_,
        coverage_hash=coverage,
        request_hash=request_hash(segment.from_seq, segment.through_seq, coverage),
        refs=tuple(one.record.ref for one in segment.evidence),
        evidence=segment.evidence,
        floor=segment.floor,
    )


def denied_spans(snapshot: Snapshot, admission: Admission, stand: Stand) -> tuple[Barrier, ...]:
    """The spans of the session that are not to be read: denied now or ever. Where the gate denies the boundary without
    saying since when, all that is not formed yet."""
    denied = (*admission.denied, *stand.barriers)
    boundary = snapshot.boundary_seq
    if admission.door is Door.DENIED and not denied_within(denied, boundary, boundary):
        whole = Barrier(session_id=snapshot.session_id, from_seq=stand.cursor + 1, through_seq=boundary)
        return (*denied, whole)
    return denied


def unavailable(snapshot: Snapshot, reason: str, span: tuple[int, int] | None = None) -> RangeResult:
    first, last = span or (snapshot.boundary_seq, snapshot.boundary_seq)
    return RangeResult(
        session_id=snapshot.session_id,
        from_seq=first,
        through_seq=last,
        status=RangeStatus.UNAVAILABLE,
        reason=reason,
    )


def nothing(snapshot: Snapshot) -> RangeResult:
    return RangeResult(
        session_id=snapshot.session_id,
        from_seq=snapshot.boundary_seq + 1,
        through_seq=snapshot.boundary_seq,
        status=RangeStatus.NO_RANGE,
    )
