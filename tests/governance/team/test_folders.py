"""Folders of others are opened step by step, and files are read when they are plain ones with one name."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from governance.team.folders import FOLDER, LARGEST, Seen, looked_at, names, opened, read, told, unreadable


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[int]:
    """An open folder."""
    opened_one = os.open(tmp_path, FOLDER)
    yield opened_one
    os.close(opened_one)


def seen(handle: int, name: str) -> Seen:
    (one,) = looked_at(handle, [name])
    return one


def test_names_are_bounded(tmp_path: Path, handle: int) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_bytes(b"x")

    assert sorted(names(handle, 10)) == ["0.md", "1.md", "2.md", "3.md", "4.md"]
    assert len(names(handle, 3)) == 3


def test_a_name_that_is_gone_is_left_out(tmp_path: Path, handle: int) -> None:
    (tmp_path / "a.md").write_bytes(b"x")

    assert [one.name for one in looked_at(handle, ["a.md", "b.md"])] == ["a.md"]


def test_a_plain_file_is_read(tmp_path: Path, handle: int) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * LARGEST)

    assert unreadable(seen(handle, "a.md"), 0) is None
    assert read(handle, seen(handle, "a.md")) == b"x" * LARGEST


def test_what_is_no_plain_file_with_one_name_is_not_read(tmp_path: Path, handle: int) -> None:
    (tmp_path / "a.md").write_bytes(b"x")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "fifo.md")
    (tmp_path / "two.md").hardlink_to(tmp_path / "a.md")
    (tmp_path / "large.md").write_bytes(b"x" * (LARGEST + 1))

    def code(name: str, making: int = 0) -> str | None:
        found = unreadable(seen(handle, name), making)
        return found and found[0]

    assert {name: code(name) for name in sorted(os.listdir(tmp_path))} == {
        "a.md": "hard-link",
        "fifo.md": "not-a-file",
        "folder.md": "not-a-file",
        "large.md": "too-large",
        "link.md": "symlink",
        "two.md": "hard-link",
    }
    assert code("a.md", making=1) is None


def test_a_file_that_was_replaced_or_has_grown_since_is_not_read(tmp_path: Path, handle: int) -> None:
    (tmp_path / "a.md").write_bytes(b"x")
    before = seen(handle, "a.md")

    (tmp_path / "a.md").write_bytes(b"x" * (LARGEST + 1))
    assert read(handle, before)[0] == "too-large"

    (tmp_path / "b.md").write_bytes(b"y")
    os.replace(tmp_path / "b.md", tmp_path / "a.md")
    assert read(handle, before)[0] == "no-access"

    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").symlink_to("/etc/hostname")
    assert read(handle, before)[0] == "no-access"

    (tmp_path / "a.md").unlink()
    os.mkfifo(tmp_path / "a.md")
    assert read(handle, before)[0] == "no-access"


@pytest.mark.parametrize("step", ["one", "one/two"])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, step: str) -> None:
    (tmp_path / "elsewhere/two/three").mkdir(parents=True)
    if step == "one":
        (tmp_path / "one").symlink_to("elsewhere")
    else:
        (tmp_path / "one").mkdir()
        (tmp_path / "one/two").symlink_to("../elsewhere/two")

    with pytest.raises(OSError) as raised, opened(str(tmp_path), "one/two/three"):
        pass
    assert raised.value.errno in (errno.ELOOP, errno.ENOTDIR)


def test_a_folder_is_the_same_until_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "one/two").mkdir(parents=True)
    with opened(str(tmp_path), "one/two") as (_, before), opened(str(tmp_path), "one/two") as (_, after):
        assert before == after

    (tmp_path / "one/two").rename(tmp_path / "one/old")
    (tmp_path / "one/two").mkdir()
    with opened(str(tmp_path), "one/two") as (_, now):
        assert now != before


def test_what_a_promotion_has_in_the_making_is_no_change(tmp_path: Path, handle: int) -> None:
    (tmp_path / "a.md").write_bytes(b"x")
    (tmp_path / ".rpx-00.new").write_bytes(b"x")

    assert [one.name for one in told(looked_at(handle, [".rpx-00.new", "a.md"]))] == ["a.md"]
