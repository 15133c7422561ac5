"""What was formed lately and stands or waits: its record may not be in the index yet, so no search finds it."""

import sqlite3

from governance.formation.contracts import IsolationKey
from governance.formation.store import items
from governance.review import QueueItem
from recall.contracts import Frozen

MOST = 64
_RECENT = (
    "SELECT queue.item_id, queue.text, queue.state = 'committed' FROM queue JOIN memory"
    " ON memory.memory_id = queue.item_id WHERE queue.workspace_key = ?1 AND queue.state IN ('committed', 'pending')"
    " AND memory.state IN ('live', 'waiting') AND team = ?1 AND user = ?2 AND agent = ?3 AND queue.text != ''"
    " ORDER BY queue.created_at DESC, queue.item_id LIMIT ?4"
)
MOST_NOTES = 500
_NOTED = (
    "SELECT text FROM queue WHERE workspace_key = ? AND kind = 'note' AND state IN ('pending', 'kept') AND text != ''"
    " ORDER BY created_at DESC, item_id LIMIT ?"
)

_PROPOSED_BY = (
    f"{items.SELECT} WHERE workspace_key = ? AND kind = 'note' AND state = 'pending' AND proposed_by = ?"
    " ORDER BY created_at DESC, item_id LIMIT ?"
)


class Recent(Frozen, frozen=True, kw_only=True):
    """An item of the queue that was committed, or waits for a person. `memory_id`: its own id, and its record's.
    `live`: there is a record of it."""

    memory_id: str
    text: str
    live: bool


def recent(connection: sqlite3.Connection, key: IsolationKey, limit: int = MOST) -> tuple[Recent, ...]:
    """The newest of a key, newest first; none of a key with an unset part."""
    if not key.whole:
        return ()
    rows = connection.execute(_RECENT, (key.team, key.user, key.agent, limit))
    return tuple(Recent(memory_id=memory_id, text=text, live=bool(live)) for memory_id, text, live in rows)


def noted(connection: sqlite3.Connection, workspace_key: str, limit: int = MOST_NOTES) -> tuple[str, ...]:
    """What the newest notes of a workspace say that wait or were kept."""
    return tuple(text for (text,) in connection.execute(_NOTED, (workspace_key, limit)))


def proposed_by(
    connection: sqlite3.Connection, workspace_key: str, who: str, limit: int = MOST_NOTES
) -> tuple[QueueItem, ...]:
    """The newest notes of a workspace that somebody proposed and that wait, without their decisions."""
    return tuple(items.item(row) for row in connection.execute(_PROPOSED_BY, (workspace_key, who, limit)))
