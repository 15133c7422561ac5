"""Settings of other checkouts that no longer hold are told from anywhere, with the command that mends them there."""

import shlex
import shutil
from pathlib import Path

import pytest

from host.doctor import elsewhere
from host.namespace import SCRIPT
from tests.support.checkouts import a_checkout
from tests.support.patients import Patient


@pytest.fixture
def away(patient: Patient) -> Path:
    """A checkout that was connected by `init`; another one is looked at."""
    patient.settle()
    patient.program("claude", "exit 0")
    here, patient.repository = patient.repository, a_checkout(patient.folder / "a way")
    assert patient.run("init", "--yes").returncode == 0
    there, patient.repository = patient.repository, here
    return there


def test_what_holds_in_another_checkout_is_well(patient: Patient, away: Path) -> None:
    assert (away / ".claude" / "settings.local.json").exists()
    assert patient.states(elsewhere.elsewhere) == []


def test_an_installation_that_moved_is_told_for_each_file_until_the_command_was_run(
    patient: Patient, away: Path
) -> None:
    for file in (away / ".claude" / "settings.local.json", away / ".mcp.json"):
        file.write_text(file.read_text("utf-8").replace("/bin/", "/gone/bin/"), "utf-8")

    found = patient.found(elsewhere.elsewhere)

    assert {one.state for one in found} == {"hooks-stale", "mcp-stale"}
    words = shlex.split(found[0].todo)
    assert words[0] == SCRIPT and str(away) in words
    assert patient.run(*words[1:], "--yes").returncode == 0
    assert patient.states(elsewhere.elsewhere) == []


def test_a_port_that_moved_is_told_there_too(patient: Patient, away: Path) -> None:
    patient.paths.port_file.write_text("1234", "ascii")

    assert patient.states(elsewhere.elsewhere) == ["hooks-misdirected"]


def test_the_checkout_that_is_looked_at_is_not_told_twice(patient: Patient, away: Path) -> None:
    patient.paths.port_file.write_text("1234", "ascii")
    patient.repository = away

    assert patient.states(elsewhere.elsewhere) == []


def test_a_checkout_that_is_gone_or_cannot_be_read_says_nothing(patient: Patient, away: Path) -> None:
    (away / ".claude" / "settings.local.json").write_text("{", "utf-8")
    unreadable = patient.states(elsewhere.elsewhere)
    shutil.rmtree(away)

    assert unreadable == patient.states(elsewhere.elsewhere) == patient.states(elsewhere.elsewhere, HOME="") == []
