"""The index is made anew beside the one in use: nothing is lost by it, whatever happens meanwhile."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from host.swapping import SwappableDatabase, open_swappable
from recall import indexing, tables
from recall.adopted import Adopted
from recall.contracts import Database
from recall.entries import OPEN
from recall.indexing import known_files, recomputed
from recall.intake import place_of
from recall.lookup import unpack
from recall.rebuilding import Rebuild
from recall.syncing import Sync
from recall.tables import SCHEMA, meta, version
from recall.work import Work
from tests.support.builders import a_memory, a_memory_id
from tests.support.library import a_root, write_records

M1, M2, M3 = a_memory_id(1), a_memory_id(2), a_memory_id(3)


class Bench:
    """An index over roots below a folder, and the makings of it."""

    def __init__(self, index: SwappableDatabase, folder: Path) -> None:
        self.index, self.folder, self.adopted = index, folder, Adopted()
        self.turn = asyncio.Lock()
        self.swapped = 0

    async def adopt(self, name: str, *, known_only: bool = False) -> None:
        """Take in a root; `known_only`: as by an earlier run."""
        root, place = a_root(self.folder / name), place_of(str(self.folder / name))
        await self.sync().root(root, place, None)
        if not known_only:
            self.adopted.put(root, place, 0.0)

    def sync(self) -> Sync:
        async def told(_: object) -> None: ...
        async def roots() -> None: ...

        return Sync(
            database=self.index,
            guard=OPEN,
            turn=self.turn,
            work=Work(),
            epoch=lambda: 0,
            told=told,
            roots_changed=roots,
        )

    def rebuild(self) -> Rebuild:
        return Rebuild(index=self.index, written_by="new", guard=OPEN, adopted=self.adopted, work=Work("rebuilding"))

    async def run(self, rebuild: Rebuild | None = None, epoch: int = 0) -> None:
        await (rebuild or self.rebuild()).run(epoch, self.turn, self._swapped)

    async def _swapped(self) -> None:
        assert self.turn.locked()
        self.swapped += 1

    async def live(self) -> list[str]:
        query = "SELECT memory_id FROM record WHERE searchable = 1 ORDER BY 1"
        return await self.index.read(lambda connection: [row[0] for row in connection.execute(query)])


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_swappable(tmp_path / "index.db", SCHEMA) as index:
        await index.write(lambda connection: tables.begin(connection, "old"))
        yield Bench(index, tmp_path)


def write(bench: Bench, file: str, text: str, memory_id: str) -> None:
    write_records(bench.folder / file, [a_memory(text, memory_id=memory_id)])


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Something happens after the files were read and before the swap."""
    keep = Rebuild._keep_missing

    async def then(self: Rebuild, fresh: Database, place: object) -> None:
        await keep(self, fresh, place)  # type: ignore[arg-type]
        act()

    monkeypatch.setattr(Rebuild, "_keep_missing", then)


async def test_the_same_files_give_the_same_version_in_a_new_epoch(bench: Bench) -> None:
    write(bench, "one/a.md", "First.", M1)
    await bench.adopt("one")
    write(bench, "one/a.md", "Second.", M1)
    await bench.adopt("one")
    write(bench, "other/b.md", "Of another session.", M2)
    await bench.adopt("other", known_only=True)
    before = await bench.index.read(version)

    await bench.run()

    found = await bench.index.read(meta)
    assert found is not None and (found.reader, found.version, found.epoch) == ("new", before, 2)
    assert await bench.live() == [M1, M2] and bench.swapped == 1 and not bench.turn.locked()
    assert await bench.index.read(recomputed) == before
    assert await bench.index.read(indexing.unfinished) == frozenset()


async def test_what_changes_meanwhile_is_in_the_new_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bench, "one/a.md", "Before.", M1)
    await bench.adopt("one")
    rebuild = bench.rebuild()

    def change() -> None:
        write(bench, "one/a.md", "After.", M1)
        write(bench, "one/b.md", "New.", M2)
        rebuild.meanwhile.update({str(bench.folder / "one"): {"a.md", "b.md"}, str(bench.folder / "nobodys"): None})

    meanwhile(monkeypatch, change)
    await bench.run(rebuild)

    assert await bench.live() == [M1, M2]
    assert await bench.index.read(_text(M1)) == "After."


async def test_a_root_that_is_adopted_meanwhile_is_in_the_new_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(bench, "one/a.md", "Before.", M1)
    write(bench, "two/b.md", "Met later.", M2)
    await bench.adopt("one")
    rebuild = bench.rebuild()

    def adopt() -> None:
        bench.adopted.put(a_root(bench.folder / "two"), place_of(str(bench.folder / "two")), 0.0)
        rebuild.meanwhile[str(bench.folder / "two")] = None

    meanwhile(monkeypatch, adopt)
    await bench.run(rebuild)

    assert await bench.live() == [M1, M2]


async def test_versions_that_rose_meanwhile_stay_risen(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bench, "one/a.md", "1.", M1)
    await bench.adopt("one")
    rebuild, sync, root = (
        bench.rebuild(),
        bench.sync(),
        (a_root(bench.folder / "one"), place_of(str(bench.folder / "one"))),
    )

    async def twice() -> None:
        for text in ("2.", "3."):
            write(bench, "one/a.md", text, M1)
            await sync.root(*root, ["a.md"])
        rebuild.meanwhile[str(bench.folder / "one")] = {"a.md"}

    keep = Rebuild._keep_missing

    async def then(self: Rebuild, fresh: Database, place: object) -> None:
        await keep(self, fresh, place)  # type: ignore[arg-type]
        await twice()

    monkeypatch.setattr(Rebuild, "_keep_missing", then)
    await bench.run(rebuild)

    files = await bench.index.read(lambda connection: known_files(connection, 1))
    assert files["a.md"].version == 3 and await bench.index.read(version) == await bench.index.read(recomputed)


async def test_records_of_a_folder_that_is_away_are_taken_over(bench: Bench) -> None:
    write(bench, "one/a.md", "On a disk that is not there.", M1)
    write_records(bench.folder / "one" / "b.md", [a_memory("Twice.", memory_id=M2), a_memory("Twice.", memory_id=M2)])
    await bench.adopt("one")
    before = await bench.index.read(version)
    shutil.move(bench.folder / "one", bench.folder / "away")

    await bench.run()

    assert await bench.live() == [M1] and await bench.index.read(version) == before
    findings = await bench.index.read(lambda connection: connection.execute("SELECT count(*) FROM finding").fetchone())
    assert findings[0] > 0
    shutil.move(bench.folder / "away", bench.folder / "one")
    write(bench, "one/a.md", "Back, and changed.", M1)
    await bench.adopt("one")
    assert await bench.index.read(_text(M1)) == "Back, and changed."


async def test_broken_tables_are_made_anew_from_the_files_that_were_adopted(bench: Bench) -> None:
    write(bench, "one/a.md", "Survives.", M1)
    await bench.adopt("one")
    for table in ("posting", "finding", "record", "file", "root", "meta"):
        await bench.index.write(_drop(table))

    await bench.run(epoch=7)

    found = await bench.index.read(meta)
    assert await bench.live() == [M1] and found is not None and found.epoch == 8


async def test_a_rebuild_that_fails_leaves_everything_as_it_was(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bench, "one/a.md", "Stays.", M1)
    await bench.adopt("one")

    def full() -> None:
        raise sqlite3.OperationalError("database or disk is full")

    meanwhile(monkeypatch, full)
    with pytest.raises(sqlite3.OperationalError):
        await bench.run()

    found = await bench.index.read(meta)
    assert found is not None and found.reader == "old" and await bench.live() == [M1]
    assert bench.swapped == 0 and not bench.turn.locked() and not (bench.folder / "index.db.new").exists()


def _text(memory_id: str) -> Callable[[sqlite3.Connection], str]:
    def read(connection: sqlite3.Connection) -> str:
        (body,) = connection.execute("SELECT body FROM record WHERE memory_id = ?", (memory_id,)).fetchone()
        return unpack(body).text

    return read


def _drop(table: str) -> Callable[[sqlite3.Connection], None]:
    def drop(connection: sqlite3.Connection) -> None:
        connection.execute(f"DROP TABLE {table}")

    return drop
