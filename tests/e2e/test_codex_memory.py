"""The main job on the real Codex CLI, offline: daemon, our hooks, a memory, a failing step, the next request."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.codex_driver import (
    AppServer,
    Model,
    Request,
    client_of,
    delegate,
    logged,
    patch,
    reply,
    shell,
    summary,
    tools,
)
from tests.e2e.installed import repository
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client
Json = dict[str, Any]

WORDS = "delete the stale stamp file"
MEMORY = f"SealBrokenError in `make seal`: {WORDS} build/seal.stamp, then run make seal again."
FAILING = shell("echo 'make seal: SealBrokenError: seal check failed' >&2; exit 2")
UNLOCKING = "wait for the green dot on the board"


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:  # whoever answers now, a hook may have started it
            wire.call("shutdown")


@pytest.fixture
def folder(daemon: RunningDaemon, tmp_path: Path) -> Path:
    """A project, and one memory about the step that is going to fail."""
    repository(tmp_path / "project")
    with daemon.connect() as wire:
        wire.call("memory.remember", text=MEMORY, workspace=str(tmp_path / "project"))
    return tmp_path


def deliveries(daemon: RunningDaemon) -> list[Json]:
    with daemon.connect() as wire:
        entries: list[Json] = wire.call("audit.query", kind="delivery", outcome="delivered")["entries"]
        return entries


@pytest.mark.promise("client-next-request", "sent-is-final")
@pytest.mark.parametrize("client", ["curl", "nc", "python"])
def test_the_memory_is_a_developer_message_of_the_next_request_and_stays_there_once(
    daemon: RunningDaemon, folder: Path, client: str
) -> None:
    which = tools(daemon, client)
    if client != "python" and not getattr(which, client):
        pytest.skip(f"NO {client.upper()} THAT SPEAKS TO UNIX SOCKETS on this machine")
    replies = [
        reply("I will seal it.", FAILING),
        reply("Let me look.", shell("echo looking")),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Still broken."),
    ]
    with Model(replies) as model:
        codex = client_of(folder, model, daemon)
        codex.register(which)
        first = codex.say("Please run the release step")
        second = codex.say("Try it once more, please", resume=first.session_id)
    assert (first.code, second.code, model.played) == (0, 0, len(replies))
    assert model.shown(WORDS) == [0, 1, 1, 1, 1]
    assert [request.mentions(WORDS) for request in model.requests] == [0, 1, 1, 1, 1]
    assert not any(request.in_instructions(WORDS) for request in model.requests)
    assert between_call_and_output(model.requests[1])
    assert len(deliveries(daemon)) == 1


def between_call_and_output(request: Request) -> bool:
    """Whether the memory stands after the call that brought it and before that call's output."""
    (place,) = request.shown(WORDS)
    kinds = [item["type"] for item in request.items]
    return kinds[place - 1] == "function_call" and kinds[place + 1] == "function_call_output"


@pytest.mark.promise("client-next-request")
def test_every_event_is_told_once_whoever_tells_it(daemon: RunningDaemon, folder: Path) -> None:
    """Hooks tell most, the rollout what no hook tells: failures, tools that could not be run, what the agent said."""
    replies = [
        reply("All at once.", shell("echo a"), shell("exit 3"), shell("echo b")),
        reply("I will patch.", patch("*** Begin Patch\n*** Update File: no.py\n@@\n-x\n+y\n*** End Patch\n")),
        reply("Another tool.", {"name": "no_such_tool", "input": {"a": 1}}),
        reply("In the background.", shell("sleep 1; echo late; exit", yield_time_ms=250)),
        reply("Meanwhile.", shell("sleep 2; echo meanwhile", yield_time_ms=10_000)),
        reply("Meanwhile.", patch("*** Begin Patch\n*** Add File: yes.py\n+x = 1\n*** End Patch\n")),
        reply("Done."),
    ]
    with Model(replies) as model:
        run = client_of(folder, model, daemon).say("Please do several things")
    assert (run.code, run.result, model.played) == (0, "Done.", len(replies))
    told = [_brief(event) for event in logged(daemon, run.session_id) if event["type"] != "step/end"]
    assert told == [
        ("session/client", "0.171.0"),
        ("session/start", "startup"),
        ("user/message", "Please do several things"),
        ("assistant/message", "All at once."),
        ("tool/call", "echo a"),
        ("tool/call", "exit 3"),
        ("tool/call", "echo b"),
        *told[7:10],  # run side by side, in any order
        ("assistant/message", "I will patch."),
        ("tool/call", "*** Begin Patch"),
        ("tool/result", "failed", "apply_patch verification"),
        ("assistant/message", "Another tool."),
        ("tool/call", '{"a": 1}'),
        ("tool/result", "failed", "unsupported call: no_suc"),
        ("assistant/message", "In the background."),
        ("tool/call", "sleep 1; echo late; exit"),  # nobody looked at it again: the agent never saw how it ended
        ("assistant/message", "Meanwhile."),
        ("tool/call", "sleep 2; echo meanwhile"),
        ("tool/result", "ok", "meanwhile"),
        ("assistant/message", "Meanwhile."),
        ("tool/call", "*** Begin Patch"),
        ("tool/result", "ok", "Success. Updated the fol"),
        ("assistant/message", "Done."),
        ("turn/end", ""),
        ("session/end", "other"),
    ]
    assert sorted(told[7:10]) == [
        ("tool/result", "failed", "Exit code 3"),
        ("tool/result", "ok", "a"),
        ("tool/result", "ok", "b"),
    ]


def _brief(event: Json) -> tuple[str, ...]:
    payload = event["payload"]
    said = payload.get("text") or payload.get("args") or payload.get("source") or payload.get("version") or ""
    outcome = {True: "ok", False: "failed", None: "-"}[payload.get("ok")] if event["type"] == "tool/result" else ""
    return (event["type"], *([outcome] if outcome else []), said.partition("\n")[0][:24])


@pytest.mark.promise("client-next-request", "client-without-daemon")
def test_what_happened_while_the_daemon_was_away_is_told_once_when_it_is_back(
    daemon: RunningDaemon, folder: Path
) -> None:
    replies = [*(reply(f"Step {n}.", shell(f"echo {n}; exit {n % 2}")) for n in range(6)), reply("Done.")]
    with Model(replies, at={2: daemon.kill, 4: lambda: daemon.start() and None}) as model:
        run = client_of(folder, model, daemon).say("Please do several things")
        again = client_of(folder, model, daemon).say("And now?", resume=run.session_id)
    assert (run.code, again.code) == (0, 0)
    told = [_brief(event) for event in logged(daemon, run.session_id)]
    assert [each for each in told if each[0] not in ("step/end", "session/client")] == [
        ("session/start", "startup"),
        ("user/message", "Please do several things"),
        *(
            each
            for n in range(6)
            for each in (
                ("assistant/message", f"Step {n}."),
                ("tool/call", f"echo {n}; exit {n % 2}"),
                ("tool/result", "failed" if n % 2 else "ok", "Exit code 1" if n % 2 else str(n)),
            )
        ),
        ("assistant/message", "Done."),
        ("turn/end", ""),
        ("session/end", "other"),
        ("session/start", "resume"),
        ("user/message", "And now?"),
        ("assistant/message", "Done."),
        ("turn/end", ""),
        ("session/end", "other"),
    ]


@pytest.mark.promise("client-next-request")
def test_tools_of_one_reply_bring_one_memory_to_one_request(daemon: RunningDaemon, folder: Path) -> None:
    """Codex asks after each tool; the request is the same. What else fits waits for the next one."""
    other = "TideTableError in `make tide`: ask the harbour office for the moon file first, then run make tide again."
    with daemon.connect() as wire:
        wire.call("memory.remember", text=other, workspace=str(folder / "project"))
    also = shell("sleep 0.5; echo 'make tide: TideTableError: no moon' >&2; exit 2")
    replies = [reply("All at once.", FAILING, also, shell("echo b")), reply("So.", shell("echo c")), reply("Done.")]
    with Model(replies) as model:
        assert client_of(folder, model, daemon).say("Please run the release step").code == 0
    shown = [(len(request.shown(WORDS)), len(request.shown("moon file"))) for request in model.requests]
    assert shown[0] == (0, 0) and sum(shown[1]) == 1, shown
    assert all(count <= 1 for counts in shown for count in counts)
    assert not any(request.in_instructions(WORDS) for request in model.requests)


@pytest.mark.promise("no-leak")
def test_a_subagent_is_given_nothing_and_its_events_are_its_own(daemon: RunningDaemon, folder: Path) -> None:
    task, delegating = "SUBTASK: run the release step", "I will delegate."
    child: Json = {"when": task, "unless": delegating}
    mine: Json = {"when": delegating}
    replies = [
        {"unless": task} | reply(delegating, delegate(task)),
        mine | reply("Meanwhile.", shell("sleep 2; echo meanwhile")),
        child | reply("Sealing.", FAILING),
        child | reply("The report: done."),
        mine | reply("The helper has reported."),
    ]
    with Model(replies) as model:
        run = client_of(folder, model, daemon).say("Please have it done by a helper")
    assert (run.code, model.played) == (0, len(replies))
    assert not any(request.mentions(WORDS) for request in model.requests)
    told = logged(daemon, run.session_id)
    main, others = ([_brief(e) for e in told if (e["agent"] == "main") is which] for which in (True, False))
    assert [each for each in others if each[0] != "step/end"] == [
        ("agent/spawn", ""),
        ("user/message", task[:24]),
        ("assistant/message", "Sealing."),
        ("tool/call", "echo 'make seal: SealBro"),
        ("tool/result", "failed", "Exit code 2"),
        ("assistant/message", "The report: done."),
        ("agent/stop", ""),
    ]
    assert [each[1] for each in main if each[0] in ("user/message", "assistant/message")] == [
        "Please have it done by a helper"[:24],
        delegating,
        "Meanwhile.",
        "<subagent_notification>",
        "The helper has reported.",
    ]
    assert all(event["source"] != "user" for event in told if event["agent"] != "main")


@pytest.mark.promise("client-compaction")
def test_after_a_compaction_the_memory_comes_once_more_at_most(daemon: RunningDaemon, folder: Path) -> None:
    replies = [
        summary("HANDOFF: the user wants the release step; sealing failed."),
        reply("I will seal it.", FAILING),
        *(reply(f"Looking {n}.", shell(f"echo {n}")) for n in range(2)),
        reply("Enough.", shell("echo enough"), tokens=99_000),
        reply("Going on.", FAILING),
        reply("Broken again.", shell("echo looking")),
        reply("Done."),
    ]
    with Model(replies) as model:
        codex = client_of(folder, model, daemon)
        codex.settings += ["model_auto_compact_token_limit=50000"]
        run = codex.say("Please run the release step")
    assert run.code == 0 and model.summaries == 1, "the client did not compact"
    shown = model.shown(WORDS)
    assert shown[:4] == [0, 1, 1, 1]
    assert all(count <= 1 for count in shown[4:]) and shown[4:] == sorted(shown[4:]) and shown[-1] == 1
    assert not any(request.in_instructions(WORDS) for request in model.requests)
    assert len(deliveries(daemon)) == 2
    starts = [e for e in logged(daemon, run.session_id) if e["type"] in ("session/start", "session/compact")]
    assert [e["payload"].get("source", "compaction") for e in starts] == ["startup", "compaction", "compact"]


@pytest.mark.promise("client-compaction")
def test_a_pinned_memory_is_seeded_once_at_the_start_and_once_after_a_compaction(
    daemon: RunningDaemon, folder: Path
) -> None:
    pinned = "The harbour master signs every release: ask before the tag is pushed."
    with daemon.connect() as wire:
        record = wire.call("memory.remember", text=pinned, workspace=str(folder / "project"), pinned=True)
    assert record
    replies = [
        summary("HANDOFF: the user wants the release step."),
        reply("One.", shell("echo 1")),
        reply("Two.", shell("echo 2"), tokens=99_000),
        reply("Three.", shell("echo 3")),
        reply("Done."),
        reply("And again."),
    ]
    with Model(replies) as model:
        codex = client_of(folder, model, daemon)
        codex.settings += ["model_auto_compact_token_limit=50000"]
        run = codex.say("Good morning, here is a new day")
        codex.say("And now?", resume=run.session_id)
    assert run.code == 0 and model.summaries == 1, "the client did not compact"
    assert model.shown("harbour master") == [1, 1, 1, 1, 1]
    assert [request.mentions("harbour master") for request in model.requests] == [1, 1, 1, 1, 1]


@pytest.mark.promise("client-next-request")
def test_a_fork_knows_what_its_parent_was_shown(daemon: RunningDaemon, folder: Path) -> None:
    """Its own rollout does not repeat the parent's history, but its requests do."""
    replies = [
        reply("I will seal it.", FAILING),
        reply("It is broken."),
        reply("Again.", FAILING),
        reply("Looking.", shell("echo looking")),
        reply("Still broken."),
    ]
    with Model(replies) as model:
        codex = client_of(folder, model, daemon)
        first = codex.say("Please run the release step")
        with AppServer(codex) as server:
            server.trust()
            fork = server.fork(first.session_id)
            server.say(fork, "Try it once more, please")
    assert fork != first.session_id and model.played == len(replies)
    assert model.shown(WORDS) == [0, 1, 1, 1, 1]
    starts = [e["payload"]["source"] for e in logged(daemon, fork) if e["type"] == "session/start"]
    assert starts == ["fork"]


@pytest.mark.promise("client-next-request")
def test_a_memory_that_a_prompt_asks_for_comes_with_that_prompt(daemon: RunningDaemon, folder: Path) -> None:
    replies = [reply("Hello."), reply("I remember.", shell("echo looking")), reply("Done.")]
    with Model(replies) as model:
        codex = client_of(folder, model, daemon)
        first = codex.say("Good morning, here is a new day")
        codex.say("What did we learn about SealBrokenError in make seal?", resume=first.session_id)
    assert model.shown(WORDS) == [0, 1, 1]
    assert not any(request.in_instructions(WORDS) for request in model.requests)


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
    with Model([reply(intention, shell("echo published")), reply("Done.")]) as model:
        assert client_of(folder, model, daemon).say("Please bring the new version out").code == 0
    assert model.shown(UNLOCKING) == [0, 1]


@pytest.mark.promise("coverage-exact")
@pytest.mark.parametrize("way", ["nothing", "cat", "sed"])
def test_what_was_read_in_full_is_not_handed_over_again(daemon: RunningDaemon, folder: Path, way: str) -> None:
    (notes,) = (path for path in daemon.data.rglob("*.md") if WORDS in path.read_text("utf-8"))
    command = {"nothing": f"wc -l {notes}", "cat": f"cat {notes}", "sed": f"sed -n '1,200p' {notes}"}[way]
    replies = [
        reply("Reading.", shell(command)),
        reply("Now.", FAILING),
        reply("On.", shell("echo on")),
        reply("Done."),
    ]
    with Model(replies) as model:
        assert client_of(folder, model, daemon).say("Please run the release step").code == 0
    shown = [request.mentions(WORDS) for request in model.requests]
    assert shown == ([0, 0, 1, 1] if way == "nothing" else [0, 1, 1, 1])
