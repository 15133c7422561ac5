"""Bringing a root in an index up to what its files are now: in the one in use, or in one that is made beside it.

A root of any size is taken in batch by batch. The next batch is read and analysed on a worker thread while the last one
is written; between two batches whoever else has something to take in gets his turn. What was compared with rows that
are not the index's any more by the time of writing is compared again.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from recall import indexing, tables
from recall.contracts import Database
from recall.documents import PROVIDER_FILES
from recall.entries import FileChange, Guard, Known, Place, Root, admitted
from recall.indexing import Applied, KnownFile, KnownRoot
from recall.intake import Look, changed_since, emptied, look, passed, still_gone, take
from recall.reader import Reader, ReaderFault, ReaderSetup
from recall.work import Work

Names = Collection[str] | None  # relative paths of files that are named; None: all of the root
MANY_BATCHES = 3  # that are worth a process of their own
READER_SECONDS = 60.0  # for one batch: longer means that it hangs
FOLLOWED = 4  # how often other files are looked at because records of theirs turned up elsewhere


class Replaced(Exception):
    """The index was replaced by another one meanwhile."""


class _At(NamedTuple):
    """The root that is being taken in, as the index of that epoch has it."""

    root: Root
    place: Place
    known: KnownRoot
    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Sync:
    """Roots in, rows out, over one database. `turn` is held for one batch; `told` hears of each transaction before it
    is given up, `roots_changed` of a root that was begun, finished or found missing. `epoch` says which making of the
    tables the database stands for just now."""

    database: Database
    guard: Guard
    turn: asyncio.Lock
    work: Work
    epoch: Callable[[], int]
    told: Callable[[Applied], Awaitable[None]]
    roots_changed: Callable[[], Awaitable[None]]
    reader: ReaderSetup | None = None  # a process that reads and analyses, for what is large

    async def root(self, root: Root, place: Place, names: Names) -> None:
        """Take in one root, or files of it."""
        while True:
            try:
                return await self._attempt(root, place, names)
            except Replaced:  # by an index that may hold all of this already
                continue

    async def _attempt(self, root: Root, place: Place, names: Names) -> None:
        epoch = self.epoch()
        async with self._my_turn(epoch):
            before = await self.database.read(lambda connection: indexing.find_root(connection, place.path))
            same = before is not None and before.says(root, place)
            if before is None and not await asyncio.to_thread(_anything, place):
                return  # the index knows nothing of it, and nothing is there
            known = before if before is not None and same else await self._made(root, place)
        at, wanted = _At(root, place, known, epoch), names if same else None
        files = await self.database.read(lambda connection: indexing.known_files(connection, known.id, wanted))
        seen = await asyncio.to_thread(look, place, files, wanted, PROVIDER_FILES if root.provider else None)
        if (seen is None) != known.missing:
            async with self._my_turn(epoch):
                await self.database.write(lambda connection: indexing.set_missing(connection, known.id, seen is None))
                await self.roots_changed()
        if seen is None:
            return
        with self.work.of(seen.count()):
            await self._run(at, seen)
            if wanted is None and not known.taken:
                async with self._my_turn(epoch):
                    await self.database.write(lambda connection: indexing.set_taken(connection, known.id))
                    await self.roots_changed()

    async def _made(self, root: Root, place: Place) -> KnownRoot:
        made = await self.database.write(lambda connection: indexing.ensure_root(connection, root, place))
        await self.told(Applied(await self.database.read(tables.version)))  # a root of another scope changes it
        await self.roots_changed()
        return made

    async def _run(self, at: _At, seen: Look) -> None:
        """Take in what was seen. What is gone goes with the only batch, for it may have moved; else after the last."""
        last: Sequence[str] = seen.gone
        desk = _Desk(self.reader if len(seen.news) >= MANY_BATCHES else None, self.guard)
        ahead = self._begin(at, desk, seen.news, 0)
        try:
            for number, batch in enumerate(seen.news):
                assert ahead is not None
                changes = await ahead
                ahead = self._begin(at, desk, seen.news, number + 1)
                gone, last = (last, ()) if len(seen.news) == 1 else ((), last)
                async with self._my_turn(at.epoch):
                    away = await self._pull(at, changes)
                    await self._write(at, changes, [*await self._still_gone(at, gone), *away])
                self.work.did(len(batch))
        finally:
            if ahead is not None:
                ahead.cancel()
                await asyncio.gather(ahead, return_exceptions=True)
            await desk.close()
        if last or seen.passed_over:
            async with self._my_turn(at.epoch):
                await self._write(at, passed(seen.passed_over), await self._still_gone(at, last))

    def _begin(
        self, at: _At, desk: "_Desk", batches: Sequence[Sequence[str]], number: int
    ) -> "asyncio.Task[list[FileChange]] | None":
        return asyncio.create_task(self._analysed(at, batches[number], desk)) if number < len(batches) else None

    async def _analysed(self, at: _At, names: Sequence[str], desk: "_Desk | None" = None) -> list[FileChange]:
        """Read files and compare them with what the index holds of them."""

        def held(connection: sqlite3.Connection) -> Mapping[str, tuple[KnownFile | None, Mapping[str, Known]]]:
            files = indexing.known_files(connection, at.known.id, names)
            return {
                name: (files.get(name), indexing.known_records(connection, at.known.id, name) if name in files else {})
                for name in names
            }

        known = await self.database.read(held)
        return await (desk or _Desk(None, self.guard)).take(at, names, known)

    async def _pull(self, at: _At, changes: list[FileChange]) -> list[str]:
        """Look at the files which, by the index, hold what turned up in these: records are moved, and news of the one
        file may come before news of the other. Adds those that changed to `changes`; returns those that are gone."""
        away: list[str] = []
        fresh = changes[:] if at.known.taken else []
        for _ in range(FOLLOWED):
            ids = [entry.memory_id for change in fresh for entry in change.added]
            if not ids:
                break
            seen = {change.relative for change in changes}.union(away)
            others = await self.database.read(_elsewhere(at, ids, seen))
            other, gone = await asyncio.to_thread(changed_since, at.place, others)
            away += gone
            fresh = await self._analysed(at, other) if other else []
            changes += fresh
        return away

    async def _still_gone(self, at: _At, names: Sequence[str]) -> list[str]:
        return await asyncio.to_thread(still_gone, at.place, names) if names else []

    async def _write(self, at: _At, changes: Sequence[FileChange], gone: Sequence[str]) -> None:
        if not changes and not gone:
            return
        let = [admitted(change, self.guard) for change in changes]
        applied = await self.database.write(lambda connection: indexing.apply(connection, at.known.id, let, gone))
        await self.told(applied)
        if applied.stale:  # compared before our turn; now nobody else writes
            await self._write(at, await self._analysed(at, applied.stale), ())

    @asynccontextmanager
    async def _my_turn(self, epoch: int) -> AsyncIterator[None]:
        async with self.turn:
            if self.epoch() != epoch:
                raise Replaced
            yield


class _Desk:
    """Where files are read and analysed: by a process of its own, if there is one and as long as it does as it should,
    else by a worker thread. The process is started with the second batch."""

    def __init__(self, setup: ReaderSetup | None, guard: Guard) -> None:
        self._setup = setup
        self._guard = guard
        self._reader: Reader | None = None
        self._batches = 0

    async def take(
        self, at: _At, names: Sequence[str], known: Mapping[str, tuple[KnownFile | None, Mapping[str, Known]]]
    ) -> list[FileChange]:
        self._batches += 1
        try:
            if self._setup is not None and self._batches > 1:
                if self._reader is None:
                    self._reader = await asyncio.to_thread(Reader, self._setup)
                ask = self._reader.take
                async with asyncio.timeout(READER_SECONDS):
                    return await asyncio.to_thread(ask, at.place, at.root, names, known)
        except (ReaderFault, OSError, TimeoutError):
            await self.close()
        return await asyncio.to_thread(take, at.place, at.root, names, known, self._guard)

    async def close(self) -> None:
        """End the process, whatever it does."""
        reader, self._reader, self._setup = self._reader, None, None
        if reader is not None:
            reader.kill()
            await asyncio.to_thread(reader.close)


def _anything(place: Place) -> bool:
    """Whether there is anything of the root on disk."""
    return not emptied(place) and look(place, {}, ()) is not None


def _elsewhere(at: _At, ids: Sequence[str], seen: Collection[str]) -> Callable[[sqlite3.Connection], dict[str, str]]:
    return lambda connection: indexing.elsewhere(connection, ids, at.known.id, seen)
