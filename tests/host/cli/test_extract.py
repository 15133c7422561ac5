"""`extract`: what is asked of the daemon, what is said of its answer, and a walk through a real one."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import extract
from host.cli.extract import SHOWN, Since
from host.cli.main import main
from host.clock import MachineZone, SystemClock
from host.namespace import SCRIPT
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.conversations import QUOTES, SAID, conversation
from tests.support.prompt import Prompt

HERE = str(Path().resolve())
TASK = {"format": "remora-pre-note-task@v1", "taskId": "task_1"}


def noted(**fields: Any) -> dict[str, Any]:
    return {"sessionId": "s-one", "status": "completed"} | fields


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, extract, answers)
    return CliRunner().invoke(main, ["extract", *arguments]), daemon


def test_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    _, daemon = run(monkeypatch, {"extract.run": {}}, "--session", "s-one", "--driver", "scripted:notes.json")
    assert daemon.params("extract.run") == {
        "workspace": HERE,
        "layer": "l1",
        "sessionId": "s-one",
        "driver": f"scripted:{HERE}/notes.json",
        "emitTask": False,
    }
    _, daemon = run(monkeypatch, {"extract.run": {}}, "--since", "2d", "--layer", "l1")
    days = (SystemClock().now() - daemon.params("extract.run")["since"]) / 86_400_000
    assert 2 <= days < 2.1


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        (
            {"notes": ["note_1"], "windows": 1, "calls": 1},
            ["s-one  completed  1 note, 1 call", f"It waits for you: {SCRIPT} review"],
        ),
        (
            {"notes": ["note_1", "note_2"], "known": ["note_3"], "buried": 1},
            [
                "s-one  completed  2 notes, 1 known already, 1 that you said no to",
                f"They wait for you: {SCRIPT} review",
            ],
        ),
        (
            {"status": "partial", "rejected": [{"index": 2, "code": "quote-not-found", "detail": "It is not there."}]},
            ["s-one  partial  0 notes", "Not taken: quote-not-found. It is not there."],
        ),
        (
            {"status": "failed", "remaining": 3, "error": {"code": "timeout", "problem": "No answer in 180 s."}},
            [
                "s-one  failed  0 notes",
                "It ended early (timeout): No answer in 180 s.",
                "Not noted yet: 3 messages. Ask again to go on.",
            ],
        ),
        (
            {"shortened": ["m1"], "windows": 1},
            ["s-one  completed  0 notes", "Shown without their middle, as they are long: 1 message."],
        ),
    ],
)
def test_what_came_of_it_is_said(monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], lines: list[str]) -> None:
    done, _ = run(monkeypatch, {"extract.run": {"noted": [noted(**fields)]}})
    failed = fields.get("status") == "failed"
    assert (done.exit_code, done.output.splitlines()) == (int(failed), lines)


def test_a_run_with_nothing_new_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, {"extract.run": {"noted": [noted()]}})
    assert (done.exit_code, done.output) == (0, "s-one  completed  nothing that was not noted before\n")


def test_what_waits_in_another_folder_is_looked_for_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = {"extract.run": {"noted": [noted(notes=["note_1"])]}}
    done, _ = run(monkeypatch, answer, "--workspace", str(tmp_path))
    assert done.output.endswith(f"It waits for you: {SCRIPT} review --workspace {tmp_path}\n")


def test_of_many_rejections_the_first_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [{"index": number, "code": "duplicate"} for number in range(SHOWN + 3)]
    done, _ = run(monkeypatch, {"extract.run": {"noted": [noted(rejected=many)]}})
    assert done.output.count("Not taken: duplicate.") == SHOWN
    assert done.output.endswith("Not taken: 3 more.\n")


@pytest.mark.parametrize(
    ("layered", "lines"),
    [
        (
            {"layer": "l2", "status": "completed", "items": ["chg_1"], "calls": 3, "diagnostics": ["cut: a word"]},
            ["l2  completed  1 proposal, 3 calls", "cut: a word", f"It waits for you: {SCRIPT} review"],
        ),
        (
            {"layer": "l3", "status": "failed", "error": {"code": "empty", "problem": "It is empty."}},
            ["l3  failed  0 proposals", "Nothing was proposed (empty): It is empty."],
        ),
        ({"layer": "l2", "status": "completed", "note": "No lesson was kept."}, ["No lesson was kept."]),
    ],
)
def test_documents_are_said(monkeypatch: pytest.MonkeyPatch, layered: dict[str, Any], lines: list[str]) -> None:
    done, daemon = run(monkeypatch, {"extract.run": {"layered": layered}}, "--layer", layered["layer"])
    assert (done.exit_code, done.output.splitlines()) == (int(layered["status"] == "failed"), lines)
    assert daemon.params("extract.run")["layer"] == layered["layer"]


@pytest.mark.parametrize("kind", ["task", "documentTask"])
def test_a_task_is_a_document_and_nothing_else_is_printed(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    done, _ = run(monkeypatch, {"extract.run": {"noted": [noted()], kind: TASK}}, "--emit-task")
    assert json.loads(done.stdout) == TASK


def test_no_task_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, {"extract.run": {"noted": [noted()]}}, "--emit-task")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "There is no task: there is nothing that was not noted before.\n"


def test_the_answer_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, {"extract.run": {"noted": [noted(calls=1)]}}, "--json")
    found = json.loads(done.output)
    assert (found["noted"][0]["calls"], found["layered"]) == (1, [])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--session", "s", "--since", "2d"), "Give one of"),
        (("--recover", "--session", "s"), "goes alone"),
        (("--recover", "--emit-task"), "goes alone"),
        (("--layer", "l2", "--session", "s"), "what you kept"),
        (("--layer", "skill", "--since", "2d"), "one session"),
        (("--emit-task", "--driver", "openai"), "leave --driver out"),
        (("--since", "yesterday-ish"), "is no time"),
        (
            (
                "--layer",
                "l4",
            ),
            "l4",
        ),
        (("none.jsonl",), "does not exist"),
    ],
)
def test_what_does_not_go_together_is_said_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], problem: str
) -> None:
    done, daemon = run(monkeypatch, {}, *arguments)
    assert (done.exit_code, daemon.asked) == (2, [])
    assert problem in done.stderr


def test_recovery_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"records": 2, "versions": 3, "superseded": 1, "torn": ["a.jsonl:9"], "aside": "/d/broken", "note": "Note."}
    done, _ = run(monkeypatch, {"extract.recover": made}, "--recover")
    assert done.output.splitlines() == [
        "2 records in 3 versions, 1 superseded.",
        "Could not be read, and was left out: a.jsonl:9",
        "The file that was there is kept as /d/broken.",
        "Note.",
    ]
    done, _ = run(monkeypatch, {"extract.recover": made}, "--recover", "--json")
    assert json.loads(done.output)["torn"] == ["a.jsonl:9"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-11-03", "2026-11-03T00:00:00"),
        ("2026-11-03T10:30", "2026-11-03T10:30:00"),
        ("2026-11-03T10:30:00+02:00", "2026-11-03T08:30:00+00:00"),
    ],
)
def test_a_day_is_one_of_this_machine(text: str, written: str) -> None:
    from_ = datetime.fromisoformat(written)
    meant = from_ if from_.tzinfo else from_.replace(tzinfo=MachineZone())
    assert Since().convert(text, None, None) == round(meant.timestamp() * 1000)


# ------------------------------------------------------------------------------------------------------ a real daemon


def notes_of(quote: str) -> dict[str, Any]:
    note = {
        "kind": "fact",
        "title": "Release day",
        "content": "Releases go out on Thursdays.",
        "attribution": "user_statement",
        "citations": [{"messageId": "${id}", "quote": quote}],
    }
    pick = {"id": f'{quote}[^}}]*"messageId":"([^"]+)"'}
    return {"answers": [{"pick": pick, "tool": "submit", "arguments": {"notes": [note]}}], "id": "demo"}


def test_a_transcript_is_taken_in_and_noted_by_a_script_beside_it(prompt: Prompt) -> None:
    file = conversation(prompt.folder, "s-file", SAID["s-one"])
    (prompt.folder / "notes.json").write_text(json.dumps(notes_of(QUOTES["s-one"])))

    said = prompt.ok("extract", str(file), "--driver", "scripted:notes.json")
    assert "were taken in as history" in said and "s-file  completed  1 note, 1 call" in said

    again = prompt.json("extract", "--session", "s-file", "--driver", "scripted:notes.json")
    assert again["noted"][0]["calls"] == 0
    assert "Releases go out on Thursdays." in prompt.ok("review")


def test_a_transcript_as_a_task_prints_the_task_alone(prompt: Prompt) -> None:
    file = conversation(prompt.folder, "s-task", SAID["s-two"])
    task = json.loads(prompt.ok("extract", str(file), "--emit-task"))
    assert QUOTES["s-two"] in task["packet"]["material"]


def test_a_file_that_is_no_transcript_is_said(prompt: Prompt) -> None:
    (prompt.folder / "notes.txt").write_text("Buy milk.\n")
    done = prompt.run("extract", "notes.txt", "--emit-task")
    assert done.exit_code == 1
    assert "no transcript" in done.output and "Claude Code or Codex" in done.output


def test_without_a_model_it_says_what_to_do(prompt: Prompt) -> None:
    prompt.ok("import", "--history", str(conversation(prompt.folder, "s-none", SAID["s-one"])))
    done = prompt.run("extract", "--session", "s-none")
    assert done.exit_code == 1
    assert "--emit-task" in done.output and "--driver" in done.output


def test_a_workspace_without_a_session_is_said(prompt: Prompt) -> None:
    done = prompt.run("extract", "--emit-task")
    assert done.exit_code == 1 and "No session" in done.output
