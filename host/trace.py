"""What of a pass, a claim or a delivery is kept: audit entries. Ids, counts and numbers, never text or paths. Pure."""

from collections.abc import Callable, Mapping

import msgspec

from governance.contracts import (
    ActivationTrace,
    AuditEntry,
    AuditKind,
    CandidateTrace,
    ContextTrace,
    GateTrace,
    PacketTrace,
    VerdictTrace,
)
from host.contracts import Advice, Context, MemoryPacket, Outcome, Pass, Silence
from recall.contracts import ContextCursor, Frozen, Millis, Scored, Segment

MILLION = 1_000_000
CONTEXT = "runtime-context"  # the trigger of a packet that brings the runtime context alone
WOULD = "would"  # the outcome of a pass where remora only watches
DOORS = ("evidence", "answer", "episode")  # of the confidence gate, as it names them


class Owner(Frozen, frozen=True, kw_only=True):
    """Whose entry it is: refs instead of ids, and where the session stood."""

    session_ref: str
    agent_ref: str
    event_seq: int
    context_version: int
    step: int

    @property
    def cursor(self) -> ContextCursor:
        return ContextCursor(
            session_id=self.session_ref, event_seq=self.event_seq, context_version=self.context_version
        )


def owners(ref: Callable[[str], str]) -> Callable[[str, str, ContextCursor, int], Owner]:
    """(session id, agent id, cursor, step) -> whose entry it is. `ref`: the keyed name of an id."""

    def owner(session_id: str, agent_id: str, cursor: ContextCursor, step: int) -> Owner:
        return Owner(
            session_ref=ref(session_id),
            agent_ref=ref(agent_id),
            event_seq=cursor.event_seq,
            context_version=cursor.context_version,
            step=step,
        )

    return owner


def of_pass(walk: Pass, owner: Owner, state: str, versions: Mapping[str, str], now: Millis) -> AuditEntry:
    """The entry of one pass. `state`: the gate's state after it."""
    silent = isinstance(walk.outcome, Silence)
    packet = None if isinstance(walk.outcome, Silence) else of_packet(walk.outcome)
    return AuditEntry(
        audit_id="",
        at=now,
        session_ref=owner.session_ref,
        agent_ref=owner.agent_ref,
        cursor=owner.cursor,
        kind=AuditKind.PASS,
        outcome="silence" if silent else "packet",
        reason=walk.outcome.reason if isinstance(walk.outcome, Silence) else walk.outcome.trigger_reason,
        trigger=walk.trigger,
        segment_id=None if walk.segment is None else walk.segment.id,
        step=owner.step,
        gate=GateTrace(
            score=_millionths(walk.score),
            signals={name: _millionths(value) for name, value in sorted(walk.signals.items()) if value},
            state=state,
        ),
        arms=() if walk.found is None else walk.found.arms,
        candidates=_candidates(walk),
        votes=() if walk.sure is None else walk.sure.votes,
        verdict=None
        if walk.verdict is None
        else VerdictTrace(action=walk.verdict.action, reason=walk.verdict.reason, removed=walk.verdict.removed),
        packet=packet,
        activation=None if walk.advice is None else _activation(walk.advice, walk.outcome),
        versions=dict(versions),
        latency=walk.latency,
        note=walk.outcome.detail or None if isinstance(walk.outcome, Silence) else None,
    )


def _activation(advice: Advice, outcome: Outcome) -> ActivationTrace:
    """What was advised, and at which level the packet shows the record, if it does."""
    request = advice.request
    items = () if isinstance(outcome, Silence) else outcome.items
    return ActivationTrace(
        memory_id=advice.memory_id,
        level=None if request is None else request.level,
        similarity=0 if request is None else _millionths(request.similarity),
        hesitation=0 if request is None else _millionths(request.hesitation),
        refused=advice.refused or None,
        taken=next((item.level for item in items if item.memory_id == advice.memory_id), None),
    )


def of_packet(packet: MemoryPacket) -> PacketTrace:
    """A packet as audited: ids and digests, no text."""
    return PacketTrace(
        packet_id=packet.packet_id,
        exact_digest=packet.exact_digest,
        semantic_digest=packet.semantic_digest,
        bytes=len(packet.rendered.encode("utf-8")),
        level=packet.activation_level,
        items=tuple(item.memory_id for item in packet.items),
        context=None if packet.context is None else _of_context(packet.context),
    )


def _of_context(context: Context) -> ContextTrace:
    return ContextTrace(state=context.state, items=tuple(one.memory_id for one in context.records))


def of_event(kind: AuditKind, outcome: str, reason: str, owner: Owner, now: Millis) -> AuditEntry:
    """A bare entry of a claim, delivery or drop; add the packet with `about`."""
    return AuditEntry(
        audit_id="",
        at=now,
        session_ref=owner.session_ref,
        agent_ref=owner.agent_ref,
        cursor=owner.cursor,
        kind=kind,
        outcome=outcome,
        reason=reason,
        step=owner.step,
    )


def of_policy(outcome: str, reason: str, workspace_ref: str, now: Millis) -> AuditEntry:
    """The entry of a workspace's setting that a person changed: of no session. The workspace goes by its keyed name."""
    return msgspec.structs.replace(_of_nobody(AuditKind.POLICY, outcome, reason, now), note=workspace_ref)


def of_feedback(verb: str, memory_id: str | None, now: Millis) -> AuditEntry:
    """The entry of what a person decided about, or said of, a memory: of no session, no text."""
    return msgspec.structs.replace(_of_nobody(AuditKind.FEEDBACK, verb, verb, now), memory_id=memory_id)


def _of_nobody(kind: AuditKind, outcome: str, reason: str, now: Millis) -> AuditEntry:
    """A bare entry of no session."""
    return AuditEntry(
        audit_id="", at=now, session_ref="", agent_ref="", cursor=None, kind=kind, outcome=outcome, reason=reason
    )


def about(
    entry: AuditEntry, packet: MemoryPacket, claim_id: str | None = None, surface: str | None = None
) -> AuditEntry:
    """The entry with the packet that it is about."""
    return msgspec.structs.replace(entry, packet=of_packet(packet), claim_id=claim_id, surface=surface)


def summary(walk: Pass) -> dict[str, object]:
    """The one canonical log line of a pass: ids and counts."""
    outcome = walk.outcome
    return {
        "segment": None if walk.segment is None else walk.segment.id,
        "outcome": "silence" if isinstance(outcome, Silence) else "packet",
        "reason": outcome.reason if isinstance(outcome, Silence) else outcome.trigger_reason,
        "items": 0 if isinstance(outcome, Silence) else len(outcome.items),
        "found": 0 if walk.found is None else len(walk.found.candidates),
        "micros": sum(walk.latency.values()),
    }


def trigger_of(segment: Segment) -> str:
    """The trigger as audited: the segment's kind, and whether it failed."""
    return f"{segment.kind}:failed" if segment.ok is False else str(segment.kind)


def _candidates(walk: Pass) -> tuple[CandidateTrace, ...]:
    """Every candidate with its fate: weighed ones by score, then those dropped before the weighing."""
    if walk.ranked is None:
        return ()
    kept = set() if walk.verdict is None else {scored.candidate.memory_id for scored in walk.verdict.kept}
    fate: dict[str, str] = {drop.id: drop.reason for drop in walk.ranked.dropped}
    fate |= {} if walk.sure is None else {drop.id: drop.reason for drop in walk.sure.dropped}
    fate |= {} if walk.verdict is None else {removal.candidate_id: removal.reason for removal in walk.verdict.removed}
    weighed = walk.ranked.ranked if walk.sure is None else walk.sure.weighed
    chosen = {} if walk.sure is None else {one.candidate.memory_id: one for one in walk.sure.ranked}
    rows = [
        _through(_candidate(scored, rank, kept, fate), chosen.get(scored.candidate.memory_id, scored))
        for rank, scored in enumerate(weighed, start=1)
    ]
    named = {row.memory_id for row in rows}
    rest = [drop for drop in walk.ranked.dropped if drop.id not in named]
    return (*rows, *(CandidateTrace(memory_id=d.id, score=0, rank=0, kept=False, drop_reason=d.reason) for d in rest))


def _candidate(scored: Scored, rank: int, kept: set[str], fate: Mapping[str, str]) -> CandidateTrace:
    memory_id = scored.candidate.memory_id
    return CandidateTrace(
        memory_id=memory_id,
        score=_millionths(scored.score),
        rank=rank,
        kept=memory_id in kept,
        drop_reason=None if memory_id in kept else fate.get(memory_id, "below-bar"),
        mass=_millionths(scored.mass),
        agree=_millionths(scored.agree),
    )


def _through(row: CandidateTrace, scored: Scored) -> CandidateTrace:
    """The row with the door that opened for it, and how far its score is beyond the bar there."""
    if not scored.bar:
        return row
    door = next((reason for reason in scored.reasons if reason in DOORS), None)
    return msgspec.structs.replace(row, door=door, margin=_millionths(scored.score - scored.bar))


def _millionths(value: float) -> int:
    return round(value * MILLION)
