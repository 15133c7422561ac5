"""What a run of notes leaves behind, in one transaction: new notes with their items in the queue, the window without
its texts, what was rejected, and how far the conversation is (formation.md 2.3).

A note is saved once: run again over the same window, nothing of a note that stands changes. What a person said no to is
counted and not saved.
"""

import asyncio
import sqlite3
from dataclasses import dataclass
from enum import StrEnum

from governance.formation.bearing import rests
from governance.formation.contracts import EvidenceNote, ExtractL1Result, Fault, Packet, RunStatus, no_fault
from governance.formation.markers import RULE
from governance.formation.queue import Outcome, Queue, screened
from governance.formation.store import notes as stored
from governance.formation.store.recent import proposed_by
from governance.review import QUOTE, Citation, ItemFlag, ItemKind, QueueItem
from recall.contracts import Database, Frozen, Millis

PIPELINE = "notes"
TAKEN_OVER = "noted in other words"


class Standing(StrEnum):
    """What became of a note: `inserted`; `same`: it stood there already; `buried`: it, or these words, were said no to
    or forgotten."""

    INSERTED = "inserted"
    SAME = "same"
    BURIED = "buried"


class SavedNote(Frozen, frozen=True, kw_only=True):
    """`note`: as it stands in the store; of a buried one, as it came."""

    note: EvidenceNote
    standing: Standing


class Saved(Frozen, frozen=True, kw_only=True):
    """What was saved of a run. `window_id`: None where nothing was shown to anybody."""

    notes: tuple[SavedNote, ...] = ()
    window_id: str | None = None

    def ids(self, standing: Standing = Standing.INSERTED) -> tuple[str, ...]:
        """The ids of the notes that became this."""
        return tuple(one.note.id for one in self.notes if one.standing is standing)


class Prepared(Frozen, frozen=True, kw_only=True):
    """A run, screened and ready to be saved. `window`: None for a run that showed nothing."""

    items: tuple[QueueItem, ...]
    notes: tuple[EvidenceNote, ...]
    window: stored.WindowRow | None
    stream: tuple[str, str, stored.StreamRow, int | None] | None


class Occasion(Frozen, frozen=True, kw_only=True):
    """When and for whom a run is saved. `conversation_key`: the root of the session's lineage. `moves`: whether the
    place in the conversation is written down too; it is not for what was found in passing. `began`: that place before
    the run, in its snapshot (`place_in`); None: the index that is stored."""

    at: Millis
    scope_key: str
    stream_id: str
    conversation_key: str | None = None
    moves: bool = True
    began: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Saving:
    """Where runs are saved. `fault`: named points of the commit, for tests."""

    database: Database
    queue: Queue
    fault: Fault = no_fault

    async def save(self, result: ExtractL1Result, occasion: Occasion) -> Saved:
        """All of a run, or nothing. A run that failed or was called off leaves nothing. Raises StateFault, and what the
        database raises."""
        prepared = await asyncio.to_thread(prepare, result, occasion)
        saved = await self.database.write(lambda connection: self._all(connection, prepared))
        self.fault("notes-after-commit")
        return saved

    def _all(self, connection: sqlite3.Connection, prepared: Prepared) -> Saved:
        saved = self.save_in(connection, prepared)
        self.fault("notes-before-commit")
        return saved

    def save_in(self, connection: sqlite3.Connection, prepared: Prepared) -> Saved:
        """The same within the caller's transaction."""
        if prepared.window is not None:
            stored.put_window(connection, prepared.window)
        if prepared.stream is not None:
            stored.put_stream(connection, *prepared.stream)
        window_id = "" if prepared.window is None else prepared.window.window_id
        saved = tuple(
            self._note(connection, note, item, window_id)
            for note, item in zip(prepared.notes, prepared.items, strict=True)
        )
        return Saved(notes=saved, window_id=window_id or None)

    def _note(self, connection: sqlite3.Connection, note: EvidenceNote, item: QueueItem, window_id: str) -> SavedNote:
        there = stored.note_of(connection, note.id)
        if there is not None:
            return SavedNote(note=there, standing=Standing.SAME)
        if self.queue.put(connection, item).outcome is not Outcome.INSERTED:  # forgotten, say: that is not undone
            return SavedNote(note=note, standing=Standing.BURIED)
        if item.proposed_by != RULE:
            self._take_over(connection, item)
        kept = stored.put(connection, note, window_id, item.created_at)
        return SavedNote(note=kept, standing=Standing.INSERTED)

    def _take_over(self, connection: sqlite3.Connection, item: QueueItem) -> None:
        """A sentence that was noted while no model was there to ask waits no longer beside a note of the same words."""
        for older in proposed_by(connection, item.workspace_key, RULE):
            if _overlap(item, older) and rests(item.text, [older.text]):
                self.queue.end(connection, older.item_id, TAKEN_OVER, item.created_at)


def _overlap(one: QueueItem, other: QueueItem) -> bool:
    """Whether two items quote the same words of the same message."""
    return any(
        a.ref == b.ref and a.session == b.session and a.start < b.end and b.start < a.end
        for a in one.citations
        for b in other.citations
        if a.start is not None and a.end is not None and b.start is not None and b.end is not None
    )


def prepare(result: ExtractL1Result, occasion: Occasion) -> Prepared:
    """A run as it will be saved: screened, outside of any transaction. Pure; long texts take their time."""
    packet, ended = result.packet, result.status in (RunStatus.COMPLETED, RunStatus.PARTIAL)
    if not ended:
        return Prepared(items=(), notes=(), window=None, stream=None)
    row = None
    if packet is not None:
        row = stored.window_row(packet, result.coverage, result.provenance, result.rejected, occasion.at)
    stream = stored.StreamRow(
        next_index=result.coverage.through,
        last_id=(result.coverage.new_ids or ("",))[-1],
        continuation=result.continuation,
        updated_at=occasion.at,
    )
    made = () if packet is None else tuple(change.after for change in result.changes)
    return Prepared(
        items=tuple(screened(item_of(note, packet, occasion)) for note in made if packet is not None),
        notes=made,
        window=row,
        stream=(occasion.scope_key, occasion.stream_id, stream, occasion.began) if occasion.moves else None,
    )


def item_of(note: EvidenceNote, packet: Packet, occasion: Occasion) -> QueueItem:
    """The item of a note in the review queue: of the same id, with the note's quotes."""
    return QueueItem(
        item_id=note.id,
        kind=ItemKind.NOTE,
        pipeline=PIPELINE,
        workspace_key=note.scope.scope_key,
        created_at=occasion.at,
        title=note.title,
        text=note.content,
        citations=citations_of(note, packet),
        flags=tuple(ItemFlag(flag.value) for flag in note.flags),
        proposed_by=note.author,
        conversation_key=occasion.conversation_key,
    )


def citations_of(note: EvidenceNote, packet: Packet) -> tuple[Citation, ...]:
    """A note's quotes with who said them and when."""
    sources = {source.message_id: source for source in packet.sources}
    cited: list[Citation] = []
    for quote in note.citations:
        source = sources[quote.message_id]
        session, seq = _event(source.evidence[0].id)
        cited.append(
            Citation(
                kind=QUOTE,
                ref=quote.message_id,
                quote=quote.quote,
                start=quote.start,
                end=quote.end,
                session=session,
                seq=seq,
                role=source.role,
                at=source.timestamp,
            )
        )
    return tuple(cited)


def _event(ref: str) -> tuple[str, int]:
    """Session and event number of a reference `session#number`; nothing of one that is no event."""
    session, _, number = ref.rpartition("#")
    return (session, int(number)) if session and number.isdecimal() else ("", 0)
