"""The life of the MCP server's process: what it starts with, and its end with the client's.

Whole processes are started, ended and killed in `tests/reliability/test_mcp_process.py`.
"""

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from host.config import Paths, locate
from host.errors import RemoraError
from host.mcp import process
from host.namespace import LATE_FILE

ROOT = Path(__file__).resolve().parents[3]


async def test_it_ends_when_the_process_that_started_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOOK_SECONDS", 0)
    looks = iter([7, 7, 1])
    ended: list[int] = []

    await process._outlived(7, lambda: ended.append(1), lambda: next(looks))

    assert ended == [1]
    assert list(looks) == []


async def test_a_daemon_that_cannot_be_had_at_the_start_is_left_to_the_first_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class NoDaemon:
        async def ready(self) -> None:
            raise RemoraError("It cannot start.", "Look.")

    with caplog.at_level(logging.INFO):
        await process._ready(NoDaemon())

    assert caplog.messages == ["no daemon yet: It cannot start. Look."]


def test_a_daemon_is_started_in_the_background_without_the_agents_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(process, "environment", lambda: {"HOME": "/h", "ANTHROPIC_API_KEY": "secret"})
    monkeypatch.setattr(process, "launch", lambda *told: seen.append(told) or "launched")
    monkeypatch.setattr(process, "wait_until_ready", lambda *told: seen.append(told))
    paths = SimpleNamespace(log_file=tmp_path / "log", socket=tmp_path / "s")

    process._start(_as_paths(paths))

    assert seen == [(["--background", "--revive"], {"HOME": "/h"}, tmp_path / "log"), ("launched", tmp_path / "s")]


def _as_paths(made: object) -> Paths:
    """A stand-in that has the two places that are read."""
    assert isinstance(made, SimpleNamespace)
    return made  # type: ignore[return-value]  (a stand-in)


def test_a_folder_that_is_gone_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError

    assert process._cwd() == os.getcwd()
    monkeypatch.setattr(os, "getcwd", gone)
    assert process._cwd() == ""


def test_what_is_greeted_with_is_kept_in_the_state_folder_and_resources_are_those_of_the_daemon(tmp_path: Path) -> None:
    paths = locate({"REMORA_PRE_DATA": str(tmp_path / "data"), "REMORA_PRE_SOCKET": str(tmp_path / "s" / "d.sock")})

    greets = process._greetings(paths)

    with pytest.raises(RemoraError, match="No daemon"):
        greets._resources()
    paths.socket.parent.mkdir(mode=0o700)
    (paths.socket.parent / LATE_FILE).touch()  # hooks found that it hangs
    with pytest.raises(RemoraError, match="hangs"):
        greets._resources()
    assert greets.answer(b'{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}') is None


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    program = (
        "import sys, host.cli.mcp; print(sorted({'mcp', 'mcp_types', 'pydantic', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == "[]"
