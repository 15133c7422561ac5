"""What surrounds the stages of a pass: who it is for, what is true now, and how its outcome is concluded."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from governance.contracts import Audience, AuditEntry, AuditKind, Proposal, Rules
from governance.safety import judge
from governance.screen import read_ahead
from governance.trust import ceiling
from host.broker import Draft, carry, lift
from host.capability import capability
from host.contested import contest_of, noted, standing
from host.contracts import (
    Advice,
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
from host.holdout import HELD_OUT, keeps_back, may_draw
from host.inbox import Inbox, Ledger, Slot
from host.levels import fetchable, heard, may_rise, shows_more
from host.policy import Policy
from host.props import Props
from host.runtime import SessionRuntime, state_text
from host.trace import Owner, about, of_event, of_pass
from recall.activation import Adviser, Occasion, advise
from recall.attention import tuned
from recall.canonical import keyed
from recall.contracts import (
    ActivationLevel,
    ActivationRequest,
    Found,
    Ranked,
    Scored,
    Segment,
    Shown,
    TermStatistics,
)
from recall.library import Library
from recall.rank import DropReason, rank

Lap = Callable[..., Pass]
LONG_SCREENED = 16_384  # characters that the screen reads without leaving the loop
LONG_TEXTS = 100_000  # characters of all candidates together, three times what fifty ordinary records have
PATIENCE = 50_000  # microseconds that an adviser may take: he is asked while everybody else waits
TAG_DIGITS = 8  # no memory can know them, and the broker sees to it that the tag stands in no item of the packet
EMPTY = TermStatistics(total=0, counts={})
VISIBLE = frozenset(
    {DropReason.ALREADY_SHOWN, DropReason.ALREADY_READ, DropReason.SHOWN_ALIKE, DropReason.ALREADY_IN_CONTEXT}
)


class Stage:
    """The setting of every pass. Made by the composition root."""

    def __init__(self, library: Library, ledger: Ledger, rules: Rules, policy: Policy, props: Props) -> None:
        self._library = library
        self._ledger = ledger
        self._rules = rules
        self._policy = policy
        self._props = props
        self.adviser: Adviser = advise  # who says how much of a record is shown: M-07, or what stands in for it

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
        if self.muted(runtime):
            window = msgspec.structs.replace(window, muted=True)
        if window.subagent and self.capability(runtime).subagents:
            return msgspec.structs.replace(window, subagent=False)
        return window

    def nothing(self, decision: Decision, found: Found, ranked: Ranked) -> Silence:
        """Why a pass that looked says nothing. `ranked`: what ranking left to weigh, and what it dropped."""
        if decision.intent is Intent.PREFETCH:
            return Silence(reason=Reason.PREFETCHED)
        if not found.candidates:
            return Silence(reason=Reason.NO_CANDIDATES)
        reasons = {drop.reason for drop in ranked.dropped}
        if ranked.ranked or not reasons <= VISIBLE | {DropReason.HELD_OUT}:
            return Silence(reason=Reason.NO_CONFIDENT_HIT)
        return Silence(reason=Reason.HELD_OUT if DropReason.HELD_OUT in reasons else Reason.ALREADY_VISIBLE)

    def shown(self, runtime: SessionRuntime, again: Collection[str] = ()) -> Shown:
        """What ranking leaves out: what this context window holds already, but for the records that may be shown
        `again`, what the user muted, and what waits for a person."""
        held = runtime.visible()
        if again:
            texts = tuple(pair for pair in held.texts if pair[0] not in again)
            held = msgspec.structs.replace(held, records=held.records.difference(again), texts=texts)
        marks, now = self._props.marks, self._now()
        return msgspec.structs.replace(
            held,
            muted=marks.muted(now),
            muted_kinds=marks.workspaces.kinds(runtime.scope.workspace, now),
            corrected=marks.corrected,
            quarantined=marks.quarantined,
        )

    async def ranked(self, found: Found, shown: Shown, now: int) -> Ranked:
        """What was found, ranked. Texts are compared in pairs: of very long ones that takes a while, in which others
        have their turn."""
        policy = self._policy.rank
        shown = msgspec.structs.replace(shown, used=self._props.used(one.memory_id for one in found.candidates))
        contest = contest_of(found.candidates, shown, now)
        candidates = standing(found.candidates, contest)
        if sum(len(one.payload) for one in candidates) <= LONG_TEXTS:
            ranked = rank(candidates, shown, policy, now)
        else:
            ranked = await asyncio.to_thread(rank, candidates, shown, policy, now)
        return noted(ranked, contest)

    async def screened(self, ranked: Ranked) -> None:
        """Long texts are read by the screen before the safety ladder asks: meanwhile others have their turn."""
        texts = [
            f"{one.title}\n{one.payload}" if one.title else one.payload
            for one in (scored.candidate for scored in ranked.ranked)
        ]
        if sum(map(len, texts)) > LONG_SCREENED:
            await asyncio.to_thread(read_ahead, texts)

    @property
    def version(self) -> str:
        """What packets are built from now: the index, and the marks over it."""
        return self._props.marks.effective(self._library.version)

    def effective(self, found: Found) -> Found:
        """What was found, under the name of what it will be ranked with: the marks as they are now."""
        version = self._props.marks.effective(found.index_version)
        return found if version == found.index_version else msgspec.structs.replace(found, index_version=version)

    def muted(self, runtime: SessionRuntime) -> bool:
        """Whether the user muted the whole workspace for now."""
        return self._props.marks.workspaces.quiet(runtime.scope.workspace, self._now())

    async def audience(self, runtime: SessionRuntime, sure: Ranked, found: Found) -> Audience:
        """Whom the packet is for, and what holds in the index now."""
        digests = {scored.candidate.memory_id: scored.candidate.record_digest for scored in sure.ranked}
        if found.degraded or self.version != found.index_version:  # else the index holds what was found
            digests = await self._library.digests(list(digests), runtime.scope)
        props, marks = self._props, self._props.marks
        return Audience(
            scope=runtime.scope,
            index_version=self.version,
            digests=digests,
            muted=marks.muted(self._now()),
            muted_kinds=marks.workspaces.kinds(runtime.scope.workspace, self._now()),
            corrected=marks.corrected,
            quarantined=marks.quarantined,
            approved=props.approved(digests),
            evidenced=props.evidenced(digests),
            stages=props.stages(),
            surface_available=self.surface(runtime),
            degraded=found.degraded,
            context_version=runtime.context_version,
            cooling=frozenset(memory_id for memory_id, one in runtime.told.items() if one.raised),
        )

    def advised(self, sure: Ranked, occasion: Occasion, audience: Audience) -> Advice:
        """What the adviser says about the best record, checked against what is true now. One that takes its time holds
        up every session: it is not heard again, and from then on our own is asked."""
        best = sure.ranked[0]
        limit = ceiling(best.candidate, audience.evidenced, audience.stages)
        occasion = msgspec.structs.replace(occasion, limit=limit, degraded=audience.degraded)
        adviser, micros = self.adviser, self._props.clock.micros
        asked = micros()
        advice = heard(adviser, best, occasion, audience, self._policy.broker.activation)
        if adviser is advise or micros() - asked <= PATIENCE:
            return advice
        self.adviser = advise
        return Advice(memory_id=best.candidate.memory_id, refused="late")

    def proposal(
        self, sure: Ranked, runtime: SessionRuntime, index_version: str, advice: ActivationRequest | None = None
    ) -> Proposal:
        """The packet about to be built, for the rules that judge it as a whole."""
        return Proposal(
            session_id=runtime.scope.session_id,
            agent_id=runtime.scope.agent_id,
            context_version=runtime.context_version,
            index_version=index_version,
            level=ActivationLevel.EXCERPT if advice is None else advice.level,
            items=tuple(scored.candidate for scored in sure.ranked),
            activation=advice,
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
            retrieval_version="+".join(self._versions(index_version, runtime).values()),
            tag=keyed(self._props.key, seed.encode("utf-8"))[:TAG_DIGITS],
            brief=bool(runtime.told),
            hesitation=runtime.hesitation,
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
        if self.muted(runtime):  # since the pass began
            walk = msgspec.structs.replace(walk, outcome=Silence(reason=Reason.USER_MUTED))
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
        holdout = self._policy.holdout
        waiting = frozenset() if pending is None else frozenset(item.memory_id for item in pending.packet.items)
        if holdout.share and may_draw(walk, packet, waiting | runtime.visible().records):
            walk = msgspec.structs.replace(walk, draw=holdout.label)
            if keeps_back(packet, holdout, self._props.key):
                return await self._keep_back(walk, packet, runtime, inbox)
        drops: list[AuditEntry] = []
        if pending is not None:
            packet, advice = await self._joined(packet, pending, runtime)
            walk = msgspec.structs.replace(walk, outcome=packet, advice=advice or walk.advice)
            entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
            drops.append(about(entry, pending.packet))
        await inbox.offer(packet, [self._entry(walk, runtime), *drops])
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
        """Carry-over: the same items, checked again, built and audited at the current context version."""
        old = slot.packet
        items, advice = await self._lifted(old, await self.recheck(old.items, runtime), runtime)
        draft = self.draft(runtime, old.packet_id, old.trigger_reason, self.version)
        draft = msgspec.structs.replace(draft, rested=runtime.rested_since(old.context_cursor))
        built = carry(old, items, draft, self._policy.broker, self._now())
        walk = Pass(segment=None, trigger="carry-over", outcome=built, advice=advice)
        if isinstance(built, Silence):
            await self._ledger.append([self._entry(walk, runtime)])
            return
        entry = of_event(AuditKind.DROP, InboxState.REPLACED, Reason.REPLACED, self.owner(runtime), self._now())
        await inbox.offer(built, [self._entry(walk, runtime), about(entry, old)])

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

    async def recheck(self, items: Sequence[PacketItem], runtime: SessionRuntime) -> tuple[PacketItem, ...]:
        """Those of `items` that may still be shown: scope, status, digest, not shown, not read, safe."""
        if not items:
            return ()
        now = self._now()
        ids = [item.memory_id for item in items]
        candidates = await self._library.snapshot(now).by_id(ids, runtime.scope)
        digests = {item.memory_id: item.record_digest for item in items}
        same = [c for c in candidates if digests[c.memory_id] == c.record_digest]
        again = [item.memory_id for item in items if shows_more(item, runtime.told)]
        left = rank(same, self.shown(runtime, again), self._policy.rank, now).ranked
        found = Found(candidates=(), arms=(), statistics=EMPTY, index_version=self.version)
        sure = Ranked(ranked=left)
        audience = await self.audience(runtime, sure, found)
        await self.screened(sure)
        verdict = judge(sure, self.proposal(sure, runtime, found.index_version), audience, self._rules, now)
        kept = {scored.candidate.memory_id for scored in verdict.kept}
        return tuple(item for item in items if item.memory_id in kept)

    def owner(self, runtime: SessionRuntime) -> Owner:
        """Whose entry: refs, and where the session stands."""
        scope = runtime.scope
        return self._props.owner(scope.session_id, scope.agent_id, runtime.cursor, runtime.step)

    def _entry(self, walk: Pass, runtime: SessionRuntime) -> AuditEntry:
        version = self.version if walk.found is None else walk.found.index_version
        versions = self._versions(version, runtime) | ({"holdout": walk.draw} if walk.draw else {})
        entry = of_pass(walk, self.owner(runtime), state_text(runtime.gate), versions, self._now())
        return msgspec.structs.replace(entry, evidence=runtime.evidence) if runtime.evidence else entry

    def _versions(self, index_version: str, runtime: SessionRuntime) -> dict[str, str]:
        """The ids of everything that shaped a decision, the attention that the session is given among them."""
        confidence = tuned(self._policy.confidence, runtime.attention).id
        return self._policy.versions(index_version) | {"confidence": confidence}

    def _now(self) -> int:
        return self._props.clock.now()
