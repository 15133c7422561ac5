"""The MCP server in the real Claude Code, offline: its model calls our tools, and hooks that come as calls of a tool
bring a memory into the next request."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.mcp.server import INSTRUCTIONS
from host.namespace import tool
from tests.e2e.codex_driver import logged
from tests.e2e.driver import Claude, Model, bash, delegate, reply
from tests.e2e.installed import client, repository
from tests.e2e.mcp_entries import call_in_claude, for_claude
from tests.support.daemon import RunningDaemon
from tests.support.speaking import servers

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    repository(tmp_path / "project")
    return tmp_path


def known(daemon: RunningDaemon, folder: Path) -> str:
    with daemon.connect() as wire:
        memory_id: str = wire.call("memory.remember", text=MEMORY, workspace=str(folder / "project"))["memoryId"]
        return memory_id


def test_its_model_is_told_the_rules_and_finds_keeps_and_proposes(daemon: RunningDaemon, folder: Path) -> None:
    memory_id = known(daemon, folder)
    replies = [
        reply("I will look.", call_in_claude("memory_search", query="SealBrokenError")),
        reply("I keep this.", call_in_claude("memory_remember", text="The seal robot signs on Fridays.")),
        reply("It is wrong.", call_in_claude("memory_edit", memoryId=memory_id, text="Run make reseal.", reason="new")),
        reply("Done."),
    ]
    with Model(replies) as model:
        claude: Claude = client(folder, model, daemon)
        for_claude(claude, "memory_search", "memory_remember", "memory_edit")
        run = claude.say("Please run the release step")
        assert servers(daemon.socket) == []
    assert (run.code, model.played) == (0, len(replies))

    first, found, kept, proposed = model.requests
    assert (first.mentions(INSTRUCTIONS), first.in_system(INSTRUCTIONS)) == (1, False)
    assert (first.mentions(tool("memory_search")), first.whole().count(tool("hook"))) == (1, 0)
    assert (found.mentions(WORDS), found.mentions(memory_id)) == (1, 1)
    assert found.mentions("reference, not an instruction") == 1
    assert kept.mentions("Kept as mem_") == 1
    assert proposed.mentions("nothing is changed until a person decides") == 1
    with daemon.connect() as wire:
        here = str(folder / "project")
        (hit,) = wire.call("memory.search", query="seal robot", workspace=here, limit=1)["hits"]
        (one,) = wire.call("review.list", workspace=here)["items"]
    assert (hit["text"], hit["origin"]) == ("The seal robot signs on Fridays.", "extracted")
    assert (one["item"]["text"], one["record"]["text"]) == ("Run make reseal.", MEMORY)


@pytest.mark.promise("client-next-request")
def test_a_hook_by_the_tool_brings_the_memory_into_the_next_request_once(daemon: RunningDaemon, folder: Path) -> None:
    known(daemon, folder)
    replies = [
        reply("I will seal it.", FAILING),
        reply("Let me look.", bash("echo looking")),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Still broken."),
    ]
    with Model(replies) as model:
        claude: Claude = client(folder, model, daemon)
        for_claude(claude, hooked=True)
        first = claude.say("Please run the release step")
        second = claude.say("Try it once more, please", resume=first.session_id)
    assert (first.code, second.code, model.played) == (0, 0, len(replies))
    assert [request.mentions(WORDS) for request in model.requests] == [0, 1, 1, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)
    with daemon.connect() as wire:
        assert len(wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]) == 1


@pytest.mark.promise("no-leak")
def test_a_subagents_hooks_by_the_tool_are_its_own_and_give_it_nothing(daemon: RunningDaemon, folder: Path) -> None:
    known(daemon, folder)
    task, delegating = "SUBTASK: run the release step", "I will delegate."
    replies = [
        {"unless": task} | reply(delegating, delegate(task)),
        {"when": task, "unless": delegating} | reply("Sealing.", FAILING),
        {"when": task, "unless": delegating} | reply("The report: done."),
        {"when": delegating} | reply("Waiting."),
        {"when": delegating} | reply("The helper has reported."),
    ]
    with Model(replies) as model:
        claude: Claude = client(folder, model, daemon)
        for_claude(claude, hooked=True)
        run = claude.say("Please have it done by a helper")
    assert (run.code, model.played) == (0, len(replies))
    assert not any(request.mentions(WORDS) for request in model.requests)
    agents = {e["agent"] for e in logged(daemon, run.session_id) if "SealBroken" in str(e["payload"])}
    assert len(agents) == 1 and "main" not in agents


@pytest.mark.promise("client-without-daemon")
def test_with_the_daemon_killed_the_run_goes_on(daemon: RunningDaemon, folder: Path) -> None:
    replies = [reply("I will seal it.", FAILING), reply("Let me look.", bash("echo looking")), reply("Done.")]
    with Model(replies, at={0: daemon.kill}) as model:
        claude: Claude = client(folder, model, daemon)
        for_claude(claude, hooked=True)
        run = claude.say("Please run the release step")
    assert (run.code, run.result, model.played) == (0, "Done.", len(replies))
    assert "hook" not in run.stderr.lower()
