"""Kill -9 around a person's decision on a note: all of it is there or nothing; the files follow at the next start."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from governance.formation.keeping import AFTER_COMMIT, BEFORE_COMMIT
from host.formation import projector
from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("formation-kills")]

SIGKILLED = -9
WAITS = {"item": ["pending", 1], "decisions": 0, "note": 1, "lives": [], "sources": 0, "graves": 0, "waits": 0}
KEPT = {"item": ["kept", 2], "decisions": 1, "note": 2, "lives": [["live", 1]], "sources": 1, "graves": 0, "waits": 0}
KEPT_LINES = ["decision", "record"]


def run(verb: str, folder: Path, *more: str) -> int:
    command = [sys.executable, "-m", "tests.reliability.deciding", verb, str(folder), *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, SIGKILLED), done.stderr[-2000:]
    return done.returncode


def looked(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.reliability.deciding", "look", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    return found


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    assert run("prepare", tmp_path) == 0
    return tmp_path


@pytest.mark.parametrize("verb", ["keep", "archive", "replace"])
def test_killed_before_the_commit_the_note_waits_as_before(prepared: Path, verb: str) -> None:
    assert run(verb, prepared, BEFORE_COMMIT) == SIGKILLED
    assert looked(prepared) == WAITS | {"text": 0, "superseded": 0, "lines": []}
    assert run(verb, prepared, "nowhere") == 0  # and can be decided upon again
    assert looked(prepared)["item"] == ["archived" if verb == "archive" else "kept", 2]


@pytest.mark.parametrize(
    ("point", "text"), [(AFTER_COMMIT, 0), (projector.APPENDED, 0), (projector.WRITTEN, 1), (projector.MARKED, 1)]
)
def test_killed_after_the_commit_it_is_kept_and_the_files_follow_once(prepared: Path, point: str, text: int) -> None:
    assert run("keep", prepared, point) == SIGKILLED
    left = looked(prepared)
    assert (left["item"], left["lives"], left["text"]) == (["kept", 2], [["live", 1]], text)
    assert run("finish", prepared) == 0
    assert looked(prepared) == KEPT | {"text": 1, "superseded": 0, "lines": KEPT_LINES}


@pytest.mark.parametrize("point", [AFTER_COMMIT, projector.APPENDED, projector.WRITTEN])
def test_what_it_takes_the_place_of_is_put_behind_it_at_the_next_start(prepared: Path, point: str) -> None:
    assert run("replace", prepared, point) == SIGKILLED
    assert run("finish", prepared) == 0
    done = looked(prepared)
    assert (done["item"], done["text"], done["superseded"] > 0) == (["kept", 2], 1, True)
    assert done["lines"] == ["decision", "record", "tombstone"]
