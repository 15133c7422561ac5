"""Settings that hold are shown; a file that cannot be used is refused with the field's name."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from host.cli.main import main
from host.namespace import env


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv(env("config"), str(path))
    return path


def test_without_a_file_the_defaults_hold(file: Path) -> None:
    result = CliRunner().invoke(main, ["config", "show"])

    assert result.exit_code == 0
    assert 'daemon.log_level = "info"' in result.output and str(file) in result.output


def test_what_the_file_says_holds(file: Path) -> None:
    file.write_text('[daemon]\nlog_level = "warning"\n')

    shown = json.loads(CliRunner().invoke(main, ["config", "show", "--json"]).output)

    assert shown["daemon"]["log_level"] == "warning"


def test_a_file_that_can_be_used_is_said_to_be(file: Path) -> None:
    file.write_text('[daemon]\nlog_level = "warning"\n')

    result = CliRunner().invoke(main, ["config", "check"])

    assert (result.exit_code, result.output) == (0, f"The configuration {file} can be used.\n")


def test_a_file_that_is_not_there_is_not_said_to_be_good(file: Path) -> None:
    checked = CliRunner().invoke(main, ["config", "check"])
    as_json = json.loads(CliRunner().invoke(main, ["config", "check", "--json"]).output)

    assert (checked.exit_code, checked.output) == (0, f"There is no file {file}: the defaults hold.\n")
    assert as_json == {"ok": True, "file": str(file), "exists": False}


def test_an_unknown_setting_is_refused_by_name(file: Path) -> None:
    file.write_text("[daemon]\nspeed = 3\n")

    result = CliRunner().invoke(main, ["config", "check"])

    assert result.exit_code == 1 and "speed" in result.output and result.output.startswith("Error: ")
