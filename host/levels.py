"""How much of a record is shown (C-06): advice is asked and checked, and a level is raised once. Pure.

Advice comes from M-07 or from what stands in for it (`recall/activation.py`). Whatever it is, it is checked against
what is true now; one that does not hold counts as none, and then the evidence alone sets the level. A record that this
context window holds as a cut hint may be shown once more, one rung higher, when the same failure comes again and the
agent hesitates more than it did then.
"""

from collections.abc import Mapping, Sequence

import msgspec

from governance.contracts import Action, Audience, Proposal, Rules, Verdict
from governance.safety import judge
from governance.trust import ceiling, within
from host.contracts import Advice, MemoryPacket, PacketItem
from recall.activation import LONGEST_REASON, ActivationPolicy, Adviser, Occasion
from recall.contracts import (
    ActivationLevel,
    ActivationRequest,
    Candidate,
    Frozen,
    MemoryKind,
    Millis,
    Ranked,
    Risk,
    Scored,
    visible,
)

# The rules that judge the advice, not the record.
ON_ADVICE = frozenset(
    {"inactive-procedure", "stale-activation", "activation-cooldown", "stale-resource", "trust-level"}
)
FAILURES = frozenset({"tool-failure", "repeated-failure"})  # triggers that say that something failed


class Told(Frozen, frozen=True, kw_only=True):
    """How a record was handed over in this context window."""

    level: ActivationLevel
    cut: bool
    raised: bool
    hesitation: float
    failed: bool  # as the answer to something that failed


def told(packet: MemoryPacket, before: Mapping[str, Told]) -> dict[str, Told]:
    """What handing over a packet tells, by memory id. `before`: what the window was told already."""
    return {
        item.memory_id: Told(
            level=item.level,
            cut=item.cut,
            raised=item.raised or item.memory_id in before,
            hesitation=packet.hesitation,
            failed=packet.trigger_reason in FAILURES,
        )
        for item in packet.items
    }


def once_more(
    told: Mapping[str, Told], signals: Mapping[str, float], policy: ActivationPolicy
) -> dict[str, ActivationLevel]:
    """The records that may be shown again now, with the level at which they were: cut hints that answered a failure,
    which comes again while the agent hesitates more. Never twice."""
    if not signals.get("repeated-failure", 0.0) or not signals.get("tool-failure", 0.0):
        return {}
    hesitation = signals.get("hesitation", 0.0)
    return {
        memory_id: one.level
        for memory_id, one in told.items()
        if one.failed
        and one.cut
        and not one.raised
        and within(one.level, ActivationLevel.HINT)
        and hesitation >= one.hesitation + policy.rise
    }


def shows_more(item: PacketItem, told: Mapping[str, Told]) -> bool:
    """Whether an item shows more of a record than this context window was told, and may: once."""
    before = told.get(item.memory_id)
    return before is not None and item.raised and not before.raised and not within(item.level, before.level)


def heard(adviser: Adviser, scored: Scored, occasion: Occasion, audience: Audience, policy: ActivationPolicy) -> Advice:
    """What the adviser says about a record, if it may be followed."""
    memory_id = scored.candidate.memory_id
    try:
        request = _read(adviser(scored, occasion, policy))
        refused = None if request is None else _refusal(request, scored.candidate, occasion, audience)
    except Exception:  # noqa: BLE001  (boundary: advice that fails is none)
        return Advice(memory_id=memory_id, refused="fault")
    if request is None or refused is not None:
        return Advice(memory_id=memory_id, refused=refused or "")
    return Advice(memory_id=memory_id, request=request)


def _read(said: ActivationRequest | None) -> ActivationRequest | None:
    """What an adviser said, with each field of the type that it has to be: not everybody's types are checked, and a
    level that only looks like one would pass the questions asked of it. Raises msgspec.ValidationError."""
    return None if said is None else msgspec.convert(msgspec.to_builtins(said), ActivationRequest)


def judged(ranked: Ranked, proposal: Proposal, audience: Audience, rules: Rules, now: Millis) -> tuple[Verdict, str]:
    """The ladder's verdict, and the rule that objected to the advice alone: then it was asked again without advice."""
    verdict = judge(ranked, proposal, audience, rules, now)
    objection = "" if proposal.activation is None else _against_advice(verdict)
    if objection:
        plain = msgspec.structs.replace(proposal, activation=None, level=ActivationLevel.EXCERPT)
        audience = msgspec.structs.replace(audience, level=ActivationLevel.EXCERPT)
        verdict = judge(ranked, plain, audience, rules, now)
    return verdict, objection


def _against_advice(verdict: Verdict) -> str:
    """The rule by which a verdict objects to the advice; empty: it does not."""
    named = [verdict.reason] if verdict.action is Action.SUPPRESS else []
    named += [removal.reason for removal in verdict.removed]
    return next((name for name in named if name.removeprefix("broken:") in ON_ADVICE), "")


def _refusal(request: ActivationRequest, candidate: Candidate, occasion: Occasion, audience: Audience) -> str | None:
    """Why advice does not hold, first match wins; None: it does."""
    if request.procedure_id != candidate.memory_id:
        return "wrong-record"
    if request.context_version != audience.context_version:
        return "stale-context"
    if request.memory_index_version != audience.index_version:
        return "stale-index"
    if not visible(candidate.scope, audience.scope):
        return "scope"
    if not (0 <= request.similarity <= 1 and 0 <= request.hesitation <= 1 and len(request.reason) <= LONGEST_REASON):
        return "out-of-range"
    if not within(request.level, ceiling(candidate, audience.evidenced, audience.stages)):
        return "above-trust"
    risky = candidate.kind is MemoryKind.PROCEDURAL and candidate.risk_level is Risk.HIGH
    if risky and candidate.memory_id not in audience.approved:
        return "high-risk"
    if candidate.memory_id in audience.cooling:
        return "cooling"
    if request.level is ActivationLevel.FULL and not occasion.asked:
        return "not-asked-for"
    named = (request.resource_ref, request.resource_version, request.resource_digest)
    held = (candidate.resource_ref, candidate.source_version, candidate.record_digest)
    return "stale-resource" if any(part is not None for part in named) and named != held else None


def fetchable(ranked: Ranked) -> Ranked:
    """The ranking with a name for each record by which its whole can be fetched: its anchor, unless it has another."""
    named = tuple(
        one
        if one.candidate.resource_ref is not None
        else msgspec.structs.replace(
            one, candidate=msgspec.structs.replace(one.candidate, resource_ref=one.candidate.anchor_id)
        )
        for one in ranked.ranked
    )
    return msgspec.structs.replace(ranked, ranked=named)


def may_rise(packet: MemoryPacket, items: Sequence[PacketItem], hesitation: float, policy: ActivationPolicy) -> bool:
    """Whether a packet that nobody has claimed yet may show more of its first item: the agent hesitates more than it
    did when the packet was built, the item is cut, and it was not raised before."""
    if not items or hesitation < packet.hesitation + policy.rise:
        return False
    return items[0].cut and not items[0].raised
