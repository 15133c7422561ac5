"""What a read of a memory file covered: which records, how much of each, and whether as they are now."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.evidence import WHOLE, Covered
from host import reading
from host.reading import covered
from recall.contracts import ReadWindow
from recall.library import Library
from tests.support.builders import a_memory, a_memory_id
from tests.support.library import a_library, a_root, write_records
from tests.support.reading import window

FIRST, SECOND = a_memory_id(1), a_memory_id(2)
# line 1: marker; 2 and 3: the first record; 4: empty; 5: marker; 6: the second record
RECORDS = [
    a_memory("The cache lives in Redis 7.\nIts port is 6380.", memory_id=FIRST),
    a_memory("The queue lives in Postgres.", memory_id=SECOND),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "notes" / "a.md"


@pytest.fixture
async def library(tmp_path: Path, file: Path) -> AsyncIterator[Library]:
    write_records(file, RECORDS)
    async with a_library(tmp_path / "data") as opened:
        await opened.adopt(a_root(file.parent))
        yield opened


def ratios(shown: list[Covered]) -> dict[str, tuple[int, bool]]:
    return {one.memory_id: (one.ratio, one.fresh) for one in shown}


async def test_a_whole_file_shows_every_record_in_full(library: Library, file: Path) -> None:
    shown = await covered(library, window(file))

    assert ratios(shown) == {FIRST: (WHOLE, True), SECOND: (WHOLE, True)}
    located = {locator.memory_id: locator for locator in await library.locators(str(file))}
    assert all(one.record_digest == located[one.memory_id].record_digest for one in shown)
    assert all(one.source_version == located[one.memory_id].source_version for one in shown)


async def test_a_part_of_a_record_is_its_share_and_untouched_records_are_not_mentioned(
    library: Library, file: Path
) -> None:
    shown = await covered(library, window(file, first=1, count=2))

    ((memory_id, (ratio, fresh)),) = ratios(shown).items()
    assert (memory_id, fresh) == (FIRST, True)
    assert 0 < ratio < WHOLE


@pytest.mark.promise("read-is-no-citation")
@pytest.mark.parametrize(("first", "count"), [(1, 1), (4, 1), (4, 2), (1000, 0)])
async def test_a_marker_an_empty_line_or_nothing_at_all_covers_no_record(
    library: Library, file: Path, first: int, count: int
) -> None:
    """A record's marker is not its text."""
    assert await covered(library, window(file, first, count)) == []


async def test_a_file_that_changed_since_the_index_saw_it_is_not_fresh(library: Library, file: Path) -> None:
    file.write_text(file.read_text("utf-8").replace("6380", "6381"), "utf-8")

    shown = await covered(library, window(file))

    assert ratios(shown) == {FIRST: (0, False), SECOND: (0, False)}


async def test_a_file_that_changed_since_it_was_read_is_not_fresh(library: Library, file: Path) -> None:
    read = window(file)
    file.write_text("Something else entirely.\n", "utf-8")

    assert ratios(await covered(library, read)) == {FIRST: (0, False), SECOND: (0, False)}


async def test_a_window_that_cannot_say_what_it_showed_is_not_fresh(library: Library, file: Path) -> None:
    silent = msgspec.structs.replace(window(file), content_digest=None)

    assert ratios(await covered(library, silent)) == {FIRST: (0, False), SECOND: (0, False)}


async def test_a_file_that_is_not_of_the_library_is_not_even_opened(library: Library, tmp_path: Path) -> None:
    missing = ReadWindow(path=str(tmp_path / "elsewhere.md"), line_start=1, line_count=1, content_digest="0")

    assert await covered(library, missing) == []


async def test_a_file_that_is_gone_covers_nothing(library: Library, file: Path) -> None:
    read = window(file)
    file.unlink()

    assert await covered(library, read) == []


async def test_a_file_that_cannot_be_looked_at_covers_nothing(library: Library, file: Path) -> None:
    read = window(file)
    file.unlink()
    file.symlink_to(file.name)  # a circle

    assert await covered(library, read) == []


async def test_a_path_that_the_system_refuses_covers_nothing(library: Library, file: Path) -> None:
    winding = f"{file.parent}/{'down/../' * 600}{file.name}"  # the same file, if anybody could say it

    assert await library.locators(winding)
    assert await covered(library, msgspec.structs.replace(window(file), path=winding)) == []


async def test_a_file_larger_than_what_is_indexed_covers_nothing(
    library: Library, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST", 10)

    assert await covered(library, window(file)) == []
