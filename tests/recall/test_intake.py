"""A look at a root names what changed and reads nothing; taking in reads only that."""

import os
from pathlib import Path

import pytest

from recall.canonical import bytes_digest
from recall.contracts import Origin
from recall.documents import stamp
from recall.entries import Place, Root
from recall.indexing import KnownFile
from recall.intake import (
    BATCH_BYTES,
    BATCH_FILES,
    Look,
    below,
    changed_since,
    emptied,
    lies_within,
    look,
    passed,
    place_of,
    placed,
    still_gone,
    take,
)
from tests.support.builders import a_memory, a_workspace_scope
from tests.support.library import write_records

ROOT = Root(path="/memory", scope=a_workspace_scope(), origin=Origin.USER)


def known(folder: Path, name: str, **fields: object) -> KnownFile:
    given = {"id": 1, "digest": bytes_digest((folder / name).read_bytes()), "version": 1, "refused": None}
    return KnownFile(**(given | {"stamp": stamp(str(folder), name)} | fields))


def test_a_place_is_a_folder_or_one_file_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / ".cursorrules").write_text("rules")
    (tmp_path / "link").symlink_to(tmp_path / "memory")
    top = str(tmp_path)

    assert place_of(f"{top}/link") == Place(path=f"{top}/memory", folder=f"{top}/memory")
    assert place_of(f"{top}/.cursorrules") == Place(path=f"{top}/.cursorrules", folder=top, file=".cursorrules")
    assert place_of(f"{top}/CLAUDE.md").file == "CLAUDE.md"  # not there yet
    assert place_of(f"{top}/missing").file is None
    assert place_of(f"{top}/memory", f"{top}/link").top == f"{top}/memory"


def test_a_path_is_below_a_root_when_it_really_is(tmp_path: Path) -> None:
    folder = place_of(str(tmp_path))
    (tmp_path / "out").symlink_to("/")
    single = place_of(str(tmp_path / "CLAUDE.md"))

    assert below(str(tmp_path / "sub" / "a.md"), folder) == "sub/a.md"
    assert below(f"{tmp_path}/sub/../a.md", folder) == "a.md"
    assert [below(path, folder) for path in (f"{tmp_path}x/a.md", str(tmp_path / "out" / "a.md"), "", "\0")] == [
        None
    ] * 4
    assert below(str(tmp_path / "CLAUDE.md"), single) == "CLAUDE.md" and below(str(tmp_path / "b.md"), single) is None
    assert lies_within(str(tmp_path / "sub"), str(tmp_path)) and not lies_within(str(tmp_path / "out"), str(tmp_path))


def test_a_look_compares_stamps(tmp_path: Path) -> None:
    for name in ("same.md", "changed.md", "new.md"):
        write_records(tmp_path / name, [a_memory()])
    place = place_of(str(tmp_path))
    index = {
        "same.md": known(tmp_path, "same.md"),
        "changed.md": known(tmp_path, "changed.md", stamp="other"),
        "gone.md": known(tmp_path, "same.md"),
    }

    assert look(place, index, None) == Look(news=(("changed.md", "new.md"),), gone=("gone.md",))
    assert look(place, index, ["same.md", "gone.md"]) == Look(news=(("same.md",),), gone=("gone.md",))
    assert not look(place, {name: known(tmp_path, name) for name in ("same.md", "changed.md", "new.md")}, None)
    assert look(place_of(str(tmp_path / "missing")), index, None) is None


def test_scenes_doctrine_and_skills_in_a_folder_of_ours_are_no_records(tmp_path: Path) -> None:
    for name in ("a.md", "persona.md", "doctrine.md", "scenes/s.md", "skills/x/SKILL.md", "deep/scenes/kept.md"):
        write_records(tmp_path / name, [a_memory()])
    ours = placed(Root(path=str(tmp_path), scope=a_workspace_scope(), origin=Origin.USER))
    products = placed(
        Root(path=str(tmp_path), scope=a_workspace_scope(), origin=Origin.IMPORTED, provider="claude-memory")
    )
    assert ours is not None and products is not None

    assert look(ours, {}, None) == Look(news=(("a.md", "deep/scenes/kept.md"),))
    assert look(ours, {}, ["scenes/s.md", "a.md"]) == Look(news=(("a.md",),))
    seen = look(products, {}, None)
    assert seen is not None and seen.count() == 6
    once = {"scenes/s.md": known(tmp_path, "scenes/s.md"), "a.md": known(tmp_path, "a.md")}
    assert look(ours, once, None) == Look(news=(("deep/scenes/kept.md",),), gone=("scenes/s.md",))


def test_news_comes_in_batches_of_bounded_number_and_size(tmp_path: Path) -> None:
    for number in range(BATCH_FILES + 2):
        (tmp_path / f"{number:03}.md").write_text("x")
    (tmp_path / "999.md").write_bytes(b"x" * BATCH_BYTES)

    seen = look(place_of(str(tmp_path)), {}, None)

    assert seen and [len(batch) for batch in seen.news] == [BATCH_FILES, 2, 1]


def test_what_is_passed_over_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.md").symlink_to("/etc/hostname")
    place = place_of(str(tmp_path / "in"))

    seen = look(place, {}, None)

    assert seen and seen.passed_over == {"link.md": "link-outside-root"}
    (change,) = passed(seen.passed_over)
    assert (change.relative, change.refused) == ("link.md", "link-outside-root")
    told = KnownFile(id=1, digest="", version=1, stamp="", refused="link-outside-root")
    assert not look(place, {"link.md": told}, None)


def test_taking_in_parses_only_other_bytes(tmp_path: Path) -> None:
    write_records(tmp_path / "a.md", [a_memory()])
    place, file = place_of(str(tmp_path)), known(tmp_path, "a.md")
    os.utime(tmp_path / "a.md", (1, 1))

    (same,) = take(place, ROOT, ["a.md"], {"a.md": (file, {})})
    (new,) = take(place, ROOT, ["a.md"], {"a.md": (None, {})})
    (again,) = take(place, ROOT, ["a.md"], {"a.md": (known(tmp_path, "a.md", stamp=""), {})})

    assert same.same and same.stamp == stamp(str(tmp_path), "a.md") != file.stamp
    assert len(new.added) == len(again.added) == 1 and not new.same
    assert take(place, ROOT, ["a.md"], {"a.md": (known(tmp_path, "a.md"), {})}) == []
    assert take(place, ROOT, ["gone.md"], {"gone.md": (None, {})}) == []


def test_files_are_as_the_index_has_them_or_changed_or_gone(tmp_path: Path) -> None:
    for name in ("same.md", "changed.md"):
        write_records(tmp_path / name, [a_memory()])
    place = place_of(str(tmp_path))
    stamps = {"gone.md": "1", "changed.md": "2", "same.md": stamp(str(tmp_path), "same.md") or ""}

    assert changed_since(place, stamps) == (["changed.md"], ["gone.md"])
    assert still_gone(place, ["same.md", "gone.md"]) == ["gone.md"]


def test_a_single_file_that_is_gone_from_its_folder_is_gone_and_not_missing(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Build\nmake\n")
    place, index = place_of(str(tmp_path / "CLAUDE.md")), {"CLAUDE.md": known(tmp_path, "CLAUDE.md")}
    (tmp_path / "CLAUDE.md").unlink()

    assert look(place, index, None) == Look(gone=("CLAUDE.md",))
    assert look(place, {}, None) is None
    tmp_path.rename(tmp_path.with_name("away"))
    assert look(place, index, None) is None


# ---------------------------------------------------------------------------------------- a repository without memory


def a_place(top: Path, provider: str = "") -> Place:
    root = Root(path=str(top / "m"), scope=ROOT.scope, origin=Origin.IMPORTED, inside=str(top), provider=provider)
    place = placed(root)
    assert place is not None
    return place


@pytest.mark.promise("team-injectable")
def test_a_checkout_without_the_memory_folder_empties_it(tmp_path: Path) -> None:
    """Git removes a folder with its last file."""
    (tmp_path / ".git").mkdir()
    write_records(tmp_path / "m" / "a.md", [a_memory()])
    index = {"a.md": known(tmp_path / "m", "a.md")}
    assert not emptied(a_place(tmp_path))
    (tmp_path / "m" / "a.md").unlink()
    (tmp_path / "m").rmdir()

    assert emptied(a_place(tmp_path))
    assert look(a_place(tmp_path), index, None) == look(a_place(tmp_path), index, ["a.md"]) == Look(gone=("a.md",))


def test_a_folder_that_is_missing_with_its_repository_or_is_a_products_empties_nothing(tmp_path: Path) -> None:
    write_records(tmp_path / "top" / "m" / "a.md", [a_memory()])
    index = {"a.md": known(tmp_path / "top" / "m", "a.md")}
    place = a_place(tmp_path / "top")
    (tmp_path / "top").rename(tmp_path / "away")
    assert look(place, index, None) is None

    (tmp_path / "top").mkdir()  # an empty mount point
    assert look(place, index, None) is None
    (tmp_path / "top" / ".git").mkdir()
    assert look(a_place(tmp_path / "top", "claude-rules"), index, None) is None
    assert look(place, index, None) == Look(gone=("a.md",))


def test_a_memory_folder_that_became_a_link_is_none(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_records(tmp_path / "m" / "a.md", [a_memory()])
    place, index = a_place(tmp_path), {"a.md": known(tmp_path / "m", "a.md")}
    (tmp_path / "m").rename(tmp_path / "elsewhere")
    (tmp_path / "m").symlink_to(tmp_path / "elsewhere")

    assert look(place, index, None) == Look(gone=("a.md",))
