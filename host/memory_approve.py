"""`memory.approve`, `memory.approvals`: a high-risk procedure is shown only after its user approved it, as it stands.

Only a person at a terminal approves. The approval is of the record's digest: a procedure that was changed since waits
again. Nothing is ever run by it: it may be shown.
"""

import asyncio

from governance.contracts import Stage
from governance.procedures import risk_of
from governance.review import Principal
from host.asks import APPROVED, DISAPPROVED
from host.connection import Peer
from host.errors import ProtocolFault
from host.lifecycle import Lifecycle
from host.parts import Parts
from host.principals import principal
from host.protocol import CODES, Request, decode_params
from host.verbs import Table, invalid, noted, reach, visible
from recall.contracts import Frozen, MemoryKind, MemoryRecord, Millis, Risk, RuntimeScope, Status

MOST = 200  # procedures that one list gives
PAGE = 200


class ApproveParams(Frozen, frozen=True, kw_only=True):
    """`expected`: the record digest that the person saw; null: as it stands. `principal`: who the client says it is."""

    memory_id: str
    workspace: str = ""
    approved: bool = True
    expected: str | None = None
    principal: Principal = Principal.AGENT


class ApprovalsParams(Frozen, frozen=True, kw_only=True):
    workspace: str = ""


class Approved(Frozen, frozen=True, kw_only=True):
    """`stage`: how far the procedure has come; an approved one is active."""

    memory_id: str
    approved: bool
    changed: bool
    stage: Stage


class Waiting(Frozen, frozen=True, kw_only=True):
    """A procedure that waits. `asked_at`: when a pass would have shown it last; null: none has wanted to."""

    record: MemoryRecord
    record_digest: str
    stage: Stage
    asked_at: Millis | None = None


class Approvals(Frozen, frozen=True, kw_only=True):
    waiting: tuple[Waiting, ...]


class Approve:
    """The two verbs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lifecycle = Lifecycle(parts)

    def table(self) -> Table:
        return {"memory.approve": self._approve, "memory.approvals": self._approvals}

    async def _approve(self, request: Request, peer: Peer) -> Approved:
        params = decode_params(request, ApproveParams)
        actor = await asyncio.to_thread(principal, params.principal, peer.pid)
        if actor is not Principal.HUMAN:
            problem = "A high-risk procedure is approved by a person only."
            next_step = "A person approves, at a terminal of their own: an agent's shell is not one."
            raise ProtocolFault("reviewer-kind", problem, next_step, CODES.get("reviewer-kind", -32000))
        scope = await reach(self._parts, params.workspace)
        record, locator = await visible(self._parts, params.memory_id, scope)
        if record.kind is not MemoryKind.PROCEDURAL or risk_of(record.text, record.risk_level) is not Risk.HIGH:
            problem = f"{record.memory_id} is no high-risk procedure: it needs no approval."
            raise invalid(problem, "List those that wait with memory.approvals.")
        if params.expected not in (None, locator.record_digest):
            problem = f"{record.memory_id} was changed since it was read."
            raise ProtocolFault("conflict", problem, "Read it again, and approve what it says now.")
        marks, now = self._parts.marks, self._parts.clock.now()
        if params.approved:
            changed = await marks.approve(record.memory_id, locator.record_digest, now)
        else:
            changed = await marks.disapprove(record.memory_id)
            await self._parts.library.reconsider([record.memory_id])  # it may have been let through the screen by it
        if changed:
            await self._parts.library.reconsider([record.memory_id])  # what it is let through for, or no longer
            await noted(self._parts, APPROVED if params.approved else DISAPPROVED, [record.memory_id])
        stage = await self._lifecycle.approved(record, locator.record_digest)
        return Approved(memory_id=record.memory_id, approved=params.approved, changed=changed, stage=stage)

    async def _approvals(self, request: Request, peer: Peer) -> Approvals:
        params = decode_params(request, ApprovalsParams)
        scope = await reach(self._parts, params.workspace)
        found: list[Waiting] = []
        after: str | None = None
        while len(found) < MOST:
            page = await self._parts.library.listed(scope, PAGE, after)
            for record in page.records:
                if _risky(record):
                    found += await self._unless_approved(record, scope)
            after = page.next
            if after is None:
                break
        found.sort(key=lambda one: (-(one.asked_at or 0), one.record.memory_id))
        return Approvals(waiting=tuple(found[:MOST]))

    async def _unless_approved(self, record: MemoryRecord, scope: RuntimeScope) -> list[Waiting]:
        digests = await self._parts.library.digests([record.memory_id], scope)
        digest = digests.get(record.memory_id)
        if digest is None or self._parts.marks.approved.get(record.memory_id) == digest:
            return []
        stage, asked = self._lifecycle.stage(record), self._parts.asks.at.get(record.memory_id)
        return [Waiting(record=record, record_digest=digest, stage=stage, asked_at=asked)]


def _risky(record: MemoryRecord) -> bool:
    """Whether it is a procedure in use that says of itself that it can do harm."""
    return record.kind is MemoryKind.PROCEDURAL and record.status is Status.ACTIVE and record.risk_level is Risk.HIGH
