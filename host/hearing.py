"""What happens to one stored envelope: fold it in, run its pass, or, at a lifecycle event, reset and seed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from governance.contracts import AccessEvidence
from governance.evidence import Occasion, of_read
from governance.evidence_store import EvidenceStore
from governance.safety import judge
from host.attention import Attentions
from host.broker import build
from host.claims import Claims
from host.contracts import Outcome, Pass, Reason, Silence
from host.cue import seed_cue
from host.gate import closed, decide
from host.proactive import ProactiveMemoryHost
from host.reading import covered
from host.rollouts import Rollouts
from host.runtime import SESSION_SET, SessionRuntime
from host.sessions import Sessions
from recall.associate import associate
from recall.confidence import confident
from recall.contracts import (
    EventEnvelope,
    EventPayload,
    EventType,
    Millis,
    Ranked,
    ReadWindow,
    Scored,
    Segment,
)
from recall.errors import IndexFault

OBSERVED = frozenset({EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE, EventType.TOOL_CALL, EventType.TOOL_RESULT})
FIRST = -1  # the priority that comes first among the pinned records
_payload = msgspec.json.Decoder(EventPayload)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hearing:
    """The door through which every trigger enters: an envelope of the log."""

    host: ProactiveMemoryHost
    claims: Claims
    sessions: Sessions
    evidence: EvidenceStore
    rollouts: Rollouts
    attentions: Attentions

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
        if runtime.window_no != window or segment is not None or envelope.event_type in OBSERVED:
            runtime.attention = self.attentions.of(scope.workspace)  # its pass says so, and a restart reads it there
        if envelope.event_type == EventType.SESSION_END:
            await self.claims.reset(runtime, Reason.SESSION_CLOSED)
            self.sessions.let_go(runtime)
        elif runtime.window_no != window:
            await self.claims.reset(runtime, Reason.CONTEXT_RESET)
            await self._seed(envelope, runtime, now)
        elif envelope.event_type == SESSION_SET and (runtime.muted or runtime.incognito):
            await self.claims.reset(runtime, Reason.USER_MUTED if runtime.muted else Reason.INCOGNITO)
        elif segment is not None:
            await self._read(envelope, segment, runtime)
            await self.host.consider(segment, runtime, now)
            runtime.note(segment)
        elif envelope.event_type in OBSERVED:
            await self._empty(envelope, runtime, now)

    async def _empty(self, envelope: EventEnvelope, runtime: SessionRuntime, now: Millis) -> None:
        """An observed kind of event with nothing in it: silence, with its reason."""
        host = self.host
        gated = decide(runtime.gate, host.stage.window(runtime, now, None), None, host.policy.gate)
        outcome: Outcome = gated.answer if isinstance(gated.answer, Silence) else Silence(reason=Reason.NO_SEGMENT)
        await host.stage.conclude(Pass(segment=None, trigger=envelope.event_type, outcome=outcome), runtime, host.inbox)

    async def _read(self, envelope: EventEnvelope, segment: Segment, runtime: SessionRuntime) -> None:
        """N-08 → G-01: a read of a memory file leaves evidence of what it covered, at the version it was read."""
        window = _payload.decode(envelope.payload).read
        if window is None or segment.ok is False or runtime.subagent or runtime.incognito:
            return
        try:
            rows = await self._evidence(window, envelope, runtime)
        except IndexFault:  # nobody knows what the file held: that proves nothing
            return
        await self.evidence.insert(rows)
        runtime.has_read(rows)

    async def _evidence(
        self, window: ReadWindow, envelope: EventEnvelope, runtime: SessionRuntime
    ) -> Sequence[AccessEvidence]:
        shown = await covered(self.host.library, window)
        owner = self.host.stage.owner(runtime)
        occasion = Occasion(
            session_ref=owner.session_ref,
            event_seq=envelope.event_seq,
            context_version=runtime.context_version,
            at=envelope.observed_at,
            call_id=envelope.call_id,
        )
        return of_read(shown, occasion)

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
        found = await associate(cue, index, host.arms, policy.association, host.clock.micros)
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
        verdict = judge(both, host.stage.proposal(both, runtime, found.index_version), audience, host.rules, now)
        draft = host.stage.draft(runtime, occasion, "seed", found.index_version)
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
