"""The index follows its files: nothing is lost, nothing is doubled, nothing outlives its text."""

import asyncio
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from host.swapping import open_swappable, remove
from recall.contracts import Origin
from recall.library import SCHEMA, Library, Root
from tests.support.builders import a_memory, a_memory_id, a_scope, a_user_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, found, texts, write_records

M1, M2, M3 = a_memory_id(1), a_memory_id(2), a_memory_id(3)


async def test_a_restart_finds_everything_without_reading_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory("Use pnpm here.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))
        version = library.version
    shutil.move(folder, tmp_path / "away")

    async with a_library(tmp_path) as library:
        assert await found(library, "pnpm") == [M1] and library.version == version
        assert [one.memory_id for one in library.snapshot(START).hot(a_scope())] == [M1]


async def test_a_folder_that_is_missing_empties_nothing_and_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory(f"Fact number {n} stays.", memory_id=a_memory_id(n)) for n in range(100)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))
        folder.rename(tmp_path / "unmounted")

        await library.adopt(a_root(folder))
        await library.refresh(str(folder / "a.md"))

        status = await library.status()
        assert (status.records, status.missing) == (100, (str(folder),))
        assert len(await found(library, "fact stays")) == 50
        assert list(await library.verify([M1])) == [M1]

        (tmp_path / "unmounted").rename(folder)
        await library.adopt(a_root(folder))
        assert (await library.status()).missing == ()


async def test_indexing_again_doubles_nothing_and_reads_a_changed_file_once(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    write_records(file, [a_memory("The limit is 10.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(file.parent))
        first = library.version
        await library.adopt(a_root(file.parent))
        await library.refresh(str(file))
        assert library.version == first

        write_records(file, [a_memory("The limit is 25.", memory_id=M1)])
        await library.adopt(a_root(file.parent))

        assert await texts(library, "limit") == {M1: "The limit is 25."}
        assert (await library.status()).records == 1 and library.version != first
        (locator,) = await library.locators(str(file))
        assert locator.source_version == 2


async def test_a_deleted_record_leaves_no_ghost(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    write_records(file, [a_memory("Lantern is blue.", memory_id=M1), a_memory("Harbor is green.", memory_id=M2)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(file.parent))
        write_records(file, [a_memory("Harbor is green.", memory_id=M2)])
        assert list(await library.verify([M1, M2])) == [M2]

        file.unlink()
        await library.refresh(str(file))

        assert await found(library, "lantern harbor blue green") == []
        statistics = await library.snapshot(START).statistics(["blue", "green", "lantern"], a_scope())
        assert (statistics.total, statistics.counts) == (0, {})
        assert (await library.status()).findings == ()


@pytest.mark.promise("identity")
@pytest.mark.parametrize("told", ["new", "both", "root"])
async def test_a_moved_file_keeps_its_records_whatever_is_heard_first(tmp_path: Path, told: str) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "x.md", [a_memory("Queues are kebab-case.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))
        (folder / "sub").mkdir()
        (folder / "x.md").rename(folder / "sub" / "x.md")

        old, new = str(folder / "x.md"), str(folder / "sub" / "x.md")
        await library.refresh(*{"new": [new], "both": [old, new], "root": [str(folder)]}[told])

        assert await found(library, "queues") == [M1]
        status = await library.status()
        assert (status.files, status.records, status.findings) == (1, 1, ())
        assert [one.source_file for one in await library.locators(new)] == [new]


async def test_one_id_in_two_files_is_nobodys_until_one_goes(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory("Copied by hand.", memory_id=M1), a_memory("Fine.", memory_id=M2)])
    write_records(folder / "b.md", [a_memory("Copied by hand.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))

        assert await found(library, "copied fine") == [M2]
        assert await library.get(M1, a_scope()) is None and await library.digests([M1]) == {}
        states = [(Path(one.file).name, one.state) for one in (await library.status()).findings]
        assert states == [("a.md", "duplicate-anchor"), ("b.md", "duplicate-anchor")]

        (folder / "b.md").unlink()
        await library.refresh(str(folder))
        assert sorted(await found(library, "copied fine")) == [M1, M2]


async def test_an_id_twice_in_one_file_makes_it_nobodys_everywhere(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory("Apples.", memory_id=M1)])
    write_records(folder / "b.md", [a_memory("Pears.", memory_id=M1), a_memory("More pears.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))
        assert await found(library, "apples pears") == []

        write_records(folder / "b.md", [])
        await library.refresh(str(folder / "b.md"))
        assert await texts(library, "apples pears") == {M1: "Apples."}


async def test_two_worktrees_hold_one_record_and_two_clones_their_own(tmp_path: Path) -> None:
    memory = a_memory("Prices are in cents.", memory_id=M1)
    for name in ("main", "worktree"):
        write_records(tmp_path / name / "a.md", [memory])
    write_records(tmp_path / "clone" / "a.md", [a_memory("Prices are in euros.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        for name in ("main", "worktree"):
            await library.adopt(a_root(tmp_path / name))
        await library.adopt(a_root(tmp_path / "clone", a_workspace_scope("ws_clone")))

        assert await texts(library, "prices") == {M1: "Prices are in cents."}
        assert await texts(library, "prices", a_scope(workspace="ws_clone")) == {M1: "Prices are in euros."}
        assert await library.digests([M1]) == {}  # two things, when nobody says where they stand
        assert list(await library.digests([M1], a_scope())) == [M1]

        write_records(tmp_path / "worktree" / "a.md", [a_memory("Prices are in pence.", memory_id=M1)])
        await library.refresh(str(tmp_path / "worktree"))
        assert await found(library, "prices") == []  # the same id says two things: fails closed


async def test_a_conflict_of_git_takes_the_file_out_and_its_end_brings_it_back(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "a.md"
    write_records(file, [a_memory("The limit is 10.", memory_id=M1)])
    clean = file.read_bytes()
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(file.parent))
        file.write_bytes(clean + b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
        await library.refresh(str(file))

        assert await found(library, "limit") == []
        assert [one.state for one in (await library.status()).findings] == ["conflict-markers"]
        assert isinstance(await library.forget(M1, a_scope()), bool)

        file.write_bytes(clean)
        await library.refresh(str(file))
        assert await found(library, "limit") == [M1]


async def test_a_root_that_is_a_link_out_of_its_repository_is_not_read(tmp_path: Path) -> None:
    write_records(tmp_path / "private" / "a.md", [a_memory("Not yours.", memory_id=M1)])
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "memory").symlink_to(tmp_path / "private")
    root = Root(
        path=str(repository / "memory"), scope=a_workspace_scope(), origin=Origin.IMPORTED, inside=str(repository)
    )
    async with a_library(tmp_path / "data") as library:
        await library.adopt(root)

        assert await found(library, "yours") == []
        assert [one.state for one in (await library.status()).findings] == ["link-outside-root"]


async def test_a_root_given_to_another_scope_takes_its_records_along(tmp_path: Path) -> None:
    write_records(tmp_path / "memory" / "a.md", [a_memory("Moves along.", memory_id=M1)])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))
        await library.adopt(a_root(tmp_path / "memory", a_user_scope()))

        assert await found(library, "moves", a_scope(workspace="ws_any")) == [M1]
        (locator,) = await library.locators(str(tmp_path / "memory" / "a.md"))
        assert locator.source_version == 1  # the bytes are the same


@pytest.mark.parametrize("damage", ["garbage", "missing"])
async def test_a_damaged_or_missing_index_is_made_again(tmp_path: Path, damage: str) -> None:
    write_records(tmp_path / "memory" / "a.md", [a_memory("Survives.", memory_id=M1)])
    index = tmp_path / "index.db"
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))
        version = library.version
    if damage == "garbage":
        index.write_bytes(b"not a database" * 1000)
    else:
        remove(index)

    async with a_library(tmp_path) as library:
        await library.adopt(a_root(tmp_path / "memory"))
        assert await found(library, "survives") == [M1] and library.version == version


async def test_tables_that_break_in_use_are_reported_and_filled_again(tmp_path: Path) -> None:
    write_records(tmp_path / "memory" / "a.md", [a_memory("Survives.", memory_id=M1)])
    async with open_swappable(tmp_path / "index.db", SCHEMA) as database:
        library = Library(database)
        await library.adopt(a_root(tmp_path / "memory"))

        def break_it(connection: sqlite3.Connection) -> None:
            connection.execute("DROP TABLE record")

        await database.write(break_it)
        assert (await library.status()).damaged
        assert [one.memory_id for one in library.snapshot(START).hot(a_scope())] == [M1]

        await library.adopt(a_root(tmp_path / "memory"))

        assert await found(library, "survives") == [M1] and not (await library.status()).damaged
        await library.close()


async def test_a_new_analyzer_makes_the_index_anew_and_keeps_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory" / "a.md"
    async with a_library(tmp_path) as library:
        for text in ("First.", "Second."):
            write_records(file, [a_memory(text, memory_id=M1)])
            await library.adopt(a_root(file.parent))
    monkeypatch.setattr("recall.catalogue.ANALYZER", "lexical_pre_v999")

    async with a_library(tmp_path) as library:
        assert library.progress().stage == "rebuilding" and library.snapshot(START).partial(a_scope())
        assert await found(library, "second") == [M1]
        await library.rebuild()
        assert library.progress().stage == "idle" and not library.snapshot(START).partial(a_scope())
        await library.adopt(a_root(file.parent))
        assert await found(library, "second") == [M1]
        (locator,) = await library.locators(str(file))
        assert locator.source_version == 2


async def test_the_index_version_is_of_contents_and_not_of_places_or_times(tmp_path: Path) -> None:
    versions = []
    for name in ("one", "two"):
        write_records(tmp_path / name / "memory" / "a.md", [a_memory("Same.", memory_id=M1)])
        os.utime(tmp_path / name / "memory" / "a.md", (len(versions), len(versions)))
        async with a_library(tmp_path / name) as library:
            await library.adopt(a_root(tmp_path / name / "memory"))
            versions.append(library.version)

    assert versions[0] == versions[1] and len(versions[0]) == len("idx_pre_") + 32


async def test_two_adoptions_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_records(tmp_path / name / "x.md", [a_memory(f"Of {name}.", memory_id=a_memory_id(ord(name)))])
    async with a_library(tmp_path) as library:
        await asyncio.gather(*(library.adopt(a_root(tmp_path / name)) for name in ("a", "b", "a")))

        assert (await library.status()).searchable == 2
