"""What stands beside a proposal when a person looks at it: the memory that it would replace, those that say the same or
otherwise already, and what was put away and reads much alike.
"""

import asyncio
from collections.abc import Iterable

from governance.formation.claims import near
from governance.review import ItemKind, QueueItem, State
from host.neighbours import Neighbours
from host.parts import Parts
from host.verbs import Clean
from recall.compare import Same, Update
from recall.contracts import Candidate, Frozen, MemoryRecord, Millis, Origin, RuntimeScope, Status

MOST = 5  # of each sort
MEMORY = "mem_"
DOCUMENTS = frozenset({ItemKind.SCENE, ItemKind.DOCTRINE, ItemKind.SKILL})


class Beside(Frozen, frozen=True, kw_only=True):
    """A memory. `trust`: its origin."""

    memory_id: str
    text: str
    trust: Origin
    created_at: Millis
    title: str | None = None


class PutAway(Frozen, frozen=True, kw_only=True):
    """An item that a person said no to, and that reads much alike."""

    item_id: str
    text: str
    reason: str
    at: Millis


class Others(Frozen, frozen=True, kw_only=True):
    """`replaces`: what keeping it puts away; `repeats`: what says the same already; `otherwise`: what says otherwise
    about the same matter, and stays unless the person says so; `put_away`: what was said no to."""

    replaces: tuple[Beside, ...] = ()
    repeats: tuple[Beside, ...] = ()
    otherwise: tuple[Beside, ...] = ()
    put_away: tuple[PutAway, ...] = ()


class Surroundings:
    """Asks the index and the queue; an index that cannot be asked has nothing to say."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._neighbours = Neighbours(parts)

    async def of(self, item: QueueItem, scope: RuntimeScope) -> Others:
        """What stands beside an item with words of its own. An item about a memory that stands has no others."""
        if item.kind in DOCUMENTS:
            return Others(replaces=await self._documents(item))
        if item.record_id is not None or not item.text.strip():
            return Others()
        replaces = [] if item.updates is None else await self._memories([item.updates], scope)
        words = Clean(text=item.text, title=item.title or None, tags=(), redacted=(), poisoned=False)
        root = self._parts.roots.private(item.workspace_key) if item.workspace_key else self._parts.roots.user()
        found = [one for one in await self._neighbours.of(words, root.scope) if one.memory_id != item.updates]
        repeats, otherwise = await asyncio.to_thread(self._compared, words, found)
        named = {one.memory_id for one in (*repeats, *otherwise)}
        related = [one for one in item.related_to if one.startswith(MEMORY) and one not in named]
        return Others(
            replaces=tuple(replaces),
            repeats=tuple(_beside(one) for one in repeats[:MOST]),
            otherwise=(*(_beside(one) for one in otherwise[:MOST]), *await self._memories(related[:MOST], scope)),
            put_away=await self._put_away(item),
        )

    async def _documents(self, item: QueueItem) -> tuple[Beside, ...]:
        """The documents in whose place this one would come."""
        outlook = await self._parts.documents.outlook(item)
        return tuple(
            Beside(
                memory_id=one.id,
                text=one.content,
                title=one.name,
                trust=Origin.REVIEWED,
                created_at=one.meta.created,
            )
            for one in outlook.replaces
        )

    def _compared(self, words: Clean, found: Iterable[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
        """Those that say the same, however they say it, and those that say otherwise."""
        repeats, others = [], []
        for one in found:
            told = self._neighbours.compared(words, [one])
            if isinstance(told, Same) or near(words.text, one.payload):
                repeats.append(one)
            elif isinstance(told, Update):
                others.append(one)
        return repeats, others

    async def _memories(self, memory_ids: Iterable[str], scope: RuntimeScope) -> list[Beside]:
        found = [await self._parts.library.get(memory_id, scope) for memory_id in memory_ids]
        return [_of_record(one[0]) for one in found if one is not None and one[0].status is Status.ACTIVE]

    async def _put_away(self, item: QueueItem) -> tuple[PutAway, ...]:
        found = [await self._parts.queue.get(one) for one in item.related_to if not one.startswith(MEMORY)]
        return tuple(
            PutAway(
                item_id=one.item_id,
                text=one.text,
                reason=one.decisions[-1].reason if one.decisions else "",
                at=one.changed_at,
            )
            for one in found[:MOST]
            if one is not None and one.state in (State.ARCHIVED, State.DISCARDED) and one.text
        )


def _beside(one: Candidate) -> Beside:
    return Beside(
        memory_id=one.memory_id, text=one.payload, trust=one.origin, created_at=one.created_at, title=one.title
    )


def _of_record(one: MemoryRecord) -> Beside:
    return Beside(memory_id=one.memory_id, text=one.text, trust=one.origin, created_at=one.created_at, title=one.title)
