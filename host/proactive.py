"""`ProactiveMemoryHost`: the pass on one screen. Observer → gate → association → rank → confidence → safety → broker.

Invariants kept here: 5 (a packet enters the next request or none), 10 (silence by default, always with a reason; a
fault is a silence), 11 (nothing unrecorded can be claimed), 12 (same events, index, policy, clock and ids give the
same decisions).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import structlog

from governance.contracts import Rules
from governance.trust import earned
from host.broker import build
from host.clock import Clock
from host.contracts import Intent, Outcome, Pass, Reason, Silence
from host.eventlog import Appended, EventLog
from host.gate import decide
from host.inbox import Inbox
from host.levels import fetchable, judged, once_more
from host.policy import Policy
from host.runtime import SessionRuntime
from host.scenery import Lap
from host.stage import Stage
from host.trace import summary, trigger_of
from host.workers import Workers
from recall.activation import Occasion
from recall.associate import Arm, associate
from recall.confidence import Bar, confident
from recall.contracts import Attention, EventEnvelope, Millis, Segment
from recall.library import Library


@dataclass(frozen=True, kw_only=True, slots=True)
class ProactiveMemoryHost:
    """Watches sessions and decides at each step whether a memory matters now. Made by `host/compose.py`."""

    eventlog: EventLog
    library: Library
    arms: tuple[Arm, ...]
    bars: Mapping[Attention, Bar]
    rules: Rules
    policy: Policy
    inbox: Inbox
    stage: Stage
    workers: Workers
    clock: Clock
    log: structlog.typing.FilteringBoundLogger

    async def on_event(self, envelopes: Sequence[EventEnvelope], host: str = "socket") -> Appended:
        """Store the envelopes and return after the commit; their passes run as tasks of their sessions."""
        appended = await self.eventlog.append(envelopes, self.clock.now())
        self.workers.enqueue(appended.stored, host)
        return appended

    async def consider(self, segment: Segment, runtime: SessionRuntime, now: Millis) -> Outcome:
        """Decide, write it down, offer it. Invariant: nothing unrecorded can be claimed."""
        try:
            walk = await self._walk(segment, runtime, now)
        except Exception as error:  # noqa: BLE001  (boundary: a fault is a silence)
            fault = Silence(reason=Reason.FAULT, detail=type(error).__name__)
            walk = Pass(segment=segment, trigger=trigger_of(segment), outcome=fault)
            self.log.error("pass.failed", segment=segment.id, error=type(error).__name__)
        walk = await self.stage.conclude(walk, runtime, self.inbox)
        self.log.info("pass.decided", **summary(walk))
        return walk.outcome

    async def _walk(self, segment: Segment, runtime: SessionRuntime, now: Millis) -> Pass:
        policy, index, lap = self.policy, self.library.snapshot(now), self.stage.stopwatch()  # one of each a pass
        walk = Pass(segment=segment, trigger=trigger_of(segment), outcome=Silence(reason=Reason.BELOW_THRESHOLD))
        gated = decide(runtime.gate, self.stage.window(runtime, now, segment), segment, policy.gate)
        runtime.gate = gated.state
        walk = lap("gate", walk, score=gated.score, signals=gated.signals)
        if isinstance(gated.answer, Silence):
            return lap("gate", walk, outcome=gated.answer)
        if gated.answer.intent is Intent.RETRIEVE and self.workers.overtaken(runtime):
            return lap("gate", walk, outcome=Silence(reason=Reason.SUPERSEDED))
        cue = gated.answer.cue
        found = self.stage.effective(await associate(cue, index, self.arms, policy.association, self.clock.micros))
        walk = lap("association", walk, decision=gated.answer, found=found)
        again = once_more(runtime.told, gated.signals, policy.broker.activation)
        ranked = await self.stage.ranked(found, self.stage.shown(runtime, again), now)
        await asyncio.sleep(0)  # whoever waits for an acknowledgement goes first
        sure = confident(ranked, cue, runtime.noise(), found.statistics, self.bars[runtime.attention])  # worth a word?
        walk = lap("rank", walk, ranked=ranked, sure=sure)
        if gated.answer.intent is Intent.PREFETCH or not sure.ranked:
            return lap("rank", walk, outcome=self.stage.nothing(gated.answer, found, ranked))
        return lap("broker", await self._spoken(walk, runtime, lap, now))

    async def _spoken(self, walk: Pass, runtime: SessionRuntime, lap: Lap, now: Millis) -> Pass:
        """The second half: how much of the record is shown, whether it is safe, and the packet."""
        found, decision, segment = walk.found, walk.decision, walk.segment
        assert found and decision and segment and walk.sure  # the first half has seen to it
        sure, again = fetchable(walk.sure), once_more(runtime.told, walk.signals, self.policy.broker.activation)
        audience = await self.stage.audience(runtime, sure, found)
        occasion = Occasion(
            context_version=runtime.context_version,
            index_version=found.index_version,
            hesitation=walk.signals.get("hesitation", 0.0),
            asked=bool(walk.signals.get("explicit-request")),
            shown=again.get(sure.ranked[0].candidate.memory_id),
        )
        advice = self.stage.advised(sure, occasion, audience)
        if occasion.shown is not None and advice.request is None:  # nobody says that more of it should be shown
            return msgspec.structs.replace(walk, advice=advice, outcome=Silence(reason=Reason.ALREADY_VISIBLE))
        proposal = self.stage.proposal(sure, runtime, found.index_version, advice.request)
        await self.stage.screened(sure)
        verdict, objection = judged(sure, proposal, audience, self.rules, now)
        if objection:
            advice = msgspec.structs.replace(advice, request=None, refused=objection)
        walk = lap("safety", walk, verdict=verdict, advice=advice)
        draft = self.stage.draft(runtime, segment.id, decision.reason, found.index_version)
        draft = msgspec.structs.replace(
            draft, level=advice.request, again=frozenset(again), limits=earned(proposal.items, audience)
        )
        outcome = build(verdict, draft, self.stage.capability(runtime), self.policy.broker, self.clock.now())
        return msgspec.structs.replace(walk, outcome=outcome)
