"""Following the index of a real library: pages first, then its journal, from the beginning when that is not enough."""

import sqlite3
from pathlib import Path

import pytest

from recall.canonical import text_digest
from recall.library import Library
from recall.vectors.follow import Follower, Listed, News
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.library import a_library, a_root, write_records

HERE, MINE = a_workspace_scope(), a_user_scope()


class Followed:
    """What somebody who takes in all news knows: row -> the record."""

    def __init__(self, folder: Path) -> None:
        self.follower = Follower(folder / "index.db")
        self.known: dict[int, Listed] = {}
        self.told: list[News] = []

    def look(self) -> dict[str, str]:
        """Row's text by digest, after all news."""
        while True:
            news = self.follower.news()
            self.told.append(news)
            if news.anew:
                self.known.clear()
            for row in news.gone:
                self.known.pop(row, None)
            self.known.update((one.row, one) for one in news.listed)
            if not self.follower.more:
                break
        texts = self.follower.texts(self.known)
        return {one.digest: text for one, text in texts.values()}

    def texts(self) -> list[str]:
        return sorted(self.look().values())


async def stocked(library: Library, folder: Path, *texts: str, name: str = "a.md") -> None:
    records = [a_memory(text, memory_id=a_memory_id(hash_of(text))) for text in texts]
    write_records(folder / "memory" / name, records)
    await library.adopt(a_root(folder / "memory"))
    await library.refresh(str(folder / "memory"))


def hash_of(text: str) -> int:
    return int(text_digest(text)[:8], 16)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.vectors.follow.PAGE", 2)


@pytest.mark.usefixtures("pages")
async def test_all_records_are_told_in_pages_and_then_only_what_changed(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one", "two", "three", "four", "five")
        assert followed.texts() == ["five", "four", "one", "three", "two"]
        assert [news.anew for news in followed.told] == [True, False, False, False]
        followed.told.clear()

        await stocked(library, tmp_path, "one", "two", "three", "six")
        assert followed.texts() == ["one", "six", "three", "two"]
        assert sum(len(news.listed) for news in followed.told) == 1
        assert sum(len(news.gone) for news in followed.told) == 2
        assert followed.follower.news() == News()
    followed.follower.close()


async def test_titles_are_part_of_what_is_embedded_and_scopes_have_rows(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    async with a_library(tmp_path) as library:
        write_records(tmp_path / "memory" / "a.md", [a_memory("text", title="Title")])
        await library.adopt(a_root(tmp_path / "memory"))

        assert followed.texts() == ["Title\ntext"]
        (row,) = followed.known
        assert followed.follower.scopes([MINE, HERE]) == [followed.known[row].scope]
        assert followed.follower.digests([row, 999]) == {row: followed.known[row].digest}
        assert followed.follower.all_digests() == {followed.known[row].digest}
    followed.follower.close()


async def test_an_index_that_is_made_anew_is_read_from_the_beginning(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one", "two")
        before = followed.texts()
        epoch = followed.follower.epoch

        await library.rebuild()

        assert followed.texts() == before and followed.follower.epoch > epoch
        assert followed.told[-1].anew or any(news.anew for news in followed.told[1:])
    followed.follower.close()


async def test_another_file_of_the_name_is_opened(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one")
        assert followed.texts() == ["one"]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{tmp_path}/index.db{suffix}").unlink(missing_ok=True)

    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "two", name="b.md")
        assert followed.texts() == ["one", "two"]
    followed.follower.close()


async def test_a_gap_in_the_journal_means_from_the_beginning(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one")
        assert followed.texts() == ["one"]
        await stocked(library, tmp_path, "one", "two", "three")
        trimmed = sqlite3.connect(tmp_path / "index.db")
        trimmed.execute("DELETE FROM listing WHERE seq < (SELECT max(seq) FROM listing)")
        trimmed.commit()

        followed.told.clear()
        assert followed.texts() == ["one", "three", "two"] and followed.told[0].anew
        trimmed.close()
    followed.follower.close()


async def test_an_index_that_is_not_there_is_no_news_and_a_problem(tmp_path: Path) -> None:
    followed = Followed(tmp_path)

    assert followed.follower.news() == News()
    assert "index.db cannot be read" in followed.follower.problem and followed.follower.behind
    with pytest.raises(sqlite3.OperationalError):
        followed.follower.digests([1])

    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one")
        assert followed.texts() == ["one"] and followed.follower.problem == ""
    followed.follower.close()


async def test_tables_that_are_gone_are_read_again_when_they_are_back(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one")
        assert followed.texts() == ["one"]
        other = sqlite3.connect(tmp_path / "index.db")
        other.execute("DROP TABLE listing")
        other.commit()
        other.close()
        assert followed.follower.news() == News() and "listing" in followed.follower.problem

        await library.rebuild()
        assert followed.texts() == ["one"]
    followed.follower.close()


async def test_a_locked_index_is_looked_at_again_and_not_read_anew(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    path = tmp_path / "index.db"
    async with a_library(tmp_path) as library:
        await stocked(library, tmp_path, "one")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")  # without a log of its own a writer locks readers out
    followed.texts()
    other.execute("INSERT INTO meta VALUES ('touched', '1')")
    other.execute("BEGIN EXCLUSIVE")

    assert followed.follower.news() == News() and "locked" in followed.follower.problem

    other.execute("ROLLBACK")
    assert followed.follower.news() == News() and followed.follower.problem == ""
    assert not followed.follower.behind
    other.close()
    followed.follower.close()
