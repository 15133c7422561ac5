"""`init` shows, asks, writes once, and takes back exactly what it wrote."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from host.namespace import REPOSITORY_FOLDER, env
from host.setup import settings_file


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def init(repository: Path, *arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(main, ["init", "--workspace", str(repository), *arguments], input=said)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git/" not in path.as_posix()
    }


def test_nothing_is_written_before_it_is_agreed_to(repository: Path) -> None:
    result = init(repository, said="\nn\n")

    assert result.exit_code == 1
    assert "hooks" in result.output and "Write this?" in result.output
    assert result.stderr == "Error: Nothing was written.\n"
    assert files(repository) == {} and not (repository / REPOSITORY_FOLDER).exists()


def test_agreed_it_registers_hooks_and_makes_the_memory_folder(repository: Path) -> None:
    result = init(repository, said="\ny\n")

    assert result.exit_code == 0, result.output
    (settings,) = [name for name in files(repository) if name.endswith(".json")]
    assert "PostToolBatch" in json.loads((repository / settings).read_text())["hooks"]
    assert (repository / REPOSITORY_FOLDER / "memory").is_dir()


@pytest.mark.parametrize("said", ["", "\n"])
def test_without_an_answer_nothing_is_written_and_a_script_learns_what_to_say(repository: Path, said: str) -> None:
    result = init(repository, said=said)

    expected = "Error: Nothing was written, as there was no answer. A script says --yes."
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, expected)
    assert files(repository) == {}


@pytest.mark.parametrize("failing", ["config.toml", "exclude", "settings.local.json"])
def test_when_one_file_cannot_be_written_none_is(
    repository: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    (repository / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    exclude = repository / ".git" / "info" / "exclude"
    exclude.write_text("*.log\n")
    put = settings_file._replace

    def refused(path: Path, data: bytes, mode: int) -> None:
        if path.name == failing:
            raise PermissionError(13, "Permission denied")
        put(path, data, mode)

    monkeypatch.setattr(settings_file, "_replace", refused)
    result = init(repository, "--yes", "--holdout", "0.1")

    assert result.exit_code == 1 and f"{failing} cannot be written: Permission denied." in result.output
    assert files(repository) == {} and not config(repository).exists()
    assert exclude.read_text() == "*.log\n" and not (repository / REPOSITORY_FOLDER).exists()


def test_what_alone_changes_the_share_speaks_of_the_share_alone(repository: Path) -> None:
    init(repository, "--yes")

    result = init(repository, "--yes", "--holdout", "0.1")

    assert "next start" in result.output and "Start a new session" not in result.output


def test_the_token_is_not_shown(repository: Path, tmp_path: Path) -> None:
    result = init(repository, said="\nn\n")

    (token,) = [path.read_text().strip() for path in (tmp_path / "data").rglob("http.token")]
    assert token and token not in result.output


def test_a_second_time_nothing_changes(repository: Path) -> None:
    init(repository, "--yes")
    before = files(repository)

    result = init(repository)

    assert (result.exit_code, result.output) == (0, "Nothing to change.\n")
    assert files(repository) == before


def test_removing_takes_back_exactly_what_was_written(repository: Path) -> None:
    foreign = repository / ".claude" / "settings.local.json"
    foreign.parent.mkdir()
    foreign.write_text('{\n    "model": "opus",\n    "hooks": {}\n}\n')
    before = files(repository)

    init(repository, "--yes")
    result = init(repository, "--remove", "--yes")

    assert result.exit_code == 0, result.output
    assert files(repository) == before
    assert not (repository / REPOSITORY_FOLDER).exists()


def test_a_memory_folder_with_memories_stays(repository: Path) -> None:
    init(repository, "--yes")
    (repository / REPOSITORY_FOLDER / "memory" / "notes.md").write_text("mine")

    init(repository, "--remove", "--yes")

    assert (repository / REPOSITORY_FOLDER / "memory" / "notes.md").read_text() == "mine"


def test_json_says_whether_something_changed(repository: Path) -> None:
    first = json.loads(init(repository, "--yes", "--json").output)
    second = json.loads(init(repository, "--yes", "--json").output)

    assert (first["changed"], second["changed"]) == (True, False)
    assert first["host"] == "claude-code" and Path(first["settings"]).is_file()


# ----------------------------------------------------------------------------------------------------- what is held out


def config(repository: Path) -> Path:
    return repository.parent / "data" / "config.toml"


def holdout(repository: Path) -> float:
    return float(tomllib.loads(config(repository).read_text())["evaluation"]["holdout"])


def test_it_asks_what_to_keep_back_and_says_why(repository: Path) -> None:
    result = init(repository, said="0.1\ny\n")

    assert result.exit_code == 0, result.output
    asked = result.output.partition("Share to keep back")[0]
    assert "To measure what it does" in asked and "never kept back" in asked
    assert "+holdout = 0.1" in result.output  # shown before it is agreed to
    assert holdout(repository) == 0.1
    assert "next start" in result.output


@pytest.mark.parametrize("said", ["\ny\n", "0\ny\n"])
def test_by_default_nothing_is_kept_back_and_nothing_is_written_about_it(repository: Path, said: str) -> None:
    result = init(repository, said=said)

    assert result.exit_code == 0, result.output
    assert not config(repository).exists()


def test_a_share_beyond_a_half_is_asked_for_again(repository: Path) -> None:
    init(repository, said="0.9\n0.5\ny\n")

    assert holdout(repository) == 0.5


def test_yes_asks_nothing(repository: Path) -> None:
    result = init(repository, "--yes")

    assert "Share to keep back" not in result.output
    assert not config(repository).exists()


def test_the_option_answers_and_what_else_is_configured_stays(repository: Path) -> None:
    config(repository).parent.mkdir(parents=True)
    config(repository).write_text("# mine\n[recall]\nengine = false  # slow here\n")

    answer = json.loads(init(repository, "--yes", "--json", "--holdout", "0.25").output)

    assert (answer["changed"], answer["holdout"]) == (True, 0.25)
    text = config(repository).read_text()
    assert text.startswith("# mine\n[recall]\nengine = false  # slow here\n") and holdout(repository) == 0.25
    assert json.loads(init(repository, "--yes", "--json", "--holdout", "0.25").output)["changed"] is False
    assert config(repository).read_text() == text


def test_what_is_no_share_is_refused_and_nothing_is_written(repository: Path) -> None:
    for share in ("nan", "0.7", "-0.1", "inf", "10%"):
        result = init(repository, "--yes", "--holdout", share)
        assert result.exit_code == 2 and f"{share} is no number from 0 to 0.5, such as 0.1" in result.output
    assert not config(repository).exists()


def test_a_share_that_is_set_is_not_asked_for_and_can_be_taken_back_to_nothing(repository: Path) -> None:
    config(repository).parent.mkdir(parents=True)
    config(repository).write_text("[evaluation]\nholdout = 0.2\n")

    first = init(repository, said="y\n")
    init(repository, "--yes", "--holdout", "0")

    assert first.exit_code == 0 and "Share to keep back" not in first.output
    assert holdout(repository) == 0.0


def test_what_is_not_agreed_to_is_not_configured(repository: Path) -> None:
    init(repository, "--holdout", "0.1", said="n\n")

    assert not config(repository).exists()


def test_taking_back_leaves_the_configuration(repository: Path) -> None:
    init(repository, "--yes", "--holdout", "0.1")

    init(repository, "--remove", "--yes")
    both = init(repository, "--remove", "--yes", "--holdout", "0")

    assert holdout(repository) == 0.1
    assert both.exit_code == 2


def test_a_configuration_that_cannot_be_used_is_not_touched(repository: Path) -> None:
    config(repository).parent.mkdir(parents=True)
    config(repository).write_text("[evaluation]\nholdout = 2\n")

    result = init(repository, "--yes", "--holdout", "0.1")

    assert result.exit_code == 1 and "holdout" in result.output
    assert config(repository).read_text() == "[evaluation]\nholdout = 2\n"
    assert files(repository) == {}
