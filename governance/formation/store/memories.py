"""The lives of records that were formed, and what each rests on: rows of `memory`, `memory_source` and `drawn`.

Plain functions over a connection, for whoever commits more than this in one transaction; `Memories` reads. Every
question about other people's rows names its isolation key: a key with an unset part matches nothing.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from governance.formation.contracts import (
    FormedMemory,
    IsolationKey,
    KnownRecord,
    Life,
    Line,
    MemorySource,
    RecordLine,
    SightingLine,
    TombstoneLine,
)
from governance.formation.errors import StateFault
from governance.formation.store import generations
from recall.contracts import SAID, Database, Millis

_COLUMNS = FormedMemory.__struct_fields__
_NAMES = FormedMemory.__struct_encode_fields__
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM memory"
_PUT = (
    f"INSERT INTO memory ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) ON CONFLICT (memory_id)"
    f" DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS if name != 'memory_id')}"
    " WHERE (team, user, agent) = (excluded.team, excluded.user, excluded.agent) RETURNING memory_id"
)
_OF_KEY = "team = ? AND user = ? AND agent = ?"
_IDS = "memory_id IN (SELECT value FROM json_each(?))"
_SOURCE_COLUMNS = MemorySource.__struct_fields__
_SOURCE_NAMES = MemorySource.__struct_encode_fields__
_SOURCES = (
    f"SELECT {', '.join(_SOURCE_COLUMNS)} FROM memory_source WHERE memory_id = ?"
    " ORDER BY at, event_seq, session_id, message_id, place"
)
_OF_MESSAGE = "FROM memory_source WHERE memory_id = ?1 AND session_id = ?2 AND message_id = ?3"
_SOURCE = (
    "INSERT INTO memory_source (memory_id, session_id, message_id, place, quote, event_seq, role, at)"
    f" SELECT ?1, ?2, ?3, (SELECT coalesce(max(place) + 1, 0) {_OF_MESSAGE}), ?4, ?5, ?6, ?7"
    f" WHERE NOT EXISTS (SELECT 1 {_OF_MESSAGE} AND quote = ?4) RETURNING place"
)
_PLACE = "UPDATE memory SET state = ?, superseded_by = ?, updated_at = max(updated_at, ?) WHERE memory_id = ?"
_AT_LEAST = "UPDATE memory SET version = max(version, ?) WHERE memory_id = ?"
_EMPTY = "UPDATE memory SET scene_name = '', metadata = '{}', claim = '' WHERE memory_id = ?"
_UNPROJECTED = (
    "SELECT o.line FROM outbox o JOIN memory m ON m.memory_id = o.memory_id WHERE o.done_at IS NULL"
    " AND o.kind = 'record' AND m.team = ? AND m.user = ? AND m.agent = ? AND m.state = ?"
    " ORDER BY o.number DESC LIMIT ?"
)
_FIRST = {Life.LIVE: 0, Life.WAITING: 1}
_WHY = {"archived": Life.ARCHIVED, "superseded": Life.SUPERSEDED, "forgotten": Life.FORGOTTEN}


def put(connection: sqlite3.Connection, memory: FormedMemory) -> None:
    """Write a row down, in the place of one of that id: a waiting one becomes live so. Raises sqlite3.IntegrityError
    where that one is of another key: the transaction is to be rolled back then."""
    metadata = msgspec.json.encode(memory.metadata).decode()
    row = [metadata if name == "metadata" else getattr(memory, name) for name in _COLUMNS]
    if connection.execute(_PUT, row).fetchone() is None:
        raise sqlite3.IntegrityError(f"The record {memory.memory_id} is of another isolation key.")


def of(connection: sqlite3.Connection, memory_id: str) -> FormedMemory | None:
    """One life. Raises StateFault (`state-corrupt`) for a row that cannot be read."""
    row = connection.execute(f"{_SELECT} WHERE memory_id = ?", (memory_id,)).fetchone()
    return None if row is None else _memory(row)


def live_after(connection: sqlite3.Connection, memory_id: str, limit: int) -> tuple[FormedMemory, ...]:
    """Live rows with an id behind this one, in the order of their ids. Raises StateFault (`state-corrupt`)."""
    statement = f"{_SELECT} WHERE state = ? AND memory_id > ? ORDER BY memory_id LIMIT ?"
    return tuple(_memory(row) for row in connection.execute(statement, (Life.LIVE, memory_id, limit)))


def sources(connection: sqlite3.Connection, memory_id: str) -> tuple[MemorySource, ...]:
    """What a record rests on, oldest first."""
    rows = connection.execute(_SOURCES, (memory_id,))
    return tuple(msgspec.convert(dict(zip(_SOURCE_NAMES, row, strict=True)), MemorySource) for row in rows)


def add_sources(
    connection: sqlite3.Connection, memory_id: str, found: Iterable[MemorySource]
) -> tuple[MemorySource, ...]:
    """Note more that a record rests on; those that were new. The same quote of the same message counts once."""
    new: list[MemorySource] = []
    for one in found:
        row = (memory_id, one.session_id, one.message_id, one.quote, one.event_seq, one.role, one.at)
        if connection.execute(_SOURCE, row).fetchone() is not None:
            new.append(one)
    return tuple(new)


def exact(connection: sqlite3.Connection, key: IsolationKey, claims: Sequence[str]) -> dict[str, str]:
    """claim -> the record of this key that makes it: a live one, else one that waits for a person; the oldest."""
    if not (key.whole and claims):
        return {}
    rows = connection.execute(
        f"SELECT claim, memory_id, state, created_at FROM memory WHERE {_OF_KEY}"
        " AND claim IN (SELECT value FROM json_each(?)) AND state IN (?, ?) AND claim != ''",
        (*_parts(key), json.dumps(list(claims)), Life.LIVE, Life.WAITING),
    ).fetchall()
    rows.sort(key=lambda row: (_FIRST[Life(row[2])], row[3], row[1]), reverse=True)
    return {claim: memory_id for claim, memory_id, _, _ in rows}


def owned(connection: sqlite3.Connection, key: IsolationKey, memory_ids: Iterable[str]) -> dict[str, FormedMemory]:
    """Those of these records that are of this key, by id."""
    if not key.whole:
        return {}
    rows = connection.execute(f"{_SELECT} WHERE {_IDS} AND {_OF_KEY}", (json.dumps([*memory_ids]), *_parts(key)))
    return {one.memory_id: one for one in map(_memory, rows)}


def foreign(connection: sqlite3.Connection, key: IsolationKey, memory_ids: Iterable[str]) -> frozenset[str]:
    """Those of these records that were formed under another key. An unset key owns nothing."""
    statement = f"SELECT memory_id FROM memory WHERE {_IDS} AND NOT (? AND {_OF_KEY})"
    rows = connection.execute(statement, (json.dumps([*memory_ids]), key.whole, *_parts(key)))
    return frozenset(memory_id for (memory_id,) in rows)


def supersede(
    connection: sqlite3.Connection, key: IsolationKey, memory_id: str, by: str, at: Millis
) -> FormedMemory | None:
    """Put a live record of this key behind the one that takes its place; the life after that. None: it is not there,
    not live, or of another key."""
    held = owned(connection, key, [memory_id]).get(memory_id)
    if held is None or held.state is not Life.LIVE:
        return None
    return move(connection, memory_id, Life.SUPERSEDED, at, by)


def move(
    connection: sqlite3.Connection, memory_id: str, life: Life, at: Millis, superseded_by: str | None = None
) -> FormedMemory | None:
    """Say how a record stands from now on; the life after that, None where there is no such row. A forgotten one keeps
    none of its words: no quote, no scene, no metadata, not the digest of its claim."""
    connection.execute(_PLACE, (life, superseded_by, at, memory_id))
    if life is Life.FORGOTTEN:
        connection.execute(_EMPTY, (memory_id,))
        connection.execute("UPDATE memory_source SET quote = '' WHERE memory_id = ?", (memory_id,))
    return of(connection, memory_id)


def earlier(connection: sqlite3.Connection, memory_id: str) -> tuple[FormedMemory, ...]:
    """Every record that this one took the place of, and those that they did; the newest first."""
    rows = connection.execute(
        "WITH RECURSIVE before (id) AS (SELECT memory_id FROM memory WHERE superseded_by = ?"
        " UNION SELECT memory_id FROM memory JOIN before ON superseded_by = before.id)"
        f" {_SELECT} WHERE memory_id IN (SELECT id FROM before WHERE id != ?)",
        (memory_id, memory_id),
    )
    return tuple(sorted(map(_memory, rows), key=lambda one: (-one.version, -one.updated_at, one.memory_id)))


def unprojected(connection: sqlite3.Connection, key: IsolationKey, limit: int) -> tuple[KnownRecord, ...]:
    """Live records of this key that were committed and still wait to be written to their files, where recall would find
    them; the newest first."""
    if not key.whole:
        return ()
    rows = connection.execute(_UNPROJECTED, (*_parts(key), Life.LIVE, limit)).fetchall()
    lines = (msgspec.json.decode(line, type=RecordLine) for (line,) in rows)
    return tuple({one.memory_id: _known(one) for one in reversed([*lines])}.values())[::-1]


def last_scene(connection: sqlite3.Connection, key: IsolationKey, session_id: str) -> str:
    """The scene of what was formed last of a session; empty: of nothing."""
    if not key.whole:
        return ""
    statement = f"SELECT scene_name FROM memory WHERE session_id = ? AND {_OF_KEY} AND scene_name != ''"
    order = "ORDER BY updated_at DESC, memory_id LIMIT 1"
    row = connection.execute(f"{statement} {order}", (session_id, *_parts(key))).fetchone()
    return "" if row is None else str(row[0])


def drawn(connection: sqlite3.Connection, operation_id: str, place: int, fresh: str) -> str:
    """The id of the nth item of an operation: `fresh` the first time, and ever after what was drawn then."""
    connection.execute("INSERT OR IGNORE INTO drawn VALUES (?, ?, ?)", (operation_id, place, fresh))
    statement = "SELECT item_id FROM drawn WHERE operation_id = ? AND place = ?"
    found: str = connection.execute(statement, (operation_id, place)).fetchone()[0]
    return found


def restore(connection: sqlite3.Connection, line: Line) -> None:
    """Put the rows back that a line of the journal tells of. Lines come in their order; to read one twice changes
    nothing, and neither does an older version of what is there."""
    match line:
        case RecordLine():
            held = of(connection, line.memory_id)
            if held is None or _as_new(line.formed, held):
                put(connection, line.formed)
            add_sources(connection, line.memory_id, line.sources)
            if line.generation is not None:
                generations.put(connection, line.generation, [line.memory_id])
        case SightingLine():
            add_sources(connection, line.memory_id, line.sources)
        case TombstoneLine() if line.why in _WHY:
            move(connection, line.memory_id, _WHY[line.why], line.at, line.superseded_by)
            connection.execute(_AT_LEAST, (line.version, line.memory_id))
        case _:  # decisions and cursors are other tables' rows
            pass


class Memories:
    """The same questions, for whoever asks nothing else."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, memory_id: str) -> FormedMemory | None:
        """One life. Raises StateFault for a row that cannot be read."""
        return await self._database.read(lambda connection: of(connection, memory_id))

    async def sources(self, memory_id: str) -> tuple[MemorySource, ...]:
        """What a record rests on, oldest first."""
        return await self._database.read(lambda connection: sources(connection, memory_id))

    async def earlier(self, memory_id: str) -> tuple[FormedMemory, ...]:
        """What a record took the place of, the newest first."""
        return await self._database.read(lambda connection: earlier(connection, memory_id))

    async def exact(self, key: IsolationKey, claims: Sequence[str]) -> Mapping[str, str]:
        """claim -> the record of this key that makes it."""
        return await self._database.read(lambda connection: exact(connection, key, claims))

    async def owned(self, key: IsolationKey, memory_ids: Iterable[str]) -> Mapping[str, FormedMemory]:
        """Those of these records that are of this key, by id."""
        asked = tuple(memory_ids)
        return await self._database.read(lambda connection: owned(connection, key, asked))

    async def unprojected(self, key: IsolationKey, limit: int) -> Sequence[KnownRecord]:
        """Live records of this key that still wait to be written to their files, the newest first."""
        return await self._database.read(lambda connection: unprojected(connection, key, limit))

    async def foreign(self, key: IsolationKey, memory_ids: Iterable[str]) -> frozenset[str]:
        """Those of these records that were formed under another key."""
        asked = tuple(memory_ids)
        return await self._database.read(lambda connection: foreign(connection, key, asked))


def _known(line: RecordLine) -> KnownRecord:
    guarded = line.record.origin in SAID or line.record.pinned
    return KnownRecord(memory_id=line.memory_id, text=line.record.text, guarded=guarded, claim=line.formed.claim)


def _as_new(formed: FormedMemory, held: FormedMemory) -> bool:
    return (formed.version, formed.updated_at) >= (held.version, held.updated_at)


def _parts(key: IsolationKey) -> tuple[str, str, str]:
    return key.team, key.user, key.agent


def _memory(row: Iterable[Any]) -> FormedMemory:
    fields = dict(zip(_NAMES, row, strict=True))
    place = _COLUMNS.index("metadata")
    try:
        fields[_NAMES[place]] = msgspec.json.decode(fields[_NAMES[place]], type=dict[str, str])
        return msgspec.convert(fields, FormedMemory)
    except msgspec.MsgspecError as error:
        problem = f"The life of record {fields['memoryId']} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Run `extract --recover`.") from None
