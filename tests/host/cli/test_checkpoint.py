"""`checkpoint`: what is asked of the daemon, what is said of its answer, and a walk through a real one."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import checkpoint
from host.cli.main import main
from host.namespace import SCRIPT
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.clock import START
from tests.support.conversations import SAID, conversation, proposing
from tests.support.prompt import Prompt

HERE = str(Path().resolve())
TASK = {"format": "remora-pre-note-task@v1", "taskId": "task_1"}


def result(**fields: Any) -> dict[str, Any]:
    return {"sessionId": "s-one", "fromSeq": 0, "throughSeq": 41, "status": "skipped"} | fields


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, checkpoint, answers)
    return CliRunner().invoke(main, ["checkpoint", *arguments]), daemon


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"status": "deferred", "deferred": ["gap_1"], "seen": 1, "floor": 2, "calls": 2},
            "s-one  0..41  deferred  1 fact seen in 1 of 2 sessions  2 calls",
        ),
        ({"status": "deferred", "deferred": ["gap_1"]}, "s-one  0..41  deferred  1 fact to be seen in another session"),
        (
            {"status": "extracted", "committed": ["mem_1"], "calls": 1},
            "s-one  0..41  extracted  1 memory committed (extracted, at most a hint)  1 call",
        ),
        (
            {"status": "extracted", "committed": ["mem_1", "mem_2"], "pending": ["mem_3"]},
            "s-one  0..41  extracted  2 memories committed (extracted, at most a hint), 1 for you to review",
        ),
        (
            {"rejected": {"quote-not-found": 2, "already-known": 1}},
            "s-one  0..41  skipped  1 known already, not taken: 2 quote-not-found",
        ),
        ({"idempotent": True}, "s-one  0..41  skipped  done before"),
        (
            {"status": "unavailable", "reason": "workspace-off"},
            "s-one  0..41  unavailable  the workspace is off",
        ),
        ({"status": "unavailable", "reason": "other"}, "s-one  0..41  unavailable  other"),
    ],
)
def test_a_range_is_a_line(monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], line: str) -> None:
    done, _ = run(monkeypatch, {"checkpoint.run": {"results": [result(**fields)]}})
    assert done.output.splitlines()[0] == line
    assert done.exit_code == int(fields.get("status") == "unavailable")
    later = f"What waits for another session: {SCRIPT} review --state deferred"
    assert done.output.splitlines()[1:] == ([later] if fields.get("status") == "deferred" else [])


def test_what_is_asked_and_where_a_script_lies_is_said_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, {"checkpoint.run": {}}, "--session", "s-one", "--driver", "scripted:propose.json")
    assert daemon.params("checkpoint.run") == {
        "workspace": HERE,
        "sessionId": "s-one",
        "driver": f"scripted:{HERE}/propose.json",
        "emitTask": False,
    }
    assert done.output == "Nothing waits here.\n"


def test_without_a_model_it_says_who_can_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = {"results": [result(status="unavailable", reason="no-driver", pending=["note_1"])], "waiting": 1}
    done, _ = run(monkeypatch, {"checkpoint.run": ran})
    assert done.output == (
        "s-one  0..41  waits  for your agent to run it, 1 for you to review\n"
        f"Ask your agent to run the checkpoints, or hand it the task yourself: {SCRIPT} checkpoint --emit-task\n"
    )


def test_a_model_that_fails_is_told_with_its_own_words_once(monkeypatch: pytest.MonkeyPatch) -> None:
    down = {"status": "unavailable", "reason": "unavailable", "problem": "Nobody answers at localhost."}
    done, _ = run(monkeypatch, {"checkpoint.run": {"results": [result(**down), result(**down)], "waiting": 3}})
    assert done.output.splitlines()[2:] == [
        "Nobody answers at localhost.",
        f"Nothing is lost: it waits, and is tried again. How the model stands says: {SCRIPT} doctor",
        "3 ranges still wait in this workspace.",
    ]


@pytest.mark.parametrize("status", ["pending", "discarded"])
def test_what_failed_says_where_to_look(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    done, _ = run(monkeypatch, {"checkpoint.run": {"results": [result(status=status, reason="schema")]}})
    assert done.output.startswith(f"s-one  0..41  {status}  what the model answered could not be used\n")
    assert done.output.endswith(f"What failed, and what was given up: {SCRIPT} checkpoint --list\n")


def test_a_task_is_a_document_and_nothing_else_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = {"results": [result()], "task": TASK, "waiting": 3}
    done, daemon = run(monkeypatch, {"checkpoint.run": ran}, "--emit-task")
    assert json.loads(done.stdout) == TASK
    assert daemon.params("checkpoint.run")["emitTask"]


def test_no_task_says_why_beside_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that reads a task from a pipe gets none, and sees it by the exit code."""
    done, _ = run(monkeypatch, {"checkpoint.run": {"results": [result(status="no-range")]}}, "--emit-task")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "s-one  no-range  nothing was said since the last time",
        "There is no task: nothing waits here.",
    ]


def test_the_answer_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, {"checkpoint.run": {"results": [result(calls=2)], "waiting": 1}}, "--json")
    found = json.loads(done.output)
    assert (found["results"][0]["calls"], found["waiting"]) == (2, 1)


def test_what_waits_and_what_was_given_up_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {
        "waiting": [{"sessionId": "s-one", "fromSeq": 0, "throughSeq": 9, "since": START, "reason": "no-driver"}],
        "jobs": [
            {"jobId": "job_1", "pipeline": "checkpoint", "sessionId": "s-two", "trigger": "end", "boundarySeq": 5}
            | {"workspaceKey": "ws", "state": "failed", "createdAt": START, "changedAt": START, "reason": "OSError"}
        ],
        "letters": [
            {"letterId": "letter_1", "pipeline": "checkpoint", "sessionId": "s-three", "fromSeq": 2, "throughSeq": 4}
            | {
                "operationId": "memory_1",
                "class": "schema",
                "refs": [],
                "state": "open",
                "attempts": 2,
                "at": START,
                "workspaceKey": "ws",
            }
        ],
    }
    done, _ = run(monkeypatch, {"checkpoint.list": listed}, "--list")
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.output.splitlines()]
    assert lines[0] == ["session", "events", "state", "why", "retry"]
    assert lines[1] == ["s-one", "0..9", "waits", "for", "your", "agent", "to", "run", "it"]
    assert lines[2] == ["s-two", "..5", "failed", "OSError", "job_1"]
    assert lines[3][:4] == ["s-three", "2..4", "given", "up"] and lines[3][-1] == "letter_1"


def test_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, {"checkpoint.list": {"waiting": [], "jobs": [], "letters": []}}, "--list")
    assert done.output == "Nothing waits here, and nothing was given up.\n"
    assert daemon.params("checkpoint.list") == {"workspace": HERE}


def test_a_retry_of_a_job_and_of_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, {"checkpoint.retry": {"id": "job_1"}}, "--retry", "job_1")
    assert done.output == "job_1 is in line again.\n"
    assert daemon.params("checkpoint.retry") == {"id": "job_1", "driver": ""}
    done, daemon = run(
        monkeypatch,
        {"checkpoint.retry": {"id": "letter_1", "result": result()}},
        *("--retry", "letter_1", "--driver", "scripted:a.json"),
    )
    assert done.output == "s-one  0..41  skipped\n"
    assert daemon.params("checkpoint.retry")["driver"] == f"scripted:{HERE}/a.json"


@pytest.mark.parametrize(
    "arguments", [("--list", "--emit-task"), ("--list", "--retry", "x"), ("--retry", "x", "--session", "s-one")]
)
def test_one_thing_at_a_time(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    done, daemon = run(monkeypatch, {}, *arguments)
    assert (done.exit_code, daemon.asked) == (2, [])


def test_a_session_that_nobody_heard_of_is_said(prompt: Prompt) -> None:
    done = prompt.run("checkpoint", "--session", "s-none")
    assert (done.exit_code, "s-none" in done.output) == (1, True)


def test_a_fact_of_two_sessions_is_committed(prompt: Prompt) -> None:
    for session, text in SAID.items():
        prompt.ok("import", "--history", str(conversation(prompt.folder, session, text)))
    proposing(prompt.folder / "propose.json")

    first = prompt.ok("checkpoint", "--session", "s-one", "--driver", "scripted:propose.json")
    again = prompt.ok("checkpoint", "--session", "s-one", "--driver", "scripted:propose.json")
    second = prompt.ok("checkpoint", "--session", "s-two", "--driver", "scripted:propose.json")

    assert " deferred  1 fact seen in 1 of 2 sessions  2 calls\n" in first
    assert "done before\n" in again
    assert " extracted  1 memory committed (extracted, at most a hint)  2 calls\n" in second


def test_without_a_script_the_error_names_the_file(prompt: Prompt) -> None:
    prompt.ok("import", "--history", str(conversation(prompt.folder, "s-scriptless", SAID["s-one"])))
    done = prompt.run("checkpoint", "--session", "s-scriptless", "--driver", "scripted:none.json")
    assert done.exit_code == 1
    assert str(prompt.folder / "none.json") in done.output


def test_the_sessions_that_wait_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = [{"sessionId": one, "fromSeq": 0, "throughSeq": 9, "since": START} for one in ("s-one", "t-two", "s-one")]
    answering(monkeypatch, checkpoint, {"checkpoint.list": {"waiting": waits, "jobs": [], "letters": []}})
    context = checkpoint.click.Context(checkpoint.checkpoint)
    option = checkpoint.checkpoint.params[0]
    assert [one.value for one in checkpoint.complete(context, option, "s")] == ["s-one"]
