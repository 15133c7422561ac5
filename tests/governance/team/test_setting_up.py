"""The repository's part of `init`: what is missing is made, and nothing of the user's is taken away."""

import os
from pathlib import Path

import pytest

from governance.team import setting_up
from governance.team.contracts.base import Bound
from governance.team.disk import Disk
from governance.team.errors import Kind, TeamFault
from governance.team.setting_up import LARGEST, initialised, set_up
from governance.team.tree import read_tree
from tests.support.team_recall import FORMATS, a_bound

MADE = (
    ".remora-pre",
    ".remora-pre/memory",
    ".remora-pre/memory/index.json",
    ".remora-pre/.gitignore",
    ".remora-pre/.gitattributes",
)


@pytest.fixture
def bound(tmp_path: Path) -> Bound:
    return a_bound(str(tmp_path.resolve()))


async def test_it_makes_what_is_missing_and_then_nothing_more(bound: Bound) -> None:
    folder = Path(bound.root) / ".remora-pre"

    assert await set_up(bound, FORMATS) == MADE
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert await set_up(bound, FORMATS) == ()

    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert (folder / "memory" / "index.json").read_text() == '{"format":"remora-pre-memory-index@v1"}\n'
    assert (folder / ".gitignore").read_text() == ".rpx-*\n"
    assert (folder / ".gitattributes").read_text() == "memory/** text eol=lf\n"
    assert read_tree(bound.root, FORMATS.memory_root).faults == ()


@pytest.mark.parametrize("there", [b"", b"*.tmp\n", b"*.tmp", b"# ours\r\n*.tmp\r\n"])
async def test_the_users_lines_stay(bound: Bound, there: bytes) -> None:
    ignore = Path(bound.root) / ".remora-pre" / ".gitignore"
    ignore.parent.mkdir()
    ignore.write_bytes(there)
    os.chmod(ignore, 0o600)

    made = await set_up(bound, FORMATS)

    assert ".remora-pre/.gitignore" in made
    assert ignore.read_bytes().startswith(there) and ignore.read_bytes().splitlines()[-1] == b".rpx-*"
    assert ignore.stat().st_mode & 0o777 == 0o600
    assert await set_up(bound, FORMATS) == ()


async def test_an_index_of_another_make_is_left_alone(bound: Bound) -> None:
    index = Path(bound.root) / ".remora-pre" / "memory" / "index.json"
    index.parent.mkdir(parents=True)
    index.write_bytes(b"{}")

    assert ".remora-pre/memory/index.json" not in await set_up(bound, FORMATS)
    assert index.read_bytes() == b"{}"


@pytest.mark.parametrize("name", [".remora-pre", ".remora-pre/memory", ".remora-pre/.gitignore"])
async def test_a_link_in_the_way_is_refused_and_what_it_leads_to_is_untouched(
    bound: Bound, tmp_path: Path, name: str
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    link = Path(bound.root) / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "file" if name.endswith("ignore") else outside)
    if name.endswith("ignore"):
        (outside / "file").write_bytes(b"")

    with pytest.raises(TeamFault) as caught:
        await set_up(bound, FORMATS)

    assert caught.value.kind is Kind.TARGET_PATH_INVALID
    assert [path.read_bytes() for path in outside.rglob("*")] == ([b""] if name.endswith("ignore") else [])


async def test_what_is_no_file_or_has_two_names_or_is_huge_is_refused(bound: Bound) -> None:
    ignore = Path(bound.root) / ".remora-pre" / ".gitignore"
    ignore.parent.mkdir()
    for made in (ignore.mkdir, lambda: os.mkfifo(ignore), lambda: ignore.write_bytes(b"x\n" * LARGEST)):
        made()
        with pytest.raises(TeamFault, match="gitignore"):
            await set_up(bound, FORMATS)
        ignore.rmdir() if ignore.is_dir() else ignore.unlink()
    ignore.write_bytes(b"*.tmp\n")
    os.link(ignore, Path(bound.root) / "other-name")
    with pytest.raises(TeamFault, match="gitignore"):
        await set_up(bound, FORMATS)


async def test_a_worktree_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(TeamFault) as caught:
        await set_up(a_bound(str(tmp_path.resolve() / "gone")), FORMATS)

    assert caught.value.kind is Kind.IO_ERROR
    assert caught.value.next_step


async def test_a_file_is_made_whole_and_what_a_kill_left_goes(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at the naming: the name is free still, not taken by half a line."""
    ignore = Path(bound.root) / ".remora-pre" / ".gitignore"

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Disk, "put_back", killed)
        with pytest.raises(KeyboardInterrupt):
            setting_up._set_up(bound, FORMATS)
    left = list(Path(bound.root).rglob(".rpx-*"))
    assert left and not ignore.exists()

    setting_up.tidied(bound.root, FORMATS)
    assert not list(Path(bound.root).rglob(".rpx-*"))
    await set_up(bound, FORMATS)
    assert ignore.read_text() == ".rpx-*\n"


async def test_a_file_that_was_made_at_that_moment_stays(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    index, write = Path(bound.root) / ".remora-pre" / "memory" / "index.json", Disk.write

    def meanwhile(disk: Disk, path: str, data: bytes, mode: int) -> None:
        write(disk, path, data, mode)
        index.write_bytes(b"theirs")

    monkeypatch.setattr(Disk, "write", meanwhile)
    with pytest.raises(TeamFault) as caught:
        await set_up(bound, FORMATS)
    assert caught.value.kind is Kind.TARGET_DRIFT
    assert index.read_bytes() == b"theirs" and not list(index.parent.glob(".rpx-*"))


def test_the_answer_is_a_document() -> None:
    assert initialised(FORMATS, MADE, None, 3).format == "remora-pre-initialised@v1"
