"""What git tracks is read from its index, in every version of it, without running git."""

import subprocess
from pathlib import Path

import pytest

from host.setup.tracked import paths, tracked

NAMES = ["a.txt", "folder/a.txt", "folder/ab.txt", "folder/deeper/é.json", "z" * 70]


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, *options: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", *options, ".")
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_read(tmp_path: Path, version: str) -> None:
    shop = repository(tmp_path / "shop")
    git(shop, "add", ".")
    git(shop, "update-index", "--index-version", version)
    (shop / "planned").touch()
    git(shop, "add", "--intent-to-add", "planned")  # has the extended flags of version 3

    assert tracked(shop) == {*NAMES, "planned"}


def test_longer_names_of_objects_are_read(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", "--object-format=sha256")
    git(shop, "add", ".")

    assert tracked(shop) == set(NAMES)


def test_a_split_index_is_read_whole(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(shop, "add", "a.txt")
    git(shop, "update-index", "--split-index")
    git(shop, "add", ".")

    assert set(NAMES) <= tracked(shop)


def test_a_worktree_has_its_own(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(shop, "add", "a.txt")
    git(shop, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one")
    git(shop, "worktree", "add", "-q", str(tmp_path / "fix"))
    (tmp_path / "fix" / "more").touch()
    git(tmp_path / "fix", "add", "more")

    assert tracked(tmp_path / "fix") == {"a.txt", "more"} and tracked(shop) == {"a.txt"}


def test_what_is_no_repository_or_no_index_tracks_nothing(tmp_path: Path) -> None:
    assert tracked(tmp_path) == frozenset()
    shop = repository(tmp_path / "shop")
    assert tracked(shop) == frozenset()
    (shop / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\5 too short")
    assert tracked(shop) == frozenset()
    with pytest.raises(ValueError, match="no index"):
        list(paths(b"PACK" + bytes(8)))
