"""Keeping the index in step with the roots (M-06): adopt, look again, make anew, follow.

One take-in at a time. Reading and analysing files happens on a worker thread, writing in transactions of a few files,
and the new version is published once, at the end. Broken tables are dropped and filled again from the files.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from recall import indexing, lookup
from recall.analyzer import ANALYZER
from recall.contracts import Database, Frozen, Origin, ScopeRef
from recall.documents import SUFFIXES, stamp
from recall.entries import OPEN, FileChange, Guard, Known, Place
from recall.errors import IndexFault
from recall.indexing import KnownFile, KnownRoot
from recall.intake import below, lies_within, look, moved_away, passed, place_of, take
from recall.snapshot import Health, Hot
from recall.watching import watch

HOT = 2000
Names = Collection[str] | None  # relative paths of files that are named; None: all of the root
T = TypeVar("T")


class Root(Frozen, frozen=True, kw_only=True):
    """A folder of memory files, or one file (CLAUDE.md: legacy), and whose its records are.

    `writable`: ours to write (`remember`, `forget`). `inside`: a folder that the root, its symlinks resolved, must not
    leave — a repository's memory folder could be a link into someone else's.
    """

    path: str
    scope: ScopeRef
    origin: Origin
    writable: bool = False
    inside: str = ""


class Catalogue:
    """The adopted roots and the one writer of their index."""

    def __init__(self, database: Database, guard: Guard = OPEN) -> None:
        self.guard = guard
        self._reader = f"{ANALYZER} {guard.id}"  # another analyzer or guard reads the files again
        self.version = ""
        self.held = Hot()  # for the fallback scan
        self.health = Health()
        self.adopted: dict[str, tuple[Root, Place]] = {}  # by the root's real path
        self.outside: dict[str, str] = {}  # roots that were not adopted, and why
        self._database = database
        self._one_at_a_time = asyncio.Lock()
        self._opened = self._followed = False
        self._taken_in: set[str] = set()  # roots that were looked at as a whole since the start
        self._ticked: dict[str, str | None] = {}  # stamps of what cannot be watched, at the last tick

    async def open(self) -> None:
        """Make the index ready: a new analyzer or broken tables mean that it is emptied, to be filled by `adopt`."""
        async with self._one_at_a_time:
            await self._open()

    async def adopt(self, root: Root) -> Place:
        """Make a root's records searchable; only files with a new stamp are read. Raises IndexFault."""
        place = await asyncio.to_thread(place_of, root.path)
        if root.inside and not await asyncio.to_thread(lies_within, root.path, root.inside):
            self.outside[root.path] = "link-outside-root"
            return place
        self.outside.pop(root.path, None)
        known = self._followed and place.path in self._taken_in and self.adopted[place.path][0] == root
        self.adopted[place.path] = (root, place)
        if not known:
            await self.take_in({place.path: None})
            self._taken_in.add(place.path)
        return place

    async def refresh(self, paths: Iterable[str]) -> None:
        """Look again at roots or files by path, whatever their stamps say. Raises IndexFault."""
        asked = await asyncio.to_thread(self._named, tuple(paths))
        if asked:
            await self.take_in(asked)

    async def rebuild(self) -> None:
        """Drop the index and read every adopted root again. Raises IndexFault when even that cannot be done."""
        async with self._one_at_a_time:
            await self._reset()
        await self.take_in(dict.fromkeys(self.adopted))

    async def take_in(self, asked: Mapping[str, Names]) -> None:
        """Bring the index up to what these roots (by real path) are now. Raises IndexFault."""
        async with self._one_at_a_time:
            await self._open()
            try:
                if self.health.damaged:
                    await self._reset()
                    asked = dict.fromkeys(self.adopted)
                news = [await self._sync(path, only) for path, only in asked.items() if path in self.adopted]
            except sqlite3.DatabaseError as error:
                if not self.health.note(error):
                    raise
                await self._reset()
                news = [await self._sync(path, None) for path in list(self.adopted)]
            self.health.problem = ""
            if any(news):
                self.version = await self._database.write(indexing.publish)
                await self._hold()

    async def follow(self, stop: asyncio.Event) -> None:
        """Keep in step until `stop`."""
        self._followed = True
        try:
            await watch(self._folders, self._heard, stop)
        finally:
            self._followed = False

    def changed(self, seen: Iterable[tuple[str, str, str]]) -> dict[str, Names]:
        """Of (root, relative path, stamp), the files that may have changed; a root that is missing changes nothing."""
        found: dict[str, set[str]] = {}
        for path, relative, before in seen:
            _, place = self.adopted.get(path, (None, None))
            if place is not None and os.path.isdir(place.folder) and stamp(place.folder, relative) != before:
                found.setdefault(path, set()).add(relative)
        return dict(found)

    def find(self, path: str) -> tuple[str, str] | None:
        """(root, relative path) of a file that lies in an adopted root; the innermost root counts."""
        found = [(key, name) for key, (_, place) in dict(self.adopted).items() if (name := below(path, place))]
        return max(found, key=lambda one: len(one[0]), default=None)

    # -- the index

    async def _open(self) -> None:
        if self._opened:
            return
        try:
            if await self._database.read(indexing.analyzer_of) != self._reader:
                await self._database.write(lambda connection: indexing.reset(connection, self._reader))
            version: str | None = await self._database.read(indexing.stored_version)
            self.version = version or ""
            await self._hold()
        except sqlite3.DatabaseError as error:
            if not self.health.note(error):
                raise
            await self._reset()
        self._opened = True

    async def _reset(self) -> None:
        try:
            self.version = await self._database.write(lambda connection: indexing.reset(connection, self._reader))
        except sqlite3.DatabaseError as error:
            self.health.note(error)
            raise IndexFault(f"The index cannot be made anew: {error}. Remove index.db and start again.") from error
        self.held = Hot()
        self.health.damaged, self.health.problem = False, ""

    async def _hold(self) -> None:
        self.held = Hot(await self._database.read(lambda connection: lookup.hottest(connection, HOT)))

    async def _sync(self, path: str, only: Names) -> bool:
        """Take in one root, or files of it. Whether anything but stamps changed."""
        root, place = self.adopted[path]
        known = await self._database.read(lambda connection: indexing.find_root(connection, path))
        if known is None or (known.scope, known.origin) != (root.scope, root.origin):
            known = await self._database.write(
                lambda connection: indexing.ensure_root(connection, place, root.scope, root.origin)
            )
            only = None
        row = known.id
        files = await self._database.read(lambda connection: indexing.known_files(connection, row))
        seen = await asyncio.to_thread(look, place, files, only)
        if (seen is None) != known.missing:
            await self._database.write(lambda connection: indexing.set_missing(connection, row, seen is None))
        if not seen:
            return False
        changes, gone = passed(seen.passed_over), list(seen.gone)
        news = bool(changes or gone)
        for batch in seen.news:
            changes += await self._read(place, known, batch, files)
            if only is not None:
                gone += await self._moved(place, known, changes)
            news = news or any(not change.same for change in changes)
            await self._write(row, changes, gone)
            changes, gone = [], []
        await self._write(row, changes, gone)
        return news

    async def _read(
        self, place: Place, root: KnownRoot, names: Sequence[str], files: Mapping[str, KnownFile]
    ) -> list[FileChange]:
        def held(connection: sqlite3.Connection) -> dict[str, tuple[KnownFile | None, dict[str, Known]]]:
            return {name: (files.get(name), indexing.known_records(connection, root.id, name)) for name in names}

        known = await self._database.read(held)
        return await asyncio.to_thread(take, place, root, names, known, self.guard)

    async def _moved(self, place: Place, root: KnownRoot, changes: Sequence[FileChange]) -> list[str]:
        """Files that held what is new elsewhere and are gone: news of their going may come later, or never."""
        others: set[str] = set()
        for change in changes:
            ids, name = [entry.record.memory_id for entry in change.added], change.relative
            others |= await self._database.read(_elsewhere(ids, root.id, name))
        return await asyncio.to_thread(moved_away, place, others)

    async def _write(self, root: int, changes: Sequence[FileChange], gone: Sequence[str]) -> None:
        if changes or gone:
            await self._database.write(lambda connection: indexing.apply(connection, root, changes, gone))

    # -- following

    def _named(self, paths: Sequence[str]) -> dict[str, Names]:
        """The roots and files meant by absolute paths. A folder below a root means all of the root, so does a name
        that is gone and may have been a folder's."""
        asked: dict[str, set[str] | None] = {}
        for path in map(os.path.realpath, paths):
            for key, (_, place) in dict(self.adopted).items():  # a copy: this runs on a worker thread
                name = below(path, place)
                if path == key or (name and name != place.file and not _is_memory_file(name) and _is_folder(path)):
                    asked[key] = None
                elif name and (name == place.file or _is_memory_file(name)):
                    names = asked.setdefault(key, set())
                    if names is not None:
                        names.add(name)
        return dict(asked)

    def _folders(self) -> frozenset[str]:
        """What is watched: the folders that are there. Single files are looked at every tick instead: editors replace
        a file, and the watch would stay with the old one."""
        return frozenset(
            place.folder for _, place in self.adopted.values() if place.file is None and os.path.isdir(place.folder)
        )

    async def _heard(self, paths: frozenset[str] | None) -> None:
        try:
            if paths is None or self.health.damaged:
                await self.take_in(dict.fromkeys(self.adopted))
            else:
                await self.refresh([*paths, *self._by_tick()])
        except (IndexFault, sqlite3.DatabaseError) as error:  # to be read in `status`; the next tick tries again
            self.health.problem = str(error)

    def _by_tick(self) -> list[str]:
        """Roots that no notification tells of, single files and missing folders, and that are not as they were."""
        news: list[str] = []
        for key, (_, place) in self.adopted.items():
            if place.file is not None:
                now = stamp(place.folder, place.file)
            else:
                now = "there" if os.path.isdir(place.folder) else None
            if self._ticked.setdefault(key, now) != now:
                news.append(key)
            self._ticked[key] = now
        return news


def _is_memory_file(name: str) -> bool:
    return name.endswith(SUFFIXES) and not any(part.startswith(".") for part in name.split("/"))


def _is_folder(path: str) -> bool:
    """Whether a path is a folder, or is gone and may have been one."""
    return os.path.isdir(path) or not (os.path.exists(path) or "." in os.path.basename(path))


def _elsewhere(ids: Sequence[str], root: int, name: str) -> Callable[[sqlite3.Connection], set[str]]:
    return lambda connection: indexing.elsewhere(connection, ids, root, name)
