"""Sessions of the real Claude Code as they live: messages in mid-turn, cleared, compacted, forked, with helpers in the
background. The memory stands once in each context window, and the log holds each thing once."""

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.driver import Claude, Conversation, Json, Model, bash, delegate, reply, summaries
from tests.e2e.installed import client, install, logged
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
MID_TURN = "And tell me the time, too"
NOISY = {  # of an environment that makes programs talk
    "DEBUG": "*",
    "PYTHONWARNINGS": "always",
    "PYTHONVERBOSE": "1",
    "PYTHONDEVMODE": "1",
    "PYTHONASYNCIODEBUG": "1",
    "PYTHONPROFILEIMPORTTIME": "1",
    "BASH_ENV": "/nonexistent",
}


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    install(tmp_path / "project", daemon)
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    return tmp_path


def counts(model: Model) -> list[int]:
    return [request.mentions(WORDS) for request in model.requests if "Your task is to create a" not in request.whole()]


def texts(events: list[tuple[str, Json]], kind: str) -> list[str]:
    return [payload["text"] for each, payload in events if each == kind]


def twice(events: list[tuple[str, Json]]) -> list[str]:
    """What was said once and stands in the log more than once."""
    said = Counter(payload["text"] for kind, payload in events if kind in ("user/message", "assistant/message"))
    return [text for text, count in said.items() if count > 1]


@pytest.mark.promise("client-next-request", "client-compaction")
def test_one_process_over_its_whole_life(daemon: RunningDaemon, folder: Path) -> None:
    """A message in mid-turn, a cleared session, another model, a compaction by hand."""
    go = threading.Event()
    replies = [
        *summaries("The user wants the release step."),
        reply("I will seal it.", FAILING),
        reply("Waiting.", bash("while [ ! -e go ]; do sleep 0.02; done")),
        reply("Both done."),
        reply("Hello again."),
        reply("Sealing in the new session.", FAILING),
        reply("Still broken."),
        reply("After the compaction.", bash("echo looking")),
        reply("The end."),
    ]
    with Model(replies, at={1: go.set}) as model:
        claude = client(folder, model, daemon)
        with Conversation(claude) as talk:
            talk.say("Please run the release step")
            assert go.wait(60)
            talk.say(MID_TURN)
            (claude.project / "go").touch()
            first = talk.result()["session_id"]
            talk.turn("/clear")
            talk.turn("Good morning")
            talk.turn("/model haiku")
            second = talk.turn("Please run the release step here")["session_id"]
            talk.turn("/compact keep the release step")
            talk.turn("Where were we with SealBrokenError in make seal?")

    assert talk.stderr == ""
    assert first != second
    assert counts(model) == [0, 1, 1, 0, 0, 1, 1, 1]
    assert sum(request.mentions(MID_TURN) for request in model.requests[:3]) == 1
    before, after = logged(daemon, first), logged(daemon, second)
    assert twice(before) == twice(after) == []
    assert texts(before, "user/message") == ["Please run the release step", MID_TURN]
    assert texts(before, "assistant/message") == ["I will seal it.", "Waiting.", "Both done."]
    assert [payload["source"] for kind, payload in before if kind.startswith("session/") and "source" in payload] == [
        "startup",
        "clear",
    ]
    assert [payload["source"] for kind, payload in after if kind == "session/start"] == ["clear", "compact"]
    clients = [payload for kind, payload in (*before, *after) if kind == "session/client"]
    assert {payload.get("version") for payload in clients} - {None}
    assert [payload.get("model", "") for payload in clients][-1].startswith("claude-haiku")


@pytest.mark.promise("client-next-request")
def test_a_fork_is_not_told_again_what_its_parent_was_told(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("I will seal it.", FAILING),
        reply("It is broken."),
        reply("Again, in a fork.", FAILING),
        reply("Still broken."),
        reply("And back.", FAILING),
        reply("As before."),
    ]
    with Model(replies) as model:
        claude = client(folder, model, daemon)
        parent = claude.say("Please run the release step").session_id
        claude.arguments = ["--fork-session"]
        fork = claude.say("Try it once more, please", resume=parent).session_id
        claude.arguments = []
        daemon.stop()
        daemon.start()
        again = claude.say("And once more", resume=fork).session_id
    assert len({parent, fork}) == 2 and again == fork
    assert counts(model) == [0, 1, 1, 1, 1, 1]
    assert [payload["source"] for kind, payload in logged(daemon, fork) if kind == "session/start"] == [
        "fork",
        "resume",
    ]
    assert "I will seal it." not in texts(logged(daemon, fork), "assistant/message")


@pytest.mark.promise("no-leak")
def test_helpers_in_the_background_are_heard_and_given_nothing(daemon: RunningDaemon, folder: Path) -> None:
    """Two helpers at once; their notifications open turns that no human asked for, and those are given nothing."""
    asked, delegating = ["SUBTASK-A: run the release step", "SUBTASK-B: run the release step"], "I will delegate."
    children: list[Json] = []
    for task in asked:
        child: Json = {"when": task, "unless": delegating}
        children += [child | reply(f"Sealing for {task[:9]}.", FAILING), child | reply(f"The report of {task[:9]}.")]
    replies = [
        {"unless": asked} | reply(delegating, *(delegate(task) for task in asked)),
        *children,
        *({"when": delegating, "repeat": True} | reply(text) for text in ["Waiting for them."]),
    ]
    with Model(replies) as model:
        run = client(folder, model, daemon).say("Please have it done by helpers")
    assert run.code == 0
    agents = {request.agent for request in model.requests} - {""}
    assert len(agents) == 2
    assert not any(request.mentions(WORDS) for request in model.requests)
    events = logged(daemon, run.session_id)
    assert len([kind for kind, _ in events if kind == "agent/spawn"]) == 2
    assert len([kind for kind, _ in events if kind == "agent/stop"]) == 2
    for agent in agents:
        kinds = [kind for kind, _ in logged(daemon, run.session_id, agent)]
        assert kinds == ["agent/spawn", "tool/call", "tool/result", "step/end", "assistant/message", "agent/stop"]
    with daemon.connect() as wire:
        entries = wire.call("audit.query", kind="pass", limit=200)["entries"]
    assert {entry["outcome"] for entry in entries} == {"silence"}


def test_hooks_end_well_and_say_nothing_but_their_schema_whatever_the_environment(
    daemon: RunningDaemon, folder: Path
) -> None:
    replies = [reply("I will seal it.", FAILING), reply("Looking.", bash("echo on")), reply("Done.")]
    log = folder / "debug.txt"
    with Model(replies) as model:
        claude = client(folder, model, daemon, **NOISY)
        claude.arguments = ["--debug-file", str(log)]
        run = claude.say("Please run the release step")
    assert (run.code, run.stderr) == (0, "")
    assert counts(model) == [0, 1, 1]
    records = transcript(claude, run.session_id)
    hooks = [record["attachment"] for record in records if "hook" in record.get("attachment", {}).get("type", "")]
    assert {hook["type"] for hook in hooks} <= {"hook_success", "hook_additional_context"}
    for hook in hooks:
        if hook["type"] == "hook_success" and "exitCode" in hook:
            assert (hook["exitCode"], hook["stderr"]) in ((0, ""), (200, ""))
            stdout = hook["stdout"].strip()
            assert not stdout or set(json.loads(stdout)) == {"hookSpecificOutput"}
    said = log.read_text("utf-8", errors="replace")
    assert "hook.py" in said and "finished with status 0" in said
    assert not any(f"finished with status {code}" in said for code in range(1, 256))


def transcript(claude: Claude, session_id: str) -> list[Json]:
    (file,) = (claude.home / ".claude" / "projects").rglob(f"{session_id}.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.promise("client-without-daemon", "acknowledged-is-kept")
def test_what_a_killed_daemon_missed_is_in_the_log_once_it_is_back(daemon: RunningDaemon, folder: Path) -> None:
    """Down for the rest of a run, and started by the next one: the log holds each call, result, prompt and word."""
    replies = [
        *(reply(f"Step {n}.", bash(f"echo {n}")) for n in range(6)),
        reply("All steps done."),
        reply("And the last one.", bash("echo last")),
        reply("The end."),
    ]
    with Model(replies, at={2: daemon.kill}) as model:
        claude = client(folder, model, daemon)
        first = claude.say("Please do the steps")
        second = claude.say("Go on", resume=first.session_id)  # whose start finds no daemon, and starts one
    assert (first.code, second.code, first.stderr) == (0, 0, "")
    events = logged(daemon, first.session_id)
    assert texts(events, "user/message") == ["Please do the steps", "Go on"]
    said = [*(f"Step {n}." for n in range(6)), "All steps done.", "And the last one.", "The end."]
    assert texts(events, "assistant/message") == said
    assert texts(events, "tool/result") == [*(str(n) for n in range(6)), "last"]
    assert [payload["args"] for kind, payload in events if kind == "tool/call"] == [
        *(f"echo {n}" for n in range(6)),
        "echo last",
    ]


def test_a_call_that_was_not_allowed_is_heard_though_it_has_no_hook(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("Both.", bash("touch /etc/not-here && rm -rf x"), bash("echo allowed")),
        reply("Then not.", bash("echo done")),
        reply("The end."),
    ]
    with Model(replies) as model:
        claude = client(folder, model, daemon)
        claude.arguments = ["--permission-mode", "default", "--disallowedTools", "Bash(touch:*)"]
        run = claude.say("Please do it")
    assert run.code == 0
    events = logged(daemon, run.session_id)
    commands = [payload["args"] for kind, payload in events if kind == "tool/call"]
    assert sorted(commands) == ["echo allowed", "echo done", "touch /etc/not-here && rm -rf x"]
    went = {payload["text"]: payload["ok"] for kind, payload in events if kind == "tool/result"}
    assert (went.pop("allowed"), went.pop("done")) == (True, True)
    assert list(went.values()) == [False]
