"""The library: memory files on one side, their index in SQLite on the other (M-05, M-06).

The files are the truth; the index is a cache that follows them and can be dropped at will. A change of a file costs
that file alone; start-up compares stamps and reads no corpus. A folder that is missing empties nothing: its records are
kept and it is reported. Every search goes through a `Snapshot`, which knows the time of the pass.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import msgspec

from recall import edits, records
from recall.catalogue import Catalogue, Root
from recall.contracts import Database, MemoryLocator, MemoryRecord, Millis, RuntimeScope, visible
from recall.documents import Documents
from recall.entries import OPEN, Guard, Place
from recall.errors import IndexFault
from recall.files import RefusalKind, Refused
from recall.indexing import SCHEMA
from recall.markers import FileHome
from recall.records import LibraryStatus, Listed, Reported
from recall.snapshot import Snapshot

__all__ = ["SCHEMA", "Library", "LibraryStatus", "Listed", "Reported", "Root", "discard"]

VOLUMES = 9  # files of one month that are tried when a person's edit has made one unusable
T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def discard(path: Path) -> None:
    """Remove an index file and what SQLite keeps beside it: the next start makes it anew."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


class Library:
    """Roots in, snapshots out. The files are written through one `Documents`, the index through one `Catalogue`."""

    def __init__(self, database: Database, guard: Guard = OPEN) -> None:
        self._database = database
        self._documents = Documents()
        self._catalogue = Catalogue(database, guard)

    @property
    def version(self) -> str:
        """The index version: changes exactly when a file's path, scope or contents do."""
        return self._catalogue.version

    async def open(self) -> None:
        """Make the index ready: a new analyzer or broken tables mean that it is emptied, and filled by `adopt`."""
        await self._catalogue.open()

    async def adopt(self, root: Root) -> None:
        """Make a root's records searchable. Again and again costs little: only changed files are read.

        A root that is missing keeps the records that the index has of it. An index that cannot be written is a problem
        in `status`, not an error: a session goes on, and its searches are degraded.
        """
        try:
            await self._catalogue.adopt(root)
        except (IndexFault, sqlite3.DatabaseError) as error:
            self._catalogue.health.problem = str(error)

    async def refresh(self, *paths: str) -> None:
        """Look again at roots or at files below them, whatever their stamps say. Raises IndexFault."""
        await self._catalogue.refresh(paths)

    async def rebuild(self) -> None:
        """Drop the index and read every adopted root again. Raises IndexFault when even that cannot be done."""
        await self._catalogue.rebuild()

    async def follow(self, stop: asyncio.Event) -> None:
        """Keep the index with the files until `stop`: edits, pulls and checkouts are taken in within a second."""
        await self._catalogue.follow(stop)

    def snapshot(self, now: Millis) -> Snapshot:
        """What a pass asks. No I/O; `now` decides what has expired."""
        now_in = self._catalogue
        return Snapshot(
            database=self._database, version=now_in.version, now=now, held=now_in.held, health=now_in.health
        )

    async def digests(self, ids: Collection[str], scope: RuntimeScope | None = None) -> dict[str, str]:
        """Record digests as indexed, of live records that are active and carry no flag that keeps them out.

        An id that stands for two different records in what can be seen (without `scope`: anywhere) is left out.
        """
        try:
            return await self._read(lambda connection: records.digests(connection, ids, scope))
        except IndexFault:  # the fallback's answers come from memory, and are checked against it
            wanted = frozenset(ids)
            return {
                one.memory_id: one.record_digest
                for one in self._catalogue.held.candidates()
                if one.memory_id in wanted and (scope is None or visible(one.scope, scope))
            }

    async def verify(self, ids: Collection[str], scope: RuntimeScope | None = None) -> dict[str, str]:
        """`digests`, after a look at the files concerned: before a claim, so that nothing is shown that has changed."""
        try:
            changed, known = await self._read(
                lambda connection: (
                    self._catalogue.changed(records.stamps(connection, ids, scope)),
                    records.digests(connection, ids, scope),
                )
            )
            if not changed:
                return known
            await self._catalogue.take_in(changed)
        except IndexFault:
            pass  # `digests` says what is known all the same
        return await self.digests(ids, scope)

    async def locators(self, path: str) -> tuple[MemoryLocator, ...]:
        """Where the records of one file stand, in its order; empty for a file that is not of the library."""
        found = await asyncio.to_thread(self._catalogue.find, path)
        return await self._read(lambda connection: records.located(connection, *found)) if found else ()

    async def file_digest(self, path: str) -> str | None:
        """The digest of a file's bytes as indexed."""
        found = await asyncio.to_thread(self._catalogue.find, path)
        return await self._read(lambda connection: records.file_digest(connection, *found)) if found else None

    async def get(self, memory_id: str, scope: RuntimeScope) -> tuple[MemoryRecord, MemoryLocator] | None:
        """A live record that can be seen from there, whatever its status."""
        found = await self._read(lambda connection: records.one(connection, memory_id, scope))
        return (found.record, found.locator) if found else None

    async def listed(self, scope: RuntimeScope, limit: int, after: str | None = None) -> Listed:
        """Live records that can be seen from there, newest first."""
        return await self._read(lambda connection: records.page(connection, scope, limit, after))

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
        """Append a record to `<root>/records/<yyyy-mm>.md` (its month of creation, UTC), and index it."""
        if not root.writable:
            return Refused(kind=RefusalKind.READ_ONLY, problem="This root is not ours to write.")
        if await self._read(lambda connection: records.exists(connection, record.memory_id)):
            return Refused(kind=RefusalKind.DUPLICATE, problem=f"{record.memory_id} is taken.")
        place = await self._catalogue.adopt(root)
        written = await self._append(record, root, place)
        if isinstance(written, Refused):
            return written
        await self._catalogue.take_in({place.path: {written}})
        found = await self._read(lambda connection: records.located(connection, place.path, written))
        return next(
            (locator for locator in found if locator.memory_id == record.memory_id),
            Refused(kind=RefusalKind.CONFLICT, problem="The record was written, and changed by someone else at once."),
        )

    async def forget(self, memory_id: str, scope: RuntimeScope) -> bool | Refused:
        """Remove a record's text from its file. False: no such record can be seen from there."""
        found = await self._read(lambda connection: records.one(connection, memory_id, scope))
        if found is None:
            return False
        root, place = self._catalogue.adopted.get(found.root, (None, None))
        if root is None or place is None or not root.writable:
            problem = f"{found.relative} is not ours to write; edit it by hand."
            return Refused(kind=RefusalKind.READ_ONLY, problem=problem)
        home = _home(root, place, found.relative)
        done = await self._documents.transact(
            place.folder, found.relative, lambda data: edits.remove(data, home, memory_id)
        )
        if isinstance(done, Refused):
            return done
        await self._catalogue.take_in({place.path: {found.relative}})
        return True

    async def _append(self, record: MemoryRecord, root: Root, place: Place) -> str | Refused:
        """The relative path of the file that took the record: the month's, or its next volume if that is unusable."""
        month = (_EPOCH + timedelta(milliseconds=record.created_at)).strftime("%Y-%m")
        refused = Refused(kind=RefusalKind.UNUSABLE_FILE, problem=f"No file of {month} can be written.")
        for volume in range(1, VOLUMES + 1):
            relative = f"records/{month}.md" if volume == 1 else f"records/{month}-{volume}.md"
            done = await self._documents.transact(place.folder, relative, _appending(record, root, place, relative))
            if not isinstance(done, Refused):
                return relative
            refused = done
            if done.kind not in (RefusalKind.UNUSABLE_FILE, RefusalKind.READ_ONLY):
                break
        return refused

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._database.read(work)
        except sqlite3.DatabaseError as error:
            self._catalogue.health.note(error)
            raise IndexFault(f"The index cannot be read: {error}.") from error


def _home(root: Root, place: Place, relative: str) -> FileHome:
    return FileHome(path=f"{place.folder}/{relative}", relative=relative, scope=root.scope, origin=root.origin)


def _appending(record: MemoryRecord, root: Root, place: Place, relative: str) -> Callable[[bytes], bytes | Refused]:
    home = _home(root, place, relative)
    return lambda data: edits.append(data, home, record)
