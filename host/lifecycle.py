"""M-04: what evidence does to procedures, facts and episodes, as a daemon does it by itself, round after round.

Evidence that comes in names its memories; a round judges them by `governance/procedures.py` and
`governance/promotion.py`, writes the moves down, and puts what needs a person into the review queue. Nothing rises
without a person, nothing is deleted, and nothing is run. Replays and evaluations have no rounds.
"""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from governance.contracts import Stage
from governance.errors import AuditUnavailable
from governance.lives import Life
from governance.procedures import (
    Hold,
    LifePolicy,
    Move,
    Procedure,
    Why,
    by_person,
    criteria,
    judge,
    risk_of,
    stage_of,
)
from governance.promotion import TARGETS, VALIDATED, becomes, cited, proposal
from governance.review import ItemFlag, ItemKind, QueueItem, words_of
from governance.standing import Standing
from host.parts import Parts
from host.trace import of_policy
from recall.canonical import short_id
from recall.contracts import Flag, MemoryKind, MemoryRecord, Millis, Scope
from recall.errors import IndexFault
from recall.survey import Walked, anywhere, everything

ROUND_SECONDS = 60.0
SWEEP_MS: Millis = 86_400_000
AT_ONCE = 200  # memories that one question to the index is about
PIPELINE = "lifecycle"
BROKEN = (IndexFault, AuditUnavailable, sqlite3.Error)  # an index or a disk that may be well again later


class Lifecycle:
    """The rounds, and what a person's word does to a stage. `policy`: the thresholds."""

    def __init__(self, parts: Parts, policy: LifePolicy | None = None) -> None:
        self._parts = parts
        self._policy = policy or LifePolicy()

    async def round(self) -> int:
        """Judge every memory that new evidence was heard of; how many moved or were proposed."""
        waiting = self._parts.lives.taken()
        done = 0
        try:
            for start in range(0, len(waiting), AT_ONCE):
                ids = waiting[start : start + AT_ONCE]
                done += await self._judged(await self._parts.library.survey(partial(anywhere, memory_ids=ids)))
        except BROKEN:
            self._parts.lives.look_again(waiting)  # in the next round
        return done

    async def sweep(self) -> int:
        """Judge every procedure there is: one that nobody used is heard of by nobody. How long it was not used counts
        from when it was first met, for who knows what was done before."""
        after, done = 0, 0
        while True:
            found = await self._parts.library.survey(partial(everything, after=after, limit=AT_ONCE))
            if not found:
                return done
            after = found[-1].row
            procedures = [one for one in found if one.record.kind is MemoryKind.PROCEDURAL]
            active = [one.record.memory_id for one in procedures if self.stage(one.record) is Stage.ACTIVE]
            await self._parts.lives.seen(active, self._parts.clock.now())
            done += await self._judged(procedures)

    async def kept(self, record: MemoryRecord, digest: str) -> Stage:
        """A person kept this procedure: it is validated, and active unless it can do harm and nobody approved it."""
        if record.kind is not MemoryKind.PROCEDURAL:
            return Stage.ACTIVE
        async with self._parts.lives.turn:
            await self._move(record, Move(to=Stage.VALIDATED, why=Why.KEPT))
            return await self._settle(record, digest)

    async def approved(self, record: MemoryRecord, digest: str) -> Stage:
        """A person approved it: a validated one becomes active."""
        async with self._parts.lives.turn:
            return await self._settle(record, digest)

    async def corrected(self, memory_ids: Sequence[str]) -> None:
        """Somebody said that these are wrong: they are judged at once, and what was proposed of them is over."""
        await self._judged(await self._parts.library.survey(partial(anywhere, memory_ids=memory_ids)))

    async def _judged(self, found: Sequence[Walked]) -> int:
        done = 0
        for one in found:
            record, digest = one.record, one.locator.record_digest
            if record.kind is MemoryKind.PROCEDURAL:
                async with self._parts.lives.turn:
                    before = self.stage(record)
                    done += await self._settle(record, digest) is not before
            else:
                done += await self._risen(record)
        return done

    async def _risen(self, record: MemoryRecord) -> bool:
        """Propose what an episode or a fact could become. What a correction says against ends here."""
        uses, corrected = self._standing(record), self._corrected(record)
        rise = becomes(record, uses, self._policy, corrected=corrected)
        if not isinstance(rise, Hold):
            return await self._propose(record, rise.target)
        if rise.why in (Why.CORRECTED, Why.TOO_OFTEN_CORRECTED):
            now = self._parts.clock.now()
            await self._parts.queue.supersede(record.memory_id, TARGETS, rise.why, now)
        return False

    async def _settle(self, record: MemoryRecord, digest: str) -> Stage:
        """Move a procedure on until it stays where it is; its stage then."""
        uses = self._standing(record)
        for _ in Stage:
            step = judge(self._procedure(record, digest, uses), uses, self._policy, self._parts.clock.now())
            if isinstance(step, Hold):
                break
            if step.to is Stage.CANDIDATE and not _reviewed_by_team(record):
                await self._propose(record, VALIDATED)
            if step.to is Stage.OBSERVED:
                await self._parts.queue.supersede(record.memory_id, TARGETS, step.why, self._parts.clock.now())
            if step.to is Stage.DEPRECATED:
                await self._parts.queue.propose(self._unused(record))
            await self._move(record, step)
        return self.stage(record)

    async def _move(self, record: MemoryRecord, step: Move) -> None:
        """Write a move down, in the audit first: ids and words of ours."""
        now = self._parts.clock.now()
        where = self._parts.audit.ref(record.scope.key)
        entry = of_policy(f"stage-{step.to}", step.why, where, now)
        await self._parts.ledger.append([msgspec.structs.replace(entry, memory_id=record.memory_id)])
        await self._parts.lives.move(record.memory_id, Life(stage=step.to, since=now, reason=step.why))

    async def _propose(self, record: MemoryRecord, target: str) -> bool:
        life = self._parts.lives.of(record.memory_id)
        fallen = str(life.since) if life is not None and life.stage is Stage.OBSERVED else ""  # it was a candidate once
        item = proposal(record, target, self._standing(record), self._parts.clock.now(), fallen)
        rows = await self._parts.evidence.of_memory(record.memory_id)
        citations = (*item.citations, *cited(rows))
        return await self._parts.queue.propose(msgspec.structs.replace(item, citations=citations))

    def _unused(self, record: MemoryRecord) -> QueueItem:
        """That a procedure rests now, so that a person can have it back."""
        life = self._parts.lives.of(record.memory_id)
        since = 0 if life is None else life.since
        return of_memory(record, ItemFlag.UNUSED, str(since), self._parts.clock.now())

    def _procedure(self, record: MemoryRecord, digest: str, uses: Standing) -> Procedure:
        life = self._parts.lives.of(record.memory_id)
        used = (record.created_at, 0 if life is None else life.since, uses.last_used_at or 0)
        return Procedure(
            stage=self.stage(record),
            by_person=by_person(record.origin) and not record.promoted,
            risk=risk_of(record.text, record.risk_level),
            criteria=bool(criteria(record.text)),
            pinned=record.pinned,
            corrected=self._corrected(record),
            approved=self._approved(record, digest),
            used_at=max(used),
            promoted=_reviewed_by_team(record),
        )

    def _standing(self, record: MemoryRecord) -> Standing:
        return self._parts.standings.of(record.memory_id)

    def stage(self, record: MemoryRecord) -> Stage:
        """Where a procedure stands."""
        return stage_of(self._parts.lives.stages, record.memory_id, record.origin, promoted=record.promoted)

    def _corrected(self, record: MemoryRecord) -> bool:
        return Flag.CORRECTED in self._parts.marks.shown(record, self._parts.clock.now()).flags

    def _approved(self, record: MemoryRecord, digest: str) -> bool:
        return self._parts.marks.approved.get(record.memory_id) == digest


def _reviewed_by_team(record: MemoryRecord) -> bool:
    """Whether it is an entry that was read when it was promoted: nobody is asked once more."""
    return record.promoted and by_person(record.origin)


def of_memory(record: MemoryRecord, flag: ItemFlag, cause: str, now: Millis) -> QueueItem:
    """The queue item that a memory waits for a person, as it reads now. `cause` tells one occasion from the
    next."""
    words = words_of(record.title, record.text)
    return QueueItem(
        item_id=short_id("rev_", ["memory", str(flag), record.memory_id, words.ref, cause]),
        kind=ItemKind.MEMORY,
        pipeline=PIPELINE,
        workspace_key=record.scope.key if record.scope.kind is Scope.WORKSPACE else "",
        created_at=now,
        citations=(words,),
        flags=(flag,),
        proposed_by=PIPELINE,
        record_id=record.memory_id,
    )


async def propose_memory(parts: Parts, memory_ids: Sequence[str], flag: ItemFlag, cause: str = "") -> int:
    """Have these memories wait for a person, wherever they stand; how many were not waiting for this cause yet."""
    found = await parts.library.survey(partial(anywhere, memory_ids=memory_ids))
    now, done = parts.clock.now(), 0
    for one in {one.record.memory_id: one for one in found}.values():
        done += await parts.queue.propose(of_memory(one.record, flag, cause, now))
    return done


async def kept_back(parts: Parts, records: Iterable[MemoryRecord]) -> None:
    """Have what the screen keeps back of these wait for a person: those that were just written."""
    for record in records:
        if Flag.QUARANTINED in record.flags:
            await parts.queue.propose(of_screened(parts, record, ItemFlag.QUARANTINED))


def of_screened(parts: Parts, record: MemoryRecord, flag: ItemFlag) -> QueueItem:
    """The item of a record that the screen, or its own flag, keeps back. Words that were kept once and are not what was
    kept last come anew."""
    return of_memory(record, flag, parts.marks.approved.get(record.memory_id, ""), parts.clock.now())


async def run_rounds(parts: Parts) -> None:
    """The daemon's rounds: at the start all that has evidence, every minute what more was heard of, once a day every
    procedure."""
    lifecycle, swept = Lifecycle(parts), 0
    parts.lives.look_again(parts.standings.known())
    while True:
        await asyncio.sleep(ROUND_SECONDS)
        if parts.clock.now() - swept >= SWEEP_MS:
            swept = parts.clock.now()
            try:
                await lifecycle.sweep()
            except BROKEN:
                continue  # tomorrow again
        await lifecycle.round()
