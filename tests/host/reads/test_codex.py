"""What a command of Codex showed; its captured results are in test_cases.py."""

import pytest

from host.reads import codex_shown
from recall.contracts import PrintForm, Printing


@pytest.mark.parametrize(
    ("tool", "arguments", "base"),
    [
        ("Bash", {"command": "cat a.md"}, "/p"),
        ("exec_command", {"cmd": "cat a.md"}, "/p"),
        ("exec_command", {"cmd": "cat a.md", "workdir": "notes"}, "/p/notes"),
        ("shell", {"command": ["bash", "-lc", "cat a.md"], "workdir": "/q"}, "/q"),
        ("shell", {"command": ["cat", "a.md"]}, "/p"),
        ("shell", {"command": ["/bin/zsh", "-lc", "cat a.md"], "cwd": "file:///q"}, "/q"),
    ],
)
def test_a_command_is_told_with_its_folder(tool: str, arguments: object, base: str) -> None:
    assert codex_shown(tool, arguments, "", "/p") == {"printed": (Printing(paths=("a.md",), bases=(base,)),)}


def test_its_read_tool_prints_numbered_lines() -> None:
    told = codex_shown("read_file", {"file_path": "/p/a.md", "offset": 4}, "L4: words", "/p")

    assert told == {"printed": (Printing(paths=("/p/a.md",), form=PrintForm.FOUND, bases=("/p",)),)}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("apply_patch", {"command": "*** Update File: a.md"}),
        ("exec_command", {"cmd": "ls"}),
        ("read_file", {"file_path": "/p/a.py"}),
        ("read_file", {}),
        ("exec_command", {}),
        ("exec_command", None),
        ("write_stdin", {"chars": "cat a.md"}),
    ],
)
def test_what_shows_no_file_tells_nothing(tool: str, arguments: object) -> None:
    assert codex_shown(tool, arguments, "", "/p") == {}
