"""What was formed of what, by which prompt and which model: rows of `generation` and `generation_ref`. No prompt body
and no message text is ever in them.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from governance.formation.contracts import Generation, Layer
from governance.formation.errors import StateFault
from recall.contracts import Database

_COLUMNS = Generation.__struct_fields__
_NAMES = Generation.__struct_encode_fields__
_LISTS = frozenset({"prompt", "input_refs", "output_refs", "usage", "decisions"})  # kept as JSON
_INSERT = f"INSERT OR IGNORE INTO generation ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM generation WHERE generation_id = ?"
_REF = "INSERT OR REPLACE INTO generation_ref (generation_ref_id, layer, memory_id, generation_id) VALUES (?, ?, ?, ?)"
_REFS = "SELECT layer, generation_id FROM generation_ref WHERE memory_id = ?"


def put(connection: sqlite3.Connection, generation: Generation, refs: Sequence[str] = ()) -> None:
    """Write a run down, and that it formed these; a later run about the same takes its place there."""
    connection.execute(_INSERT, tuple(_value(name, getattr(generation, name)) for name in _COLUMNS))
    for memory_id in refs:
        row = (f"{generation.layer}:{memory_id}", generation.layer, memory_id, generation.generation_id)
        connection.execute(_REF, row)


def of(connection: sqlite3.Connection, generation_id: str) -> Generation | None:
    """One run. Raises StateFault (`state-corrupt`) for a row that cannot be read."""
    row = connection.execute(_SELECT, (generation_id,)).fetchone()
    return None if row is None else _generation(row)


def of_memory(connection: sqlite3.Connection, memory_id: str) -> tuple[Generation, ...]:
    """The runs that formed a record, layer by layer."""
    layers = list(Layer)
    refs = sorted(connection.execute(_REFS, (memory_id,)), key=lambda row: layers.index(Layer(row[0])))
    return tuple(found for _, name in refs if (found := of(connection, name)) is not None)


class Generations:
    """The same questions, for whoever asks nothing else."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, generation_id: str) -> Generation | None:
        """One run. Raises StateFault for a row that cannot be read."""
        return await self._database.read(lambda connection: of(connection, generation_id))

    async def of_memory(self, memory_id: str) -> tuple[Generation, ...]:
        """The runs that formed a record, layer by layer."""
        return await self._database.read(lambda connection: of_memory(connection, memory_id))


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        return None if value is None else msgspec.json.encode(value).decode()
    return value


def _generation(row: Iterable[Any]) -> Generation:
    plain = dict(zip(_COLUMNS, row, strict=True))
    encoded = dict(zip(_COLUMNS, _NAMES, strict=True))
    try:
        fields = {
            encoded[name]: msgspec.json.decode(value) if name in _LISTS and value is not None else value
            for name, value in plain.items()
        }
        return msgspec.convert(fields, Generation)
    except (msgspec.MsgspecError, TypeError) as error:
        problem = f"The run {plain['generation_id']} cannot be read: {error}."
        raise StateFault("state-corrupt", problem, "Run `extract --recover`.") from None
