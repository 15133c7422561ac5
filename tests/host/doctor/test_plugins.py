"""The copy of our plugin that Claude Code keeps is held against what this installation would build."""

import json
from pathlib import Path

import pytest

from host.doctor import plugins
from host.doctor.connections import wanted_now
from host.setup.plugin import HOOKS, files
from tests.support.checkouts import write
from tests.support.patients import Patient

OURS = "remora-pre@remora-pre"


@pytest.fixture
def copy(patient: Patient) -> Path:
    """The folder of the copy, as Claude Code 2.1.332 lays it out when the plugin is installed."""
    patient.settle()
    claude = patient.home / ".claude"
    folder = claude / "plugins" / "cache" / "remora-pre" / "remora-pre" / "0.1.0"
    installed = {"version": 2, "plugins": {OURS: [{"scope": "user", "installPath": str(folder)}]}}
    write(claude / "plugins" / "installed_plugins.json", json.dumps(installed))
    write(claude / "settings.json", json.dumps({"enabledPlugins": {OURS: True}}))
    build(patient, folder)
    return folder


def build(patient: Patient, folder: Path) -> None:
    scene = patient.scene()
    for name, text in files(wanted_now(scene), scene.version).items():
        write(folder / name, text)


def test_a_copy_of_this_installation_is_well(patient: Patient, copy: Path) -> None:
    assert patient.states(plugins.plugins) == []


def test_a_copy_whose_installation_is_gone_is_told_until_it_is_built_anew(patient: Patient, copy: Path) -> None:
    hooks = copy / HOOKS
    hook = wanted_now(patient.scene()).tools.hook
    hooks.write_text(hooks.read_text("utf-8").replace(hook, f"/gone{hook}"), "utf-8")

    one = patient.the(plugins.plugins)

    assert one.state == "hooks-stale" and f"/gone{hook}" in one.what
    build(patient, copy)
    assert patient.states(plugins.plugins) == []


def test_an_older_copy_is_told(patient: Patient, copy: Path) -> None:
    hooks = copy / HOOKS
    hooks.write_text(hooks.read_text("utf-8").replace("PostToolBatch", "PostToolUse"), "utf-8")

    assert patient.the(plugins.plugins).state == "hooks-outdated"


def test_a_copy_without_its_hooks_is_told(patient: Patient, copy: Path) -> None:
    (copy / HOOKS).unlink()

    assert patient.the(plugins.plugins).state == "hooks-stale"


def test_one_that_is_switched_off_is_not_looked_at(patient: Patient, copy: Path) -> None:
    (copy / HOOKS).unlink()
    write(patient.home / ".claude" / "settings.json", json.dumps({"enabledPlugins": {OURS: False}}))

    assert patient.states(plugins.plugins) == []
    assert patient.states(plugins.plugins, HOME="") == []


@pytest.mark.parametrize("text", ["", "[]", '{"plugins": 3}', '{"plugins": {"remora-pre@x": [1, {"installPath": 2}]}}'])
def test_a_list_of_another_form_says_nothing(patient: Patient, copy: Path, text: str) -> None:
    write(patient.home / ".claude" / "plugins" / "installed_plugins.json", text)

    assert patient.states(plugins.plugins) == []
