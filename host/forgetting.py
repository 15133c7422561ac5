"""`memory.forget`: a memory is gone from everywhere that we keep: its file, the index and its vectors, packets, marks,
evidence, the queue, and the logs of the databases, in which what was deleted would stand for a while.

What stays is that it was forgotten: entries of the audit hold its id and no word of it. Exports of the audit hold no
texts either, and no backup is kept.
"""

import asyncio

from host.connection import Peer
from host.contracts import Reason
from host.parts import Parts
from host.protocol import Request, decode_params
from host.verbs import Table, not_written, noted, reach, unknown
from recall.contracts import Database, Frozen, Scope
from recall.files import Refused

CUTS = 20  # times that a database's log is asked to let go of what was deleted; a reader may hold it for a moment
CUT_SECONDS = 0.02


class ForgetParams(Frozen, frozen=True, kw_only=True):
    memory_id: str
    workspace: str = ""


class Forgotten(Frozen, frozen=True, kw_only=True):
    forgotten: bool
    packets_purged: int


class Forget:
    """The verb."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"memory.forget": self._forget}

    async def _forget(self, request: Request, peer: Peer) -> Forgotten:
        params, parts = decode_params(request, ForgetParams), self._parts
        memory_id, now = params.memory_id, parts.clock.now()
        scope = await reach(parts, params.workspace)
        found = await parts.library.get(memory_id, scope)
        done = await parts.library.forget(memory_id, scope)
        if isinstance(done, Refused):
            raise not_written(done)
        if not done or found is None:
            raise unknown(memory_id)
        record, locator = found
        purged = await parts.claims.purge(memory_id, parts.sessions.known, Reason.FORGOTTEN)
        await parts.inbox.erase(memory_id)
        await parts.marks.forget(memory_id)
        where = record.scope.key if record.scope.kind is Scope.WORKSPACE else ""
        await parts.queue.forget(memory_id, where, record.text, now)
        await parts.lives.forget(memory_id)
        if parts.engine is not None:  # a vector tells something of its text
            parts.engine.forget([locator.record_digest])
        await noted(parts, "forgotten", [memory_id])  # and with the entry goes its evidence
        for database in (parts.main, parts.kept):
            await _cut(database)
        return Forgotten(forgotten=True, packets_purged=purged)


async def _cut(database: Database) -> None:
    """Let nothing of what was deleted stand in the log of a database."""
    for _ in range(CUTS):
        if await database.cut_log():
            return
        await asyncio.sleep(CUT_SECONDS)
