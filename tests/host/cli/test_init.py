"""`init` shows, asks, writes once, and takes back exactly what it wrote."""

import json
import os
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from host.config import is_free
from host.namespace import REPOSITORY_FOLDER, env
from host.setup import REGISTRARS, settings_file
from host.sockets import is_stopped, leave_stopped
from tests.support.daemon import RunningDaemon

HOST = "claude-code"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.setenv(env("socket"), str(tmp_path / "run" / "remora.sock"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")  # no agent product
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def init(repository: Path, *arguments: str, said: str = "", host: str = HOST) -> Result:
    chosen = ["--host", host] if host else []
    return CliRunner().invoke(main, ["init", "--workspace", str(repository), *chosen, *arguments], input=said)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git/" not in path.as_posix()
    }


@pytest.mark.parametrize("said", ["n\n", "\n", "no\n", "what?\nN\n"])
def test_nothing_is_written_before_it_is_agreed_to(repository: Path, said: str) -> None:
    result = init(repository, said=said)

    assert result.exit_code == 1
    assert "PostToolBatch" in result.output and "Write this?" in result.output
    assert result.output.endswith("Nothing was written.\n") and result.stderr == ""  # a no is no error
    assert files(repository) == {} and not (repository / REPOSITORY_FOLDER).exists()
    assert not (repository.parent / "data").exists()  # no port, and no token


def test_agreed_it_registers_hooks_and_makes_the_memory_folder(repository: Path) -> None:
    leave_stopped(repository.parent / "run")
    result = init(repository, said="y\n")

    assert result.exit_code == 0, result.output
    assert set(files(repository)) == {".mcp.json", ".claude/settings.local.json"}
    assert "PostToolBatch" in json.loads((repository / ".claude" / "settings.local.json").read_text())["hooks"]
    assert "remora-pre" in json.loads((repository / ".mcp.json").read_text())["mcpServers"]
    assert (repository / REPOSITORY_FOLDER / "memory").is_dir()
    assert not is_stopped(repository.parent / "run")  # so hooks may start it again


@pytest.mark.parametrize("said", ["", "d\n"])
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
    result = init(repository, "--diff", said="d\ny\n")

    (token,) = [path.read_text().strip() for path in (tmp_path / "data").rglob("http.token")]
    assert token and token not in result.output and "Bearer •••" in result.output
    assert token in (repository / ".claude" / "settings.local.json").read_text()


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
    (host,) = first["hosts"]
    assert host["host"] == HOST and all(Path(file["path"]).is_file() for file in host["files"])
    assert first["port"] == second["port"] and first["portMoved"] is False


# ------------------------------------------------------------------------------------------------------- which products


def install(repository: Path, program: str) -> None:
    folder = repository.parent / "bin"
    folder.mkdir(exist_ok=True)
    (folder / program).write_text("#!/bin/sh\n")
    (folder / program).chmod(0o755)


def test_products_are_found_by_their_programs_and_folders(repository: Path, home: Path) -> None:
    install(repository, "claude")
    (home / ".gemini").mkdir()

    answer = json.loads(init(repository, "--yes", "--json", host="").output)

    assert [one["host"] for one in answer["hosts"]] == ["claude-code", "gemini-cli"]
    assert answer["hosts"][0]["found"] == [f"claude is {repository.parent / 'bin' / 'claude'}"]
    assert set(files(repository)) == {".mcp.json", ".claude/settings.local.json", ".gemini/settings.json"}


def test_without_any_product_it_says_how_to_name_one(repository: Path) -> None:
    result = init(repository, "--yes", host="")
    assert result.exit_code == 1 and "--host claude-code" in result.output and files(repository) == {}


def test_several_products_are_shown_whole_and_asked_for_once(repository: Path) -> None:
    result = init(repository, "--host", "gemini-cli", "--host", "opencode", said="y\n", host="cursor")

    assert result.exit_code == 0 and result.output.count("Write this?") == 1
    asked = result.output.partition("Write this?")[0]
    written = {".cursor/mcp.json", ".cursor/hooks.json", ".gemini/settings.json", "opencode.json"}
    assert set(files(repository)) == written and all(name in asked for name in written)
    assert "nothing is staged or committed" in asked


def test_taking_back_finds_what_was_connected(repository: Path) -> None:
    for host in REGISTRARS:
        init(repository, "--yes", host=host)
    assert len(files(repository)) == 8

    result = init(repository, "--remove", "--yes", host="")

    assert result.exit_code == 0 and files(repository) == {}, result.output
    assert init(repository, "--remove", "--yes", host="").output == "Nothing to change.\n"
    assert not list((repository.parent / "data").rglob("*.before"))


def test_taking_one_back_leaves_the_others(repository: Path) -> None:
    init(repository, "--yes", "--host", "cursor")

    init(repository, "--remove", "--yes")

    assert set(files(repository)) == {".cursor/mcp.json", ".cursor/hooks.json"}
    assert (repository / REPOSITORY_FOLDER / "memory").is_dir()  # theirs as well
    init(repository, "--remove", "--yes", host="cursor")
    assert not (repository / REPOSITORY_FOLDER).exists()


def test_a_product_at_both_levels_is_told_to_have_its_hooks_twice(repository: Path) -> None:
    assert "twice" not in init(repository, "--yes").output
    told = init(repository, "--yes", "--level", "user").output
    assert "Claude Code has the hooks twice now" in told and "init --host claude-code --level project --remove" in told


def test_the_home_folder_is_no_project(home: Path, repository: Path) -> None:
    result = init(home, "--yes")
    assert result.exit_code == 1 and "--level user" in result.output
    assert init(home, "--yes", "--level", "user").exit_code == 0
    assert (home / ".claude" / "settings.json").exists() and (home / ".claude.json").exists()


# ------------------------------------------------------------------------------------------------- what users have


def test_our_own_folders_are_made_for_their_owner_alone(repository: Path, tmp_path: Path) -> None:
    init(repository, "--yes", host="gemini-cli")
    made = [path for path in (tmp_path / "data").rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "data", *made)} == {0o700}
    assert tmp_path / "data" / "state" / "settings" in made


def test_a_file_that_cannot_be_edited_is_named_and_nothing_is_written(repository: Path) -> None:
    broken = repository / ".claude" / "settings.local.json"
    broken.parent.mkdir()
    broken.write_text('{"hooks": {')

    result = init(repository, "--yes")

    assert result.exit_code == 1 and str(broken) in result.output and "no JSON" in result.output
    assert set(files(repository)) == {".claude/settings.local.json"}


def test_comments_are_kept_and_the_user_learns_that_the_product_reads_nothing(repository: Path) -> None:
    noted = repository / ".claude" / "settings.local.json"
    noted.parent.mkdir()
    noted.write_text("{} // mine\n")

    result = init(repository, "--yes")

    assert "// mine" in noted.read_text() and "Claude Code does not read" in result.output


# --------------------------------------------------------------------------------------------------- what moved since


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        yield other.getsockname()[1]


def test_a_port_that_another_program_holds_is_moved_with_a_new_token(
    repository: Path, tmp_path: Path, taken: int
) -> None:
    init(repository, "--yes")
    settings = repository / ".claude" / "settings.local.json"
    token = (tmp_path / "data" / "state" / "http.token").read_text()
    (tmp_path / "data" / "state" / "http.port").write_text(str(taken))

    refused = init(repository, said="n\n")
    assert (tmp_path / "data" / "state" / "http.port").read_text() == str(taken)
    moved = init(repository, "--yes")

    port = (tmp_path / "data" / "state" / "http.port").read_text()
    assert refused.exit_code == 1 and moved.exit_code == 0
    assert f"Another program holds the port {taken}" in moved.output and token not in moved.output + refused.output
    assert f"127.0.0.1:{port}/" in settings.read_text() and token not in settings.read_text()
    assert "Nothing to change." in init(repository, "--yes").output


def test_a_port_that_our_own_daemon_holds_stays(
    daemon: RunningDaemon, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in daemon.environment().items():
        monkeypatch.setenv(name, value)
    answer = json.loads(init(repository, "--yes", "--json").output)
    assert answer["portMoved"] is False and not is_free(answer["port"])


def test_without_http_in_the_configuration_hooks_that_need_it_are_left_out(repository: Path) -> None:
    config(repository).parent.mkdir(parents=True)
    config(repository).write_text("[daemon]\nhttp = false\n")
    result = init(repository, "--yes")
    assert "Left alone" in result.output and "http = false" in result.output
    assert set(files(repository)) == {".mcp.json"}


# ----------------------------------------------------------------------------------------------------- what is held out


def config(repository: Path) -> Path:
    return repository.parent / "data" / "config.toml"


def holdout(repository: Path) -> float:
    return float(tomllib.loads(config(repository).read_text())["evaluation"]["holdout"])


def test_what_to_keep_back_is_said_before_it_is_agreed_to(repository: Path) -> None:
    result = init(repository, "--holdout", "0.1", said="d\ny\n")

    assert result.exit_code == 0, result.output
    asked = result.output.partition("Write this?")[0]
    assert str(config(repository)) in asked and "kept back" in asked
    assert "+holdout = 0.1" in result.output
    assert holdout(repository) == 0.1
    assert "next start" in result.output


def test_by_default_nothing_is_kept_back_and_nobody_is_asked(repository: Path) -> None:
    result = init(repository, said="y\n")

    assert result.exit_code == 0, result.output
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


def test_a_share_that_is_set_stays_and_can_be_taken_back_to_nothing(repository: Path) -> None:
    config(repository).parent.mkdir(parents=True)
    config(repository).write_text("[evaluation]\nholdout = 0.2\n")

    first = init(repository, said="y\n")
    init(repository, "--yes", "--holdout", "0")

    assert first.exit_code == 0 and str(config(repository)) not in first.output
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
