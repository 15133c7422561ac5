"""A daemon that dies while the real Claude Code runs is back with the next prompt, and hands over again; one that a
person stopped is not, until a new session starts."""

import contextlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.sockets import is_stopped
from tests.e2e.driver import Conversation, Model, bash, claude_binary, reply
from tests.e2e.installed import client, install, logged, ours
from tests.e2e.terminal import Terminal
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

SECONDS = 30  # until a daemon that does not come back is given up
FIRST, SECOND = "delete the stale stamp file", "end the forgotten preview server"
MEMORIES = (
    f"SealBrokenError in `make seal`: {FIRST} build/seal.stamp, then run make seal again.",
    f"PortTakenError of the web preview: {SECOND} with `npm run preview:end` before another one is opened.",
)
FAILING = (
    bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2"),
    bash("echo 'preview: PortTakenError: nothing can listen there' >&2; exit 1"),
)
PROMPTS = ("Please run the release step", "And now the web preview")
ENDS = ("That is how it stands.", "That is the preview.")
TURNS = [
    [reply("I will do it.", FAILING[turn]), reply("Looking.", bash(f"echo {turn}")), reply(ENDS[turn])]
    for turn in (0, 1)
]


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:  # the one that a hook has started
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    install(tmp_path / "project", daemon)
    with daemon.connect() as wire:
        for memory in MEMORIES:
            wire.call("memory.remember", text=memory, workspace=str(tmp_path / "project"))
    return tmp_path


def is_back(daemon: RunningDaemon) -> bool:
    """Whether a daemon answers that the test did not start."""
    with contextlib.suppress(OSError, ConnectionError), daemon.connect() as wire:
        return daemon.process is None and bool(wire.call("health")["ready"])
    return False


def wait_for(daemon: RunningDaemon) -> None:
    """Until it is back. Raises TimeoutError."""
    until = time.monotonic() + SECONDS
    while not is_back(daemon):
        if time.monotonic() > until:
            raise TimeoutError("Nobody has started the daemon again.")
        time.sleep(0.02)


def handed_over_again(model: Model) -> None:
    """Each memory stands once from its failure on, and the model was told nothing of hooks."""
    first, second = ([request.mentions(words) for request in model.requests] for words in (FIRST, SECOND))
    assert first == sorted(first) and (first[0], first[2:]) == (0, [1, 1, 1, 1])
    assert second == sorted(second) and (second[:4], second[-1]) == ([0] * 4, 1)
    assert not any("hook" in request.whole().lower() and "ECONN" in request.whole() for request in model.requests)
    assert not any("Async hook" in request.whole() for request in model.requests)


@pytest.mark.promise("client-without-daemon", "client-next-request")
def test_a_daemon_that_was_killed_is_back_with_the_next_prompt(daemon: RunningDaemon, folder: Path) -> None:
    with Model([*TURNS[0], *TURNS[1]], at={3: lambda: wait_for(daemon)}) as model:
        claude = client(folder, model, daemon)
        with Conversation(claude) as talk:
            session = talk.turn(PROMPTS[0])["session_id"]
            daemon.kill()
            assert talk.turn(PROMPTS[1])["result"] == ENDS[1]

    assert talk.stderr.strip() == ""
    handed_over_again(model)
    said = [payload["text"] for kind, payload in logged(daemon, session) if kind == "user/message"]
    assert said == list(PROMPTS), "the prompt that found no daemon is read from the transcript"


@pytest.mark.promise("client-without-daemon")
def test_a_person_at_the_terminal_sees_lines_at_one_prompt_and_none_after_it(
    daemon: RunningDaemon, folder: Path
) -> None:
    project = folder / "project"
    asked = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (folder / "home").mkdir()
    (folder / "home" / ".claude.json").write_text(json.dumps(asked), encoding="utf-8")
    private = project / ".claude" / "settings.local.json"
    settings = json.loads(private.read_text("utf-8")) | {"disabledMcpjsonServers": ["remora-pre"]}
    private.write_text(json.dumps(settings), encoding="utf-8")
    with Model([*TURNS[0], *TURNS[1]], at={3: lambda: wait_for(daemon)}) as model:
        claude = client(folder, model, daemon)
        command = [str(claude_binary()), "--permission-mode", "default", "--allowedTools", "Bash"]
        with Terminal(command, claude.project, claude.environment()) as terminal:
            terminal.wait(lambda: "❯" in terminal.shown())
            for turn in (0, 1):
                if turn == 1:
                    (transcript,) = (folder / "home" / ".claude" / "projects").glob("*/*.jsonl")
                    terminal.wait(lambda path=transcript: "turn/end" in dict(logged(daemon, path.stem)))
                    daemon.kill()
                terminal.press(PROMPTS[turn])
                terminal.wait(lambda turn=turn: PROMPTS[turn] in terminal.shown())
                terminal.press("\r")
                terminal.wait(lambda turn=turn: ENDS[turn] in terminal.shown())
            shown = terminal.shown()

    handed_over_again(model)
    failed = set(re.findall(r"(\w+)(?::\w+)? hook failed", shown))
    assert failed - {"Stop"} == {"UserPromptSubmit"}, "Stop: of the first turn, when it is killed as it answers"
    assert "Async" not in shown
    assert FIRST not in shown and SECOND not in shown


def test_one_that_a_person_stopped_stays_so_until_a_session_starts(daemon: RunningDaemon, folder: Path) -> None:
    with Model([*TURNS[0], *TURNS[1]]) as model:
        claude = client(folder, model, daemon)
        with Conversation(claude) as talk:
            session = talk.turn(PROMPTS[0])["session_id"]
            said = ours(daemon, claude.project, "stop")
            assert daemon.process is not None and daemon.process.wait(SECONDS) == 0
            daemon.process = None
            assert talk.turn(PROMPTS[1])["result"] == ENDS[1]
    assert said.splitlines()[0] == "Stopped." and "hook failed" in said.splitlines()[1]
    assert not is_back(daemon) and is_stopped(daemon.socket.parent)
    assert [request.mentions(SECOND) for request in model.requests] == [0] * 6

    with Model([reply("Hello again.")], at={0: lambda: wait_for(daemon)}) as model:
        assert client(folder, model, daemon).say("Good morning", resume=session).code == 0
    assert not is_stopped(daemon.socket.parent)
