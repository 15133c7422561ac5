"""What is not handed over although it was offered: what a claim asks last, of what is held in memory."""

from collections.abc import Awaitable, Callable, Sequence

from host.capability import Client
from host.clock import Clock
from host.contracts import Named, PacketItem, Reason, Surface
from host.marks import Marks
from host.rollouts import Rollouts
from recall.contracts import RuntimeScope
from recall.library import Library

Closed = Callable[[RuntimeScope, Client, Surface | None], Reason | None]
Muted = Callable[[Sequence[PacketItem | Named], RuntimeScope], frozenset[str]]


def withheld(rollouts: Rollouts, marks: Marks, clock: Clock) -> tuple[Closed, Muted]:
    """Whether nothing is handed over to that client there now, and which items are not: what a claim asks last. At a
    surface that the client's row does not have nothing is, and what waits goes on waiting for one that it has."""

    def closed(scope: RuntimeScope, client: Client, surface: Surface | None) -> Reason | None:
        level = rollouts.closed(scope, client)
        if level is not None:
            return level
        if marks.workspaces.quiet(scope.workspace, clock.now()):
            return Reason.USER_MUTED
        taken = surface is None or surface in rollouts.capabilities.of(client).surfaces
        return None if taken else Reason.NO_SURFACE

    def muted(items: Sequence[PacketItem | Named], scope: RuntimeScope) -> frozenset[str]:
        ids, kinds = marks.muted(clock.now()), marks.workspaces.kinds(scope.workspace, clock.now())
        return frozenset(item.memory_id for item in items if item.memory_id in ids or item.kind in kinds)

    return closed, muted


def current(library: Library, marks: Marks) -> Callable[[Sequence[str], RuntimeScope], Awaitable[dict[str, str]]]:
    """The digests of records as they stand in their files now; none of what waits for a person."""

    async def found(ids: Sequence[str], scope: RuntimeScope) -> dict[str, str]:
        standing = await library.verify(ids, scope)
        kept_back = marks.withheld(standing)
        return {memory_id: digest for memory_id, digest in standing.items() if memory_id not in kept_back}

    return found
