"""Codex's trust in our hooks: explained, asked for, never given in silence; a stand-in for Codex answers."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from host.namespace import env
from tests.support.fake_codex import install

CONFIG = 'model = "m"'


@pytest.fixture
def folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.setenv(env("socket"), str(tmp_path / "run" / "remora.sock"))
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(CONFIG)
    return tmp_path


def init(folder: Path, *arguments: str, said: str = "") -> Result:
    command = ["init", "--host", "codex", "--level", "user", "--workspace", str(folder), *arguments]
    return CliRunner().invoke(main, command, input=said)


def trusted(home: Path) -> int:
    return (home / ".codex" / "config.toml").read_text().count("trusted_hash")


def test_with_yes_alone_nothing_is_trusted_and_codex_is_not_started(folder: Path, home: Path) -> None:
    (folder / "bin" / "codex").write_text(f"#!/bin/sh\ntouch {folder / 'started'}\n")

    result = init(folder, "--yes")

    assert result.exit_code == 0, result.output
    assert "They stay untrusted" in result.output and "--trust-hooks" in result.output
    assert trusted(home) == 0 and not (folder / "started").exists()


def test_it_says_why_and_asks(folder: Path, home: Path) -> None:
    no = init(folder, said="y\nn\n")
    assert no.exit_code == 0 and "skips it in silence" in no.output and "Have Codex trust them?" in no.output
    assert trusted(home) == 0

    yes = init(folder, said="y\n")
    assert "Nothing to change." in yes.output and "Codex trusts them now." in yes.output
    assert trusted(home) == 10

    again = init(folder)
    assert again.output == "Nothing to change.\n"


def test_no_answer_is_a_no(folder: Path, home: Path) -> None:
    result = init(folder, said="y\n")
    assert (result.exit_code, trusted(home)) == (0, 0)


def test_the_option_answers_beforehand_and_removal_takes_the_trust_back(folder: Path, home: Path) -> None:
    result = init(folder, "--yes", "--trust-hooks")
    assert result.exit_code == 0 and trusted(home) == 10, result.output

    init(folder, "--remove", "--yes")

    assert (home / ".codex" / "config.toml").read_text() == CONFIG
    assert not (home / ".codex" / "hooks.json").exists()


def test_hooks_that_change_are_asked_about_until_they_are_trusted_again(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init(folder, "--yes", "--trust-hooks")
    monkeypatch.setenv(env("socket"), str(folder / "elsewhere" / "remora.sock"))

    changed = init(folder, "--yes")
    assert "They stay untrusted" in changed.output and trusted(home) == 0, changed.output
    again = init(folder, "--yes")
    assert again.output.startswith("Nothing to change.") and "They stay untrusted" in again.output

    init(folder, "--yes", "--trust-hooks")
    assert trusted(home) == 10 and init(folder).output == "Nothing to change.\n"
    init(folder, "--remove", "--yes")
    assert (home / ".codex" / "config.toml").read_text() == CONFIG


def test_what_codex_wrote_besides_stays_when_it_is_taken_back(folder: Path, home: Path) -> None:
    init(folder, "--yes", "--trust-hooks")
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text() + '\n[projects."/x"]\ntrust_level = "trusted"\n')

    init(folder, "--remove", "--yes")

    assert config.read_text() == f'{CONFIG}\n\n[projects."/x"]\ntrust_level = "trusted"\n'


@pytest.mark.parametrize(
    ("fault", "answer"),
    [("refuses", "Codex refused hooks/list"), ("silent", "no answer"), ("deaf", "Codex did not take it")],
)
def test_a_codex_that_fails_is_told_and_the_connection_stands(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, fault: str, answer: str
) -> None:
    monkeypatch.setenv("FAKE_CODEX", fault)
    result = init(folder, "--yes", "--trust-hooks")
    assert result.exit_code == 0 and answer in result.output and "/hooks" in result.output
    assert (home / ".codex" / "hooks.json").exists()


def test_without_codex_on_the_path_the_way_by_hand_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin" / "codex").unlink()
    monkeypatch.setenv("PATH", str(folder / "bin"))
    assert "not on the search path" in init(folder, "--yes", "--trust-hooks").output


def test_a_project_that_codex_does_not_read_is_told(folder: Path) -> None:
    command = ["init", "--host", "codex", "--workspace", str(folder), "--yes", "--trust-hooks"]
    result = CliRunner().invoke(main, command)  # the stand-in lists the user's hooks alone
    assert "trust the project in Codex first" in result.output


def test_a_program_is_told_in_one_word(folder: Path) -> None:
    assert '"codexHooks": "untrusted"' in init(folder, "--yes", "--json").output
    assert '"codexHooks": "trusted"' in init(folder, "--yes", "--json", "--trust-hooks").output
