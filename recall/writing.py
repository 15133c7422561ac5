"""The verbs that change memory files: remember, edit, forget (M-06). The files first, then the index.

What stands in a file was remembered, even when the index cannot take it in just now: it is taken in later, and until
then the locator is read from the file.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from recall import edits, records
from recall.catalogue import PATIENCE_SECONDS, Catalogue
from recall.contracts import MemoryLocator, MemoryRecord, RuntimeScope
from recall.documents import Document, Documents, read
from recall.entries import Place, Root
from recall.errors import IndexFault
from recall.files import RefusalKind, Refused, parse
from recall.markers import FileHome
from recall.records import Placed
from recall.volumes import UNUSABLE, Outcome, filling, last_volume, month_of, name_of

T = TypeVar("T")


class Ask(Protocol):
    """A question to the index. Raises IndexFault."""

    def __call__(self, work: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """Who writes memory files: through one `Documents`, with one `Catalogue` told of it."""

    documents: Documents
    catalogue: Catalogue
    ask: Ask
    _volumes: dict[tuple[str, str], int] = field(default_factory=dict)  # the last of a root's month, as far as known

    async def remember_all(self, given: Sequence[MemoryRecord], root: Root) -> list[MemoryLocator | Refused]:
        """Append records to the volumes of their months, and index them; the outcome of each, in order."""
        if not root.writable:
            return [Refused(kind=RefusalKind.READ_ONLY, problem="This root is not ours to write.") for _ in given]
        taken = await self._taken([record.memory_id for record in given])
        outcome: dict[int, str | Refused] = {}
        months: dict[str, list[int]] = {}
        for number, record in enumerate(given):
            if record.memory_id in taken:
                outcome[number] = Refused(kind=RefusalKind.DUPLICATE, problem=f"{record.memory_id} is taken.")
            else:
                months.setdefault(month_of(record.created_at), []).append(number)
        place = await self.catalogue.adopt(root)
        if place is None:
            outside = Refused(kind=RefusalKind.OUTSIDE_ROOT, problem=f"{root.path} leads out of {root.inside}.")
            return [outside for _ in given]
        for month, numbers in months.items():
            done = await self._fill(month, [given[number] for number in numbers], root, place)
            outcome.update(zip(numbers, done, strict=True))
        files = {name for name in outcome.values() if isinstance(name, str)}
        placed = await self._placed(root, place, files)
        return [_of(placed, outcome[number], record) for number, record in enumerate(given)]

    async def edit(
        self, record: MemoryRecord, expected_digest: str, scope: RuntimeScope
    ) -> MemoryLocator | Refused | None:
        """Put a record in the place of the one of its id, if that still is what the caller saw."""
        found = await self.ask(lambda connection: records.one(connection, record.memory_id, scope))
        if found is None:
            return None
        root = self._ours(found)
        if isinstance(root, Refused):
            return root
        home = root[1].home(root[0], found.relative)
        done = await self.documents.transact(
            root[1].folder, found.relative, lambda data: _replaced(data, home, record, expected_digest)
        )
        placed = await self._placed(*root, {found.relative})
        return done if isinstance(done, Refused) else _of(placed, found.relative, record)

    async def forget(self, memory_id: str, scope: RuntimeScope) -> bool | Refused:
        """Remove a record's text from its file. False: no such record can be seen from there."""
        found = await self.ask(lambda connection: records.one(connection, memory_id, scope))
        if found is None:
            return False
        root = self._ours(found)
        if isinstance(root, Refused):
            return root
        home = root[1].home(root[0], found.relative)
        done = await self.documents.transact(
            root[1].folder, found.relative, lambda data: edits.remove(data, home, memory_id)
        )
        if isinstance(done, Refused):
            return done
        try:
            await self.catalogue.take_in({root[1].path: {found.relative}}, PATIENCE_SECONDS)
            await self.catalogue.standing.tidy()
        except (IndexFault, sqlite3.DatabaseError, TimeoutError):
            pass  # the text is gone; the index follows as soon as it can
        return True

    async def _taken(self, ids: Sequence[str]) -> set[str]:
        """Ids that some record has already, as far as the index knows."""
        try:
            return await self.ask(lambda connection: records.existing(connection, ids))
        except IndexFault:  # an index that is being made anew keeps nobody from writing
            return set()

    async def _fill(self, month: str, given: Sequence[MemoryRecord], root: Root, place: Place) -> list[str | Refused]:
        """Append records to the month's volumes: one transaction a file. The file of each, or why it was refused."""
        done: list[str | Refused] = []
        volume: int = self._volumes.get((place.path, month), 0)
        volume = volume or await asyncio.to_thread(last_volume, place.folder, month)
        unusable = 0
        while len(done) < len(given):
            relative = name_of(month, volume)
            tried: list[Outcome] = []
            edit = filling(given[len(done) :], place.home(root, relative), tried.append)
            wrote = await self.documents.transact(place.folder, relative, edit)
            if tried and (None not in tried[-1] or not isinstance(wrote, Refused)):
                done += [relative if refused is None else refused for refused in tried[-1]]
                unusable = 0
            elif (
                isinstance(wrote, Refused)
                and wrote.kind in (RefusalKind.UNUSABLE_FILE, RefusalKind.READ_ONLY)
                and unusable < UNUSABLE
            ):
                unusable += 1
                volume += 1
            else:
                assert isinstance(wrote, Refused)
                done += [wrote] * (len(given) - len(done))
        self._volumes[place.path, month] = volume
        return done

    async def _placed(self, root: Root, place: Place, files: set[str]) -> dict[str, dict[str, MemoryLocator]]:
        """The locators of what was written, by file and id: from the index, else from the files themselves."""
        try:
            if files:
                await self.catalogue.take_in({place.path: files}, PATIENCE_SECONDS)
            return {name: _by_id(await self.ask(_located(place.path, name))) for name in files}
        except (IndexFault, sqlite3.DatabaseError, TimeoutError):
            return {name: await asyncio.to_thread(_in_file, place.folder, place.home(root, name)) for name in files}

    def _ours(self, found: Placed) -> tuple[Root, Place] | Refused:
        root = self.catalogue.adopted.get(found.root)
        if root is None or not root[0].writable:
            problem = f"{found.relative} is not ours to write; edit it by hand."
            return Refused(kind=RefusalKind.READ_ONLY, problem=problem)
        return root


def _replaced(data: bytes, home: FileHome, record: MemoryRecord, expected_digest: str) -> bytes | Refused:
    now = next((one for one in parse(data, home).records if one.record.memory_id == record.memory_id), None)
    if now is not None and now.locator.record_digest != expected_digest:
        return Refused(kind=RefusalKind.CONFLICT, problem=f"{record.memory_id} was changed by someone else meanwhile.")
    return edits.replace(data, home, record)


def _in_file(folder: str, home: FileHome) -> dict[str, MemoryLocator]:
    found = read(folder, home.relative)
    return _by_id([one.locator for one in parse(found.data, home).records]) if isinstance(found, Document) else {}


def _by_id(locators: Sequence[MemoryLocator]) -> dict[str, MemoryLocator]:
    return {locator.memory_id: locator for locator in locators}


def _of(
    placed: dict[str, dict[str, MemoryLocator]], file: str | Refused, record: MemoryRecord
) -> MemoryLocator | Refused:
    if isinstance(file, Refused):
        return file
    return placed[file].get(record.memory_id) or Refused(
        kind=RefusalKind.CONFLICT, problem="The record was written, and changed by someone else at once."
    )


def _located(root: str, relative: str) -> Callable[[sqlite3.Connection], tuple[MemoryLocator, ...]]:
    return lambda connection: records.located(connection, root, relative)
