"""The life of the daemon from the command line: nothing is started by looking, or by stopping."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import run as commands
from host.cli.main import main
from host.client import DaemonAbsent
from recall.contracts import RecordState
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


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({"stage": "indexing", "done": 45, "total": 100}, "  index: indexing, 45 %\n"),
        ({"stage": "rebuilding", "done": 0, "total": 0}, "  index: rebuilding\n"),
        ({"stage": "idle", "done": 0, "total": 0}, "  index: ok\n"),
    ],
)
def test_status_says_how_far_the_index_is(monkeypatch: pytest.MonkeyPatch, index: dict[str, Any], said: str) -> None:
    result, _, _ = run(monkeypatch, {"health": HEALTHY | {"index": index}}, "status")

    assert said in result.output


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        ({"approvals": 0, "review": 0}, []),
        ({"approvals": 1, "review": 0}, ["1 procedure would have been shown and can do harm: remora-pre approve"]),
        ({"approvals": 0, "review": 3}, ["3 items in the review queue: remora-pre review"]),
    ],
)
def test_status_says_what_waits_for_its_user(
    monkeypatch: pytest.MonkeyPatch, waiting: dict[str, int], said: list[str]
) -> None:
    result, _, _ = run(monkeypatch, {"health": HEALTHY | {"waiting": waiting}}, "status")

    assert result.exit_code == 0
    assert [line for line in result.output.splitlines() if not line.startswith(("It", "  "))] == said


OTHERS = HEALTHY | {"data": "/theirs", "pid": 77}


def test_status_of_anothers_daemon_shows_its_data_folder_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    said, _, _ = run(monkeypatch, {"health": OTHERS}, "status")
    as_json, _, _ = run(monkeypatch, {"health": OTHERS}, "status", "--json")

    assert "  data folder: /theirs\n" in said.output and "another data folder" in said.output
    assert json.loads(as_json.output)["data"] == "/theirs"
    assert said.exit_code == as_json.exit_code == 1


def test_start_does_not_take_anothers_daemon_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, started = run(monkeypatch, {"health": OTHERS}, "start")

    assert result.exit_code == 1 and "/theirs" in result.output
    assert started == []


def test_status_counts_what_is_not_used_of_the_memory_files_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = {"file": "/m/a.md", "state": "malformed-anchor", "problem": "no id"}
    whole = {"file": "/m/b.md", "line": 0, "state": "new-in-a-later-version", "problem": "The file is not used."}
    problems = [*({**bad, "line": line} for line in range(1, 5)), whole, whole]
    memory = {"files": 1, "records": 2, "problemCount": 30, "problems": problems, "missing": ["/gone"]}

    result, _, _ = run(monkeypatch, {"health": HEALTHY | {"memory": memory}}, "status")

    assert result.exit_code == 0
    assert "  memory: 2 records in 1 file\n" in result.output
    assert "30 places in memory files could not be used:\n" in result.output
    assert "  /m/a.md, line 1: malformed-anchor: no id. Correct the marker.\n" in result.output
    assert "  /m/b.md: new-in-a-later-version: The file is not used.\n  and 25 more\n" in result.output
    assert "/gone is not there" in result.output


def test_every_state_of_a_record_that_is_not_used_has_a_remedy() -> None:
    assert {*RecordState} - {RecordState.ANCHORED, RecordState.LEGACY} <= commands.REMEDIES.keys()


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


def test_metrics_are_a_block_each(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"metrics": {"sessions": 2, "events": {"accepted": 5}}}, "metrics")

    assert result.output == "events:\n  accepted: 5\nsessions: 2\n"


def test_metrics_for_prometheus_are_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon, _ = run(monkeypatch, {"metrics": {"text": "x_packets_total 3\n"}}, "metrics", "--prometheus")
    both, _, _ = run(monkeypatch, {}, "metrics", "--prometheus", "--json")

    assert result.output == "x_packets_total 3\n"
    assert daemon.asked[-1] == ("metrics", {"format": "prometheus"})
    assert (both.exit_code, "not both" in both.output) == (2, True)
