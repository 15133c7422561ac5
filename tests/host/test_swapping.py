"""host/swapping.py: a file is made anew beside itself and put in its place, whatever happens meanwhile."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host import swapping
from host.swapping import SwappableDatabase, finish, open_swappable, remove

TABLE = "CREATE TABLE word (text TEXT UNIQUE);"


def put(text: str):  # type: ignore[no-untyped-def]
    return lambda connection: connection.execute("INSERT INTO word VALUES (?)", (text,)).rowcount


def words(connection: sqlite3.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM word ORDER BY text")]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SwappableDatabase]:
    """One word, `old`."""
    async with open_swappable(tmp_path / "a.db", [TABLE]) as opened:
        await opened.write(put("old"))
        yield opened


async def test_the_new_file_answers_from_the_swap_on_and_is_found_by_the_next_start(
    database: SwappableDatabase, tmp_path: Path
) -> None:
    async with database.aside() as fresh:
        await fresh.write(put("new"))
        assert await database.read(words) == ["old"] and await fresh.read(words) == ["new"]

    assert await database.read(words) == ["new"] and not database.lost()
    await database.write(put("more"))
    await database.close()
    assert files(tmp_path) == ["a.db"]
    async with open_swappable(tmp_path / "a.db", [TABLE]) as again:
        assert await again.read(words) == ["more", "new"]


async def test_closing_the_old_file_leaves_the_log_of_the_new_one_alone(
    database: SwappableDatabase, tmp_path: Path
) -> None:
    async with database.aside() as fresh:
        await fresh.write(put("new"))
    await database.write(put("in the log"))
    for task in list(database._retiring):
        await task

    assert (tmp_path / "a.db-wal").stat().st_size > 0
    other = sqlite3.connect(tmp_path / "a.db")
    assert words(other) == ["in the log", "new"]
    other.close()


async def test_a_read_that_is_under_way_ends_on_the_old_file(database: SwappableDatabase) -> None:
    began, may_end = threading.Event(), threading.Event()

    def slowly(connection: sqlite3.Connection) -> list[str]:
        connection.execute("BEGIN")
        before = words(connection)
        began.set()
        assert may_end.wait(5)
        after = words(connection)
        connection.execute("COMMIT")
        return before + after

    reading = asyncio.create_task(database.read(slowly))
    await asyncio.to_thread(began.wait, 5)
    async with database.aside() as fresh:
        await fresh.write(put("new"))

    assert await database.read(words) == ["new"] and not reading.done()
    may_end.set()
    assert await reading == ["old", "old"]


async def test_an_error_inside_drops_the_new_file(database: SwappableDatabase, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        async with database.aside() as fresh:
            await fresh.write(put("new"))
            raise RuntimeError

    assert await database.read(words) == ["old"] and "a.db.new" not in files(tmp_path)


async def test_a_file_that_cannot_be_made_is_an_error_of_the_store(
    database: SwappableDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fresh: Path, path: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(swapping, "_commit", full)

    with pytest.raises(OSError):
        async with database.aside():
            pass

    assert await database.read(words) == ["old"]


async def test_a_folder_in_the_way_is_somebodys_and_moved_aside(database: SwappableDatabase, tmp_path: Path) -> None:
    remove(tmp_path / "a.db")
    for name in ("a.db", "a.db.new", "a.db.new-wal", "a.db.ready", "a.db-wal"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("kept")

    async with database.aside() as fresh:
        await fresh.write(put("new"))

    assert await database.read(words) == ["new"] and not database.lost()
    assert len(list(tmp_path.glob("*.aside-1/mine.txt"))) == 5
    await database.close()
    (tmp_path / "a.db").rename(tmp_path / "b.db")
    (tmp_path / "a.db").mkdir()
    async with open_swappable(tmp_path / "a.db", [TABLE]) as again:
        assert await again.read(words) == []
    assert (tmp_path / "a.db.aside-2").is_dir()


async def test_a_file_that_was_cut_short_is_lost(database: SwappableDatabase, tmp_path: Path) -> None:
    await database.write(lambda connection: None)
    assert not database.lost()

    os.truncate(tmp_path / "a.db", 100)

    assert database.lost()


async def test_a_file_that_was_taken_away_is_lost_and_can_be_made_anew(
    database: SwappableDatabase, tmp_path: Path
) -> None:
    assert not database.lost()
    (tmp_path / "a.db").unlink()

    assert database.lost() and await database.read(words) == ["old"]
    async with database.aside() as fresh:
        await fresh.write(put("new"))
    assert not database.lost()


@pytest.mark.parametrize("ready", [True, False], ids=["ready", "half-made"])
async def test_a_start_after_a_crash_finishes_the_swap_or_forgets_it(tmp_path: Path, ready: bool) -> None:
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    for file, text in ((path, "old"), (other, "new")):
        async with open_swappable(file, [TABLE]) as opened:
            await opened.write(put(text))
    (tmp_path / "a.db-wal").write_bytes(b"the log of the old file")
    other.rename(tmp_path / ("a.db.ready" if ready else "a.db.new"))
    if not ready:
        (tmp_path / "a.db-wal").unlink()

    async with open_swappable(path, [TABLE]) as opened:
        assert await opened.read(words) == ["new" if ready else "old"]

    assert files(tmp_path) == ["a.db"]


@pytest.mark.parametrize("content", [b"not a database" * 1000, b""])
async def test_a_file_that_cannot_be_opened_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.db").write_bytes(content)

    async with open_swappable(tmp_path / "a.db", [TABLE]) as opened:
        assert await opened.read(words) == []


def test_removing_and_finishing_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    remove(tmp_path / "a.db")
    finish(tmp_path / "a.db")

    assert files(tmp_path) == []
