"""The files of an import: each once, in order, and what cannot be read named."""

import os
from pathlib import Path

import pytest

from host.cli import gathering
from host.cli.gathering import Unusable, gather
from recall.files import LARGEST


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_a_folder_gives_its_markdown_files_in_order_and_a_named_file_itself(tmp_path: Path) -> None:
    make(tmp_path, "n/b.md", "n/a.MD", "n/sub/c.markdown", "n/.cursor/rules/d.mdc", "n/e.txt", "x.txt")
    make(tmp_path, "n/.git/no.md", "n/.obsidian/no.md", "n/node_modules/no.md")

    found = gather([tmp_path / "n", tmp_path / "x.txt"])

    assert [one.name for one in found] == ["n/a.MD", "n/b.md", "n/.cursor/rules/d.mdc", "n/sub/c.markdown", "x.txt"]
    assert next(one.read() for one in found) == b"n/a.MD"


def test_a_file_that_is_given_twice_is_taken_once(tmp_path: Path) -> None:
    make(tmp_path, "n/a.md")

    assert len(gather([tmp_path / "n" / "a.md", tmp_path / "n", tmp_path / "n" / ".." / "n"])) == 1


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "n/a.md", "secret.md", "other/b.md")
    (tmp_path / "n" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "n" / "folder").symlink_to(tmp_path / "other")

    found = {one.name: one for one in gather([tmp_path / "n"])}

    assert set(found) == {"n/a.md", "n/link.md"}
    with pytest.raises(Unusable, match="leads out"):
        found["n/link.md"].read()


def test_what_is_no_plain_file_or_gone_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    pipe, gone = gather([tmp_path / "pipe.md", tmp_path / "gone.md"])

    with pytest.raises(Unusable, match="No plain file"):
        pipe.read()
    with pytest.raises(Unusable, match="not there"):
        gone.read()


def test_a_file_or_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "n/a.md")

    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    def closed(top: Path, onerror: object) -> list[object]:
        assert callable(onerror)
        onerror(PermissionError(13, "Permission denied", str(top / "closed")))
        return []

    (file,) = gather([tmp_path / "n"])
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(gathering.os, "walk", closed)
    (folder,) = gather([tmp_path / "n"])

    for one in (file, folder):
        with pytest.raises(Unusable, match="cannot be read: Permission denied"):
            one.read()
    assert folder.name == "n/closed"


def test_no_more_of_a_file_is_read_than_shows_that_it_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * (LARGEST + 5))

    assert len(gather([tmp_path / "a.md"])[0].read()) == LARGEST + 1


def test_a_folder_without_an_end_is_refused_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_FILES", 2)
    make(tmp_path, "n/a.md", "n/b.md", "n/c.md")

    (one,) = gather([tmp_path / "n"])

    with pytest.raises(Unusable, match="more than 2 files"):
        one.read()
