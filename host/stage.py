"""How a pass ends: what was decided is settled, written down and offered; what becomes of an overtaken packet."""

from collections.abc import Iterable

import msgspec

from governance.contracts import AuditEntry, AuditKind, Rules
from host.broker import Draft, alone, carry, lift, with_context
from host.capability import told
from host.contracts import (
    Advice,
    Context,
    InboxState,
    MemoryPacket,
    PacketItem,
    Pass,
    Reason,
    Silence,
)
from host.gate import closed, settle
from host.holdout import HELD_OUT, keeps_back, may_draw
from host.inbox import Inbox, Ledger, Slot
from host.levels import fetchable, may_rise
from host.maintainer import Maintainer
from host.policy import Policy
from host.projection import project
from host.props import Props
from host.runtime import SessionRuntime, state_text
from host.scenery import EMPTY, Scenery
from host.trace import CONTEXT, WOULD, about, of_event, of_pass
from recall.activation import Occasion
from recall.contracts import Found, Ranked, Scored
from recall.library import Library


class Stage(Scenery):
    """The setting of every pass. Made by the composition root."""

    def __init__(self, library: Library, ledger: Ledger, rules: Rules, policy: Policy, props: Props) -> None:
        super().__init__(library, rules, policy, props)
        self._ledger = ledger
        self._maintainer = Maintainer(library, props, self.judged)

    async def conclude(self, walk: Pass, runtime: SessionRuntime, inbox: Inbox) -> Pass:
        """Settle the gate, write the audit entry, offer the packet if there is one. In this order: 11."""
        if walk.decision is not None:
            key, version = walk.decision.cue.retrieval_key, runtime.context_version
            runtime.gate = settle(runtime.gate, walk.outcome, key, version, self._policy.gate)
        if walk.sure is not None:
            runtime.voted(walk.sure.votes)
        outcome = walk.outcome
        if isinstance(outcome, Silence):
            return await self._silent(walk, runtime, inbox)
        withheld = self._props.rollouts.closed(runtime.scope, runtime.client)
        if withheld is Reason.ROLLOUT_OFF:  # since the pass began: its result is thrown away whole
            walk = msgspec.structs.replace(walk, outcome=Silence(reason=Reason.DISCARDED))
            await self._ledger.append([self._entry(walk, runtime)])
            return walk
        if self.muted(runtime):  # since the pass began
            walk = msgspec.structs.replace(walk, outcome=Silence(reason=Reason.USER_MUTED))
            await self._ledger.append([self._entry(walk, runtime)])
            return walk
        if withheld is not None:
            outcome = await self._in_view(outcome, runtime, watched=True)
            walk = msgspec.structs.replace(walk, outcome=outcome)
            await self._ledger.append([_would(self._entry(walk, runtime), withheld)])
            runtime.in_view.watched(outcome.context)
            return msgspec.structs.replace(walk, outcome=Silence(reason=withheld))
        return await self._offer(walk, outcome, runtime, inbox)

    async def _silent(self, walk: Pass, runtime: SessionRuntime, inbox: Inbox) -> Pass:
        """A silence is written down. If the runtime context changed all the same, a packet with that alone goes with
        it: in one transaction, for an event that was heard in part would not be heard again."""
        withheld = self._props.rollouts.closed(runtime.scope, runtime.client)
        entries = [self._entry(walk, runtime)]
        packet = await self._context_alone(runtime, watched=withheld is not None)
        if packet is None or withheld is Reason.ROLLOUT_OFF:
            await self._ledger.append(entries)
            return walk
        own = self._entry(Pass(segment=None, trigger=CONTEXT, outcome=packet), runtime)
        own = msgspec.structs.replace(own, evidence=())  # the event's evidence stands in the entry of its pass
        if withheld is not None:
            await self._ledger.append([*entries, _would(own, withheld)])
            runtime.in_view.watched(packet.context)
            return walk
        pending, _ = await inbox.slot(runtime.scope.session_id, runtime.scope.agent_id)
        if pending is not None and (pending.packet.items or pending.packet.context == packet.context):
            await self._ledger.append(entries)  # what waits says it, or takes it along when it is carried over
            return walk
        if pending is not None:
            entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
            entries.append(about(entry, pending.packet))
        await inbox.offer(packet, [entries[0], own, *entries[1:]])
        return walk

    async def _offer(self, walk: Pass, packet: MemoryPacket, runtime: SessionRuntime, inbox: Inbox) -> Pass:
        """Newest wins; what an overtaken packet still held competes for the room that is left."""
        pending, _ = await inbox.slot(runtime.scope.session_id, runtime.scope.agent_id)
        holdout = self._policy.holdout
        waiting = frozenset() if pending is None else frozenset(item.memory_id for item in pending.packet.items)
        if holdout.share and may_draw(walk, packet, waiting | runtime.visible().records):
            walk = msgspec.structs.replace(walk, draw=holdout.label)
            if keeps_back(packet, holdout, self._props.key):
                return await self._keep_back(walk, packet, runtime, inbox)
        drops: list[AuditEntry] = []
        if pending is not None:
            packet, advice = await self._joined(packet, pending, runtime)
            walk = msgspec.structs.replace(walk, advice=advice or walk.advice)
            entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
            drops.append(about(entry, pending.packet))
        walk = msgspec.structs.replace(walk, outcome=await self._in_view(packet, runtime))
        assert isinstance(walk.outcome, MemoryPacket)
        await inbox.offer(walk.outcome, [self._entry(walk, runtime), *drops])
        return walk

    async def _keep_back(self, walk: Pass, packet: MemoryPacket, runtime: SessionRuntime, inbox: Inbox) -> Pass:
        """Held out: audited, never offered, and to later passes of this context window as if it had been given."""
        entry = msgspec.structs.replace(self._entry(walk, runtime), outcome=HELD_OUT, reason=Reason.HELD_OUT)
        await inbox.keep_back(packet, entry)
        runtime.kept_back(packet)
        return msgspec.structs.replace(walk, outcome=Silence(reason=Reason.HELD_OUT))

    async def _joined(
        self, packet: MemoryPacket, pending: Slot, runtime: SessionRuntime
    ) -> tuple[MemoryPacket, Advice | None]:
        """The packet with what the overtaken one still holds; more of a record that stood in that one already."""
        overtaken, items = pending.packet, packet.items
        if overtaken.window != runtime.window_no or not runtime.in_time(overtaken, packet.created_at):
            return packet, None
        named, waiting = {item.memory_id for item in items}, {item.memory_id for item in overtaken.items}
        still = await self.recheck([item for item in overtaken.items if item.memory_id not in named], runtime)
        advice: Advice | None = None
        if items[0].memory_id in waiting:
            items, advice = await self._lifted(overtaken, items, runtime)
        if items is packet.items and not still:
            return packet, advice
        draft = self.draft(runtime, packet.packet_id, packet.trigger_reason, self.version)
        both = carry(packet, (*items, *still), draft, self._policy.broker, packet.created_at)
        return (packet if isinstance(both, Silence) else msgspec.structs.replace(both, carried=0)), advice

    async def carry(self, slot: Slot, runtime: SessionRuntime, inbox: Inbox) -> None:
        """Carry-over: the same items, checked again, built and audited at the current context version, beside what
        there is to say of the runtime context now."""
        old = slot.packet
        draft = self.draft(runtime, old.packet_id, old.trigger_reason, self.version)
        draft = msgspec.structs.replace(draft, rested=runtime.rested_since(old.context_cursor))
        items, advice = await self._lifted(old, await self.recheck(old.items, runtime), runtime)
        built = carry(old, items, draft, self._policy.broker, self._now())
        if isinstance(built, MemoryPacket):
            built = await self._in_view(built, runtime)
        elif not old.items:
            context = await self.context(runtime)
            built = Silence(reason=Reason.STALE_INDEX) if context is None else self._alone(context, draft, runtime)
        walk = Pass(segment=None, trigger="carry-over", outcome=built, advice=advice)
        if isinstance(built, Silence):
            await self._ledger.append([self._entry(walk, runtime)])
            return
        entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
        await inbox.offer(built, [self._entry(walk, runtime), about(entry, old)])

    # ------------------------------------------------------------------ the runtime context

    async def context(
        self, runtime: SessionRuntime, items: Iterable[PacketItem] = (), *, watched: bool = False
    ) -> Context | None:
        """What there is to say of the runtime context, beside a packet of these items; None: nothing, or it is not
        known. `watched`: remora only watches here, and what it would have said counts as said."""
        if not self.capability(runtime).maintained:
            return None
        now = await self._maintainer.of(runtime, self._now())
        visible = runtime.in_view.visible(watched=watched)
        if now is None or now.state == visible:
            return None
        held = runtime.holds(line.record for line in now.lines if line.record is not None)
        return project(visible, now, held | {item.memory_id for item in items})

    async def moved(self, packet: MemoryPacket, runtime: SessionRuntime) -> bool:
        """Whether what a packet says of the runtime context is not what there is to say now."""
        return packet.context is not None and packet.context != await self.context(runtime, packet.items)

    async def _in_view(self, packet: MemoryPacket, runtime: SessionRuntime, *, watched: bool = False) -> MemoryPacket:
        """The packet with what there is to say of the runtime context, if both fit."""
        return with_context(packet, await self.context(runtime, packet.items, watched=watched), self._policy.broker)

    async def _context_alone(self, runtime: SessionRuntime, *, watched: bool) -> MemoryPacket | None:
        """A packet with nothing else, if there is something to say and somebody who may be told."""
        context = await self.context(runtime, watched=watched)
        if context is None or closed(self.window(runtime, self._now(), None)) is not None:
            return None
        draft = self.draft(runtime, f"{CONTEXT}:{runtime.event_seq}", CONTEXT, self.version)
        packet = self._alone(context, draft, runtime)
        return packet if isinstance(packet, MemoryPacket) else None

    def _alone(self, context: Context, draft: Draft, runtime: SessionRuntime) -> MemoryPacket | Silence:
        draft = msgspec.structs.replace(draft, trigger_reason=CONTEXT)
        return alone(context, draft, self.capability(runtime), self._policy.broker, self._now())

    # ------------------------------------------------------------------ carrying over, and the entry

    async def _lifted(
        self, packet: MemoryPacket, items: tuple[PacketItem, ...], runtime: SessionRuntime
    ) -> tuple[tuple[PacketItem, ...], Advice | None]:
        """More of the first item, one rung and once, where the agent hesitates more than when `packet` was built, which
        nobody has claimed."""
        policy, version, now = self._policy.broker, self.version, self._now()
        if not may_rise(packet, items, runtime.hesitation, policy.activation):
            return items, None
        found = await self._library.snapshot(now).by_id([items[0].memory_id], runtime.scope)
        sure = fetchable(Ranked(ranked=tuple(Scored(candidate=one, score=0.0) for one in found)))
        if not sure.ranked:
            return items, None
        audience = await self.audience(runtime, sure, Found(candidates=(), arms=(), statistics=EMPTY, index_version=""))
        occasion = Occasion(
            context_version=runtime.context_version,
            index_version=version,
            hesitation=runtime.hesitation,
            shown=items[0].level,
        )
        advice = self.advised(sure, occasion, audience)
        if advice.request is None:
            return items, advice
        more = lift(items[0], sure.ranked[0].candidate, advice.request.level, policy)
        return (items if more is None else (more, *items[1:])), advice

    def _entry(self, walk: Pass, runtime: SessionRuntime) -> AuditEntry:
        version = self.version if walk.found is None else walk.found.index_version
        versions = self._versions(version, runtime) | ({"holdout": walk.draw} if walk.draw else {})
        if self.capability(runtime).why:  # the table does not have this version of the host
            versions["host"] = told(runtime.client)
        entry = of_pass(walk, self.owner(runtime), state_text(runtime.gate), versions, self._now())
        return msgspec.structs.replace(entry, evidence=runtime.evidence) if runtime.evidence else entry


def _would(entry: AuditEntry, reason: Reason) -> AuditEntry:
    """The entry of a packet that is not handed over because remora only watches."""
    return msgspec.structs.replace(entry, outcome=WOULD, reason=reason)
