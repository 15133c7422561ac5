"""How much an agent hesitates, measured from what it does: the same call again, the same file read again. Pure."""

from collections import Counter
from collections.abc import Sequence

from recall.contracts import Segment, SegmentKind

LOOK_BACK = 16
ENOUGH = 3  # repetitions that count as full hesitation


def hesitation(recent: Sequence[Segment]) -> float:
    """0 … 1 over the latest segments: calls made again with equal arguments, files read again."""
    calls = [one for one in recent[-LOOK_BACK:] if one.kind is SegmentKind.CALL]
    same = Counter(one.args_digest for one in calls if one.args_digest is not None)
    read = Counter(one.path for one in calls if one.path is not None and one.tool == "read")
    repeated = sum(count - 1 for count in same.values()) + sum(count - 1 for count in read.values()) / 2
    return min(1.0, repeated / ENOUGH)
