"""The one transaction of a window (formation.md 6.8): items, records, what they take the place of, generation, outbox,
cursor and receipt, together or not at all.

Whether a memory is known, and whether a target may be rewritten, is asked once more in here, of what stands in the
store at that moment. What a person made or kept, and what this key does not own, is never rewritten: it is proposed.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from governance.formation.batch_answer import Proposed
from governance.formation.batch_types import KINDS
from governance.formation.batch_windows import Window
from governance.formation.bearing import rests
from governance.formation.candidates import Operation
from governance.formation.claims import claim_of
from governance.formation.closing import Ending, end
from governance.formation.contracts import (
    FailureClass,
    Fault,
    FormedMemory,
    Generation,
    IsolationKey,
    Life,
    MemorySource,
    Pipeline,
    RangeResult,
    RangeStatus,
    RecordLine,
    RejectionCode,
    SightingLine,
    TombstoneLine,
)
from governance.formation.decide import STORE, Decided, Verdict
from governance.formation.dedupe import Probe
from governance.formation.excerpts import excerpt
from governance.formation.queue import Outcome, Put, Queue
from governance.formation.store import generations, memories, outbox
from governance.procedures import written_risk
from governance.review import LIVE, QUOTE, Citation, ItemFlag, ItemKind, QueueItem, State
from recall.contracts import (
    Frozen,
    MemoryKind,
    MemoryRecord,
    Millis,
    Origin,
    Period,
    Risk,
    Scope,
    ScopeRef,
)

SAID_NO = "said-no"
REPLACED = "replaced by a newer record"


class Found(Frozen, frozen=True, kw_only=True):
    """A memory of the window, what is known of it, and what was decided."""

    proposed: Proposed
    probe: Probe = Probe()
    decided: Decided = STORE


class Batched(Frozen, frozen=True, kw_only=True):
    """What a window came to. `generation`: without what only the commit knows. `fault`: why it did not come to an end;
    what there is is committed all the same. `done`: messages by reference that need not be read again. `status`: where
    it is known beforehand."""

    found: tuple[Found, ...] = ()
    rejected: dict[str, int] = {}
    logged: tuple[str, ...] = ()
    calls: int = 0
    generation: Generation | None = None
    fault: FailureClass | None = None
    done: frozenset[str] = frozenset()
    status: RangeStatus | None = None


class Terms(Frozen, frozen=True, kw_only=True):
    """What a commit asks of settings and clock. `importance`: 0..100, of each record."""

    key: IsolationKey
    auto_commit: bool
    importance: int
    now: Millis


@dataclass(slots=True)
class _Tally:
    rejected: Counter[str]
    decisions: list[str]
    committed: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    records: list[tuple[MemoryRecord, FormedMemory]] = field(default_factory=list)
    said_again: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchCommit:
    """One commit. Call it with a connection, within a transaction. Raises CursorMoved, and sqlite3.Error and StateFault
    of the store: the transaction is to be rolled back then."""

    queue: Queue
    terms: Terms
    window: Window
    operation: Operation
    batched: Batched
    new_id: Callable[[str], str]
    fault: Fault

    def __call__(self, connection: sqlite3.Connection) -> RangeResult:
        """Write it all; what the window came to."""
        tally = _Tally(Counter(self.batched.rejected), [*self.batched.logged])
        for place, one in enumerate(self.batched.found):
            self._settle(connection, place, one, tally)
        self._form(connection, tally)
        some = tally.committed or tally.pending or tally.said_again
        result = RangeResult(
            session_id=self.operation.session_id,
            from_seq=self.operation.from_seq,
            through_seq=self.operation.through_seq,
            status=self.batched.status or (RangeStatus.EXTRACTED if some else RangeStatus.SKIPPED),
            committed=tuple(tally.committed),
            pending=tuple(tally.pending),
            rejected=dict(sorted(tally.rejected.items())),
            calls=self.batched.calls,
        )
        items = (*tally.committed, *tally.pending)
        ending = Ending(result=result, fault=self.batched.fault, done=self.batched.done, item_ids=items)
        result = end(connection, self.operation, ending, self.terms.now)
        self.fault("before-commit")
        return result

    # ------------------------------------------------------------------------------------------------------ one memory

    def _settle(self, connection: sqlite3.Connection, place: int, one: Found, tally: _Tally) -> None:
        claim = claim_of(one.proposed.content)
        known = self._standing(connection, memories.exact(connection, self.terms.key, [claim]).get(claim), one)
        if known:
            tally.decisions.append(_said(place, Verdict.SKIP, None, known))
            for memory_id in known:
                self._said_again(connection, memory_id, one.proposed)
            tally.said_again = True
            tally.rejected[RejectionCode.ALREADY_KNOWN] += 1
            return
        memory_id = memories.drawn(connection, self.operation.operation_id, place, self.new_id("mem_"))
        decided = self._allowed(connection, one.decided)
        item = self._item(memory_id, one, decided)
        put = self.queue.put(connection, item)
        if put.outcome is not Outcome.INSERTED:
            buried = put.outcome is Outcome.BURIED
            tally.rejected[SAID_NO if buried else RejectionCode.ALREADY_KNOWN] += 1
            tally.decisions.append(f"{place} {SAID_NO if buried else RejectionCode.ALREADY_KNOWN}")
            return
        self._stand(connection, (one.proposed, decided, item), put, tally)
        targets = (decided.updates,) if decided.updates is not None else decided.targets
        tally.decisions.append(_said(place, decided.verdict, memory_id, targets))

    def _standing(self, connection: sqlite3.Connection, exact: str | None, one: Found) -> tuple[str, ...]:
        """The records that say it already and still stand: of the same claim, the nearest, or those that the model
        named."""
        first = exact or one.probe.known
        named: tuple[str, ...] = () if first is None else (first,)
        if not named and one.decided.verdict is Verdict.SKIP:
            named = one.decided.targets
        held = [(name, memories.of(connection, name)) for name in named]
        return tuple(name for name, life in held if life is None or life.state in (Life.LIVE, Life.WAITING))

    def _said_again(self, connection: sqlite3.Connection, known: str, proposed: Proposed) -> None:
        """One more sighting of what is known: the record stays as it is."""
        new = memories.add_sources(connection, known, self._sources(proposed))
        held = memories.of(connection, known)
        if new and (held is None or held.state is Life.LIVE):
            version = 0 if held is None else held.version
            line = SightingLine(memory_id=known, version=version, sources=new, at=self.terms.now)
            outbox.put(connection, line, self.terms.now)

    def _allowed(self, connection: sqlite3.Connection, decided: Decided) -> Decided:
        """The decision as it may be carried out now."""
        if decided.verdict not in (Verdict.UPDATE, Verdict.MERGE):
            return STORE if decided.verdict is Verdict.SKIP else decided
        lives = {name: memories.of(connection, name) for name in decided.targets}
        there = tuple(name for name, life in lives.items() if life is None or life.state is Life.LIVE)
        if not there:
            return STORE
        own = memories.owned(connection, self.terms.key, there)
        held = [name for name in there if name not in own or self._kept(connection, name)]
        if held:
            others = tuple(name for name in there if name != held[0])
            return Decided(verdict=Verdict.PROPOSE, content=decided.content, updates=held[0], related=others)
        return msgspec.structs.replace(decided, targets=there)

    def _kept(self, connection: sqlite3.Connection, memory_id: str) -> bool:
        """Whether a person said meanwhile that the record is good."""
        return any(item.state is State.KEPT for item in self.queue.about(connection, memory_id))

    # ----------------------------------------------------------------------------------------------- items and records

    def _item(self, memory_id: str, one: Found, decided: Decided) -> QueueItem:
        """The item of a new memory, committed only where the policy may: without a flag, over nobody's record, and in
        words that bear on what was said."""
        proposed = one.proposed
        content = decided.content or proposed.content
        flags = proposed.flags
        if written_risk(KINDS[proposed.type], content) is Risk.HIGH:
            flags = (*flags, ItemFlag.HIGH_RISK)
        waits = bool(flags) or decided.verdict is Verdict.PROPOSE or not self.terms.auto_commit
        waits = waits or not self._rests(one, decided)
        updates = decided.updates
        if waits and updates is None and decided.targets:
            updates = decided.targets[0]
        related = (*decided.targets, *decided.related)
        return QueueItem(
            item_id=memory_id,
            kind=ItemKind.MEMORY,
            pipeline=str(Pipeline.BATCH),
            workspace_key=self.window.workspace_key,
            conversation_key=self.operation.conversation_key,
            state=State.PENDING if waits else State.COMMITTED,
            created_at=self.terms.now,
            text=content,
            citations=tuple(_citation(one) for one in self._sources(proposed)),
            flags=flags,
            proposed_by="model",
            updates=updates,
            related_to=tuple(name for name in related if name != updates),
            record_id=None if waits else memory_id,
        )

    def _rests(self, one: Found, decided: Decided) -> bool:
        """Whether the memory bears on its messages; and one that a model wrote out of several, on those."""
        quotes = [source.quote for source in self._sources(one.proposed) if source.quote]
        if not rests(one.proposed.content, quotes):
            return False
        merged = [known.text for known in one.probe.pool if known.memory_id in decided.targets]
        return not decided.content or rests(decided.content, [one.proposed.content, *merged])

    def _stand(
        self, connection: sqlite3.Connection, one: tuple[Proposed, Decided, QueueItem], put: Put, tally: _Tally
    ) -> None:
        """The life of an item: of a record when it is committed, of one that waits otherwise."""
        proposed, decided, item = one
        live = put.state is State.COMMITTED
        targets = memories.owned(connection, self.terms.key, decided.targets) if live else {}
        formed = self._formed(item, proposed, list(targets.values()), Life.LIVE if live else Life.WAITING)
        memories.put(connection, formed)
        found = [source for name in targets for source in memories.sources(connection, name)]
        memories.add_sources(connection, item.item_id, (*found, *self._sources(proposed)))
        (tally.committed if live else tally.pending).append(item.item_id)
        if live:
            tally.records.append((self._record(item, formed), formed))
            for target in targets.values():
                self._replace(connection, target, item.item_id)

    def _formed(
        self, item: QueueItem, proposed: Proposed, targets: Sequence[FormedMemory], state: Life
    ) -> FormedMemory:
        """A life that takes over what its targets knew: the earliest beginning, all times, all metadata."""
        now = self.terms.now
        key, sources = self.terms.key, self._sources(proposed)
        said = [one.at for one in sources] + _given(one.occurred_at for one in targets)
        metadata = {name: value for one in targets for name, value in one.metadata.items()}
        return FormedMemory(
            memory_id=item.item_id,
            pipeline=Pipeline.BATCH,
            claim=claim_of(item.text),
            created_at=min([now, *(one.created_at for one in targets)]),
            updated_at=now,
            team=key.team,
            user=key.user,
            agent=key.agent,
            version=max((one.version + 1 for one in targets), default=0),
            type=proposed.type,
            state=state,
            priority=proposed.priority,
            importance=max([self.terms.importance, *(one.importance for one in targets)]),
            scene_name=proposed.scene,
            session_id=self.operation.session_id,
            occurred_at=min(said, default=None),
            activity_start=min(_given([proposed.start, *(one.activity_start for one in targets)]), default=None),
            activity_end=max(_given([proposed.end, *(one.activity_end for one in targets)]), default=None),
            metadata={**metadata, **proposed.metadata},
        )

    def _record(self, item: QueueItem, formed: FormedMemory) -> MemoryRecord:
        kind = KINDS[formed.type]
        return MemoryRecord(
            memory_id=item.item_id,
            anchor_id=f"memory:{item.item_id}",
            kind=kind,
            scope=ScopeRef(kind=Scope.WORKSPACE, key=self.window.workspace_key),
            text=item.text,
            created_at=formed.created_at,
            origin=Origin.EXTRACTED,
            priority=formed.priority,
            importance=formed.importance,
            occurred=_occurred(kind, formed),
        )

    def _replace(self, connection: sqlite3.Connection, target: FormedMemory, by: str) -> None:
        """A target stays where it is, behind the record that took its place."""
        at = self.terms.now
        if memories.supersede(connection, self.terms.key, target.memory_id, by, at) is None:
            return
        line = TombstoneLine(
            memory_id=target.memory_id, version=target.version, why="superseded", digest="", at=at, superseded_by=by
        )
        outbox.put(connection, line, at)
        for item in self.queue.about(connection, target.memory_id):
            if item.state in LIVE:
                self.queue.end(connection, item.item_id, REPLACED, at)

    def _form(self, connection: sqlite3.Connection, tally: _Tally) -> None:
        """Say by what they were formed, and have the records written to their files."""
        made = self.batched.generation
        items = (*tally.committed, *tally.pending)
        if made is not None:
            made = msgspec.structs.replace(made, output_refs=items, decisions=tuple(tally.decisions))
            generations.put(connection, made, items)
        for record, formed in tally.records:
            line = RecordLine(
                memory_id=record.memory_id,
                version=formed.version,
                record=record,
                formed=formed,
                sources=memories.sources(connection, record.memory_id),
                at=self.terms.now,
                generation=made,
            )
            outbox.put(connection, line, self.terms.now)

    def _sources(self, proposed: Proposed) -> tuple[MemorySource, ...]:
        shown = self.window.shown
        records = [shown[name].record for name in proposed.sources if name in shown]
        return tuple(
            MemorySource(
                session_id=one.session_id,
                message_id=one.message_id,
                event_seq=one.event_seq,
                at=one.at,
                quote=excerpt(proposed.content, one.text),
                role=one.role,
            )
            for one in records
        )


def _citation(one: MemorySource) -> Citation:
    return Citation(
        kind=QUOTE,
        ref=one.message_id,
        quote=one.quote,
        session=one.session_id,
        seq=one.event_seq,
        role=one.role,
        at=one.at,
    )


def _occurred(kind: MemoryKind, formed: FormedMemory) -> Period | None:
    """When it was: the activity where one is known; of an episode else the moment at which it was told."""
    start = formed.activity_start
    if start is not None:
        return Period(start=start, end=formed.activity_end)
    if kind is MemoryKind.EPISODIC and formed.occurred_at is not None:
        return Period(start=formed.occurred_at)
    return None


def _given(values: Iterable[Millis | None]) -> list[Millis]:
    return [one for one in values if one is not None]


def _said(place: int, verdict: Verdict, memory_id: str | None, targets: Iterable[str]) -> str:
    """A decision as it is logged: the place of the memory in the window, what became of it, and the ids."""
    return " ".join((str(place), verdict, memory_id or "-", *targets))
