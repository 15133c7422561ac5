"""The process itself, with the real model once: started, asked, ended with its input."""

import subprocess
import sys
from pathlib import Path

from recall.contracts import ScopeRef
from recall.frames import EngineState, Frames, Hello, Report, Search, frame
from tests.support.builders import a_workspace_scope
from tests.support.running_engines import SURROUNDINGS

HERE: tuple[ScopeRef, ...] = (a_workspace_scope(),)


def run(folder: Path, data: bytes, encoder: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-W", "error", "-P", "-m", "recall.vectors", "--encoder", encoder]
    given = ["--index", str(folder / "index.db"), "--vectors", str(folder / "vectors.db")]
    return subprocess.run(
        [*command, *given], input=data, capture_output=True, env=dict(SURROUNDINGS), timeout=30, check=False
    )


def test_standard_output_holds_frames_and_nothing_else(tmp_path: Path) -> None:
    asked = Search(number=2, text="print! something", scopes=HERE, limit=1)

    done = run(tmp_path, frame(Hello(number=1)) + frame(asked), "tests.support.encoders:Tiny")

    replies = list(Frames().replies(done.stdout))
    assert done.returncode == 0 and len(replies) >= 3 and done.stderr == b""


def test_a_model_that_cannot_be_loaded_is_said_and_ends_it(tmp_path: Path) -> None:
    done = run(tmp_path, frame(Hello(number=1)), "tests.support.encoders:Broken")

    (report,) = Frames().replies(done.stdout)
    assert done.returncode == 1 and isinstance(report, Report) and report.status.state is EngineState.BROKEN
    assert "the weights are missing" in report.status.problem


def test_what_is_no_request_ends_it(tmp_path: Path) -> None:
    assert run(tmp_path, b"\xff" * 64, "tests.support.encoders:Tiny").returncode == 1
