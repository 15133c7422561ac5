"""The library: memory files on one side, their index in SQLite on the other (M-05, M-06).

The files are the truth; the index is a cache that follows them and can be dropped at will. A change of a file costs
that file alone; start-up compares stamps and reads no corpus. A folder that is missing empties nothing: its records are
kept and it is reported. Every search goes through a `Snapshot`, which knows the time of the pass.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from recall import indexing, records
from recall.adopted import Asked
from recall.catalogue import PATIENCE_SECONDS, Catalogue
from recall.contracts import MemoryLocator, MemoryRecord, Millis, Rebuildable, RuntimeScope, visible
from recall.documents import Documents
from recall.entries import OPEN, Guard, Root
from recall.errors import IndexFault
from recall.files import Refused
from recall.reader import ReaderSetup
from recall.records import LibraryStatus, Listed, Reported
from recall.snapshot import UNREADABLE, Snapshot
from recall.tables import SCHEMA
from recall.work import Progress
from recall.writing import Writing

__all__ = ["SCHEMA", "Library", "LibraryStatus", "Listed", "Progress", "Reported", "Root"]

LOOK_SECONDS = 1.0  # how long a claim waits for changed files to be taken in
T = TypeVar("T")


class Library:
    """Roots in, snapshots out. The files are written through one `Documents`, the index through one `Catalogue`."""

    def __init__(
        self,
        database: Rebuildable,
        guard: Guard = OPEN,
        patience_seconds: float = PATIENCE_SECONDS,
        reader: ReaderSetup | None = None,
    ) -> None:
        """`reader`: the process that reads files when a large root is taken in; without it all is done in this one."""
        self._database = database
        self._catalogue = Catalogue(database, guard, patience_seconds, reader)
        self._writing = Writing(documents=Documents(), catalogue=self._catalogue, ask=self._read)

    @property
    def version(self) -> str:
        """The index version: changes exactly when a file's path, scope or contents do."""
        return self._catalogue.standing.version

    async def open(self) -> None:
        """Make the index ready. One that cannot be used as it is is made anew: beside it, where it can be read."""
        await self._catalogue.open()

    async def adopt(self, root: Root) -> None:
        """Make a root's records searchable. Again and again costs little: only changed files are read. A large one is
        waited for within patience, and goes on in the background.

        A root that is missing keeps the records that the index has of it. An index that cannot be written is a problem
        in `status`, not an error: a session goes on, and its searches are degraded.
        """
        await self._catalogue.adopt(root)

    async def refresh(self, *paths: str) -> None:
        """Look again at roots or at files below them, whatever their stamps say. Raises IndexFault."""
        await self._catalogue.refresh(paths)

    async def look_again(self, *paths: str) -> None:
        """Have files looked at again that were seen to differ from the index, without waiting for it."""
        await self._catalogue.look_again(paths)

    async def reconsider(self, memory_ids: Sequence[str]) -> None:
        """Compare these records anew with what the guard keeps out and admits. Raises IndexFault."""
        paths = await self._database.write(lambda connection: indexing.reconsider(connection, memory_ids))
        await self.refresh(*paths)

    async def look_anew(self, *paths: str) -> None:
        """Compare files anew, though they may be as they were: what is said of them has changed. Raises IndexFault."""
        asked = await asyncio.to_thread(self._catalogue.adopted.named, paths)
        for root, names in asked.items():
            await self._database.write(partial(indexing.look_anew, path=root, names=names))
        await self.refresh(*paths)

    async def rebuild(self) -> None:
        """Make the index anew beside the one in use, and swap it in. Raises IndexFault when that cannot be done now."""
        await self._catalogue.rebuild()

    def begin_rebuild(self) -> bool:
        """Begin a rebuild in the background; False when one is under way. `progress` tells of it at once."""
        return self._catalogue.begin_rebuild()

    def when_rebuilt(self, hear: Callable[[], None]) -> None:
        """Tell somebody whenever an index made anew has taken the place of the one in use."""
        self._catalogue.when_rebuilt(hear)

    def progress(self) -> Progress:
        """What is being taken in, in files. No I/O."""
        return self._catalogue.progress()

    async def close(self) -> None:
        """End what goes on in the background."""
        await self._catalogue.close()

    async def follow(self, stop: asyncio.Event) -> None:
        """Keep the index with the files until `stop`: edits, pulls and checkouts are taken in within a second."""
        await self._catalogue.follow(stop)

    def snapshot(self, now: Millis) -> Snapshot:
        """What a pass asks. No I/O; `now` decides what has expired."""
        now_in = self._catalogue.standing
        return Snapshot(
            database=self._database,
            version=now_in.version,
            now=now,
            held=now_in.held,
            kept=now_in.kept,
            health=self._catalogue.health,
            unfinished=now_in.unfinished | self._catalogue.behind(),
        )

    async def digests(self, ids: Collection[str], scope: RuntimeScope | None = None) -> dict[str, str]:
        """Record digests as indexed, of live records that are active and carry no flag that keeps them out.

        An id that stands for two different records in what can be seen (without `scope`: anywhere) is left out.
        """
        try:
            return await self._read(lambda connection: records.digests(connection, ids, scope))
        except IndexFault:  # the fallback's answers come from memory, and are checked against it
            return {
                one.memory_id: one.record_digest
                for one in self._catalogue.standing.held.candidates()
                if one.memory_id in ids and (scope is None or visible(one.scope, scope))
            }

    async def verify(self, ids: Collection[str], scope: RuntimeScope | None = None) -> dict[str, str]:
        """`digests`, after a look at the files concerned: before a claim, so that nothing is shown that has changed."""
        try:
            seen, known, changed = await self._read(lambda connection: self._checked(connection, ids, scope))
        except IndexFault:  # the fallback's answers come from memory, and are checked against the files
            return await asyncio.to_thread(self._in_files, frozenset(ids), scope)
        if not changed:
            return known
        try:
            await self._catalogue.take_in(changed, LOOK_SECONDS)
        except (IndexFault, sqlite3.DatabaseError, TimeoutError):  # what may have changed is not vouched for
            doubtful = {memory_id for root, name, _, memory_id in seen if name in (changed.get(root) or ())}
            return {memory_id: digest for memory_id, digest in known.items() if memory_id not in doubtful}
        return await self.digests(ids, scope)

    async def locators(self, path: str) -> tuple[MemoryLocator, ...]:
        """Where the records of one file stand, in its order; empty for a file that is not of the library."""
        found = await asyncio.to_thread(self._catalogue.adopted.find, path)
        return await self._read(lambda connection: records.located(connection, *found)) if found else ()

    async def file_digest(self, path: str) -> str | None:
        """The digest of a file's bytes as indexed."""
        found = await asyncio.to_thread(self._catalogue.adopted.find, path)
        return await self._read(lambda connection: records.file_digest(connection, *found)) if found else None

    async def get(self, memory_id: str, scope: RuntimeScope) -> tuple[MemoryRecord, MemoryLocator] | None:
        """A live record that can be seen from there, whatever its status."""
        found = await self._read(lambda connection: records.one(connection, memory_id, scope))
        return (found.record, found.locator) if found else None

    async def listed(self, scope: RuntimeScope, limit: int, after: str | None = None) -> Listed:
        """Live records that can be seen from there, newest first. Raises IndexFault also while a broken index is being
        made anew: a list says that it is all there is."""
        if self._catalogue.health.damaged:
            raise IndexFault("The index is being made anew.")
        return await self._read(lambda connection: records.page(connection, scope, limit, after))

    async def survey(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """What a function of `recall.survey` sees in the index. Raises IndexFault."""
        return await self._read(look)

    async def status(self) -> LibraryStatus:
        """How the library stands; broken tables are an answer, not an error."""
        health = self._catalogue.health
        try:
            found = await self._read(lambda connection: records.status(connection, self.version))
        except IndexFault as error:
            empty = LibraryStatus(version=self.version, files=0, records=0, searchable=0)
            return msgspec.structs.replace(empty, damaged=True, problem=str(error))
        outside = tuple(
            Reported(file=path, line=0, state=why, problem="The root is not used.")
            for path, why in sorted(self._catalogue.outside.items())
        )
        return msgspec.structs.replace(
            found, findings=outside + found.findings, damaged=health.damaged, problem=health.problem
        )

    async def remember(self, record: MemoryRecord, root: Root) -> MemoryLocator | Refused:
        """Append a record to the volume of its month below `<root>/records`, and index it."""
        (done,) = await self._writing.remember_all([record], root)
        return done

    async def remember_all(self, given: Sequence[MemoryRecord], root: Root) -> list[MemoryLocator | Refused]:
        """`remember` for many: each its own outcome, in the order given; one document transaction a file."""
        return await self._writing.remember_all(given, root)

    async def edit(
        self, record: MemoryRecord, expected_digest: str, scope: RuntimeScope
    ) -> MemoryLocator | Refused | None:
        """Put a record in the place of the one of its id. None: no such record can be seen from there.

        `expected_digest`: the record digest that the caller saw; when the file says something else by now: `conflict`.
        """
        return await self._writing.edit(record, expected_digest, scope)

    async def forget(self, memory_id: str, scope: RuntimeScope) -> bool | Refused:
        """Remove a record's text from its file. False: no such record can be seen from there."""
        return await self._writing.forget(memory_id, scope)

    def _checked(
        self, connection: sqlite3.Connection, ids: Collection[str], scope: RuntimeScope | None
    ) -> tuple[list[tuple[str, str, str, str]], dict[str, str], Asked]:
        """Where the records stand, their digests, and which of the files may have changed."""
        seen = records.stamps(connection, ids, scope)
        changed = self._catalogue.adopted.changed(one[:3] for one in seen)
        return seen, records.digests(connection, ids, scope), changed

    def _in_files(self, ids: frozenset[str], scope: RuntimeScope | None) -> dict[str, str]:
        """Digests of records held in memory that their files still hold as they are. Runs on a worker thread."""
        held = [
            (file, one)
            for file, one in self._catalogue.standing.held.placed()
            if one.memory_id in ids and (scope is None or visible(one.scope, scope))
        ]
        return {
            one.memory_id: one.record_digest
            for file, one in held
            if self._catalogue.adopted.digests_in(file).get(one.memory_id) == one.record_digest
        }

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._database.read(work)
        except UNREADABLE as error:
            self._catalogue.health.note(error)
            raise IndexFault(f"The index cannot be read: {error}.") from error
