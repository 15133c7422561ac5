"""Faults that tools of this kind had in the field, as data: `tests/data/cases`, our own words (CC0).

Where a case writes a record as a list item `- [r1] text`, the test writes it as an anchored record.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from recall import edits
from recall.analyzer import distinct
from recall.canonical import text_digest
from recall.contracts import Cue, CuePart, MemoryRecord, Origin, RuntimeScope, ScopeRef, Status
from recall.documents import Documents
from recall.files import FileHome, Refused, parse
from recall.library import Library
from recall.sources.lexical import lexical
from recall.workspace import workspace_key
from tests.support.builders import a_memory, a_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, found, write_records

CASES = Path(__file__).parents[1] / "data" / "cases"
HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)
Case = Mapping[str, Any]
pytestmark = pytest.mark.promise("field-cases")


def load(name: str) -> Case:
    found: Case = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def memory_id(name: str) -> str:
    """The id of the record that a case calls `name`."""
    return "mem_" + text_digest(name)[:32]


def anchored(text: str) -> str:
    """`- [r1] A.` as a record with a marker."""
    return re.sub(r"- \[(\w+)\] ", lambda match: f"<!-- memory:{memory_id(match[1])} -->\n", text)


def scope_of(project: str) -> ScopeRef:
    return a_workspace_scope(f"ws_{project}")


def record_of(given: Mapping[str, Any], scope: ScopeRef) -> MemoryRecord:
    status = Status.REVOKED if given.get("status") == "rejected" else Status.ACTIVE
    tags = tuple(given.get("tags", ()))
    return a_memory(given["text"], memory_id=memory_id(given["id"]), scope=scope, status=status, tags=tags)


async def stocked(library: Library, folder: Path, case: Case) -> None:
    """The given memories, each project in a folder of its own."""
    for project in {memory.get("project", "here") for memory in case["given"]["memories"]}:
        scope = scope_of(project)
        memories = [one for one in case["given"]["memories"] if one.get("project", "here") == project]
        write_records(folder / project / "a.md", [record_of(one, scope) for one in memories], scope)
        await library.adopt(a_root(folder / project, scope))


async def search(library: Library, query: str, project: str = "here", limit: int = 50) -> dict[str, float]:
    """Ids -> scores, best first, as a person's search finds them."""
    terms = distinct(query)
    part = CuePart(role="query", text=query, weight=1.0)
    runtime = RuntimeScope(session_id="s", agent_id="a", workspace=f"ws_{project}", user="user")
    cue = Cue(scope=runtime, parts=(part,), terms=terms, focus=terms, retrieval_key="search", limit=limit)
    return {hit.memory_id: hit.score for hit in await lexical(cue, library.snapshot(START))}


@pytest.mark.parametrize(
    "name",
    ["cjk-glued-ascii", "cjk-two-characters", "fts-hyphen-prefix", "fts-operators-and-quotes", "ident-camel-case"],
)
async def test_each_query_finds_its_memory(tmp_path: Path, name: str) -> None:
    case = load(name)
    async with a_library(tmp_path / "data") as library:
        await stocked(library, tmp_path, case)
        answers = {query: list(await search(library, query)) for query in case["when"]["queries"]}

    then = case["then"]
    for query, ids in then["expect"].items():
        assert set(map(memory_id, ids)) <= set(answers[query]), query
    for query, first in then.get("expect_first", {}).items():
        assert answers[query][0] == memory_id(first), query
    for absent in then.get("absent_everywhere", ()):
        assert all(memory_id(absent) not in ids for ids in answers.values())
    silent = {query for query in answers if not distinct(query)}
    assert all(answers[query] == [] for query in silent), "a query without a word found something"


async def test_symbols_alone_find_nothing(tmp_path: Path) -> None:
    case = load("fts-symbols-only")
    async with a_library(tmp_path / "data") as library:
        await stocked(library, tmp_path, case)

        assert [await search(library, query) for query in case["when"]["queries"]] == [{}] * 7


@pytest.mark.parametrize(
    "name", ["fts-slash-path", "rank-bm25-sign", "filter-starvation", "scope-value-with-hyphen", "ghost-after-delete"]
)
async def test_a_search_finds_what_it_should_and_no_more(tmp_path: Path, name: str) -> None:
    case = load(name)
    when, then, given = case["when"], case["then"], case["given"]
    project = when.get("project", "here")
    async with a_library(tmp_path / "data") as library:
        await stocked(library, tmp_path, case)
        for gone in given.get("then_delete", ()):
            root = tmp_path / project / "a.md"
            home = FileHome(path=str(root), relative="a.md", scope=scope_of(project), origin=Origin.USER)
            left = edits.remove(root.read_bytes(), home, memory_id(gone))
            root.write_bytes(left if isinstance(left, bytes) else b"")
            await library.refresh(str(root))
        scores = await search(library, when["query"], project, when.get("limit", 50))
        status = await library.status()

    found = list(scores)
    assert found[: len(then.get("ids_first", ()))] == [memory_id(one) for one in then.get("ids_first", ())]
    assert not set(found) & {memory_id(one) for one in then.get("absent", ())}
    if "ids" in then:
        assert found == [memory_id(one) for one in then["ids"]]
    if "strictly_ordered" in then:
        first, second = (scores[memory_id(one)] for one in then["strictly_ordered"])
        assert first > second > 0
    if "only_project" in then:
        assert len(found) == 1
    assert then.get("doctor_reports", "ok") == "ok" and status.findings == ()


@pytest.mark.promise("no-leak")
async def test_every_way_of_reading_filters(tmp_path: Path) -> None:
    case = load("every-read-path-filters")
    beta = a_scope(workspace="ws_beta")
    asked = [memory_id(one["id"]) for one in case["given"]["memories"]]
    async with a_library(tmp_path / "data") as library:
        await stocked(library, tmp_path, case)
        index = library.snapshot(START)

        allowed = {memory_id(one) for one in case["then"]["every_route_ids"]}
        assert set(await search(library, case["when"]["query"], "beta")) == allowed
        assert set(await library.digests(asked, beta)) == set(await library.verify(asked, beta)) == allowed
        assert {hit.memory_id for hit in index.hot(beta)} == allowed
        assert (await index.statistics(["quokka"], beta)).counts == {"quokka": 1}
        visible = {one.memory_id for one in (await library.listed(beta, 10)).records}
        by_id = {hit.memory_id for hit in await index.by_id(asked, beta)}
        assert memory_id("a1") not in visible | by_id and await library.get(memory_id("a1"), beta) is None


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
def test_a_time_is_the_same_in_every_zone(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = load("naive-time-filter")
    created = case["given"]["memories"][0]["created"]
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        times = [
            parse(f'<!-- memory:{memory_id("m1")} created="{text}" -->\nLate.\n'.encode(), HOME).records[0].record
            for text in (created, case["when"]["since"], created.removesuffix("Z"))
        ]
    finally:
        monkeypatch.undo()
        time.tzset()

    assert times[0].created_at > times[1].created_at and times[0].created_at == times[2].created_at == 1793662200000


async def test_searching_reads_and_writes_no_file_and_no_table(tmp_path: Path) -> None:
    case = load("every-search-reindexes")  # its 50 000 records are the benchmark's
    async with a_library(tmp_path / "data") as library:
        for number in range(5):
            texts = [f"Rotate certificates of host {number} {line}." for line in range(100)]
            memories = [a_memory(text, memory_id=memory_id(text), scope=scope_of("here")) for text in texts]
            write_records(tmp_path / "here" / f"{number}.md", memories, scope_of("here"))
        await library.adopt(a_root(tmp_path / "here", scope_of("here")))
        before = library.version
        (tmp_path / "here").rename(tmp_path / "unreadable")  # a read of a file would show
        index = (tmp_path / "data" / "index.db-wal").stat()

        for _ in range(case["when"]["repeat"]):
            assert len(await search(library, case["when"]["prompt"])) == 50

        assert library.version == before
        assert (tmp_path / "data" / "index.db-wal").stat().st_mtime_ns == index.st_mtime_ns


# -- what a project is


def laid_out(top: Path, dirs: Mapping[str, Mapping[str, Any]]) -> None:
    """The folders of a case, git ones with what git leaves there."""
    for name, kind in dirs.items():
        folder = top / name.lstrip("/")
        git = kind.get("git")
        if "symlink_to" in kind:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.symlink_to(top / kind["symlink_to"].lstrip("/"))
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(git, str) and git.startswith("worktree of "):
            inner = top / git.removeprefix("worktree of /") / ".git" / "worktrees" / folder.name
            inner.mkdir(parents=True)
            (inner / "HEAD").write_text("ref: refs/heads/x\n")
            (inner / "commondir").write_text("../..\n")
            (inner / "gitdir").write_text(f"{folder}/.git\n")
            (folder / ".git").write_text(f"gitdir: {inner}\n")
        elif git:
            (folder / ".git" / "refs").mkdir(parents=True)
            (folder / ".git" / "objects").mkdir()
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


@pytest.mark.parametrize(
    "name",
    [
        "project-basename-collision",
        "subdirectory-start",
        "symlinked-cwd",
        "worktree-shares-project-memory",
        "two-hosts-one-project",
    ],
)
async def test_memories_follow_the_repository_not_the_folders_name(tmp_path: Path, name: str) -> None:
    case = load(name)
    laid_out(tmp_path, case["given"].get("dirs", {}))

    def key(cwd: str) -> str:
        return workspace_key(str(tmp_path / cwd.lstrip("/")))

    async with a_library(tmp_path / "data") as library:
        for given in case["given"]["memories"]:
            scope = a_workspace_scope(key(given["cwd"]))
            write_records(tmp_path / "memory" / scope.key / "a.md", [record_of(given, scope)], scope)
            await library.adopt(a_root(tmp_path / "memory" / scope.key, scope))

        found = await search(library, case["when"]["prompt"], key(case["when"]["cwd"]).removeprefix("ws_"))

    assert list(found) == [memory_id(one) for one in case["then"]["ids"]]


# -- files


async def indexed(library: Library, folder: Path) -> dict[str, MemoryRecord]:
    await library.adopt(a_root(folder))
    return {one.memory_id: one for one in (await library.listed(a_scope(), 500)).records}


async def test_a_file_with_conflict_markers_is_out_and_is_not_written(tmp_path: Path) -> None:
    case = load("memory-file-conflict-markers")
    file = tmp_path / "memory" / "a.md"
    file.parent.mkdir()
    file.write_text(anchored(case["given"]["file"]))
    before = file.read_bytes()
    async with a_library(tmp_path / "data") as library:
        assert await indexed(library, file.parent) == {}
        assert [one.state for one in (await library.status()).findings] == ["conflict-markers"]
        assert list(await found(library, "limit is")) == case["then"]["ids"]

        refused = await Documents().transact(
            str(file.parent), "a.md", lambda data: edits.append(data, HOME, a_memory("More."))
        )

    assert isinstance(refused, Refused) and file.read_bytes() == before


def test_an_edit_keeps_line_ends_and_what_precedes_the_records() -> None:
    case = load("memory-file-crlf-bom")
    before = re.sub(r"(?<= -->)\n", "\r\n", anchored(case["given"]["file_bytes"])).encode()
    wanted = re.sub(r"(?<= -->)\n", "\r\n", anchored(case["then"]["file_bytes_after"])).encode()
    old = next(one.record for one in parse(before, HOME).records if one.record.memory_id == memory_id("r2"))

    after = edits.replace(before, HOME, type(old)(**{**_fields(old), "text": "Then make all."}))

    assert isinstance(after, bytes)
    assert re.sub(rb' created="[^"]*"', b"", after) == wanted  # a marker without a date gets one
    lines = {one.record.memory_id: one.locator.line_start for one in parse(before, HOME).records}
    assert lines == {memory_id("r1"): 5, memory_id("r2"): 7}  # the text's line, below its marker's


def _fields(record: MemoryRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


async def test_a_file_with_two_front_matters_is_reported_and_read(tmp_path: Path) -> None:
    case = load("memory-file-two-front-matters")
    file = tmp_path / "memory" / "a.md"
    file.parent.mkdir()
    file.write_text(anchored(case["given"]["file_bytes"]))
    before = file.read_bytes()
    async with a_library(tmp_path / "data") as library:
        assert list(await indexed(library, file.parent)) == [memory_id(one) for one in case["then"]["records"]]
        assert len((await library.status()).findings) == 1 and file.read_bytes() == before


async def test_a_moved_file_keeps_its_one_record(tmp_path: Path) -> None:
    case = load("memory-file-moved")
    for name, text in case["given"]["files"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(anchored(text))
    async with a_library(tmp_path / "data") as library:
        await indexed(library, tmp_path / "memory")
        old, new = case["given"]["then_move"]
        (tmp_path / new).parent.mkdir(parents=True)
        (tmp_path / old).rename(tmp_path / new)

        records = await indexed(library, tmp_path / "memory")

        assert list(records) == [memory_id("r1")] and (await library.status()).records == case["then"]["record_count"]
        found = await library.get(memory_id("r1"), a_scope())
        assert found and found[1].source_file == str(tmp_path / case["then"]["records"]["r1"]["file"])


async def test_an_edit_by_hand_between_our_read_and_our_write_is_kept(tmp_path: Path) -> None:
    case = load("memory-file-outside-edit-kept")
    file = tmp_path / "a.md"
    file.write_text(anchored(case["given"]["file"]))
    changed = a_memory("A2.", memory_id=memory_id("r1"), created_at=0)
    reads: list[bytes] = []

    def edit(data: bytes) -> bytes | Refused:
        if not reads:
            with file.open("a") as editor:
                editor.write(anchored("- [r2] Handwritten.\n"))
        reads.append(data)
        return edits.replace(data, HOME, changed)

    assert isinstance(await Documents().transact(str(tmp_path), "a.md", edit), str)

    assert len(reads) == 2 and all(text in file.read_text() for text in case["then"]["file_has"])


async def test_sessions_that_remember_at_once_all_get_their_record(tmp_path: Path) -> None:
    case = load("memory-file-two-sessions-append")
    count = case["given"]["parallel_promotions"]
    root = a_root(tmp_path / "memory")
    month = tmp_path / "memory" / "records" / "2026-05.md"
    month.parent.mkdir(parents=True)
    month.write_text(case["given"]["file"])
    memories = [a_memory(f"Note {n}.", memory_id=memory_id(str(n))) for n in range(count)]
    async with a_library(tmp_path / "data") as library:
        kept = await asyncio.gather(*(library.remember(one, root) for one in memories))

        assert all(kept) and (await library.status()).searchable == case["then"]["record_count"]
    assert month.read_text().startswith(case["given"]["file"])
    assert {one.record.text for one in parse(month.read_bytes(), HOME).records} == {one.text for one in memories}


async def test_a_store_behind_a_symlink_is_written_where_it_leads(tmp_path: Path) -> None:
    case = load("store-through-symlink")
    laid_out(tmp_path, case["given"]["dirs"])
    async with a_library(tmp_path / "data") as library:
        kept = await library.remember(a_memory("m1"), a_root(tmp_path / "u/dev/alpha/memory"))

    assert kept and kept.source_file.startswith(str(tmp_path / "u/dev/vol/store"))


async def test_indexing_twice_and_after_an_edit_leaves_one_record(tmp_path: Path) -> None:
    case = load("reindex-twice-no-duplicates")
    file = tmp_path / "memory" / "a.md"
    file.parent.mkdir()
    file.write_text(anchored(case["given"]["files"]["memory/a.md"]))
    async with a_library(tmp_path / "data") as library:
        for _ in range(2):
            await indexed(library, file.parent)
        file.write_text(anchored("- [r1] The limit is 25."))
        records = await indexed(library, file.parent)

        assert {one: record.text for one, record in records.items()} == {
            memory_id(name): text for name, text in case["then"]["text_of"].items()
        }
        answers = [await found(library, query) for query in (*case["when"]["queries"], "10", "25")]
        assert answers == [[memory_id("r1")], [memory_id("r1")], [], [memory_id("r1")]]
        assert (await library.status()).records == case["then"]["record_count"]


async def test_a_memory_folder_that_is_missing_empties_nothing(tmp_path: Path) -> None:
    case = load("sync-never-empties")
    count = case["given"]["memories"]
    folder = tmp_path / "memory"
    write_records(folder / "a.md", [a_memory(f"Note {n}.", memory_id=memory_id(str(n))) for n in range(count)])
    async with a_library(tmp_path / "data") as library:
        await indexed(library, folder)
        folder.rename(tmp_path / "away")

        assert len(await indexed(library, folder)) == case["then"]["records_after"]
        assert (await library.status()).missing == (str(folder),)
