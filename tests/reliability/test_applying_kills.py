"""Kill -9 at every point of applying a change of documents, and of taking it back: after the next start it is there
wholly, with its decision, or not at all."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("formation-kills")]

SIGKILLED = -9
POINTS = ("planned", "file:1", "file:2", "before-commit", "after-commit")
Told = dict[str, Any]


def run(folder: Path, act: str, point: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.reliability.applying", str(folder), act, *([point] if point else [])]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def told(folder: Path, act: str) -> Told:
    done = run(folder, act)
    assert done.returncode == 0, done.stderr[-2000:]
    found: Told = json.loads(done.stdout)
    return found


def told_of(found: Told) -> Told:
    return {key: value for key, value in found.items() if key != "statements"}


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("before") / "data"
    folder.mkdir()
    told(folder, "prepare")
    return folder


@pytest.fixture(scope="module")
def kept(before: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copied(before, tmp_path_factory.mktemp("kept") / "data")
    told(folder, "keep")
    return folder


def test_what_is_proved_here_is_what_happens_undisturbed(before: Path, kept: Path) -> None:
    was, now = told(before, "look"), told(kept, "look")

    assert (sorted(was["files"]), was["items"]) == (["scenes/releases.md", "scenes/tests.md"], [["pending", 0]])
    assert (sorted(now["files"]), now["items"]) == (["scenes/releases.md"], [["kept", 1]])
    assert (now["scenes"], now["hidden"], now["missing"]) == ({"Releases": [2, 3]}, [], [])


@pytest.mark.parametrize("act", ["keep", "archive"])
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_named_point_it_is_wholly_there_after_the_next_start(
    before: Path, kept: Path, tmp_path: Path, act: str, point: str
) -> None:
    start = before if act == "keep" else kept
    undisturbed = copied(start, tmp_path / "undisturbed")
    wanted = told_of(told(undisturbed, act))
    folder = copied(start, tmp_path / "killed")

    done = run(folder, act, point)
    assert done.returncode == SIGKILLED, (point, done.stderr[-2000:])
    assert told_of(told(folder, "settle")) == wanted
    assert told_of(told(folder, "settle")) == wanted


@pytest.mark.parametrize("act", ["keep", "archive"])
def test_killed_before_any_statement_it_is_there_wholly_or_not_at_all(
    before: Path, kept: Path, tmp_path: Path, act: str
) -> None:
    start = before if act == "keep" else kept
    was = told_of(told(copied(start, tmp_path / "look"), "look"))
    undisturbed = told(copied(start, tmp_path / "undisturbed"), act)
    outcomes = set()

    for number in range(1, undisturbed["statements"] + 1):
        folder = copied(start, tmp_path / str(number))
        done = run(folder, act, str(number))
        assert done.returncode == SIGKILLED, (number, done.stderr[-2000:])
        found = told_of(told(folder, "settle"))
        assert found in (was, told_of(undisturbed)), number
        outcomes.add(found == was)

    assert outcomes == {True, False}
