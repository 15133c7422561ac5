"""What surrounds the stages of a pass: who it is for, what is true now, and how its outcome is concluded."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from governance.contracts import Audience, AuditEntry, AuditKind, Proposal, Rules
from governance.safety import judge
from host.broker import Draft, carry
from host.capability import capability
from host.clock import Clock
from host.contracts import (
    Capability,
    Decision,
    InboxState,
    Intent,
    MemoryPacket,
    PacketItem,
    Pass,
    Reason,
    Rollout,
    Silence,
    Window,
)
from host.gate import settle
from host.inbox import Inbox, Ledger, Slot
from host.marks import Marks
from host.policy import Policy
from host.rollouts import Rollouts
from host.runtime import SessionRuntime, state_text
from host.trace import Owner, about, of_event, of_pass
from recall.canonical import keyed
from recall.contracts import (
    ActivationLevel,
    ContextCursor,
    Found,
    Ranked,
    Segment,
    Shown,
    TermStatistics,
)
from recall.library import Library
from recall.rank import DropReason, rank

Lap = Callable[..., Pass]
EMPTY = TermStatistics(total=0, counts={})
VISIBLE = frozenset(
    {DropReason.ALREADY_SHOWN, DropReason.ALREADY_READ, DropReason.SHOWN_ALIKE, DropReason.ALREADY_IN_CONTEXT}
)


class Stage:
    """The setting of every pass. Made by the composition root."""

    def __init__(self, library: Library, ledger: Ledger, rules: Rules, policy: Policy, props: "Props") -> None:
        self._library = library
        self._ledger = ledger
        self._rules = rules
        self._policy = policy
        self._props = props

    # ------------------------------------------------------------------ before and between the stages

    def stopwatch(self) -> Lap:
        """A function that sets fields of a walk and books the time since its last call on a stage."""
        clock = self._props.clock
        last = clock.micros()

        def lap(stage: str, walk: Pass, **changes: Any) -> Pass:
            nonlocal last
            now = clock.micros()
            latency = walk.latency | {stage: walk.latency.get(stage, 0) + now - last}
            last = now
            return msgspec.structs.replace(walk, latency=latency, **changes)

        return lap

    def capability(self, runtime: SessionRuntime) -> Capability:
        return capability(runtime.host)

    def surface(self, runtime: SessionRuntime) -> bool:
        """Whether this host can take a packet anywhere."""
        return bool(self.capability(runtime).surfaces)

    def window(self, runtime: SessionRuntime, now: int, segment: Segment | None) -> Window:
        """What the gate sees; `segment` is the one about to be decided, already pushed."""
        window = runtime.window(now, self.surface(runtime), segment)
        if window.subagent and self.capability(runtime).subagents:
            return msgspec.structs.replace(window, subagent=False)
        return window

    def nothing(self, decision: Decision, found: Found, ranked: Ranked) -> Silence:
        """Why a pass that looked says nothing. `ranked`: what ranking left to weigh, and what it dropped."""
        if decision.intent is Intent.PREFETCH:
            return Silence(reason=Reason.PREFETCHED)
        if not found.candidates:
            return Silence(reason=Reason.NO_CANDIDATES)
        seen = not ranked.ranked and all(drop.reason in VISIBLE for drop in ranked.dropped)
        return Silence(reason=Reason.ALREADY_VISIBLE if seen else Reason.NO_CONFIDENT_HIT)

    def shown(self, runtime: SessionRuntime) -> Shown:
        """What ranking leaves out: what this context window holds already, and what the user muted."""
        muted = self._props.marks.muted
        return msgspec.structs.replace(runtime.visible(), muted=muted)

    async def audience(self, runtime: SessionRuntime, sure: Ranked, found: Found) -> Audience:
        """Whom the packet is for, and what holds in the index now."""
        digests = {scored.candidate.memory_id: scored.candidate.record_digest for scored in sure.ranked}
        if found.degraded or self._library.version != found.index_version:  # else the index holds what was found
            digests = await self._library.digests(list(digests), runtime.scope)
        return Audience(
            scope=runtime.scope,
            index_version=self._library.version,
            digests=digests,
            muted=self._props.marks.muted,
            surface_available=self.surface(runtime),
            degraded=found.degraded,
            context_version=runtime.context_version,
        )

    def proposal(self, sure: Ranked, runtime: SessionRuntime, index_version: str) -> Proposal:
        """The packet about to be built, for the rules that judge it as a whole."""
        return Proposal(
            session_id=runtime.scope.session_id,
            agent_id=runtime.scope.agent_id,
            context_version=runtime.context_version,
            index_version=index_version,
            level=ActivationLevel.EXCERPT,
            items=tuple(scored.candidate for scored in sure.ranked),
        )

    def draft(self, runtime: SessionRuntime, occasion: str, reason: str, index_version: str) -> Draft:
        """The packet's frame: its tag is keyed, so that no memory can know it and replay makes the same one."""
        scope = runtime.scope
        seed = "\n".join(
            (scope.session_id, scope.agent_id, occasion, str(runtime.context_version), str(runtime.window_no))
        )
        return Draft(
            cursor=runtime.cursor,
            agent_id=scope.agent_id,
            window=runtime.window_no,
            step=runtime.step,
            trigger_reason=reason,
            retrieval_version="+".join(self._policy.versions(index_version).values()),
            tag=keyed(self._props.key, seed.encode("utf-8"))[:32],
        )

    # ------------------------------------------------------------------ after the stages

    async def conclude(self, walk: Pass, runtime: SessionRuntime, inbox: Inbox) -> Pass:
        """Settle the gate, write the audit entry, offer the packet if there is one. In this order: 11."""
        if walk.decision is not None:
            key, version = walk.decision.cue.retrieval_key, runtime.context_version
            runtime.gate = settle(runtime.gate, walk.outcome, key, version, self._policy.gate)
        if walk.sure is not None:
            runtime.voted(walk.sure.votes)
        outcome = walk.outcome
        if isinstance(outcome, Silence):
            await self._ledger.append([self._entry(walk, runtime)])
            return walk
        rollout = self._props.rollouts.of(runtime.scope.workspace, runtime.scope.session_id)
        if rollout is Rollout.OFF:  # since the pass began: its result is thrown away whole
            walk = msgspec.structs.replace(walk, outcome=Silence(reason=Reason.DISCARDED))
            await self._ledger.append([self._entry(walk, runtime)])
            return walk
        if rollout is not Rollout.ACTIVE:
            entry = msgspec.structs.replace(self._entry(walk, runtime), outcome="would", reason=Reason.SHADOW)
            await self._ledger.append([entry])
            return msgspec.structs.replace(walk, outcome=Silence(reason=Reason.SHADOW))
        return await self._offer(walk, outcome, runtime, inbox)

    async def _offer(self, walk: Pass, packet: MemoryPacket, runtime: SessionRuntime, inbox: Inbox) -> Pass:
        """Newest wins; what an overtaken packet still held competes for the room that is left."""
        pending, _ = await inbox.slot(runtime.scope.session_id, runtime.scope.agent_id)
        drops: list[AuditEntry] = []
        if pending is not None:
            packet = await self._joined(packet, pending, runtime)
            walk = msgspec.structs.replace(walk, outcome=packet)
            entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
            drops.append(about(entry, pending.packet))
        await inbox.offer(packet, [self._entry(walk, runtime), *drops])
        if walk.segment is not None:
            runtime.hits += 1
        return walk

    async def _joined(self, packet: MemoryPacket, pending: Slot, runtime: SessionRuntime) -> MemoryPacket:
        if pending.packet.window != runtime.window_no:
            return packet
        named = {item.memory_id for item in packet.items}
        older = [item for item in pending.packet.items if item.memory_id not in named]
        still = await self.recheck(older, runtime)
        draft = self.draft(runtime, packet.packet_id, packet.trigger_reason, self._library.version)
        both = carry(packet, (*packet.items, *still), draft, self._policy.broker, packet.created_at)
        return packet if isinstance(both, Silence) or not still else msgspec.structs.replace(both, carried=0)

    async def carry(self, slot: Slot, runtime: SessionRuntime, inbox: Inbox) -> None:
        """Carry-over: the same items, checked again, built and audited at the current context version."""
        old = slot.packet
        items = await self.recheck(old.items, runtime)
        draft = self.draft(runtime, old.packet_id, old.trigger_reason, self._library.version)
        built = carry(old, items, draft, self._policy.broker, self._now())
        walk = Pass(segment=None, trigger="carry-over", outcome=built)
        if isinstance(built, Silence):
            await self._ledger.append([self._entry(walk, runtime)])
            return
        entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
        await inbox.offer(built, [self._entry(walk, runtime), about(entry, old)])

    async def recheck(self, items: Sequence[PacketItem], runtime: SessionRuntime) -> tuple[PacketItem, ...]:
        """Those of `items` that may still be shown: scope, status, digest, not shown, not read, safe."""
        if not items:
            return ()
        now = self._now()
        ids = [item.memory_id for item in items]
        candidates = await self._library.snapshot(now).by_id(ids, runtime.scope)
        digests = {item.memory_id: item.record_digest for item in items}
        same = [c for c in candidates if digests[c.memory_id] == c.record_digest]
        left = rank(same, self.shown(runtime), self._policy.rank, now).ranked
        found = Found(candidates=(), arms=(), statistics=EMPTY, index_version=self._library.version)
        sure = Ranked(ranked=left)
        audience = await self.audience(runtime, sure, found)
        verdict = judge(sure, self.proposal(sure, runtime, found.index_version), audience, self._rules, now)
        kept = {scored.candidate.memory_id for scored in verdict.kept}
        return tuple(item for item in items if item.memory_id in kept)

    def owner(self, runtime: SessionRuntime) -> Owner:
        """Whose entry: refs, and where the session stands."""
        scope = runtime.scope
        return self._props.owner(scope.session_id, scope.agent_id, runtime.cursor, runtime.step)

    def _entry(self, walk: Pass, runtime: SessionRuntime) -> AuditEntry:
        version = self._library.version if walk.found is None else walk.found.index_version
        versions = self._policy.versions(version)
        return of_pass(walk, self.owner(runtime), state_text(runtime.gate), versions, self._now())

    def _now(self) -> int:
        return self._props.clock.now()


class Props:
    """What the stage borrows: clock and install key, who owns an entry, rollouts and mutes."""

    def __init__(
        self,
        clock: Clock,
        key: bytes,
        owner: Callable[[str, str, ContextCursor, int], Owner],
        rollouts: Rollouts,
        marks: Marks,
    ) -> None:
        self.clock = clock
        self.key = key
        self.owner = owner
        self.rollouts = rollouts
        self.marks = marks
