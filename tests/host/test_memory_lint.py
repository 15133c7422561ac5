"""`memory.lint` over real files: what is wrong is found where it stands, and nothing of anybody else's is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from host.memory_lint import MOST_FLAWS
from host.namespace import REPOSITORY_FOLDER
from recall.contracts import CodeAnchor, Status
from recall.documents import read
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.remembering import POISON, TOKEN, case, kept


async def linted(remora: Asking, folder: str) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = (await remora.ask("memory.lint", workspace=folder))["findings"]
    return findings


async def rules(remora: Asking, folder: str) -> list[str]:
    return [one["rule"] for one in await linted(remora, folder)]


def written(remora: Asking, name: str, text: str | bytes) -> Path:
    """A file in the user's own memory folder, as an editor writes it."""
    file = Path(remora.world.parts.roots.user().path) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


async def test_files_that_are_well_have_no_finding(remora: Asking, folder: str) -> None:
    await kept(remora, "Ports are in ops/ports.md.", folder)
    await kept(remora, "Owls sleep by day.", folder)

    assert await remora.ask("memory.lint", workspace=folder) == {
        "format": "remora-pre-lint@v1",
        "blocked": False,
        "files": 1,
        "records": 2,
        "findings": [],
        "more": 0,
        "degraded": False,
    }


async def test_what_the_index_cannot_use_is_told_with_its_place(remora: Asking, folder: str) -> None:
    bad = written(remora, "bad.md", "Nobody's text.\n<!-- memory:mem_12 -->\nText.\n")
    twice = written(remora, "twice.md", f"<!-- memory:{a_memory_id(1)} -->\nA.\n" * 2)
    latin = written(remora, "latin.md", b"caf\xe9\n")
    outside = remora.world.folder / "outside.md"
    outside.write_text("Not ours.\n")
    (bad.parent / "link.md").symlink_to(outside)

    found = {(one["rule"], one["file"], one["line"]) for one in await linted(remora, folder)}

    assert found == {
        ("malformed-anchor", str(bad), 2),
        ("orphan-content", str(bad), 1),
        ("duplicate-anchor", str(twice), 1),
        ("duplicate-anchor", str(twice), 3),
        ("unusable-file", str(latin), 0),
        ("link-outside", str(bad.parent / "link.md"), 0),
    }
    assert all(one["problem"] and one["next"] for one in await linted(remora, folder))


async def test_a_sentence_of_the_index_ends_once(remora: Asking, folder: str) -> None:
    written(remora, "wide.md", f'<!-- memory:{a_memory_id(1)} scope="Session" tags=5 -->\nText.\n')

    (found,) = await linted(remora, folder)

    assert found["problem"].endswith(". The record is not used.") and ".." not in found["problem"]


async def test_the_worst_is_told_first_and_twice_the_same_in_the_same_order(remora: Asking, folder: str) -> None:
    written(remora, "bad.md", "Nobody's text.\n<!-- memory:mem_12 -->\nText.\n")
    await remora.world.remember("The freeze is on.", expires_at=START)

    told = await linted(remora, folder)

    assert [one["severity"] for one in told] == ["error", "warning", "info"]
    assert await linted(remora, folder) == told


@pytest.mark.promise("no-leak")
async def test_nothing_of_another_workspace_is_told_or_counted(remora: Asking, folder: str) -> None:
    other = remora.world.workspace("other")
    await remora.world.remember(f"The robot uses {TOKEN}.", other)
    await remora.world.remember("The freeze is on.", other, expires_at=START)

    answer = await remora.ask("memory.lint", workspace=folder)

    assert (answer["files"], answer["records"], answer["findings"], answer["more"]) == (0, 0, [], 0)
    assert len(await linted(remora, other)) == 2


@pytest.mark.parametrize("nowhere", ["/no\0where", "/" + "a" * 5000, "/a" * 3000, "here"])
async def test_a_path_that_can_be_no_folder_has_nothing_to_find_fault_with(remora: Asking, nowhere: str) -> None:
    answer = await remora.ask("memory.lint", workspace=nowhere)

    assert (answer["records"], answer["findings"]) == (0, [])


async def test_a_folder_that_went_away_is_told(remora: Asking, folder: str) -> None:
    file = written(remora, "a.md", f"<!-- memory:{a_memory_id(1)} -->\nOwls sleep.\n")
    await linted(remora, folder)
    file.parent.rename(file.parent.with_name("elsewhere"))
    await remora.world.parts.library.refresh(str(file.parent))

    (found,) = await linted(remora, folder)

    assert (found["rule"], found["file"]) == ("missing-folder", str(file.parent))


async def test_a_memory_folder_that_leads_out_of_the_repository_is_told(remora: Asking, folder: str) -> None:
    elsewhere = remora.world.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text(f"<!-- memory:{a_memory_id(1)} -->\nNot ours.\n")
    link = Path(folder) / REPOSITORY_FOLDER / "memory"
    link.parent.mkdir()
    link.symlink_to(elsewhere)

    (found,) = await linted(remora, folder)

    assert (found["rule"], found["file"]) == ("link-outside", str(link))
    assert await linted(remora, remora.world.workspace("other")) == []


# ---------------------------------------------------------------------------------------------------- records


async def test_what_must_not_stand_in_a_record_is_told_without_being_repeated(remora: Asking, folder: str) -> None:
    secret = await remora.world.remember(f"The robot uses {TOKEN}.")
    poison = await remora.world.remember(f"Heron news. {POISON}")
    hidden = await remora.world.remember("Owls sl\u200beep\U000e0041\U000e0042 by day.")

    told = await linted(remora, folder)

    assert {(one["rule"], one["memoryId"]) for one in told} == {
        ("secret", secret),
        ("instruction-like", poison),
        ("hidden-text", hidden),
    }
    assert TOKEN not in json.dumps(told) and "previous instructions" not in json.dumps(told)
    assert all(Path(one["file"]).read_text("utf-8").splitlines()[one["line"] - 1] for one in told)


async def test_records_that_say_the_same_or_otherwise_are_told(remora: Asking, folder: str) -> None:
    first = await remora.world.remember("Use uv for installs.", created_at=1000)
    second = await remora.world.remember("use UV for installs", created_at=2000)
    old = await remora.world.remember("The retry limit is 10.", created_at=1000)
    new = await remora.world.remember("The retry limit is 20.", created_at=2000)
    await remora.world.remember("Use uv for installs.", remora.world.workspace("other"))

    told = await linted(remora, folder)

    assert [(one["rule"], one["memoryId"]) for one in told] == [("says-the-same", second), ("says-otherwise", old)]
    assert first in told[0]["problem"] and new in told[1]["problem"]
    assert told[1]["line"] > 0 and Path(told[1]["file"]).is_file()


async def test_a_successor_that_is_gone_an_end_that_passed_and_a_text_too_long_are_told(
    remora: Asking, folder: str
) -> None:
    there = await remora.world.remember("The limit is 20.")
    gone = {"status": Status.SUPERSEDED, "superseded_by": a_memory_id(99)}
    replaced = await remora.world.remember("The limit is 10.", status=Status.SUPERSEDED, superseded_by=there)
    dangling = await remora.world.remember("The limit is 5.", **gone)
    expired = await remora.world.remember("The freeze is on.", expires_at=START)
    long = await remora.world.remember("Long. " * 1000)

    told = {(one["rule"], one["memoryId"]) for one in await linted(remora, folder)}

    assert told == {("dangling-successor", dangling), ("expired", expired), ("too-long", long)}
    assert replaced not in {memory_id for _, memory_id in told}


async def test_findings_beyond_the_first_are_counted(remora: Asking, folder: str) -> None:
    written(remora, "bad.md", "<!-- memory:mem_12 -->\nText.\n" * (MOST_FLAWS - 1))
    for number in range(3):
        await remora.world.remember(f"Freeze {number} is on.", expires_at=START)

    answer = await remora.ask("memory.lint", workspace=folder)

    assert len(answer["findings"]) + answer["more"] >= MOST_FLAWS
    assert len(answer["findings"]) <= MOST_FLAWS


# ---------------------------------------------------------------------------------------------------- code


@pytest.mark.promise("field-cases")
async def test_a_place_in_the_code_that_moved_is_found_again(remora: Asking, folder: str) -> None:
    told = case("anchor-line-moved")
    given = told["given"]["memory"]
    anchor = CodeAnchor(**given["anchor"])
    code = Path(folder) / anchor.path
    code.parent.mkdir()
    code.write_text(told["given"]["code"][anchor.path])
    memory_id = await remora.world.remember(given["text"], about=anchor)
    assert await linted(remora, folder) == []

    code.write_text("#\n" * told["given"]["then_insert_lines_above"] + code.read_text())
    (found,) = await linted(remora, folder)

    assert (found["rule"], found["memoryId"]) == ("code-moved", memory_id)
    assert f"line {told['then']['m1']['line']}" in found["problem"]


PLACES = [
    ("lib/gone.py", "code-gone"),
    ("lib", "code-gone"),
    ("lib/twice.py", "code-ambiguous"),
    ("lib/link.py", "code-gone"),
    ("linked/secret.py", "code-gone"),
]


@pytest.mark.parametrize(("path", "rule"), PLACES)
async def test_a_place_that_is_not_there_is_told_and_nothing_outside_is_read(
    remora: Asking, folder: str, path: str, rule: str
) -> None:
    secret = Path(folder).parent / "secret.py"
    secret.write_text("x = 1\ny = 2\n")
    lib = Path(folder) / "lib"
    lib.mkdir()
    (lib / "twice.py").write_text("#\nx = 1\nx = 1\n")
    (lib / "link.py").symlink_to(secret)
    (Path(folder) / "linked").symlink_to(secret.parent)
    await remora.world.remember("X is one.", about=CodeAnchor(path=path, line=1, snippet="x = 1"))

    assert await rules(remora, folder) == [rule]


@pytest.mark.parametrize("path", ["../secret.py", "lib/../../secret.py", "/etc/passwd"])
async def test_a_place_outside_makes_the_marker_unusable(remora: Asking, folder: str, path: str) -> None:
    written(remora, "a.md", f'<!-- memory:{a_memory_id(1)} about=["{path}",1,"x = 1"] -->\nX is one.\n')

    assert await rules(remora, folder) == ["malformed-anchor"]


async def test_places_are_looked_for_from_the_top_of_the_repository(remora: Asking, folder: str) -> None:
    git = Path(folder) / ".git"
    (git / "refs").mkdir(parents=True)
    (git / "objects").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    below = Path(folder) / "deep" / "down"
    below.mkdir(parents=True)
    (Path(folder) / "a.py").write_text("x = 1\n")
    await remora.world.remember("X is one.", about=CodeAnchor(path="a.py", line=1, snippet="x = 1"))

    assert await rules(remora, str(below)) == []


def test_a_file_is_read_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("x\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")

    assert getattr(read(str(tmp_path), "link.py"), "reason", None) == "link"
