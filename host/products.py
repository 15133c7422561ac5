"""Which agent product a session is of. Noted once for each session, in the `setting` table, as imports are.

What came in before that was noted is told by the model that spoke in it, and otherwise not at all.
"""

import sqlite3
from collections.abc import Collection, Mapping

import msgspec

from recall.contracts import Database, EventType, Frozen

PREFIX = "product:"
UNKNOWN = "unknown"
REMEMBERED = 4096
_PUT = "INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)"
_KEPT = "SELECT name, value FROM setting WHERE name IN (SELECT value FROM json_each(?))"
_CLIENTS = (
    "SELECT e.payload FROM log_session s JOIN event e ON e.session = s.id"
    f" WHERE s.session_id = ? AND e.event_seq <= 64 AND e.event_type = '{EventType.SESSION_CLIENT.value}'"
)
# How the models of one product alone are called.
_MODELS = (("claude", "claude-code"), ("gpt", "codex"), ("codex", "codex"), ("gemini", "gemini-cli"))


class Spoken(Frozen, frozen=True, kw_only=True):
    model: str = ""


class Providers:
    """Reads and notes. `database`: the event log's."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[str, str] = {}

    async def note(self, session_ids: Collection[str], product: str) -> None:
        """These sessions are of that product, unless it was noted otherwise before. An empty name says nothing."""
        new = [one for one in session_ids if one not in self._noted]
        if not new or not product:
            return
        rows = [(PREFIX + one, msgspec.json.encode(product)) for one in new]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(_PUT, rows)

        await self._database.write(work)
        if len(self._noted) + len(new) > REMEMBERED:
            self._noted.clear()
        self._noted.update(dict.fromkeys(new, product))

    async def of(self, session_ids: Collection[str]) -> Mapping[str, str]:
        """The product of each of these sessions, by the name of its adapter; `unknown` where nothing tells it."""

        def work(connection: sqlite3.Connection) -> dict[str, str]:
            listed = msgspec.json.encode([PREFIX + one for one in session_ids]).decode()
            kept = {name.removeprefix(PREFIX): value for name, value in connection.execute(_KEPT, (listed,))}
            found = {one: msgspec.json.decode(value, type=str) for one, value in kept.items()}
            return found | {one: _told(connection, one) for one in session_ids if one not in found}

        return await self._database.read(work)


def _told(connection: sqlite3.Connection, session_id: str) -> str:
    """The product whose model spoke at the beginning of a session."""
    for (payload,) in connection.execute(_CLIENTS, (session_id,)):
        try:
            model = msgspec.json.decode(payload, type=Spoken).model
        except msgspec.DecodeError:
            continue
        for begins, product in _MODELS:
            if model.startswith(begins):
                return product
    return UNKNOWN
