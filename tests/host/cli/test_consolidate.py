"""`synthesize` and `assemble`: what is due, what waits, and what changed where agent products read."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import team_calls
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering

SYNTHESIS: dict[str, Any] = {"format": "remora-pre-synthesis@v1", "due": 1, "needed": 20}
ASSEMBLY: dict[str, Any] = {
    "format": "remora-pre-assembly@v1",
    "provider": "claude",
    "dryRun": False,
    "files": [{"targetPath": "CLAUDE.md", "changed": True, "bytes": 512, "warnings": ["It is long."]}],
    "skills": [{"name": "release", "path": ".claude/skills/release-pre", "changed": False}],
}
BINDING: dict[str, Any] = {
    "databaseUuid": "d",
    "owner": {"repositoryKey": "r", "worktreeKey": "w"},
    "entrySetDigest": "e",
    "entryRevisions": [],
    "sceneIndexDigest": "s",
    "sceneRevisions": [],
    "doctrineDigest": None,
    "versions": {},
    "replay": {"mode": "full", "afterSuccessfulRunId": None},
}
TASK: dict[str, Any] = {
    "format": "remora-pre-consolidation-task@v1",
    "taskId": "consolidate-1",
    "binding": BINDING,
    "entries": [{"id": f"mem_{number}", "type": "work_fact", "content": "a", "scene": None} for number in range(2)],
    "scenes": [],
    "doctrine": None,
    "contract": {"patchSchema": "{}", "prompts": [], "rules": []},
}


def run(monkeypatch: pytest.MonkeyPatch, answer: Any, *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, team_calls, {"team.synthesize": answer, "team.assemble": answer})
    return CliRunner().invoke(main, list(arguments)), daemon


@pytest.mark.parametrize(("option", "mode"), [([], "incremental"), (["--if-due"], "if-due"), (["--full"], "full")])
def test_how_much_is_read_is_chosen(monkeypatch: pytest.MonkeyPatch, option: list[str], mode: str) -> None:
    done, daemon = run(monkeypatch, SYNTHESIS, "synthesize", *option)

    assert daemon.params("team.synthesize")["mode"] == mode
    assert done.output == "not due: 1 of 20 entries\n"


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ({"note": "Nothing is new."}, "Nothing is new."),
        ({"pendingRunId": "run-1"}, "run-1 waits for review: remora-pre review --kind consolidation"),
        ({"task": TASK}, "consolidate-1  2 entries"),
        ({"task": TASK | {"entries": TASK["entries"][:1]}}, "consolidate-1  1 entry"),
    ],
)
def test_what_there_is_to_do_is_said(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], first: str) -> None:
    done, _ = run(monkeypatch, SYNTHESIS | answer, "synthesize")

    assert done.output.splitlines()[0] == first


def test_the_hint_is_the_command_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    done, _ = run(monkeypatch, SYNTHESIS | {"task": TASK}, "synthesize", "--full")

    assert done.output.splitlines()[1] == "Hand the task to the agent: remora-pre synthesize --full --json"


def test_one_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, SYNTHESIS, "synthesize", "--if-due", "--full")[0].exit_code == 2


def test_what_changed_is_said_with_its_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, ASSEMBLY | {"omittedScenes": 2}, "assemble", "claude")

    assert done.output.splitlines() == [
        "changed  CLAUDE.md  512 bytes",
        "  It is long.",
        "unchanged  .claude/skills/release-pre",
        "2 scenes of less heat left out.",
    ]
    sent = daemon.params("team.assemble")
    assert (sent["provider"], sent["dryRun"]) == ("claude", False)


def test_a_dry_run_shows_the_lines_and_says_that_nothing_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    done, daemon = run(monkeypatch, ASSEMBLY | {"dryRun": True, "diff": "+a line\n"}, "assemble", "claude", "--dry-run")

    assert done.output.splitlines()[:2] == ["+a line", "would change  CLAUDE.md  512 bytes"]
    assert done.output.splitlines()[-1] == "Nothing was written."
    assert daemon.params("team.assemble")["dryRun"] is True


@pytest.mark.parametrize(
    ("command", "answer"),
    [(["synthesize"], SYNTHESIS), (["assemble", "codex"], ASSEMBLY)],
    ids=["synthesize", "assemble"],
)
def test_json_is_the_document(monkeypatch: pytest.MonkeyPatch, command: list[str], answer: dict[str, Any]) -> None:
    done, _ = run(monkeypatch, answer, *command, "--json")

    assert json.loads(done.output)["format"] == answer["format"]
