"""Kill -9 while a memory is forgotten: asked once more, every word of it is gone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("forgotten-everywhere")]
SIGKILLED = -9
MOST_WRITES = 40


def run(verb: str, folder: Path, *more: str) -> tuple[int, list[str]]:
    command = [sys.executable, "-m", "tests.reliability.forgetting", verb, str(folder), *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, SIGKILLED), done.stderr[-2000:]
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else []


def test_killed_before_any_of_its_writes_a_forgotten_memory_is_gone_when_it_is_asked_again(tmp_path: Path) -> None:
    for number in range(1, MOST_WRITES):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, held = run("prepare", folder)
        assert held, "the words are somewhere before"
        code, held = run("forget", folder, str(number))
        if code == 0:
            assert (number > 3, held) == (True, [])
            return
        assert run("again", folder) == (0, []), number
    raise AssertionError("it never came to an end")
