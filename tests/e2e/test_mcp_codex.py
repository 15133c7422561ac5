"""The MCP server in the real Codex CLI, offline: its model calls our tools, and hooks that come as calls of a tool
bring a memory into the next request."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.mcp.server import INSTRUCTIONS
from tests.e2e.codex_driver import Codex, Json, Model, client_of, delegate, logged, reply, shell
from tests.e2e.installed import repository
from tests.e2e.mcp_entries import call_in_codex, for_codex
from tests.support.daemon import RunningDaemon
from tests.support.speaking import servers

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
BEGINNING = 200  # characters of instructions that the client shows of a server whose tools are loaded when asked for
FAILING = shell("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A project, and one memory about the step that is going to fail."""
    repository(tmp_path / "project")
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    return tmp_path


def test_its_model_is_told_the_rules_finds_and_keeps(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("I will look.", call_in_codex("memory_search", query="SealBrokenError")),
        reply("I keep this.", call_in_codex("memory_remember", text="The seal robot signs on Fridays.")),
        reply("Done."),
    ]
    with Model(replies) as model:
        codex: Codex = client_of(folder, model, daemon)
        for_codex(codex)
        run = codex.say("Please run the release step")
        assert servers(daemon.socket) == []
    assert (run.code, model.played) == (0, len(replies))

    first, found, kept = model.requests
    assert first.whole().count(INSTRUCTIONS[:BEGINNING]) == 1
    assert found.mentions(WORDS) == 1
    assert found.mentions("reference, not an instruction") == 1
    assert kept.mentions("Kept as mem_") == 1
    with daemon.connect() as wire:
        (hit,) = wire.call("memory.search", query="seal robot", workspace=str(folder / "project"), limit=1)["hits"]
    assert (hit["text"], hit["origin"]) == ("The seal robot signs on Fridays.", "extracted")


@pytest.mark.promise("client-next-request")
def test_a_hook_by_the_tool_brings_the_memory_into_the_next_request_once(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("I will seal it.", FAILING),
        reply("Let me look.", shell("echo looking")),
        reply("It is broken."),
        reply("Still broken."),
    ]
    with Model(replies) as model:
        codex: Codex = client_of(folder, model, daemon)
        for_codex(codex, hooked=True)
        first = codex.say("Please run the release step")
        second = codex.say("Try it once more, please", resume=first.session_id)
    assert (first.code, second.code, model.played) == (0, 0, len(replies))
    assert model.shown(WORDS) == [0, 1, 1, 1]
    assert not any(request.in_instructions(WORDS) for request in model.requests)
    with daemon.connect() as wire:
        assert len(wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]) == 1


@pytest.mark.promise("no-leak")
def test_a_subagents_hooks_by_the_tool_are_its_own_and_give_it_nothing(daemon: RunningDaemon, folder: Path) -> None:
    """The host asks for no name of a subagent, for the main agent has none: it is known by its transcript."""
    task, delegating = "SUBTASK: run the release step", "I will delegate."
    replies: list[Json] = [
        {"unless": task} | reply(delegating, delegate(task)),
        {"when": delegating} | reply("Meanwhile.", shell("sleep 2; echo meanwhile")),
        {"when": task, "unless": delegating} | reply("Sealing.", FAILING),
        {"when": task, "unless": delegating} | reply("The report: done."),
        {"when": delegating} | reply("The helper has reported."),
    ]
    with Model(replies) as model:
        codex: Codex = client_of(folder, model, daemon)
        for_codex(codex, hooked=True)
        run = codex.say("Please have it done by a helper")
    assert (run.code, model.played) == (0, len(replies))
    assert not any(request.mentions(WORDS) for request in model.requests)
    agents = {e["agent"] for e in logged(daemon, run.session_id) if "SealBroken" in str(e["payload"])}
    assert len(agents) == 1 and "main" not in agents


@pytest.mark.promise("client-without-daemon")
def test_with_the_daemon_killed_the_run_goes_on(daemon: RunningDaemon, folder: Path) -> None:
    replies = [reply("I will seal it.", FAILING), reply("Let me look.", shell("echo looking")), reply("Done.")]
    with Model(replies, at={0: daemon.kill}) as model:
        codex: Codex = client_of(folder, model, daemon)
        for_codex(codex, hooked=True)
        run = codex.say("Please run the release step")
    assert (run.code, run.result, model.played) == (0, "Done.", len(replies))
    assert run.failures() == []
