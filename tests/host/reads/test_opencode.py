"""What OpenCode's tools showed of files."""

import json
from pathlib import Path

import pytest

from host.reads import opencode_shown, window_bytes
from recall.contracts import ReadWindow

CAPTURE = Path(__file__).parents[2] / "data/hosts/opencode/basic/plugin_events.jsonl"
FILE = b"one\ntwo\nthree\n"


def shown(body: str, note: str = "", path: str = "/p/a.md") -> str:
    return f"<path>{path}</path>\n<type>file</type>\n<content>\n{body}{note}\n</content>"


def window(output: str) -> ReadWindow | None:
    told = opencode_shown("read", {"filePath": "/p/a.md"}, output, "/p").get("read")
    assert told is None or isinstance(told, ReadWindow)
    return told


@pytest.mark.parametrize(
    ("body", "note", "start", "count", "data"),
    [
        ("1: one\n2: two\n3: three", "\n\n(End of file - total 3 lines)", 1, 3, (0, 14)),
        ("2: two", "\n\n(Showing lines 2-2 of 3. Use offset=3 to continue.)", 2, 1, (4, 8)),
        ("1: one\n2: two", "\n\n(Output capped at 50 KB. Showing lines 1-2. Use offset=3 to continue.)", 1, 2, (0, 8)),
    ],
)
def test_a_read_tells_its_window(body: str, note: str, start: int, count: int, data: tuple[int, int]) -> None:
    told = window(shown(body, note))
    assert told is not None
    assert (told.path, told.line_start, told.line_count) == ("/p/a.md", start, count)
    assert window_bytes(FILE, told) == data
    assert window_bytes(FILE.replace(b"two", b"2"), told) is None


def test_what_the_host_puts_behind_a_file_is_not_of_the_file() -> None:
    told = window(
        shown("1: one\n2: two\n3: three", "\n\n(End of file - total 3 lines)")
        + "\n\n<system-reminder>\nx\n</system-reminder>"
    )
    assert told is not None and told.line_count == 3


@pytest.mark.parametrize(
    "output",
    [
        "",
        "File not found: /p/a.md",
        "<path>/p</path>\n<type>directory</type>\n<entries>\na.md\n</entries>",
        shown("1: one\n3: three"),
        shown("no number"),
        shown(f"1: {'x' * 2000}... (line truncated to 2000 chars)"),
        shown("", "\n\n(Showing lines 9-9 of 3. Use offset=3 to continue.)"),
    ],
)
def test_what_is_not_understood_tells_nothing(output: str) -> None:
    assert window(output) is None


def test_commands_and_searches_are_verified() -> None:
    printed = opencode_shown("bash", {"command": "head -1 notes.md", "workdir": "docs"}, "one\n", "/p")["printed"]
    assert [(each.paths, each.bases) for each in printed] == [(("notes.md",), ("/p/docs",))]  # type: ignore[attr-defined]
    assert "printed" in opencode_shown("grep", {"pattern": "x", "path": "docs"}, "/p/docs/a.md:\n  Line 1: x", "/p")
    assert opencode_shown("bash", {"command": 5}, "x", "/p") == opencode_shown("glob", None, "a.md", "/p") == {}


def test_a_captured_read_tells_its_lines() -> None:
    calls = [json.loads(line) for line in CAPTURE.read_text("utf-8").splitlines()]
    reads = [c for c in calls if c["hook"] == "tool.execute.after" and c["input"]["tool"] == "read"]
    for call in reads:
        told = window(call["output"]["output"])
        assert told is not None
        assert (told.line_start, told.line_count, told.total_lines) == (11, 20, 300)
        data = "".join(f"{number:03d} memory line {number}\n" for number in range(1, 301)).encode()
        assert window_bytes(data, told) == (181, 561)
    assert reads
