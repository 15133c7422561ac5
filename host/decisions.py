"""What a decision about an item of the review queue does to the memory that the item is about.

Each act can be done again: a crash between the act and its row in the queue costs nothing but saying it again. Words
that a person gives go through the same screen as everything that is written.
"""

import asyncio

import msgspec

from governance.contracts import Stage
from governance.formation.queue import Words as ItemWords
from governance.procedures import risk_of, written_risk
from governance.promotion import FACT, PROCEDURE
from governance.review import EDITED, Act, ItemFlag, ItemKind, QueueItem, State, about
from host.contracts import Reason
from host.corrections import Corrections
from host.errors import ProtocolFault
from host.lifecycle import Lifecycle
from host.memory_edit import CLEARED
from host.neighbours import only
from host.parts import Parts
from host.protocol import refusal
from host.verbs import Words, bounded, cleaned, invalid, not_written, noted, put, unknown
from recall.canonical import short_id
from recall.contracts import (
    EPISODE,
    Frozen,
    MemoryKind,
    MemoryLocator,
    MemoryRecord,
    Origin,
    RuntimeScope,
    Scope,
    Status,
)
from recall.files import RefusalKind, Refused
from recall.library import Root


class Done(Frozen, frozen=True, kw_only=True):
    """`memory_id`: the memory that the decision made or changed. `stage`: where a procedure stands now. `redacted`:
    families of secrets that were cut out of a person's words. `trust`: how the memory is held now."""

    memory_id: str | None = None
    stage: Stage | None = None
    redacted: tuple[str, ...] = ()
    trust: Origin | None = None


class Decisions:
    """The acts, by what was decided and what the item proposes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lifecycle = Lifecycle(parts)

    async def carried_out(self, item: QueueItem, act: Act, words: ItemWords | None, scope: RuntimeScope) -> Done:
        """Do what the decision means for the memory that the item is about. `words`: what stands in the place of its
        own. Raises ProtocolFault, and then nothing was done."""
        if item.record_id is None:
            return Done()
        found = await self._parts.library.get(item.record_id, scope)
        if found is None:
            if act is Act.ARCHIVE:
                return Done()
            raise unknown(item.record_id)
        record, locator = found
        if act is Act.ARCHIVE:
            return await self._archived(item, record, locator, scope)
        if not (about(item, record.title, record.text) or _says_so(item, record)):
            problem = f"{record.memory_id} was changed since this was proposed."
            raise refusal("conflict", problem, "Look at it again: it says something else now.")
        text = None if words is None else words.text
        title = record.title if words is None or words.title is None else words.title or None
        if item.target == EDITED and text is None:
            text, title = item.text, item.title or None
        said = Words(text=text or record.text, title=title, tags=record.tags)
        clean = await asyncio.to_thread(cleaned, said)
        if text is not None:
            bounded(Words(text=text))
        wanted = msgspec.structs.replace(
            record,
            text=clean.text if text is not None else record.text,
            title=clean.title if text is not None else record.title,
            risk_level=record.risk_level if text is None else written_risk(record.kind, clean.text, record.risk_level),
            flags=tuple(flag for flag in record.flags if flag not in CLEARED),
        )
        if text is not None and clean.poisoned:
            problem = "The new words read like an order to the agent, or hide text."
            raise invalid(problem, "Write down the fact instead, or keep the memory as it is.")
        done = await self._kept(item, (wanted, record), locator, scope)
        return msgspec.structs.replace(done, redacted=clean.redacted if text is not None else ())

    async def _archived(
        self, item: QueueItem, record: MemoryRecord, locator: MemoryLocator, scope: RuntimeScope
    ) -> Done:
        """Put the memory away. A promotion, or other words, that are not wanted leave their memory as it is."""
        proposes = item.kind is ItemKind.PROMOTION or item.target == EDITED
        if not proposes and record.status is not Status.ARCHIVED:
            if await self._written(msgspec.structs.replace(record, status=Status.ARCHIVED), locator, scope) is None:
                await self._parts.marks.mute(record.memory_id, self._parts.clock.now())  # a file that is not ours
            await self._parts.claims.purge(record.memory_id, self._parts.sessions.known, Reason.MUTED)
            await self._parts.queue.bury(item.workspace_key, record.text, self._parts.clock.now())
        await noted(self._parts, "archived", [record.memory_id])
        return Done(memory_id=record.memory_id)

    async def _kept(
        self, item: QueueItem, records: tuple[MemoryRecord, MemoryRecord], locator: MemoryLocator, scope: RuntimeScope
    ) -> Done:
        wanted, before = records
        if item.kind is ItemKind.PROMOTION and item.target == FACT:
            return await self._fact(item, wanted, locator, scope)
        if item.kind is ItemKind.PROMOTION:
            kind = MemoryKind.PROCEDURAL if item.target == PROCEDURE else wanted.kind
            risk = risk_of(wanted.text, wanted.risk_level)
            wanted = msgspec.structs.replace(wanted, kind=kind, origin=Origin.REVIEWED, risk_level=risk)
        elif wanted.origin is Origin.EXTRACTED:
            wanted = msgspec.structs.replace(wanted, origin=Origin.REVIEWED)
        if wanted.status is Status.ARCHIVED:
            wanted = msgspec.structs.replace(wanted, status=Status.ACTIVE)
        if wanted != before:
            written = await self._written(wanted, locator, scope)
            if written is None and wanted.text != before.text:
                raise not_written(_read_only(locator))
            locator = written or locator
        await Corrections(self._parts).clear(wanted.memory_id)
        if item.state is State.ARCHIVED:
            await self._parts.queue.unbury(item.workspace_key, before.text)
            await self._parts.marks.unmute(
                wanted.memory_id, self._parts.clock.now()
            )  # as a file of others was put away
        if ItemFlag.QUARANTINED in item.flags:
            await self._parts.marks.approve(wanted.memory_id, locator.record_digest, self._parts.clock.now())
            await self._parts.library.reconsider([wanted.memory_id])
        stage = await self._lifecycle.kept(wanted, locator.record_digest)
        await noted(self._parts, "kept", [wanted.memory_id])
        procedural = wanted.kind is MemoryKind.PROCEDURAL
        return Done(memory_id=wanted.memory_id, stage=stage if procedural else None, trust=wanted.origin)

    async def _fact(self, item: QueueItem, wanted: MemoryRecord, locator: MemoryLocator, scope: RuntimeScope) -> Done:
        """What an episode taught becomes a memory of its own; the episode stands behind it."""
        root = self._own(wanted)
        memory_id = short_id("mem_", ["promoted", item.item_id])
        fact = msgspec.structs.replace(
            wanted,
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=MemoryKind.SEMANTIC,
            tags=tuple(tag for tag in wanted.tags if tag != EPISODE),
            origin=Origin.REVIEWED,
            created_at=self._parts.clock.now(),
        )
        done = await self._parts.library.remember(fact, root)
        if isinstance(done, Refused) and done.kind is not RefusalKind.DUPLICATE:
            raise not_written(done)
        old = await self._parts.library.get(wanted.memory_id, only(wanted.scope))
        if old is not None and old[0].status is Status.ACTIVE:
            replaced = msgspec.structs.replace(old[0], status=Status.SUPERSEDED, superseded_by=memory_id)
            await self._written(replaced, old[1], scope)
            await self._parts.claims.purge(wanted.memory_id, self._parts.sessions.known, Reason.SUPERSEDED)
        await noted(self._parts, "promoted", [wanted.memory_id, memory_id])
        return Done(memory_id=memory_id, trust=Origin.REVIEWED)

    def _own(self, record: MemoryRecord) -> Root:
        if record.scope.kind is Scope.USER:
            return self._parts.roots.user()
        return self._parts.roots.private(record.scope.key)

    async def _written(self, record: MemoryRecord, locator: MemoryLocator, scope: RuntimeScope) -> MemoryLocator | None:
        """The record in its place; None when its file is not ours to write."""
        try:
            return await put(self._parts, record, locator, scope)
        except ProtocolFault as fault:
            if fault.kind == RefusalKind.READ_ONLY:
                return None
            raise


def _says_so(item: QueueItem, record: MemoryRecord) -> bool:
    """Whether the memory says already what the item proposes: it was done, and not written down."""
    return item.target == EDITED and (item.text, item.title) == (record.text, record.title or "")


def _read_only(locator: MemoryLocator) -> Refused:
    return Refused(kind=RefusalKind.READ_ONLY, problem=f"{locator.source_file} is not ours to write.")
