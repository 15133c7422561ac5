"""What is remembered already and may say the same: the record of the very words first, then the nearest by text."""

import asyncio
import sqlite3
from collections.abc import Sequence

from governance.formation.claims import claim_of
from governance.formation.contracts import ANY_AGENT, IsolationKey, KnownRecord
from governance.formation.errors import StateFault
from governance.formation.store import memories
from host.clock import Clock
from host.runtime import USER_KEY
from recall.analyzer import distinct
from recall.compare import Update, compare
from recall.contracts import Candidate, Database, Origin, RuntimeScope, Status
from recall.errors import IndexFault
from recall.library import Library

ASKED_TERMS = 512


class LibraryKnown:
    """The `Known` over the library. `database`: governance.db, for records by the digest of their words."""

    def __init__(self, library: Library, database: Database, clock: Clock) -> None:
        self._library = library
        self._database = database
        self._clock = clock

    async def like(self, workspace_key: str, text: str, limit: int) -> Sequence[KnownRecord]:
        """At most `limit` live records of that workspace and of the user. Raises StateFault (`state-failed`)."""
        scope = RuntimeScope(session_id="", agent_id="", workspace=workspace_key, user=USER_KEY)
        index = self._library.snapshot(self._clock.now())
        try:
            exact = await self._exact(workspace_key, text)
            first = await index.by_id(exact, scope) if exact else ()
            near = await index.match(distinct(text)[:ASKED_TERMS], scope, limit)
        except (IndexFault, sqlite3.Error) as error:
            raise StateFault("state-failed", f"What is remembered cannot be asked: {error}") from error
        every = {one.memory_id: one for one in (*first, *near) if one.status is Status.ACTIVE}
        return await asyncio.to_thread(_known, text, list(every.values())[:limit])

    async def _exact(self, workspace_key: str, text: str) -> tuple[str, ...]:
        key = IsolationKey(team=workspace_key, user=USER_KEY, agent=ANY_AGENT)
        found = await self._database.read(lambda connection: memories.exact(connection, key, [claim_of(text)]))
        return tuple(found.values())


def _known(text: str, found: Sequence[Candidate]) -> tuple[KnownRecord, ...]:
    said = compare(text, [(one.memory_id, one.payload) for one in found])
    otherwise = frozenset(said.ids) if isinstance(said, Update) else frozenset[str]()
    return tuple(
        KnownRecord(
            memory_id=one.memory_id,
            text=one.payload,
            guarded=one.origin is not Origin.EXTRACTED or one.pinned,
            title=one.title or "",
            claim=claim_of(one.payload),
            otherwise=one.memory_id in otherwise,
        )
        for one in found
    )
