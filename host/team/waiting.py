"""The packets that wait to be handed over, as the team workflow takes them back: with what was superseded or is trusted
no more."""

from collections.abc import Callable
from dataclasses import dataclass

from host.claims import Claims
from host.contracts import Reason
from host.inbox import Inbox
from host.runtime import SessionRuntime


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """`runtimes`: the live session of an id and agent, if there is one."""

    inbox: Inbox
    claims: Claims
    runtimes: Callable[[str, str], SessionRuntime | None]

    async def carried(self) -> frozenset[str]:
        """The ids of the memories that they carry."""
        return frozenset(one.memory_id for slot in await self.inbox.unsettled() for one in slot.packet.named)

    async def purge(self, memory_id: str) -> int:
        """Drop those that carry this memory, wherever they are; how many that were."""
        return await self.claims.purge(memory_id, self.runtimes, Reason.SUPERSEDED)
