"""The life of the daemon from the command line: nothing is started by looking, or by stopping."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import run as commands
from host.cli.main import main
from host.client import DaemonAbsent, DaemonSilent
from host.namespace import env
from host.setup.records import Record, Records
from host.sockets import is_stopped, leave_stopped
from recall.contracts import RecordState
from tests.host.cli.fakes import FakeDaemon, answering

HEALTHY = {"ready": True, "parts": {"index": "ok", "socket": "ok"}}
ABSENT = DaemonAbsent.__new__(DaemonAbsent)


def socket_folder() -> Path:
    """In the home of the test."""
    return Path.home() / "s"


def run(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str
) -> tuple[Result, FakeDaemon, list[str]]:
    daemon = answering(monkeypatch, commands, answers)
    monkeypatch.setenv(env("socket"), str(socket_folder() / "d.sock"))
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


@pytest.mark.parametrize("health", [ABSENT, HEALTHY])
def test_start_says_to_hooks_that_it_is_wanted_again(monkeypatch: pytest.MonkeyPatch, health: Any) -> None:
    leave_stopped(socket_folder())

    run(monkeypatch, {"health": health}, "start")

    assert not is_stopped(socket_folder())


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
        ({"approvals": 0, "review": 1}, ["1 item in the review queue: remora-pre review"]),
        (
            {"approvals": 0, "review": 3},
            ["1 item in the review queue: remora-pre review", "2 items wait for review in other folders."],
        ),
        (
            {"checkpoints": 1},
            ["1 checkpoint waits here: ask your agent to run it, or see what there is: remora-pre checkpoint --list"],
        ),
        (
            {"checkpoints": 3},
            [
                "1 checkpoint waits here: ask your agent to run it, or see what there is: remora-pre checkpoint --list",
                "2 checkpoints wait in other folders.",
            ],
        ),
    ],
)
def test_status_says_what_waits_for_its_user(
    monkeypatch: pytest.MonkeyPatch, waiting: dict[str, int], said: list[str]
) -> None:
    here = {"formation.status": {"state": "ok", "waiting": 1}, "review.list": {"items": [], "total": 1}}
    result, _, _ = run(monkeypatch, {"health": HEALTHY | {"waiting": waiting}} | here, "status")

    assert result.exit_code == 0
    assert [line for line in result.output.splitlines() if not line.startswith(("It", "  "))] == said


def test_status_says_which_sessions_are_only_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"host": "claude-code", "version": "2.1.332", "sessions": 3}
    unknown = {"host": "codex", "version": "7.1.0", "sessions": 1, "watched": "7.1.0 is not in the table"}

    result, _, _ = run(monkeypatch, {"health": HEALTHY | {"hosts": [known, unknown]}}, "status")

    assert result.exit_code == 0
    said = "codex is watched only: version 7.1.0 is not in the table. How to allow it says: remora-pre doctor\n"
    assert said in result.output
    assert "claude-code" not in result.output


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


@pytest.mark.promise("team-26")
def test_status_says_which_repository_waits_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    unasked = [{"repository": "/shop", "records": 1}, {"repository": "/tools", "records": 3}]

    result, _, _ = run(monkeypatch, {"health": HEALTHY | {"memory": {"unasked": unasked}}}, "status")

    assert result.exit_code == 0
    assert "/shop brings 1 record, shown as hints at most: you were not asked" in result.output
    assert "/tools brings 3 records" in result.output and "remora-pre init asks, in that folder." in result.output


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


class Ending(dict[str, Any]):
    """Answers of a daemon until it is told to stop. `marked`: whether the mark was there by then."""

    marked = False

    def __getitem__(self, method: str) -> Any:
        if method == "shutdown":
            self.marked = is_stopped(socket_folder())
            self["health"] = ABSENT
        return super().__getitem__(method)


def ending() -> Ending:
    return Ending({"health": HEALTHY, "shutdown": {"stopping": True}})


def test_stop_waits_until_the_daemon_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon, _ = run(monkeypatch, ending(), "stop")

    assert (result.exit_code, result.output) == (0, "Stopped.\n")
    assert [method for method, _ in daemon.asked] == ["health", "shutdown", "health"]


HANGS = DaemonSilent("It does not answer.", "Stop it.")
HANGS.__cause__ = TimeoutError()


@pytest.mark.parametrize("answers", [{"health": HANGS}, {"health": HEALTHY, "shutdown": HANGS}])
@pytest.mark.parametrize(("killed", "said"), [(True, "It had to be killed."), (False, "It ended at a signal.")])
def test_stop_ends_one_that_hangs_and_says_how(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], killed: bool, said: str
) -> None:
    ended: list[Path] = []
    monkeypatch.setattr(commands.hung_up, "end", lambda *where: ended.extend(where) or killed)

    result, _, _ = run(monkeypatch, answers, "stop")

    assert (result.exit_code, ended) == (0, [commands.paths().socket, commands.paths().lock])
    assert result.output == f"Stopped.\nIt did not answer. {said} Nothing that was kept is lost.\n"
    assert is_stopped(socket_folder())


def test_stop_leaves_alone_what_is_no_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.hung_up, "end", lambda *where: pytest.fail("ended"))

    result, _, _ = run(monkeypatch, {"health": DaemonSilent("It speaks otherwise.", "Look.")}, "stop")

    assert (result.exit_code, "It speaks otherwise." in result.output) == (1, True)


def test_stop_takes_one_that_ended_meanwhile_for_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"health": HEALTHY, "shutdown": ABSENT}, "stop")

    assert (result.exit_code, result.output) == (0, "Stopped.\n")


def test_status_of_one_that_hangs_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    said, _, started = run(monkeypatch, {"health": HANGS}, "status")
    as_json, _, _ = run(monkeypatch, {"health": HANGS}, "status", "--json")

    assert "It does not answer. Stop it." in said.output
    shown = json.loads(as_json.output)
    assert (shown["running"], shown["hung"], shown["health"]) == (True, True, None)
    assert said.exit_code == as_json.exit_code == 1 and started == []


def test_stop_says_to_hooks_that_it_was_a_person_before_they_can_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ending()

    run(monkeypatch, answers, "stop")

    assert answers.marked and is_stopped(socket_folder())


def test_stop_without_a_daemon_keeps_hooks_from_starting_one(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"health": ABSENT}, "stop", "--json")

    assert json.loads(result.output) == {"stopped": False, "marked": True, "hung": False}
    assert is_stopped(socket_folder())


def test_stop_stops_it_without_a_mark_too_and_says_what_may_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    socket_folder().mkdir(mode=0o700)
    socket_folder().chmod(0o777)

    result, _, _ = run(monkeypatch, ending(), "stop")

    said = result.output.splitlines()
    assert said[0] == "Stopped." and said[1].startswith("An open session may start it again. The socket folder")
    assert not is_stopped(socket_folder())


@pytest.mark.parametrize(("host", "told"), [("claude-code", True), ("codex", False)])
def test_stop_says_in_one_line_what_open_sessions_will_show(
    monkeypatch: pytest.MonkeyPatch, host: str, told: bool
) -> None:
    record = Record(path="/p/settings.json", host=host, level="user", repository="", digest="d")
    Records(commands.paths().state / "settings").keep(record, None)

    result, _, _ = run(monkeypatch, ending(), "stop")

    assert len(result.output.splitlines()) == 1 + told
    assert ("hook failed" in result.output and "remora-pre start" in result.output) is told


def test_metrics_are_a_block_each(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _, _ = run(monkeypatch, {"metrics": {"sessions": 2, "events": {"accepted": 5}}}, "metrics")

    assert result.output == "events:\n  accepted: 5\nsessions: 2\n"


def test_metrics_for_prometheus_are_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon, _ = run(monkeypatch, {"metrics": {"text": "x_packets_total 3\n"}}, "metrics", "--prometheus")
    both, _, _ = run(monkeypatch, {}, "metrics", "--prometheus", "--json")

    assert result.output == "x_packets_total 3\n"
    assert daemon.asked[-1] == ("metrics", {"format": "prometheus"})
    assert (both.exit_code, "not both" in both.output) == (2, True)
