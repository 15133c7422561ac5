"""`init --driver`: what belongs to a driver goes together, and nothing is sent away that was not agreed to."""

import json
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from host.cli.init_driver import OPTIONS, chosen, taken, told
from host.cli.main import main
from host.config import FormationSettings
from host.errors import RemoraError
from host.namespace import env
from tests.support.models import a_script


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.setenv(env("socket"), str(tmp_path / "run" / "remora.sock"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def init(repository: Path, *arguments: str, said: str = "") -> Result:
    line = ["init", "--workspace", str(repository), "--host", "claude-code", *arguments]
    return CliRunner().invoke(main, line, input=said)


def config(repository: Path) -> Path:
    return repository.parent / "data" / "config.toml"


def formation(repository: Path) -> dict[str, Any]:
    if not config(repository).exists():
        return {}
    told: dict[str, Any] = tomllib.loads(config(repository).read_text("utf-8")).get("formation", {})
    return told


OPENAI = ("--driver", "openai", "--model", "gpt-9")


def test_before_anything_is_sent_away_it_is_asked(repository: Path) -> None:
    result = init(repository, *OPENAI, said="y\ny\n")

    assert result.exit_code == 0, result.output
    asked, _, wrote = result.output.partition("Send it there? [y/N]")
    assert "what you and the agent say in your sessions is given to api.openai.com" in asked
    assert "OPENAI_API_KEY, which is not set here" in asked
    assert "who reads conversations: openai (gpt-9), at api.openai.com" in wrote
    assert "with the daemon's next start" in wrote
    assert formation(repository) == {"driver": "openai", "model": "gpt-9"}


@pytest.mark.parametrize("said", ["n\n", "\n", "no\n", "yy\n"])
def test_a_no_writes_nothing_at_all(repository: Path, said: str) -> None:
    result = init(repository, *OPENAI, said=said)

    assert result.exit_code == 1 and result.output.endswith("Nothing was written.\n")
    assert not config(repository).exists() and not (repository / ".mcp.json").exists()


def test_without_an_answer_nothing_is_written(repository: Path) -> None:
    result = init(repository, *OPENAI)

    assert result.exit_code == 1 and "there was no answer" in result.stderr
    assert not config(repository).exists()


@pytest.mark.parametrize("quiet", [("--yes",), ("--yes", "--json")])
def test_to_agree_to_what_is_written_is_not_to_agree_to_what_is_sent(repository: Path, quiet: tuple[str, ...]) -> None:
    result = init(repository, *OPENAI, *quiet)

    assert result.exit_code == 1 and "--send-text" in result.stderr and "api.openai.com" in result.stderr
    assert not config(repository).exists()

    assert init(repository, *OPENAI, *quiet, "--send-text").exit_code == 0
    assert formation(repository)["driver"] == "openai"


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (("--driver", "agent"), {}),
        (
            ("--driver", "openai", "--model", "qwen", "--base-url", "http://localhost:11434/v1"),
            {"driver": "openai", "model": "qwen", "base_url": "http://localhost:11434/v1"},
        ),
    ],
)
def test_what_stays_on_the_machine_needs_no_second_question(
    repository: Path, arguments: tuple[str, ...], written: dict[str, Any]
) -> None:
    result = init(repository, *arguments, "--yes")

    assert result.exit_code == 0 and "Send it there?" not in result.output
    assert formation(repository) == written


def test_a_script_is_taken_by_its_whole_path(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = a_script(tmp_path, {"text": "x"})
    monkeypatch.chdir(tmp_path)

    assert init(repository, "--driver", "scripted", "--script", "script.json", "--yes").exit_code == 0
    assert formation(repository) == {"driver": "scripted", "script": script}


def test_a_command_may_send_away_whatever_it_is_given(repository: Path) -> None:
    result = init(repository, "--driver", "command", "--command", "claude -p 'be brief'", said="y\ny\n")

    assert "is given to the command claude -p be brief" in result.output
    assert formation(repository) == {"driver": "command", "command": ["claude", "-p", "be brief"]}


def test_a_driver_brings_nothing_of_the_one_before(repository: Path) -> None:
    settings = 'driver = "openai"\nmodel = "m"\nbase_url = "https://gate.example/v1"\napi_key_env = "GATE"'
    config(repository).parent.mkdir(parents=True)
    config(repository).write_text(f"# mine\n[formation]\n{settings}\nmin_sessions = 3  # careful\n", "utf-8")

    result = init(repository, "--driver", "anthropic", "--model", "c-5", said="y\ny\n")

    assert result.exit_code == 0, result.output
    assert formation(repository) == {"driver": "anthropic", "model": "c-5", "min_sessions": 3}
    assert (
        config(repository).read_text("utf-8").startswith("# mine\n") and "# careful" in config(repository).read_text()
    )


def test_what_is_sent_already_is_not_asked_again_and_a_new_receiver_is(repository: Path) -> None:
    assert init(repository, *OPENAI, "--yes", "--send-text").exit_code == 0

    again = init(repository, *OPENAI, "--yes")
    assert again.exit_code == 0 and "Nothing to change." in again.output
    assert init(repository, "--driver", "openai", "--model", "other", "--yes").exit_code == 0
    other = init(repository, *OPENAI, "--base-url", "https://gate.example/v1", "--yes")
    assert other.exit_code == 1 and "gate.example" in other.stderr


def test_both_settings_are_written_at_once_and_told_to_a_program(repository: Path) -> None:
    result = init(repository, *OPENAI, "--holdout", "0.1", "--yes", "--json", "--send-text")

    assert json.loads(result.stdout)["driver"] == "openai"
    read = tomllib.loads(config(repository).read_text("utf-8"))
    assert read["evaluation"] == {"holdout": 0.1} and read["formation"]["driver"] == "openai"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "x"), "is said with --driver"),
        (("--send-text",), "is said with --driver"),
        (("--driver", "agent", "--model", "x"), "needs no settings"),
        (("--driver", "gemini"), "gemini"),
        (("--driver", "openai"), "formation.model"),
        (("--driver", "openai", "--model", "x", "--base-url", "http://gate.example"), "Use https"),
        (("--driver", "command", "--command", "'open"), "no command line"),
        (("--driver", "command"), "formation.command"),
        (("--driver", "scripted", "--script", "/no/such.json"), "cannot be read"),
        (("--driver", "agent", "--remove"), "no part of taking back"),
    ],
)
def test_what_gives_no_driver_is_refused_before_anything_is_written(
    repository: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = (
        init(repository, *arguments, "--yes", "--send-text")
        if "--model" in arguments
        else init(repository, *arguments, "--yes")
    )

    assert result.exit_code != 0 and said in result.output
    assert not config(repository).exists() and not (repository / ".mcp.json").exists()


# ------------------------------------------------------------------------------------------------------- by itself

NOTHING = dict.fromkeys(("driver", *OPTIONS)) | {"send_text": False}


def test_options_are_taken_out_of_a_commands_own() -> None:
    how = {**NOTHING, "driver": "openai", "model": "m", "yes": True}

    assert taken(how)["model"] == "m" and how == {"yes": True}
    assert taken(dict(NOTHING)) == {}
    with pytest.raises(click.UsageError):
        taken({**NOTHING, "api": "chat"})


def test_what_is_told_before_the_question(tmp_path: Path) -> None:
    given = {**NOTHING, "driver": "openai", "model": "m", "api_key_env": "MINE"}
    made = chosen(given, FormationSettings(), {}, tmp_path)

    assert made.sends == "api.openai.com" and made.values["api_key_env"] == "MINE" and made.values["base_url"] is None
    lines = "\n".join(told(made, {"MINE": "sk-1"}))
    assert "of earlier sessions what waits to be read already" in lines
    assert "MINE, which is set here" in lines and "sk-1" not in lines and "incognito" in lines
    with pytest.raises(RemoraError, match="Nothing was written"):
        chosen({**NOTHING, "driver": "openai"}, FormationSettings(), {}, tmp_path)
