"""The files of a repository's memory: named so that none is overwritten, counted as people count, read without being
led astray (team.md 11; items 9, 22 and 27 of its acceptance, and what a hostile repository may try)."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.team.contracts.rows import Target
from governance.team.errors import Kind, TeamFault
from governance.team.files import (
    DOCTRINE_BODY,
    SCENE_BODY,
    SUMMARY,
    Doctrine,
    Scene,
    parse_doctrine,
    parse_scene,
    render_doctrine,
    render_scene,
)
from governance.team.formats import Formats
from governance.team.linting import lint, report
from governance.team.sanitising import sanitised
from governance.team.tree import Tree, read_tree
from host import namespace
from recall.canonical import bytes_digest
from recall.team_entry import EntryFault, parse, render
from tests.invariants.test_odd_roots import everything, laid_out, layouts
from tests.support.builders import a_memory_id
from tests.support.team_entries import an_entry, path_of, write_entry
from tests.support.team_hostile import HOSTILE, bombs, names
from tests.support.team_review import a_desk

FORMATS = Formats(prefix=namespace.name(), mark="pre", folder=namespace.REPOSITORY_FOLDER)
ROOT = FORMATS.memory_root
CONTENTS = Path(__file__).parents[1] / "data" / "adversarial" / "yaml_markdown.jsonl"
AT = "2026-11-12T09:30:00.000Z"
M1, M2 = a_memory_id(1), a_memory_id(2)


def git(top: Path, *words: str) -> bytes:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(["git", "-C", str(top), *who, *words], check=True, capture_output=True).stdout


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with one good entry, committed."""
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    write_entry(repository, an_entry())
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "one entry")
    return repository


def looked_at(top: Path) -> tuple[Tree, dict[str, set[str]]]:
    """The tree, and by file what lint says of it."""
    tree = read_tree(str(top), ROOT)
    found: dict[str, set[str]] = {}
    for one in lint(tree, FORMATS):
        assert one.problem and one.next
        found.setdefault(one.path.removeprefix(f"{ROOT}/"), set()).add(one.rule)
    return tree, found


# ------------------------------------------------------------------------------------------------------------ item 9


@pytest.mark.promise("team-09")
def test_item_09_two_all_chinese_entries_get_two_files_and_nothing_is_overwritten(top: Path) -> None:
    one, two = an_entry("发布前先跑测试。", 2), an_entry("发布之前必须跑测试。", 3)
    same_words = an_entry("发布前先跑测试。", 4)

    files = [write_entry(top, entry) for entry in (one, two, same_words)]

    assert len(set(files)) == 3
    assert all(file.name.startswith("work_fact-") and file.name.isascii() for file in files)
    assert [file.read_bytes() for file in files] == [render(entry) for entry in (one, two, same_words)]
    tree, found = looked_at(top)
    assert {file.entry.id for file in tree.entries} == {a_memory_id(number) for number in (1, 2, 3, 4)}
    assert not found


# ----------------------------------------------------------------------------------------------------------- item 22

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
VECTORS = {  # what is written -> its code points, by hand
    "cjk": ("发", 1),
    "cjk-beyond-the-first-plane": ("\U00020bb7", 1),
    "emoji": ("\U0001f680", 1),
    "zwj": (FAMILY, 7),
    "skin-tone": ("\U0001f44d\U0001f3fd", 2),
    "combining": ("e\u0301", 2),
    "composed": ("é", 1),
    "keycap": ("1\ufe0f\u20e3", 3),
}


@pytest.mark.promise("team-22")
@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("most", [SUMMARY, SCENE_BODY, DOCTRINE_BODY])
def test_item_22_a_text_of_as_many_code_points_as_may_be_is_written_and_one_more_is_not(vector: str, most: int) -> None:
    """Counted once it is normalised: the CRLF, the blanks at ends and the lines around it are not in the count."""
    assert (SUMMARY, SCENE_BODY, DOCTRINE_BODY) == (40, 1_500, 1_200)
    letter, points = VECTORS[vector]
    full = letter * (most // points) + "x" * (most % points)
    written, read = _written(most)

    assert len(full) == most
    assert isinstance(read(written(full)), Scene | Doctrine)
    with pytest.raises(ValueError, match=str(most)):
        written(f"{full}x")
    assert isinstance(read(written(full).replace(full.encode(), f"{full}x".encode())), EntryFault)
    if most != SUMMARY:
        assert isinstance(read(written(full).replace(full.encode(), f"\n{full} \t\n \n".encode())), Scene | Doctrine)


def _written(most: int) -> tuple[Callable[[str], bytes], Callable[[bytes], object]]:
    scene = Scene(name="release", created=AT, updated=AT, summary="s", heat=1, body="b")

    def summary(text: str) -> bytes:
        return render_scene(msgspec.structs.replace(scene, summary=text))

    def body(text: str) -> bytes:
        return render_scene(msgspec.structs.replace(scene, body=text))

    def read(data: bytes) -> object:
        return parse_scene("scenes/release.md", data)

    if most == DOCTRINE_BODY:
        return lambda text: render_doctrine(Doctrine(body=text)), parse_doctrine
    return (summary if most == SUMMARY else body), read


# ----------------------------------------------------------------------------------------------------------- item 27

BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "order": (
        lambda text: text.replace("type: work_fact\nstatus: approved", "status: approved\ntype: work_fact"),
        "wrong-order",
    ),
    "extra": (lambda text: text.replace("scope: repo", "scope: repo\nowner: me"), "unknown-field"),
    "missing": (lambda text: text.replace("scope: repo\n", ""), "missing-field"),
    "comment": (lambda text: text.replace("scope: repo", "scope: repo # ours"), "bad-value"),
    "bom": (lambda text: f"\ufeff{text}", "bom"),
    "cr": (lambda text: text.replace("ours.\n", "ours.\r\n"), "cr"),
    "two blocks": (lambda text: text.replace("---\n<!--", f"---\n---\nid: {M1}\n---\n<!--"), "second-front-matter"),
    "two entries": (lambda text: f"{text}\n{text.replace(M1, M2)}", "second-marker"),
    "two markers": (lambda text: f"{text}\n<!-- memory:{M2} -->\nMore.\n", "second-marker"),
    "id": (lambda text: text.replace(f"memory:{M1}", f"memory:{M2}"), "identity-mismatch"),
    "conflict": (
        lambda text: text.replace("ours.\n", "\n<<<<<<< HEAD\nours.\n=======\ntheirs.\n>>>>>>> theirs\n"),
        "conflict-markers",
    ),
    "conflict in front": (
        lambda text: text.replace("priority: 60\n", "<<<<<<< HEAD\npriority: 60\n=======\npriority: 1\n>>>>>>> x\n"),
        "conflict-markers",
    ),
}


@pytest.mark.promise("team-27")
@pytest.mark.parametrize("how", BROKEN)
def test_item_27_front_matter_that_is_not_as_it_must_be_is_reported_and_out_and_its_bytes_stay(
    top: Path, how: str
) -> None:
    broken, rule = BROKEN[how]
    file = top / path_of(an_entry())
    data = broken(file.read_text("utf-8")).encode()
    assert data != file.read_bytes()
    file.write_bytes(data)
    write_entry(top, an_entry("Another one.", 3))

    tree, found = looked_at(top)

    assert found == {f"entries/{file.name}": {rule}}
    assert report(tree, FORMATS).blocked
    assert [one.entry.id for one in tree.entries] == [a_memory_id(3)]
    assert file.read_bytes() == data


@pytest.mark.promise("team-27")
@pytest.mark.parametrize("how", BROKEN)
async def test_item_27_a_promotion_that_touches_such_a_file_is_refused_before_and_after_its_review(
    tmp_path: Path, how: str
) -> None:
    async with a_desk(tmp_path) as desk:
        file = write_entry(desk.root, an_entry())
        whole, broken = file.read_bytes(), BROKEN[how][0](file.read_text("utf-8")).encode()
        target = Target(source_kind="approved", id=M1, revision=bytes_digest(whole))
        candidate = await desk.stage(desk.an_entry("The heron gateway is theirs.", target))
        asked = await desk.asked()

        file.write_bytes(broken)
        review = await desk.review()
        with pytest.raises(TeamFault) as refused:
            await desk.prepare(asked)

        assert [one.candidate_id for one in review.broken] == [candidate.candidate_id]
        assert review.approval is None
        assert refused.value.kind in (Kind.APPROVAL_MISMATCH, Kind.CANDIDATE_STALE)
        assert (await desk.states(), await desk.confirmed()) == ({}, 0)
        assert [path for path in desk.root.rglob("*") if path.is_file()] == [file]
        assert file.read_bytes() == broken


# ---------------------------------------------------------------------------------------- contents of the fixtures


def contents() -> list[tuple[str, str, str]]:
    """Kind, expectation and text of each."""
    made: list[tuple[str, str, str]] = []
    for line in CONTENTS.read_text("utf-8").splitlines():
        case: Any = json.loads(line)
        text = case.get("text", "")
        if text.startswith("GEN:repeat:"):
            piece, _, times = text.removeprefix("GEN:repeat:").rpartition(":")
            text = piece * int(times)
        if (gen := case.get("gen", {})).get("what") == "repeat":
            text = gen["s"] * gen["n"]
        elif gen:
            text = "".join(f"{' ' * (2 * depth)}- x\n" for depth in range(gen["depth"]))
        made.append((case["kind"], case["expect"], text))
    return made


@pytest.mark.promise("team-27")
@pytest.mark.parametrize(("kind", "expect", "text"), contents(), ids=[case[0] for case in contents()])
def test_a_file_of_the_fixtures_is_no_entry_and_as_a_text_it_is_text(kind: str, expect: str, text: str) -> None:
    """Nothing in a text gives an entry another id, status or field; what may not stand in one is refused."""
    assert isinstance(parse(text.encode()), EntryFault)

    entry = an_entry(sanitised(text).strip("\n"))
    try:
        data = render(entry)
    except ValueError as problem:
        assert kind in ("conflict-markers", "long-line", "deep-list"), kind
        assert str(problem)
        return

    assert parse(data) == entry
    assert expect != "reject" or "\0" not in data.decode()


@pytest.mark.promise("team-27")
def test_a_value_cannot_break_out_of_its_field() -> None:
    for kind, _, text in contents():
        scene = " ".join(sanitised(text).split())[:200]
        if scene and kind != "nul":
            entry = an_entry(scene=scene)
            assert parse(render(entry)) == entry
            assert render(entry).decode().count("\nstatus: ") == 1


# ------------------------------------------------------------------------------------------- hostile repositories


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the repository that must stay as it is, with a file that nobody may read."""
    folder = tmp_path / "outside"
    folder.mkdir()
    write_entry(folder, an_entry("A canary.", 9), path="canary.md")
    yield folder


@pytest.mark.promise("team-hostile")
@pytest.mark.parametrize("how", HOSTILE, ids=lambda how: how.__name__)
def test_a_hostile_repository_is_reported_and_nothing_outside_is_touched_or_read(
    top: Path, outside: Path, how: Callable[[Path, Path], None]
) -> None:
    how(top, outside)
    status = git(top, "status", "--porcelain")
    before = everything(top), everything(outside)

    tree, found = looked_at(top)

    said = set().union(*found.values())
    assert said & HOSTILE[how]
    assert said <= HOSTILE[how] | {"not-read"}
    assert tree.complete == (how in (names, bombs))
    assert {one.entry.id for one in tree.entries} <= {M1}
    assert not any(b"canary" in (fault.data or b"") for fault in tree.faults)
    assert tree.doctrine is None and tree.skills == () and tree.scenes == ()
    assert (everything(top), everything(outside)) == before
    assert git(top, "status", "--porcelain") == status


LAYOUTS = {  # kind of layout -> why nothing of it is used; nothing: a hidden file, or one that is no entry's
    "symlink-file-outside": {"symlink"},
    "symlink-dir-outside": set(),
    "symlink-absolute": {"symlink"},
    "symlink-dangling": {"symlink"},
    "symlink-loop": {"symlink"},
    "hardlink-outside": {"hard-link"},
    "fifo": {"not-a-file"},
    "dir-named-md": {"not-a-file"},
    "socket": {"not-a-file"},
    "world-writable-root": {"no-front-matter"},
    "root-is-symlink": {"symlink"},
}


@pytest.mark.promise("team-hostile")
@pytest.mark.parametrize("layout", list(layouts()), ids=lambda layout: layout["kind"])
def test_a_folder_of_the_fixtures_is_read_without_leaving_it(tmp_path: Path, layout: dict[str, Any]) -> None:
    memory = tmp_path / ROOT
    memory.mkdir(parents=True)
    there = json.loads(json.dumps(layout).replace('"mem', '"entries'))
    with laid_out(memory, there):
        before = everything(tmp_path)

        tree, found = looked_at(tmp_path)

        assert everything(tmp_path) == before
    assert tree.entries == ()
    assert not any(b"canary" in (fault.data or b"") for fault in tree.faults)
    reasons = set().union(*found.values()) if found else set()
    assert reasons == LAYOUTS.get(layout["kind"], set()) or layout["kind"] == "unreadable"


@pytest.mark.promise("team-hostile")
@pytest.mark.parametrize("step", [namespace.REPOSITORY_FOLDER, ROOT])
def test_a_memory_behind_a_link_is_refused(top: Path, outside: Path, step: str) -> None:
    (top / step).rename(outside / "moved")
    (top / step).symlink_to(outside / "moved")
    before = everything(outside)

    with pytest.raises(TeamFault) as raised:
        read_tree(str(top), ROOT)

    assert raised.value.kind is Kind.TARGET_PATH_INVALID
    assert everything(outside) == before
