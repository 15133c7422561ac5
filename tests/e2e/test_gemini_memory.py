"""The main job on the real Gemini CLI, offline: daemon, our own `init`, a memory, a failing step, the next request."""

import contextlib
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.frame import tags
from tests.e2e.asked import Asked, Asking, Json, reply
from tests.e2e.gemini_driver import Gemini, delegate, shell
from tests.e2e.installed import logged, ours, repository
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = shell("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
WAIT_SECONDS = 0.8  # for a daemon that hangs: one hook's 0.5, and 0.3 of the list of resources
NOISE_SECONDS = 1.5  # between two starts of this client on a busy machine
SUMMARY = "<state_snapshot>\n<overall_goal>Release.</overall_goal>\n</state_snapshot>"


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:  # whoever answers now, a hook may have started it
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A project with our hooks, and one memory about the step that is going to fail."""
    project = tmp_path / "project"
    repository(project)
    ours(daemon, project, "init", "--host", "gemini-cli", "--yes")
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(project))
    return tmp_path


def client(folder: Path, model: Asked, daemon: RunningDaemon) -> Gemini:
    shared = {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}
    return Gemini(folder, model, env=shared)


def occurrences(model: Asked) -> list[int]:
    """How often each request shows the memory. A resumed session repeats the result of every tool beside itself: that
    is Gemini CLI's own doing, whatever the result holds, and counts as one."""
    return [
        sum(json.dumps(part).count(WORDS) for turn in request.turns for part in _distinct(turn["parts"]))
        for request in model.requests
    ]


def _distinct(parts: list[Json]) -> list[Json]:
    return [part for place, part in enumerate(parts) if part not in parts[:place]]


def deliveries(daemon: RunningDaemon) -> list[Json]:
    with daemon.connect() as wire:
        entries: list[Json] = wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]
        return entries


def last_result(request: Asking) -> str:
    """The output of the last tool in a request."""
    responses = [
        part["functionResponse"] for turn in request.turns for part in turn["parts"] if "functionResponse" in part
    ]
    return str(responses[-1]["response"]["output"])


@pytest.mark.promise("client-next-request", "audit-first", "sent-is-final")
def test_the_memory_stands_behind_the_failing_result_once_and_stays_there(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("I will look first.", shell("echo hello")),
        reply("I will seal it.", FAILING),
        reply("Once more.", shell("echo hello")),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Still broken."),
    ]
    with Asked(replies) as model:
        gemini = client(folder, model, daemon)
        first = gemini.say("Good morning, here is a new day")
        second = gemini.say("Try it once more, please", resume=first.session_id)

    assert (first.code, first.result, second.code, second.result) == (0, "It is broken.", 0, "Still broken.")
    assert occurrences(model) == [0, 0, 1, 1, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)
    shown = last_result(model.requests[2])
    assert shown.index("SealBrokenError: seal check failed") < shown.index("<hook_context>") < shown.index(WORDS)
    assert len(tags(shown.replace("&lt;", "<").replace("&gt;", ">"))) == 1
    assert len(deliveries(daemon)) == 1
    assert not any("Hook(s)" in run.stderr for run in (first, second))

    told = logged(daemon, first.session_id)
    assert Counter(kind for kind, _ in told) == {
        "session/start": 2,
        "session/end": 2,
        "session/client": 1,
        "user/message": 2,
        "assistant/message": 6,
        "tool/call": 4,
        "tool/result": 4,
        "step/end": 6,
        "turn/end": 2,
    }
    texts = {
        kind: [said["text"] for told_kind, said in told if told_kind == kind]
        for kind in ("user/message", "assistant/message")
    }
    assert texts["user/message"] == ["Good morning, here is a new day", "Try it once more, please"]
    assert texts["assistant/message"] == [said["text"] for said in replies]
    assert [said["source"] for kind, said in told if kind == "session/start"] == ["startup", "resume"]


@pytest.mark.promise("client-next-request")
def test_tools_that_ran_side_by_side_bring_the_memory_once(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("All at once.", shell("echo a"), FAILING, shell("echo b")),
        reply("So.", shell("echo c")),
        reply("Done."),
    ]
    with Asked(replies) as model:
        run = client(folder, model, daemon).say("Please run the release step")
    assert (run.code, occurrences(model)) == (0, [0, 1, 1])
    told = logged(daemon, run.session_id)
    assert [said["args"] for kind, said in told if kind == "tool/call"].count("echo c") == 1
    assert Counter(kind for kind, _ in told)["tool/result"] == 4


@pytest.mark.promise("client-next-request")
def test_a_memory_that_a_prompt_asks_for_comes_with_that_prompt(daemon: RunningDaemon, folder: Path) -> None:
    with Asked([reply("I remember.", shell("echo looking")), reply("Done.")]) as model:
        run = client(folder, model, daemon).say("What did we learn about SealBrokenError in make seal?")
    assert (run.code, occurrences(model)) == (0, [1, 1])
    asked = [part["text"] for part in model.requests[0].turns[-1]["parts"]]
    assert WORDS in asked[-1] and WORDS not in "".join(asked[:-1])
    assert not any(request.in_system(WORDS) for request in model.requests)


@pytest.mark.promise("client-next-request", "context-maintained")
def test_what_is_pinned_stands_behind_the_first_prompt_once_and_a_resumed_session_keeps_both(
    daemon: RunningDaemon, folder: Path
) -> None:
    with daemon.connect() as wire:
        wire.call("memory.remember", text="Use pnpm here, never npm.", workspace=str(folder / "project"), pinned=True)
    with Asked([reply("Hello.", shell("echo hello")), reply("Done.")]) as model:
        gemini = client(folder, model, daemon)
        first = gemini.say("Good morning, here is a new day")
        assert gemini.say("Good night", resume=first.session_id).code == 0
    assert [request.mentions("Use pnpm here") for request in model.requests] == [1, 1, 1]
    asked = "".join(part["text"] for part in model.requests[0].turns[-1]["parts"])
    assert asked.index("Good morning") < asked.index("Use pnpm here")
    assert [request.mentions("Good morning") for request in model.requests] == [1, 1, 1]
    said = [told["text"] for kind, told in logged(daemon, first.session_id) if kind == "user/message"]
    assert said == ["Good morning, here is a new day", "Good night"]


@pytest.mark.promise("no-leak")
def test_a_subagent_is_given_nothing(daemon: RunningDaemon, folder: Path) -> None:
    task, delegating = "SUBTASK: run the release step", "I will delegate."
    child: Json = {"when": task, "unless": delegating}
    done = {"name": "complete_task", "input": {"result": "The report: done.", "response": "The report: done."}}
    replies = [
        {"unless": task} | reply(delegating, delegate(task)),
        child | reply("Sealing.", FAILING),
        child | reply("Reporting.", done),
        {"when": delegating} | reply("Looking myself.", shell("echo looking")),
        {"when": delegating} | reply("The helper has reported."),
    ]
    with Asked(replies) as model:
        run = client(folder, model, daemon).say("Please have it done by a helper")
    assert (run.code, run.result) == (0, "The helper has reported.")
    inside = [request for request in model.requests if delegating not in request.whole() and task in request.whole()]
    assert any(request.mentions("SealBrokenError") for request in inside), "the subagent did not run"
    assert not any(request.mentions(WORDS) for request in inside)
    agents = Counter(kind for kind, _ in logged(daemon, run.session_id) if kind.startswith("agent/"))
    assert agents == {"agent/spawn": 1, "agent/stop": 1}


@pytest.mark.promise("client-compaction")
def test_after_a_compression_the_memory_comes_once_more_at_most(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        {"when": "state_snapshot", "tools": False, "text": SUMMARY, "repeat": True},
        reply("I will seal it.", FAILING),
        reply("Broken."),
        reply("Enough.", shell("echo enough"), tokens=1_040_000),
        reply("Going on.", FAILING),
        reply("Broken again.", shell("echo looking")),
        reply("Done."),
    ]
    with Asked(replies) as model:
        gemini = client(folder, model, daemon)
        first = gemini.say("Please run the release step")
        run = gemini.say("And now the next one, please", resume=first.session_id)
    assert (run.code, run.result) == (0, "Done.")
    assert [SUMMARY in request.whole() for request in model.requests] == [False] * 3 + [True] * 3, "no compression"
    kinds = Counter(kind for kind, _ in logged(daemon, run.session_id))
    assert kinds["session/compact"] == 1
    seen = occurrences(model)
    assert seen[:3] == [0, 1, 1]
    assert all(count <= 1 for count in seen[3:]) and seen[3:] == sorted(seen[3:])
    assert not any(request.in_system(WORDS) for request in model.requests)
    assert len(deliveries(daemon)) <= 2


def _hang(daemon: RunningDaemon) -> None:
    assert daemon.process is not None
    os.kill(daemon.process.pid, signal.SIGSTOP)


def _wake(daemon: RunningDaemon) -> None:
    if daemon.process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(daemon.process.pid, signal.SIGCONT)


@pytest.mark.promise("client-without-daemon", "silence-has-a-reason")
@pytest.mark.parametrize("harm", [RunningDaemon.kill, _hang], ids=["killed", "hung"])
def test_a_daemon_that_is_lost_in_mid_run_leaves_the_client_alone(
    daemon: RunningDaemon, folder: Path, harm: Callable[[RunningDaemon], None]
) -> None:
    replies = [
        reply("I will seal it.", FAILING),
        *(reply(f"Step {n}.", shell(f"echo {n}")) for n in range(4)),
        reply("All steps done."),
    ]
    with Asked(replies, at={2: lambda: harm(daemon)}) as model:
        run = client(folder, model, daemon).say("Please run the release step")
    _wake(daemon)
    assert (run.code, run.result) == (0, "All steps done.")
    assert occurrences(model) == [0, 1, 1, 1, 1, 1]
    waited = [later.at - earlier.at for earlier, later in zip(model.requests[2:], model.requests[3:], strict=False)]
    assert sum(waited) < 5, f"the client waited for the daemon: {waited}"
    assert "Hook(s)" not in run.stderr


@pytest.mark.promise("client-without-daemon")
def test_a_daemon_that_hangs_from_the_start_holds_up_nothing(daemon: RunningDaemon, folder: Path) -> None:
    """Hooks and MCP server together: the first request is later by one wait each, and no more."""
    settings = json.loads((folder / "project" / ".gemini" / "settings.json").read_text("utf-8"))
    assert settings["mcpServers"] and settings["hooks"]
    firsts, runs = [], []
    for harm in (None, _hang):
        if harm is not None:
            harm(daemon)
        with Asked([reply("I will look.", shell("echo one")), reply("Done.")]) as model:
            begun = time.time()
            runs.append(client(folder, model, daemon).say("Please look at the release step"))
        firsts.append(model.requests[0].at - begun)
    _wake(daemon)
    assert [(run.code, run.result) for run in runs] == [(0, "Done.")] * 2
    assert firsts[1] < firsts[0] + WAIT_SECONDS + NOISE_SECONDS, firsts
    assert runs[1].seconds < runs[0].seconds + WAIT_SECONDS + NOISE_SECONDS
    assert "MCP issues detected" not in runs[1].stdout + runs[1].stderr
