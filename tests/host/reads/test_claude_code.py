"""What Claude Code's results say of files; its captured results are in test_cases.py."""

import json
from pathlib import Path

import pytest

from host.reads import claude_code_preview, claude_code_read, claude_code_shown
from host.reads.claude_code import GREP_LIMIT
from host.transcripts.claude_words import response_text
from recall.contracts import PrintForm, Printing, ReadWindow

CAPTURED = Path(__file__).parents[2] / "data/hosts/claude-code/read_variants/hook_payloads.jsonl"


def test_a_read_tells_its_window_itself() -> None:
    response = {"type": "text", "file": {"filePath": "/p/a.md", "content": "a", "startLine": 1, "numLines": 1}}

    told = claude_code_shown("Read", {"file_path": "/p/a.md"}, response, "a", "/p")

    assert told == {"read": claude_code_read(response)}


def test_a_command_and_a_search_are_told_with_their_folder() -> None:
    printing = Printing(paths=("a.md",), bases=("/p",))

    assert claude_code_shown("Bash", {"command": "cat a.md"}, None, "x", "/p") == {"printed": (printing,)}
    assert claude_code_shown("Grep", {"output_mode": "content", "path": "a.md"}, None, "1:x", "/p") == {
        "printed": (Printing(paths=("a.md",), form=PrintForm.FOUND, bases=("/p",)),)
    }


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("1\ta\n2\tb\n3\t", (1, 2)),
        ("     4→b\n     5→\n     6→c\n\n<system-reminder>note</system-reminder>", (4, 3)),
        ("9\ta\n11\tb", (9, 1)),
        ("<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", None),
        ("", None),
    ],
)
def test_without_the_structured_result_the_numbered_lines_tell_the_window(
    text: str, lines: tuple[int, int] | None
) -> None:
    told = claude_code_shown("Read", {"file_path": "/p/a.md"}, None, text, "/p")

    read = told.get("read")
    assert (lines is None) == (read is None)
    if isinstance(read, ReadWindow):
        assert (read.line_start, read.line_count, read.total_lines) == (*(lines or ()), None)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Grep", {"pattern": "x"}),
        ("Grep", {"pattern": "x", "output_mode": "count"}),
        ("Bash", {"command": "ls"}),
        ("Bash", {"command": 3}),
        ("Bash", None),
        ("Edit", {"file_path": "/p/a.md"}),
        ("Read", {}),
        ("mcp__fs__read", {"path": "/p/a.md"}),
    ],
)
def test_what_shows_no_file_tells_nothing(tool: str, arguments: object) -> None:
    assert claude_code_shown(tool, arguments, {}, "a.py:1:x", "/p") == {}


def test_of_an_output_that_was_saved_the_model_saw_the_beginning() -> None:
    text = "\n".join(f"line {number}" for number in range(10_000))
    saved = {"stdout": text, "stderr": "", "persistedOutputPath": "/x.txt"}

    seen, _ = response_text(saved)

    assert seen == claude_code_preview(text)
    head = seen.removesuffix("\n...\n</persisted-output>")
    assert text.startswith(f"{head}\n")
    assert 1_900 < len(head) <= 2_000
    assert response_text({"mode": "content", "content": text[: GREP_LIMIT + 1]})[0] == claude_code_preview(text)
    assert response_text({"mode": "content", "content": text[:GREP_LIMIT]})[0] == text[:GREP_LIMIT]


def test_a_captured_search_through_the_shell_is_understood() -> None:
    calls = [json.loads(line)["payload"] for line in CAPTURED.read_text("utf-8").splitlines()]
    (grep,) = [call for call in calls if call["tool_name"] == "Bash"]
    text = response_text(grep["tool_response"])[0]

    told = claude_code_shown("Bash", grep["tool_input"], grep["tool_response"], text, grep["cwd"])

    assert told == {
        "printed": (Printing(paths=(".memory/notes.md",), form=PrintForm.FOUND, bases=("/home/dev/project",)),)
    }
