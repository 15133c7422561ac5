"""Kill -9 at every named point of the commits of formation: each is there wholly or not at all, once, and no committed
range is asked about again."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from host.formation import projector
from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("formation-kills", "formation-18")]

SIGKILLED = -9
CALLS = {"checkpoint": 2, "batch": 1}
NOTHING = {"receipt": 0, "memory": 0, "memory_source": 0, "queue": 0, "note": 0, "note_window": 0, "generation": 0}
COMMITTED = NOTHING | {"receipt": 1, "memory": 1, "memory_source": 1, "queue": 1, "generation": 1}
NOTED = NOTHING | {"queue": 1, "note": 1, "note_window": 1}


def run(verb: str, folder: Path, pipeline: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.reliability.forming", verb, str(folder), pipeline, *more]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def killed(folder: Path, pipeline: str, point: str) -> dict[str, Any]:
    """What is there after a run was killed at that point."""
    done = run("act", folder, pipeline, point)
    assert done.returncode == SIGKILLED, (point, done.returncode, done.stderr[-2000:])
    return looked(folder, pipeline)


def finished(folder: Path, pipeline: str) -> dict[str, Any]:
    """What is there after the next start."""
    done = run("finish", folder, pipeline)
    assert done.returncode == 0, done.stderr[-2000:]
    return looked(folder, pipeline)


def looked(folder: Path, pipeline: str) -> dict[str, Any]:
    done = run("look", folder, pipeline)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows(found: Mapping[str, Any]) -> dict[str, int]:
    return {table: found[table] for table in NOTHING}


@pytest.mark.parametrize("pipeline", ["checkpoint", "batch"])
def test_killed_before_the_commit_nothing_of_it_is_there_and_the_next_start_does_it(
    tmp_path: Path, pipeline: str
) -> None:
    left = killed(tmp_path, pipeline, "before-commit")
    assert (rows(left), left["cursor"], left["outbox"], left["lines"]) == (NOTHING, {}, 0, [])

    done = finished(tmp_path, pipeline)

    assert rows(done) == COMMITTED
    assert (done["cursor"], done["markdown"], done["lines"].count("record")) == ({pipeline: 4}, 1, 1)
    assert done["calls"] == 2 * CALLS[pipeline], "what was not committed is asked about once more"


@pytest.mark.parametrize("pipeline", ["checkpoint", "batch"])
def test_killed_after_the_commit_it_is_all_there_and_no_model_is_asked_again(tmp_path: Path, pipeline: str) -> None:
    left = killed(tmp_path, pipeline, "after-commit")
    assert (rows(left), left["cursor"], left["lines"]) == (COMMITTED, {pipeline: 4}, [])

    done = finished(tmp_path, pipeline)

    assert rows(done) == COMMITTED
    assert (done["cursor"], done["markdown"], done["lines"].count("record")) == ({pipeline: 4}, 1, 1)
    assert done["calls"] == CALLS[pipeline]


@pytest.mark.parametrize("pipeline", ["checkpoint", "batch"])
@pytest.mark.parametrize("point", [projector.APPENDED, projector.WRITTEN, projector.MARKED])
def test_killed_while_it_is_written_into_the_files_it_stands_there_once(
    tmp_path: Path, pipeline: str, point: str
) -> None:
    left = killed(tmp_path, pipeline, point)
    assert rows(left) == COMMITTED and left["lines"] == ["record"]
    assert left["markdown"] == (0 if point == projector.APPENDED else 1)

    done = finished(tmp_path, pipeline)

    assert rows(done) == COMMITTED
    assert (done["outbox"], done["markdown"]) == (0, 1)
    assert sorted(done["lines"]) == ["cursor", "record"]
    assert done["calls"] == CALLS[pipeline]


@pytest.mark.parametrize(("point", "expected"), [("notes-before-commit", NOTHING), ("notes-after-commit", NOTED)])
def test_a_window_of_notes_is_saved_whole_or_not_at_all_and_once(
    tmp_path: Path, point: str, expected: dict[str, int]
) -> None:
    assert rows(killed(tmp_path, "notes", point)) == expected

    assert rows(finished(tmp_path, "notes")) == NOTED
    assert rows(finished(tmp_path, "notes")) == NOTED


def test_killed_again_at_each_start_it_ends_in_the_same(tmp_path: Path) -> None:
    """Three starts in a row die while they write the same change."""
    killed(tmp_path, "checkpoint", projector.APPENDED)
    for point in (projector.APPENDED, projector.WRITTEN):
        done = run("act", tmp_path, "checkpoint", point)
        assert done.returncode == SIGKILLED

    done_at_last = finished(tmp_path, "checkpoint")

    assert done_at_last["memory"] == done_at_last["markdown"] == done_at_last["lines"].count("record") == 1
