"""Kill -9 before and after every step of a promotion of two writes and a delete, and again during recovery: never a
mixed tree, and the candidate is promoted once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("team-16")]
SIGKILLED = -9
ROWS = ("2", "3", "4", "4a", "4b", "4c", "4d", "4e", "5", "6", "6c")


def told(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.reliability.promoting", str(folder / "ground"), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=480, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return told(tmp_path_factory.mktemp("kills"))


def test_every_process_was_killed_where_it_should_be(runs: list[dict[str, Any]]) -> None:
    assert all(code == SIGKILLED for run in runs for code in run["killed"])
    assert len(runs) >= 60
    assert sum(run["second"] is not None for run in runs) >= 30


def test_every_row_was_met_before_and_after_it(runs: list[dict[str, Any]]) -> None:
    met = {run["first"][0] for run in runs}

    assert {f"promote:{row}{end}" for row in ROWS for end in ("", ":done")} <= met


def test_after_the_next_start_all_of_it_is_there_or_nothing_of_it(runs: list[dict[str, Any]]) -> None:
    assert [run for run in runs if run["end"] == "mixed"] == []


def test_both_ends_were_reached(runs: list[dict[str, Any]]) -> None:
    assert {run["end"] for run in runs} == {"old", "new"}
    assert {run["end"] for run in runs if run["second"]} == {"old", "new"}


@pytest.mark.promise("team-19")
def test_two_processes_that_promote_one_plan_write_it_once(tmp_path: Path) -> None:
    for both in told(tmp_path, "--both", "6"):
        assert both["codes"] == [0, 0]
        assert both["told"] in (["idempotent", "written"], ["lock-busy", "written"])
        assert both["end"] == "new"
