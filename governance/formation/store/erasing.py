"""What is forgotten leaves no word in the tables of formation: no note, no quote, no gap.

What stays are ids, times and a keyed digest: without them it would be formed again. That it was forgotten goes to the
journal.
"""

import sqlite3
from collections.abc import Iterable

from governance.formation.contracts import Life, TombstoneLine
from governance.formation.store import gaps, memories, notes, outbox
from governance.review import REASON, Citation
from recall.contracts import Frozen, Millis


class Forgotten(Frozen, frozen=True, kw_only=True):
    """`items`: the items about it. `digest`: what stands for its words."""

    memory_id: str
    items: tuple[str, ...]
    digest: str
    at: Millis


def erase(connection: sqlite3.Connection, gone: Forgotten) -> None:
    """Take the words of a memory, and of the items about it, out of every table of formation, within the caller's
    transaction. What the journal says of it the projector takes out."""
    for item_id in gone.items:
        notes.forget(connection, item_id)
        if item_id != gone.memory_id:
            memories.move(connection, item_id, Life.FORGOTTEN, gone.at)
    life = memories.move(connection, gone.memory_id, Life.FORGOTTEN, gone.at)
    gaps.forget(connection, [gone.memory_id, *gone.items], gone.at)
    version = 0 if life is None else life.version + 1
    line = TombstoneLine(memory_id=gone.memory_id, version=version, why=Life.FORGOTTEN, digest=gone.digest, at=gone.at)
    outbox.put(connection, line, gone.at)


def without_quotes(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """The citations by name alone: what an agent gave as its reason goes whole."""
    return tuple(Citation(kind=one.kind, ref="" if one.kind == REASON else one.ref) for one in citations)
