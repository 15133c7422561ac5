"""What a person said about memories and what is not in their files: muted, and how often the same was said again.

Any memory can be muted, also one in a file that is not ours to write; so the mark is kept here, by the memory's id. The
ids that are muted are held in memory: every pass asks for them. Kept in the `mark` table.
"""

import sqlite3

import msgspec

from recall.contracts import Database, Flag, MemoryRecord, Millis

_MUTE = (
    "INSERT INTO mark (memory_id, muted_at) VALUES (?, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET muted_at = coalesce(muted_at, excluded.muted_at)"
)
_AGAIN = (
    "INSERT INTO mark (memory_id, sightings, seen_at) VALUES (?, 2, ?)"
    " ON CONFLICT (memory_id) DO UPDATE SET sightings = sightings + 1, seen_at = excluded.seen_at"
    " RETURNING sightings"
)


class Marks:
    """Marks by memory id, read once at the start and written through."""

    def __init__(self, database: Database, muted: dict[str, Millis]) -> None:
        self._database = database
        self._since = muted
        self._muted = frozenset(muted)

    @property
    def muted(self) -> frozenset[str]:
        """The ids of all muted memories."""
        return self._muted

    def since(self, memory_id: str) -> Millis | None:
        """When a memory was muted; None when it is not."""
        return self._since.get(memory_id)

    def shown(self, record: MemoryRecord) -> MemoryRecord:
        """The record as a person reads it: with the flag `muted` when it is."""
        if record.memory_id not in self._muted or Flag.MUTED in record.flags:
            return record
        return msgspec.structs.replace(record, flags=(*record.flags, Flag.MUTED))

    async def mute(self, memory_id: str, now: Millis) -> bool:
        """Mute a memory. False: it was muted already, and stays so since then."""
        await self._database.write(lambda connection: connection.execute(_MUTE, (memory_id, now)))
        new = memory_id not in self._muted
        self._hold({**self._since, memory_id: self._since.get(memory_id, now)})
        return new

    async def unmute(self, memory_id: str) -> bool:
        """Let a memory speak again. False: it was not muted."""
        if memory_id not in self._muted:
            return False
        statement = "UPDATE mark SET muted_at = NULL WHERE memory_id = ?"
        await self._database.write(lambda connection: connection.execute(statement, (memory_id,)))
        self._hold({other: at for other, at in self._since.items() if other != memory_id})
        return True

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
        self._hold({other: at for other, at in self._since.items() if other != memory_id})

    def _hold(self, muted: dict[str, Millis]) -> None:
        self._since, self._muted = muted, frozenset(muted)


async def load_marks(database: Database) -> Marks:
    """The stored marks."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, Millis]]:
        return connection.execute("SELECT memory_id, muted_at FROM mark WHERE muted_at IS NOT NULL").fetchall()

    return Marks(database, dict(await database.read(work)))
