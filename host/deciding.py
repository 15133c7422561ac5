"""What a decision makes of an item that has no record yet: a note, or a memory that waited (formation.md 7).

Kept, it becomes a reviewed record: one transaction in `governance.db`, then the projector writes the files. What a
crash leaves in between is written at the next start. Words that a person gives go through the screen as all do.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from governance.formation.claims import same
from governance.formation.contracts import FormedMemory, MemoryType
from governance.formation.keeping import AFTER_COMMIT, Keeping, Undecided, Wish
from governance.formation.queue import Words as ItemWords
from governance.formation.store import memories
from governance.procedures import written_risk
from governance.review import Act, Decision, ItemFlag, ItemKind, QueueItem, Refusal
from host.clock import MachineZone
from host.contracts import Reason
from host.decisions import Done
from host.packets import Packets
from host.parts import Parts
from host.runtime import USER_KEY
from host.verbs import Clean, Words, bounded, cleaned, invalid, noted, put, visible
from recall.canonical import short_id
from recall.contracts import (
    MemoryKind,
    MemoryRecord,
    Origin,
    RuntimeScope,
    Status,
)
from recall.library import Root

MEMORY = "mem_"
_KINDS = {
    MemoryType.EPISODIC: MemoryKind.EPISODIC,
    MemoryType.WORK_TASK: MemoryKind.EPISODIC,
    MemoryType.WORK_METHOD: MemoryKind.PROCEDURAL,
}
WITHOUT_RECORD = frozenset({ItemKind.NOTE, ItemKind.MEMORY})


class Deciding:
    """Keep, keep in other words, or put away what has no record yet."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._fault = parts.projector.fault
        self._keeping = Keeping(queue=parts.queue, zone=MachineZone(), fault=self._fault)
        self._packets = Packets(parts)

    def takes(self, item: QueueItem) -> bool:
        """Whether it is such an item."""
        return item.record_id is None and item.kind in WITHOUT_RECORD

    async def decided(
        self,
        item: QueueItem,
        decision: Decision,
        words: ItemWords | None,
        replaces: Sequence[str],
        scope: RuntimeScope,
    ) -> tuple[QueueItem | Refusal, Done]:
        """Write the decision down with all that it makes. `replaces`: memories that it takes the place of, beside the
        one that it was proposed to update. A refusal: nothing was done. Raises ProtocolFault for words that no memory
        can have, and for one that cannot be replaced."""
        clean = None if words is None else await asyncio.to_thread(_clean, item, words)
        gone = [] if decision.kind is Act.ARCHIVE else await self._replaceable(item, replaces, scope)
        wish = Wish(
            item=item,
            decision=decision,
            user=USER_KEY,
            replaces=tuple(gone),
            words=None if clean is None else ItemWords(text=clean.text, title=clean.title or ""),
            packet=None if decision.kind is Act.ARCHIVE else await self._packets.of_note(item.item_id),
        )
        try:
            if decision.kind is Act.ARCHIVE:
                after = await self._parts.kept.write(lambda connection: self._keeping.unmade(connection, wish))
                self._parts.formation.nudge()
                return after, Done()
            record = await self._record(wish)
            after = await self._parts.kept.write(lambda connection: self._keeping.made(connection, wish, record))
        except Undecided as refused:
            return refused.refusal, Done()
        self._fault(AFTER_COMMIT)
        await self._in_force(item, record, gone, scope)
        redacted = () if clean is None else clean.redacted
        return after, Done(memory_id=record.memory_id, redacted=redacted, trust=record.origin)

    async def settled(self, item: QueueItem, decision: Decision, scope: RuntimeScope) -> QueueItem | Refusal:
        """Write down a decision about a record that was carried out already."""
        wish = Wish(item=item, decision=decision, user=USER_KEY)
        found = None if item.record_id is None else await self._parts.library.get(item.record_id, scope)
        record = None if found is None else found[0]
        try:
            after = await self._parts.kept.write(lambda connection: self._keeping.settled(connection, wish, record))
        except Undecided as refused:
            return refused.refusal
        self._parts.formation.nudge()
        return after

    async def _record(self, wish: Wish) -> MemoryRecord:
        item, now = wish.item, wish.decision.at
        memory_id = item.item_id if item.item_id.startswith(MEMORY) else short_id(MEMORY, ["kept", item.item_id])
        held = await self._parts.kept.read(lambda connection: memories.of(connection, memory_id))
        text = item.text if wish.words is None else wish.words.text
        title = item.title if wish.words is None else wish.words.title
        kind = MemoryKind.SEMANTIC if held is None else _KINDS.get(held.type, MemoryKind.SEMANTIC)
        return MemoryRecord(
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=kind,
            scope=self._root(item).scope,
            text=text,
            title=None if not title or same(title, text) else title,
            created_at=now if held is None else held.created_at,
            origin=Origin.REVIEWED,
            importance=None if held is None else held.importance,
            priority=_priority(held),
            risk_level=written_risk(kind, text),
        )

    async def _replaceable(self, item: QueueItem, replaces: Sequence[str], scope: RuntimeScope) -> list[str]:
        """What the kept one takes the place of; what is gone already is left out, and what the person named must be
        there."""
        for memory_id in replaces:
            await visible(self._parts, memory_id, scope)
        wanted = dict.fromkeys((*((item.updates,) if item.updates else ()), *replaces))
        found = {memory_id: await self._parts.library.get(memory_id, scope) for memory_id in wanted}
        return [memory_id for memory_id, one in found.items() if one is not None and memory_id != item.item_id]

    async def _in_force(self, item: QueueItem, record: MemoryRecord, gone: Sequence[str], scope: RuntimeScope) -> None:
        """Have the files written, let through what the person lets through, and no packet carry what was replaced."""
        await self._parts.formation.projected()
        written = await self._parts.library.get(record.memory_id, scope)
        if written is not None and ItemFlag.QUARANTINED in item.flags:
            now = self._parts.clock.now()
            await self._parts.marks.approve(record.memory_id, written[1].record_digest, now)
            await self._parts.library.reconsider([record.memory_id])
        for memory_id in gone:
            found = await self._parts.library.get(memory_id, scope)
            if found is not None and found[0].status is Status.ACTIVE:
                old = msgspec.structs.replace(found[0], status=Status.SUPERSEDED, superseded_by=record.memory_id)
                await put(self._parts, old, found[1], scope)
            await self._parts.claims.purge(memory_id, self._parts.sessions.known, Reason.SUPERSEDED)
        await noted(self._parts, "superseded", gone)
        await noted(self._parts, "kept", [record.memory_id])

    def _root(self, item: QueueItem) -> Root:
        return self._parts.roots.private(item.workspace_key) if item.workspace_key else self._parts.roots.user()


def _clean(item: QueueItem, words: ItemWords) -> Clean:
    title = item.title if words.title is None else words.title
    said = Words(text=words.text, title=title)
    bounded(said)
    clean = cleaned(said)
    if clean.poisoned:
        problem = "The new words read like an order to the agent, or hide text."
        raise invalid(problem, "Write down the fact instead, or keep the item as it is.")
    return clean


def _priority(held: FormedMemory | None) -> int | None:
    return None if held is None else held.priority
