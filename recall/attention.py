"""How often it speaks: three points of precision and recall. Pure.

Raising the bar of the confidence gate alone was measured to lose right memories as fast as wrong ones, and lowering it
to win few: evidence in nats is fair already. What differs is the occasion. A failing result and a person's prompt ask
for help; what the agent says to itself finds most and errs most. So `quiet` gives nothing because of a reply, and asks
for more evidence elsewhere; `eager` asks for less. Nothing else changes: what is forbidden stays so at every point.
What was measured: docs/how-to/tune-how-often-it-speaks.md.
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from recall.answer import AnswerPolicy
from recall.background import Background
from recall.confidence import Bar, ConfidencePolicy
from recall.contracts import Attention, Frozen, SegmentKind

MORE: Mapping[Attention, float] = MappingProxyType(  # nats asked for beyond the calibrated bar
    {Attention.QUIET: 1.0, Attention.NORMAL: 0.0, Attention.EAGER: -2.0}
)


class Figures(Frozen, frozen=True, kw_only=True):
    """A point as measured: precision, weighted recall, and wrong ones in 100 steps."""

    precision: float
    recall: float
    false_per_100: float


# 21 labelled sessions of 13 repositories, through the whole host, by words alone: `python -m tests.calibration.points`.
MEASURED = "confidence_pre_v3"  # the policy that these figures are of
FIGURES: Mapping[Attention, Figures] = MappingProxyType(
    {
        Attention.QUIET: Figures(precision=0.784, recall=0.220, false_per_100=0.65),
        Attention.NORMAL: Figures(precision=0.704, recall=0.307, false_per_100=1.31),
        Attention.EAGER: Figures(precision=0.594, recall=0.317, false_per_100=2.12),
    }
)
ANSWER_SHARE = 0.25  # of those nats, at the answer door: its bar is about a quarter as high
ANSWER_BARS = ("surprise", "surprise_of_one", "surprise_of_order", "both", "both_of_order")  # of AnswerPolicy, in nats
LEAST = 0.5  # nats that either door always asks for


def tuned(policy: ConfidencePolicy, attention: Attention) -> ConfidencePolicy:
    """The policy at this point; its id says which, `normal` is the policy as it was calibrated."""
    if attention is Attention.NORMAL:
        return policy
    return msgspec.structs.replace(
        policy,
        id=f"{policy.id}/{attention}",
        theta=max(LEAST, policy.theta + more(attention, "evidence")),
        named=max(LEAST, policy.named + more(attention, "evidence")),
        replies=policy.replies and attention is not Attention.QUIET,
        answer=_tuned(policy.answer, more(attention, "answer")),
    )


def more(attention: Attention, door: str) -> float:
    """Nats that a door asks for beyond its calibrated bar: `answer`, or the door of evidence."""
    return MORE[attention] * (ANSWER_SHARE if door == "answer" else 1.0)


def clears(margin: float, occasion: tuple[str, str], held: Attention, attention: Attention) -> bool:
    """Whether evidence `margin` nats beyond the bar at `held` would clear the one at `attention`. `occasion`: what kind
    of event it was, as audited, and the door."""
    trigger, door = occasion
    if attention is Attention.QUIET and trigger == SegmentKind.REPLY:
        return False
    return margin >= more(attention, door) - more(held, door)


def attention_of(policy_id: str) -> Attention:
    """The point that a policy's id names, as audit entries hold it."""
    _, _, point = policy_id.rpartition("/")
    return Attention(point) if point in tuple(Attention) else Attention.NORMAL


def bars(policy: ConfidencePolicy, background: Background) -> Mapping[Attention, Bar]:
    """What a candidate has to clear at each point."""
    return {attention: Bar(tuned(policy, attention), background) for attention in Attention}


def _tuned(policy: AnswerPolicy, nats: float) -> AnswerPolicy:
    return msgspec.structs.replace(policy, **{name: max(LEAST, getattr(policy, name) + nats) for name in ANSWER_BARS})
