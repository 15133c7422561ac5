"""What is to be looked at is read once, whatever is broken; no daemon is started for it."""

import pytest

from host.client import DaemonSilent
from host.doctor.scene import Said, Scene
from tests.support.patients import Patient, serving


def test_nothing_is_there_and_nothing_is_made(patient: Patient) -> None:
    scene = patient.scene()

    assert (scene.said, scene.silence, scene.fault) == (None, None, None)
    assert not patient.paths.data.exists() and not patient.paths.socket.parent.exists()


def test_the_checkout_is_looked_at_from_inside_it(patient: Patient) -> None:
    inside = patient.repository / "src" / "deep"
    inside.mkdir(parents=True)
    patient.repository = inside

    assert patient.scene().repository == inside.parents[1]


def test_programs_of_the_home_folder_count_wherever_it_is_looked_from(patient: Patient) -> None:
    program = patient.program("claude", "exit 0", folder="home/.local/bin")
    patient.repository = patient.folder / "project"
    from_checkout = patient.scene(PATH=str(program.parent)).programs
    inside = patient.program("claude", "exit 0", folder="project/bin")
    theirs = patient.scene(PATH=str(inside.parent)).programs
    patient.repository = patient.home

    at_home = patient.scene(PATH=str(program.parent)).programs

    assert from_checkout.which("claude") == at_home.which("claude") == str(program)
    assert theirs.which("claude") is None


def test_a_configuration_that_cannot_be_used_is_kept_for_later(patient: Patient) -> None:
    patient.configure("[daemon]\nspeed = 3\n")

    scene = patient.scene()

    assert scene.fault is not None and "speed" in str(scene.fault)
    assert scene.settings.daemon.http  # the defaults


def test_a_daemon_says_how_it_is(running: Patient) -> None:
    scene = running.scene()

    assert isinstance(scene.said, Said) and scene.said.ready and scene.ours
    assert scene.said.parts["socket"] == "ok" and scene.said.pid > 1
    assert scene.ask("workspace.get", {"workspace": str(running.repository)}, dict[str, object])
    assert scene.ask("no.such.method", {}, dict[str, object]) is None


def test_a_daemon_of_other_data_is_not_asked(running: Patient) -> None:
    other = {"REMORA_PRE_DATA": str(running.folder / "elsewhere")}
    scene: Scene = running.scene(**other)

    assert scene.said is not None and not scene.ours
    assert scene.ask("workspace.get", {"workspace": str(running.repository)}, dict[str, object]) is None


def test_one_that_says_nothing_is_waited_for_no_longer_than_that(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = patient.settle().socket
    monkeypatch.setattr("host.doctor.scene.SECONDS", 0.2)
    with serving(path):
        scene = patient.scene()

    assert isinstance(scene.silence, DaemonSilent)
