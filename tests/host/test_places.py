"""A workspace is known again where it was moved to, and never taken for another one."""

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from host.compose import main_schema
from host.database import open_database
from host.places import Places, load_places, stamp_of
from recall.contracts import Database
from recall.workspace import workspace_key


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *words],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def a_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@asynccontextmanager
async def stored(folder: Path) -> AsyncIterator[Database]:
    async with open_database(folder / "places.db", main_schema()) as database:
        yield database


async def test_a_repository_keeps_its_key_where_it_is_moved_to_also_after_a_restart(tmp_path: Path) -> None:
    old, new = a_repository(tmp_path / "old" / "shop"), tmp_path / "new" / "store"
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(old))
        key = places.key(str(old / "src"))
        new.parent.mkdir()
        old.rename(new)
        assert places.key(str(new), again=True) == key
        await places.note(str(new))
    async with stored(tmp_path) as database:
        places = await load_places(database)
        assert places.key(str(new)) == key
        assert places.key(str(old / "src")) == key  # as events of the past name it
    assert key == workspace_key(str(new.rename(old)))


async def test_a_repository_that_moves_on_and_back_keeps_its_key(tmp_path: Path) -> None:
    first = a_repository(tmp_path / "a")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(first))
        key = places.key(str(first))
        for where in ("b", "c", "a"):
            first = first.rename(tmp_path / where)
            assert places.key(str(first), again=True) == key
            await places.note(str(first))


async def test_what_is_made_in_the_old_place_is_another_workspace(tmp_path: Path) -> None:
    old = a_repository(tmp_path / "shop")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(old))
        key = places.key(str(old))
        moved = old.rename(tmp_path / "moved")
        await places.note(str(moved))
        again = a_repository(tmp_path / "shop")
        other = places.key(str(again), again=True)
        await places.note(str(again))
    assert other != key
    async with stored(tmp_path) as database:
        places = await load_places(database)
        assert (places.key(str(again)), places.key(str(moved))) == (other, key)


async def test_a_repository_made_anew_in_the_place_of_a_deleted_one_is_the_same_project(tmp_path: Path) -> None:
    folder = a_repository(tmp_path / "shop")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(folder))
        key = places.key(str(folder))
        shutil.rmtree(folder)
        a_repository(folder)
        assert places.key(str(folder), again=True) == key


async def test_two_repositories_that_change_places_keep_their_keys(tmp_path: Path) -> None:
    """Also while only one of them was seen again, and after a restart in between."""
    one, two = a_repository(tmp_path / "one"), a_repository(tmp_path / "two")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        for folder in (one, two):
            await places.note(str(folder))
        keys = places.key(str(one)), places.key(str(two))
        one.rename(tmp_path / "aside")
        two.rename(one)
        (tmp_path / "aside").rename(two)
        assert (places.key(str(one), again=True), places.key(str(two), again=True)) == keys[::-1]
        await places.note(str(one))
    async with stored(tmp_path) as database:
        places = await load_places(database)
        assert (places.key(str(one)), places.key(str(two))) == keys[::-1]
        await places.note(str(two))
        assert (places.key(str(one)), places.key(str(two))) == keys[::-1]


async def test_a_repository_that_takes_the_place_of_another_does_not_take_its_key(tmp_path: Path) -> None:
    one, two = a_repository(tmp_path / "one"), a_repository(tmp_path / "two")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        for folder in (one, two):
            await places.note(str(folder))
        keys = places.key(str(one)), places.key(str(two))
        three = one.rename(tmp_path / "three")
        two.rename(one)
        assert (places.key(str(three), again=True), places.key(str(one), again=True)) == keys
        await places.note(str(one))
        assert (places.key(str(three), again=True), places.key(str(one), again=True)) == keys


async def test_a_repository_made_anew_in_a_place_that_others_had_stays_what_it_was(tmp_path: Path) -> None:
    old = a_repository(tmp_path / "shop")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(old))
        await places.note(str(old.rename(tmp_path / "moved")))
        again = a_repository(tmp_path / "shop")
        await places.note(str(again))
        key = places.key(str(again))
        shutil.rmtree(again)
        a_repository(again)
        assert places.key(str(again), again=True) == key


@pytest.mark.parametrize("copied", [["cp", "-r"], ["cp", "-a"]])
async def test_a_copy_is_a_workspace_of_its_own(tmp_path: Path, copied: list[str]) -> None:
    folder = a_repository(tmp_path / "shop")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(folder))
        subprocess.run([*copied, str(folder), str(tmp_path / "copy")], check=True)
        assert places.key(str(tmp_path / "copy")) != places.key(str(folder))


async def test_another_repository_is_not_taken_for_one_that_is_gone(tmp_path: Path) -> None:
    gone, other = a_repository(tmp_path / "client-a" / "app"), a_repository(tmp_path / "client-b" / "app")
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(gone))
        key = places.key(str(gone))
        shutil.rmtree(gone)
        assert places.key(str(other)) == workspace_key(str(other)) != key


def bare(folder: Path) -> Path:
    """What a template may leave: a repository without any of git's own files."""
    a_repository(folder)
    shutil.rmtree(folder / ".git" / "hooks", ignore_errors=True)
    (folder / ".git" / "description").unlink(missing_ok=True)
    return folder


async def test_a_repository_whose_making_left_nothing_is_not_recognised_and_not_confused(tmp_path: Path) -> None:
    old = bare(tmp_path / "a")
    assert stamp_of(str(old / ".git")) == ""
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(old))
        key = places.key(str(old))
        assert places.key(str(old.rename(tmp_path / "b"))) != key


@pytest.mark.parametrize("make", [a_repository, lambda folder: folder.mkdir() or folder], ids=["git", "no git"])
async def test_one_folder_under_two_spellings_is_one_workspace(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """On a disk that tells no case apart both names exist and are one folder; elsewhere they are two."""
    one, two = make(tmp_path / "Repo"), make(tmp_path / "repo")

    def no_case(left: str, right: str) -> bool:
        return left.lower() == right.lower()

    async with stored(tmp_path) as database:
        insensitive, exact = Places(database, {}, no_case), Places(database, {})
        for places in (insensitive, exact):
            await places.note(str(one))
        assert insensitive.key(str(two)) == insensitive.key(str(one))
        assert exact.key(str(two)) != exact.key(str(one))


async def test_a_worktree_is_its_repository_wherever_either_was_moved(tmp_path: Path) -> None:
    shop = a_repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-q", str(tmp_path / "feature"))
    async with stored(tmp_path) as database:
        places = await load_places(database)
        await places.note(str(tmp_path / "feature"))
        key = places.key(str(tmp_path / "feature"))
        assert key == places.key(str(shop))
        moved = shop.rename(tmp_path / "elsewhere")
        git(moved, "worktree", "repair", str(tmp_path / "feature"))
        assert places.key(str(tmp_path / "feature"), again=True) == places.key(str(moved), again=True) == key


async def test_nothing_is_written_of_a_path_that_is_not_there_or_relative(tmp_path: Path) -> None:
    async with stored(tmp_path) as database:
        places = await load_places(database)
        for path in ("", "relative", "/no\0where", str(tmp_path / "missing")):
            await places.note(path)
            assert places.key(path) == workspace_key(path)
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM setting").fetchone()) == (0,)


async def test_a_place_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    folder = a_repository(tmp_path / "shop")
    async with stored(tmp_path) as database:
        await database.write(
            lambda c: c.execute("INSERT INTO setting VALUES ('place:ws_1', x'ff'), ('place:ws_2', '{}')")
        )
        places = await load_places(database)
        await places.note(str(folder))
        assert places.key(str(folder)) == workspace_key(str(folder))
