"""Folders that are closed, open or gone, a full disk, a clock that was set back, and a second installation."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from governance.screen import redact
from host.clock import SetClock
from host.compose import main_schema
from host.database import open_database
from host.doctor import folders
from host.doctor.checks import examine
from host.eventlog import EventLog
from host.namespace import SCRIPT, env
from tests.support.builders import a_prompt
from tests.support.patients import Patient, a_database

NOBODY = 65534
LOOK = "from host.cli.main import main; main(['doctor', '--json'])"


def test_a_fresh_installation_has_nothing_to_mend(patient: Patient) -> None:
    patient.settle()

    assert patient.states(folders.home, folders.folders, folders.disk, folders.clock, folders.installations) == []


@pytest.mark.parametrize("home", ["", "not/absolute"])
def test_a_home_that_is_not_known_is_told(patient: Patient, home: str) -> None:
    assert patient.the(folders.home, HOME=home).state == "home-unknown"


def test_a_data_folder_that_others_can_read_is_told_and_closed(patient: Patient) -> None:
    data = patient.settle().data
    data.chmod(0o755)

    one = patient.the(folders.folders)

    assert (one.state, one.todo) == ("folder-open", f"chmod 700 {data}")
    data.chmod(0o700)
    assert patient.states(folders.folders) == []


def test_a_data_folder_that_is_a_file_cannot_be_used(patient: Patient) -> None:
    patient.paths.data.write_text("", "utf-8")

    assert {one.state for one in patient.found(folders.folders)} == {"folder-unusable"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder away")
def test_a_data_folder_of_another_user_cannot_be_used(patient: Patient) -> None:
    data = patient.settle().data
    os.chown(data, NOBODY, NOBODY)

    assert "belongs to another user" in patient.found(folders.folders)[0].what
    os.chown(data, 0, 0)
    assert patient.states(folders.folders) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_data_folder_that_cannot_be_made_is_told(patient: Patient) -> None:
    patient.folder.chmod(0o500)
    try:
        assert patient.found(folders.folders)[0].state == "folder-unusable"
    finally:
        patient.folder.chmod(0o700)


def test_a_disk_with_too_little_room_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test fills the disk of others: what is too little is set above what there is."""
    monkeypatch.setattr(folders, "LOW_BYTES", 2**80)

    one = patient.the(folders.disk)

    assert one.state == "disk-nearly-full"
    free = os.statvfs(patient.folder)
    assert abs(int(one.what.split(" has ")[1].split()[0]) - free.f_bavail * free.f_frsize // 2**20) < 64


def test_a_small_disk_is_told(patient: Patient) -> None:
    """A disk of 8 MiB, in a namespace of its own."""
    small = patient.folder / "small"
    small.mkdir()
    mounted = f"mount -t tmpfs -o size=8m tmpfs {shlex.quote(str(small))}"
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*alone, mounted], capture_output=True).returncode:
        pytest.skip("this machine gives no mount namespace to its users")
    looked = f"{mounted} && exec {shlex.join([sys.executable, '-c', LOOK])}"
    environ = patient.environ | {"PATH": os.environ["PATH"], env("data"): str(small / "data")}

    done = subprocess.run([*alone, looked], env=environ, cwd=patient.repository, capture_output=True, text=True)

    states = [one["state"] for one in json.loads(done.stdout)["findings"]]
    assert "disk-nearly-full" in states, done.stderr


async def test_a_clock_that_was_set_back_is_told_until_it_is_set_right(patient: Patient) -> None:
    paths = patient.settle()
    tomorrow = patient.scene().clock.now() + 86_400_000
    async with open_database(paths.database, main_schema()) as database:
        await EventLog(database, b"k" * 32, redact).append([a_prompt()], tomorrow)

    one = patient.the(folders.clock)
    later = replace(patient.scene(), clock=SetClock(tomorrow))

    assert one.state == "clock-behind" and re.search(r" (1439|1440) minutes ahead", one.what)
    assert examine(later, (folders.clock,)) == []


async def test_a_database_that_cannot_be_read_says_nothing_of_the_clock(patient: Patient) -> None:
    paths = patient.settle()
    await a_database(paths.database, main_schema())
    paths.database.write_bytes(b"no database")

    assert patient.states(folders.clock) == []


def test_two_installations_are_told_and_two_names_of_one_are_not(patient: Patient) -> None:
    first = patient.program(SCRIPT, "exit 0")
    second = patient.program(SCRIPT, "exit 0", folder="other")
    patient.program("placeholder", "exit 0", folder="link")
    link = patient.folder / "link" / SCRIPT
    link.symlink_to(first)
    ways = {"PATH": os.pathsep.join(str(one.parent) for one in (first, link, second, Path("relative/x")))}

    one = patient.the(folders.installations, **ways)
    second.unlink()

    assert one.state == "two-installations" and str(second) in one.what and str(link) not in one.what
    assert patient.states(folders.installations, **ways) == []
