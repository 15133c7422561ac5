"""The index that everybody stands on: its version, what of it is held in memory, and its order (M-05, G-05).

A change leaves a few segments of postings and new hot records: both are put in order some time later, in the
background and in small steps. Words of records that are gone stand in the postings until all segments were merged.
"""

import asyncio
import sqlite3
from collections.abc import Callable

from recall import indexing, lookup, tables
from recall.chores import Chores
from recall.contracts import Rebuildable, ScopeRef
from recall.hot import HOT, SLACK, Hot
from recall.indexing import Applied
from recall.kept import Kept
from recall.snapshot import Health

SETTLE_SECONDS = 1.0  # how long after a change what it left is put in order
TIDY_SECONDS = 0.25  # how long somebody waits for the last trace of a forgotten record to go
MERGED_PAGES = 64  # of the postings, by one transaction
CUTS = 10  # times that the log is tried to be cut when somebody reads
MANY = 1000  # records listed by one take-in, after which the postings are merged into one


class Standing:
    """What is known of the tables as they are. `written_by`: format, analyzer and guard; other tables are outdated."""

    def __init__(self, index: Rebuildable, written_by: str, health: Health, chores: Chores) -> None:
        self.version = ""
        self.epoch = 0
        self.unfinished: frozenset[ScopeRef] = frozenset()  # of roots that were not taken in to the end
        self.outdated = False  # the tables answer, but not as they should
        self.held = Hot()  # for the fallback scan
        self.kept = Kept()  # what look-ups have read of the tables at this version
        self._index = index
        self._written_by = written_by
        self._health = health
        self._chores = chores
        self._settling: asyncio.Task[None] | None = None
        self._tidying: asyncio.Task[None] | None = None
        self._grown = 0  # records listed since the postings were merged into one

    async def open(self) -> bool:
        """Stand on the tables, made if there are none; those of another format are emptied. False: they cannot be read
        or written just now, which is noted in the health."""
        try:
            found = await self._index.read(tables.meta)
            if found is None:
                await self._index.write(lambda connection: tables.begin(connection, self._written_by))
            elif found.reader.split()[0] != tables.FORMAT:
                await self._emptied()
            await self.stand()
        except sqlite3.DatabaseError as error:
            if not self._health.note(error):
                self._health.problem = str(error)
                return False
        return True

    async def stand(self) -> None:
        """Take the tables as they are now."""
        found = await self._index.read(tables.meta)
        assert found is not None
        self.version, self.epoch = found.version, found.epoch
        self.kept = Kept(self.version, self.epoch)
        self.outdated = found.reader != self._written_by
        await self.roots_changed()
        await self._hold()
        await self.tidy_if_needed()

    async def told(self, applied: Applied) -> None:
        """A transaction was committed."""
        self.version = applied.version
        self.kept = Kept(self.version, self.epoch)
        if not applied.listed and not applied.unlisted:
            return
        few = list(applied.listed) if len(applied.listed) <= SLACK else []
        rows = await self._index.read(lambda connection: lookup.rows(connection, few)) if few else []
        self.held = self.held.changed(set(applied.unlisted), rows)
        self._grown += len(applied.listed)
        if self._settling is None or self._settling.done():
            self._settling = self._chores.begin(self._settle_later())

    async def roots_changed(self) -> None:
        """A root was begun, finished or found missing."""
        self.unfinished = await self._index.read(indexing.scopes if self.outdated else indexing.unfinished)

    async def tidy(self) -> None:
        """Merge the postings into one, so that no word of a record that is gone is left. Waits a moment for it; it goes
        on, and is begun again after a restart."""
        await self._chores.wait(self._begin_tidy(), TIDY_SECONDS)

    async def tidy_if_needed(self) -> None:
        """Begin to merge the postings when words of records that are gone stand in them."""
        left: str = await self._index.read(tables.untidy)
        if left:
            self._begin_tidy()

    def tidy_if_grown(self) -> None:
        """Begin to merge the postings when much was added: one segment is searched fastest."""
        if self._grown > MANY:
            self._begin_tidy()

    async def _emptied(self) -> None:
        """Put empty tables of this format in the place of those of another one, which cannot be read."""
        kept = await self._index.read(tables.carried)
        async with self._index.aside() as fresh:
            await fresh.write(lambda connection: tables.begin(connection, self._written_by, kept))

    async def _settle_later(self) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        try:
            await self._hold()
            await self._merge(MERGED_PAGES)
        except sqlite3.DatabaseError as error:
            self._health.note(error)

    async def _hold(self) -> None:
        self.held = Hot(await self._index.read(lambda connection: lookup.hottest(connection, HOT)))

    def _begin_tidy(self) -> "asyncio.Task[None]":
        if self._tidying is None or self._tidying.done():
            self._grown = 0
            self._tidying = self._chores.begin(self._tidy())
        return self._tidying

    async def _tidy(self) -> None:
        try:
            upto = await self._index.read(tables.untidy)
            await self._merge(-MERGED_PAGES)
            for _ in range(CUTS):
                if await self._index.cut_log():
                    await self._index.write(lambda connection: tables.tidied(connection, upto))
                    return
                await asyncio.sleep(SETTLE_SECONDS)
        except sqlite3.DatabaseError as error:
            self._health.note(error)

    async def _merge(self, pages: int) -> None:
        while await self._index.write(_merging(pages)):
            pages = abs(pages)


def _merging(pages: int) -> Callable[[sqlite3.Connection], bool]:
    return lambda connection: tables.merge(connection, pages)
