"""What a person's word makes of an item, as one transaction (formation.md 7.1): the decision, the note, the life of the
record, what it rests on, what it takes the place of, and the lines that are still to be written to the files.

The database commits first, files follow: whoever calls this has the projector write the lines, now or after a crash.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, tzinfo

import msgspec

from governance.formation.claims import claim_of
from governance.formation.contracts import (
    ANY_AGENT,
    Actor,
    Attribution,
    Completeness,
    DecisionLine,
    EvidenceDecision,
    EvidenceNote,
    Fault,
    FormedMemory,
    Life,
    MemorySource,
    NoteAction,
    NoteBody,
    NoteFlag,
    Packet,
    Pipeline,
    RecordLine,
    Role,
    Source,
    TombstoneLine,
    Use,
    no_fault,
)
from governance.formation.decisions import Refused, apply_evidence_decision
from governance.formation.queue import REPLACED, Queue, Words
from governance.formation.store import generations, memories, notes, outbox
from governance.review import LIVE, QUOTE, Act, Citation, Decision, QueueItem, Refusal, RefusalCode, quotes_of
from recall.contracts import MemoryRecord, Millis

BEFORE_COMMIT, AFTER_COMMIT = "decision-before-commit", "decision-after-commit"  # named points: tests stop there
_ACTIONS = {
    Act.KEEP: NoteAction.KEEP,
    Act.EDIT_AND_KEEP: NoteAction.EDIT_AND_KEEP,
    Act.ARCHIVE: NoteAction.ARCHIVE,
}
_CODES = {code.value: code for code in RefusalCode}


class Undecided(Exception):
    """A decision that does not hold: raised, so that the transaction is undone."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.problem)
        self.refusal = refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """A decision about an item. `packet`: what the note's window showed, built anew; None where nobody holds that
    conversation any more. `words`: of edit-and-keep. `replaces`: memories that the kept one takes the place of. `user`:
    the key of the local user."""

    item: QueueItem
    decision: Decision
    user: str
    words: Words | None = None
    packet: Packet | None = None
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Keeping:
    """The transactions. `fault`: told of `BEFORE_COMMIT`. `zone`: the calendar of whoever writes here."""

    queue: Queue
    zone: tzinfo = UTC
    fault: Fault = no_fault

    def made(self, connection: sqlite3.Connection, wish: Wish, record: MemoryRecord) -> QueueItem:
        """An item without a record is kept: `record` is what comes of it. Raises Undecided."""
        item, at = wish.item, wish.decision.at
        self._noted(connection, wish)
        after = self._decided(connection, wish, record.memory_id)
        formed = _life(memories.of(connection, record.memory_id), wish, record)
        memories.put(connection, formed)
        memories.add_sources(connection, record.memory_id, sources_of(quotes_of(item)))
        self._lines(connection, after, formed, record)
        for memory_id in wish.replaces:
            self._replaced(connection, memory_id, record.memory_id, at)
        self.fault(BEFORE_COMMIT)
        return after

    def unmade(self, connection: sqlite3.Connection, wish: Wish) -> QueueItem:
        """An item without a record is put away. Raises Undecided."""
        item, at = wish.item, wish.decision.at
        self._noted(connection, wish)
        after = self._decided(connection, wish, None)
        held = memories.move(connection, item.item_id, Life.ARCHIVED, at)
        version = 0 if held is None else held.version
        digest = self.queue.digest(item.workspace_key, item.text)
        outbox.put(
            connection, TombstoneLine(memory_id=item.item_id, version=version, why="archived", digest=digest, at=at), at
        )
        outbox.put(connection, _line(after, item.item_id, version), at)
        self.fault(BEFORE_COMMIT)
        return after

    def settled(self, connection: sqlite3.Connection, wish: Wish, record: MemoryRecord | None) -> QueueItem:
        """An item about a record was decided upon, and done. `record`: as it stands now; None when it is gone. Raises
        Undecided."""
        item, at = wish.item, wish.decision.at
        self._noted(connection, wish)
        after = self._decided(connection, wish, None)
        self._looked_at(connection, after)
        held = None if record is None else memories.of(connection, record.memory_id)
        if record is None or held is None:
            return after
        archived = wish.decision.kind is Act.ARCHIVE and record.status == "archived"
        formed = msgspec.structs.replace(
            held,
            version=held.version + 1,
            state=Life.ARCHIVED if archived else Life.LIVE,
            claim=claim_of(record.text),
            updated_at=max(at, held.updated_at),
        )
        memories.put(connection, formed)
        self._lines(connection, after, formed, record)
        if archived:
            digest = self.queue.digest(item.workspace_key, record.text)
            line = TombstoneLine(
                memory_id=record.memory_id, version=formed.version, why="archived", digest=digest, at=at
            )
            outbox.put(connection, line, at)
        self.fault(BEFORE_COMMIT)
        return after

    def _noted(self, connection: sqlite3.Connection, wish: Wish) -> None:
        """The same said of the evidence note, where the item is one: its version and digest are what the item stands
        for at this revision."""
        note = notes.note_of(connection, wish.item.item_id)
        action = _ACTIONS.get(wish.decision.kind)
        if note is None or action is None:
            return
        decision = EvidenceDecision(
            actor=Actor(id=wish.user, kind=wish.decision.actor),
            at=wish.decision.at,
            expected_version=note.version,
            expected_digest=note.digest,
            action=action,
            reason=wish.decision.reason or str(action),
            body=None if action is not NoteAction.EDIT_AND_KEEP else _body(note, wish.words),
        )
        packet = wish.packet if wish.packet is not None and action is not NoteAction.ARCHIVE else _as_noted(note)
        done = apply_evidence_decision(packet, note, decision, self.zone)
        if isinstance(done, Refused):
            code = _CODES.get(done.code, RefusalCode.WRONG_STATE)
            raise Undecided(Refusal(code=code, problem=done.problem))
        cleared = tuple(flag for flag in done.note.flags if flag is not NoteFlag.QUARANTINED)  # by the person
        kept = done.note if action is NoteAction.ARCHIVE else msgspec.structs.replace(done.note, flags=cleared)
        if not notes.replace(connection, kept, note.version):
            raise Undecided(Refusal(code=RefusalCode.CONFLICT, problem="The note was changed meanwhile."))

    def _looked_at(self, connection: sqlite3.Connection, item: QueueItem) -> None:
        """A person has looked at the record: the notes that it was made of are not doubted any more."""
        for one in () if item.record_id is None else self.queue.about(connection, item.record_id):
            note = notes.note_of(connection, one.item_id)
            if note is not None and NoteFlag.RECHECK in note.flags:
                flags = tuple(flag for flag in note.flags if flag is not NoteFlag.RECHECK)
                notes.replace(connection, msgspec.structs.replace(note, flags=flags), note.version)

    def _decided(self, connection: sqlite3.Connection, wish: Wish, record_id: str | None) -> QueueItem:
        after = self.queue.decision(connection, wish.item.item_id, wish.decision, wish.words, record_id)
        if isinstance(after, Refusal):
            raise Undecided(after)
        return after

    def _lines(
        self, connection: sqlite3.Connection, item: QueueItem, formed: FormedMemory, record: MemoryRecord
    ) -> None:
        at = formed.updated_at
        line = RecordLine(
            memory_id=record.memory_id,
            version=formed.version,
            record=record,
            formed=formed,
            sources=memories.sources(connection, record.memory_id),
            generation=next(iter(generations.of_memory(connection, record.memory_id)), None),
            at=at,
        )
        outbox.put(connection, line, at)
        outbox.put(connection, _line(item, record.memory_id, formed.version), at)

    def _replaced(self, connection: sqlite3.Connection, memory_id: str, by: str, at: Millis) -> None:
        """The record that the kept one takes the place of: whoever made it, and what was decided about it."""
        held = memories.of(connection, memory_id)
        version = 0 if held is None else held.version + 1
        if held is not None:
            gone = msgspec.structs.replace(
                held, version=version, state=Life.SUPERSEDED, superseded_by=by, updated_at=max(at, held.updated_at)
            )
            memories.put(connection, gone)
        line = TombstoneLine(memory_id=memory_id, version=version, why="superseded", digest="", at=at, superseded_by=by)
        outbox.put(connection, line, at)
        for item in self.queue.about(connection, memory_id):
            if item.state in LIVE:
                self.queue.end(connection, item.item_id, REPLACED, at)


def sources_of(citations: Iterable[Citation]) -> tuple[MemorySource, ...]:
    """Quotes of an item as the sources of its record."""
    return tuple(
        MemorySource(
            session_id=one.session,
            message_id=one.ref,
            event_seq=one.seq,
            at=one.at,
            quote=one.quote,
            role=one.role or "user",
        )
        for one in citations
    )


def citations_of(sources: Iterable[MemorySource]) -> tuple[Citation, ...]:
    """What a record rests on, as quotes of an item; messages of which nothing is quoted are left out."""
    return tuple(
        Citation(
            kind=QUOTE,
            ref=one.message_id,
            quote=one.quote,
            end=len(one.quote),
            session=one.session_id,
            seq=one.event_seq,
            role=one.role,
            at=one.at,
        )
        for one in sources
        if one.quote
    )


def _life(held: FormedMemory | None, wish: Wish, record: MemoryRecord) -> FormedMemory:
    """The life of a record that is made now: of the row that waited, if there is one."""
    item, at = wish.item, wish.decision.at
    cited = quotes_of(item)
    if held is None:
        held = FormedMemory(
            memory_id=record.memory_id,
            pipeline=_pipeline(item.pipeline),
            claim="",
            created_at=record.created_at,
            updated_at=at,
            team=item.workspace_key,
            user=wish.user,
            agent=ANY_AGENT,
            session_id=cited[0].session if cited else "",
        )
    return msgspec.structs.replace(
        held,
        state=Life.LIVE,
        superseded_by=None,
        claim=claim_of(record.text),
        version=held.version if held.state is Life.WAITING else held.version + (held.state is Life.ARCHIVED),
        updated_at=max(at, held.updated_at),
    )


def _pipeline(name: str) -> Pipeline:
    return Pipeline(name) if name in Pipeline.__members__.values() else Pipeline.NOTES


def _body(note: EvidenceNote, words: Words | None) -> NoteBody:
    return NoteBody(
        kind=note.kind,
        title=note.title if words is None or not words.title else words.title,  # a note has one
        content=note.content if words is None else words.text,
        attribution=note.attribution,
        citations=note.citations,
    )


def _as_noted(note: EvidenceNote) -> Packet:
    """A packet that stands for the window as it was noted: for a conversation that nobody holds any more, and for
    putting away what is out of date. Of each message it holds what was quoted, in its place."""
    role = Role.ASSISTANT if note.attribution is Attribution.ASSISTANT_REPORT else Role.USER
    texts: dict[str, str] = {}
    for one in sorted(note.citations, key=lambda cited: cited.start):
        held = texts.get(one.message_id, "")
        texts[one.message_id] = held[: one.start].ljust(one.start) + one.quote + held[one.end :]
    sources = [
        Source(
            message_id=message_id,
            index=index,
            role=role,
            content=text,
            hash="",
            timestamp=0,
            evidence=(),
            completeness=Completeness.FULL,
            use=Use.NEW,
        )
        for index, (message_id, text) in enumerate(texts.items())
    ]
    return Packet(
        scope_key=note.scope.scope_key,
        stream_id=note.scope.stream_id,
        evidence_digest=note.evidence_digest,
        sources=tuple(sources),
    )


def _line(item: QueueItem, memory_id: str, version: int) -> DecisionLine:
    decision = item.decisions[-1]
    return DecisionLine(memory_id=memory_id, version=version, item_id=item.item_id, decision=decision, at=decision.at)
