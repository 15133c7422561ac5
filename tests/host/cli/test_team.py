"""`team status` and `team run`: what needs somebody is said with the command that helps."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import team_calls
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering

AT = "2026-11-12T09:30:00.000Z"
STATUS: dict[str, Any] = {
    "format": "remora-pre-team-status@v1",
    "trusted": None,
    "candidates": {"staged": 1, "draft": 0},
    "tasks": {},
    "plans": {"applied": 2},
    "entries": 3,
    "due": 1,
    "needed": 20,
}
STAGED: dict[str, Any] = {
    "format": "remora-pre-staged@v1",
    "taskId": "t",
    "candidates": [{"candidateId": "c1", "state": "staged", "revision": 2}],
}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, **more: Any) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, team_calls, {"team.status": STATUS | more, "team.run": STAGED})
    return CliRunner().invoke(main, ["team", *arguments]), daemon


def test_a_quiet_repository_takes_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, "status")

    assert done.output.splitlines() == [
        "Memory of this repository: 3 approved, nobody was asked whether it is trusted.",
        "Whether you trust it: remora-pre init --trust-memory, or --distrust-memory",
        "Candidates: 1 staged",
        "Tasks: none",
        "Plans: 2 applied",
        "Consolidation: 1 entry is new; it is due at 20.",
    ]
    assert daemon.params("team.status")["all"] is False


def test_what_needs_somebody_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = {"id": "c1", "state": "staged", "at": AT, "kind": "entry"}
    done, _ = run(
        monkeypatch,
        *("status", "--all"),
        trusted=True,
        waiting=[waits, waits | {"id": "c2", "kind": "skill"}],
        drafted=[{"id": "extract-1", "state": "draft", "at": AT, "kind": "entry"}],
        planned=[{"id": "plan-2", "state": "approved", "at": AT, "kind": "entry"}],
        stuck=[{"id": "plan-1", "state": "applying", "at": AT}],
        lastRun={"id": "run-1", "state": "applied", "at": AT},
        empty=[{"taskId": "t1", "kind": "drafts", "at": AT, "source": "session-1"}],
        checkpoints=2,
        elsewhere={"staged": 4},
    )

    for line in (
        "Memory of this repository: 3 approved, trusted.",
        "  c1  staged since 2026-11-12",
        "To review: remora-pre review --kind entry, remora-pre review --kind skill",
        "Planned: plan-2, approved since 2026-11-12. To write it: remora-pre promote --plan plan-2",
        "Drafted since 2026-11-12, and not compared yet. To start it over: remora-pre discard --task extract-1",
        "Stuck: plan-1, applying since 2026-11-12. Try again: remora-pre promote --plan plan-1",
        "Last run: run-1, applied, 2026-11-12",
        "Nothing was found worth keeping: t1, 2026-11-12, session-1",
        "2 checkpoints to note: remora-pre checkpoint --emit-task",
        "Of earlier places of this repository: 4 staged",
    ):
        assert line in done.output.splitlines()


def test_a_model_reads_and_what_it_staged_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, "run", "--since", "7d", "--query", "release", "--driver", "scripted:a.json")

    assert done.output.splitlines() == ["c1  staged", "To review: remora-pre review --kind entry"]
    sent = daemon.params("team.run")
    assert (sent["driver"], sent["consolidate"], sent["request"]["query"]) == ("scripted:a.json", False, "release")


def test_tasks_are_told_in_words_and_the_answered_ones_together(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = {"adjudication.pending": 1, "adjudication.submitted": 2, "recall.claimed": 3, "recall.submitted": 4}
    waits = {"id": "consolidate-9f-c1", "state": "staged", "at": AT, "kind": "consolidation"}
    done, _ = run(monkeypatch, "status", tasks=tasks, waiting=[waits], due=21)

    assert "Tasks: 6 answered, 1 comparison waits, 3 recall handed out" in done.output.splitlines()
    assert "To review: remora-pre review --kind consolidation" in done.output.splitlines()
    assert "It is due: have your agent do it, or: remora-pre synthesize" in done.output.splitlines()


def test_a_consolidation_needs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _, daemon = run(monkeypatch, "run", "--consolidate")

    assert "request" not in daemon.params("team.run")
    assert run(monkeypatch, "run")[0].exit_code == 2


@pytest.mark.parametrize("command", [["status"], ["run", "--consolidate"]])
def test_json_is_the_document(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    assert json.loads(run(monkeypatch, *command, "--json")[0].output)["format"].startswith("remora-pre-")
