"""Whoever stands on the index knows its version, holds what is hot, and leaves it in order."""

import sqlite3
from collections.abc import AsyncIterator

import pytest

from recall import indexing, standing, tables
from recall.chores import Chores
from recall.contracts import MemoryRecord, Origin
from recall.documents import Document
from recall.edits import render
from recall.entries import Place, Root, changed
from recall.indexing import Applied
from recall.snapshot import Health
from recall.standing import Standing
from recall.tables import FORMAT, SCHEMA
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope
from tests.support.fakes import FakeDatabase
from tests.support.library import until

ROOT, PLACE = Root(path="/m", scope=a_workspace_scope(), origin=Origin.USER), Place(path="/m", folder="/m")
WRITTEN_BY = f"{FORMAT} analyzer guard"


class Ground:
    """An index in memory, and one who stands on it."""

    def __init__(self) -> None:
        self.index, self.chores, self.health = FakeDatabase(SCHEMA), Chores(), Health()
        self.standing = self.stand()

    def stand(self, written_by: str = WRITTEN_BY) -> Standing:
        return Standing(self.index, written_by, self.health, self.chores)

    async def put(self, name: str, *memories: MemoryRecord) -> Applied:
        """A file of these records, as a take-in writes it."""
        data = b"\n".join(render(memory, PLACE.home(ROOT, name)) for memory in memories)

        def write(connection: sqlite3.Connection) -> Applied:
            root = indexing.ensure_root(connection, ROOT, PLACE)
            known = indexing.known_records(connection, root.id, name)
            file = changed(Document(data=data, stamp="s"), "s", PLACE.home(ROOT, name), known)
            return indexing.apply(connection, root.id, [file])

        applied = await self.index.write(write)
        await self.standing.told(applied)
        return applied

    def held(self) -> set[str]:
        return {one.memory_id for one in self.standing.held.candidates()}


@pytest.fixture
async def ground() -> AsyncIterator[Ground]:
    ground = Ground()
    assert await ground.standing.open() is True
    yield ground
    await ground.chores.close()


async def test_what_a_transaction_changed_is_known_at_once(ground: Ground) -> None:
    first = ground.standing.version

    await ground.put("a.md", a_memory("One.", memory_id=a_memory_id(1)), a_memory("Two.", memory_id=a_memory_id(2)))
    second = ground.standing.version
    assert ground.held() == {a_memory_id(1), a_memory_id(2)}
    await ground.put("a.md", a_memory("One.", memory_id=a_memory_id(1)))

    assert ground.held() == {a_memory_id(1)} and len({first, second, ground.standing.version}) == 3


async def test_what_was_read_is_let_go_with_the_version_it_was_read_at(ground: Ground) -> None:
    await ground.put("a.md", a_memory("One.", memory_id=a_memory_id(1)))
    kept = ground.standing.kept
    reads = kept.at(ground.standing.version, ground.standing.epoch)
    assert kept.at(ground.standing.version, ground.standing.epoch) is reads

    await ground.put("a.md")

    assert ground.standing.kept is not kept
    await ground.standing.stand()
    assert ground.standing.kept is not kept
    await ground.standing.roots_changed()
    assert ground.standing.unfinished == {a_workspace_scope()}


async def test_what_many_changes_left_is_put_in_order_later(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "SETTLE_SECONDS", 0)
    monkeypatch.setattr(standing, "SLACK", 1)

    await ground.put("a.md", *(a_memory(f"Number {n}.", memory_id=a_memory_id(n)) for n in range(1, 4)))
    assert ground.held() == set()  # too many to be fetched one by one

    await until(lambda: len(ground.held()) == 3)


async def test_no_word_of_a_record_that_is_gone_is_left(ground: Ground) -> None:
    await ground.put("a.md", a_memory("Lantern.", memory_id=a_memory_id(1)))
    await ground.put("b.md", a_memory("Harbor.", memory_id=a_memory_id(2)))
    await ground.put("a.md")
    assert await ground.index.read(tables.untidy) != ""

    await ground.standing.tidy()

    assert await ground.index.read(tables.untidy) == ""
    blocks = b"".join(row[0] for row in ground.index.connection.execute("SELECT block FROM posting_data"))
    assert b"lantern" not in blocks and b"harbor" in blocks


async def test_what_was_left_untidy_is_tidied_by_the_next_one(ground: Ground) -> None:
    await ground.put("a.md", a_memory("Lantern."))
    await ground.put("a.md")

    assert await ground.stand().open() is True

    await until(lambda: tables.untidy(ground.index.connection) == "")


async def test_tables_of_another_reader_answer_but_are_outdated(ground: Ground) -> None:
    await ground.put("a.md", a_memory("Stays."))

    other = ground.stand(f"{FORMAT} another guard")
    await other.open()

    assert other.outdated and other.version == ground.standing.version and len(other.held) == 1
    assert other.unfinished == {a_workspace_scope()}


async def test_tables_of_another_format_are_emptied(ground: Ground) -> None:
    await ground.put("a.md", a_memory("Goes until it is read again."))

    other = ground.stand("index_pre_v999 analyzer guard")
    ground.index.connection.execute("UPDATE meta SET value = 'lexical_pre_v1 open' WHERE key = 'analyzer'")
    await other.open()

    assert not other.outdated and len(other.held) == 0 and other.epoch == 2
    assert ground.index.connection.execute("SELECT relative, version FROM file").fetchall() == [("a.md", 1)]


async def test_tables_that_cannot_be_read_are_damage_and_a_lock_is_not() -> None:
    broken, locked = Ground(), Ground()
    broken.index.connection.execute("DROP TABLE meta")
    locked.index.fail_next = sqlite3.OperationalError("database is locked")

    assert await broken.standing.open() is True and broken.health.damaged
    assert await locked.standing.open() is False and not locked.health.damaged
    assert locked.health.problem == "database is locked" and await locked.standing.open() is True
