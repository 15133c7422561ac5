"""The plugin folder in the real Claude Code: taken as it is, and as good as what `init` writes."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.setup.plugin import MANIFEST
from tests.e2e.driver import Claude, Model, bash, claude_binary, reply
from tests.e2e.installed import client, install, logged, ours, repository
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
PINNED = "Answer in British English."
STEPS = 6


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def plugin(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A built plugin folder, and a project without any settings of ours."""
    repository(tmp_path / "project")
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    ours(daemon, tmp_path, "plugin", str(tmp_path / "plugin"))
    return tmp_path / "plugin"


def with_plugin(plugin: Path, model: Model, daemon: RunningDaemon) -> Claude:
    claude = client(plugin.parent, model, daemon)
    claude.arguments = ["--plugin-dir", str(plugin)]
    return claude


@pytest.mark.promise("client-next-request")
def test_with_the_plugin_the_memory_is_in_the_next_request_once(daemon: RunningDaemon, plugin: Path) -> None:
    replies = [
        reply("I will seal it.", FAILING),
        reply("Let me look.", bash("echo looking")),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Still broken."),
    ]
    with Model(replies) as model:
        claude = with_plugin(plugin, model, daemon)
        first = claude.say("Please run the release step")
        second = claude.say("Try it once more, please", resume=first.session_id)
    assert (first.code, first.stderr, second.code) == (0, "", 0)
    assert [request.mentions(WORDS) for request in model.requests] == [0, 1, 1, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)
    kinds = [kind for kind, _ in logged(daemon, first.session_id)]
    assert kinds.count("session/start") == kinds.count("session/end") == 2
    assert kinds.count("tool/result") == 3


@pytest.mark.promise("client-next-request")
def test_registered_by_init_and_by_the_plugin_each_thing_is_told_and_given_once(
    daemon: RunningDaemon, plugin: Path
) -> None:
    install(plugin.parent / "project", daemon)
    with daemon.connect() as wire:
        wire.call("memory.remember", text=PINNED, workspace=str(plugin.parent / "project"), pinned=True)
    replies = [reply("I will seal it.", FAILING), reply("Let me look.", bash("echo looking")), reply("It is broken.")]
    with Model(replies) as model:
        run = with_plugin(plugin, model, daemon).say("Please run the release step")
    assert (run.code, run.stderr) == (0, "")
    assert [request.mentions(WORDS) for request in model.requests] == [0, 1, 1]
    assert [request.mentions(PINNED) for request in model.requests] == [1, 1, 1]
    counts = Counter(kind for kind, _ in logged(daemon, run.session_id))
    assert [counts[kind] for kind in ("session/start", "user/message", "tool/call", "tool/result")] == [1, 1, 2, 2]


@pytest.mark.promise("client-without-daemon")
def test_a_daemon_that_hangs_costs_the_plugins_hooks_one_wait(daemon: RunningDaemon, plugin: Path) -> None:
    assert daemon.process is not None
    pid = daemon.process.pid

    def hang() -> None:
        os.kill(pid, signal.SIGSTOP)

    steps = [reply(f"Step {n}.", bash(f"echo {n}")) for n in range(STEPS)]
    try:
        with Model([*steps, reply("All steps done.")], at={1: hang}) as model:
            begun = time.monotonic()
            run = with_plugin(plugin, model, daemon).say("Please run the release step")
            seconds = time.monotonic() - begun
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (run.code, run.result, run.stderr) == (0, "All steps done.", "")
    times = sorted(later.at - one.at for one, later in zip(model.requests[1:], model.requests[2:], strict=False))
    assert times[-2] < 0.5, (times, seconds)  # all but the one step that waited


def test_the_product_takes_the_folder_as_it_is_and_can_install_it(daemon: RunningDaemon, plugin: Path) -> None:
    home = plugin.parent / "home"
    home.mkdir()

    def asked(*arguments: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "DISABLE_AUTOUPDATER": "1"}
        command = [str(claude_binary()), "plugin", *arguments]
        done = subprocess.run(
            command, env=environment, cwd=plugin.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    asked("validate", "--strict", str(plugin))
    asked("validate", "--strict", str(plugin / MANIFEST))
    asked("marketplace", "add", str(plugin))
    asked("install", "remora-pre@remora-pre")
    assert "remora-pre@remora-pre" in asked("list")
    (token,) = (daemon.data / "state").rglob("http.token")
    secret = token.read_text("utf-8").strip()
    assert not any(secret in file.read_text("utf-8") for file in plugin.rglob("*") if file.is_file())
    assert json.loads((plugin / MANIFEST).read_text("utf-8"))["version"]
