"""A name is given only where it is free."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from governance.team.renaming import found, rename_free, swapped

pytestmark = pytest.mark.skipif(found(sys.platform) is None, reason="this system has no renaming that spares")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "one").write_bytes(b"one")
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield handle
    os.close(handle)


def test_a_free_name_is_given(folder: int, tmp_path: Path) -> None:
    assert rename_free(folder, "one", "two")

    assert [path.name for path in tmp_path.iterdir()] == ["two"]
    assert (tmp_path / "two").read_bytes() == b"one"


@pytest.mark.parametrize("taken", ["file", "folder", "link"])
def test_a_name_that_is_taken_is_not_replaced(folder: int, tmp_path: Path, taken: str) -> None:
    two = tmp_path / "two"
    {"file": lambda: two.write_bytes(b""), "folder": two.mkdir, "link": lambda: two.symlink_to("nowhere")}[taken]()

    with pytest.raises(FileExistsError):
        rename_free(folder, "one", "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_two_names_are_swapped(folder: int, tmp_path: Path) -> None:
    (tmp_path / "two").write_bytes(b"two")

    assert swapped(folder, "one", "two")
    assert ((tmp_path / "one").read_bytes(), (tmp_path / "two").read_bytes()) == (b"two", b"one")
    with pytest.raises(FileNotFoundError):
        swapped(folder, "one", "nothing")


def test_what_is_not_there_cannot_be_renamed(folder: int) -> None:
    with pytest.raises(FileNotFoundError):
        rename_free(folder, "none", "two")


def test_a_system_that_has_none_is_told_apart() -> None:
    assert found("somewhere") is None
