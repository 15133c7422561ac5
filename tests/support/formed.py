"""Formed records and their lines, as the pipelines commit them."""

import sqlite3
from typing import Any

from governance.formation.contracts import (
    ANY_AGENT,
    FormedMemory,
    Life,
    MemorySource,
    Pipeline,
    RecordLine,
    TombstoneLine,
)
from governance.formation.queue import Queue, screened
from governance.formation.store import memories, outbox
from governance.review import QUOTE, Citation, ItemKind, QueueItem, State
from host.config import FormationSettings
from recall.contracts import MemoryRecord, Origin, Scope, ScopeRef
from recall.workspace import workspace_key
from tests.support.builders import a_memory, a_memory_id
from tests.support.clock import START
from tests.support.world import World

ON = FormationSettings()  # as a user has it who set nothing: the running agent is the model


def a_formed(number: int = 1, team: str = "ws_1", **fields: Any) -> FormedMemory:
    given = {
        "memory_id": a_memory_id(number),
        "pipeline": Pipeline.CHECKPOINT,
        "claim": f"claim-{number}",
        "created_at": START,
        "updated_at": START,
        "team": team,
        "user": "user",
        "agent": ANY_AGENT,
        "session_id": "s-1",
    } | fields
    return FormedMemory(**given)


def a_source(number: int = 1, **fields: Any) -> MemorySource:
    given = {
        "session_id": "s-1",
        "message_id": f"m-{number}",
        "event_seq": number,
        "at": START,
        "quote": "We ship on Thursdays",
    } | fields
    return MemorySource(**given)


def a_record_line(
    number: int = 1, text: str = "Releases go out on Thursdays.", team: str = "ws_1", **fields: Any
) -> RecordLine:
    """A committed record. `record`: further fields of the record."""
    scope = ScopeRef(kind=Scope.WORKSPACE, key=team)
    record: MemoryRecord = a_memory(
        text,
        **({"memory_id": a_memory_id(number), "scope": scope, "origin": Origin.EXTRACTED} | fields.pop("record", {})),
    )
    formed = fields.pop("formed", a_formed(number, team))
    given = {
        "memory_id": record.memory_id,
        "version": formed.version,
        "record": record,
        "formed": formed,
        "sources": (a_source(number),),
        "at": START,
    } | fields
    return RecordLine(**given)


def a_tombstone(number: int = 1, why: str = "archived", **fields: Any) -> TombstoneLine:
    given = {"memory_id": a_memory_id(number), "version": 1, "why": why, "digest": "", "at": START} | fields
    return TombstoneLine(**given)


def team_of(world: World, workspace: str = "") -> str:
    return workspace_key(workspace or world.workspace())


def an_item(line: RecordLine) -> QueueItem:
    quotes = tuple(
        Citation(kind=QUOTE, ref=one.message_id, quote=one.quote, session=one.session_id, role=one.role, at=one.at)
        for one in line.sources
    )
    return screened(
        QueueItem(
            item_id=line.memory_id,
            kind=ItemKind.MEMORY,
            pipeline="checkpoint",
            workspace_key=line.formed.team,
            created_at=line.at,
            state=State.COMMITTED,
            text=line.record.text,
            citations=quotes,
            proposed_by="checkpoint",
            record_id=line.memory_id,
        )
    )


def commit(connection: sqlite3.Connection, queue: Queue, line: RecordLine) -> None:
    """What an engine's commit leaves of one record: the item, the life, the sources and the line."""
    queue.put(connection, an_item(line))
    memories.put(connection, line.formed)
    memories.add_sources(connection, line.memory_id, line.sources)
    outbox.put(connection, line, line.at)


async def committed(world: World, *lines: RecordLine) -> None:
    """Commit these records; nothing is written into the files yet."""
    queue = world.parts.queue
    for line in lines:
        await world.parts.kept.write(lambda connection, line=line: commit(connection, queue, line))  # type: ignore[misc]


async def superseded(world: World, old: RecordLine, by: RecordLine) -> None:
    """The second takes the place of the first, in one transaction."""

    def work(connection: sqlite3.Connection) -> None:
        commit(connection, world.parts.queue, by)
        memories.move(connection, old.memory_id, Life.SUPERSEDED, by.at, by.memory_id)
        line = TombstoneLine(
            memory_id=old.memory_id,
            version=old.version,
            why="superseded",
            digest="",
            at=by.at,
            superseded_by=by.memory_id,
        )
        outbox.put(connection, line, by.at)

    await world.parts.kept.write(work)
