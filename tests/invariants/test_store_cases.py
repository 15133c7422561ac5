"""Reported faults of stores and of their files that one process shows: `tests/data/cases`, our own words (CC0)."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from recall.contracts import RuntimeScope
from recall.fallback import hot_scan
from recall.files import parse
from recall.library import Library
from recall.markers import FileHome
from tests.support.builders import a_cue, a_memory, a_memory_id, a_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, found, write_records

pytestmark = pytest.mark.promise("field-cases")

CASES = Path(__file__).parents[1] / "data" / "cases"
EACH = 15
M1, M2 = a_memory_id(1), a_memory_id(2)


def load(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return case


@pytest.mark.promise("many-at-once")
async def test_writers_and_readers_at_once_meet_no_lock_and_lose_no_write(tmp_path: Path) -> None:
    case = load("db-locked-by-writer")
    writers, readers = case["given"]["writers"], case["given"]["readers"]
    written, answers = asyncio.Event(), 0

    def memory(writer: int, number: int) -> tuple[str, str]:
        name = "sluice" + chr(ord("a") + writer) + chr(ord("a") + number)
        return a_memory_id(writer * 100 + number), f"The {name} of this writer is a sluice."

    async def write(library: Library, writer: int) -> None:
        root = a_root(tmp_path / "memory" / str(writer % 2))  # two of them share a file
        for number in range(EACH):
            memory_id, text = memory(writer, number)
            assert await library.remember(a_memory(text, memory_id=memory_id), root)

    async def read(library: Library) -> None:
        nonlocal answers
        while not written.is_set():
            await found(library, "sluice writer")
            await library.listed(a_scope(), 100)
            assert (await library.status()).problem == ""
            answers += 1

    async with a_library(tmp_path / "data") as library, asyncio.TaskGroup() as group:
        for _ in range(readers):
            group.create_task(read(library))
        await asyncio.gather(*(write(library, writer) for writer in range(writers)))
        written.set()

        wanted = dict(memory(writer, number) for writer in range(writers) for number in range(EACH))
        kept = {one.memory_id: one.text for one in (await library.listed(a_scope(), 500)).records}
        assert len(wanted.items() - kept.items()) == case["then"]["lost_writes"] and kept == wanted
        for memory_id, text in wanted.items():
            assert await found(library, text.split()[1]) == [memory_id]
    assert answers >= readers, "nobody read meanwhile"


async def test_what_was_deleted_is_a_ghost_on_no_route(tmp_path: Path) -> None:
    case = load("ghost-after-delete")
    kept, gone = case["given"]["memories"][1]["text"], case["given"]["memories"][0]["text"]
    root, query = a_root(tmp_path / "memory"), case["when"]["query"]
    async with a_library(tmp_path / "data") as library:
        await library.remember(a_memory(gone, memory_id=M1), root)
        await library.remember(a_memory(kept, memory_id=M2), root)
        before = library.snapshot(START)
        assert M1 in await found(library, query)

        assert await library.forget(M1, a_scope()) is True

        index = library.snapshot(START)
        assert await found(library, query) == [M2] and await found(library, "lantern") == []
        assert [one.memory_id for one in await index.by_id([M1, M2], a_scope())] == [M2]
        assert [one.memory_id for one in index.hot(a_scope())] == [M2]
        assert [one.memory_id for one in hot_scan(a_cue(query), index)] == [M2]
        assert (await index.statistics(["lantern", "endpoint"], a_scope())).counts == {"endpoint": 1}
        assert list(await library.verify([M1, M2])) == [M2]
        assert await library.get(M1, a_scope()) is None
        assert gone not in (tmp_path / "memory" / "records" / "2026-05.md").read_text()
        assert (await library.status()).findings == () and index.version != before.version
    async with a_library(tmp_path / "data") as library:  # nor after a start
        await library.adopt(root)
        assert await found(library, query) == [M2]
    stored = (tmp_path / "data" / "index.db").read_bytes()
    assert b"Lantern" not in stored and b"lantern" not in stored


@pytest.mark.parametrize("zone", load("naive-time-filter")["given"]["tz_list"])
async def test_a_record_is_valid_at_the_same_moment_in_every_zone(
    tmp_path: Path, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = load("naive-time-filter")
    created = case["given"]["memories"][0]["created"]
    naive = created.removesuffix("Z")
    (tmp_path / "memory").mkdir()
    times = f'created="{created}" validFrom="{naive}" expires="2026-11-03T23:30:00+00:00"'
    (tmp_path / "memory" / "a.md").write_text(f"<!-- memory:{M1} {times} -->\nLate note.\n")
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        home = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=a_root(tmp_path).origin)
        record = parse((tmp_path / "memory" / "a.md").read_bytes(), home).records[0].record
        assert record.valid_from == record.created_at
        day = 86_400_000
        async with a_library(tmp_path / "data") as library:
            await library.adopt(a_root(tmp_path / "memory"))
            moments = [record.created_at + shift for shift in (-1, 0, day - 1, day)]
            seen = [await found(library, "late", a_scope(), moment) for moment in moments]
    finally:
        monkeypatch.undo()
        time.tzset()

    assert seen == [[], [M1], [M1], []]


async def test_a_query_with_a_scope_or_a_tag_that_holds_hyphens_is_no_syntax(tmp_path: Path) -> None:
    case = load("scope-value-with-hyphen")
    (given,) = case["given"]["memories"]
    scope = a_workspace_scope(f"ws_{given['project']}")
    record = a_memory(given["text"], memory_id=M1, scope=scope, tags=tuple(given["tags"]))
    write_records(tmp_path / "memory" / "a.md", [record], scope)
    here = RuntimeScope(session_id="s", agent_id="a", workspace=scope.key, user="user")
    async with a_library(tmp_path / "data") as library:
        await library.adopt(a_root(tmp_path / "memory", scope))

        for query in (case["when"]["tag"], f"{case['when']['tag']} -nothing", f"tag:{case['when']['tag']}"):
            assert await found(library, query, here) == [M1]
        assert await found(library, case["when"]["query"], a_scope(workspace="ws_north-probe-0")) == []
