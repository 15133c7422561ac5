"""The life of the daemon from the command line: nothing is started by looking, or by stopping."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import run as commands
from host.cli.main import main
from host.client import DaemonAbsent
from tests.host.cli.fakes import FakeDaemon, answering

HEALTHY = {"ready": True, "parts": {"index": "ok", "socket": "ok"}}
ABSENT = DaemonAbsent.__new__(DaemonAbsent)


def run(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str
) -> tuple[Result, FakeDaemon, list[str]]:
    daemon = answering(monkeypatch, commands, answers)
    started: list[str] = []
    monkeypatch.setattr(commands, "start_daemon", lambda: started.append("once"))
    return CliRunner().invoke(main, list(arguments)), daemon, started


def test_start_starts_one_when_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, started = run(monkeypatch, {"health": ABSENT}, "start")

    assert result.exit_code == 0 and result.output.startswith("Started.")
    assert started == ["once"]


def test_start_leaves_a_running_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, started = run(monkeypatch, {"health": HEALTHY}, "start", "--json")

    assert json.loads(result.output)["started"] is False
    assert started == []


def test_status_of_a_well_daemon_names_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, started = run(monkeypatch, {"health": HEALTHY}, "status")

    assert result.exit_code == 0 and started == []
    assert "  index: ok\n" in result.output and "data folder" in result.output


def test_status_ends_with_1_when_a_part_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"health": {"ready": False, "parts": {"index": "damaged"}}}, "status")

    assert result.exit_code == 1 and "index: damaged" in result.output


def test_status_without_a_daemon_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, started = run(monkeypatch, {"health": ABSENT}, "status")

    assert result.exit_code == 1 and "remora-pre start" in result.output
    assert started == []


def test_status_as_json_says_whether_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"health": ABSENT}, "status", "--json")

    assert json.loads(result.output)["running"] is False and result.exit_code == 1


def test_stop_without_a_daemon_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon, started = run(monkeypatch, {"health": ABSENT}, "stop")

    assert (result.exit_code, result.output, started) == (0, "It does not run.\n", [])
    assert [method for method, _ in daemon.asked] == ["health"]


def test_stop_waits_until_the_daemon_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ending(dict[str, Any]):
        def __getitem__(self, method: str) -> Any:
            if method == "shutdown":
                self["health"] = ABSENT
            return super().__getitem__(method)

    result, daemon, _ = run(monkeypatch, Ending({"health": HEALTHY, "shutdown": {"stopping": True}}), "stop")

    assert (result.exit_code, result.output) == (0, "Stopped.\n")
    assert [method for method, _ in daemon.asked] == ["health", "shutdown", "health"]


def test_metrics_are_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"metrics": {"sessions": 2, "events": {"accepted": 5}}}, "metrics")

    assert result.output == 'events: {"accepted":5}\nsessions: 2\n'
