"""The memory of a repository is read whole, or it is said what is missing; nothing outside of it is read at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from governance.team import tree as reading
from governance.team.errors import Kind, TeamFault
from governance.team.files import MOST_ENTRIES, MOST_SKILLS, Doctrine, Scene, Skill, render_scene, render_skill
from governance.team.tree import MOST_NAMES, Tree, read_tree
from recall.canonical import bytes_digest
from recall.team_entry import render
from tests.support.builders import a_memory_id
from tests.support.team_entries import an_entry, path_of, write_entry

FOLDER = ".remora-pre/memory"
AT = "2026-11-12T09:30:00.000Z"
SCENE = Scene(name="release", created=AT, updated=AT, summary="How we publish", heat=3, body="From main.")
SKILL = Skill(name="release-notes", description="Write them", body="1. Read the log.")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with one of each."""
    write_entry(tmp_path, an_entry())
    for path, data in (
        ("scenes/release.md", render_scene(SCENE)),
        ("skills/release-notes/SKILL.md", render_skill(SKILL)),
        ("doctrine.md", b"Be exact.\n"),
        ("index.json", b'{"format":"remora-pre-memory-index@v1"}\n'),
    ):
        (tmp_path / FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / FOLDER / path).write_bytes(data)
    return tmp_path


def read(top: Path) -> Tree:
    return read_tree(str(top), FOLDER)


def faults(tree: Tree) -> dict[str, str]:
    return {fault.path.removeprefix(f"{FOLDER}/"): fault.code for fault in tree.faults}


def test_everything_that_a_memory_holds_is_read(top: Path) -> None:
    tree = read(top)

    assert [one.entry for one in tree.entries] == [an_entry()]
    assert [one.path for one in tree.entries] == [path_of(an_entry())]
    assert [one.scene for one in tree.scenes] == [SCENE]
    assert [one.skill for one in tree.skills] == [SKILL]
    assert tree.doctrine is not None and tree.doctrine.doctrine == Doctrine(body="Be exact.")
    assert tree.index == (top / FOLDER / "index.json").read_bytes()
    assert (tree.faults, tree.complete, tree.problem, tree.files, tree.folder) == ((), True, "", 5, FOLDER)
    for one in (*tree.entries, *tree.scenes, *tree.skills, tree.doctrine):
        assert one.data == (top / one.path).read_bytes()
        assert one.digest == bytes_digest(one.data)


def test_a_repository_without_a_memory_has_an_empty_one(tmp_path: Path) -> None:
    assert read(tmp_path) == Tree(folder=FOLDER)
    (tmp_path / FOLDER).mkdir(parents=True)
    assert read(tmp_path) == Tree(folder=FOLDER)


def test_entries_can_be_passed_over(top: Path) -> None:
    (top / FOLDER / "entries/broken.md").write_bytes(b"x")

    tree = read_tree(str(top), FOLDER, entries=False)

    assert (tree.entries, tree.faults, tree.complete, tree.files) == ((), (), True, 4)
    assert [one.scene for one in tree.scenes] == [SCENE]


def test_the_digest_is_of_paths_and_bytes(top: Path) -> None:
    first = read(top).tree_digest
    (top / FOLDER / "doctrine.md").write_bytes(b"Be exact!\n")
    second = read(top).tree_digest
    (top / FOLDER / "doctrine.md").write_bytes(b"Be exact.\n")
    (top / FOLDER / "notes.txt").write_bytes(b"mine")
    third = read(top).tree_digest
    entry = top / path_of(an_entry())
    entry.rename(entry.with_name("renamed.md"))

    assert first == third
    assert len({first, second, read(top).tree_digest}) == 3


def test_a_file_with_a_fault_is_reported_with_its_bytes_and_keeps_no_other_from_being_read(top: Path) -> None:
    path = f"{FOLDER}/entries/broken.md"
    (top / path).write_bytes(b"---\nid: x\r\n---\n")

    tree = read(top)

    (fault,) = tree.faults
    assert (fault.path, fault.code, fault.line) == (path, "cr", 2)
    assert fault.data == (top / path).read_bytes()
    assert tree.bytes_of(path) == fault.data
    assert len(tree.entries) == 1
    assert tree.complete


def test_an_id_that_is_there_twice_is_in_no_file(top: Path) -> None:
    write_entry(top, an_entry("Another text."))

    tree = read(top)

    assert tree.entries == ()
    assert sorted(faults(tree).values()) == ["duplicate-id", "duplicate-id"]
    assert all(fault.data for fault in tree.faults)


def _hidden(top: Path) -> None:
    for name in (".rpx-0123.new", ".rpx-0123.hold", ".DS_Store", ".a.md.swp", "a.md.lock", "notes.txt"):
        (top / FOLDER / "entries" / name).write_bytes(b"x")
    (top / FOLDER / "notes.md").write_bytes(b"a person's")
    (top / FOLDER / ".rpx-0123.new").write_bytes(b"x")


def test_files_of_others_beside_ours_are_nobodys_business(top: Path) -> None:
    before = read(top)
    _hidden(top)

    assert read(top) == before


def test_a_file_that_a_promotion_is_about_to_finish_is_read(top: Path) -> None:
    """Between its link and its unlink a new file has two names, both in its folder. A third is somebody's."""
    entry = top / path_of(an_entry())
    (entry.parent / ".rpx-0123.new").hardlink_to(entry)
    assert len(read(top).entries) == 1

    (top / "elsewhere").hardlink_to(entry)
    assert faults(read(top)) == {f"entries/{entry.name}": "hard-link"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("entries/.git", "git-look-alike"),
        ("entries/.GIT", "git-look-alike"),
        ("entries/git~1", "git-look-alike"),
        ("entries/.g\u200cit", "git-look-alike"),
        ("Entries", "look-alike"),
        ("DOCTRINE.md", "look-alike"),
        (".git", "git-look-alike"),
        ("entries/cafe\u0301.md", "bad-name"),
        ("entries/A.MD", "bad-name"),
        ("entries/-rf.md", "bad-name"),
        ("entries/con.md", "bad-name"),
        ("entries/AGENTS.md", "bad-name"),
        ("entries/a*.md", "bad-name"),
        ("entries/folder.md", "not-a-file"),
        ("entries/folder", "not-read"),
        ("skills/Upper", "bad-value"),
    ],
)
def test_a_name_that_passes_for_another_is_reported_and_not_entered(top: Path, name: str, code: str) -> None:
    made = top / FOLDER / name
    if made.name.casefold().endswith(".md") and made.name not in ("folder.md", "DOCTRINE.md"):
        made.write_bytes(render(an_entry("Hostile.", 2)))
    else:
        made.mkdir()
        (made / "SKILL.md").write_bytes(b"---\nname: Upper\ndescription: x\n---\nHostile.\n")

    tree = read(top)

    assert code in faults(tree).values()
    assert len(tree.entries) == 1
    assert len(tree.skills) == 1
    assert tree.complete


def test_names_that_some_system_takes_for_one_are_both_out(top: Path) -> None:
    for number, name in enumerate(("straße.md", "STRASSE.md"), start=2):
        (top / FOLDER / "entries" / name).write_bytes(render(an_entry("Hostile.", number)))

    tree = read(top)

    assert faults(tree) == {"entries/straße.md": "look-alike", "entries/STRASSE.md": "look-alike"}
    assert [one.entry.id for one in tree.entries] == [a_memory_id(1)]


def test_a_name_that_is_no_text_is_reported(top: Path) -> None:
    with open(os.fsencode(top / FOLDER / "entries") + b"/\xff\xfe.md", "wb"):
        pass

    tree = read(top)

    assert list(faults(tree).values()) == ["bad-name"]
    tree.faults[0].path.encode()


@pytest.mark.parametrize("step", [".remora-pre", ".remora-pre/memory"])
def test_a_link_on_the_way_to_the_memory_is_refused(top: Path, step: str) -> None:
    (top / step).rename(top / "elsewhere")
    (top / step).symlink_to(top / "elsewhere")

    with pytest.raises(TeamFault) as raised:
        read(top)
    assert raised.value.kind is Kind.TARGET_PATH_INVALID
    assert raised.value.next_step


def test_a_file_on_the_way_to_the_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".remora-pre").write_bytes(b"x")

    with pytest.raises(TeamFault) as raised:
        read(tmp_path)
    assert raised.value.kind is Kind.TARGET_PATH_INVALID


@pytest.mark.parametrize("name", ["entries", "scenes", "skills"])
def test_a_folder_that_is_a_link_makes_the_tree_incomplete(top: Path, name: str) -> None:
    (top / FOLDER / name).rename(top / "elsewhere")
    (top / FOLDER / name).symlink_to(top / "elsewhere")

    tree = read(top)

    assert faults(tree) == {name: "symlink"}
    assert not tree.complete
    assert tree.problem


def test_a_skill_behind_a_link_is_missing_and_nothing_else(top: Path) -> None:
    (top / FOLDER / "skills/release-notes").rename(top / "elsewhere")
    (top / FOLDER / "skills/release-notes").symlink_to(top / "elsewhere")

    tree = read(top)

    assert faults(tree) == {"skills/release-notes": "symlink"}
    assert (tree.skills, len(tree.entries), tree.complete) == ((), 1, True)


def test_of_a_skill_only_its_own_file_is_read(top: Path) -> None:
    (top / FOLDER / "skills/release-notes/run.sh").write_bytes(b"rm -rf /")

    tree = read(top)

    assert faults(tree) == {"skills/release-notes/run.sh": "not-read"}
    assert len(tree.skills) == 1


@pytest.mark.parametrize("bound", ["MOST_NAMES", "MOST_ENTRIES", "MOST_BYTES"])
def test_beyond_a_bound_the_tree_is_incomplete(top: Path, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    for number in range(2, 12):
        write_entry(top, an_entry(f"Fact {number}.", number))
    assert read(top).complete
    monkeypatch.setattr(reading, bound, 1_500 if bound == "MOST_BYTES" else 9)

    tree = read(top)

    assert not tree.complete
    assert len(tree.entries) < 11
    assert f"too-many-{bound.removeprefix('MOST_').lower()}" in faults(tree).values()
    assert (MOST_NAMES, MOST_ENTRIES, MOST_SKILLS) == (10_000, 4_096, 256)


def _edited(top: Path) -> None:
    (top / path_of(an_entry())).write_bytes(render(an_entry(priority=1)))


def _added(top: Path) -> None:
    write_entry(top, an_entry("Another.", 2))


def _removed(top: Path) -> None:
    (top / path_of(an_entry())).unlink()


def _replaced(top: Path) -> None:
    (top / FOLDER).rename(top / "old")
    (top / FOLDER).mkdir()


@pytest.mark.parametrize("change", [_edited, _added, _removed, _replaced])
def test_a_memory_that_changes_while_it_is_read_is_incomplete(
    top: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    whole = reading.read
    changes = [change]

    def meanwhile(folder: int, seen: reading.Seen) -> bytes | tuple[str, str]:
        data = whole(folder, seen)
        if changes and seen.name not in ("doctrine.md", "index.json"):
            changes.pop()(top)
        return data

    monkeypatch.setattr(reading, "read", meanwhile)
    tree = read(top)

    assert not tree.complete
    assert "changed" in faults(tree).values() or "changed" in [fault.code for fault in tree.faults]
    assert read(top).complete
