"""The user's own records that a promoted entry takes the place of (team.md 6.4).

Within the promotion's transaction: the life of each record ends, and a line waits in formation's outbox, from which
the projector changes the files. A crash in between is made good at the next start.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from governance.formation.contracts import Life, TombstoneLine
from governance.formation.queue import Queue
from governance.formation.store import memories, outbox
from governance.review import LIVE
from recall.contracts import Millis

PROMOTED = "promoted"
_SUPERSEDED = "superseded"


def supersede(connection: sqlite3.Connection, queue: Queue, memory_ids: Iterable[str], by: str, at: Millis) -> None:
    """Put these records behind the entry `by`, and end the queue's items about them. Once more changes nothing.

    Raises StateFault (`state-corrupt`) for a row that cannot be read.
    """
    for memory_id in memory_ids:
        held = memories.of(connection, memory_id)
        if held is not None and held.state is Life.SUPERSEDED and held.superseded_by == by:
            continue
        version = 1 if held is None else held.version + 1
        if held is not None:
            at_least = max(at, held.updated_at)
            gone = msgspec.structs.replace(
                held, version=version, state=Life.SUPERSEDED, superseded_by=by, updated_at=at_least
            )
            memories.put(connection, gone)
        line = TombstoneLine(memory_id=memory_id, version=version, why=_SUPERSEDED, digest="", at=at, superseded_by=by)
        outbox.put(connection, line, at)
        for item in queue.about(connection, memory_id):
            if item.state in LIVE:
                queue.end(connection, item.item_id, PROMOTED, at)
