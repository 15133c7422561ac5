"""What a person said about memories and what is not in their files: muted, and how often the same was said again.

Any memory can be muted, also one in a file that is not ours to write; so the mark is kept here, by the memory's id. The
ids that are muted are held in memory: every pass asks for them. Kept in the `mark` table; what is muted in a whole
workspace stands beside it, in `mutes`.
"""

import sqlite3

import msgspec

from host.mutes import Mute, Mutes, load_mutes
from recall.contracts import Database, Flag, MemoryRecord, Millis

_MUTE = (
    "INSERT INTO mark (memory_id, muted_at, muted_until) VALUES (?, ?, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET muted_at = excluded.muted_at, muted_until = excluded.muted_until"
)
_AGAIN = (
    "INSERT INTO mark (memory_id, sightings, seen_at) VALUES (?, 2, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET sightings = sightings + 1, seen_at = excluded.seen_at"
    " RETURNING sightings"
)


class Marks:
    """Marks by memory id, read once at the start and written through."""

    def __init__(self, database: Database, muted: dict[str, Mute], workspaces: Mutes) -> None:
        self._database = database
        self.workspaces = workspaces
        self._hold(muted)

    def muted(self, now: Millis) -> frozenset[str]:
        """The ids of all memories that are muted then."""
        if not self._ending:
            return self._for_good
        return self._for_good | {memory_id for memory_id, mute in self._ending.items() if mute.holds(now)}

    def mute_of(self, memory_id: str, now: Millis) -> Mute | None:
        """Since when a memory is muted, and until when; None when it is not."""
        mute = self._mutes.get(memory_id)
        return mute if mute is not None and mute.holds(now) else None

    def shown(self, record: MemoryRecord, now: Millis) -> MemoryRecord:
        """The record as a person reads it: with the flag `muted` when it is."""
        if self.mute_of(record.memory_id, now) is None or Flag.MUTED in record.flags:
            return record
        return msgspec.structs.replace(record, flags=(*record.flags, Flag.MUTED))

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
        await self._database.write(
            lambda connection: connection.execute("DELETE FROM mark WHERE memory_id = ?", (memory_id,))
        )
        self._hold({other: mute for other, mute in self._mutes.items() if other != memory_id})

    def _hold(self, mutes: dict[str, Mute]) -> None:
        self._mutes = mutes
        self._for_good = frozenset(memory_id for memory_id, mute in mutes.items() if mute.until is None)
        self._ending = {memory_id: mute for memory_id, mute in mutes.items() if mute.until is not None}


async def load_marks(database: Database) -> Marks:
    """The stored marks, and what is muted in whole workspaces."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, Millis, Millis | None]]:
        statement = "SELECT memory_id, muted_at, muted_until FROM mark WHERE muted_at IS NOT NULL"
        return connection.execute(statement).fetchall()

    rows = await database.read(work)
    muted = {memory_id: Mute(since=at, until=until) for memory_id, at, until in rows}
    return Marks(database, muted, await load_mutes(database))
