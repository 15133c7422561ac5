"""Edits made by anybody are heard within a moment: real files, real notifications."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.library import Root
from recall.watching import watch
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope
from tests.support.library import a_library, a_root, found, write_records

M1, M2 = a_memory_id(1), a_memory_id(2)


class Listener:
    """What `watch` tells, and a way to wait for it."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.looks = 0
        self._news = asyncio.Event()

    async def heard(self, paths: frozenset[str] | None) -> None:
        self.looks += paths is None
        self.paths |= paths or set()
        self._news.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                self._news.clear()
                await self._news.wait()


async def test_changes_are_told_and_new_folders_are_watched_from_a_fresh_look(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    listener, stop = Listener(), asyncio.Event()
    folders = {str(one)}
    async with asyncio.TaskGroup() as group:
        group.create_task(watch(lambda: frozenset(folders), listener.heard, stop))
        await listener.until(lambda: listener.looks == 1)
        (one / "a.md").write_text("A.")
        await listener.until(lambda: str(one / "a.md") in listener.paths)

        two.mkdir()
        folders.add(str(two))
        await listener.until(lambda: listener.looks == 2)
        (two / "b.md").write_text("B.")
        await listener.until(lambda: str(two / "b.md") in listener.paths)
        stop.set()


async def test_with_nothing_to_watch_it_ticks_until_stopped() -> None:
    listener, stop = Listener(), asyncio.Event()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(watch(frozenset, listener.heard, stop))
        await listener.until(lambda: True)
        stop.set()


@pytest.mark.parametrize("kind", ["edit", "replace", "new", "delete", "folder"])
async def test_an_edit_from_outside_reaches_the_index(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory("Port 8080 is old.", memory_id=M1)])
    stop = asyncio.Event()
    async with a_library(tmp_path / "data") as library, asyncio.TaskGroup() as group:
        await library.adopt(a_root(folder))
        group.create_task(library.follow(stop))
        await asyncio.sleep(0)
        new = a_memory("Port 9090 is new.", memory_id=M2)
        match kind:
            case "edit":
                write_records(folder / "a.md", [new])
            case "replace":  # as editors and git do
                write_records(tmp_path / "b.md", [new])
                (tmp_path / "b.md").rename(folder / "a.md")
            case "new":
                write_records(folder / "sub" / "b.md", [new])
            case "delete":
                (folder / "a.md").unlink()
            case "folder":
                write_records(tmp_path / "incoming" / "b.md", [new])
                (tmp_path / "incoming").rename(folder / "incoming")

        gone = kind in ("edit", "replace", "delete")
        expected = ([] if gone else [M1]) + ([] if kind == "delete" else [M2])
        async with asyncio.timeout(10):
            while sorted(await found(library, "port")) != expected:
                await asyncio.sleep(0)
        stop.set()


async def test_a_single_file_and_a_folder_that_comes_later_are_followed_too(tmp_path: Path) -> None:
    rules = tmp_path / "CLAUDE.md"
    rules.write_text("# Build\nRun make gen.\n")
    later = tmp_path / "later"
    stop = asyncio.Event()
    async with a_library(tmp_path / "data") as library, asyncio.TaskGroup() as group:
        await library.adopt(Root(path=str(rules), scope=a_workspace_scope(), origin=a_root(later).origin))
        await library.adopt(a_root(later))
        group.create_task(library.follow(stop))
        (hit,) = await found(library, "gen")

        (tmp_path / "swap").write_text("# Build\nRun make all.\n")
        (tmp_path / "swap").rename(rules)
        write_records(later / "a.md", [a_memory("Arrived later.", memory_id=M1)])

        async with asyncio.timeout(10):
            while await found(library, "later") != [M1] or await found(library, "all make") != [hit]:
                await asyncio.sleep(0)
            while await found(library, "gen"):
                await asyncio.sleep(0)
        stop.set()
