"""How far a workspace is rolled out: off, shadow, canary or active. Kept in the `setting` table."""

import sqlite3

import msgspec

from host.contracts import Rollout
from recall.canonical import bytes_digest
from recall.contracts import Database

PREFIX = "rollout:"
CANARY_PERCENT = 10


class Rollouts:
    """Levels by workspace key, read once at the start and written through."""

    def __init__(self, database: Database, levels: dict[str, Rollout]) -> None:
        self._database = database
        self._levels = levels

    def of(self, workspace: str, session_id: str) -> Rollout:
        """The level that holds for a session: a canary is active for a share of sessions, chosen by hash."""
        level = self._levels.get(workspace, Rollout.ACTIVE)
        if level is not Rollout.CANARY:
            return level
        share = int(bytes_digest(session_id.encode("utf-8"))[:8], 16) % 100
        return Rollout.ACTIVE if share < CANARY_PERCENT else Rollout.SHADOW

    async def set(self, workspace: str, level: Rollout) -> None:
        """Store and apply a level."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
                (PREFIX + workspace, msgspec.json.encode(level)),
            )

        await self._database.write(work)
        self._levels[workspace] = level


async def load_rollouts(database: Database) -> Rollouts:
    """The stored levels."""

    def work(connection: sqlite3.Connection) -> dict[str, Rollout]:
        rows = connection.execute("SELECT name, value FROM setting WHERE name GLOB 'rollout:*'").fetchall()
        return {name.removeprefix(PREFIX): msgspec.json.decode(value, type=Rollout) for name, value in rows}

    return Rollouts(database, await database.read(work))
