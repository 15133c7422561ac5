"""Kill -9 at every named point and before every SQL statement of a save of notes: the window is wholly there or wholly
absent, the next start goes on at the right place, and no window that was saved is asked about again."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.noting import CALLS, FILE
from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("formation-kills")]

POINTS = ["notes-before-commit", "notes-after-commit"]
TABLES = ("note", "note_window", "note_stream", "queue")
WINDOWS = ["m0", "m20", "m40"]  # the first message of each


def program(folder: Path, point: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.reliability.noting", str(folder), point],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def rows(folder: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True) as connection:
        return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES}


def calls(folder: Path) -> list[str]:
    return (folder / CALLS).read_text().split()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Any]], int]:
    """What a run that nobody stopped leaves behind, and how many statements it took."""
    folder = tmp_path_factory.mktemp("whole")
    done = program(folder)
    assert done.returncode == 0, done.stderr
    left = rows(folder)
    assert [len(left[table]) for table in TABLES] == [9, 3, 1, 9]
    assert calls(folder) == WINDOWS
    return left, int(done.stdout)


def survives(folder: Path, point: str, whole: dict[str, list[Any]]) -> None:
    killed = program(folder, point)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    after = rows(folder)
    windows = len(after["note_window"])
    assert len(after["note"]) == len(after["queue"]) == 3 * windows  # whole windows, or nothing of them
    assert len(after["note_stream"]) == min(windows, 1)
    assert all(row in whole["note"] for row in after["note"])

    again = program(folder)
    assert again.returncode == 0, again.stderr
    assert rows(folder) == whole
    asked = calls(folder)
    assert [first for first in WINDOWS if first not in asked] == []
    saved_before = WINDOWS[:windows]
    assert all(asked.count(first) == 1 for first in saved_before)
    assert all(asked.count(first) <= 2 for first in WINDOWS)


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_named_point_nothing_is_half_done(
    tmp_path: Path, point: str, whole: tuple[dict[str, list[Any]], int]
) -> None:
    survives(tmp_path, point, whole[0])


def test_killed_before_any_statement_nothing_is_half_done(
    tmp_path: Path, whole: tuple[dict[str, list[Any]], int]
) -> None:
    """Each third statement of the three commits; both sides of every COMMIT are among those of the named points."""
    left, statements = whole
    assert statements > 40
    for number in range(1, statements + 1, 3):
        folder = tmp_path / str(number)
        folder.mkdir()
        survives(folder, str(number), left)
