"""Making the index anew beside the one in use, which goes on answering, and putting it in its place (M-06).

Every root that the old index knows or that was adopted is read again; the versions of files are taken over, so are the
records of a root whose folder is not there just now. What is asked for meanwhile goes to the old index and is noted,
and is taken in again before the new one takes over. When anything goes wrong, the old one stays.
"""

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TypeVar

from recall import indexing, tables
from recall.adopted import Adopted, Asked
from recall.contracts import Database, Origin, Rebuildable, Scope, ScopeRef
from recall.entries import FileChange, Guard, Place, Root, entry
from recall.indexing import Applied
from recall.reader import ReaderSetup
from recall.records import KeptFile, kept
from recall.syncing import Sync
from recall.tables import Carried, StoredRoot
from recall.work import Work

FEW = 16  # roots with news that may be left for the moment when everybody waits
ROUNDS = 8
MERGED_PAGES = 512  # of the postings, by one transaction that nobody waits for
PAGE = 64  # files whose records are taken over at a time
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rebuild:
    """One making of the index. `meanwhile`: what was taken into the old one since it began."""

    index: Rebuildable
    written_by: str
    guard: Guard
    adopted: Adopted
    work: Work
    reader: ReaderSetup | None = None
    meanwhile: Asked = field(default_factory=dict)

    async def run(self, epoch: int, turn: asyncio.Lock, swapped: Callable[[], Awaitable[None]]) -> None:
        """Make it, and swap it in while `turn` is held; `swapped` is told before others get their turn.

        Raises sqlite3.Error or OSError, and then nothing has changed.
        """
        old = await self._old(tables.carried) or Carried()
        old = old._replace(epoch=max(old.epoch, epoch))
        async with AsyncExitStack() as stack:
            stack.enter_context(self.work.of(0))  # all roots are one piece of work
            async with self.index.aside() as fresh:
                await fresh.write(lambda connection: tables.begin(connection, self.written_by, old))
                sync = self._sync(fresh)
                for root, place in self._roots(old.roots):
                    await sync.root(root, place, None)
                    await self._keep_missing(fresh, place)
                await _merged(fresh)
                for _ in range(ROUNDS):
                    if len(self.meanwhile) > FEW or None in self.meanwhile.values():
                        await self._catch_up(sync)
                await stack.enter_async_context(turn)
                await self._catch_up(sync)
            await swapped()

    def _roots(self, stored: Sequence[StoredRoot]) -> list[tuple[Root, Place]]:
        """Roots as they were adopted, else as the old index has them."""
        known = {one.path: _as_stored(one) for one in stored}
        known |= {path: found for path in self.adopted.paths() if (found := self.adopted.get(path))}
        return list(known.values())

    def _sync(self, fresh: Database) -> Sync:
        return Sync(
            database=fresh,
            guard=self.guard,
            turn=asyncio.Lock(),
            work=self.work,
            epoch=lambda: 0,
            told=_unheard,
            roots_changed=_nothing,
            reader=self.reader,
        )

    async def _catch_up(self, sync: Sync) -> None:
        news = dict(self.meanwhile)
        self.meanwhile.clear()
        for path, names in news.items():
            found = self.adopted.get(path)
            if found is None:
                continue
            await sync.root(*found, names)
            await sync.database.write(_agree(path, await self._old(_versions(path, names)) or ()))

    async def _keep_missing(self, fresh: Database, place: Place) -> None:
        """Take over the records of a root whose folder is not there, as far as the old index can be read."""
        root = await fresh.read(lambda connection: indexing.find_root(connection, place.path))
        if root is None or not root.missing:
            return
        names = [name for name, _, _ in await self._old(_versions(place.path, None)) or ()]
        for start in range(0, len(names), PAGE):
            held = await self._old(_held(place.path, names[start : start + PAGE])) or ()
            changes = await asyncio.to_thread(_again, held, self.guard)
            await fresh.write(_apply(root.id, changes))

    async def _old(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What the old index says; None when it cannot be read."""
        try:
            return await self.index.read(work)
        except sqlite3.Error:
            return None


async def _unheard(applied: Applied) -> None:
    """Nobody asks an index that is being made."""


async def _nothing() -> None:
    """Nor for its roots."""


async def _merged(fresh: Database) -> None:
    """Postings in one segment are searched fastest."""
    pages = -MERGED_PAGES
    while await fresh.write(_merging(pages)):
        pages = MERGED_PAGES


def _as_stored(root: StoredRoot) -> tuple[Root, Place]:
    """A root that was not adopted since the start, as the index has it."""
    scope = ScopeRef(kind=Scope(root.scope_kind), key=root.scope_key)
    file = os.path.basename(root.path) if root.folder != root.path else None
    place = Place(path=root.path, folder=root.folder, file=file, top=root.top, ours=not root.provider)
    return Root(path=root.path, scope=scope, origin=Origin(root.origin), provider=root.provider), place


def _again(held: Sequence[KeptFile], guard: Guard) -> list[FileChange]:
    """Files as the old index has them, analysed anew. Without a stamp: they are read as soon as they are back."""
    return [
        FileChange(
            file.relative,
            file.digest,
            "",
            refused=file.refused,
            findings=file.findings,
            added=tuple(entry(record, digest, span, guard) for record, digest, span in file.records),
        )
        for file in held
    ]


def _merging(pages: int) -> Callable[[sqlite3.Connection], bool]:
    return lambda connection: tables.merge(connection, pages)


def _versions(path: str, names: Collection[str] | None) -> Callable[[sqlite3.Connection], list[tuple[str, str, int]]]:
    return lambda connection: indexing.versions(connection, path, names)


def _agree(path: str, theirs: Sequence[tuple[str, str, int]]) -> Callable[[sqlite3.Connection], None]:
    return lambda connection: indexing.agree(connection, path, theirs)


def _held(path: str, names: Sequence[str]) -> Callable[[sqlite3.Connection], list[KeptFile]]:
    return lambda connection: kept(connection, path, names)


def _apply(root: int, changes: Sequence[FileChange]) -> Callable[[sqlite3.Connection], Applied]:
    return lambda connection: indexing.apply(connection, root, changes)
