"""`extract --recover`: the tables of formation made again from the lines of what was written (formation.md 6).

Lines are read in their order and to read one twice changes nothing, so that it may be run at any time. A line that
cannot be read, as one that a crash cut, is reported and passed over. Files of memories are not touched: they are the
truth of what a record says, the lines of how it came to be and what became of it.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from governance.formation.contracts import Barrier, CursorLine, Line, Receipt, RecordLine, TombstoneLine
from governance.formation.queue import Queue, screened
from governance.formation.store import memories, ranges, receipts
from governance.review import QUOTE, Citation, ItemKind, QueueItem, State
from host.formation.journal import Journal, Read
from host.formation.ports import Recovered
from host.kept import KeptDatabase
from recall.contracts import Flag, Status

BATCH = 512
DENIED = "denied"
NOTE = (
    "What waited for a person or for a second conversation stood in no line and is not back; evidence notes neither."
    " Conversations that were not formed yet are formed as before."
)
WELL = "governance.db is well and stays as it is: whatever a line said that it lacked is in it now."
ASIDE = (
    "The broken file is kept beside the new one as {}. It holds words, of what is forgotten later too: delete it when"
    " you miss nothing."
)


@dataclass(kw_only=True, slots=True)
class _Counted:
    records: set[str] = field(default_factory=set)
    versions: int = 0
    superseded: set[str] = field(default_factory=set)
    cursors: int = 0

    def note(self, line: Line) -> None:
        match line:
            case RecordLine():
                self.records.add(line.memory_id)
                self.versions += 1
                if line.record.status is Status.SUPERSEDED:
                    self.superseded.add(line.memory_id)
            case TombstoneLine() if line.why == "superseded":
                self.superseded.add(line.memory_id)
            case CursorLine():
                self.cursors += 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """`reload`: what is held in memory of governance.db is read again."""

    database: KeptDatabase
    queue: Queue
    journal: Journal
    reload: Callable[[], Awaitable[None]]

    async def run(self) -> Recovered:
        """Read every line. Raises StateFault for a file that is newer or in use, OSError for lines that are out of
        reach."""
        well = not self.database.problem
        aside = await self.database.anew()
        counted, torn = _Counted(), list[str]()
        lines = self.journal.read()
        while batch := await asyncio.to_thread(_next, lines):
            torn += [f"{one.file}:{one.number}" for one in batch if one.line is None]
            known = [(one.line, _item(one.line)) for one in batch if one.line is not None]
            await self.database.write(partial(self._take, known=known))
            for line, _ in known:
                counted.note(line)
        await self.reload()
        return Recovered(
            records=len(counted.records),
            versions=counted.versions,
            superseded=len(counted.superseded),
            cursors=counted.cursors,
            torn=tuple(torn),
            aside=aside,
            note=f"{NOTE} {ASIDE.format(aside)}" if aside else WELL if well else NOTE,
        )

    def _take(self, connection: sqlite3.Connection, known: Sequence[tuple[Line, QueueItem | None]]) -> None:
        for line, item in known:
            if item is not None and memories.of(connection, line.memory_id) is None:
                self.queue.put(connection, item)
            memories.restore(connection, line)
            self.queue.restore(connection, line)
            if isinstance(line, CursorLine):
                _moved(connection, line)


def _moved(connection: sqlite3.Connection, line: CursorLine) -> None:
    """The cursor as a line says, unless it is further by now; with its receipt, and the span that was denied."""
    here = ranges.cursor(connection, line.pipeline, line.session_id)
    if line.processed_seq > here:
        ranges.advance(connection, line.pipeline, line.session_id, (here, line.processed_seq), line.at)
    if line.operation_id and receipts.find(connection, line.operation_id) is None:
        receipts.put(
            connection,
            Receipt(
                operation_id=line.operation_id,
                request_hash=line.request_hash,
                pipeline=line.pipeline,
                status=line.status,
                outcome="{}",
                committed_at=line.at,
                session_id=line.session_id,
                from_seq=line.from_seq,
                through_seq=line.processed_seq,
            ),
        )
    if line.status == DENIED and line.from_seq is not None:
        span = Barrier(session_id=line.session_id, from_seq=line.from_seq, through_seq=line.processed_seq)
        ranges.bar(connection, span, line.at)


def _item(line: Line) -> QueueItem | None:
    """The item of a record that was committed by itself: a person may decide about it still."""
    if not isinstance(line, RecordLine):
        return None
    record, formed = line.record, line.formed
    quotes = tuple(
        Citation(kind=QUOTE, ref=one.message_id, quote=one.quote, session=one.session_id, role=one.role, at=one.at)
        for one in line.sources
        if one.quote
    )
    return screened(
        QueueItem(
            item_id=line.memory_id,
            kind=ItemKind.MEMORY,
            pipeline=str(formed.pipeline),
            workspace_key=formed.team,
            created_at=formed.created_at,
            state=State.PENDING if Flag.QUARANTINED in record.flags else State.COMMITTED,
            title=record.title or "",
            text=record.text,
            citations=quotes,
            proposed_by=str(formed.pipeline),
            record_id=line.memory_id,
        )
    )


def _next(lines: Iterator[Read]) -> list[Read]:
    return list(islice(lines, BATCH))
