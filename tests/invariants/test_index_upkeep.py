"""The index is kept up in the background: large take-ins, rebuilds, and what could not be done at once."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from host import swapping
from host.swapping import remove
from recall import intake, syncing
from recall.entries import FileChange, Place
from recall.errors import IndexFault
from recall.library import SCHEMA, Library, Progress
from tests.support.builders import a_memory, a_memory_id, a_scope
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.library import a_library, a_root, following, found, texts, until, write_records

M1, M2, M3 = a_memory_id(1), a_memory_id(2), a_memory_id(3)


class Gate:
    """Holds every reading of files (of a root with that in its path) on its worker thread until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, only: str = "") -> None:
        self.reached, self._open = threading.Event(), threading.Event()
        self.readings = 0
        really = syncing.take

        def held(place: Place, *args: Any) -> list[FileChange]:
            if only in place.path:
                self.readings += 1
                self.reached.set()
                assert self._open.wait(10)
            return really(place, *args)

        monkeypatch.setattr(syncing, "take", held)

    def open(self) -> None:
        self._open.set()


@asynccontextmanager
async def half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Library, Gate]]:
    """A library that waits for nobody, held where it reads the one file of a root."""
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory("Takes long.", memory_id=M1)])
    gate = Gate(monkeypatch)
    async with a_library(tmp_path, patience_seconds=0) as library:
        await library.adopt(a_root(folder))
        await asyncio.to_thread(gate.reached.wait, 5)
        yield library, gate


async def test_who_adopts_a_large_root_waits_a_moment_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with half_way(tmp_path, monkeypatch) as (library, gate):
        snapshot = library.snapshot(START)
        assert snapshot.partial(a_scope()) and not snapshot.partial(a_scope(workspace="ws_other"))
        assert library.progress() == Progress(stage="indexing", done=0, total=1)
        assert await found(library, "takes") == []

        gate.open()
        await until(lambda: library.progress().stage == "idle")
        assert await found(library, "takes") == [M1] and not library.snapshot(START).partial(a_scope())


async def test_a_root_that_was_not_taken_in_to_the_end_is_partial_at_the_next_start_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with half_way(tmp_path, monkeypatch) as (library, gate):
        gate.open()
        monkeypatch.undo()
        await library.close()

    async with a_library(tmp_path) as library:
        assert library.snapshot(START).partial(a_scope())
        await library.adopt(a_root(tmp_path / "memory"))
        assert await found(library, "takes") == [M1] and not library.snapshot(START).partial(a_scope())


async def test_what_is_remembered_while_a_root_is_taken_in_is_there_at_once_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_FILES", 1)
    root = a_root(tmp_path / "memory")
    for number in range(20):
        write_records(
            tmp_path / "memory" / f"{number:02}.md", [a_memory(f"Of {number}.", memory_id=a_memory_id(number))]
        )
    async with a_library(tmp_path, patience_seconds=0) as library:
        await library.adopt(root)

        await library.remember(a_memory("Remembered meanwhile.", memory_id=a_memory_id(50)), root)

        assert await found(library, "meanwhile") == [a_memory_id(50)]
        await until(lambda: library.progress().stage == "idle")
        status = await library.status()
        assert (status.records, status.searchable) == (21, 21)


async def test_a_root_adopted_again_while_it_is_taken_in_is_looked_at_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with half_way(tmp_path, monkeypatch) as (library, gate):
        write_records(tmp_path / "memory" / "b.md", [a_memory("Second.", memory_id=M2)])
        await library.adopt(a_root(tmp_path / "memory"))
        gate.open()

        await until(lambda: len(library.snapshot(START).hot(a_scope())) == 2)
        assert sorted(await found(library, "takes second")) == [M1, M2]


async def test_edits_are_followed_while_a_large_root_is_taken_in_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, memory_id in (("small", M1), ("large", M2)):
        write_records(tmp_path / name / "a.md", [a_memory(f"In the {name} one.", memory_id=memory_id)])
    gate = Gate(monkeypatch, only="large")
    async with a_library(tmp_path, patience_seconds=0.05) as library, following(library):
        await library.adopt(a_root(tmp_path / "small"))
        await library.adopt(a_root(tmp_path / "large"))
        await asyncio.to_thread(gate.reached.wait, 5)

        write_records(tmp_path / "small" / "b.md", [a_memory("Written meanwhile.", memory_id=M3)])

        async def seen() -> bool:
            return await found(library, "meanwhile") == [M3]

        await until(seen)
        gate.open()
        await until(lambda: not library.snapshot(START).partial(a_scope()))
        assert await found(library, "large") == [M2] and gate.readings == 1


async def test_a_rebuild_answers_all_the_time_and_loses_no_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("Earlier.", memory_id=M1), root)
        gate = Gate(monkeypatch)

        assert library.begin_rebuild() is True and library.progress().stage == "rebuilding"
        await asyncio.to_thread(gate.reached.wait, 5)
        assert library.begin_rebuild() is False and await found(library, "earlier") == [M1]
        remembering = asyncio.create_task(library.remember(a_memory("Meanwhile.", memory_id=M2), root))
        gate.open()
        await remembering
        await library.rebuild()

        assert library.progress().stage == "idle"
        assert sorted(await found(library, "earlier meanwhile")) == [M1, M2]


async def test_a_rebuild_that_cannot_be_done_is_told_tried_again_and_leaves_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("Stays.", memory_id=M1), root)

        def full(fresh: Path, path: Path) -> None:
            raise OSError("no room")

        with monkeypatch.context() as within:
            within.setattr(swapping, "_commit", full)
            with pytest.raises(IndexFault):
                await library.rebuild()

        assert "cannot be made anew" in (await library.status()).problem == library.progress().problem
        assert await found(library, "stays") == [M1]
        await library.remember(a_memory("Goes on.", memory_id=M2), root)
        assert sorted(await found(library, "stays goes")) == [M1, M2]
        async with following(library):
            await until(lambda: library.progress() == Progress())
        assert (await library.status()).problem == ""


async def test_a_crash_in_a_rebuild_leaves_the_old_index_and_no_litter(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("Stays.", memory_id=M1), root)
    (tmp_path / "index.db.new").write_bytes(b"half of an index")
    (tmp_path / "index.db.new-wal").write_bytes(b"and its log")

    async with a_library(tmp_path) as library:
        assert await found(library, "stays") == [M1]
        assert [path.name for path in tmp_path.iterdir() if "new" in path.name] == []


async def test_an_index_of_an_older_format_is_made_anew_and_keeps_versions(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    async with a_library(tmp_path) as library:
        for text in ("First.", "Second."):
            write_records(file, [a_memory(text, memory_id=M1)])
            await library.adopt(a_root(file.parent))
        await library._database.write(
            lambda connection: connection.execute("UPDATE meta SET value = 'lexical_pre_v1' WHERE key = 'analyzer'")
        )

    async with a_library(tmp_path) as library:
        assert await found(library, "second") == [] and library.snapshot(START).partial(a_scope())
        await library.adopt(a_root(file.parent))
        assert await found(library, "second") == [M1] and not library.snapshot(START).partial(a_scope())
        (locator,) = await library.locators(str(file))
        assert locator.source_version == 2


async def test_an_index_that_is_deleted_is_noticed_and_made_anew(tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    async with a_library(tmp_path) as library, following(library):
        await library.remember(a_memory("Survives.", memory_id=M1), root)
        remove(tmp_path / "index.db")

        await until(lambda: (tmp_path / "index.db").exists() and library.progress().stage == "idle")

        assert await found(library, "survives") == [M1]


async def test_what_could_not_be_taken_in_is_tried_again_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    write_records(file, [a_memory("One.", memory_id=M1)])
    database = FakeDatabase(SCHEMA)
    library = Library(database)
    await library.adopt(a_root(file.parent))
    async with following(library):
        await until(lambda: library.progress().stage == "idle")
        database.fail_next = sqlite3.OperationalError("database is locked")
        write_records(file, [a_memory("Two.", memory_id=M1)])
        with pytest.raises(sqlite3.OperationalError):
            await library.refresh(str(file))
        assert (await library.status()).problem == "database is locked"

        await until(lambda: library.progress() == Progress())

        assert await texts(library, "one two") == {M1: "Two."}
    await library.close()


async def test_a_claim_vouches_for_nothing_that_may_have_changed(tmp_path: Path) -> None:
    for name, memory_id in (("a", M1), ("b", M2)):
        write_records(tmp_path / "memory" / f"{name}.md", [a_memory(f"Of {name}.", memory_id=memory_id)])
    database = FakeDatabase(SCHEMA)
    library = Library(database)
    await library.adopt(a_root(tmp_path / "memory"))
    write_records(tmp_path / "memory" / "a.md", [a_memory("Changed.", memory_id=M1)])
    database.fail_next = sqlite3.OperationalError("database is locked")

    assert list(await library.verify([M1, M2])) == [M2]
    await library.close()


async def test_a_switch_of_branches_back_and_forth_ends_with_exactly_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    branches = {
        "main": {"a.md": [(M1, "One."), (M2, "Two.")], "b.md": [(M3, "Three.")]},
        "other": {"a.md": [(M3, "Three.")], "c.md": [(M1, "One, changed.")]},
    }

    def checkout(branch: str) -> None:
        for path in list(folder.iterdir()) if folder.exists() else []:
            if path.name not in branches[branch]:
                path.unlink()
        for name, content in branches[branch].items():
            write_records(folder / name, [a_memory(text, memory_id=memory_id) for memory_id, text in content])

    checkout("main")
    async with a_library(tmp_path) as library, following(library):
        await library.adopt(a_root(folder))
        for number in range(50):
            checkout("other" if number % 2 == 0 else "main")
            await library.verify([M1, M3])

        await library.refresh(str(folder))

        assert await texts(library, "one two three changed") == {M1: "One.", M2: "Two.", M3: "Three."}
        status = await library.status()
        assert (status.records, status.files, status.findings) == (3, 2, ())
