"""What a correction does, whoever it came from: the memory is out of recall at once, and waits for a person.

The order is what makes it hold: the mark first, so that no pass and no claim from now on shows the memory; then the
packets that wait with it, in every session; then the entry in the audit, and the item in the review queue. A crash in
between leaves a memory that is not shown, which the review lists too.
"""

import sqlite3
from collections.abc import Sequence

from governance.errors import AuditUnavailable
from governance.review import ItemFlag
from host.contracts import Reason
from host.errors import StoreFault
from host.lifecycle import Lifecycle, propose_memory
from host.parts import Parts
from host.rechecking import recheck
from host.verbs import noted
from recall.errors import IndexFault

CORRECTED, CLEARED = "corrected", "cleared"


class Corrections:
    """Marks, inboxes, audit, queue and stages, in their order."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def correct(self, memory_ids: Sequence[str], cause: str) -> int:
        """Somebody said that these are wrong: how many packets that waited with one of them were dropped.

        `cause`: the id of the audit entry or edge that says so. The same memories again change nothing but the packets.
        """
        now, marks = self._parts.clock.now(), self._parts.marks
        fresh = [memory_id for memory_id in memory_ids if await marks.correct(memory_id, now)]
        purged = 0
        for memory_id in memory_ids:
            purged += await self._parts.claims.purge(memory_id, self._parts.sessions.known, Reason.CORRECTED)
        if fresh:
            await noted(self._parts, CORRECTED, fresh)
            await self._waiting(fresh, cause)
        return purged

    async def taken_back(self, memory_ids: Sequence[str], cause: str) -> int:
        """`correct`, by what was heard in a session: nobody waits for an answer, and a store that fails does not end
        it. The edge in the audit stays."""
        try:
            return await self.correct(memory_ids, cause)
        except (StoreFault, sqlite3.Error) as error:
            self._parts.host.log.error("correction.lost", error=type(error).__name__)
            return 0

    async def clear(self, memory_id: str) -> bool:
        """A person keeps it: it may be shown again. False: it was neither corrected nor held back by a mark."""
        cleared = await self._parts.marks.clear(memory_id)
        if cleared:
            await noted(self._parts, CLEARED, [memory_id])
            self._parts.lives.look_again([memory_id])  # a procedure was taken back by the correction
        return cleared

    async def _waiting(self, memory_ids: Sequence[str], cause: str) -> None:
        """Put them before a person, and their stages back. The mark holds without it, and the review lists what is
        marked, so a store that fails here undoes nothing."""
        try:
            await propose_memory(self._parts, memory_ids, ItemFlag.CORRECTED, cause)
            await recheck(self._parts, memory_ids)
            await Lifecycle(self._parts).corrected(memory_ids)
        except (AuditUnavailable, IndexFault, StoreFault, sqlite3.Error) as error:
            self._parts.host.log.warning("correction.waits", error=type(error).__name__)
