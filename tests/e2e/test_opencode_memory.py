"""The main job on the real OpenCode, offline: daemon, our own `init`, a memory, a failing step, the next request."""

import contextlib
import itertools
import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.frame import tags
from tests.e2e.asked import Asked, Json, reply
from tests.e2e.installed import logged, ours, repository
from tests.e2e.opencode_driver import OpenCode, bash, delegate, read
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with (
            contextlib.suppress(OSError),
            running.connect() as wire,
        ):  # whoever answers now, an MCP server may have started it
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A project with our plugin, and one memory about the step that is going to fail."""
    project = tmp_path / "project"
    repository(project)
    ours(daemon, project, "init", "--host", "opencode", "--yes")
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(project))
    return tmp_path


def client(folder: Path, model: Asked, daemon: RunningDaemon, window: int = 200_000) -> OpenCode:
    shared = {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}
    return OpenCode(folder, model, env=shared, window=window)


def occurrences(model: Asked) -> list[int]:
    return [request.mentions(WORDS) for request in model.requests]


def deliveries(daemon: RunningDaemon) -> list[Json]:
    with daemon.connect() as wire:
        entries: list[Json] = wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]
        return entries


@pytest.mark.promise("client-next-request", "audit-first", "sent-is-final")
def test_the_memory_stands_behind_the_failing_result_once_and_stays_there(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("I will look first.", bash("echo hello")),
        reply("I will seal it.", FAILING),
        reply("Once more.", bash("echo hello")),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Still broken."),
        reply("In a copy.", FAILING),
        reply("In the copy."),
    ]
    with Asked(replies) as model:
        opencode = client(folder, model, daemon)
        first = opencode.say("Hello")
        second = opencode.say("Again", session=first.session_id)
        given = len(deliveries(daemon))
        copy = opencode.say("And now", session=first.session_id, fork=True)

    assert occurrences(model)[-2:] == [1, 1], "a copy holds what its original was given, and is not told again"
    assert (copy.code, copy.session_id != first.session_id) == (0, True)
    copied = [said["text"] for kind, said in logged(daemon, copy.session_id) if kind == "assistant/message"]
    assert copied == ["In a copy.", "In the copy."]
    del model.requests[-2:], replies[-2:]
    assert (first.code, first.result, second.code, second.result) == (0, "It is broken.", 0, "Still broken.")
    assert occurrences(model) == [0, 0, 1, 1, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)
    assert model.sides and not any(WORDS in request.whole() for request in model.sides), (
        "a title, and nothing of ours in it"
    )
    shown = str(model.requests[2].turns[-1]["content"])
    assert shown.index("SealBrokenError: seal check failed") < shown.index(WORDS)
    assert len(tags(shown)) == 1
    assert _unchanged(model)
    assert given == 1

    told = logged(daemon, first.session_id)
    assert Counter(kind for kind, _ in told) == {
        "session/start": 2,
        "session/end": 2,
        "session/client": 2,
        "user/message": 2,
        "assistant/message": 6,
        "tool/call": 4,
        "tool/result": 4,
        "step/end": 4,
        "turn/end": 2,
    }
    assert [said["text"] for kind, said in told if kind == "user/message"] == ["Hello", "Again"]
    assert [said["text"] for kind, said in told if kind == "assistant/message"] == [said["text"] for said in replies]
    assert [said["source"] for kind, said in told if kind == "session/start"] == ["startup", "resume"]


def _unchanged(model: Asked) -> bool:
    """Whether each request begins with all that the one before it said: what was sent once is never changed."""
    turns = [request.turns for request in model.requests]
    return all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(turns))


@pytest.mark.promise("client-next-request")
def test_a_memory_that_a_prompt_asks_for_comes_with_that_prompt(daemon: RunningDaemon, folder: Path) -> None:
    with Asked([reply("I remember.", bash("echo looking")), reply("Done.")]) as model:
        run = client(folder, model, daemon).say("What did we learn about SealBrokenError in make seal?")
    assert (run.code, occurrences(model)) == (0, [1, 1])
    asked = model.requests[0].turns[-1]["content"]
    assert WORDS in asked[-1]["text"] and WORDS not in asked[0]["text"]
    assert model.sides and not any(WORDS in request.whole() for request in model.sides)
    assert not any(request.in_system(WORDS) for request in model.requests)
    assert _kept(folder) == {"user": 1}


@pytest.mark.promise("client-next-request")
def test_a_tool_that_threw_brings_the_memory_too(daemon: RunningDaemon, folder: Path) -> None:
    lesson = "File not found: docs/harbour-rates.txt was moved to docs/ports/rates.txt in spring; read it there."
    with daemon.connect() as wire:
        wire.call("memory.remember", text=lesson, workspace=str(folder / "project"))
    missing = folder / "project" / "docs" / "harbour-rates.txt"
    with Asked([reply("I will read.", read(missing)), reply("Done.")]) as model:
        run = client(folder, model, daemon).say("Hello")
    assert run.code == 0
    assert [request.mentions("docs/ports/rates.txt") for request in model.requests] == [0, 1]
    assert str(model.requests[1].turns[-1]["content"]).startswith("File not found")
    assert _kept(folder) == {"assistant": 1}


def _kept(folder: Path) -> Counter[str]:
    """In OpenCode's own record: whose messages have a part that keeps a packet, and none in what is shown."""
    database = folder / "home" / ".local" / "share" / "opencode" / "opencode.db"
    query = "SELECT message.data, part.data FROM part JOIN message ON message.id = part.message_id"
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        rows = [(json.loads(message), json.loads(part)) for message, part in opened.execute(query)]
    holding = [(message, part) for message, part in rows if tags(json.dumps(part))]
    assert all(not tags(json.dumps({**part, "metadata": None})) for _, part in holding)
    assert all((part["type"], part["text"], part["synthetic"]) == ("text", "", True) for _, part in holding)
    return Counter(message["role"] for message, _ in holding)


@pytest.mark.promise("client-next-request")
def test_the_user_sees_what_he_would_see_without_us(daemon: RunningDaemon, folder: Path) -> None:
    replies = [reply("I will seal it.", FAILING), reply("Again.", FAILING), reply("It is broken.")]
    with Asked([*replies, reply("Bare.")]) as model:
        opencode = client(folder, model, daemon)
        run = opencode.run("run", "Hello")
        given = occurrences(model)
        ours(daemon, opencode.project, "init", "--host", "opencode", "--remove", "--yes")
        bare = opencode.run("run", "--continue", "And without the plugin?")
    assert (run.returncode, bare.returncode) == (0, 0)
    assert given == [0, 1, 1]
    shown = run.stdout + run.stderr
    assert shown.count("SealBrokenError: seal check failed\n") == 2, "what each call printed, once"
    for words in (shown, bare.stdout + bare.stderr):
        assert WORDS not in words and not tags(words)
    assert model.requests[-1].mentions(WORDS) == 0, "what is kept out of sight goes nowhere when the plugin is gone"
    assert model.requests[-1].mentions("SealBrokenError: seal check failed\n") == 2


@pytest.mark.promise("client-next-request", "context-maintained")
def test_what_is_pinned_stands_behind_the_first_prompt_once(daemon: RunningDaemon, folder: Path) -> None:
    with daemon.connect() as wire:
        wire.call("memory.remember", text="Use pnpm here, never npm.", workspace=str(folder / "project"), pinned=True)
    with Asked([reply("Hello.", bash("echo hello")), reply("Done.")]) as model:
        assert client(folder, model, daemon).say("Morning").code == 0
    assert [request.mentions("Use pnpm here") for request in model.requests] == [1, 1]
    assert "Use pnpm here" in model.requests[0].turns[-1]["content"][-1]["text"]
    assert not any("Use pnpm here" in request.whole() for request in model.sides)


@pytest.mark.promise("no-leak")
def test_a_subagent_is_given_nothing(daemon: RunningDaemon, folder: Path) -> None:
    task, delegating = "SUBTASK: run the release step", "I will delegate."
    child: Json = {"when": task, "unless": delegating}
    replies = [
        {"unless": task} | reply(delegating, delegate(task)),
        child | reply("Sealing.", FAILING),
        child | reply("The report: done."),
        {"when": delegating} | reply("Looking myself.", bash("echo looking")),
        {"when": delegating} | reply("The helper has reported."),
    ]
    with Asked(replies) as model:
        run = client(folder, model, daemon).say("Delegate")
    assert (run.code, run.result) == (0, "The helper has reported.")
    inside = [request for request in model.requests if delegating not in request.whole() and task in request.whole()]
    assert [request.mentions("SealBrokenError") > 0 for request in inside] == [False, True]
    assert not any(request.mentions(WORDS) for request in inside)
    agents = Counter(kind for kind, _ in logged(daemon, run.session_id) if kind.startswith("agent/"))
    assert agents == {"agent/spawn": 1, "agent/stop": 1}


@pytest.mark.promise("client-compaction")
def test_after_a_compaction_the_memory_comes_once_more_at_most(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        {"when": "summary", "tools": False, "text": "## Goal\nRelease. Sealing failed.", "repeat": True},
        reply("I will seal it.", FAILING),
        reply("Enough.", bash("echo enough"), tokens=99_000),
        reply("Going on.", FAILING),
        reply("Broken again.", bash("echo looking")),
        reply("Done."),
    ]
    with Asked(replies) as model:
        run = client(folder, model, daemon, window=100_000).say("Release")
    assert (run.code, run.result) == (0, "Done.")
    assert Counter(kind for kind, _ in logged(daemon, run.session_id))["session/compact"] == 1
    assert not any(WORDS in request.whole() and "title generator" in request.whole() for request in model.sides)
    seen = occurrences(model)
    assert seen[:2] == [0, 1]
    assert all(count <= 1 for count in seen[2:])
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
        *(reply(f"Step {n}.", bash(f"echo {n}")) for n in range(4)),
        reply("All steps done."),
    ]
    with Asked(replies, at={2: lambda: harm(daemon)}) as model:
        run = client(folder, model, daemon).say("Release")
    _wake(daemon)
    assert (run.code, run.result) == (0, "All steps done.")
    assert occurrences(model) == [0, 1, 1, 1, 1, 1]
    waited = [later.at - earlier.at for earlier, later in zip(model.requests[2:], model.requests[3:], strict=False)]
    assert sum(waited) < 5, f"the client waited for the daemon: {waited}"
