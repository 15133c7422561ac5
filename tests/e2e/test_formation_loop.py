"""The whole loop with the real Claude Code, offline, and no model but its own: a conversation ends, the next one is
told that a checkpoint waits and notes it by our tools, a person keeps the note at a terminal, and the conversation
after that is given it at the step where it matters (formation.md 4.3, issue 7).
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.driver import Json, Model, bash, reply
from tests.e2e.installed import client, install, ours
from tests.e2e.mcp_entries import call_in_claude, for_claude
from tests.e2e.terminal import Terminal
from tests.support.daemon import RunningDaemon

pytestmark = [pytest.mark.client, pytest.mark.promise("formation-loop")]

QUOTE = "when make seal fails with SealBrokenError, the stale stamp build/seal.stamp has to go first"
SAID = f"Good to know: {QUOTE}. Please look around."
CONTENT = "When make seal fails with SealBrokenError, the stale stamp build/seal.stamp has to go first."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
PATIENCE = 30.0
# Our command line as the program of a terminal that is its own, as it is where a person sits.
AT_A_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);from host.cli.main import main; main()"


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    install(tmp_path / "project", daemon)
    return tmp_path


def waiting(daemon: RunningDaemon, project: Path) -> list[Json]:
    found: list[Json] = json.loads(ours(daemon, project, "checkpoint", "--list", "--json"))["waiting"]
    return found


def a_task(daemon: RunningDaemon, project: Path) -> Json:
    """The range that waits, as the agent will be handed it; there is one once the job has looked at the session."""
    until = time.monotonic() + PATIENCE
    while not waiting(daemon, project):
        assert time.monotonic() < until, "nothing waits"
        time.sleep(0.1)
    task: Json = json.loads(ours(daemon, project, "checkpoint", "--emit-task"))
    return task


def answer(task: Json) -> Json:
    """What a model that read the task stages."""
    lines = [json.loads(line) for line in task["packet"]["material"].splitlines() if line.startswith("{")]
    (said,) = [line for line in lines if QUOTE in line["content"]]
    note = {
        "kind": "lesson",
        "title": "A broken seal",
        "content": CONTENT,
        "attribution": "user_statement",
        "citations": [{"messageId": said["messageId"], "quote": QUOTE}],
    }
    return {
        "format": task["contract"]["format"],
        "taskId": task["taskId"],
        "binding": task["binding"],
        "notes": [note],
    }


def test_what_one_conversation_said_is_noted_kept_and_given_to_another(daemon: RunningDaemon, folder: Path) -> None:
    project = folder / "project"
    with Model([reply("I will.", bash("ls")), reply("I looked.")]) as model:
        assert client(folder, model, daemon).say(SAID).code == 0
    task = a_task(daemon, project)

    replies = [
        reply("I note it.", call_in_claude("memory_checkpoint")),
        reply("I hand it over.", call_in_claude("memory_stage", document=answer(task))),
        reply("It waits for you."),
    ]
    with Model(replies) as model:
        claude = client(folder, model, daemon)
        for_claude(claude, "memory_checkpoint", "memory_stage")
        assert claude.say("Please run the checkpoint that waits").code == 0
    first, read, staged = model.requests
    assert first.mentions("1 checkpoint waits") == 1 and not first.in_system("checkpoint waits;")
    assert read.mentions(QUOTE) >= 1 and read.mentions(task["taskId"]) >= 1
    assert staged.mentions("Taken: 1 waits") >= 1
    assert not any(one.mentions("A broken seal") for one in (first, read))
    assert task["packet"]["streamId"] not in [one["sessionId"] for one in waiting(daemon, project)]

    keep_at_a_terminal(daemon, project)

    replies = [reply("I will seal it.", FAILING), reply("Let me look.", bash("echo looking")), reply("Done.")]
    with Model(replies) as model:
        assert client(folder, model, daemon).say("Please run the release step").code == 0
    assert [request.mentions(CONTENT) for request in model.requests] == [0, 1, 1]
    assert not any(request.in_system(CONTENT) for request in model.requests)


def keep_at_a_terminal(daemon: RunningDaemon, project: Path) -> None:
    """A person goes through the review and keeps the one item, having seen its quote."""
    command = [sys.executable, "-c", AT_A_TERMINAL, "review"]
    with Terminal(command, project, daemon.environment()) as terminal:
        terminal.wait(lambda: "[k]eep" in terminal.shown() and terminal.listens())
        assert "build/seal.stamp has to go first" in terminal.shown()
        terminal.press("k")
        terminal.wait(lambda: "1 kept" in terminal.shown())
