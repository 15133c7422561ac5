"""`memory.forget`: a memory is gone from everywhere that we keep: its file, the index and its vectors, packets, marks,
evidence, the queue, notes and quotes, the journal of what was formed, and the logs of the databases, in which what was
deleted would stand for a while.

What stays is that it was forgotten: entries of the audit hold its id and no word of it. Exports of the audit hold no
texts either, and no backup is kept.
"""

import asyncio
import sqlite3
from collections.abc import Sequence

from governance.formation.errors import StateFault
from governance.formation.store import memories
from governance.review import QueueItem
from governance.team.errors import TeamFault
from governance.team.store import erasing
from host.connection import Peer
from host.contracts import Reason
from host.neighbours import Neighbours
from host.parts import Parts
from host.protocol import Request, decode_params, refusal
from host.verbs import Table, not_written, noted, reach, unknown
from recall.contracts import Database, Frozen, MemoryLocator, MemoryRecord, Millis, RuntimeScope, Scope
from recall.files import Refused

CUTS = 20  # times that a database's log is asked to let go of what was deleted; a reader may hold it for a moment
CUT_SECONDS = 0.02


class ForgetParams(Frozen, frozen=True, kw_only=True):
    """`memory_id`: of a memory, or of an item of the review queue that has none."""

    memory_id: str
    workspace: str = ""


class Forgotten(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """`documents`: scenes, doctrine and skills that were made of it among others, and stand: a person is to look at
    them."""

    forgotten: bool
    packets_purged: int
    documents: tuple[str, ...] = ()


class _Gone(Frozen, frozen=True, kw_only=True):
    """What is to be forgotten: the record as it stands, if it does, and the items about it."""

    memory_id: str
    items: frozenset[str]
    found: tuple[MemoryRecord, MemoryLocator] | None
    at: Millis


class Forget:
    """The verb. What was begun and stopped is finished by asking again, and by the projector at the next start."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._neighbours = Neighbours(parts)

    def table(self) -> Table:
        return {"memory.forget": self._forget}

    async def _forget(self, request: Request, peer: Peer) -> Forgotten:
        params, parts = decode_params(request, ForgetParams), self._parts
        memory_id, now = params.memory_id, parts.clock.now()
        scope = await reach(parts, params.workspace)
        parts.formation.ready()  # with its words in a database that cannot be reached it would be half forgotten
        found = await parts.library.get(memory_id, scope)
        made_of = await self._items(memory_id, scope)
        if found is None and not made_of and not await self._known(memory_id, scope):
            raise unknown(memory_id)
        gone = _Gone(memory_id=memory_id, items=frozenset(one.item_id for one in made_of), found=found, at=now)
        if found is None or self._ours(
            found[1], scope
        ):  # the words first: what is stopped is finished at the next start
            whole = await self._words(gone, scope, made_of)
            await self._record(gone, scope)
        else:  # a file of others: what is not ours to write keeps its words
            await self._record(gone, scope)
            whole = await self._words(gone, scope, made_of)
        purged = await parts.claims.purge(memory_id, parts.sessions.known, Reason.FORGOTTEN)
        await parts.inbox.erase(memory_id)
        await parts.marks.forget(memory_id)
        resting = await parts.documents.forgotten({memory_id, *gone.items}, now)
        for one in {memory_id, *gone.items}:
            await parts.formation.forgotten(one)
        await parts.lives.forget(memory_id)
        if found is not None and parts.engine is not None:  # a vector tells something of its text
            parts.engine.forget([found[1].record_digest])
        await noted(parts, "forgotten", [memory_id])  # and with the entry goes its evidence
        for database in (parts.main, parts.kept):
            await _cut(database)
        if not whole:
            problem = "It is forgotten, but a row of the team workflow cannot be read: a draft of it may keep words."
            raise refusal("state-corrupt", problem, "Restore governance.db from a backup, and forget it there again.")
        return Forgotten(forgotten=True, packets_purged=purged, documents=resting)

    async def _record(self, gone: "_Gone", scope: RuntimeScope) -> None:
        """The record out of its file and the index. Raises ProtocolFault when it cannot be written."""
        if gone.found is None:
            return
        done = await self._parts.library.forget(gone.memory_id, scope)
        if isinstance(done, Refused):
            raise not_written(done)

    async def _words(self, gone: "_Gone", scope: RuntimeScope, made_of: Sequence[QueueItem]) -> bool:
        """Its words out of the queue and everything that was formed; and that it was forgotten. One transaction. Then
        out of what was drafted of it for a repository: False when a damaged row there cannot be read, which keeps
        nothing else from being forgotten. What was promoted stands in git, and is the team's."""
        where, text = made_of[0].workspace_key if made_of else scope.workspace, ""
        if gone.found is not None:
            record = gone.found[0]
            where, text = record.scope.key if record.scope.kind is Scope.WORKSPACE else "", record.text
        await self._parts.queue.forget(gone.memory_id, where, text, gone.at)
        try:
            await self._parts.kept.write(lambda connection: erasing.erase(connection, gone.memory_id, gone.at))
        except StateFault:  # the database cannot be used now: asked again, it is finished
            raise
        except (TeamFault, sqlite3.Error):
            return False
        return True

    def _ours(self, locator: MemoryLocator, scope: RuntimeScope) -> bool:
        """Whether the record stands in a folder that is ours to write."""
        own = self._parts.roots.private(scope.workspace) if scope.workspace else self._parts.roots.user()
        return any(self._neighbours.ours(locator, root) for root in (own, self._parts.roots.user()))

    async def _items(self, memory_id: str, scope: RuntimeScope) -> tuple[QueueItem, ...]:
        """The items about it, or of which it was made, that can be seen from there."""
        found = await self._parts.kept.read(lambda connection: self._parts.queue.about(connection, memory_id))
        seen = [one for one in found if one.workspace_key in (scope.workspace, "")]
        return tuple(one for one in seen if one.record_id in (None, memory_id))

    async def _known(self, memory_id: str, scope: RuntimeScope) -> bool:
        """Whether it was formed there: what was begun once more is finished."""
        life = await self._parts.kept.read(lambda connection: memories.of(connection, memory_id))
        return life is not None and life.team in (scope.workspace, "")


async def _cut(database: Database) -> None:
    """Let nothing of what was deleted stand in the log of a database."""
    for _ in range(CUTS):
        if await database.cut_log():
            return
        await asyncio.sleep(CUT_SECONDS)
