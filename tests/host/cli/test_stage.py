"""`stage`: an answer comes back from a file or a pipe, what became of it is said, and tasks go round whole."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import stage, team_calls
from host.cli.main import main
from host.namespace import SCRIPT
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.conversations import QUOTES, SAID, conversation
from tests.support.growing import note
from tests.support.prompt import Prompt

HERE = str(Path().resolve())
BATCH = {"format": "remora-pre-note-batch@v1", "taskId": "task_1", "notes": []}
COMPARISON = {
    "format": f"{SCRIPT}-adjudication-task@v1",
    "taskId": "adjudicate-1",
    "binding": {
        "stateUuid": "u",
        "owner": {"repositoryKey": "r", "worktreeKey": "w"},
        "draftBatchDigest": "d",
        "approvedProjection": {"generation": 1, "analyzerVersion": "a"},
        "candidateProjection": {"generation": 1, "analyzerVersion": "a"},
        "recallAlgorithm": "x",
        "resultSetDigest": "r",
        "poolItemRevisions": [],
        "versions": {},
    },
    "drafts": [],
    "recallSets": [],
    "pool": [],
}
NOTED = {"noted": {"sessionId": "s-one", "status": "completed", "notes": ["note_1"]}}


def run(
    monkeypatch: pytest.MonkeyPatch, answer: Any, *arguments: str, said: str | bytes = ""
) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, stage, {"formation.stage": answer})
    return CliRunner().invoke(main, ["stage", *arguments], input=said), daemon


def test_a_file_and_a_pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(BATCH))
    done, daemon = run(monkeypatch, NOTED, "--request", str(tmp_path / "answer.json"), "--agent", "codex")
    assert done.output.splitlines() == ["s-one  completed  1 note", f"It waits for you: {SCRIPT} review"]
    assert daemon.params("formation.stage") == {"workspace": HERE, "batch": BATCH, "agent": "codex"}

    done, daemon = run(monkeypatch, NOTED, "--request", "-", said=json.dumps(BATCH))
    assert daemon.params("formation.stage")["batch"] == BATCH


def test_what_waits_still_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for waiting, words in ((1, "1 range still waits"), (2, "2 ranges still wait")):
        done, _ = run(monkeypatch, NOTED | {"waiting": waiting}, "--request", "-", said=json.dumps(BATCH))
        assert done.output.endswith(f"{words}: {SCRIPT} checkpoint --emit-task\n")


def test_the_same_answer_again_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    again = {"noted": NOTED["noted"] | {"idempotent": True}}
    done, _ = run(monkeypatch, again, "--request", "-", said=json.dumps(BATCH))
    assert done.output.splitlines()[0] == "s-one  completed  1 note, taken before"


def test_documents_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    layered = {"layered": {"layer": "l2", "status": "completed", "items": ["chg_1"]}}
    done, _ = run(monkeypatch, layered, "--request", "-", said=json.dumps(BATCH))
    assert done.output.splitlines()[0] == "l2  completed  1 proposal"
    done, _ = run(monkeypatch, layered, "--request", "-", "--json", said=json.dumps(BATCH))
    assert json.loads(done.output)["layered"]["items"] == ["chg_1"]


@pytest.mark.parametrize(
    ("format_of", "kind"),
    [("share", "entry"), ("skill-candidate", "skill"), ("consolidation-patch", "consolidation")],
)
def test_what_is_staged_is_reviewed_by_its_kind(monkeypatch: pytest.MonkeyPatch, format_of: str, kind: str) -> None:
    staged = {"candidateId": "c1", "state": "staged", "revision": 1, "supersedes": ["mem_1"]}
    skipped = {"candidateId": "c2", "state": "discarded", "revision": 2, "coveredBy": ["mem_2"]}
    answer = {"format": f"{SCRIPT}-staged@v1", "taskId": "t", "candidates": [staged, skipped]}
    answering(monkeypatch, team_calls, {"team.stage": answer})

    document = json.dumps({"format": f"{SCRIPT}-{format_of}@v1"})
    done = CliRunner().invoke(main, ["stage", "--request", "-"], input=document)

    assert done.output.splitlines() == [
        "c1  staged, in place of mem_1",
        "c2  discarded, covered by mem_2",
        f"To review: {SCRIPT} review --kind {kind}",
    ]


def test_a_comparison_is_handed_over_by_the_same_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answering(monkeypatch, team_calls, {"team.stage": COMPARISON})
    file = tmp_path / "my draft.json"
    file.write_text(json.dumps({"format": f"{SCRIPT}-candidate-draft-batch@v1"}))

    lines = CliRunner().invoke(main, ["stage", "--request", str(file)]).output.splitlines()

    assert lines[0] == "adjudicate-1  0 drafts, pool of 0"
    assert lines[1] == f"Hand it to the agent, which decides about each: {SCRIPT} stage --request '{file}' --json"


@pytest.mark.parametrize(
    ("said", "problem"), [("{", "no JSON"), ("[]", "no JSON object"), ("", "no JSON"), (b"\xff\xfe", "no JSON")]
)
def test_what_is_no_answer_is_said(monkeypatch: pytest.MonkeyPatch, said: str | bytes, problem: str) -> None:
    done, daemon = run(monkeypatch, NOTED, "--request", "-", said=said)
    assert (done.exit_code, daemon.asked) == (1, [])
    assert "standard input" in done.output and problem in done.output


def test_a_file_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, NOTED, "--request", "none.json")
    assert done.exit_code == 1 and "none.json" in done.output and "No such file" in done.output


# ------------------------------------------------------------------------------------------------------ a real daemon


def answer(task: dict[str, Any], *notes: dict[str, Any]) -> str:
    return json.dumps(
        {
            "format": task["contract"]["format"],
            "taskId": task["taskId"],
            "binding": task["binding"],
            "notes": list(notes),
        }
    )


@pytest.mark.promise("formation-12")
@pytest.mark.parametrize("command", ["extract", "checkpoint"])
def test_item_12_a_task_goes_out_and_its_answer_comes_back(
    prompt: Prompt, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    tried: list[object] = []
    connect = socket.socket.connect

    def counted(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            tried.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", counted)
    session = f"s-{command}"
    prompt.ok("import", "--history", str(conversation(prompt.folder, session, SAID["s-one"])))
    task = json.loads(prompt.ok(command, "--session", session, "--emit-task"))
    good = note("Releases go out on Thursdays.", QUOTES["s-one"], task)
    bad = good | {"citations": [good["citations"][0] | {"quote": "we ship on Tuesdays"}]}

    refused = prompt.run("stage", "--request", "-", said=answer(task, bad))
    assert refused.exit_code == 1 and "quote-not-found" in refused.output and "Mend them" in refused.output
    taken = prompt.ok("stage", "--request", "-", "--agent", "codex", said=answer(task, bad, good))
    again = prompt.ok("stage", "--request", "-", "--agent", "codex", said=answer(task, bad, good))
    other = prompt.run("stage", "--request", "-", said=answer(task))

    assert "1 note" in taken and "quote-not-found" in taken and "taken before" in again
    assert other.exit_code == 1 and "answered otherwise" in other.output
    assert "Releases go out on Thursdays." in prompt.ok("review")
    assert prompt.run(command, "--session", session, "--emit-task").exit_code == 1
    assert tried == []


def test_a_task_of_another_workspace_is_not_known(prompt: Prompt, tmp_path: Path) -> None:
    prompt.ok("import", "--history", str(conversation(prompt.folder, "s-mine", SAID["s-one"])))
    task = json.loads(prompt.ok("extract", "--session", "s-mine", "--emit-task"))
    (tmp_path / "other").mkdir()

    done = prompt.run("stage", "--request", "-", "--workspace", str(tmp_path / "other"), said=answer(task))

    assert done.exit_code == 1 and "no task" in done.output and "same workspace" in done.output
