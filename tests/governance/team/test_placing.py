"""Files of the user's that something of ours goes into: no link is trusted, and nothing is overwritten unseen."""

import os
from pathlib import Path

import pytest

from governance.team import placing
from governance.team.disk import NEW, beside
from governance.team.errors import Kind, TeamFault
from governance.team.placing import Gathering, Place, Write
from tests.support.consolidating import FORMATS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = (tmp_path / "repository").resolve()
    (made / ".git").mkdir(parents=True)
    (made / ".git" / "config").write_text("[core]\n")
    (made / ".remora-pre" / "memory").mkdir(parents=True)
    (made / ".remora-pre" / "memory" / "doctrine.md").write_text("Test first.\n")
    return made


def place(root: Path, name: str = "CLAUDE.md") -> Place:
    return placing.place(Gathering(str(root)), name, FORMATS)


def put(root: Path, where: Place, data: bytes = b"ours\n") -> None:
    placing.put(Gathering(str(root)), [Write(place=where, data=data)], "assemble")


def conflict(root: Path, name: str = "CLAUDE.md") -> str:
    with pytest.raises(TeamFault) as fault:
        place(root, name)
    assert fault.value.kind is Kind.ASSEMBLY_CONFLICT
    return fault.value.problem


def test_a_name_that_is_free_is_made_with_its_folders(root: Path) -> None:
    put(root, place(root, ".claude/skills/a-pre/SKILL.md"))
    made = root / ".claude" / "skills" / "a-pre" / "SKILL.md"
    assert made.read_bytes() == b"ours\n"
    assert [path.name for path in made.parent.iterdir()] == ["SKILL.md"]


def test_a_file_keeps_its_mode_and_nothing_hidden_stays(root: Path) -> None:
    file = root / "CLAUDE.md"
    file.write_bytes(b"mine\n")
    file.chmod(0o600)
    put(root, place(root))
    assert file.read_bytes() == b"ours\n" and file.stat().st_mode & 0o777 == 0o600
    assert not [path for path in root.iterdir() if path.name.startswith(".rpx")]


def test_a_link_to_a_file_inside_is_followed(root: Path) -> None:
    (root / "AGENTS.md").write_bytes(b"mine\n")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert place(root).path == "AGENTS.md"
    put(root, place(root))
    assert (root / "CLAUDE.md").is_symlink() and (root / "AGENTS.md").read_bytes() == b"ours\n"


@pytest.mark.parametrize(
    "target", ["../outside.md", ".git/config", ".remora-pre/memory/doctrine.md", "nowhere.md", "CLAUDE.md", "folder"]
)
def test_a_link_that_leads_where_it_must_not_is_a_conflict(root: Path, target: str) -> None:
    (root.parent / "outside.md").write_text("theirs\n")
    (root / "folder").mkdir()
    (root / "CLAUDE.md").symlink_to(target)
    assert conflict(root)
    assert (root.parent / "outside.md").read_text() == "theirs\n"


def test_a_folder_that_is_a_link_out_of_the_worktree_is_a_conflict(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / ".claude").symlink_to(root.parent / "elsewhere")
    assert "out of the worktree" in conflict(root, ".claude/skills/a-pre/SKILL.md")


def test_what_is_no_plain_file_with_one_name_is_a_conflict(root: Path) -> None:
    os.mkfifo(root / "CLAUDE.md")
    assert conflict(root)
    (root / "AGENTS.md").write_text("mine\n")
    os.link(root / "AGENTS.md", root / "other.md")
    assert "hard link" in conflict(root, "AGENTS.md")


def test_a_file_that_changed_since_it_was_looked_at_is_not_replaced(root: Path) -> None:
    file = root / "CLAUDE.md"
    file.write_bytes(b"mine\n")
    seen = place(root)
    file.write_bytes(b"meanwhile\n")
    with pytest.raises(TeamFault) as fault:
        put(root, seen)
    assert fault.value.kind is Kind.ASSEMBLY_CONFLICT
    assert file.read_bytes() == b"meanwhile\n"
    assert not [path for path in root.iterdir() if path.name.startswith(".rpx")]


@pytest.mark.parametrize("saves", [1, 2])
def test_what_is_saved_between_the_look_and_the_renaming_stays(root: Path, saves: int) -> None:
    """An editor's save, which is a renaming too: at the swap, and with two at the swapping back as well."""
    file, renamed = root / "CLAUDE.md", 0
    file.write_bytes(b"mine\n")

    def saving(name: str) -> None:
        nonlocal renamed
        if name == "disk:rename" and renamed < saves:
            renamed += 1
            (root / "saved").write_bytes(b"saved %d\n" % renamed)
            (root / "saved").rename(file)

    with pytest.raises(TeamFault) as caught:
        placing.put(Gathering(str(root), saving), [Write(place=place(root), data=b"ours\n")], "assemble")
    assert caught.value.kind is Kind.ASSEMBLY_CONFLICT
    assert file.read_bytes() == b"saved %d\n" % saves
    assert not list(root.glob(".rpx-*"))


def test_where_nothing_can_be_swapped_it_is_renamed_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "CLAUDE.md").write_bytes(b"mine\n")
    monkeypatch.setattr(Gathering, "swap", lambda *_: False)
    put(root, place(root))
    assert (root / "CLAUDE.md").read_bytes() == b"ours\n" and not list(root.glob(".rpx-*"))


def test_a_file_that_was_made_since_is_not_replaced(root: Path) -> None:
    seen = place(root)
    (root / "CLAUDE.md").write_bytes(b"meanwhile\n")
    with pytest.raises(TeamFault):
        put(root, seen)
    assert (root / "CLAUDE.md").read_bytes() == b"meanwhile\n"


def test_what_a_run_that_was_killed_left_behind_is_written_over(root: Path) -> None:
    hidden = root / beside("CLAUDE.md", "assemble", f"assemble{NEW}")
    hidden.write_bytes(b"half")
    put(root, place(root))
    assert (root / "CLAUDE.md").read_bytes() == b"ours\n" and not hidden.exists()


def test_what_a_run_that_was_killed_left_behind_is_taken_away(root: Path) -> None:
    hidden = root / beside("CLAUDE.md", "assemble", f"assemble{NEW}")
    hidden.write_bytes(b"half")
    placing.drop_left(Gathering(str(root)), "CLAUDE.md", "assemble")
    placing.drop_left(Gathering(str(root)), "CLAUDE.md", "assemble")
    assert not hidden.exists()


def test_a_run_that_is_stopped_leaves_nothing_hidden_and_the_file_as_it_was(root: Path) -> None:
    (root / "CLAUDE.md").write_bytes(b"mine\n")

    def stop(name: str) -> None:
        if name == "disk:rename":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        placing.put(Gathering(str(root), stop), [Write(place=place(root), data=b"ours\n")], "assemble")
    assert (root / "CLAUDE.md").read_bytes() == b"mine\n"
    assert not [path for path in root.iterdir() if path.name.startswith(".rpx")]


def test_a_diff_tells_what_would_change(root: Path) -> None:
    (root / "CLAUDE.md").write_bytes(b"mine")
    told = placing.diff(Write(place=place(root), data=b"mine\nours\n"))
    assert told.splitlines() == [
        "--- a/CLAUDE.md",
        "+++ b/CLAUDE.md",
        "@@ -1 +1,2 @@",
        "-mine",
        "\\ No newline at end of file",
        "+mine",
        "+ours",
    ]


def test_many_files_are_flushed_together_and_all_of_them_are(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    flush = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (flushed.append(os.fstat(handle).st_ino), flush(handle))[1])
    writes = [Write(place=place(root, f".claude/skills/s{n}-pre/SKILL.md"), data=b"ours\n") for n in range(90)]
    placing.put(Gathering(str(root)), writes, "assemble")
    made = [root / write.place.path for write in writes]
    assert all(path.read_bytes() == b"ours\n" for path in made)
    wanted = {path.stat().st_ino for path in (*made, *(path.parent for path in made), root / ".claude" / "skills")}
    assert wanted <= set(flushed)


def test_files_are_on_the_disk_before_any_has_its_name(root: Path) -> None:
    steps: list[str] = []
    writes = [Write(place=place(root, name), data=b"ours\n") for name in ("CLAUDE.md", "AGENTS.md")]
    placing.put(Gathering(str(root), steps.append), writes, "assemble")
    named = steps.index("disk:rename")
    assert steps[:named].count("disk:write") == 2
