"""What somebody chose is told as a note, and is gone when it was taken back: all with a real daemon."""

import json
from dataclasses import replace

import msgspec
import pytest

from host.doctor import states
from host.doctor.scene import Waiting
from tests.support.patients import Patient


@pytest.fixture(autouse=True)
def _untouched(running: Patient) -> None:
    """The tests of this module leave the workspace as it was."""
    assert running.states(states.chosen, states.measured, states.waiting) == []


@pytest.mark.parametrize("level", ["off", "shadow", "canary"])
def test_a_workspace_that_is_held_back_is_told(running: Patient, level: str) -> None:
    with running.daemon.connect() as wire:
        wire.call("workspace.set", workspace=str(running.repository), rollout=level)
        one = running.the(states.chosen)
        wire.call("workspace.set", workspace=str(running.repository), rollout="active")

    assert one.state == "workspace-held-back" and f"level {level}" in one.what


def test_what_is_muted_is_told_until_it_may_speak(running: Patient) -> None:
    assert running.run("mute", "--for", "1h").returncode == 0
    assert running.run("mute", "--kind", "procedural").returncode == 0

    one = running.the(states.chosen)

    assert one.state == "workspace-muted" and "everything, until 20" in one.what and "procedural" in one.what
    for words in ([], ["--kind", "procedural"]):
        assert running.run("unmute", *words).returncode == 0


def test_another_attention_is_told(running: Patient) -> None:
    assert running.run("attention", "eager").returncode == 0

    one = running.the(states.chosen)

    assert one.state == "attention-changed" and "eager" in one.what
    assert running.run("attention", "normal").returncode == 0


def test_a_share_that_is_kept_back_is_told(patient: Patient) -> None:
    patient.configure("[evaluation]\nholdout = 0.1\n")

    assert patient.the(states.measured).state == "holdout-on"


def test_a_memory_that_was_said_to_be_wrong_waits_until_somebody_decides(running: Patient) -> None:
    kept = json.loads(running.run("remember", "The limit is 10.", "--json").stdout)
    memory_id = kept["memoryId"]
    assert running.run("feedback", memory_id, "wrong").returncode == 0

    one = running.the(states.waiting)

    assert one.state == "review-waiting" and one.what.startswith("1 thing waits")
    assert running.run("forget", memory_id, "--yes").returncode == 0


def test_what_waits_for_a_person_is_counted(running: Patient) -> None:
    scene = running.scene()
    assert scene.said is not None
    answers = [
        msgspec.structs.replace(scene.said, waiting=waits)
        for waits in (Waiting(review=1), Waiting(approvals=1, review=2))
    ]

    told = [one for said in answers for one in states.waiting(replace(scene, said=said))]

    assert [found.state for found in told] == ["review-waiting"] * 2
    assert told[0].what.startswith("1 thing waits") and told[1].what.startswith("3 things wait")
