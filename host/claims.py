"""Claims at a request boundary: wait for the pass in flight, carry over or refuse, hand over, settle (C-06, N-03).

Invariant 5 is kept here: one claim a boundary, and the packet enters the next request or none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from governance.contracts import AuditEntry, AuditKind
from governance.errors import AuditUnavailable
from governance.evidence import Given, Occasion, of_delivery, traced
from host.broker import rerender
from host.capability import Client
from host.clock import Clock
from host.contracts import Claim, Claimed, InboxState, MemoryPacket, Named, PacketItem, Reason, Silence, Surface
from host.frame import tags
from host.inbox import STAYS, Facts, Holder, Inbox, Slot, ladder
from host.levels import shows_more
from host.protocol import WAIT_MS
from host.runtime import SessionRuntime
from host.trace import Owner, about, of_event
from recall.contracts import ContextCursor, Frozen, RuntimeScope

PURGES = 8  # looks for packets that moved while they were being dropped; each moves a step on at most
FINAL_STATE = {Reason.EXPIRED: InboxState.EXPIRED}


class Ask(Frozen, frozen=True, kw_only=True):
    """A claim: at which surface, by which request, and how long it may wait for a pass in flight (milliseconds)."""

    surface: Surface
    request_id: str | None = None
    wait_ms: int = 0


class Settled(Frozen, frozen=True, kw_only=True):
    """Whether an acknowledgement or a release changed anything, and why not."""

    settled: bool
    reason: str | None = None


class Carrier(Protocol):
    """Who makes packets anew."""

    async def carry(self, slot: Slot, runtime: SessionRuntime, inbox: Inbox) -> None:
        """Build the slot's packet again at the current context version."""

    async def moved(self, packet: MemoryPacket, runtime: SessionRuntime) -> bool:
        """Whether what a packet says of the runtime context is not what there is to say now."""
        ...


class Desk:
    """What claims need from the rest, as plain calls: made by the composition root."""

    def __init__(
        self,
        owner: Callable[[str, str, ContextCursor, int], Owner],
        current: Callable[[Sequence[str], RuntimeScope], Awaitable[dict[str, str]]],
        carrier: Carrier,
        new_id: Callable[[str], str],
    ) -> None:
        self.owner = owner  # (session, agent, cursor, step) -> refs
        self.current = current  # (memory ids, who asks) -> record digests that hold in the files now
        self.carry = carrier.carry
        self.moved = carrier.moved
        self.new_id = new_id


class Claims:
    """What becomes of packets, under the runtime's lock so that nothing moves between look and act. `purge` alone goes
    without: it meets packets of sessions that are not live, and is guarded by the state that it saw."""

    def __init__(
        self,
        inbox: Inbox,
        desk: Desk,
        clock: Clock,
        closed: Callable[[RuntimeScope, Client, Surface | None], Reason | None] = lambda *_: None,
        muted: Callable[[Sequence[PacketItem | Named], RuntimeScope], frozenset[str]] = lambda *_: frozenset(),
    ) -> None:
        self._inbox = inbox
        self._desk = desk
        self._clock = clock
        self._closed = closed  # why nothing may be handed over there now, whatever waits
        self._muted = muted  # which of these the user has muted there

    async def claim(self, runtime: SessionRuntime, ask: Ask) -> Claim:
        """The packet valid at the session's context version, or a Silence with the reason."""
        before = await self._before(runtime, ask)
        if before is not None:
            return before
        try:
            async with asyncio.timeout(min(ask.wait_ms, WAIT_MS) / 1000):
                await runtime.idle.wait()
        except TimeoutError:
            return Silence(reason=Reason.LATE)
        async with runtime.lock:
            if not runtime.idle.is_set() or runtime.queue or runtime.behind:
                return Silence(reason=Reason.LATE)
            try:
                _ours(runtime)
                return await self._before(runtime, ask) or await self._claim(runtime, ask)
            except AuditUnavailable:
                return Silence(reason=Reason.AUDIT_UNAVAILABLE)

    async def _before(self, runtime: SessionRuntime, ask: Ask) -> Claim | None:
        """What the same request was answered: asked before waiting, and again once nobody else is at it.

        A packet of an earlier context window is not handed over again: ids may begin anew, in another workspace too.
        Nor is one that was taken back since, or that carries a memory that may not be shown any more.
        """
        if ask.request_id is None:
            return None
        scope = runtime.scope
        before = await self._inbox.answered(scope.session_id, scope.agent_id, ask.request_id)
        if not isinstance(before, Claimed):
            return before
        if before.packet.window != runtime.window_no:
            return Silence(reason=Reason.CONTEXT_RESET)
        if self._muted(before.packet.named, scope):
            return Silence(reason=Reason.MUTED)
        slot = await self._inbox.find(before.packet.packet_id)
        still = await self._desk.current([one.memory_id for one in before.packet.named], scope)
        gone = slot is None or slot.state is InboxState.DROPPED
        if gone or any(one.memory_id not in still for one in before.packet.named):
            return Silence(reason=Reason.STALE_INDEX)
        return before

    async def _claim(self, runtime: SessionRuntime, ask: Ask) -> Claim:
        scope = runtime.scope
        closed = self._closed(scope, runtime.client, ask.surface)
        if closed is not None:
            pending, _ = await self._inbox.slot(scope.session_id, scope.agent_id)
            why = Reason.NONE_PENDING if pending is None else closed
            return await self._refused(runtime, pending, why, self._holder(scope, ask))
        slot = await self._current_slot(runtime)  # first: a packet carried over now is made now
        holder = self._holder(scope, ask)
        facts = await self._facts(runtime, slot)
        packet = None if slot is None else slot.packet
        reason = ladder(packet, facts, holder.at, self._inbox.policy) or _yields(packet, ask.surface)
        if slot is None or reason is not None:
            return await self._refused(runtime, slot, reason or Reason.NONE_PENDING, holder)
        entry = self._entry(AuditKind.CLAIM, "claimed", slot.packet.trigger_reason, runtime)
        claimed = await self._inbox.claim(slot, holder, about(entry, slot.packet, holder.claim_id, ask.surface))
        if isinstance(claimed, Silence):  # a record was forgotten in between, and took its packet with it
            return await self._refused(runtime, None, claimed.reason, holder)
        runtime.taken(claimed.packet)
        return claimed

    def _holder(self, scope: RuntimeScope, ask: Ask) -> Holder:
        return Holder(
            session_id=scope.session_id,
            agent_id=scope.agent_id,
            surface=ask.surface,
            claim_id=self._desk.new_id("clm_"),
            at=self._clock.now(),
            request_id=ask.request_id,
        )

    async def _refused(self, runtime: SessionRuntime, slot: Slot | None, reason: Reason, holder: Holder) -> Silence:
        if slot is not None and reason not in STAYS:
            state = FINAL_STATE.get(reason, InboxState.DROPPED)
            await self._drop(runtime, slot, state, reason)
        await self._inbox.refuse(holder, reason)
        return Silence(reason=reason)

    async def delivered(self, runtime: SessionRuntime, packet_id: str, claim_id: str) -> Settled:
        """The text is in the next request: the packet is delivered, and each item leaves one `seen`."""
        async with runtime.lock:
            _ours(runtime)
            slot = await self._inbox.find(packet_id)
            if slot is None or not _owns(runtime, slot.packet):
                return Settled(settled=False, reason="unknown-packet")
            if slot.state is InboxState.DELIVERED and slot.claim_id == claim_id:
                return Settled(settled=True, reason="already-delivered")
            if slot.state is not InboxState.CLAIMED or slot.claim_id != claim_id:
                return Settled(settled=False, reason="stale-claim")
            done = await self._deliver(runtime, slot)
            return Settled(settled=done, reason=None if done else "stale-claim")

    async def release(self, runtime: SessionRuntime, packet_id: str, claim_id: str) -> Settled:
        """The text was not used: the packet is pending again, unless a newer one has taken the slot."""
        async with runtime.lock:
            _ours(runtime)
            slot = await self._inbox.find(packet_id)
            if slot is None or not _owns(runtime, slot.packet):
                return Settled(settled=False, reason="unknown-packet")
            if slot.state is not InboxState.CLAIMED or slot.claim_id != claim_id:
                return Settled(settled=False, reason="stale-claim")
            done = await self._put_back(runtime, slot)
            return Settled(settled=done, reason=None if done else "stale-claim")

    async def settle_shown(self, runtime: SessionRuntime, texts: Sequence[str]) -> int:
        """Packets whose frame stands in the host's own transcript are delivered, whoever died in between."""
        async with runtime.lock:
            _ours(runtime)
            count = 0
            for slot in await self._unsettled(runtime):
                if any(slot.packet.tag in tags(text) for text in texts):
                    count += await self._deliver(runtime, slot)
            return count

    async def inherit(self, runtime: SessionRuntime, texts: Sequence[str]) -> int:
        """A session that was copied from another one begins with what that one was given: delivered packets of others
        whose frame stands in its transcript are in its context window. Nothing counts as delivered once more. Returns
        how many they are."""
        async with runtime.lock:
            _ours(runtime)
            named = {tag for text in texts for tag in tags(text)}
            given = [slot.packet for slot in await self._inbox.tagged(named) if not _owns(runtime, slot.packet)]
            for packet in given:
                runtime.shows(packet)
            return len(given)

    async def purge(
        self,
        memory_id: str,
        runtimes: Callable[[str, str], SessionRuntime | None],
        reason: Reason = Reason.FORGOTTEN,
    ) -> int:
        """A record was forgotten, muted, corrected or replaced: unsettled packets that carry it are dropped, wherever
        they are. One that was claimed, released or offered between look and act is looked at once more."""
        count = 0
        for _ in range(PURGES):
            slots = await self._inbox.carrying(memory_id)
            if not slots:
                break
            count += await self._purged(slots, runtimes, reason)
        return count

    async def _purged(
        self, slots: Sequence[Slot], runtimes: Callable[[str, str], SessionRuntime | None], reason: Reason
    ) -> int:
        count = 0
        for slot in slots:
            packet = slot.packet
            runtime = runtimes(packet.context_cursor.session_id, packet.agent_id)
            cursor = packet.context_cursor if runtime is None else runtime.cursor
            owner = self._desk.owner(cursor.session_id, packet.agent_id, cursor, packet.step or 0)
            entry = of_event(AuditKind.DROP, "dropped", reason, owner, self._clock.now())
            dropped = await self._inbox.settle(slot, InboxState.DROPPED, about(entry, packet))
            if dropped and runtime is not None:
                runtime.given_back(packet.packet_id)
            count += dropped
        return count

    async def withdraw(self, runtimes: Iterable[SessionRuntime]) -> int:
        """A level was set, or something was muted: what waits and may not be handed over any more is dropped. Returns
        how many packets that were."""
        count = 0
        for runtime in runtimes:
            async with runtime.lock:
                closed = self._closed(runtime.scope, runtime.client, None)
                for slot in await self._unsettled(runtime):
                    muted = Reason.MUTED if self._muted(slot.packet.named, runtime.scope) else None
                    reason = closed or muted
                    if reason is not None:
                        await self._drop(runtime, slot, InboxState.DROPPED, reason)
                        count += 1
        return count

    async def withdraw_absent(self, slot: Slot, scope: RuntimeScope) -> bool:
        """The same for a packet of a session that is not live: what a claim there would find now. Whether it was
        dropped."""
        packet, cursor = slot.packet, slot.packet.context_cursor
        muted = Reason.MUTED if self._muted(packet.named, scope) else None
        reason = self._closed(scope, Client(), None) or muted
        if reason is None:
            return False
        owner = self._desk.owner(cursor.session_id, packet.agent_id, cursor, packet.step or 0)
        entry = of_event(AuditKind.DROP, "dropped", reason, owner, self._clock.now())
        return await self._inbox.settle(slot, InboxState.DROPPED, about(entry, packet, slot.claim_id))

    async def reset(self, runtime: SessionRuntime, reason: Reason) -> None:
        """Drop what waits for this owner: its context window is gone, or its session ended. The lock is held."""
        for slot in await self._unsettled(runtime):
            await self._drop(runtime, slot, InboxState.DROPPED, reason)

    async def _unsettled(self, runtime: SessionRuntime) -> list[Slot]:
        pending, claimed = await self._inbox.slot(runtime.scope.session_id, runtime.scope.agent_id)
        return [*claimed, *([] if pending is None else [pending])]

    async def _current_slot(self, runtime: SessionRuntime) -> Slot | None:
        """The pending slot after a dead holder's claim was taken back and an older packet carried over."""
        scope = runtime.scope
        pending, claimed = await self._inbox.slot(scope.session_id, scope.agent_id)
        now = self._clock.now()
        for slot in claimed:
            if now - (slot.claimed_at or 0) > self._inbox.policy.lease:
                await self._put_back(runtime, slot)
                pending, _ = await self._inbox.slot(scope.session_id, scope.agent_id)
        if pending is not None and not runtime.boundary_used and await self._to_carry(pending.packet, runtime, now):
            await self._desk.carry(pending, runtime, self._inbox)
            pending, _ = await self._inbox.slot(scope.session_id, scope.agent_id)
        return pending

    async def _to_carry(self, packet: MemoryPacket, runtime: SessionRuntime, now: int) -> bool:
        """Whether an unclaimed packet is to be built again first: it is older than the conversation, or the runtime
        context has changed."""
        if not packet.items:
            older = packet.context_cursor.context_version < runtime.context_version or now >= packet.expiry
            return packet.window == runtime.window_no and (older or await self._desk.moved(packet, runtime))
        if carries(packet, runtime, now):
            return True
        return in_reach(packet, runtime, now) and await self._desk.moved(packet, runtime)

    async def _put_back(self, runtime: SessionRuntime, slot: Slot) -> bool:
        pending, _ = await self._inbox.slot(runtime.scope.session_id, runtime.scope.agent_id)
        if pending is not None:
            state, entry = InboxState.DROPPED, self._entry(AuditKind.DROP, "dropped", Reason.REPLACED, runtime)
        else:
            state, entry = InboxState.PENDING, self._entry(AuditKind.DROP, "released", Reason.RELEASED, runtime)
        done = await self._inbox.settle(slot, state, about(entry, slot.packet, slot.claim_id))
        runtime.given_back(slot.packet.packet_id)
        return done

    async def _deliver(self, runtime: SessionRuntime, slot: Slot) -> bool:
        now = self._clock.now()
        owner = self._owner(runtime)
        entry = of_event(AuditKind.DELIVERY, "delivered", slot.packet.trigger_reason, owner, now)
        given = [
            Given(memory_id=i.memory_id, source_version=i.source_version, record_digest=i.record_digest)
            for i in slot.packet.items
        ]
        occasion = Occasion(
            session_ref=owner.session_ref,
            event_seq=owner.event_seq,
            context_version=owner.context_version,
            at=now,
        )
        rows = of_delivery(given, slot.packet.packet_id, occasion)
        entry = msgspec.structs.replace(entry, evidence=traced(rows))
        done = await self._inbox.settle(slot, InboxState.DELIVERED, about(entry, slot.packet, slot.claim_id))
        if done:
            runtime.handed_over(slot.packet)
            runtime.witnessed(rows)
        return done

    async def _drop(self, runtime: SessionRuntime, slot: Slot, state: InboxState, reason: Reason) -> None:
        entry = self._entry(AuditKind.DROP, "dropped", reason, runtime)
        await self._inbox.settle(slot, state, about(entry, slot.packet, slot.claim_id))
        runtime.given_back(slot.packet.packet_id)

    async def _facts(self, runtime: SessionRuntime, slot: Slot | None) -> Facts:
        items, named = ((), ()) if slot is None else (slot.packet.items, slot.packet.named)
        return Facts(
            context_version=runtime.context_version,
            window=runtime.window_no,
            step=runtime.step,
            boundary_used=runtime.boundary_used,
            last_delivery_step=runtime.last_delivery_step,
            digests=await self._desk.current([one.memory_id for one in named], runtime.scope) if named else {},
            visible_records=runtime.visible().records - {i.memory_id for i in items if shows_more(i, runtime.told)},
            visible_texts=frozenset(runtime.delivered),
            rerendered="" if slot is None else rerender(slot.packet),
            muted=self._muted(named, runtime.scope),
            moved=slot is not None and await self._desk.moved(slot.packet, runtime),
        )

    def _entry(self, kind: AuditKind, outcome: str, reason: str, runtime: SessionRuntime) -> AuditEntry:
        return of_event(kind, outcome, reason, self._owner(runtime), self._clock.now())

    def _owner(self, runtime: SessionRuntime) -> Owner:
        return self._desk.owner(runtime.scope.session_id, runtime.scope.agent_id, runtime.cursor, runtime.step)


def carries(packet: MemoryPacket, runtime: SessionRuntime, now: int) -> bool:
    """Whether an unclaimed packet may be built again at the current version: same window, in time, at most one step
    later."""
    return packet.context_cursor.context_version < runtime.context_version and in_reach(packet, runtime, now)


def in_reach(packet: MemoryPacket, runtime: SessionRuntime, now: int) -> bool:
    """Whether it belongs to this context window, is in time, and at most one step old."""
    near = packet.step is None or runtime.step - packet.step <= 1
    return near and packet.window == runtime.window_no and runtime.in_time(packet, now)


def _yields(packet: MemoryPacket | None, surface: Surface) -> Reason | None:
    """The runtime context alone takes no session's start: the prompt that follows goes into the same request, and what
    answers it would have no room."""
    alone = packet is not None and not packet.items
    return Reason.NO_SURFACE if alone and surface is Surface.SESSION_START else None


def _owns(runtime: SessionRuntime, packet: MemoryPacket) -> bool:
    scope = runtime.scope
    return packet.context_cursor.session_id == scope.session_id and packet.agent_id == scope.agent_id


def _ours(runtime: SessionRuntime) -> None:
    """Raises AuditUnavailable when the runtime was forsaken while we waited for its lock: its past is read anew."""
    if runtime.forsaken:
        raise AuditUnavailable("What this session decided last could not be recorded.", "Try again.")
