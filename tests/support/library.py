"""A library over files in a folder, for tests of recall: write files, adopt, ask."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from host.swapping import open_swappable
from recall.analyzer import distinct
from recall.contracts import MemoryRecord, Origin, RuntimeScope, ScopeRef
from recall.edits import render
from recall.library import SCHEMA, Library, Root
from recall.markers import FileHome
from tests.support.builders import a_scope, a_workspace_scope
from tests.support.clock import START


@asynccontextmanager
async def a_library(folder: Path, patience_seconds: float = 5.0) -> AsyncIterator[Library]:
    """A library whose index lies in `folder`; opened again, it finds what it left."""
    folder.mkdir(parents=True, exist_ok=True)
    async with open_swappable(folder / "index.db", SCHEMA) as database:
        library = Library(database, patience_seconds=patience_seconds)
        await library.open()
        try:
            yield library
        finally:
            await library.close()


@asynccontextmanager
async def following(library: Library) -> AsyncIterator[None]:
    """The library follows its files within the block."""
    stop = asyncio.Event()
    task = asyncio.create_task(library.follow(stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until something holds that goes on in the background."""
    async with asyncio.timeout(10):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await asyncio.to_thread(lambda: None)


def a_root(folder: Path, scope: ScopeRef | None = None, *, writable: bool = True, origin: Origin = Origin.USER) -> Root:
    return Root(path=str(folder), scope=scope or a_workspace_scope(), origin=origin, writable=writable)


def write_records(file: Path, records: Iterable[MemoryRecord], scope: ScopeRef | None = None) -> None:
    """A memory file of these records, written as an editor would: no transaction."""
    home = FileHome(path=str(file), relative=file.name, scope=scope or a_workspace_scope(), origin=Origin.USER)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n".join(render(record, home) for record in records))


async def found(library: Library, query: str, scope: RuntimeScope | None = None, now: int = START) -> list[str]:
    """The ids that a search finds, best first."""
    hits = await library.snapshot(now).match(distinct(query), scope or a_scope(), 50)
    return [hit.memory_id for hit in hits]


async def texts(library: Library, query: str, scope: RuntimeScope | None = None) -> Mapping[str, str]:
    """id -> text of what a search finds."""
    hits = await library.snapshot(START).match(distinct(query), scope or a_scope(), 50)
    return {hit.memory_id: hit.payload for hit in hits}
