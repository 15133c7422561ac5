"""`init` shows, asks, writes once, and takes back exactly what it wrote."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from host.namespace import REPOSITORY_FOLDER, env


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
    result = init(repository, said="n\n")

    assert result.exit_code == 1
    assert "hooks" in result.output and "Write this?" in result.output
    assert files(repository) == {} and not (repository / REPOSITORY_FOLDER).exists()


def test_agreed_it_registers_hooks_and_makes_the_memory_folder(repository: Path) -> None:
    result = init(repository, said="y\n")

    assert result.exit_code == 0, result.output
    (settings,) = [name for name in files(repository) if name.endswith(".json")]
    assert "PostToolBatch" in json.loads((repository / settings).read_text())["hooks"]
    assert (repository / REPOSITORY_FOLDER / "memory").is_dir()


def test_the_token_is_not_shown(repository: Path, tmp_path: Path) -> None:
    result = init(repository, said="n\n")

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
