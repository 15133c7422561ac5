"""Our own `init` registers our hooks with the real Codex, which runs them once they are trusted, and not before."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from host import namespace
from tests.e2e import clients
from tests.e2e.codex_driver import Codex, Model, logged, reply, shell
from tests.e2e.installed import repository
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = shell("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


def init(codex: Codex, daemon: RunningDaemon, *arguments: str) -> None:
    """Our `init` for this user's Codex, as in a terminal of his."""
    path = f"{clients.codex().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(Path(sys.executable).parent / namespace.SCRIPT), "init", "--host", "codex", "--level", "user", *arguments],
        cwd=codex.project,
        env=daemon.environment() | {"CODEX_HOME": str(codex.codex_home), "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_run_once_they_are_trusted_and_are_taken_back_whole(daemon: RunningDaemon, tmp_path: Path) -> None:
    repository(tmp_path / "project")
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    shared = {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}
    turn = [reply("I will seal it.", FAILING), reply("Let me look.", shell("echo looking")), reply("It is broken.")]
    with Model([*turn, *turn, *turn]) as model:
        codex = Codex(tmp_path, model, env=shared, trusted=False)
        before = (codex.codex_home / "config.toml").read_bytes()

        init(codex, daemon, "--yes")
        untrusted = codex.say("Please run the release step")
        assert (untrusted.code, model.shown(WORDS)) == (0, [0, 0, 0])
        assert logged(daemon, untrusted.session_id) == []

        init(codex, daemon, "--yes", "--trust-hooks")
        trusted = codex.say("Please run the release step")
        assert (trusted.code, model.shown(WORDS)[3:]) == (0, [0, 1, 1])
        assert trusted.failures() == []
        assert "session/end" in [event["type"] for event in logged(daemon, trusted.session_id)]

        init(codex, daemon, "--remove", "--yes")
        assert (codex.codex_home / "config.toml").read_bytes() == before
        assert not (codex.codex_home / "hooks.json").exists()
        gone = codex.say("Please run the release step")
        assert (gone.code, model.shown(WORDS)[6:], logged(daemon, gone.session_id)) == (0, [0, 0, 0], [])
