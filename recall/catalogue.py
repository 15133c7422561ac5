"""Keeping the index in step with the roots (M-06): adopt, look again, make anew, follow.

Files are read and analysed on worker threads and written in transactions of a few files, each of which publishes its
version. A root of any size is adopted in the background; who asked for it waits a moment only. An index that is broken,
lost or of another analyzer is made anew beside the old one (`recall.rebuilding`), by itself, and again later when that
cannot be done just now.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping

from recall.adopted import Adopted, Asked, add, take_away
from recall.analyzer import ANALYZER
from recall.chores import Chores
from recall.contracts import Rebuildable, ScopeRef
from recall.entries import OPEN, Guard, Place, Root
from recall.errors import IndexFault
from recall.intake import placed
from recall.reader import ReaderSetup
from recall.rebuilding import Rebuild
from recall.snapshot import Health
from recall.standing import Standing
from recall.syncing import Names, Sync
from recall.tables import FORMAT
from recall.watching import watch
from recall.work import Progress, Work

PATIENCE_SECONDS = 2.0  # how long somebody waits for a root to be taken in
RETRY_SECONDS, LONGEST_RETRY_SECONDS = 1.0, 60.0
TICKS = 120  # between two looks for roots that nobody asks for
TIDY_TICKS = 7200


class Catalogue:
    """The adopted roots and the one writer of their index."""

    def __init__(
        self,
        index: Rebuildable,
        guard: Guard = OPEN,
        patience_seconds: float = PATIENCE_SECONDS,
        reader: ReaderSetup | None = None,
    ) -> None:
        written_by = f"{FORMAT} {ANALYZER} {guard.id}"  # another one reads the files again
        self.health = Health(self._mend)
        self.adopted = Adopted()
        self.outside: dict[str, str] = {}  # roots that were not adopted, and why
        self._chores = Chores()
        self.standing = Standing(index, written_by, self.health, self._chores)
        self._index = index
        self._patience = patience_seconds
        self._work = Work()
        self._sync = Sync(
            database=index,
            guard=guard,
            turn=asyncio.Lock(),
            work=self._work,
            epoch=lambda: self.standing.epoch,
            told=self.standing.told,
            roots_changed=self.standing.roots_changed,
            reader=reader,
        )
        self._opening = asyncio.Lock()
        self._opened = self._followed = False
        self._wholes: dict[str, asyncio.Task[None]] = {}  # roots that are being taken in as a whole
        self._again: set[str] = set()  # of these, the ones that somebody asked for once more
        self._whole: set[str] = set()  # roots that were looked at as a whole since the start
        self._owed: Asked = {}  # what could not be taken in: tried again
        self._late: dict[asyncio.Task[None], Mapping[str, Names]] = {}  # what takes longer than somebody could wait
        self._making: Callable[[], Rebuild] = lambda: Rebuild(
            index=index,
            written_by=written_by,
            guard=guard,
            adopted=self.adopted,
            work=Work("rebuilding"),
            reader=reader,
        )
        self._rebuild: tuple[Rebuild, asyncio.Task[None]] | None = None
        self._due = False  # somebody wants it made anew, though it answers
        self._failures = 0  # in a row, of making it anew or of taking in
        self._not_before = 0.0
        self._tick = 0
        self._rebuilt: Callable[[], None] = lambda: None

    async def open(self) -> None:
        """Make the index ready. One that cannot be used as it is is emptied, or made anew in the background."""
        async with self._opening:
            if not self._opened:
                self._opened = await self.standing.open()
                self._mend()

    async def close(self) -> None:
        """End what goes on in the background; what was begun to be written is written."""
        await self._chores.close()

    async def adopt(self, root: Root) -> Place | None:
        """Make a root's records searchable; only files with a new stamp are read. Waits for it within patience.

        What goes wrong is to be read in `health`, and tried again. None: the root leads out of where it must be.
        """
        place = await asyncio.to_thread(placed, root)
        if place is None:
            self.outside[root.path] = "link-outside-root"
            return None
        self.outside.pop(root.path, None)
        same = self.adopted.put(root, place, _now())
        if not (same and self._followed and place.path in self._whole):
            self._whole.discard(place.path)
            await self._chores.wait(self._take_whole(place.path), self._patience)
        return place

    async def refresh(self, paths: Iterable[str]) -> None:
        """Look again at roots or files by path, whatever their stamps say. Raises IndexFault, sqlite3.DatabaseError."""
        asked = await asyncio.to_thread(self.adopted.named, tuple(paths))
        if asked:
            await self.take_in(asked)

    async def look_again(self, paths: Iterable[str]) -> None:
        """Begin to look again at files; nobody waits for it."""
        asked = await asyncio.to_thread(self.adopted.named, tuple(paths))
        if asked:
            self._chores.begin(self._take_in(asked))

    async def take_in(self, asked: Mapping[str, Names], patience_seconds: float | None = None) -> None:
        """Bring the index up to what these roots (by real path) are now. Raises IndexFault, sqlite3.DatabaseError.

        Whoever asked may be cancelled, or wait no longer than `patience_seconds` (then TimeoutError); what was begun
        goes on.
        """
        task = self._chores.begin(self._take_in(asked))
        try:
            async with asyncio.timeout(patience_seconds):
                await asyncio.shield(task)
        except TimeoutError:
            self._late[task] = dict(asked)
            task.add_done_callback(lambda task: self._late.pop(task, None))
            raise

    def behind(self) -> frozenset[ScopeRef]:
        """The scopes of roots of which something was said to be taken in and is not yet; all of them while the index is
        broken."""
        paths = {path for asked in (self._owed, *self._late.values()) for path in asked}
        paths.update(self.adopted.paths() if self.health.damaged else ())
        found = (self.adopted.get(path) for path in sorted(paths))
        return frozenset(one[0].scope for one in found if one is not None)

    def progress(self) -> Progress:
        """What is being done just now."""
        if self._rebuild is not None:
            return self._rebuild[0].work.progress() or Progress(stage="rebuilding")
        return self._work.progress() or Progress(problem=self.health.problem)

    # -- taking in

    def _take_whole(self, path: str) -> "asyncio.Task[None]":
        """The task that takes in all of a root. One that is on its way looks once more when it is through."""
        task = self._wholes.get(path)
        if task is not None and not task.done():
            self._again.add(path)
            return task
        task = self._wholes[path] = self._chores.begin(self._take_until_asked_no_more(path))
        return task

    async def _take_until_asked_no_more(self, path: str) -> None:
        self._again.add(path)
        while path in self._again:
            self._again.discard(path)
            try:
                await self._take_in({path: None})
            except (IndexFault, sqlite3.DatabaseError):
                self._again.discard(path)  # told in `health`, and owed

    async def _take_in(self, asked: Mapping[str, Names]) -> None:
        try:
            await self.open()
            if self._rebuild is not None:
                add(self._rebuild[0].meanwhile, asked)
            if self.health.damaged:
                await self._mended()
            else:
                for path, names in asked.items():
                    found = self.adopted.get(path)
                    if found is not None:
                        await asyncio.to_thread(self.adopted.looks, path, whole=names is None)
                        await self._sync.root(*found, names)
        except sqlite3.DatabaseError as error:
            if not self.health.note(error):
                self._failed(str(error), asked)
                raise
            await self._mended()
        if None in asked.values():
            self._whole.update(path for path, names in asked.items() if names is None)
            self.standing.tidy_if_grown()
        take_away(self._owed, asked)
        if not self._owed and not self._due:
            self._failures, self.health.problem = 0, ""

    def _failed(self, problem: str, asked: Mapping[str, Names]) -> None:
        """What was asked is owed, and tried again: soon, then after longer and longer."""
        self.health.problem = problem
        add(self._owed, asked)
        self._failures += 1
        self._not_before = _now() + min(LONGEST_RETRY_SECONDS, RETRY_SECONDS * 2 ** (self._failures - 1))

    # -- making the index anew

    def begin_rebuild(self) -> bool:
        """Make the index anew in the background. False: that is being done."""
        if self._rebuild is not None or self._chores.closed:
            return False
        self._due = True
        rebuild = self._making()
        self._rebuild = rebuild, self._chores.begin(self._run(rebuild))
        return True

    async def rebuild(self) -> None:
        """Make the index anew, and wait for it. Raises IndexFault when that cannot be done."""
        await self.open()
        self.begin_rebuild()
        if self._rebuild is not None:
            await asyncio.shield(self._rebuild[1])
        if self._due:
            raise IndexFault(self.health.problem)

    def when_rebuilt(self, hear: Callable[[], None]) -> None:
        """Tell somebody whenever another index has taken the place of this one."""
        self._rebuilt = hear

    async def _run(self, rebuild: Rebuild) -> None:
        try:
            await rebuild.run(self.standing.epoch, self._sync.turn, self._swapped)
        except (sqlite3.Error, OSError) as error:
            self._failed(f"The index cannot be made anew: {error}.", rebuild.meanwhile)
        finally:
            self._rebuild = None

    async def _swapped(self) -> None:
        await self.standing.stand()
        self._due, self._failures = False, 0
        self.health.damaged, self.health.problem = False, ""
        self._owed.clear()
        self._rebuilt()

    async def _mended(self) -> None:
        """Wait within patience until a broken index is made anew: from all files, so nothing is left to take in."""
        self._mend()
        if self._rebuild is not None:
            await self._chores.wait(self._rebuild[1], self._patience)
        if self.health.damaged:
            raise IndexFault(f"The index is being made anew: {self.health.problem}.")

    def _mend(self) -> None:
        """Begin to make the index anew when it must be, and when it is time to try."""
        if (self.health.damaged or self.standing.outdated or self._due) and _now() >= self._not_before:
            self.begin_rebuild()

    # -- following

    async def follow(self, stop: asyncio.Event) -> None:
        """Keep in step until `stop`."""
        self._followed = True
        try:
            await watch(self.adopted.folders, self._heard, stop)
        finally:
            self._followed = False

    async def _heard(self, paths: frozenset[str] | None) -> None:
        self._tick += 1
        if self._tick % TICKS == 0:
            self.adopted.let_go(_now())
        self._due = self._due or self._index.lost()
        self._mend()
        try:
            if self._tick % TIDY_TICKS == 0:
                await self.standing.tidy_if_needed()
            await self._look(await self._news(paths))
        except (IndexFault, sqlite3.DatabaseError):
            pass  # to be read in `status`; what could not be taken in is owed

    async def _look(self, asked: Asked) -> None:
        """Take in files that are named; whole roots are waited for within patience, for other news may come."""
        named = {path: names for path, names in asked.items() if names is not None}
        wholes = [self._take_whole(path) for path in asked if path not in named]
        if named:
            await self.take_in(named)
        for task in wholes:
            await self._chores.wait(task, self._patience)

    async def _news(self, paths: frozenset[str] | None) -> Asked:
        """What must be looked at: what was heard of, what no notification tells of, and what is owed."""
        asked: Asked = {}
        if paths is None:
            add(asked, dict.fromkeys(self.adopted.followed()))
        else:
            add(asked, await asyncio.to_thread(lambda: self.adopted.named([*paths, *self.adopted.by_tick()])))
        if self._owed and _now() >= self._not_before:
            add(asked, self._owed)
            self._owed = {}
        return asked


def _now() -> float:
    return asyncio.get_running_loop().time()
