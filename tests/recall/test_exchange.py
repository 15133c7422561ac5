"""Two names are swapped in one step, or it is said that the system cannot."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall import exchange as module
from recall.exchange import exchange

can = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the system has no such call")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("two")
    number = os.open(tmp_path, os.O_RDONLY)
    yield number
    os.close(number)


@can
def test_two_files_swap_their_names(folder: int, tmp_path: Path) -> None:
    inodes = [(tmp_path / name).stat().st_ino for name in "ab"]

    assert exchange(folder, "a", "b")

    assert [(tmp_path / name).read_text() for name in "ab"] == ["two", "one"]
    assert [(tmp_path / name).stat().st_ino for name in "ba"] == inodes


@can
def test_a_name_that_is_gone_is_an_error_and_nothing_moves(folder: int, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(folder, "a", "c")

    assert (tmp_path / "a").read_text() == "one" and not (tmp_path / "c").exists()


def test_a_system_without_it_says_so(folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_rename", None)

    assert exchange(folder, "a", "b") is False
    assert [(tmp_path / name).read_text() for name in "ab"] == ["one", "two"]


def test_a_system_that_is_not_known_has_none() -> None:
    assert module._found("plan9") is None
