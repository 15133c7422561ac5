"""Which root a path belongs to, what may have changed, and which roots are followed."""

from pathlib import Path

import pytest

from recall.adopted import DAY_SECONDS, HOUR_SECONDS, Adopted, add, take_away
from recall.contracts import Origin
from recall.documents import stamp
from recall.entries import Root
from recall.intake import place_of, placed
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.library import write_records


def put(adopted: Adopted, path: Path, now: float = 0.0, **fields: object) -> bool:
    given = {"path": str(path), "scope": a_workspace_scope(), "origin": Origin.USER} | fields
    root = Root(**given)  # type: ignore[arg-type]
    return adopted.put(root, place_of(root.path), now)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A root with another one inside, and a single file beside them."""
    write_records(tmp_path / "memory" / "a.md", [a_memory(memory_id=a_memory_id(1))])
    write_records(tmp_path / "memory" / "inner" / "b.md", [a_memory(memory_id=a_memory_id(2))])
    (tmp_path / "CLAUDE.md").write_text("# Build\nmake\n")
    return tmp_path


@pytest.fixture
def adopted(folder: Path) -> Adopted:
    adopted = Adopted()
    for path in ("memory", "memory/inner", "CLAUDE.md"):
        put(adopted, folder / path)
    return adopted


def test_a_root_is_the_same_as_long_as_nothing_else_is_said_of_it(folder: Path) -> None:
    adopted = Adopted()

    assert [put(adopted, folder / "memory"), put(adopted, folder / "memory")] == [False, True]
    assert put(adopted, folder / "memory", scope=a_user_scope()) is False
    assert adopted.get(str(folder / "memory")) is not None and adopted.get("/elsewhere") is None
    assert adopted.paths() == [str(folder / "memory")]


def test_a_file_belongs_to_the_innermost_root(adopted: Adopted, folder: Path) -> None:
    found = [adopted.find(str(folder / path)) for path in ("memory/a.md", "memory/inner/b.md", "CLAUDE.md")]

    assert found == [
        (str(folder / "memory"), "a.md"),
        (str(folder / "memory" / "inner"), "b.md"),
        (str(folder / "CLAUDE.md"), "CLAUDE.md"),
    ]
    assert [adopted.find(path) for path in ("", "a\0b", "/", str(folder / "other.md"))] == [None] * 4


def test_paths_are_files_of_roots_or_whole_roots(adopted: Adopted, folder: Path) -> None:
    memory, inner = str(folder / "memory"), str(folder / "memory" / "inner")

    assert adopted.named([f"{memory}/a.md", f"{memory}/new.md"]) == {memory: {"a.md", "new.md"}}
    assert adopted.named([f"{inner}/b.md"]) == {memory: {"inner/b.md"}, inner: {"b.md"}}
    assert adopted.named([inner]) == {memory: None, inner: None}
    assert adopted.named([f"{memory}/gone"]) == {memory: None}  # it may have been a folder
    assert adopted.named([f"{memory}/.git/x.md", f"{memory}/notes.txt", "", "/elsewhere.md"]) == {}
    assert adopted.named([str(folder / "CLAUDE.md")]) == {str(folder / "CLAUDE.md"): None}


def test_what_has_another_stamp_may_have_changed(adopted: Adopted, folder: Path) -> None:
    memory = str(folder / "memory")
    seen = [(memory, "a.md", stamp(memory, "a.md") or ""), (memory, "inner/b.md", "old"), ("/elsewhere", "c.md", "s")]

    assert adopted.changed(seen) == {memory: {"inner/b.md"}}
    (folder / "memory").rename(folder / "away")
    assert adopted.changed(seen) == {}  # a root that is missing changes nothing


def test_digests_are_read_from_the_file_itself(adopted: Adopted, folder: Path) -> None:
    assert list(adopted.digests_in(str(folder / "memory" / "a.md"))) == [a_memory_id(1)]
    assert adopted.digests_in(str(folder / "memory" / "gone.md")) == {} == adopted.digests_in("/elsewhere.md")


def test_folders_are_watched_and_the_rest_is_looked_at_by_the_tick(adopted: Adopted, folder: Path) -> None:
    put(adopted, folder / "later")
    assert adopted.folders() == {str(folder / "memory"), str(folder / "memory" / "inner")}

    (folder / "CLAUDE.md").write_text("# Build\nmake all\n")
    (folder / "later").mkdir()

    assert adopted.by_tick() == [str(folder / "CLAUDE.md"), str(folder / "later")]
    assert adopted.by_tick() == []


def test_a_root_that_nobody_asks_for_is_let_go_and_known_all_the_same(adopted: Adopted, folder: Path) -> None:
    memory = str(folder / "memory")
    put(adopted, folder / "gone")
    put(adopted, folder / "memory", now=HOUR_SECONDS)

    adopted.let_go(HOUR_SECONDS + 1)
    assert len(adopted.followed()) == 3 and str(folder / "gone") not in adopted.followed()
    adopted.let_go(DAY_SECONDS + 1)

    assert adopted.followed() == [memory] and adopted.folders() == {memory}
    assert adopted.find(str(folder / "CLAUDE.md")) is not None
    assert put(adopted, folder / "CLAUDE.md") is False  # asked for again: looked at again


def test_asking_for_more_keeps_what_was_asked() -> None:
    asked: dict[str, set[str] | None] = {}
    add(asked, {"one": ["a"], "two": None})
    add(asked, {"one": ["b"], "two": ["c"], "three": []})

    assert asked == {"one": {"a", "b"}, "two": None, "three": set()}


def test_what_is_done_is_asked_for_no_more() -> None:
    asked: dict[str, set[str] | None] = {"one": {"a", "b"}, "two": None, "three": {"c"}, "four": {"d"}}

    take_away(asked, {"one": ["a"], "two": ["x"], "three": None, "four": ["d"], "five": None})

    assert asked == {"one": {"b"}, "two": None}


def test_a_repository_without_its_memory_folder_has_changed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    root = Root(path=str(tmp_path / "m"), scope=a_workspace_scope(), origin=Origin.IMPORTED, inside=str(tmp_path))
    place = placed(root)
    assert place is not None
    adopted = Adopted()
    adopted.put(root, place, 0.0)

    assert adopted.changed([(place.path, "a.md", "seen")]) == {place.path: {"a.md"}}


def test_what_goes_right_after_it_was_looked_at_is_news_though_no_tick_saw_it(tmp_path: Path) -> None:
    adopted, folder = Adopted(), tmp_path / "memory"
    put(adopted, folder)
    folder.mkdir()

    adopted.looks(str(folder), whole=False)
    folder.rmdir()

    assert adopted.by_tick() == [str(folder)]
    folder.mkdir()
    adopted.by_tick()
    folder.rmdir()
    adopted.looks(str(folder), whole=False)  # of one file of it: the others are owed
    assert adopted.by_tick() == [str(folder)]
    folder.mkdir()
    adopted.looks(str(folder), whole=True)
    assert adopted.by_tick() == []
    adopted.looks("/elsewhere", whole=True)
