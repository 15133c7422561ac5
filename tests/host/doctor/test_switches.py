"""Switches that turn all hooks of a product off are seen in its own settings, with comments and without."""

from pathlib import Path

import pytest

from host.doctor import switches
from tests.support.checkouts import write
from tests.support.patients import Patient

CASES = [
    ("home/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ("project/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ("project/.claude/settings.local.json", '\ufeff{"model": "x", "disableAllHooks": true}', "disableAllHooks"),
    ("home/.codex/config.toml", "# mine\n[features]\nhooks = false\n", "features.hooks"),
    ("project/.codex/config.toml", "features = { hooks = false }\n", "features.hooks"),
    ("home/.gemini/settings.json", '{ // no hooks\n "hooksConfig": {"enabled": false},\n}', "hooksConfig.enabled"),
    ("project/.gemini/settings.json", '{"hooksConfig": {"disabled": ["remora-pre"]}}', "hooksConfig.disabled"),
]


@pytest.mark.parametrize(("file", "text", "switch"), CASES)
def test_a_switch_that_is_turned_is_told_until_it_is_taken_out(
    patient: Patient, file: str, text: str, switch: str
) -> None:
    path = write(patient.folder / file, text)

    one = patient.the(switches.switches)

    assert (one.state, one.where) == ("hooks-off", str(path)) and switch in one.what
    write(path, "{}" if path.suffix == ".json" else "")
    assert patient.states(switches.switches) == []


@pytest.mark.parametrize("setting", ["disableAllHooks", "allowManagedHooksOnly"])
def test_an_administrators_switch_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    managed = write(patient.folder / "managed-settings.json", f'{{"{setting}": true}}')
    monkeypatch.setattr(switches, "MANAGED", managed)

    assert patient.the(switches.switches).state == "hooks-off"


@pytest.mark.parametrize(
    "text", ["", "not json", "[]", '{"disableAllHooks": "yes"}', '{"hooksConfig": 3}', "[" * 100_000]
)
@pytest.mark.parametrize("file", [".claude/settings.json", ".gemini/settings.json", ".codex/config.toml"])
def test_what_is_no_switch_or_cannot_be_read_is_none(patient: Patient, file: str, text: str) -> None:
    write(patient.home / file, text)

    assert patient.states(switches.switches) == []


def test_without_a_home_nothing_is_looked_for(patient: Patient) -> None:
    assert patient.states(switches.switches, HOME="") == []


def test_settings_are_only_read(patient: Patient) -> None:
    path = write(patient.home / ".claude" / "settings.json", CASES[0][1])
    before = path.stat()
    patient.found(switches.switches)

    assert (path.read_text("utf-8"), path.stat().st_mtime_ns) == (CASES[0][1], before.st_mtime_ns)
    assert Path(path).stat().st_ino == before.st_ino
