"""What people do to memory files by hand, written down (formation.md 7.2). A file is the truth of what its records say.

An edit wins: it is the record's next version. One record that was taken out of a file is archived. That a whole file or
folder is not there archives nothing: it may be on another disk, and comes back. A change counts once it was seen in two
rounds: what is being written just now is not taken for somebody's hand.
"""

import asyncio
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import structlog

from governance.formation.claims import claim_of
from governance.formation.contracts import DecisionLine, FormedMemory, Life, RecordLine, TombstoneLine
from governance.formation.errors import StateFault
from governance.formation.queue import Queue, Words
from governance.formation.store import memories, outbox
from governance.review import Act, Decision, Principal, QueueItem
from host.clock import Clock
from host.formation.projector import Projector
from host.kept import KeptDatabase
from host.roots import Roots
from host.views import only
from recall.contracts import MemoryRecord, Millis
from recall.errors import IndexFault
from recall.library import Library
from recall.survey import anywhere
from recall.volumes import FOLDER, month_of

BATCH = 256
ROUND_SECONDS = 60.0
EVERY = 10  # rounds, after which everything is looked at though the index has not moved
EDITED, REMOVED = "edited-by-hand", "removed-by-hand"
_UNREADABLE = (sqlite3.Error, StateFault, IndexFault, OSError)


@dataclass(kw_only=True, slots=True)
class Reconciling:
    """`away`: workspaces whose memory folder, or a month of it, is not there though records of it are known."""

    database: KeptDatabase
    queue: Queue
    library: Library
    roots: Roots
    projector: Projector
    clock: Clock
    log: structlog.typing.FilteringBoundLogger
    away: frozenset[str] = frozenset()
    _version: str = ""
    _rested: int = 0
    _seen: dict[str, str] = field(default_factory=dict)  # memory id -> what was seen of it in the last round

    async def run(self) -> None:
        """Round after round."""
        while True:
            try:
                await self.round()
            except _UNREADABLE as error:
                self.log.warning("reconciling.unread", error=type(error).__name__)
            await asyncio.sleep(ROUND_SECONDS)

    async def round(self) -> int:
        """Look at every formed record that is live; how many changes were written down. Raises StateFault and
        IndexFault."""
        version = self.library.snapshot(self.clock.now()).version
        self._rested += 1
        if version == self._version and not self._seen and self._rested < EVERY:
            return 0  # the index follows the files: nothing has moved
        self._version, self._rested = version, 0
        seen: dict[str, str] = {}
        away: set[str] = set()
        done, after = 0, ""
        while rows := await self.database.read(partial(memories.live_after, memory_id=after, limit=BATCH)):
            after = rows[-1].memory_id
            done += await self._batch(rows, seen, away)
        self._seen, self.away = seen, frozenset(away)
        if done:
            self.projector.nudge()
        return done

    async def _batch(self, rows: Sequence[FormedMemory], seen: dict[str, str], away: set[str]) -> int:
        for team in {row.team for row in rows}:
            root = self.roots.private(team)
            if await asyncio.to_thread(Path(root.path).is_dir):
                await self.library.adopt(root)
            else:
                away.add(team)
        ids = [row.memory_id for row in rows]
        await self.library.verify(ids)  # a look at the files concerned
        walked = await self.library.survey(partial(anywhere, memory_ids=ids))
        standing = {one.record.memory_id: one.record for one in walked}
        waiting = await self.database.read(partial(outbox.of_these, memory_ids=ids))
        done = 0
        for row in rows:
            if row.memory_id in waiting:
                continue
            record = standing.get(row.memory_id)
            mark = await self._changed(row, record, away)
            if not mark:
                continue
            seen[row.memory_id] = mark
            if self._seen.get(row.memory_id) == mark:
                await self._write_down(row, record)
                done += 1
                del seen[row.memory_id]
        return done

    async def _changed(self, row: FormedMemory, record: MemoryRecord | None, away: set[str]) -> str:
        """What changed, as a mark that is the same when it is seen again; empty: nothing, or nobody can tell."""
        if record is not None:
            claim = claim_of(record.text)
            return "" if claim == row.claim else f"{EDITED}:{claim}"
        scope = self.roots.private(row.team).scope
        index = self.library.snapshot(self.clock.now())
        if index.partial(only(scope)) or index.health.damaged:
            return ""
        if not await asyncio.to_thread(_has_month, Path(self.roots.private(row.team).path), month_of(row.created_at)):
            away.add(row.team)
            return ""
        return REMOVED

    async def _write_down(self, row: FormedMemory, record: MemoryRecord | None) -> None:
        now = self.clock.now()
        if record is not None:
            await self.database.write(partial(self._edited, row=row, record=record, now=now))
        else:
            await self.database.write(partial(self._removed, row=row, now=now))
        self.log.info("memory.by-hand", memory=row.memory_id, what=EDITED if record else REMOVED)

    def _edited(self, connection: sqlite3.Connection, row: FormedMemory, record: MemoryRecord, now: Millis) -> None:
        changed = msgspec.structs.replace(row, version=row.version + 1, claim=claim_of(record.text), updated_at=now)
        memories.put(connection, changed)
        line = RecordLine(
            memory_id=row.memory_id,
            version=changed.version,
            record=record,
            formed=changed,
            sources=memories.sources(connection, row.memory_id),
            at=now,
        )
        outbox.put(connection, line, now)
        words = Words(text=record.text, title=record.title or "")
        self._decided(connection, changed, (Act.EDIT_AND_KEEP, EDITED, now), words)

    def _removed(self, connection: sqlite3.Connection, row: FormedMemory, now: Millis) -> None:
        memories.move(connection, row.memory_id, Life.ARCHIVED, now)
        line = TombstoneLine(memory_id=row.memory_id, version=row.version, why=Life.ARCHIVED, digest="", at=now)
        outbox.put(connection, line, now)
        self._decided(connection, row, (Act.ARCHIVE, REMOVED, now))

    def _decided(
        self,
        connection: sqlite3.Connection,
        row: FormedMemory,
        what: tuple[Act, str, Millis],
        words: Words | None = None,
    ) -> None:
        """The decision on the record's item, where there is one that takes it."""
        act, reason, now = what
        for item in self.queue.about(connection, row.memory_id):
            decision = Decision(actor=Principal.HUMAN, kind=act, at=now, expected_revision=item.revision, reason=reason)
            if isinstance(self.queue.decision(connection, item.item_id, decision, words), QueueItem):
                line = DecisionLine(
                    memory_id=row.memory_id, version=row.version, item_id=item.item_id, decision=decision, at=now
                )
                outbox.put(connection, line, now)
                return


def _has_month(root: Path, month: str) -> bool:
    """Whether a file of that month is there: one that is missing whole says nothing about its records."""
    form = re.compile(rf"{re.escape(month)}(?:-\d+)?\.md")
    try:
        return any(form.fullmatch(path.name) for path in (root / FOLDER).iterdir())
    except OSError:
        return False
