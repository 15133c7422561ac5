"""All checks in one walk: nothing stops it, nothing is changed by it, and no secret is said."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier

import pytest

from governance.migrations import queue_steps
from host.compose import main_schema
from host.doctor import checks, connections
from host.doctor.checks import CHECKS, examine, strictly
from host.doctor.findings import Finding
from host.doctor.scene import Scene
from recall.tables import SCHEMA
from tests.support.checkouts import write
from tests.support.patients import Patient, a_database

pytestmark = pytest.mark.promise("doctor-finds")
NOTES = {"engine-absent", "sqlite-old", "mcp-missing", "host-unconnected"}  # they depend on the machine


def _all(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file with its time and mode."""
    found = [Path(top) / name for top, _, names in os.walk(folder) for name in names]
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode) for path in found}


def test_an_installation_that_is_well_has_notes_at_most(running: Patient) -> None:
    write(running.repository / ".git" / "info" / "exclude", "/.claude/settings.local.json\n")
    running.connect("claude-code")

    assert set(running.states(*CHECKS)) <= NOTES


def test_a_machine_that_has_nothing_of_ours_is_told_where_to_begin(patient: Patient) -> None:
    assert set(patient.states(*CHECKS)) - NOTES == {"daemon-absent", "nothing-connected"}


async def test_looking_changes_nothing(patient: Patient) -> None:
    paths = patient.settle()
    patient.connect("claude-code")
    for path, schema in ((paths.database, main_schema()), (paths.governance, queue_steps()), (paths.index, SCHEMA)):
        await a_database(path, tuple(schema))
    before = _all(patient.folder)

    patient.found(*CHECKS)

    assert _all(patient.folder) == before


def test_a_configuration_that_cannot_be_used_is_told_until_it_is_corrected(patient: Patient) -> None:
    patient.configure("[daemon]\nspeed = 3\n")

    one = patient.the(checks.configuration)

    assert one.state == "config-unusable" and "speed" in one.what
    patient.configure("[daemon]\n")
    assert patient.states(checks.configuration) == []


def breaking(scene: Scene) -> Iterator[Finding]:
    yield from checks.configuration(scene)
    raise ValueError(f"a secret: {scene.paths.token_file.read_text('ascii')}")


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(patient: Patient) -> None:
    token = patient.settle().token_file.read_text("ascii")
    patient.configure("[daemon]\nspeed = 3\n")

    found = examine(patient.scene(), (breaking, checks.configuration))

    assert [one.state for one in found] == ["config-unusable", "config-unusable", "check-failed"]
    assert token not in repr(found) and "ValueError" in found[-1].what and "breaking" in found[-1].what
    with pytest.raises(ValueError, match="a secret"):
        strictly(patient.scene(), (breaking,))


def test_no_check_says_a_secret_whatever_is_broken(patient: Patient) -> None:
    paths = patient.settle()
    patient.connect("claude-code")
    patient.connect("claude-code", "user")
    secrets = [paths.token_file.read_text("ascii").strip(), paths.key_file.read_bytes().hex()]
    paths.port_file.write_text("1", "ascii")
    for file in (paths.token_file, paths.key_file):
        file.chmod(0o666)

    said = repr(patient.found(*CHECKS))

    assert not [secret for secret in secrets if secret in said]
    assert "secret-readable" in said and "hooks-twice" in said


@pytest.mark.parametrize("harm", ["nothing", "a file", "no rights"])
def test_no_check_breaks_whatever_stands_in_its_way(patient: Patient, harm: str) -> None:
    paths = patient.settle()
    if harm == "a file":
        for folder in (patient.home / ".claude", patient.home / ".codex", patient.repository / ".remora-pre"):
            folder.write_text("", "utf-8")
    if harm == "no rights":
        for file in (paths.token_file, paths.key_file, paths.port_file):
            file.chmod(0)

    assert "check-failed" not in patient.states(*CHECKS)


@pytest.mark.parametrize(
    ("text", "why"),
    [('{"ui": {},}', "trailing commas"), ('\ufeff{"ui": {}}', "byte order mark"), ("", "is empty"), ("{ // a\n}", "")],
    ids=["commas", "mark", "blank", "comments"],
)
def test_what_the_product_refuses_in_its_other_file_is_told(patient: Patient, text: str, why: str) -> None:
    """As the product itself takes it: Gemini CLI reads comments, and does not start with the others."""
    write(patient.home / ".gemini" / "settings.json", text)
    assert "settings-unusable" not in patient.states(connections.connections)  # not connected

    patient.connect("gemini-cli")

    told = [one for one in patient.found(connections.connections) if one.state == "settings-unusable"]
    assert [one.where for one in told] == ([str(patient.home / ".gemini" / "settings.json")] if why else [])
    assert all(why in one.what and one.todo for one in told)


def test_settings_that_are_no_plain_file_are_told_and_nothing_waits(patient: Patient) -> None:
    (patient.home / ".gemini").mkdir()
    os.mkfifo(patient.home / ".gemini" / "settings.json")

    told = [one for one in patient.found(connections.connections) if one.state == "settings-unusable"]

    assert len(told) == 1 and "no plain file" in told[0].what


def test_checks_run_side_by_side_and_each_is_told_when_it_is_done(patient: Patient) -> None:
    both, told = Barrier(2), []

    def waits(scene: Scene) -> Iterator[Finding]:
        both.wait(timeout=30)
        yield from ()

    def other(scene: Scene) -> Iterator[Finding]:
        return waits(scene)

    found = examine(patient.scene(), (waits, other), told=lambda done, total: told.append((done, total)))

    assert (found, told) == ([], [(1, 2), (2, 2)])
