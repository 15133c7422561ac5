"""The settings with the token go on git's private exclude list, and come off it."""

import subprocess
from pathlib import Path

import pytest

from host.setup.exclude import MARK, exclude_path, with_line, without_line

PATTERN = "/.claude/settings.local.json"


@pytest.mark.parametrize("text", ["", "*.o\n", "*.o", "# a\n\n*.o\n", "*.o\r\n"])
def test_what_was_added_is_taken_back_byte_for_byte(text: str) -> None:
    added = with_line(text, PATTERN)

    assert PATTERN in added.splitlines()
    assert with_line(added, PATTERN) == added
    assert without_line(added, PATTERN) == text


def test_no_list_is_made_and_none_is_taken_away() -> None:
    assert with_line(None, PATTERN) == f"{MARK}\n{PATTERN}\n"
    assert without_line(None, PATTERN) is None


def test_git_ignores_what_is_on_the_list(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    path = exclude_path(tmp_path)
    assert path is not None
    path.write_text(with_line(path.read_text("utf-8"), PATTERN), "utf-8")

    asked = subprocess.run(["git", "check-ignore", "-q", ".claude/settings.local.json"], cwd=tmp_path, check=False)

    assert asked.returncode == 0


def test_outside_git_there_is_no_list(tmp_path: Path) -> None:
    assert exclude_path(tmp_path) is None
