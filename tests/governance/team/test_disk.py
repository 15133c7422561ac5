"""Nothing is reached through a link, nothing is written over, and what was done is on the disk."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from governance.team.disk import HOLD, LARGEST, NEW, UNDO, Disk, Odd, Plain, beside
from tests.support.promoting import at, tree

FILE = "memory/entries/one.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    real = Path(os.path.realpath(tmp_path)) / "repository"
    (real / FILE).parent.mkdir(parents=True)
    (real / FILE).write_bytes(b"one\n")
    return real


@pytest.fixture
def disk(root: Path) -> Disk:
    return Disk(str(root))


def cannot(*_: object) -> bool:
    return False


def no_links(point: str) -> None:
    if point == "disk:link":
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_hidden_names_stand_beside_their_target_and_are_each_step_s_own() -> None:
    names = [beside(path, plan, step) for path in (FILE, "a.md") for plan in ("p", "q") for step in (NEW, HOLD, UNDO)]

    assert len(set(names)) == 12
    assert all(Path(name).name.startswith(".rpx-") and len(Path(name).stem) == 5 + 32 for name in names)
    assert [Path(name).suffix for name in names[:3]] == [".new", ".hold", ".hold"]
    assert (Path(names[0]).parent, Path(names[-1]).parent) == (Path(FILE).parent, Path("."))


def test_a_file_is_seen_as_it_is(disk: Disk, root: Path) -> None:
    seen = disk.look(FILE)
    assert isinstance(seen, Plain) and (seen.data, seen.links) == (b"one\n", 1)

    assert (disk.look("memory/none.md"), disk.look("none/none.md")) == (None, None)


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.symlink_to("one.md"), "link"),
        (os.mkfifo, "not-a-file"),
        (Path.mkdir, "not-a-file"),
        (_large, "too-large"),
    ],
)
def test_what_is_no_plain_file_is_told_and_not_waited_for(
    disk: Disk, root: Path, make: Callable[[Path], object], reason: str
) -> None:
    make((root / FILE).with_name("odd.md"))

    assert disk.look("memory/entries/odd.md") == Odd(reason=reason)


@pytest.mark.parametrize("where", ["memory", "memory/entries"])
def test_nothing_is_reached_through_a_folder_that_is_a_link(disk: Disk, root: Path, where: str) -> None:
    outside = root.parent / "outside"
    (root / where).rename(outside)
    (root / where).symlink_to(outside)
    before = tree(root.parent)

    assert disk.look(FILE) == Odd(reason="link")
    for act in (
        lambda: disk.write(beside(FILE, "p", NEW), b"", 0o644),
        lambda: disk.capture(FILE, beside(FILE, "p", HOLD)),
        lambda: disk.put_back(FILE, "memory/entries/two.md"),
        lambda: disk.link(FILE, "memory/entries/two.md"),
        lambda: disk.drop(FILE),
        lambda: disk.make_folder("memory/entries/deep"),
        lambda: disk.missing(FILE),
        lambda: disk.can_name_freely(FILE, "p"),
    ):
        with pytest.raises(OSError) as refused:
            act()
        assert refused.value.errno in (errno.ELOOP, errno.ENOTDIR)
    assert tree(root.parent) == before


def test_a_top_that_is_reached_through_a_link_is_none(root: Path) -> None:
    moved = root.with_name("moved")
    root.rename(moved)
    root.symlink_to(moved)

    assert Disk(str(root)).look(FILE) == Odd(reason="link")


@pytest.mark.parametrize("path", ["../one.md", "memory/../../one.md", "/etc/hosts", "."])
def test_a_path_does_not_leave_its_repository(disk: Disk, path: str) -> None:
    with pytest.raises(NotADirectoryError):
        disk.drop(path)


def test_a_file_is_made_only_where_there_is_none(disk: Disk, root: Path) -> None:
    disk.write("memory/entries/two.md", b"two\n", 0o640)

    assert ((root / "memory/entries/two.md").stat().st_mode & 0o777) == 0o640
    with pytest.raises(FileExistsError):
        disk.write(FILE, b"other\n", 0o644)
    assert (root / FILE).read_bytes() == b"one\n"


def test_a_file_that_could_not_be_written_whole_is_gone(root: Path) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space"):
        Disk(str(root), at("disk:write", full)).write("memory/entries/two.md", b"two\n", 0o644)
    assert list(tree(root)) == [FILE]


def test_the_folders_that_are_missing_are_told_and_made_one_by_one(disk: Disk, root: Path) -> None:
    assert disk.missing(FILE) == ()
    gone = disk.missing("memory/skills/one/SKILL.md")
    assert gone == ("memory/skills", "memory/skills/one")

    for folder in (*gone, *gone):
        disk.make_folder(folder)
    assert disk.missing("memory/skills/one/SKILL.md") == ()
    disk.drop_folder("memory/skills")
    assert (root / gone[1]).is_dir()  # one that holds something stays
    for folder in reversed(gone):
        disk.drop_folder(folder)
    assert not (root / gone[0]).exists()


@pytest.mark.parametrize("rename", [None, cannot])
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_whatever_is_captured_can_be_put_back(
    root: Path, rename: Callable[..., bool] | None, links: bool, what: str
) -> None:
    disk = Disk(str(root), fault=_as(links), **({} if rename is None else {"rename": rename}))
    target, hold = "memory/entries/odd", "memory/entries/.hold"
    place = root / target
    {"file": lambda: place.write_bytes(b"x"), "folder": place.mkdir, "link": lambda: place.symlink_to("a")}[what]()

    disk.capture(target, hold)
    assert not os.path.lexists(place)
    disk.put_back(hold, target)
    assert os.path.lexists(place) and not os.path.lexists(root / hold)


def _as(links: bool) -> Callable[[str], None]:
    return (lambda point: None) if links else no_links


@pytest.mark.parametrize("rename", [None, cannot])
def test_a_name_that_is_taken_is_left(root: Path, rename: Callable[..., bool] | None) -> None:
    disk = Disk(str(root), **({} if rename is None else {"rename": rename}))
    (root / "memory/entries/two.md").write_bytes(b"two\n")
    before = tree(root)

    for act in (disk.capture, disk.put_back, disk.link):
        with pytest.raises(FileExistsError):
            act(FILE, "memory/entries/two.md")
    assert tree(root) == before


def test_without_links_a_file_is_given_its_name_alone(root: Path) -> None:
    disk = Disk(str(root), no_links)

    assert disk.can_name_freely(FILE, "p")
    disk.link(FILE, "memory/entries/two.md")
    assert tree(root) == {"memory/entries/two.md": b"one\n"}


def test_a_file_system_that_can_do_neither_is_found_out_beforehand(root: Path) -> None:
    disk = Disk(str(root), no_links, cannot)

    assert not disk.can_name_freely(FILE, "p")
    with pytest.raises(OSError, match="neither links"):
        disk.link(FILE, "memory/entries/two.md")
    assert tree(root) == {FILE: b"one\n"}


def test_a_probe_leaves_nothing_and_what_a_killed_one_left_is_taken_away(disk: Disk, root: Path) -> None:
    def die(point: str) -> None:
        if point == "disk:link":
            raise KeyboardInterrupt

    assert disk.can_name_freely("memory/skills/one/SKILL.md", "p")
    assert list(tree(root)) == [FILE]
    (root / beside(FILE, "p", "probe")).write_bytes(b"")
    disk.drop_probe(FILE, "p")
    assert list(tree(root)) == [FILE]


def test_what_is_gone_already_may_be_dropped(disk: Disk, root: Path) -> None:
    disk.drop(FILE)
    disk.drop(FILE)

    assert disk.look(FILE) is None


def test_what_stands_there_and_a_hidden_file_are_swapped(disk: Disk, root: Path) -> None:
    (root / "a.md").write_bytes(b"theirs")
    (root / ".hidden").write_bytes(b"ours")

    assert disk.swap(".hidden", "a.md")
    assert ((root / "a.md").read_bytes(), (root / ".hidden").read_bytes()) == (b"ours", b"theirs")
