"""Were the deliveries right? Holds what was handed over against the labels of the recording. Pure."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from host.evaluation.sessions import Gold, Labels


class Judgement(StrEnum):
    """What hindsight says about one memory handed over at one moment."""

    HIT = "hit"  # first time, in a gold window
    AGAIN = "again"  # its gold label was met before
    ACCEPTABLE = "acceptable"  # useful there, though not needed
    OUTSIDE = "outside"  # right or wrong memory, wrong time
    NEVER = "never"  # must not be handed over at all


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    seq: int
    memory_id: str
    judgement: Judgement
    why: str = ""
    quiet: bool = False  # handed over in a stretch where nothing at all is right


def judge(labels: Labels, deliveries: Iterable[tuple[int, Sequence[str]]]) -> tuple[Judged, ...]:
    """Judge `(seq, memory ids)` in the order of delivery: the memories were there after event `seq` was seen."""
    met: set[str] = set()
    judged: list[Judged] = []
    for seq, memory_ids in deliveries:
        for memory_id in memory_ids:
            judgement, why = _one(labels, seq, memory_id, met)
            if judgement is Judgement.HIT:
                met |= labels.restated(memory_id)
            quiet = any(first <= seq <= last for first, last in labels.quiet)
            judged.append(Judged(seq=seq, memory_id=memory_id, judgement=judgement, why=why, quiet=quiet))
    return tuple(judged)


def _one(labels: Labels, seq: int, memory_id: str, met: set[str]) -> tuple[Judgement, str]:
    reason = labels.never_reason.get(memory_id)
    if reason is not None:
        return Judgement.NEVER, reason
    gold = _gold(labels, seq, memory_id)
    if gold is not None:
        return (Judgement.AGAIN if memory_id in met else Judgement.HIT), gold.why
    for span in labels.acceptable:
        if span.memory == memory_id and span.window[0] <= seq <= span.window[1]:
            return Judgement.ACCEPTABLE, ""
    return Judgement.OUTSIDE, ""


def _gold(labels: Labels, seq: int, memory_id: str) -> Gold | None:
    group = labels.restated(memory_id)
    return next((gold for gold in labels.gold if gold.memory in group and gold.covers(seq)), None)
