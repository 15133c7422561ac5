"""`lint`: findings file by file, and an exit code that a script can use."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import lint as module
from host.cli.main import main
from tests.host.cli.fakes import answering
from tests.support.prompt import Prompt

ERROR = {
    "rule": "malformed-anchor",
    "severity": "error",
    "file": "/notes/b.md",
    "line": 4,
    "memoryId": None,
    "problem": "The marker cannot be read.",
    "next": "Correct it.",
}
WARNING = ERROR | {"rule": "near-duplicate", "severity": "warning", "file": "/notes/a.md", "line": 9, "next": ""}
NOTE = WARNING | {"rule": "long", "severity": "info", "line": 0}
STRANGE = NOTE | {"severity": "later", "file": ""}


def run(
    monkeypatch: pytest.MonkeyPatch, *findings: dict[str, Any], more: int = 0, options: tuple[str, ...] = ()
) -> Result:
    answer = {"files": 2, "records": 7, "findings": list(findings), "more": more}
    answering(monkeypatch, module, {"memory.lint": answer})
    return CliRunner().invoke(main, ["lint", *options])


def test_findings_are_grouped_by_file_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, ERROR, WARNING, NOTE, more=3)

    assert result.output == (
        "/notes/a.md\n"
        "  info long: The marker cannot be read.\n"
        "  line 9, warning near-duplicate: The marker cannot be read.\n"
        "/notes/b.md\n"
        "  line 4, error malformed-anchor: The marker cannot be read.\n"
        "    Correct it.\n"
        "There are 3 more.\n"
        "1 error, 1 warning, 1 info, in 7 records of 2 files.\n"
    )


def test_a_file_whose_name_has_a_line_break_makes_up_no_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    forged = ERROR | {"file": "/notes/a\n/notes/b.md", "problem": "See /notes/a\n  line 9, error: all is lost."}

    lines = run(monkeypatch, forged).output.splitlines()

    assert lines[0] == "/notes/a\\n/notes/b.md"
    assert lines[1] == "  line 4, error malformed-anchor: See /notes/a\\n  line 9, error: all is lost."


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_only_an_error_ends_with_1(monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    assert run(monkeypatch, ERROR, options=options).exit_code == 1
    assert run(monkeypatch, WARNING, NOTE, STRANGE, options=options).exit_code == 0


def test_sound_files_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch).output == "Nothing to find fault with, in 7 records of 2 files.\n"


def test_as_json_it_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = json.loads(run(monkeypatch, ERROR, options=("--json",)).output)

    assert shown["findings"] == [ERROR] and shown["files"] == 2


def test_with_a_real_daemon_a_broken_marker_is_found_and_ends_with_1(prompt: Prompt) -> None:
    folder = prompt.folder / ".remora-pre" / "memory"
    folder.mkdir(parents=True)
    sound = prompt.run("lint")
    (folder / "notes.md").write_text("<!-- memory:oops -->\nA fact.\n")
    prompt.ok("reindex")

    result = prompt.run("lint")

    assert sound.exit_code == 0
    assert result.exit_code == 1 and "notes.md" in result.output and "line 1, error" in result.output
