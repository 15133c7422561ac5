"""The outbox written to the files, in its order, once by (memory id, version): a line of the journal, then the record
in its Markdown file, then the mark that it is done (formation.md 6).

Whatever stops it, it begins again at the first line that is not marked: each step finds what it did already. A line
that cannot be written holds back the later ones of its own memory, and nobody else's.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import structlog

from governance.formation.contracts import Fault, Line, RecordLine, TombstoneLine, no_fault
from governance.formation.errors import StateFault
from governance.formation.store import memories, outbox
from host.clock import Clock
from host.contracts import Reason
from host.formation.journal import Journal
from host.roots import Roots
from host.views import only
from recall.contracts import Database, MemoryRecord, Scope, ScopeRef, Status
from recall.errors import IndexFault
from recall.files import RefusalKind, Refused
from recall.library import Library, Root
from recall.survey import anywhere

BATCH = 64
AGAIN_SECONDS = 30.0
KEPT_MS = 30 * 86_400_000  # for which numbers of what was done stay in the table
APPENDED, WRITTEN, MARKED = "after-append", "after-markdown", "after-mark"  # named points: tests stop the process there
_REASONS = {"superseded": Reason.SUPERSEDED, "forgotten": Reason.FORGOTTEN}
_STATUSES = {"superseded": Status.SUPERSEDED, "archived": Status.ARCHIVED}
_line = msgspec.json.Decoder(Line)

Gone = Callable[[str, Reason], Awaitable[object]]  # a record is out of recall: packets that carry it go


class Unwritten(Exception):
    """A file did not take it. What is to be done stands in `str(error)`."""


@dataclass(kw_only=True, slots=True)
class Projector:
    """`gone`: told of each record that leaves recall."""

    database: Database
    journal: Journal
    library: Library
    roots: Roots
    gone: Gone
    clock: Clock
    log: structlog.typing.FilteringBoundLogger
    fault: Fault = no_fault
    problem: str = ""  # why a line could not be written when it was tried last
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def nudge(self) -> None:
        """Lines were committed: write them soon."""
        self._news.set()

    async def drain(self) -> int:
        """Write all that waits; how many lines could not be. Raises StateFault or sqlite3.Error when governance.db
        cannot be read."""
        async with self._turn:
            left, after = 0, 0
            held: set[str] = set()
            self.problem = ""
            while rows := await self.database.read(partial(outbox.waiting, limit=BATCH, after=after)):
                for row in rows:
                    after = row.number
                    if row.memory_id and row.memory_id in held:
                        left += 1
                    elif not await self._write(row):
                        held.add(row.memory_id)
                        left += 1
            return left

    async def forget(self, memory_id: str) -> None:
        """Take a memory's words out of the journal, and write what else waits. Raises OSError."""
        async with self._turn:
            await asyncio.to_thread(self.journal.forget, memory_id)
        self.nudge()

    async def run(self) -> None:
        """Write what waits whenever told to, and what could not be written, again and again."""
        while True:
            self._news.clear()
            try:
                left = await self.drain()
                await self._prune()
            except (sqlite3.Error, StateFault) as error:
                left = 1
                self.log.warning("outbox.unread", error=type(error).__name__)
            try:
                async with asyncio.timeout(AGAIN_SECONDS if left else None):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def _write(self, row: outbox.OutboxRow) -> bool:
        try:
            line = _line.decode(row.line)
            await asyncio.to_thread(self.journal.append, row.line.encode(), row.at)
            self.fault(APPENDED)
            await self._apply(line)
            self.fault(WRITTEN)
        except (OSError, IndexFault, Unwritten, msgspec.DecodeError, StateFault) as error:
            self.problem = f"A change of {row.memory_id or 'a session'} cannot be written: {error}"
            self.log.warning("outbox.unwritten", memory=row.memory_id, error=type(error).__name__)
            return False
        now = self.clock.now()
        await self.database.write(lambda connection: outbox.done(connection, row.number, now))
        self.fault(MARKED)
        return True

    async def _apply(self, line: Line) -> None:
        match line:
            case RecordLine():
                await self._record(line)
            case TombstoneLine():
                await self._tombstone(line)
            case _:
                return  # the journal alone has it

    async def _record(self, line: RecordLine) -> None:
        record = line.record
        root = self._root(record.scope)
        found = await self._standing(record.memory_id, record.scope, root)
        if found is None:
            if record.status is Status.ACTIVE:
                self._took(await self.library.remember(record, root))
            return
        now, digest = found
        wanted = record
        if record.status is not Status.ACTIVE:  # only its end is told: the words in the file are its owner's
            wanted = msgspec.structs.replace(now, status=record.status, superseded_by=record.superseded_by)
        await self._put(wanted, now, digest)
        if record.status is not Status.ACTIVE:
            await self.gone(record.memory_id, _REASONS.get(str(record.status), Reason.STALE_INDEX))

    async def _tombstone(self, line: TombstoneLine) -> None:
        found = await self._anywhere(line.memory_id)
        if line.why == "forgotten":
            await self.database.write(lambda connection: outbox.forget(connection, line.memory_id, self.clock.now()))
            await asyncio.to_thread(self.journal.forget, line.memory_id)
            if found is not None:
                done = await self.library.forget(line.memory_id, only(found[0].scope))
                if isinstance(done, Refused):
                    raise Unwritten(done.problem)
        elif found is not None:
            now, digest = found
            status = _STATUSES.get(line.why, Status.ARCHIVED)
            wanted = msgspec.structs.replace(now, status=status, superseded_by=line.superseded_by or now.superseded_by)
            await self._put(wanted, now, digest)
        await self.gone(line.memory_id, _REASONS.get(line.why, Reason.STALE_INDEX))

    async def _put(self, wanted: MemoryRecord, now: MemoryRecord, digest: str) -> None:
        """Bring a record up to what it is to be; the same is left as it is."""
        if _like(wanted, now):
            return
        done = await self.library.edit(wanted, digest, only(now.scope))
        if done is None:
            raise Unwritten("the record was moved meanwhile")
        self._took(done)

    async def _standing(self, memory_id: str, scope: ScopeRef, root: Root) -> tuple[MemoryRecord, str] | None:
        """A record as it stands in its file, with its digest; None: it does not."""
        if await asyncio.to_thread(Path(root.path).is_dir):
            await self.library.adopt(root)
        await self.library.verify([memory_id], only(scope))  # a look at the file: the index may be behind
        found = await self.library.get(memory_id, only(scope))
        index = self.library.snapshot(self.clock.now())
        if found is None and (index.partial(only(scope)) or index.health.damaged):
            raise Unwritten("the index is still being filled")  # what is not found may be there all the same
        return None if found is None else (found[0], found[1].record_digest)

    async def _anywhere(self, memory_id: str) -> tuple[MemoryRecord, str] | None:
        """The same of a record whose scope the line does not tell: its row does, or the index."""
        formed = await self.database.read(lambda connection: memories.of(connection, memory_id))
        scopes = [] if formed is None else [ScopeRef(kind=Scope.WORKSPACE, key=formed.team), self.roots.user().scope]
        walked = await self.library.survey(partial(anywhere, memory_ids=[memory_id]))
        scopes += [one.record.scope for one in walked if one.record.scope not in scopes]
        for scope in scopes:
            if scope.kind in (Scope.WORKSPACE, Scope.USER) and scope.key:
                found = await self._standing(memory_id, scope, self._root(scope))
                if found is not None:
                    return found
        return None

    def _root(self, scope: ScopeRef) -> Root:
        return self.roots.user() if scope.kind is Scope.USER else self.roots.private(scope.key)

    def _took(self, done: object) -> None:
        if isinstance(done, Refused) and done.kind is not RefusalKind.DUPLICATE:
            raise Unwritten(done.problem)

    async def _prune(self) -> None:
        before = self.clock.now() - KEPT_MS
        await self.database.write(lambda connection: outbox.prune(connection, before))


def _like(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether two records say the same of the same memory. What a file does not hold is not compared."""
    return _face(one) == _face(other)


def _face(one: MemoryRecord) -> tuple[object, ...]:
    return (
        one.text,
        one.title or "",
        one.status,
        one.superseded_by,
        one.origin,
        one.pinned,
        one.priority,
        one.importance,
        tuple(sorted(one.flags)),
        tuple(sorted(one.tags)),
    )
