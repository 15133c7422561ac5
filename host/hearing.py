"""What happens to one stored envelope: fold it in, run its pass, or, at a lifecycle event, reset and seed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from governance.contracts import EvidenceKind
from governance.evidence import traced
from governance.safety import judge
from governance.trust import earned
from host.attention import Attentions
from host.broker import build
from host.claims import Claims
from host.contracts import Outcome, Pass, Reason, Silence
from host.cue import seed_cue
from host.gate import closed, decide
from host.proactive import ProactiveMemoryHost
from host.rollouts import Rollouts
from host.runtime import SESSION_SET, SessionRuntime
from host.sessions import Sessions
from host.witness import Witness
from recall.associate import associate
from recall.confidence import confident
from recall.contracts import (
    EventEnvelope,
    EventType,
    Millis,
    Ranked,
    Scored,
    Segment,
)
from recall.errors import IndexFault

OBSERVED = frozenset({EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE, EventType.TOOL_CALL, EventType.TOOL_RESULT})
FIRST = -1  # the priority that comes first among the pinned records


@dataclass(frozen=True, kw_only=True, slots=True)
class Hearing:
    """The door through which every trigger enters: an envelope of the log."""

    host: ProactiveMemoryHost
    claims: Claims
    sessions: Sessions
    witness: Witness
    correct: Callable[[Sequence[str], str], Awaitable[object]]  # what the user takes back; and the edge that says so
    rollouts: Rollouts
    attentions: Attentions
    boundary: Callable[[EventEnvelope, SessionRuntime], None]  # told of each event: it may end what is to be formed

    async def hear(self, envelope: EventEnvelope, runtime: SessionRuntime) -> None:
        """Fold one envelope in and act on it. The runtime's lock is held; `now` is when the daemon observed it."""
        await self.sessions.follow(runtime, envelope)
        window = runtime.window_no
        segment = runtime.take(envelope)
        await asyncio.sleep(0)  # whoever waits for an acknowledgement goes first
        scope, now = runtime.scope, envelope.observed_at
        if self.rollouts.asleep(scope.workspace, scope.session_id, now):
            if segment is not None:
                runtime.note(segment)
            return
        self.boundary(envelope, runtime)
        if runtime.window_no != window or segment is not None or envelope.event_type in OBSERVED:
            runtime.attention = self.attentions.of(scope.workspace)  # its pass says so, and a restart reads it there
        if envelope.event_type == EventType.SESSION_END:
            await self.claims.reset(runtime, Reason.SESSION_CLOSED)
            self.sessions.let_go(runtime)
            self.sessions.endings.ended(scope.session_id)
        elif runtime.window_no != window:
            await self.claims.reset(runtime, Reason.CONTEXT_RESET)
            await self._seed(envelope, runtime, now)
        elif envelope.event_type == SESSION_SET and (runtime.muted or runtime.incognito):
            await self.claims.reset(runtime, Reason.USER_MUTED if runtime.muted else Reason.INCOGNITO)
        elif segment is not None:
            await self._witness(envelope, segment, runtime)
            await self.host.consider(segment, runtime, now)
            runtime.note(segment)
        elif envelope.event_type in OBSERVED:
            await self._witness(envelope, None, runtime)
            await self._empty(envelope, runtime, now)
        runtime.evidence = ()

    async def _empty(self, envelope: EventEnvelope, runtime: SessionRuntime, now: Millis) -> None:
        """An observed kind of event with nothing in it: silence, with its reason."""
        host = self.host
        gated = decide(runtime.gate, host.stage.window(runtime, now, None), None, host.policy.gate)
        outcome: Outcome = gated.answer if isinstance(gated.answer, Silence) else Silence(reason=Reason.NO_SEGMENT)
        await host.stage.conclude(Pass(segment=None, trigger=envelope.event_type, outcome=outcome), runtime, host.inbox)

    async def _witness(self, envelope: EventEnvelope, segment: Segment | None, runtime: SessionRuntime) -> None:
        """G-01: what the event says of memories goes into its pass's entry; what it takes back is out of this pass."""
        rows = await self.witness.of(envelope, segment, runtime)
        if rows:
            runtime.witnessed(rows)
            runtime.evidence = traced(rows)
        wrong = [row for row in rows if row.kind is EvidenceKind.CORRECTION]
        if wrong:
            await self.correct([row.memory_id for row in wrong], wrong[0].evidence_id)

    async def _seed(self, envelope: EventEnvelope, runtime: SessionRuntime, now: Millis) -> None:
        """A new context window: pinned records, and after compaction what it wiped and the work still needs."""
        host = self.host
        reason = closed(host.stage.window(runtime, now, None))
        walk = Pass(segment=None, trigger="seed", outcome=Silence(reason=reason or Reason.NO_CANDIDATES))
        if reason is None:
            try:
                walk = await self._seeded(walk, f"seed:{envelope.event_seq}", runtime, now)
            except IndexFault as error:
                walk = Pass(
                    segment=None, trigger="seed", outcome=Silence(reason=Reason.FAULT, detail=type(error).__name__)
                )
        await host.stage.conclude(walk, runtime, host.inbox)

    async def _seeded(self, walk: Pass, occasion: str, runtime: SessionRuntime, now: Millis) -> Pass:
        host, policy = self.host, self.host.policy
        lap, index = host.stage.stopwatch(), host.library.snapshot(now)
        cue = seed_cue(runtime.scope, runtime.shown_before)
        found = host.stage.effective(await associate(cue, index, host.arms, policy.association, host.clock.micros))
        ranked = await host.stage.ranked(found, host.stage.shown(runtime), now)
        pinned = [scored for scored in ranked.ranked if scored.candidate.pinned]
        pinned.sort(key=lambda scored: scored.candidate.priority != FIRST)  # the others stay as ranked
        lost = [scored for scored in ranked.ranked if not scored.candidate.pinned]
        sure = await self._still_needed(lost, runtime, now)
        both = Ranked(ranked=(*pinned, *sure), dropped=ranked.dropped, weighed=(*pinned, *sure))
        walk = lap("association", walk, found=found, ranked=ranked, sure=both)
        if not both.ranked:
            return walk
        audience = await host.stage.audience(runtime, both, found)
        await host.stage.screened(both)
        verdict = judge(both, host.stage.proposal(both, runtime, found.index_version), audience, host.rules, now)
        draft = host.stage.draft(runtime, occasion, "seed", found.index_version)
        draft = msgspec.structs.replace(draft, limits=earned((one.candidate for one in both.ranked), audience))
        outcome = build(verdict, draft, host.stage.capability(runtime), policy.broker, host.clock.now())
        return lap("broker", walk, verdict=verdict, outcome=outcome)

    async def _still_needed(self, lost: Sequence[Scored], runtime: SessionRuntime, now: Millis) -> tuple[Scored, ...]:
        """Of the records that compaction wiped, those which the working view still speaks for."""
        working = runtime.working(now)
        if not lost or not working:
            return ()
        cue = seed_cue(runtime.scope, view=working)
        statistics = await self.host.library.snapshot(now).statistics(cue.terms, runtime.scope)
        bar = self.host.bars[runtime.attention]
        return confident(Ranked(ranked=tuple(lost)), cue, runtime.noise(), statistics, bar).ranked
