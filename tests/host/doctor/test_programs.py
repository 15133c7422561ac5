"""Programs are found on the search path and run to their end, or to ours."""

import json
import os
import select

import pytest

from host.doctor.programs import ANSWER_BYTES, Programs
from tests.support.patients import Patient


@pytest.fixture
def programs(patient: Patient) -> Programs:
    return patient.scene().programs


def test_a_program_says_what_it_says(patient: Patient, programs: Programs) -> None:
    path = patient.program("speaker", 'read line; echo "heard $line"; echo noise >&2; exit 3')

    ran = programs.run([str(path)], "hello\n")

    assert ran is not None and (ran.code, ran.out) == (3, "heard hello\n")
    assert programs.which("speaker") == str(path)


def test_one_that_does_not_end_is_ended_with_its_children(patient: Patient, programs: Programs) -> None:
    path = patient.program("sleeper", 'echo begun; sleep 600 & echo $! > "$0.pid"; wait')

    ran = programs.run([str(path)], seconds=1.0)

    assert ran is not None and (ran.code, ran.out) == (None, "begun\n")
    _wait_for_the_end(int((patient.programs / "sleeper.pid").read_text()))


def _wait_for_the_end(pid: int) -> None:
    """Return once the process is gone. Fails when it lives on."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([process], [], [], 10)[0]
    finally:
        os.close(process)


@pytest.mark.parametrize("name", ["missing", "data"])
def test_what_cannot_be_started_is_none(patient: Patient, programs: Programs, name: str) -> None:
    (patient.programs / "data").write_text("no program", "utf-8")

    assert programs.run([str(patient.programs / name)]) is None
    assert programs.which(name) is None


def test_a_program_inside_the_checkout_does_not_count(patient: Patient) -> None:
    """Anyone can commit one; a search path may lead there."""
    path = patient.program("claude", "echo 2.1.332", folder="project/node_modules")
    link = patient.folder / "link"
    link.symlink_to(path.parent)

    for way in (path.parent, link):
        assert Programs({"PATH": str(way)}, beyond=patient.repository).which("claude") is None
    assert Programs({"PATH": str(path.parent)}).which("claude") == str(path)


def test_only_so_much_of_an_answer_is_kept(patient: Patient, programs: Programs) -> None:
    path = patient.program("talker", "head -c 1000000 /dev/zero | tr '\\0' 'x'")

    ran = programs.run([str(path)], seconds=30)

    assert ran is not None and len(ran.out) <= ANSWER_BYTES


@pytest.mark.parametrize("named", [{"gemini": "bundle/gemini.js"}, "./bundle/gemini.js"], ids=["by name", "alone"])
def test_a_program_whose_package_says_its_version_is_not_run(
    patient: Patient, programs: Programs, named: object
) -> None:
    folder = patient.folder / "lib" / "node_modules" / "@maker" / "cli"
    program = patient.program("gemini.js", 'touch "$0.ran"; echo 9.9.9', folder=str(folder / "bundle"))
    (patient.programs / "gemini").symlink_to(program)
    package = {"name": "@maker/cli", "version": "0.61.3", "bin": named}
    (folder / "package.json").write_text(json.dumps(package), "utf-8")

    assert programs.version(str(patient.programs / "gemini")) == "0.61.3"
    assert not program.with_name("gemini.js.ran").exists()


@pytest.mark.parametrize(
    "package",
    [
        {"version": "1.1.1", "bin": {"other": "bundle/other.js"}},
        {"version": "1.1.1"},
        {"bin": "bundle/gemini.js"},
        {"version": "", "bin": "bundle/gemini.js"},
        {"version": 3, "bin": [1]},
        "[",
    ],
)
def test_a_package_that_does_not_speak_for_the_program_is_not_believed(
    patient: Patient, programs: Programs, package: object
) -> None:
    program = patient.program("gemini.js", "echo 9.9.9", folder="lib/bundle")
    text = package if isinstance(package, str) else json.dumps(package)
    (patient.folder / "lib" / "package.json").write_text(text, "utf-8")

    assert programs.version(str(program)) == "9.9.9"
