"""The one transaction of a checkpoint's segment (formation.md 5.2, 11 to 13, and 5.3).

Queue items, records, sightings, gaps, the outbox, the cursor, the receipt and the failure are written together or not
at all. Whether a fact is known, waits or is committed is decided in here, on what stands in the store at that moment:
two that run at once cannot both be right. The cursor is compared and set: whoever loses has written nothing.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from governance.formation.bearing import rests
from governance.formation.candidates import Candidate, Formed, Operation
from governance.formation.claims import claim_of, near
from governance.formation.closing import Ending, end
from governance.formation.contracts import (
    FormedMemory,
    Gap,
    GapState,
    IsolationKey,
    Life,
    MemorySource,
    Pipeline,
    RangeResult,
    RangeStatus,
    RecordLine,
    SightingLine,
)
from governance.formation.identity import gap_id_of, gap_of
from governance.formation.queue import Outcome, Queue
from governance.formation.store import gaps, generations, items, memories, outbox
from governance.formation.store.recent import recent
from governance.review import Act, Decision, ItemKind, Principal, QueueItem, Refusal, State
from recall.contracts import Frozen, MemoryKind, MemoryRecord, Millis, Origin, Scope, ScopeRef

CHECKPOINT = Pipeline.CHECKPOINT
KNOWN, BELOW_FLOOR, SAID_NO = "already-known", "below-floor", "said-no"
TAKEN_UP = "taken up by a newer item"
DAY = 86_400_000


class Terms(Frozen, frozen=True, kw_only=True):
    """The settings that a commit asks, as they are now. `importance`: 0..100."""

    auto_commit: bool
    dedupe: bool
    importance: int
    min_sessions: int
    gap_max_age_days: int
    user: str
    agent: str


@dataclass(slots=True)
class _Tally:
    rejected: Counter[str]
    committed: list[str] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    seen: int = 0  # conversations, of the deferred fact that was seen in most
    records: list[tuple[MemoryRecord, FormedMemory]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _At:
    """Where a candidate is settled. `gap`: the open gap that it is."""

    connection: sqlite3.Connection
    place: int
    gap: Gap | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Committing:
    """One commit. Call it with a connection, within a transaction; it raises CursorMoved, and sqlite3 and StateFaults
    of the store: the transaction is to be rolled back then."""

    queue: Queue
    terms: Terms
    operation: Operation
    formed: Formed
    now: Millis
    new_id: Callable[[str], str]
    fault: Callable[[str], None]

    def __call__(self, connection: sqlite3.Connection) -> RangeResult:
        """Write it all; what the range came to."""
        tally = _Tally(Counter(self.formed.rejected))
        for place, candidate in enumerate(self.formed.candidates):
            self._settle(connection, place, candidate, tally)
        self._expire(connection)
        self._form(connection, tally)
        ending = Ending(
            result=self._result(tally), fault=self.formed.fault, done=self.formed.done, item_ids=tuple(tally.items)
        )
        result = end(connection, self.operation, ending, self.now)
        self.fault("before-commit")
        return result

    def _result(self, tally: _Tally) -> RangeResult:
        status = RangeStatus.EXTRACTED if tally.committed or tally.pending else RangeStatus.SKIPPED
        if tally.deferred and status is RangeStatus.SKIPPED:
            status = RangeStatus.DEFERRED
        return RangeResult(
            session_id=self.operation.session_id,
            from_seq=self.operation.from_seq,
            through_seq=self.operation.through_seq,
            status=self.formed.status or status,
            committed=tuple(tally.committed),
            deferred=tuple(tally.deferred),
            pending=tuple(tally.pending),
            rejected=dict(sorted(tally.rejected.items())),
            calls=self.formed.calls,
            seen=tally.seen,
            floor=self.terms.min_sessions if tally.deferred else 0,
        )

    # ------------------------------------------------------------------------------------------------------ one fact

    def _settle(self, connection: sqlite3.Connection, place: int, one: Candidate, tally: _Tally) -> None:
        claim = claim_of(one.content)
        opened = gaps.opened(connection, self.operation.workspace_key, gaps.COMPARED)
        gap = gap_of(one.content, one.named, self.formed.shown_gaps, opened)
        known = (
            memories.exact(connection, self._key, [claim]).get(claim) or one.said_by or self._beside(connection, one)
        )
        at = _At(connection, place, gap)
        rested = rests(one.content, [source.quote for source in one.sources])
        if known is not None and not one.refused:
            self._said_again(at, known, one, tally, trusted=rested and not one.flags)
        elif one.refused or one.flags or one.contrary is not None or not rested:
            item_id = self._put(at, one, State.PENDING, tally)
            if gap is not None and rested and not one.flags:
                self._cover(connection, gap, item_id)
        elif one.explicit or self.terms.min_sessions == 0:
            self._take_up(at, one, tally)
        elif self.terms.gap_max_age_days == 0:
            tally.rejected[BELOW_FLOOR] += 1
        else:
            self._weigh(at, one, tally)

    def _beside(self, connection: sqlite3.Connection, one: Candidate) -> str | None:
        """What was formed just now and says the same in other words: no index has it yet."""
        if not self.terms.dedupe:
            return None
        formed = recent(connection, self._key)
        return next((item.memory_id for item in formed if near(one.content, item.text)), None)

    def _said_again(self, at: _At, known: str, one: Candidate, tally: _Tally, *, trusted: bool) -> None:
        """It is known: what was said is one more source of that, unless a person should see it first."""
        new = memories.add_sources(at.connection, known, one.sources) if trusted else ()
        held = memories.of(at.connection, known)
        if new and (held is None or held.state is Life.LIVE):
            version = 0 if held is None else held.version
            line = SightingLine(memory_id=known, version=version, sources=new, at=self.now)
            outbox.put(at.connection, line, self.now)
        if at.gap is not None and trusted:
            self._cover(at.connection, at.gap, known)
        tally.rejected[KNOWN] += 1

    def _weigh(self, at: _At, one: Candidate, tally: _Tally) -> None:
        """Commit it when it was seen in enough conversations, this one included; else let it wait."""
        seen = () if at.gap is None else gaps.sightings(at.connection, at.gap.gap_id)
        witnesses = {sighting.conversation_key for sighting in seen if sighting.at >= self._oldest}
        count = len(witnesses | {self.operation.conversation_key})
        if count >= self.terms.min_sessions:
            self._take_up(at, one, tally)
            return
        gap = at.gap or self._begin(at, one, tally)
        if gap is not None:
            gaps.sight(at.connection, gap.gap_id, self.operation.conversation_key, one.sources, self.now)
            tally.deferred.append(gap.gap_id)
            tally.seen = max(tally.seen, count)

    def _take_up(self, at: _At, one: Candidate, tally: _Tally) -> None:
        """Commit it, with everything that was said of it before; or leave it to a person, as the policy is."""
        if at.gap is None:
            self._put(at, one, self._state, tally)
            return
        before = gaps.sightings(at.connection, at.gap.gap_id)
        sources = tuple(dict.fromkeys((*(ref for sighting in before for ref in sighting.refs), *one.sources)))
        met = None if one.explicit or not self.terms.auto_commit else self._met(at.connection, at.gap)
        if met is None:
            item_id = self._put(at, msgspec.structs.replace(one, sources=sources), self._state, tally)
            self._cover(at.connection, at.gap, item_id)
            return
        tally.items.append(met.item_id)
        self._stand(at.connection, met, sources, tally)
        gaps.cover(at.connection, at.gap.gap_id, met.item_id, self.now)

    def _met(self, connection: sqlite3.Connection, gap: Gap) -> QueueItem | None:
        """The item of a gap, committed now that it was seen often enough. None: it cannot be."""
        item = None if gap.item_id is None else items.get(connection, gap.item_id)
        claim = claim_of(gap.content)
        if item is None or item.state is not State.DEFERRED or item.flags:
            return None
        if memories.exact(connection, self._key, [claim]):
            return None
        decision = self._engine(Act.MEET_FLOOR, item)
        done = self.queue.decision(connection, item.item_id, decision, record_id=item.item_id)
        return None if isinstance(done, Refusal) else done

    # ----------------------------------------------------------------------------------------------- items and records

    def _put(self, at: _At, one: Candidate, state: State, tally: _Tally) -> str | None:
        """Put an item in; its id, None when it was not taken."""
        item = self._item(at, one, state)
        put = self._insert(at.connection, item, tally)
        if put is None:
            return None
        self._stand(at.connection, msgspec.structs.replace(item, state=put), one.sources, tally)
        return item.item_id

    def _insert(self, connection: sqlite3.Connection, item: QueueItem, tally: _Tally) -> State | None:
        put = self.queue.put(connection, item)
        if put.outcome is Outcome.INSERTED:
            tally.items.append(item.item_id)
            return put.state
        tally.rejected[SAID_NO if put.outcome is Outcome.BURIED else KNOWN] += 1
        return None

    def _stand(
        self, connection: sqlite3.Connection, item: QueueItem, sources: Sequence[MemorySource], tally: _Tally
    ) -> None:
        """The life of an item: of a record when it is committed, of one that waits otherwise."""
        live = item.state is State.COMMITTED
        formed = FormedMemory(
            memory_id=item.item_id,
            pipeline=CHECKPOINT,
            claim=claim_of(item.text),
            created_at=self.now,
            updated_at=self.now,
            team=self._key.team,
            user=self._key.user,
            agent=self._key.agent,
            state=Life.LIVE if live else Life.WAITING,
            importance=self.terms.importance,
            session_id=self.operation.session_id,
            occurred_at=max((one.at for one in sources), default=None),
        )
        memories.put(connection, formed)
        memories.add_sources(connection, item.item_id, sources)
        (tally.committed if live else tally.pending).append(item.item_id)
        if live:
            tally.records.append((self._record(item), formed))

    def _item(self, at: _At, one: Candidate, state: State) -> QueueItem:
        operation = self.operation.operation_id
        item_id = memories.drawn(at.connection, operation, at.place, self.new_id("mem_"))
        return QueueItem(
            item_id=item_id,
            kind=ItemKind.MEMORY,
            pipeline=str(CHECKPOINT),
            workspace_key=self.operation.workspace_key,
            conversation_key=self.operation.conversation_key,
            state=state,
            created_at=self.now,
            text=one.content,
            citations=one.citations,
            flags=one.flags,
            proposed_by="model",
            updates=one.contrary,
            record_id=item_id if state is State.COMMITTED else None,
        )

    def _record(self, item: QueueItem) -> MemoryRecord:
        return MemoryRecord(
            memory_id=item.item_id,
            anchor_id=f"memory:{item.item_id}",
            kind=MemoryKind.SEMANTIC,
            scope=ScopeRef(kind=Scope.WORKSPACE, key=self.operation.workspace_key),
            text=item.text,
            created_at=self.now,
            origin=Origin.EXTRACTED,
            importance=self.terms.importance,
        )

    def _form(self, connection: sqlite3.Connection, tally: _Tally) -> None:
        """Say by what the items were formed, and have the records written to their files."""
        made = self.formed.generation
        generation = None if made is None else msgspec.structs.replace(made, output_refs=tuple(tally.items))
        if generation is not None and tally.items:
            generations.put(connection, generation, tally.items)
        for record, formed in tally.records:
            line = RecordLine(
                memory_id=record.memory_id,
                version=formed.version,
                record=record,
                formed=formed,
                sources=memories.sources(connection, record.memory_id),
                at=self.now,
                generation=generation,
            )
            outbox.put(connection, line, self.now)

    # ------------------------------------------------------------------------------------------------------ the ledger

    def _begin(self, at: _At, one: Candidate, tally: _Tally) -> Gap | None:
        """A new gap, and its item that waits. None: the queue does not take it so."""
        item = self._item(at, one, State.DEFERRED)
        state = self._insert(at.connection, item, tally)
        if state is not State.DEFERRED:
            if state is not None:  # it waits for a person: it was forgotten before, and the user said it again
                self._stand(at.connection, msgspec.structs.replace(item, state=state), one.sources, tally)
            return None
        gap = Gap(
            gap_id=gap_id_of(item.workspace_key, one.content),
            workspace_key=item.workspace_key,
            content=one.content,
            state=GapState.OPEN,
            opened_at=self.now,
            changed_at=self.now,
            item_id=item.item_id,
        )
        gaps.begin(at.connection, gap)
        return gap

    def _cover(self, connection: sqlite3.Connection, gap: Gap, memory_id: str | None) -> None:
        """The fact of a gap is remembered, or waits, as this one. None: it was not taken, and the gap stays."""
        if memory_id is None:
            return
        gaps.cover(connection, gap.gap_id, memory_id, self.now)
        if gap.item_id is not None and gap.item_id != memory_id:
            self.queue.end(connection, gap.item_id, TAKEN_UP, self.now)

    def _expire(self, connection: sqlite3.Connection) -> None:
        """Let go of what nobody said again for too long; with the ledger off, of all of it."""
        before = self._oldest if self.terms.gap_max_age_days else self.now + 1
        for item_id in gaps.expire(connection, before, self.now):
            item = items.get(connection, item_id)
            if item is not None and item.state is State.DEFERRED:
                self.queue.decision(connection, item_id, self._engine(Act.EXPIRE, item))

    def _engine(self, act: Act, item: QueueItem) -> Decision:
        return Decision(actor=Principal.ENGINE, kind=act, at=self.now, expected_revision=item.revision)

    @property
    def _state(self) -> State:
        return State.COMMITTED if self.terms.auto_commit else State.PENDING

    @property
    def _oldest(self) -> Millis:
        """A sighting before this does not count any more."""
        return self.now - self.terms.gap_max_age_days * DAY

    @property
    def _key(self) -> IsolationKey:
        return IsolationKey(team=self.operation.workspace_key, user=self.terms.user, agent=self.terms.agent)
