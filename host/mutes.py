"""What a person muted in a workspace: a kind of memory, or everything, for good or until a time.

Read once at the start, held in memory and written through: every pass asks. An end needs no timer: whoever asks says
what time it is. Kept in the `mute` table.
"""

import sqlite3
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from recall.contracts import Database, Frozen, MemoryKind, Millis

EVERYTHING: Literal[""] = ""
Muted = MemoryKind | Literal[""]  # a kind of memory, or EVERYTHING
LONGEST: Millis = 366 * 86_400_000
Duration = Annotated[int, Meta(gt=0, le=LONGEST)]  # milliseconds
_MUTE = "INSERT OR REPLACE INTO mute (workspace, kind, muted_at, muted_until) VALUES (?, ?, ?, ?)"
_UNMUTE = "DELETE FROM mute WHERE workspace = ? AND kind = ?"


class Mute(Frozen, frozen=True, kw_only=True):
    """Since when something is muted, and until when; None: until a person lets it speak again."""

    since: Millis
    until: Millis | None = None

    def holds(self, now: Millis) -> bool:
        """Whether it is still muted then."""
        return self.until is None or now < self.until

    def renewed(self, now: Millis, until: Millis | None) -> "Mute":
        """The same mute with another end; one that has ended begins anew."""
        return Mute(since=self.since if self.holds(now) else now, until=until)


def until_of(for_ms: int | None, now: Millis) -> Millis | None:
    """When a mute of that length ends; None: it has no end."""
    return None if for_ms is None else now + for_ms


class Mutes:
    """What is muted, by workspace key and kind."""

    def __init__(self, database: Database, held: Mapping[tuple[str, Muted], Mute]) -> None:
        self._database = database
        self._held = dict(held)

    def of(self, workspace: str, now: Millis) -> dict[Muted, Mute]:
        """All that is muted there then, everything first, then kinds in their order."""
        found: dict[Muted, Mute] = {}
        if self._held:
            for what in (EVERYTHING, *MemoryKind):
                mute = self._held.get((workspace, what))
                if mute is not None and mute.holds(now):
                    found[what] = mute
        return found

    def kinds(self, workspace: str, now: Millis) -> frozenset[MemoryKind]:
        """The kinds of memory that are not handed over there then."""
        return frozenset(what for what in self.of(workspace, now) if isinstance(what, MemoryKind))

    def quiet(self, workspace: str, now: Millis) -> bool:
        """Whether nothing at all is handed over there then."""
        return EVERYTHING in self.of(workspace, now)

    async def mute(self, workspace: str, what: Muted, now: Millis, until: Millis | None) -> bool:
        """Mute a kind, or everything, until then. False: it was muted until then already."""
        before = self.of(workspace, now).get(what)
        mute = Mute(since=now, until=until) if before is None else before.renewed(now, until)
        row = (workspace, str(what), mute.since, mute.until)
        await self._database.write(lambda connection: connection.execute(_MUTE, row))
        self._held[workspace, what] = mute
        return mute != before

    async def unmute(self, workspace: str, what: Muted, now: Millis) -> bool:
        """Let it speak again. False: it was not muted."""
        held = what in self.of(workspace, now)
        await self._database.write(lambda connection: connection.execute(_UNMUTE, (workspace, str(what))))
        self._held.pop((workspace, what), None)
        return held


async def load_mutes(database: Database) -> Mutes:
    """The stored mutes. A kind that this version does not know is passed over."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, str, Millis, Millis | None]]:
        return connection.execute("SELECT workspace, kind, muted_at, muted_until FROM mute").fetchall()

    known: dict[str, Muted] = {EVERYTHING: EVERYTHING} | {str(kind): kind for kind in MemoryKind}
    rows = await database.read(work)
    return Mutes(
        database, {(key, known[kind]): Mute(since=at, until=until) for key, kind, at, until in rows if kind in known}
    )
