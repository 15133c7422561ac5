"""The need gate (C-03): retrieve, prefetch or stay silent. Pure, synchronous, no I/O, before any recall.

Theory of operation. Hard rules first, in a fixed order; the first that holds is the reason of the silence. What is left
is scored: the trigger itself (a prompt that is no acknowledgement, a failing result, a reply, a call that is hard to
take back or that failed before and is made again as it was) weighs .80 and retrieves alone; the other signals come in
as 1 − Π(1 − weight · signal), so that they order and explain and never leave [0, 1]. Any other tool call is looked at
only where it resembles one that failed, and is prefetched at most: to speak at such calls was measured to be noise, and
the lesson is handed over when the call has failed again. A prefetch is audited and votes; it keeps nothing, as no later
cue was ever the same.

    retrieve   score ≥ .80, a trigger            prefetch   score ≥ .55; while the latch is on, ≥ .42
    latch      on at ≥ .65, off below .42; an event without a trigger has the score of an open failure and of hesitation

Cooldown blocks *the same retrieval key* only: blunt pauses were measured to be useless and to lose what comes next (a
record is shown once a context window anyway). It holds for some context versions after a retrieve that found nothing to
say, and longer after a packet; a request to recall, a failing result and a first prompt pass it.
"""

import math
from collections.abc import Callable
from typing import Annotated

import msgspec

from host.contracts import Decision, GateMode, GateState, Intent, MemoryPacket, Reason, Silence, Window
from host.cue import build_cue
from host.gate_signals import SIGNALS, TRIGGER, failure_marks
from host.gate_words import is_acknowledgement, is_empty
from host.namespace import policy as policy_id
from recall.contracts import Cue, Frozen, Segment, SegmentKind, SourceKind

__all__ = ["GatePolicy", "Gated", "closed", "decide", "failure_marks", "is_acknowledgement", "settle"]

Part = Annotated[float, msgspec.Meta(ge=0, le=1)]
Segments = Annotated[int, msgspec.Meta(ge=0)]
ACTS = ("intention", "repeated-failure")  # what makes a call worth a look: it is hard to take back, or failed before
NOTICEABLE = 0.2  # a signal that contributes less does not name the decision


class GatePolicy(Frozen, frozen=True, kw_only=True):
    """Thresholds are the design's, weights are ours; the id changes with either, and with the dictionaries.

    `quiet_empty` and `quiet_packet` count context versions, that is accepted segments: a step is about three.
    """

    id: str = policy_id("gate", 3)
    on: Part = 0.65
    off: Part = 0.42
    retrieve: Part = 0.80
    prefetch: Part = 0.55
    quiet_empty: Segments = 2
    quiet_packet: Segments = 6
    weights: tuple[tuple[str, Part], ...] = (
        (TRIGGER, 0.80),
        ("explicit-request", 0.60),
        ("repeated-failure", 0.60),
        ("correction", 0.45),
        ("tool-failure", 0.40),
        ("intention", 0.25),
        ("unresolved-need", 0.30),
        ("hesitation", 0.30),
        ("first-prompt", 0.20),
    )


class Gated(Frozen, frozen=True, kw_only=True):
    """The gate's answer, the state it leaves, and why: score and signals in [0, 1] (none where a hard rule held)."""

    answer: Decision | Silence
    state: GateState
    score: float = 0.0
    signals: dict[str, float] = {}


def decide(state: GateState, window: Window, segment: Segment | None, policy: GatePolicy) -> Gated:
    """Whether this segment is worth a look, and for what. Never raises, whatever the text."""
    reason = _suppressed(window, segment)
    if segment is None or reason is not None:
        if segment is not None and reason is Reason.UNSUPPORTED_TRIGGER and state.latch:
            standing = _signals(segment, window, policy, only=("unresolved-need", "hesitation"))
            state = _latched(state, _score(standing, policy), policy)
        return Gated(answer=Silence(reason=reason or Reason.NO_SEGMENT), state=state)
    signals = _signals(segment, window, policy)
    score = _score(signals, policy)
    state = _latched(_awake(state, segment.context_version), score, policy)
    intent = _intent(signals, score, state, policy)
    if intent is None:
        return Gated(answer=Silence(reason=Reason.BELOW_THRESHOLD), state=state, score=score, signals=signals)
    cue = build_cue(segment, window)
    if _cooling(state, cue, signals):
        return Gated(answer=Silence(reason=Reason.COOLDOWN), state=state, score=score, signals=signals)
    mode = GateMode.ARMED if intent is Intent.RETRIEVE else GateMode.PREFETCH
    reason_name = _strongest(segment, signals, policy)
    decision = Decision(intent=intent, cue=cue, score=score, signals=signals, reason=reason_name)
    return Gated(answer=decision, state=msgspec.structs.replace(state, mode=mode), score=score, signals=signals)


NOTHING_TO_SAY = frozenset(
    {
        Reason.NO_CANDIDATES,
        Reason.NO_CONFIDENT_HIT,
        Reason.ALREADY_VISIBLE,
        Reason.HELD_OUT,
        Reason.UNSAFE,
        Reason.AWAITING_APPROVAL,
        Reason.PACKET_OVERSIZE,
    }
)


def settle(
    state: GateState, outcome: MemoryPacket | Silence, key: str, context_version: int, policy: GatePolicy
) -> GateState:
    """The state after the pass of a decision with this retrieval key. A packet, or nothing to say, quiets the key; a
    pass that was cut short (superseded, discarded, a fault) or that only prefetched leaves the need open."""
    if isinstance(outcome, MemoryPacket):
        quiet, mode = policy.quiet_packet, GateMode.ARMED
    elif outcome.reason in NOTHING_TO_SAY and state.mode is GateMode.ARMED:
        quiet, mode = policy.quiet_empty, GateMode.COOLDOWN
    else:
        after = state.mode if state.mode is GateMode.PREFETCH else GateMode.NORMAL
        return msgspec.structs.replace(state, mode=after)
    return msgspec.structs.replace(state, mode=mode, quiet_need=key, quiet_until=context_version + quiet)


# ------------------------------------------------------------------------------ hard rules


def closed(window: Window) -> Reason | None:
    """The hard rules that look at no segment: what a seed pass asks."""
    return next((reason for reason, holds in OWNER_RULES + PLACE_RULES if holds(window)), None)


def _suppressed(window: Window, segment: Segment | None) -> Reason | None:
    """The first hard rule that holds, in the order of the design; cooldown, the last one, needs the cue."""
    owner = next((reason for reason, holds in OWNER_RULES if holds(window)), None)
    if owner is not None or segment is None:
        return owner or Reason.NO_SEGMENT
    own = next((reason for reason, holds in SEGMENT_RULES if holds(segment, window)), None)
    return own or next((reason for reason, holds in PLACE_RULES if holds(window)), None)


def _foreign(segment: Segment, window: Window) -> bool:
    """A segment of somebody else in this window: no leakage (invariant 1), here too."""
    return (segment.session_id, segment.agent_id) != (window.scope.session_id, window.scope.agent_id)


def _unsupported(segment: Segment, window: Window) -> bool:
    match segment.kind:
        case SegmentKind.RESULT:
            return segment.ok is not False
        case SegmentKind.CALL:
            return not any(SIGNALS[name](segment, window) for name in ACTS)
        case _:
            return False


def _machine_authored(segment: Segment, window: Window) -> bool:
    return segment.kind is SegmentKind.PROMPT and segment.source_kind is not SourceKind.USER


def _empty(segment: Segment, window: Window) -> bool:
    """A failing result is a signal even if it says nothing, and so is a call that repeats one."""
    return segment.kind in SPOKEN and is_empty(segment.text)


def _duplicate(segment: Segment, window: Window) -> bool:
    """The same words of the same side again. The same failure again is no duplicate but a need."""
    if segment.kind not in SPOKEN:
        return False
    return any(one.digest == segment.digest and one.kind is segment.kind for one in window.recent)


SPOKEN = (SegmentKind.PROMPT, SegmentKind.REPLY)
WindowRule = Callable[[Window], bool]
OWNER_RULES: tuple[tuple[Reason, WindowRule], ...] = (
    (Reason.NO_OWNER, lambda window: not (window.scope.session_id and window.scope.agent_id)),
    (Reason.DISPOSED, lambda window: window.disposed),
    (Reason.SUBAGENT, lambda window: window.subagent),
)
SEGMENT_RULES: tuple[tuple[Reason, Callable[[Segment, Window], bool]], ...] = (
    (Reason.NO_OWNER, _foreign),
    (Reason.UNSUPPORTED_TRIGGER, _unsupported),
    (Reason.MACHINE_AUTHORED, _machine_authored),
    (Reason.EMPTY_SIGNAL, _empty),
    (Reason.DUPLICATE_CONTEXT, _duplicate),
)
PLACE_RULES: tuple[tuple[Reason, WindowRule], ...] = (
    (Reason.USER_MUTED, lambda window: window.muted),
    (Reason.INCOGNITO, lambda window: window.incognito),
    (Reason.NO_SURFACE, lambda window: not window.surface),
)


# ------------------------------------------------------------------------------ score and state


def _signals(
    segment: Segment, window: Window, policy: GatePolicy, only: tuple[str, ...] | None = None
) -> dict[str, float]:
    names = [name for name, _ in policy.weights if only is None or name in only]
    return {name: _part(SIGNALS[name](segment, window)) for name in names}


def _part(value: float) -> float:
    """In [0, 1], to six digits: what the audit keeps. What is no number is none."""
    return 0.0 if math.isnan(value) else round(min(max(value, 0.0), 1.0), 6)


def _score(signals: dict[str, float], policy: GatePolicy) -> float:
    missing = math.prod(1 - weight * signals.get(name, 0.0) for name, weight in policy.weights)
    return _part(1 - missing)


def _latched(state: GateState, score: float, policy: GatePolicy) -> GateState:
    """Hysteresis: what is between the two thresholds changes nothing."""
    latch = score >= policy.on or (state.latch and score >= policy.off)
    return state if latch == state.latch else msgspec.structs.replace(state, latch=latch)


def _intent(signals: dict[str, float], score: float, state: GateState, policy: GatePolicy) -> Intent | None:
    if score >= policy.retrieve and signals.get(TRIGGER):
        return Intent.RETRIEVE
    return Intent.PREFETCH if score >= (policy.off if state.latch else policy.prefetch) else None


def _awake(state: GateState, context_version: int) -> GateState:
    """The state after its cooldown, if that is over."""
    if not state.quiet_need or context_version <= state.quiet_until:
        return state
    return msgspec.structs.replace(state, mode=GateMode.NORMAL, quiet_need="", quiet_until=0)


def _cooling(state: GateState, cue: Cue, signals: dict[str, float]) -> bool:
    if state.quiet_need != cue.retrieval_key:
        return False
    return not any(signals.get(name) for name in ("explicit-request", "tool-failure", "first-prompt"))


def _strongest(segment: Segment, signals: dict[str, float], policy: GatePolicy) -> str:
    """The signal that contributes most, besides the trigger; the segment's kind when none is worth naming."""
    others = [(weight * signals[name], name) for name, weight in policy.weights if name != TRIGGER]
    most, name = max(others, key=lambda pair: pair[0])
    return name if most >= NOTICEABLE else segment.kind.value
