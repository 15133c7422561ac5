"""The real Claude Code in a terminal, as a person has it: the memory in the same place, and no line about hooks."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.driver import Model, bash, claude_binary, reply
from tests.e2e.installed import client, install
from tests.e2e.terminal import Terminal
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
PROMPT = "Please run the release step"
LAST = "That is how it stands."


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A project with our hooks, in a home that has been asked all that a new one is asked."""
    project = tmp_path / "project"
    install(project, daemon)
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(project))
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    asked = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(project): trusted},
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".claude.json").write_text(json.dumps(asked), encoding="utf-8")
    private = project / ".claude" / "settings.local.json"
    settings = json.loads(private.read_text("utf-8")) | {"disabledMcpjsonServers": ["remora-pre"]}
    private.write_text(json.dumps(settings), encoding="utf-8")
    return tmp_path


@pytest.mark.promise("client-next-request")
@pytest.mark.parametrize("killed", [False, True], ids=["well", "killed"])
def test_a_person_at_the_terminal(daemon: RunningDaemon, folder: Path, killed: bool) -> None:
    """With a daemon no line speaks of hooks. Without one the client says so to the person, never to the model."""
    replies = [
        reply("I will seal it.", FAILING),
        *(reply(f"Looking {n}.", bash(f"echo {n}")) for n in range(2)),
        reply(LAST),
    ]
    with Model(replies, at={2: daemon.kill} if killed else {}) as model:
        claude = client(folder, model, daemon)
        command = [str(claude_binary()), "--permission-mode", "default", "--allowedTools", "Bash"]
        with Terminal(command, claude.project, claude.environment()) as terminal:
            terminal.wait(lambda: "❯" in terminal.shown())
            terminal.press(PROMPT)
            terminal.wait(lambda: PROMPT in terminal.shown())
            terminal.press("\r")
            terminal.wait(lambda: LAST in terminal.shown())
            shown = terminal.shown()
    assert len(model.requests) == len(replies)
    counts = [request.mentions(WORDS) for request in model.requests]
    assert counts == sorted(counts) and (counts[0], counts[-1]) == (0, 1)
    assert WORDS not in shown
    assert ("hook failed" in shown) is killed
    assert not any("hook failed" in request.whole() for request in model.requests)
