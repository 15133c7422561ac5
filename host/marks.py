"""What a person said about memories and what is not in their files: muted, corrected, held back, approved, said again.

Any memory can be marked, also one in a file that is not ours to write; so the marks are kept here, by the memory's id.
They are held in memory: every pass asks for them. Kept in the `mark` table; what is muted in a whole workspace stands
beside it, in `mutes`.

What is corrected, held back or approved decides what memory there is, so it is part of the version that packets are
built from: `effective` names it.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from host.mutes import Mute, Mutes, load_mutes
from recall.contracts import Database, Flag, Frozen, MemoryRecord, Millis

_MUTE = (
    "INSERT INTO mark (memory_id, muted_at, muted_until) VALUES (?, ?, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET muted_at = excluded.muted_at, muted_until = excluded.muted_until"
)
_AGAIN = (
    "INSERT INTO mark (memory_id, sightings, seen_at) VALUES (?, 2, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET sightings = sightings + 1, seen_at = excluded.seen_at"
    " RETURNING sightings"
)
_HELD = (
    "INSERT INTO mark (memory_id, corrected_at, quarantined_at, approved, approved_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET corrected_at = excluded.corrected_at,"
    " quarantined_at = excluded.quarantined_at, approved = excluded.approved, approved_at = excluded.approved_at"
)
_CHANGED = "UPDATE mark_change SET changes = changes + 1"


class Said(Frozen, frozen=True, kw_only=True):
    """What is said of one memory besides a mute: since when it is corrected and held back, and the digest of the record
    that was approved."""

    corrected_at: Millis | None = None
    quarantined_at: Millis | None = None
    approved: str | None = None
    approved_at: Millis | None = None


class Kept(Frozen, frozen=True, kw_only=True):
    """What the table holds, read at the start. `changes`: how often what decides was changed."""

    muted: dict[str, Mute] = {}
    said: dict[str, Said] = {}
    changes: int = 0


NOTHING = Said()


class Marks:
    """Marks by memory id, read once at the start and written through."""

    def __init__(self, database: Database, kept: Kept, workspaces: Mutes) -> None:
        self._database = database
        self.workspaces = workspaces
        self._changing = asyncio.Lock()
        self._hold(kept.muted)
        self._know(kept.said, kept.changes)

    # ------------------------------------------------------------------ muted

    def muted(self, now: Millis) -> frozenset[str]:
        """The ids of all memories that are muted then."""
        if not self._ending:
            return self._for_good
        return self._for_good | {memory_id for memory_id, mute in self._ending.items() if mute.holds(now)}

    def mute_of(self, memory_id: str, now: Millis) -> Mute | None:
        """Since when a memory is muted, and until when; None when it is not."""
        mute = self._mutes.get(memory_id)
        return mute if mute is not None and mute.holds(now) else None

    async def mute(self, memory_id: str, now: Millis, until: Millis | None = None) -> bool:
        """Mute a memory until then, or for good. False: it was muted just so already."""
        before = self.mute_of(memory_id, now)
        mute = Mute(since=now, until=until) if before is None else before.renewed(now, until)
        row = (memory_id, mute.since, mute.until)
        await self._database.write(lambda connection: connection.execute(_MUTE, row))
        self._hold({**self._mutes, memory_id: mute})
        return mute != before

    async def unmute(self, memory_id: str, now: Millis) -> bool:
        """Let a memory speak again. False: it was not muted."""
        held = self.mute_of(memory_id, now) is not None
        if memory_id not in self._mutes:
            return False
        statement = "UPDATE mark SET muted_at = NULL, muted_until = NULL WHERE memory_id = ?"
        await self._database.write(lambda connection: connection.execute(statement, (memory_id,)))
        self._hold({other: mute for other, mute in self._mutes.items() if other != memory_id})
        return held

    # ------------------------------------------------------------------ corrected, held back, approved

    @property
    def corrected(self) -> frozenset[str]:
        """The ids of all memories that somebody corrected, until a person keeps them."""
        return self._corrected

    @property
    def quarantined(self) -> frozenset[str]:
        """The ids of all memories that are held back, until a person keeps them."""
        return self._quarantined

    @property
    def approved(self) -> Mapping[str, str]:
        """The digest of each record that a person approved, by memory id. Replaced, never changed."""
        return self._approved

    @property
    def generation(self) -> int:
        """How often what is corrected, held back or approved was changed, restarts included."""
        return self._changes

    def effective(self, index_version: str) -> str:
        """What packets are built from now, by name: this index, and these marks over it."""
        return effective_version(index_version, self._changes)

    def withheld(self, memory_ids: Iterable[str]) -> frozenset[str]:
        """Those of these that are corrected or held back."""
        return frozenset(one for one in memory_ids if one in self._corrected or one in self._quarantined)

    def said_of(self, memory_id: str) -> Said:
        """What is said of one memory besides a mute."""
        return self._said.get(memory_id, NOTHING)

    async def correct(self, memory_id: str, now: Millis) -> bool:
        """Somebody said that it is wrong. False: that is known."""
        return await self._say(
            memory_id, lambda said: said if said.corrected_at is not None else replace(said, corrected_at=now)
        )

    async def quarantine(self, memory_id: str, now: Millis) -> bool:
        """Hold a memory back. False: it was."""
        return await self._say(
            memory_id, lambda said: said if said.quarantined_at is not None else replace(said, quarantined_at=now)
        )

    async def clear(self, memory_id: str) -> bool:
        """A person keeps it: it is neither corrected nor held back any more. False: it was neither."""
        return await self._say(memory_id, lambda said: replace(said, corrected_at=None, quarantined_at=None))

    async def approve(self, memory_id: str, digest: str, now: Millis) -> bool:
        """A person approves the record as it stands, for every use. False: it was approved just so already."""
        return await self._say(
            memory_id,
            lambda said: said if said.approved == digest else replace(said, approved=digest, approved_at=now),
        )

    async def disapprove(self, memory_id: str) -> bool:
        """The approval is taken back. False: there was none."""
        return await self._say(memory_id, lambda said: replace(said, approved=None, approved_at=None))

    def admits(self, memory_id: str, digest: str) -> bool:
        """Whether a person let this record through as it stands, whatever the screen says of it."""
        return self._approved.get(memory_id) == digest

    # ------------------------------------------------------------------ the rest

    def shown(self, record: MemoryRecord, now: Millis) -> MemoryRecord:
        """The record as a person reads it: with the flags that marks stand for."""
        said = self.said_of(record.memory_id)
        wanted = (
            (Flag.QUARANTINED, said.quarantined_at is not None),
            (Flag.CORRECTED, said.corrected_at is not None),
            (Flag.MUTED, self.mute_of(record.memory_id, now) is not None),
        )
        more = tuple(flag for flag, marked in wanted if marked and flag not in record.flags)
        return replace(record, flags=(*record.flags, *more)) if more else record

    async def said_again(self, memory_id: str, now: Millis) -> int:
        """A person said what this memory says already. How often that was, the first time included."""

        def work(connection: sqlite3.Connection) -> int:
            count: int = connection.execute(_AGAIN, (memory_id, now)).fetchone()[0]
            return count

        return await self._database.write(work)

    async def sightings(self, memory_id: str) -> int:
        """How often a memory was said: 1 unless it was said again."""
        statement = "SELECT sightings FROM mark WHERE memory_id = ?"
        row = await self._database.read(lambda connection: connection.execute(statement, (memory_id,)).fetchone())
        return row[0] if row else 1

    async def forget(self, memory_id: str) -> None:
        """The memory is gone, and what was said about it too."""
        async with self._changing:
            decided = memory_id in self._said

            def work(connection: sqlite3.Connection) -> None:
                connection.execute("DELETE FROM mark WHERE memory_id = ?", (memory_id,))
                if decided:
                    connection.execute(_CHANGED)

            await self._database.write(work)
            self._hold({other: mute for other, mute in self._mutes.items() if other != memory_id})
            left = {other: said for other, said in self._said.items() if other != memory_id}
            self._know(left, self._changes + decided)

    async def _say(self, memory_id: str, change: Callable[[Said], Said]) -> bool:
        """Change what is said of one memory, one change at a time. False: nothing changed."""
        async with self._changing:
            before = self.said_of(memory_id)
            said = change(before)
            if said == before:
                return False
            row = (memory_id, said.corrected_at, said.quarantined_at, said.approved, said.approved_at)

            def work(connection: sqlite3.Connection) -> None:
                connection.execute(_HELD, row)
                connection.execute(_CHANGED)

            await self._database.write(work)
            self._know({**self._said, memory_id: said}, self._changes + 1)
            return True

    def _hold(self, mutes: dict[str, Mute]) -> None:
        self._mutes = mutes
        self._for_good = frozenset(memory_id for memory_id, mute in mutes.items() if mute.until is None)
        self._ending = {memory_id: mute for memory_id, mute in mutes.items() if mute.until is not None}

    def _know(self, said: dict[str, Said], changes: int) -> None:
        self._said = {memory_id: one for memory_id, one in said.items() if one != NOTHING}
        self._changes = changes
        self._corrected = frozenset(one for one, said in self._said.items() if said.corrected_at is not None)
        self._quarantined = frozenset(one for one, said in self._said.items() if said.quarantined_at is not None)
        self._approved = {one: said.approved for one, said in self._said.items() if said.approved is not None}


def effective_version(index_version: str, generation: int) -> str:
    """The name of what packets are built from: the index, and how often the marks that decide were changed over it."""
    return f"{index_version}.{generation}" if generation else index_version


async def load_marks(database: Database) -> Marks:
    """The stored marks, and what is muted in whole workspaces."""

    def work(connection: sqlite3.Connection) -> Kept:
        muted = connection.execute("SELECT memory_id, muted_at, muted_until FROM mark WHERE muted_at IS NOT NULL")
        said = connection.execute(
            "SELECT memory_id, corrected_at, quarantined_at, approved, approved_at FROM mark"
            " WHERE corrected_at IS NOT NULL OR quarantined_at IS NOT NULL OR approved IS NOT NULL"
        )
        (changes,) = connection.execute("SELECT changes FROM mark_change").fetchone()
        return Kept(
            muted={memory_id: Mute(since=at, until=until) for memory_id, at, until in muted},
            said={
                memory_id: Said(corrected_at=wrong, quarantined_at=back, approved=digest, approved_at=at)
                for memory_id, wrong, back, digest, at in said
            },
            changes=changes,
        )

    kept = await database.read(work)
    return Marks(database, kept, await load_mutes(database))
