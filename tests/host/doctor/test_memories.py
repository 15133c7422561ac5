"""Memory files with a merge left open, places that cannot be used, an index longer than its host reads."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from host.doctor import memories
from host.doctor.findings import Level
from host.doctor.scene import Memory, Said, Unasked
from host.namespace import REPOSITORY_FOLDER
from recall.providers import MEMORY_INDEX, slug
from recall.workspace import workspace_key
from tests.support.checkouts import a_worktree, write
from tests.support.patients import Patient

CASES = Path(__file__).parents[2] / "data" / "cases"
CONFLICT = json.loads((CASES / "memory-file-conflict-markers.json").read_text("utf-8"))["given"]["file"]
CAPS = json.loads((CASES / "memory-index-host-caps.json").read_text("utf-8"))
LONG = "# Index\n" + "\n".join(f"* line {number}" for number in range(2, 250)) + "\n"


def _folders(patient: Patient) -> dict[str, Path]:
    own = patient.paths.data / "memory"
    return {
        "user": own / "user",
        "workspace": own / workspace_key(str(patient.repository)),
        "repository": patient.repository / REPOSITORY_FOLDER / "memory",
    }


@pytest.mark.parametrize("where", ["user", "workspace", "repository"])
def test_a_conflict_in_a_memory_file_is_told_until_the_merge_is_finished(patient: Patient, where: str) -> None:
    file = write(_folders(patient)[where] / "deep" / "notes.md", CONFLICT)
    write(file.with_name("well.md"), "<!-- memory:mem_" + "0" * 32 + " -->\nThe limit is 10.\n")

    one = patient.the(memories.conflicts)

    assert (one.state, one.where) == ("memory-conflict", str(file))
    file.write_text("The limit is 20.\n", "utf-8")
    assert patient.states(memories.conflicts) == []


def test_the_marks_of_a_conflict_in_an_example_are_none(patient: Patient) -> None:
    write(_folders(patient)["user"] / "notes.md", f"How a conflict looks:\n\n```\n{CONFLICT}```\n")

    assert patient.states(memories.conflicts) == []


def test_an_index_of_claude_code_that_is_too_long_is_told_until_it_is_shorter(patient: Patient) -> None:
    file = write(patient.home / ".claude" / "projects" / slug(str(patient.repository)) / "memory" / MEMORY_INDEX, LONG)

    one = patient.the(memories.caps)

    assert one.state == "memory-over-cap" and "lines 201 to 249" in one.what
    file.write_text("\n".join(LONG.splitlines()[:200]), "utf-8")
    assert patient.states(memories.caps) == []


def test_the_index_that_the_case_describes_is_told_once_three_records_more_are_in_it(patient: Patient) -> None:
    given = CAPS["given"]["file"]
    lines = [("x" * (given["bytes"] // given["lines"] - 1)) for _ in range(given["lines"])]
    folder = patient.home / ".claude" / "projects" / slug(str(patient.repository)) / "memory"
    file = write(folder / MEMORY_INDEX, "\n".join(lines) + "\n")
    before = patient.states(memories.caps)
    file.write_text(file.read_text("utf-8") + "".join(f"* {'y' * 197}\n" for _ in range(3)), "utf-8")

    assert before == []
    assert patient.the(memories.caps).state == "memory-over-cap"


def test_the_index_of_a_worktree_is_that_of_its_repository_too(patient: Patient) -> None:
    write(patient.home / ".claude" / "projects" / slug(str(patient.repository)) / "memory" / MEMORY_INDEX, LONG)
    patient.repository = a_worktree(patient.repository, patient.folder / "tree")

    assert patient.states(memories.caps) == ["memory-over-cap"]


@pytest.mark.reliability
def test_what_the_daemon_does_not_use_is_counted_until_it_is_mended(patient: Patient) -> None:
    user = write(_folders(patient)["user"] / "bad.md", "<!-- memory:mem_12 -->\nText.\n")
    own = write(_folders(patient)["workspace"] / "notes.md", "The limit is 10.\n").parent
    repository = write(_folders(patient)["repository"] / "notes.md", "The limit is 10.\n").parent
    with patient.daemon:
        assert patient.run("list").returncode == 0
        user_problem = patient.the(memories.unused)
        user.write_text("<!-- memory:mem_" + "1" * 32 + " -->\nText.\n", "utf-8")
        shutil.rmtree(own)
        shutil.rmtree(repository)  # which git does itself, with its last file: that is no folder that is missing
        assert patient.run("reindex").returncode == 0
        gone = patient.found(memories.unused)
        own.mkdir()
        assert patient.run("reindex").returncode == 0

        assert patient.states(memories.unused) == []
    assert user_problem.state == "memory-unused" and "1 place in" in user_problem.what
    assert [(one.state, one.where) for one in gone] == [("memory-folder-missing", str(own))]


@pytest.mark.promise("team-26")
def test_a_repository_that_nobody_was_asked_about_is_a_note(patient: Patient) -> None:
    unasked = (Unasked(repository="/shop", records=1), Unasked(repository="/tools", records=3))
    scene = replace(patient.scene(), said=Said(ready=True, memory=Memory(unasked=unasked)))

    one, other = memories.untrusted(scene)

    assert (one.state, one.level, one.where) == ("memory-untrusted", Level.NOTE, "/shop")
    assert "1 record," in one.what and "3 records," in other.what and "init" in one.todo
    assert patient.states(memories.untrusted) == []
