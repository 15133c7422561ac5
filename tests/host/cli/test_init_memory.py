"""The memory that a repository brings is trusted when its user says so, once, and by nobody else's word."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import team_calls
from host.cli.main import main
from host.client import DaemonAbsent, Refused
from host.namespace import env
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.checkouts import a_checkout
from tests.support.team_entries import an_entry, write_entry

STATUS = {
    "format": "remora-pre-team-status@v1",
    **{counts: {} for counts in ("candidates", "tasks", "plans")},
    **dict.fromkeys(("entries", "due", "needed", "checkpoints"), 0),
}
LOCKED, ABSENT = Refused("state-failed", 0, "It is locked.", "Wait."), DaemonAbsent("None runs.", "")
QUESTION = "Do you trust them?"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.setenv(env("socket"), str(tmp_path / "run" / "remora.sock"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    top = a_checkout(tmp_path / "shop")
    write_entry(top, an_entry())
    return top


def init(
    monkeypatch: pytest.MonkeyPatch, repository: Path, trusted: object, *arguments: str, said: str = ""
) -> tuple[Result, FakeDaemon]:
    """`trusted`: what the daemon knows, or its refusal."""
    known = trusted if isinstance(trusted, Exception) else STATUS | {"trusted": trusted}

    def made(params: dict[str, Any]) -> dict[str, Any]:
        return {"format": "x", "created": [".remora-pre/.gitignore"], "trusted": params["trusted"], "entries": 1}

    daemon = answering(monkeypatch, team_calls, {"team.status": known, "team.init": made})
    command = ["init", "--workspace", str(repository), "--host", "claude-code", *arguments]
    return CliRunner().invoke(main, command, input=said), daemon


def asked(daemon: FakeDaemon, method: str) -> list[Any]:
    return [params for name, params in daemon.asked if name == method]


@pytest.mark.promise("team-26")
@pytest.mark.parametrize(("said", "trusted"), [("y\ny\n", True), ("y\nn\n", False), ("y\n\n", False)])
def test_it_says_what_that_means_and_asks(
    monkeypatch: pytest.MonkeyPatch, repository: Path, said: str, trusted: bool
) -> None:
    result, daemon = init(monkeypatch, repository, None, said=said)

    assert result.exit_code == 0, result.output
    assert "brings memories, in 1 file below .remora-pre/memory." in result.output and QUESTION in result.output
    assert asked(daemon, "team.init")[0]["trusted"] is trusted
    assert ("is trusted" in result.output) is trusted and "made .remora-pre/.gitignore" in result.output


@pytest.mark.parametrize(("option", "trusted"), [("--trust-memory", True), ("--distrust-memory", False)])
def test_a_no_to_the_settings_is_none_to_what_was_said_of_the_memory(
    monkeypatch: pytest.MonkeyPatch, repository: Path, option: str, trusted: bool
) -> None:
    result, daemon = init(monkeypatch, repository, None, option, said="n\n")

    assert result.exit_code == 1 and "Nothing was written." in result.output
    assert [one["trusted"] for one in asked(daemon, "team.init")] == [trusted]
    assert not (repository / ".mcp.json").exists()


def test_what_is_taken_back_leaves_the_memory_and_says_so(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    init(monkeypatch, repository, False, "--yes")
    result, _ = init(monkeypatch, repository, False, "--remove", "--yes")

    assert (
        f"The memory in {repository / '.remora-pre' / 'memory'} stays: it belongs to the repository." in result.output
    )
    assert list((repository / ".remora-pre" / "memory").rglob("*.md"))


def test_it_is_asked_once(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    for known in (True, False):
        result, daemon = init(monkeypatch, repository, known, said="y\n")
        assert QUESTION not in result.output and asked(daemon, "team.init") == []


def test_no_answer_is_none_and_it_is_asked_again(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    result, daemon = init(monkeypatch, repository, None, said="y\n")

    assert result.exit_code == 0 and QUESTION in result.output and asked(daemon, "team.init") == []


@pytest.mark.promise("team-26")
@pytest.mark.parametrize("how", [["--yes"], ["--yes", "--json"]])
def test_a_script_that_agrees_to_what_is_written_has_not_agreed_to_that(
    monkeypatch: pytest.MonkeyPatch, repository: Path, how: list[str]
) -> None:
    result, daemon = init(monkeypatch, repository, None, *how)

    assert result.exit_code == 0 and QUESTION not in result.output and asked(daemon, "team.init") == []


@pytest.mark.parametrize(("option", "trusted"), [("--trust-memory", True), ("--distrust-memory", False)])
def test_it_can_be_said_beforehand_and_later(
    monkeypatch: pytest.MonkeyPatch, repository: Path, option: str, trusted: bool
) -> None:
    result, daemon = init(monkeypatch, repository, not trusted, "--yes", "--json", option)

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["memoryTrusted"] is trusted
    assert [one["trusted"] for one in asked(daemon, "team.init")] == [trusted]


def test_what_was_said_beforehand_and_cannot_be_kept_is_an_error(
    monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    no_person = Refused("reviewer-kind", -32000, "That is the user's own decision.", "Ask them.")
    daemon = answering(monkeypatch, team_calls, {"team.init": no_person})
    command = ["init", "--workspace", str(repository), "--host", "claude-code", "--yes", "--trust-memory"]

    result = CliRunner().invoke(main, command)

    assert result.exit_code == 1 and "the user's own decision" in result.output
    assert len(asked(daemon, "team.init")) == 1


@pytest.mark.parametrize("fault", [LOCKED, ABSENT])
def test_a_question_that_cannot_be_asked_waits(
    monkeypatch: pytest.MonkeyPatch, repository: Path, fault: Exception
) -> None:
    result, _ = init(monkeypatch, repository, fault, said="y\n")

    assert result.exit_code == 0 and "was not settled" in result.output


@pytest.mark.parametrize("what", ["empty", "no-git", "removal"])
def test_without_memory_or_git_no_daemon_is_asked(monkeypatch: pytest.MonkeyPatch, repository: Path, what: str) -> None:
    if what == "empty":
        next(repository.rglob("*.md")).unlink()
    if what == "no-git":
        (repository / ".git" / "HEAD").unlink()

    _, daemon = init(monkeypatch, repository, None, *(["--remove"] if what == "removal" else []), said="y\n")

    assert asked(daemon, "team.status") == [] == asked(daemon, "team.init")


def test_taking_back_says_nothing_of_trust(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    result, _ = init(monkeypatch, repository, None, "--remove", "--trust-memory")

    assert result.exit_code == 2 and "no part of taking back" in result.output
