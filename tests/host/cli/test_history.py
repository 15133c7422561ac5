"""`import --history`: past sessions of a home folder go to a real daemon, each event once, whatever stops it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from host.cli import history as module
from host.cli.history import BATCH_EVENTS
from host.models import SCRATCH
from tests.host.cli.fakes import answering
from tests.support.prompt import Prompt

DATA = Path(__file__).resolve().parents[3] / "tests" / "data" / "transcripts"
ORIGINAL, COPY = "q05-resume-original.jsonl", "q05-resume-copy-same-uuids.jsonl"


def record(number: int, session: str, cwd: str, **more: Any) -> str:
    text = f"prompt number {number}"
    return json.dumps(
        {
            "type": "user",
            "uuid": f"u-{session}-{number}",
            "sessionId": session,
            "cwd": cwd,
            "timestamp": f"2026-10-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "message": {"role": "user", "content": text},
        }
        | more
    )


def written(file: Path, count: int, session: str, cwd: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(record(number, session, str(cwd)) + "\n" for number in range(count)))
    return file


@pytest.fixture
def home(tmp_path: Path, prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with Claude Code's sessions; the workspace is the test's folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path / "claude" / "projects" / "-w"


def imported(prompt: Prompt, *arguments: str) -> dict[str, Any]:
    result = prompt.run("import", "--history", *arguments, "--json")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return {name: report[name] for name in ("files", "events", "known", "live", "elsewhere")}


def test_the_sessions_of_the_workspace_are_taken_in_once(prompt: Prompt, home: Path, tmp_path: Path) -> None:
    file = written(home / "here.jsonl", 600, "here-1", tmp_path)
    written(home / "there.jsonl", 3, "there-1", tmp_path.parent)
    none = {"files": 0, "events": 0, "known": 0, "live": 0, "elsewhere": 0}

    assert imported(prompt, "--dry-run") == none | {"files": 1, "events": 601, "elsewhere": 1}  # and its start
    assert imported(prompt) == none | {"files": 1, "events": 601, "elsewhere": 1}
    assert imported(prompt) == none | {"known": 1, "elsewhere": 1}
    assert imported(prompt, "--dry-run") == none | {"known": 1, "elsewhere": 1}
    written(file, 610, "here-1", tmp_path)
    assert imported(prompt, "--dry-run") == none | {"files": 1, "events": 10, "elsewhere": 1}
    assert imported(prompt) == none | {"files": 1, "events": 10, "elsewhere": 1}
    assert imported(prompt, "--everywhere") == none | {"files": 1, "events": 4, "known": 1}


@pytest.mark.promise("field-cases")
def test_sessions_of_our_own_are_left_out(prompt: Prompt, home: Path, tmp_path: Path) -> None:
    """Case own-sessions-are-ignored: what a command said when it was asked as a model is no conversation."""
    scratch = module.paths().state / SCRATCH
    written(home / "own.jsonl", 3, "own-1", scratch / "command" / "1")
    written(home / "other.jsonl", 3, "other-1", tmp_path)

    found = prompt.run("import", "--history", "--everywhere", "--dry-run", "--json")
    report = json.loads(found.stdout)
    assert (report["files"], report["own"]) == (1, 1)
    assert "1 session file: a model that was asked by us" in prompt.run("import", "--history", "--everywhere").stdout


def test_a_stopped_import_goes_on_where_it_was(
    prompt: Prompt, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(home / "here.jsonl", 3 * BATCH_EVENTS, "here-2", tmp_path)
    real, asked = module.ask, []

    def stopping(method: str, params: Any, kind: Any) -> Any:
        asked.append((method, params.get("through")))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return real(method, params, kind)

    monkeypatch.setattr(module, "ask", stopping)
    stopped = prompt.run("import", "--history")
    monkeypatch.setattr(module, "ask", real)

    assert "Taken in for certain: 256 events" in stopped.stderr and "goes on from there" in stopped.stderr
    assert imported(prompt)["events"] == 2 * BATCH_EVENTS + 1


def test_the_history_that_a_resumed_session_repeats_is_taken_in_once(prompt: Prompt, home: Path) -> None:
    home.mkdir(parents=True)
    for name in (ORIGINAL, COPY):
        shutil.copy(DATA / "quirks" / name, home / name)
    alone = imported(prompt, str(home / ORIGINAL), "--dry-run")["events"]
    copied = imported(prompt, str(home / COPY), "--dry-run")["events"]
    both = imported(prompt, str(home))
    assert alone < both["events"] < alone + copied


def test_the_other_workspaces_of_what_was_taken_in_are_named(prompt: Prompt, home: Path, tmp_path: Path) -> None:
    written(home / "near.jsonl", 3, "near", tmp_path)
    for number in range(4):
        written(home / f"far-{number}.jsonl", 3, f"far-{number}", tmp_path.parent / f"there {number}")
    said = prompt.run("import", "--history", "--everywhere").stdout.splitlines()
    assert [line for line in said if "--workspace" in line] == [
        f"  of another workspace: remora-pre list --workspace '{tmp_path.parent / f'there {number}'}'"
        for number in range(3)
    ]
    assert said[-1] == "  and of 1 more."
    assert "--workspace" not in prompt.run("import", "--history", "--everywhere").stdout


def test_every_recorded_session_can_be_taken_in(prompt: Prompt, tmp_path: Path) -> None:
    """But for two files whose ids were cut out of the recording: an id may not be any text."""
    trimmed = shutil.ignore_patterns("*all-record-types*")
    recorded = Path(shutil.copytree(DATA, tmp_path / "recorded", ignore=trimmed))
    report = json.loads(prompt.run("import", "--history", str(recorded), "--json").stdout)
    assert report["files"] + report["known"] + len(report["unreadable"]) == len(list(recorded.rglob("*.jsonl")))
    assert report["events"] > 1_000 and report["refusedEvents"] == 0


def test_a_session_heard_live_is_no_part_of_a_dry_run_either(
    prompt: Prompt, home: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    written(home / "here.jsonl", 2, "here-4", tmp_path)
    answering(monkeypatch, module, {"history.begin": {"through": 0, "live": True}})
    assert imported(prompt, "--dry-run") == {"files": 0, "events": 0, "known": 0, "live": 1, "elsewhere": 0}


def test_a_session_heard_live_is_said_and_left(prompt: Prompt, home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    written(home / "here.jsonl", 2, "here-3", tmp_path)
    taken = {"accepted": 0, "duplicates": 0, "refused": 0, "live": True}
    answering(monkeypatch, module, {"history.begin": {"through": 0}, "history.append": taken})

    said = prompt.ok("import", "--history")

    assert "0 events of 0 session files were taken in" in said
    assert "1 session file: heard as it happened." in said


def test_a_file_of_another_format_is_named_and_ends_with_1(prompt: Prompt, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"type": "strange"}\n')
    result = prompt.run("import", "--history", str(other))
    assert result.exit_code == 1 and "no session file that we can read" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "--history"), (["--everywhere"], "--history"), (["--history", "--user"], "belongs to the folder")],
)
def test_what_cannot_be_meant_is_wrong_usage(prompt: Prompt, arguments: list[str], said: str) -> None:
    result = prompt.run("import", *arguments)
    assert result.exit_code == 2 and said in result.output
