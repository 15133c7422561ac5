"""The lives of formed records: who sees which, what they rest on, and what took whose place."""

import sqlite3

import msgspec
import pytest

from governance.formation.contracts import (
    ANY_AGENT,
    CursorLine,
    FormedMemory,
    Generation,
    IsolationKey,
    Layer,
    Life,
    MemorySource,
    MemoryType,
    Pipeline,
    PromptUse,
    RecordLine,
    SightingLine,
    TombstoneLine,
)
from governance.formation.errors import StateFault
from governance.formation.store import generations, memories, outbox
from governance.migrations import queue_steps
from recall.contracts import Origin
from tests.support.builders import a_memory, a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

ONE, TWO, THREE = a_memory_id(1), a_memory_id(2), a_memory_id(3)
OURS = IsolationKey(team="ws_1", user="u1", agent=ANY_AGENT)
THEIRS = IsolationKey(team="ws_1", user="u2", agent=ANY_AGENT)
UNSET = IsolationKey(team="ws_1", user=" ", agent=ANY_AGENT)


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


@pytest.fixture
def connection(database: FakeDatabase) -> sqlite3.Connection:
    return database.connection


def a_life(memory_id: str, key: IsolationKey = OURS, **changes: object) -> FormedMemory:
    fields: dict[str, object] = {
        "memory_id": memory_id,
        "pipeline": Pipeline.BATCH,
        "claim": f"claim of {memory_id}",
        "created_at": START,
        "updated_at": START,
        "team": key.team,
        "user": key.user,
        "agent": key.agent,
        "type": MemoryType.WORK_TASK,
        "priority": 70,
        "scene_name": "release",
        "activity_start": START - 9,
        "metadata": {"owner": "Ana", "status": "doing"},
    }
    return FormedMemory(**(fields | changes))  # type: ignore[arg-type]


def a_source(session: str = "s-1", message: str = "m-1", at: int = START, quote: str = "") -> MemorySource:
    return MemorySource(session_id=session, message_id=message, event_seq=4, at=at, quote=quote)


async def test_a_life_is_read_as_it_was_written_and_replaced_by_the_next(
    connection: sqlite3.Connection, database: FakeDatabase
) -> None:
    waiting = a_life(ONE, state=Life.WAITING)
    memories.put(connection, waiting)
    assert memories.of(connection, ONE) == waiting
    kept = a_life(ONE, version=3, updated_at=START + 5)
    memories.put(connection, kept)
    assert memories.of(connection, ONE) == kept == await memories.Memories(database).of(ONE)
    assert memories.of(connection, TWO) is None


def test_a_row_of_another_key_is_not_written_over(connection: sqlite3.Connection) -> None:
    memories.put(connection, a_life(ONE, THEIRS))
    with pytest.raises(sqlite3.IntegrityError):
        memories.put(connection, a_life(ONE, OURS, version=9))
    assert memories.of(connection, ONE) == a_life(ONE, THEIRS)


def test_a_life_that_cannot_be_read_is_no_absent_one(connection: sqlite3.Connection) -> None:
    memories.put(connection, a_life(ONE))
    connection.execute("UPDATE memory SET state = 'asleep'")
    with pytest.raises(StateFault) as fault:
        memories.of(connection, ONE)
    assert fault.value.code == "state-corrupt"
    connection.execute("UPDATE memory SET state = 'live', metadata = '{'")
    with pytest.raises(StateFault):
        memories.of(connection, ONE)


async def test_a_source_counts_once_and_another_quote_of_its_message_again(
    connection: sqlite3.Connection, database: FakeDatabase
) -> None:
    first, other = a_source(), a_source("s-2", "m-9", START - 1, "on Thursdays")
    assert memories.add_sources(connection, ONE, [first, other, first]) == (first, other)
    more = a_source(quote="never on Fridays")
    assert memories.add_sources(connection, ONE, [first, other, more]) == (more,)
    assert memories.sources(connection, ONE) == (other, first, more)
    assert memories.sources(connection, ONE) == await memories.Memories(database).sources(ONE)
    assert memories.sources(connection, TWO) == ()


async def test_a_claim_is_found_by_its_own_key_alone(connection: sqlite3.Connection, database: FakeDatabase) -> None:
    memories.put(connection, a_life(ONE, claim="same"))
    memories.put(connection, a_life(TWO, THEIRS, claim="same"))
    assert memories.exact(connection, OURS, ["same", "other"]) == {"same": ONE}
    assert memories.exact(connection, THEIRS, ["same"]) == {"same": TWO}
    assert memories.exact(connection, UNSET, ["same"]) == {}
    assert await memories.Memories(database).exact(OURS, []) == {}


def test_of_equal_claims_the_live_one_is_found_then_the_oldest(connection: sqlite3.Connection) -> None:
    memories.put(connection, a_life(ONE, claim="same", state=Life.WAITING, created_at=START - 9))
    memories.put(connection, a_life(TWO, claim="same", created_at=START + 1))
    memories.put(connection, a_life(THREE, claim="same", created_at=START + 2))
    assert memories.exact(connection, OURS, ["same"]) == {"same": TWO}
    for gone in (TWO, THREE):
        memories.move(connection, gone, Life.ARCHIVED, START + 3)
    assert memories.exact(connection, OURS, ["same"]) == {"same": ONE}


async def test_owned_and_foreign_divide_what_was_formed(connection: sqlite3.Connection, database: FakeDatabase) -> None:
    memories.put(connection, a_life(ONE))
    memories.put(connection, a_life(TWO, THEIRS))
    reads = memories.Memories(database)
    asked = [ONE, TWO, THREE]  # nobody formed the third
    assert set(await reads.owned(OURS, asked)) == {ONE}
    assert await reads.foreign(OURS, asked) == {TWO}
    assert dict(await reads.owned(UNSET, asked)) == {}
    assert await reads.foreign(UNSET, asked) == {ONE, TWO}


def test_only_a_live_record_of_the_same_key_is_superseded(connection: sqlite3.Connection) -> None:
    memories.put(connection, a_life(ONE))
    assert memories.supersede(connection, THEIRS, ONE, TWO, START + 1) is None
    assert memories.supersede(connection, UNSET, ONE, TWO, START + 1) is None
    assert memories.of(connection, ONE) == a_life(ONE)
    after = memories.supersede(connection, OURS, ONE, TWO, START + 1)
    assert after == a_life(ONE, state=Life.SUPERSEDED, superseded_by=TWO, updated_at=START + 1)
    assert memories.supersede(connection, OURS, ONE, THREE, START + 2) is None  # the first one holds
    assert memories.supersede(connection, OURS, a_memory_id(9), THREE, START + 2) is None


def test_what_is_forgotten_keeps_none_of_its_words(connection: sqlite3.Connection) -> None:
    memories.put(connection, a_life(ONE))
    memories.add_sources(connection, ONE, [a_source(quote="we ship on Thursdays")])
    after = memories.move(connection, ONE, Life.FORGOTTEN, START + 1)
    assert after is not None and after.state is Life.FORGOTTEN
    assert (after.claim, after.scene_name, after.metadata) == ("", "", {})
    assert memories.sources(connection, ONE) == (a_source(),)
    assert memories.exact(connection, OURS, [""]) == {}
    assert memories.move(connection, TWO, Life.FORGOTTEN, START) is None


async def test_earlier_ones_are_found_through_all_that_took_their_place(
    connection: sqlite3.Connection, database: FakeDatabase
) -> None:
    chain = ((ONE, 0, TWO), (a_memory_id(4), 0, TWO), (TWO, 1, THREE))
    for memory_id, version, by in chain:
        memories.put(connection, a_life(memory_id, version=version, state=Life.SUPERSEDED, superseded_by=by))
    memories.put(connection, a_life(THREE, version=2))
    found = await memories.Memories(database).earlier(THREE)
    assert [one.memory_id for one in found] == [TWO, *sorted((ONE, a_memory_id(4)))]
    memories.move(connection, THREE, Life.SUPERSEDED, START, ONE)  # a circle ends
    assert {one.memory_id for one in memories.earlier(connection, ONE)} == {TWO, THREE, a_memory_id(4)}


def test_an_id_is_drawn_once(connection: sqlite3.Connection) -> None:
    assert memories.drawn(connection, "op", 0, "mem_a") == "mem_a"
    assert memories.drawn(connection, "op", 0, "mem_b") == "mem_a"
    assert memories.drawn(connection, "op", 1, "mem_b") == "mem_b"


async def test_what_waits_for_its_file_is_known_by_its_key_and_its_newest_words(
    connection: sqlite3.Connection, database: FakeDatabase
) -> None:
    for memory_id, key in ((ONE, OURS), (TWO, THEIRS), (THREE, OURS)):
        memories.put(connection, a_life(memory_id, key))
        line = RecordLine(
            memory_id=memory_id,
            version=0,
            record=a_memory("As it was.", memory_id=memory_id, origin=Origin.EXTRACTED),
            formed=a_life(memory_id, key),
            sources=(),
            at=START,
        )
        outbox.put(connection, line, START)
        newer = msgspec.structs.replace(
            line, version=1, record=a_memory(f"Now {memory_id}.", memory_id=memory_id, origin=Origin.REVIEWED)
        )
        if memory_id == ONE:
            outbox.put(connection, newer, START)
    reads = memories.Memories(database)
    found = await reads.unprojected(OURS, 9)
    assert [(one.memory_id, one.text, one.guarded) for one in found] == [
        (THREE, "As it was.", False),
        (ONE, f"Now {ONE}.", True),
    ]
    assert await reads.unprojected(UNSET, 9) == ()
    memories.move(connection, THREE, Life.ARCHIVED, START)
    assert [one.memory_id for one in await reads.unprojected(OURS, 9)] == [ONE]
    for row in outbox.waiting(connection, 9):
        outbox.done(connection, row.number, START)
    assert await reads.unprojected(OURS, 9) == ()


def test_lines_of_the_journal_restore_what_they_tell_of_however_often_they_are_read(
    connection: sqlite3.Connection,
) -> None:
    run = Generation(
        generation_id="gen_1",
        layer=Layer.L1,
        status="extracted",
        isolation="{}",
        prompt=PromptUse(id="batch-extract", version=1, source="system", sha256="0" * 64),
        input_refs=("m-1",),
        output_refs=(ONE,),
        model_id="scripted:demo",
        calls=2,
        started_at=START,
        finished_at=START + 1,
    )
    first = RecordLine(
        memory_id=ONE,
        version=0,
        record=a_memory(),
        formed=a_life(ONE),
        sources=(a_source(),),
        at=START,
        generation=run,
    )
    lines = (
        first,
        SightingLine(memory_id=ONE, version=0, sources=(a_source("s-2"),), at=START + 1),
        RecordLine(
            memory_id=TWO,
            version=1,
            record=a_memory(memory_id=TWO),
            formed=a_life(TWO, version=1),
            sources=(),
            at=START,
        ),
        TombstoneLine(memory_id=ONE, version=0, why="superseded", digest="d", at=START + 2, superseded_by=TWO),
        CursorLine(
            pipeline=Pipeline.BATCH,
            session_id="s-1",
            processed_seq=4,
            operation_id="op",
            request_hash="h",
            status="extracted",
            at=START,
        ),
    )
    for line in (*lines, *lines, first):
        memories.restore(connection, line)
    assert memories.of(connection, ONE) == a_life(ONE, state=Life.SUPERSEDED, superseded_by=TWO, updated_at=START + 2)
    assert len(memories.sources(connection, ONE)) == 2
    assert generations.of_memory(connection, ONE) == (run,)
    assert memories.earlier(connection, TWO) == (memories.of(connection, ONE),)
