"""An index that breaks, is locked, or finds no room answers from memory, says so, and mends itself."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from recall.associate import Arm, AssociationPolicy, associate
from recall.contracts import Cue, Found
from recall.errors import IndexFault
from recall.fallback import Breaker
from recall.library import Library
from recall.sources.lexical import lexical
from tests.support.builders import a_cue, a_memory, a_memory_id, a_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, following, found, texts, until, write_records

M1, M2 = a_memory_id(1), a_memory_id(2)
POLICY = AssociationPolicy()


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    """One record, remembered."""
    async with a_library(tmp_path) as library:
        await library.remember(a_memory("The harbor lantern is blue.", memory_id=M1), a_root(tmp_path / "memory"))
        yield library


async def ask(library: Library, query: str = "harbor lantern") -> Found:
    cue: Cue = a_cue(query, scope=a_scope(), limit=10)
    return await associate(cue, library.snapshot(START), [Arm("lexical", lexical, Breaker())], POLICY, lambda: 0)


def ids(answer: Found) -> list[str]:
    return [one.memory_id for one in answer.candidates]


def drop(table: str) -> Callable[[sqlite3.Connection], object]:
    return lambda connection: connection.execute(f"DROP TABLE {table}")


@pytest.mark.parametrize("table", ["posting", "df", "record", "posting_data", "posting_idx"])
async def test_a_table_that_is_gone_is_answered_for_from_memory_and_made_anew_unasked(
    library: Library, table: str
) -> None:
    if table == "posting_data":
        await library._database.write(lambda connection: connection.execute("DELETE FROM posting_data"))
    else:
        await library._database.write(drop(table))

    answer = await ask(library)

    assert ids(answer) == [M1] and answer.degraded
    if library._catalogue.health.damaged:  # it may be mended already
        with pytest.raises(IndexFault):
            await library.listed(a_scope(), 5)
    assert "lexical" in {report.name for report in answer.arms if report.shortfall}
    await until(lambda: library.progress().stage == "idle")
    mended = await ask(library)
    assert ids(mended) == [M1] and not mended.degraded and (await library.status()).problem == ""


async def test_pages_that_are_trashed_are_never_an_error_nor_a_plain_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    for number in range(40):
        write_records(folder / f"{number}.md", [a_memory(f"Lantern {number}.", memory_id=a_memory_id(number + 1))])
    async with a_library(tmp_path) as library:
        await library.adopt(a_root(folder))
    index = tmp_path / "index.db"
    data = bytearray(index.read_bytes())
    for page in range(4, len(data) // 4096 - 1, 2):  # all but what is needed to open it
        data[page * 4096 : (page + 1) * 4096] = b"\xa5" * 4096
    index.write_bytes(data)

    async with a_library(tmp_path) as library:
        answer = await ask(library, "lantern")
        assert answer.degraded or ids(answer)
        await library.adopt(a_root(folder))

        async def mended() -> bool:
            return not (await ask(library, "lantern")).degraded

        await until(mended)
        assert len(await found(library, "lantern")) == 40


async def test_what_was_edited_since_the_tables_broke_is_not_vouched_for(library: Library, tmp_path: Path) -> None:
    (file,) = (tmp_path / "memory" / "records").iterdir()
    library._catalogue.begin_rebuild = lambda: False  # type: ignore[method-assign]
    await library._database.write(drop("record"))
    assert ids(await ask(library)) == [M1] and list(await library.verify([M1], a_scope())) == [M1]

    file.write_bytes(file.read_bytes().replace(b"blue", b"green"))

    assert await library.verify([M1], a_scope()) == {}


async def test_an_index_locked_by_another_process_answers_and_takes_in_later(library: Library, tmp_path: Path) -> None:
    root = a_root(tmp_path / "memory")
    other = sqlite3.connect(tmp_path / "index.db", isolation_level=None, check_same_thread=False)
    await library._database.write(lambda connection: connection.execute("PRAGMA busy_timeout = 50"))
    other.execute("BEGIN EXCLUSIVE")

    locator = await library.remember(a_memory("The pier is green.", memory_id=M2), root)

    assert locator and locator.memory_id == M2 and b"pier" in Path(locator.source_file).read_bytes()
    answer = await ask(library)
    assert ids(answer) == [M1] and [report.shortfall for report in answer.arms] == [None, "indexing"]
    assert "locked" in (await library.status()).problem
    async with following(library):
        other.execute("ROLLBACK")
        other.close()

        async def there() -> bool:
            return await found(library, "pier") == [M2]

        await until(there)
    assert (await library.status()).problem == ""


async def test_what_takes_longer_than_one_can_wait_is_marked_until_it_is_there(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recall.writing.PATIENCE_SECONDS", 0.01)
    other = sqlite3.connect(tmp_path / "index.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")

    locator = await library.remember(a_memory("The pier is green.", memory_id=M2), a_root(tmp_path / "memory"))

    assert locator and library.snapshot(START).partial(a_scope())
    other.execute("ROLLBACK")
    other.close()
    await until(lambda: not library.snapshot(START).partial(a_scope()))
    assert await found(library, "pier") == [M2]


async def test_no_room_while_indexing_leaves_what_there_was_and_the_rest_follows(
    library: Library, tmp_path: Path
) -> None:
    def limit(pages: int) -> Callable[[sqlite3.Connection], object]:
        return lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}")

    folder = tmp_path / "memory"
    await library._database.write(limit(1))  # not less than there are
    words = " ".join(f"word{number}" for number in range(3000))
    write_records(folder / "large.md", [a_memory(f"Pier {words}.", memory_id=M2)])

    await library.adopt(a_root(folder))

    assert "full" in (await library.status()).problem and ids(await ask(library)) == [M1]
    await library._database.write(limit(1_000_000))
    async with following(library):

        async def there() -> bool:
            return await found(library, "pier") == [M2]

        await until(there)
    assert list(await texts(library, "harbor pier")) == [M1, M2] or len(await texts(library, "harbor pier")) == 2
