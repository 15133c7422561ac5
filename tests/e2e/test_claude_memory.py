"""The main job on the real Claude Code, offline: daemon, our own `init`, a memory, a failing step, the next request."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.driver import Json, Model, Request, bash, delegate, read, reply, summaries
from tests.e2e.installed import client, install
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = bash("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
UNLOCKING = "wait for the green dot on the board"
SUMMARY = "Your task is to create a"


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:  # whoever answers now, a hook may have started it
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A project with our hooks, and one memory about the step that is going to fail."""
    install(tmp_path / "project", daemon)
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    return tmp_path


def talk(model: Model) -> list[Request]:
    """The conversation's requests, those for a summary left out."""
    return [request for request in model.requests if SUMMARY not in request.whole()]


def occurrences(model: Model) -> list[int]:
    return [request.mentions(WORDS) for request in talk(model)]


def deliveries(daemon: RunningDaemon) -> list[Json]:
    with daemon.connect() as wire:
        entries: list[Json] = wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]
        return entries


@pytest.mark.promise("client-next-request", "audit-first", "sent-is-final", "git-untouched")
def test_the_memory_is_in_the_next_request_and_stays_there_once(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("I will seal it.", FAILING),
        reply("Let me look.", bash("echo looking")),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Still broken."),
    ]
    with Model(replies) as model:
        claude = client(folder, model, daemon)
        first = claude.say("Please run the release step")
        second = claude.say("Try it once more, please", resume=first.session_id)
    assert (first.code, second.code, model.played) == (0, 0, len(replies))
    assert occurrences(model) == [0, 1, 1, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)
    assert len(deliveries(daemon)) == 1
    assert _index_and_head(folder / "project") == ("", "")


def _index_and_head(project: Path) -> tuple[str, ...]:
    """What git has staged, and its commits: nothing, as it was before."""
    questions = (["git", "ls-files"], ["git", "rev-list", "--all"])
    return tuple(
        subprocess.run(question, cwd=project, capture_output=True, text=True, check=True).stdout
        for question in questions
    )


@pytest.mark.promise("client-next-request")
def test_tools_that_ran_side_by_side_bring_the_memory_once(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        reply("All at once.", bash("echo a"), FAILING, bash("echo b")),
        reply("So.", bash("echo c")),
        reply("Done."),
    ]
    with Model(replies) as model:
        assert client(folder, model, daemon).say("Please run the release step").code == 0
    assert occurrences(model) == [0, 1, 1]


@pytest.mark.promise("no-leak")
def test_a_subagent_is_given_nothing(daemon: RunningDaemon, folder: Path) -> None:
    task, delegating = "SUBTASK: run the release step", "I will delegate."
    child: Json = {"when": task, "unless": delegating}
    replies = [
        {"unless": task} | reply(delegating, delegate(task)),
        child | reply("Sealing.", FAILING),
        child | reply("The report: done."),
        {"when": delegating} | reply("Waiting."),
        {"when": delegating} | reply("The helper has reported."),
    ]
    with Model(replies) as model:
        run = client(folder, model, daemon).say("Please have it done by a helper")
    assert (run.code, model.played) == (0, len(replies))
    assert [request.mentions("SealBrokenError") > 0 for request in model.requests if request.agent] == [False, True]
    assert not any(request.mentions(WORDS) for request in model.requests)


@pytest.mark.promise("client-next-request")
def test_a_memory_that_a_prompt_asks_for_comes_with_that_prompt(daemon: RunningDaemon, folder: Path) -> None:
    replies = [reply("Hello."), reply("I remember.", bash("echo looking")), reply("Done.")]
    with Model(replies) as model:
        claude = client(folder, model, daemon)
        first = claude.say("Good morning, here is a new day")
        claude.say("What did we learn about SealBrokenError in make seal?", resume=first.session_id)
    assert occurrences(model) == [0, 1, 1]
    assert not any(request.in_system(WORDS) for request in model.requests)


@pytest.mark.promise("client-next-request")
def test_what_the_agent_says_it_will_do_brings_the_memory_with_that_calls_result(
    daemon: RunningDaemon, folder: Path
) -> None:
    lesson = (
        "`pnpm release:berth` refuses with E_TARIFF_LOCK while the nightly import of prices holds its lease: give it "
        f"back with `hctl unlock --env staging`, {UNLOCKING}, and only then publish; half of the harbours keep "
        "yesterday's prices else."
    )
    with daemon.connect() as wire:
        wire.call("memory.remember", text=lesson, workspace=str(folder / "project"))
    intention = "The build is ready. Next I will run pnpm release:berth and hope that E_TARIFF_LOCK stays away."
    # The client writes what the agent said into its transcript in its own time: a release takes longer than that.
    replies = [reply(intention, bash("sleep 1 && echo published")), reply("Done.")]
    with Model(replies) as model:
        assert client(folder, model, daemon).say("Please bring the new version out").code == 0
    assert [request.mentions(UNLOCKING) for request in talk(model)] == [0, 1]


@pytest.mark.promise("client-compaction")
def test_after_a_compaction_the_memory_comes_once_more_at_most(daemon: RunningDaemon, folder: Path) -> None:
    notes = folder / "project" / "notes.txt"
    notes.write_text("one\ntwo\nthree\n", encoding="utf-8")
    replies = [
        *summaries("The user wants the release step; sealing failed."),
        reply("I will seal it.", FAILING),
        *(reply(f"Reading {n}.", read(notes)) for n in range(3)),
        reply("Enough.", read(notes), tokens=97_000),
        reply("Going on.", FAILING),
        reply("Broken again.", bash("echo looking")),
        reply("Done."),
    ]
    with Model(replies) as model:
        claude = client(folder, model, daemon, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")
        assert claude.say("Please run the release step").code == 0
    assert any(SUMMARY in request.whole() for request in model.requests), "the client did not compact"
    seen = occurrences(model)
    assert seen[:5] == [0, 1, 1, 1, 1]
    assert all(count <= 1 for count in seen[5:]) and seen[5:] == sorted(seen[5:])
    assert not any(request.in_system(WORDS) for request in model.requests)
    assert len(deliveries(daemon)) <= 2


@pytest.mark.promise("no-leak")
def test_another_workspace_does_not_meet_the_memory(daemon: RunningDaemon, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    install(other / "project", daemon)
    with Model([reply("I will seal it.", FAILING), reply("Hm.", bash("echo a")), reply("Done.")]) as model:
        assert client(other, model, daemon).say("Please run the release step").code == 0
    assert occurrences(model) == [0, 0, 0]
    assert deliveries(daemon) == []
