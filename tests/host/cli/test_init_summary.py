"""What `init` says before it asks, and what it refuses before it says anything."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from host.cli.init_summary import lines_of
from host.namespace import env
from host.setup import REGISTRARS
from host.setup.edits import Edit
from tests.host.cli.test_init import HOST, files, init


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.setenv(env("socket"), str(tmp_path / "run" / "remora.sock"))
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def test_products_and_files_come_first_and_each_line_on_demand(repository: Path) -> None:
    short = init(repository, "--host", "codex", said="n\n").output
    asked = init(repository, "--host", "codex", said="d\nn\n").output
    whole = init(repository, "--host", "codex", "--diff", said="n\n").output

    assert short.startswith(f"Connects Claude Code, Codex CLI for the project {repository}.\n")
    places = [short.index(str(repository / file)) for file in (".mcp.json", ".codex/config.toml", ".codex/hooks.json")]
    assert places == sorted(places)
    lines = short.splitlines()
    assert len(lines) < 40 and max(map(len, lines)) < 400
    assert "Share" not in short and "keep back" not in short
    for event in (event for host in (HOST, "codex") for event in REGISTRARS[host].EVENTS):
        assert event in short
    assert '+    "SessionStart": [{"hooks"' not in short
    for told in (asked, whole):
        assert told.count('+    "SessionStart": [{"hooks"') == 2  # an entry stands on one line
        assert short.partition("Write this?")[0][:200] in told


def test_a_script_that_says_yes_is_told_in_short_and_in_full_when_it_wants(repository: Path) -> None:
    assert '+    "Stop"' not in init(repository, "--yes").output
    assert '-    "Stop"' in init(repository, "--remove", "--yes", "--diff").output


def test_json_asks_with_all_of_it_beside_the_answer(repository: Path) -> None:
    result = init(repository, "--json", said="d\ny\n")
    assert json.loads(result.stdout)["changed"] is True
    assert "Connects Claude Code" in result.stderr and '+    "Stop"' in result.stderr


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_folder_nothing_is_written(repository: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("HOME", home)
    result = init(repository, "--yes", "--level", "user")
    assert result.exit_code == 1 and "HOME" in result.output and files(repository) == {}


def test_git_s_private_list_gets_one_line_of_ours_beside_the_files(repository: Path) -> None:
    (repository / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    exclude = repository / ".git" / "info" / "exclude"
    before = exclude.read_text()

    for host in REGISTRARS:
        init(repository, "--yes", host=host)

    added = exclude.read_text().removeprefix(before).splitlines()
    assert [line.startswith("#") for line in added] == [True] + [False] * 8
    for host in reversed(REGISTRARS):
        init(repository, "--remove", "--yes", host=host)
    assert exclude.read_text() == before


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
@pytest.mark.parametrize("remove", [False, True])
def test_settings_that_are_no_plain_file_are_refused_at_once(repository: Path, kind: str, remove: bool) -> None:
    settings = repository / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(settings)
    elif kind == "device":
        settings.symlink_to("/dev/zero")
    else:
        settings.touch()
        os.truncate(settings, 50 * 2**20)
    before = settings.stat()

    result = init(repository, "--yes", *(["--remove"] if remove else []))

    assert result.exit_code == 1 and str(settings) in result.output, result.output
    assert (settings.stat().st_ino, settings.stat().st_mode) == (before.st_ino, before.st_mode)
    assert not (repository / ".mcp.json").exists()


def test_what_git_tracks_is_left_alone_and_the_other_way_is_said(repository: Path) -> None:
    (repository / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    (repository / ".mcp.json").write_text("{}")
    subprocess.run(["git", "add", ".mcp.json"], cwd=repository, check=True)

    result = init(repository, said="n\n")

    (line,) = [line for line in result.output.splitlines() if line.startswith("Left alone")]
    assert str(repository / ".mcp.json") in line and line.endswith("init --host claude-code --level user")


def test_what_goes_is_said_as_what_comes(repository: Path) -> None:
    init(repository, "--yes")
    result = init(repository, "--remove", said="n\n")

    assert result.output.startswith(f"Takes back Claude Code for the project {repository}.\n")
    assert f"remove  {repository / '.mcp.json'}  (lines: +0 -5)" in result.output
    assert "MCP server: " in result.output and f"remove  the folder {repository}" in result.output
    assert "Nothing was written." in result.output and (repository / ".mcp.json").exists()


def test_the_lines_that_come_and_go_are_those_of_the_difference(repository: Path) -> None:
    edit = Edit(path=repository / "a", before="one\ntwo\n--- x\n", after="one\n+++ y\n2\n3\n")
    assert lines_of(edit) == (3, 2)


@pytest.mark.parametrize(
    ("host", "file", "text", "said"),
    [
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("gemini-cli", ".gemini/settings.json", '{"ui": {},}', "trailing commas"),
    ],
)
def test_where_nothing_can_run_it_says_so(
    repository: Path, home: Path, host: str, file: str, text: str, said: str
) -> None:
    assert said not in init(repository, "--yes", host=host).output
    (home / file).parent.mkdir(exist_ok=True)
    (home / file).write_text(text)

    for _ in range(2):  # as often as it is asked
        told = init(repository, "--yes", host=host).output
        assert told.count(str(home / file)) == 1 and said in told
    assert said not in init(repository, "--yes", host="opencode").output
    assert said not in init(repository, "--yes", "--remove", host=host).output


def test_taking_back_names_what_is_still_connected_elsewhere(repository: Path) -> None:
    init(repository, "--yes")
    init(repository, "--yes", host="gemini-cli")
    init(repository, "--yes", "--level", "user", host="cursor")

    told = init(repository, "--remove", "--yes").output.splitlines()

    assert told[-2:] == [
        "  remora-pre init --host cursor --level user --remove",
        f"  remora-pre init --host gemini-cli --workspace {repository} --remove",
    ]
    init(repository, "--remove", "--yes", host="gemini-cli")
    last = init(repository, "--remove", "--yes", "--level", "user", host="cursor").output
    assert last.splitlines()[-1] == "Taken back."
