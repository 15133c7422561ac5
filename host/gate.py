"""The need gate (C-03): retrieve, prefetch or stay silent. Pure, synchronous, no I/O, before any recall.

Theory of operation. Hard rules first, in a fixed order; the first that holds is the reason of the silence. What is left
is scored: the trigger itself (a prompt that is no acknowledgement, a failing result, a reply) weighs .80 and retrieves
alone; the other signals come in as 1 − Π(1 − weight · signal), so that they order and explain and never leave [0, 1].
A tool call is a trigger only where an act that failed is repeated, and is prefetched at most: the lesson is needed once
it has failed again, and passes on every call were measured to be noise.

    retrieve   score ≥ .80, not for a call       prefetch   score ≥ .55; while the latch is on, ≥ .42
    latch      on at ≥ .65, off below .42; an event without a trigger has the score of its standing signals

Cooldown blocks *the same retrieval key* only: blunt pauses were measured to be useless and to lose what comes next (a
record is shown once a context window anyway). It holds for some context versions after a retrieve that found nothing to
say, and longer after a packet; a request to recall, a failing result and a new task of the user pass it.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec

from host.contracts import Decision, GateMode, GateState, Intent, MemoryPacket, Reason, Silence, Window
from host.cue import build_cue
from host.gate_words import asks_to_recall, corrects, error_classes, is_acknowledgement, is_empty
from host.namespace import policy as policy_id
from recall.contracts import Cue, Frozen, Segment, SegmentKind, SourceKind

__all__ = ["Gated", "GatePolicy", "closed", "decide", "failure_marks", "is_acknowledgement", "settle"]

Part = Annotated[float, msgspec.Meta(ge=0, le=1)]

TRIGGER = "trigger"


class GatePolicy(Frozen, frozen=True, kw_only=True):
    """Thresholds are the design's, weights are ours; the id changes with either and with the dictionaries.

    `quiet_empty` and `quiet_packet` are counted in context versions, that is accepted segments: a step is about three.
    """

    id: str = policy_id("gate", 1)
    on: Part = 0.65
    off: Part = 0.42
    retrieve: Part = 0.80
    prefetch: Part = 0.55
    quiet_empty: Annotated[int, msgspec.Meta(ge=0)] = 2
    quiet_packet: Annotated[int, msgspec.Meta(ge=0)] = 6
    weights: tuple[tuple[str, Part], ...] = (
        (TRIGGER, 0.80),
        ("explicit-request", 0.60),
        ("repeated-failure", 0.60),
        ("correction", 0.45),
        ("tool-failure", 0.40),
        ("unresolved-need", 0.30),
        ("hesitation", 0.25),
        ("first-prompt", 0.20),
        ("historical-hit", 0.20),
        ("novelty", 0.15),
        ("phase-shift", 0.08),
    )


class Gated(Frozen, frozen=True, kw_only=True):
    """What the gate answers, the state it leaves, and why: score and signals in [0, 1] (none where a hard rule hit)."""

    answer: Decision | Silence
    state: GateState
    score: float = 0.0
    signals: dict[str, float] = {}


def decide(state: GateState, window: Window, segment: Segment | None, policy: GatePolicy) -> Gated:
    """Whether this segment is worth a look, and for what. Never raises on any text."""
    reason = _suppressed(window, segment)
    if segment is None or reason is not None:
        reason = reason or Reason.NO_SEGMENT
        return Gated(answer=Silence(reason=reason), state=_rested(state, window, reason, policy))
    signals = {name: _part(SIGNALS[name](segment, window)) for name, _ in policy.weights}
    score = _score(signals, policy)
    state = _latched(_woken(state, segment), score, policy)
    intent = _intent(segment, score, state, policy)
    if intent is None:
        return Gated(answer=Silence(reason=Reason.BELOW_THRESHOLD), state=state, score=score, signals=signals)
    cue = build_cue(segment, window)
    if _cooling(state, segment, cue, signals):
        cooled = msgspec.structs.replace(state, mode=GateMode.COOLDOWN)
        return Gated(answer=Silence(reason=Reason.COOLDOWN), state=cooled, score=score, signals=signals)
    mode = GateMode.ARMED if intent is Intent.RETRIEVE else GateMode.PREFETCH
    decision = Decision(intent=intent, cue=cue, score=score, signals=signals, reason=_strongest(segment, signals, policy))
    return Gated(answer=decision, state=msgspec.structs.replace(state, mode=mode), score=score, signals=signals)


def settle(
    state: GateState, outcome: MemoryPacket | Silence, key: str, context_version: int, policy: GatePolicy
) -> GateState:
    """The state after the pass of a decision with this retrieval key: quiet for this key when it was served or came to
    nothing, unchanged need when the pass was cut short (superseded, discarded, a fault)."""
    if isinstance(outcome, MemoryPacket):
        return msgspec.structs.replace(state, quiet_need=key, quiet_until=context_version + policy.quiet_packet)
    if state.mode is GateMode.PREFETCH:
        return state
    if outcome.reason in NOTHING_TO_SAY:
        until = context_version + policy.quiet_empty
        return msgspec.structs.replace(state, mode=GateMode.COOLDOWN, quiet_need=key, quiet_until=until)
    return msgspec.structs.replace(state, mode=GateMode.NORMAL)


NOTHING_TO_SAY = frozenset(
    {
        Reason.NO_CANDIDATES,
        Reason.NO_CONFIDENT_HIT,
        Reason.UNSAFE,
        Reason.AWAITING_APPROVAL,
        Reason.PACKET_OVERSIZE,
    }
)


# ------------------------------------------------------------------------------ hard rules


def closed(window: Window) -> Reason | None:
    """The hard rules that look at no segment, in order: what a seed pass asks."""
    for reason, holds in STANDING_RULES:
        if holds(window):
            return reason
    return None


def _suppressed(window: Window, segment: Segment | None) -> Reason | None:
    """The first hard rule that holds, in the order of the design; cooldown comes after the score."""
    for reason, standing in STANDING_RULES[:OWNER_RULES]:
        if standing(window):
            return reason
    if segment is None:
        return Reason.NO_SEGMENT
    for reason, rule in SEGMENT_RULES:
        if rule(segment, window):
            return reason
    for reason, standing in STANDING_RULES[OWNER_RULES:]:
        if standing(window):
            return reason
    return None


def _no_owner(window: Window) -> bool:
    return not window.scope.session_id or not window.scope.agent_id


def _foreign(segment: Segment, window: Window) -> bool:
    """A segment of somebody else in this window: invariant 1 stops it here too."""
    return (segment.session_id, segment.agent_id) != (window.scope.session_id, window.scope.agent_id)


def _unsupported(segment: Segment, window: Window) -> bool:
    match segment.kind:
        case SegmentKind.PROMPT | SegmentKind.REPLY:
            return False
        case SegmentKind.RESULT:
            return segment.ok is not False
        case SegmentKind.CALL:
            return _repeated_failure(segment, window) == 0


def _machine_authored(segment: Segment, window: Window) -> bool:
    return segment.kind is SegmentKind.PROMPT and segment.source_kind is not SourceKind.USER


def _empty(segment: Segment, window: Window) -> bool:
    """A failing result is a signal even when it says nothing; so is a call that repeats one."""
    return segment.kind in (SegmentKind.PROMPT, SegmentKind.REPLY) and is_empty(segment.text)


def _duplicate(segment: Segment, window: Window) -> bool:
    """The same text by the same side again. The same failure again is no duplicate but a need."""
    if segment.kind not in (SegmentKind.PROMPT, SegmentKind.REPLY):
        return False
    known = segment.digest in window.seen_digests
    return known or any(one.digest == segment.digest and one.kind is segment.kind for one in window.recent)


OWNER_RULES = 3  # so many of the standing rules come before the segment's own
STANDING_RULES: tuple[tuple[Reason, Callable[[Window], bool]], ...] = (
    (Reason.NO_OWNER, _no_owner),
    (Reason.DISPOSED, lambda window: window.disposed),
    (Reason.SUBAGENT, lambda window: window.subagent),
    (Reason.USER_MUTED, lambda window: window.muted),
    (Reason.INCOGNITO, lambda window: window.incognito),
    (Reason.NO_SURFACE, lambda window: not window.surface),
)
SEGMENT_RULES: tuple[tuple[Reason, Callable[[Segment, Window], bool]], ...] = (
    (Reason.NO_OWNER, _foreign),
    (Reason.UNSUPPORTED_TRIGGER, _unsupported),
    (Reason.MACHINE_AUTHORED, _machine_authored),
    (Reason.EMPTY_SIGNAL, _empty),
    (Reason.DUPLICATE_CONTEXT, _duplicate),
)


# ------------------------------------------------------------------------------ signals


def _trigger(segment: Segment, window: Window) -> float:
    return float(segment.kind is not SegmentKind.CALL)


def _explicit_request(segment: Segment, window: Window) -> float:
    return float(segment.kind is SegmentKind.PROMPT and asks_to_recall(segment.text))


def _tool_failure(segment: Segment, window: Window) -> float:
    return float(segment.kind is SegmentKind.RESULT and segment.ok is False)


def _repeated_failure(segment: Segment, window: Window) -> float:
    """1: the same failure, or the call that failed, again. A part: a call of that tool that is much like it."""
    match segment.kind:
        case SegmentKind.RESULT if segment.ok is False:
            known = {*window.failures}.union(*(failure_marks(one, window.recent) for one in _failed(window.recent)))
            return float(not known.isdisjoint(failure_marks(segment, window.recent)))
        case SegmentKind.CALL:
            return max((_same_act(segment, call) for call in _failed_calls(window)), default=0.0) or float(
                segment.args_digest is not None and segment.args_digest in window.failures
            )
        case _:
            return 0.0


def _unresolved_need(segment: Segment, window: Window) -> float:
    """1: the last failure of the window was not followed by a success of the same tool."""
    for one in reversed(window.recent):
        if one.kind is SegmentKind.RESULT and one.ok is False:
            return 1.0
        if one.kind is SegmentKind.RESULT and one.ok and any(one.tool == bad.tool for bad in _failed(window.recent)):
            return 0.0
    return 0.0


def _hesitation(segment: Segment, window: Window) -> float:
    return window.hesitation


def _first_prompt(segment: Segment, window: Window) -> float:
    return float(window.first_prompt and segment.kind is SegmentKind.PROMPT)


def _historical_hit(segment: Segment, window: Window) -> float:
    return window.historical


def _correction(segment: Segment, window: Window) -> float:
    return float(segment.kind is SegmentKind.PROMPT and corrects(segment.text))


def _novelty(segment: Segment, window: Window) -> float:
    """The share of what the segment names that the window has not named."""
    named = set(segment.entities)
    return len(named.difference(*(one.entities for one in window.recent))) / len(named) if named else 0.0


def _phase_shift(segment: Segment, window: Window) -> float:
    """1: the latest call does another kind of work than most calls before it."""
    phases = [PHASES.get(one.tool or "", "other") for one in window.recent if one.kind is SegmentKind.CALL]
    if len(phases) < SHORTEST_PHASE:
        return 0.0
    *before, last = phases
    return float(before.count(last) * 2 < len(before))


SHORTEST_PHASE = 4  # calls
PHASES = {
    "read": "look",
    "search": "look",
    "web": "look",
    "edit": "change",
    "write": "change",
    "shell": "run",
    "agent": "plan",
    "todo": "plan",
}
SIGNALS: dict[str, Callable[[Segment, Window], float]] = {
    TRIGGER: _trigger,
    "explicit-request": _explicit_request,
    "repeated-failure": _repeated_failure,
    "correction": _correction,
    "tool-failure": _tool_failure,
    "unresolved-need": _unresolved_need,
    "hesitation": _hesitation,
    "first-prompt": _first_prompt,
    "historical-hit": _historical_hit,
    "novelty": _novelty,
    "phase-shift": _phase_shift,
}


def failure_marks(segment: Segment, recent: Sequence[Segment]) -> tuple[str, ...]:
    """What a failing result is known by when it comes again: its text, the call it answers, the errors it names."""
    calls = [one.args_digest for one in recent if one.kind is SegmentKind.CALL and one.call_id == segment.call_id]
    answered = [digest for digest in calls if digest is not None] if segment.call_id is not None else []
    return (segment.digest, *answered, *error_classes(segment.text))
