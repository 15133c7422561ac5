"""What was read of a memory is found by path, id and name."""

from governance.team.files import Doctrine, Scene, Skill
from governance.team.trees import DoctrineFile, EntryFile, SceneFile, SkillFile, Tree, TreeFault
from tests.support.builders import a_memory_id
from tests.support.team_entries import an_entry

AT = "2026-11-12T09:30:00.000Z"
ENTRY = EntryFile(path="m/entries/a.md", data=b"a", digest="1", entry=an_entry())
SCENE = SceneFile(
    path="m/scenes/release.md",
    data=b"s",
    digest="2",
    scene=Scene(name="release", created=AT, updated=AT, summary="x", heat=1, body="y"),
)
SKILL = SkillFile(
    path="m/skills/notes/SKILL.md", data=b"k", digest="3", skill=Skill(name="notes", description="x", body="y")
)
DOCTRINE = DoctrineFile(path="m/doctrine.md", data=b"d", digest="4", doctrine=Doctrine(body="d"))
BROKEN = TreeFault(path="m/entries/b.md", code="bom", problem="x", digest="5", data=b"b")
LINK = TreeFault(path="m/entries/c.md", code="symlink", problem="x")
TREE = Tree(folder="m", entries=(ENTRY,), scenes=(SCENE,), skills=(SKILL,), doctrine=DOCTRINE, faults=(BROKEN, LINK))


def test_files_are_found_by_what_they_are_called() -> None:
    assert TREE.entry(a_memory_id(1)) is ENTRY
    assert TREE.entry(a_memory_id(2)) is None
    assert TREE.ids() == {a_memory_id(1): ENTRY}
    assert (TREE.scene("release"), TREE.scene("other")) == (SCENE, None)
    assert (TREE.skill("notes"), TREE.skill("other")) == (SKILL, None)


def test_bytes_are_found_also_of_a_file_with_a_fault() -> None:
    every = (ENTRY, SCENE, SKILL, DOCTRINE, BROKEN)

    assert [TREE.bytes_of(one.path) for one in every] == [b"a", b"s", b"k", b"d", b"b"]
    assert TREE.bytes_of(LINK.path) is None
    assert TREE.bytes_of("m/entries/none.md") is None


def test_a_memory_that_is_not_there_is_empty_and_complete() -> None:
    assert Tree(folder="m").complete
    assert not Tree(folder="m").ids()
