"""M-07's advice on how much of a record to show, as given without the extra: from similarity and hesitation. Pure.

Advice, never an order: the host checks it again, the safety gate checks it again, and none is no failure. The level
follows the evidence: just over the bar is a hint, well over it an excerpt, and of a validated procedure its checklist.
Hesitation of the agent raises it by one rung; only the user's own request for what is known asks for a whole record.
"""

import math
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from recall.contracts import (
    LEVELS,
    ActivationLevel,
    ActivationRequest,
    Candidate,
    Frozen,
    MemoryKind,
    Origin,
    RecordState,
    Scored,
    SourceName,
    Status,
)

Part = Annotated[float, Meta(ge=0, le=1)]
LONGEST_REASON = 160  # characters


class ActivationPolicy(Frozen, frozen=True, kw_only=True):
    """Where the rungs begin. `sure`: multiples of the bar that the evidence clears; `doubt`: own confidence of a record
    that nothing weighed; `hesitant`: hesitation that raises a level; `rise`: by how much it has to have risen since the
    record was handed over, or its packet built, for more of it to be shown."""

    sure: Annotated[float, Meta(ge=1)] = 1.5
    doubt: Part = 0.5
    hesitant: Part = 0.6
    rise: Part = 0.3


class Occasion(Frozen, frozen=True, kw_only=True):
    """What is true when a record is about to be shown. `limit`: what its trust allows; `shown`: the level at which this
    context window holds it already, if it does; `asked`: the user asked for what is known."""

    context_version: int
    index_version: str
    hesitation: float = 0.0
    asked: bool = False
    degraded: bool = False
    limit: ActivationLevel = ActivationLevel.FULL
    shown: ActivationLevel | None = None


Adviser = Callable[[Scored, Occasion, ActivationPolicy], ActivationRequest | None]


def advise(scored: Scored, occasion: Occasion, policy: ActivationPolicy) -> ActivationRequest | None:
    """The level for this record on this occasion, never above its limit; None when it was shown at that level."""
    level, reason = _level(scored, occasion, policy)
    level = min(level, occasion.limit, key=LEVELS.index)
    if occasion.shown is not None and LEVELS.index(level) <= LEVELS.index(occasion.shown):
        return None
    candidate = scored.candidate
    reference = candidate.resource_ref if level is ActivationLevel.RESOURCE else None
    return ActivationRequest(
        procedure_id=candidate.memory_id,
        level=level,
        similarity=similarity(scored, policy),
        hesitation=min(1.0, max(0.0, occasion.hesitation)),
        context_version=occasion.context_version,
        memory_index_version=occasion.index_version,
        reason=reason,
        resource_ref=reference,
        resource_version=None if reference is None else candidate.source_version,
        resource_digest=None if reference is None else candidate.record_digest,
    )


def plain(scored: Scored, policy: ActivationPolicy, *, degraded: bool = False) -> ActivationLevel:
    """The level by evidence alone, without any advice: a hint in doubt, else an excerpt."""
    sure = scored.score >= policy.sure * scored.bar if scored.bar > 0 else scored.candidate.confidence >= policy.doubt
    return ActivationLevel.EXCERPT if sure and not degraded else ActivationLevel.HINT


def similarity(scored: Scored, policy: ActivationPolicy) -> float:
    """0 … 1: the cosine where the engine measured one, else the evidence as a share of twice what is sure."""
    cosine = scored.confidences.get(SourceName.ENGINE)
    value = cosine if cosine is not None else scored.score / (2 * policy.sure * scored.bar) if scored.bar > 0 else 0.0
    return 0.0 if math.isnan(value) else min(1.0, max(0.0, value))


def validated(candidate: Candidate) -> bool:
    """Whether a record is a procedure in force that a person wrote or reviewed: only such is shown as a checklist."""
    return (
        candidate.kind is MemoryKind.PROCEDURAL
        and candidate.status is Status.ACTIVE
        and candidate.origin in (Origin.USER, Origin.REVIEWED)
        and candidate.state is RecordState.ANCHORED
    )


def raised(level: ActivationLevel, candidate: Candidate) -> ActivationLevel:
    """One rung up: to a checklist only of a validated procedure, else past it."""
    above = LEVELS[min(LEVELS.index(level) + 1, len(LEVELS) - 2)]  # the whole record is never given unasked
    return ActivationLevel.RESOURCE if above is ActivationLevel.CHECKLIST and not validated(candidate) else above


def _level(scored: Scored, occasion: Occasion, policy: ActivationPolicy) -> tuple[ActivationLevel, str]:
    if occasion.shown is not None:
        return raised(occasion.shown, scored.candidate), "the same failure came again, and the agent hesitates more"
    if occasion.asked:
        return ActivationLevel.FULL, "the user asks for what is known"
    level = plain(scored, policy, degraded=occasion.degraded)
    if level is ActivationLevel.EXCERPT and validated(scored.candidate):
        level = ActivationLevel.CHECKLIST
    if occasion.hesitation >= policy.hesitant:
        return raised(level, scored.candidate), "the agent hesitates"
    return (
        level,
        "the evidence clears the bar by far" if level is not ActivationLevel.HINT else "the evidence is middling",
    )
