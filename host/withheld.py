"""What is not handed over although it was offered: what a claim asks last, of what is held in memory."""

from collections.abc import Callable, Sequence

from host.clock import Clock
from host.contracts import PacketItem, Reason
from host.marks import Marks
from host.rollouts import Rollouts
from recall.contracts import RuntimeScope

Closed = Callable[[RuntimeScope], Reason | None]
Muted = Callable[[Sequence[PacketItem], RuntimeScope], frozenset[str]]


def withheld(rollouts: Rollouts, marks: Marks, clock: Clock) -> tuple[Closed, Muted]:
    """Whether nothing is handed over there now, and which items are not: what a claim asks last."""

    def closed(scope: RuntimeScope) -> Reason | None:
        quiet = marks.workspaces.quiet(scope.workspace, clock.now())
        return rollouts.closed(scope) or (Reason.USER_MUTED if quiet else None)

    def muted(items: Sequence[PacketItem], scope: RuntimeScope) -> frozenset[str]:
        ids, kinds = marks.muted(clock.now()), marks.workspaces.kinds(scope.workspace, clock.now())
        return frozenset(item.memory_id for item in items if item.memory_id in ids or item.kind in kinds)

    return closed, muted
