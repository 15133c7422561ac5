"""The nearest of what is remembered, by meaning and by words, for batch extraction (formation.md 6.6).

The question carries its isolation key: the index is asked for the scopes of team and user alone, and what was formed
under another key neither comes back nor uses up the limit, for as many more are asked for as were left out.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from governance.formation.contracts import IsolationKey, KnownRecord
from governance.formation.errors import StateFault
from governance.formation.store.memories import Memories
from recall.analyzer import distinct
from recall.contracts import SAID, Candidate, Database, Millis, RuntimeScope, ScopeRef, visible_scopes
from recall.errors import ArmUnavailable, EngineFault, IndexFault
from recall.frames import ROWS, EngineHits
from recall.library import Library

ASKED_TERMS = 64
MOST = 320  # records that are looked through for those of the key
WIDER = 4
LEAST = 0.1  # a cosine below it says nothing

Ask = Callable[[int], Awaitable[tuple[Sequence[Candidate], bool]]]


class Nearest(Protocol):
    """What is asked of the engine."""

    async def search(self, text: str, scopes: Sequence[ScopeRef], limit: int) -> EngineHits:
        """Rows of the index, nearest first. Raises ArmUnavailable or EngineFault."""
        ...


class LibraryLikeness:
    """A `Likeness` over the library and, where it is installed, search by meaning. `database`: governance.db."""

    def __init__(self, library: Library, engine: Nearest | None, database: Database, now: Callable[[], Millis]) -> None:
        self._library = library
        self._engine = engine
        self._memories = Memories(database)
        self._now = now

    async def by_meaning(self, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        """The nearest by vectors. Raises StateFault: `no-vectors` where there is no such search, `stale-vectors` or
        `loading` when its vectors are of another model or not there yet, `broken` when it does not answer."""
        engine = self._engine
        if engine is None:
            raise StateFault("no-vectors", "Search by meaning is not installed or not switched on.")
        scope = _scope(key)
        index = self._library.snapshot(self._now())

        async def ask(count: int) -> tuple[Sequence[Candidate], bool]:
            hits = await engine.search(text, visible_scopes(scope), min(count, ROWS))
            near = [row for row, cosine in zip(hits.rows, hits.cosines, strict=True) if cosine >= LEAST]
            found = await index.eligible(near, scope, hits.epoch) if near else ()
            return found, len(near) < min(count, ROWS)

        return await self._nearest(key, ask, limit)

    async def by_words(self, key: IsolationKey, text: str, limit: int) -> Sequence[KnownRecord]:
        """The nearest by full text. Raises StateFault `broken` when the index cannot be asked."""
        scope = _scope(key)
        index = self._library.snapshot(self._now())
        terms = distinct(text)[:ASKED_TERMS]

        async def ask(count: int) -> tuple[Sequence[Candidate], bool]:
            found = await index.match(terms, scope, count) if terms else ()
            return found, len(found) < count

        return await self._nearest(key, ask, limit)

    async def _nearest(self, key: IsolationKey, ask: Ask, limit: int) -> Sequence[KnownRecord]:
        """The first records that are no other key's, in their order."""
        if not key.whole:
            return ()
        count = limit
        try:
            while True:
                found, exhausted = await ask(count)
                foreign = await self._memories.foreign(key, [one.memory_id for one in found])
                own = [one for one in found if one.memory_id not in foreign][:limit]
                if len(own) == limit or exhausted or count >= MOST:
                    break
                count = min(MOST, count * WIDER)
        except ArmUnavailable as fault:
            raise StateFault(fault.shortfall, "There are no vectors to compare with.") from fault
        except (EngineFault, IndexFault) as fault:
            raise StateFault("broken", f"What is remembered cannot be asked: {fault}.") from fault
        formed = await self._memories.owned(key, [one.memory_id for one in own])
        return [_known(one, one.memory_id in formed) for one in own]


def _known(one: Candidate, formed: bool) -> KnownRecord:
    """A record as it is compared. Only what was formed, and nobody made it his own since, is a machine's to rewrite."""
    guarded = not formed or one.origin in SAID or one.pinned
    return KnownRecord(memory_id=one.memory_id, text=one.payload, guarded=guarded, title=one.title or "")


def _scope(key: IsolationKey) -> RuntimeScope:
    return RuntimeScope(session_id="", agent_id="", workspace=key.team, user=key.user)
