"""What surrounds the stages of a pass before it ends: who it is for, what is true now, and what may still be shown."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from governance.contracts import Audience, Proposal, Rules, Verdict
from governance.safety import judge
from governance.screen import read_ahead
from governance.trust import ceiling
from host.broker import Draft
from host.contested import contest_of, noted, standing
from host.contracts import (
    Advice,
    Capability,
    Decision,
    Intent,
    PacketItem,
    Pass,
    Reason,
    Silence,
    Window,
)
from host.levels import heard, shows_more
from host.policy import Policy
from host.props import Props
from host.runtime import SessionRuntime
from host.trace import Owner
from recall.activation import Adviser, Occasion, advise
from recall.attention import tuned
from recall.canonical import keyed
from recall.contracts import (
    ActivationLevel,
    ActivationRequest,
    Found,
    Ranked,
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


class Scenery:
    """What surrounds the stages. `Stage` adds how a pass ends."""

    def __init__(self, library: Library, rules: Rules, policy: Policy, props: Props) -> None:
        self._library = library
        self._rules = rules
        self._policy = policy
        self._props = props
        self.adviser: Adviser = advise  # who says how much of a record is shown: M-07, or what stands in for it

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
        return self._props.rollouts.capabilities.of(runtime.client)

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
            brief=bool(runtime.told) or runtime.in_view.shown is not None,
            hesitation=runtime.hesitation,
        )

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
        verdict = await self.judged(Ranked(ranked=left), runtime, self.version, now)
        kept = {scored.candidate.memory_id for scored in verdict.kept}
        return tuple(item for item in items if item.memory_id in kept)

    async def judged(self, sure: Ranked, runtime: SessionRuntime, version: str, now: int) -> Verdict:
        """What the safety ladder says of records that were found at this version, as they would stand in a packet."""
        found = Found(candidates=(), arms=(), statistics=EMPTY, index_version=version)
        audience = await self.audience(runtime, sure, found)
        await self.screened(sure)
        return judge(sure, self.proposal(sure, runtime, version), audience, self._rules, now)

    def owner(self, runtime: SessionRuntime) -> Owner:
        """Whose entry: refs, and where the session stands."""
        scope = runtime.scope
        return self._props.owner(scope.session_id, scope.agent_id, runtime.cursor, runtime.step)

    def _versions(self, index_version: str, runtime: SessionRuntime) -> dict[str, str]:
        """The ids of everything that shaped a decision, the attention that the session is given among them."""
        confidence = tuned(self._policy.confidence, runtime.attention).id
        return self._policy.versions(index_version) | {"confidence": confidence}

    def _now(self) -> int:
        return self._props.clock.now()
