"""How often remora speaks in a workspace: quiet, normal or eager. Kept in the `setting` table.

A choice holds from the next event on, in every session there. What was decided stays as it is: each pass's entry names
the policy that decided it, and the choice itself is an entry too.
"""

import sqlite3

import msgspec

from recall.contracts import Attention, Database

PREFIX = "attention:"


class Attentions:
    """Choices by workspace key, read once at the start and written through."""

    def __init__(self, database: Database, chosen: dict[str, Attention], default: Attention) -> None:
        self._database = database
        self._chosen = chosen
        self.default = default

    def of(self, workspace: str) -> Attention:
        """What holds there."""
        return self._chosen.get(workspace, self.default)

    def chosen(self, workspace: str) -> bool:
        """Whether somebody chose it there; else the default holds."""
        return workspace in self._chosen

    async def set(self, workspace: str, attention: Attention) -> None:
        """Store and apply a choice."""
        row = (PREFIX + workspace, msgspec.json.encode(attention))
        statement = "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)"
        await self._database.write(lambda connection: connection.execute(statement, row))
        self._chosen[workspace] = attention


async def load_attentions(database: Database, default: Attention = Attention.NORMAL) -> Attentions:
    """The stored choices. One that this version does not know is passed over: the default holds there."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
        return connection.execute("SELECT name, value FROM setting WHERE name GLOB 'attention:*'").fetchall()

    rows = await database.read(work)
    chosen = {name.removeprefix(PREFIX): attention for name, value in rows if (attention := _read(value)) is not None}
    return Attentions(database, chosen, default)


def _read(value: bytes) -> Attention | None:
    try:
        return msgspec.json.decode(value, type=Attention)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
