"""What the callbacks tell the daemon and what they answer, call by call. Needs the framework (extra `e2e`)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from host.inprocess.companion import Companion
from host.protocol import FRAME_BYTES, LARGE_FRAME_BYTES
from tests.host.inprocess.daemons import Json, Scripted, scripted
from tests.support.daemon import ROOT

pytestmark = pytest.mark.client

CAPTURE = ROOT / "tests" / "data" / "hosts" / "claude-agent-sdk" / "in_process_hooks_and_steer"
BASE = {"session_id": "s1", "transcript_path": "/t/s1.jsonl", "cwd": "/project", "permission_mode": "default"}


def a_memory(run_dir: Path, **options: Any) -> Any:
    from host.inprocess.claude_agent_sdk import Memory

    return Memory(Companion("/project", **({"socket": run_dir / "s", "seconds": 5} | options)))


async def called(memory: Any, event: str, **fields: Any) -> Json:
    answer: Json = await memory.called(BASE | {"hook_event_name": event} | fields, "t1", {})
    return answer


def hooks(daemon: Scripted) -> list[tuple[str, str]]:
    """The hook calls that came: event and source."""
    payloads = [params["payload"] for method, params in daemon.told if method == "hook"]
    return [(one["hook_event_name"], one.get("source", "")) for one in payloads]


def settled(daemon: Scripted) -> list[tuple[str, str]]:
    return [(method, params["claimId"]) for method, params in daemon.told if method.startswith("inbox.")]


async def test_a_session_starts_with_its_first_prompt_and_a_text_is_delivered_once_the_model_has_answered(
    run_dir: Path,
) -> None:
    async with scripted(run_dir / "s") as daemon:
        memory = a_memory(run_dir)
        daemon.packets = ["a lesson"]
        said = await called(memory, "UserPromptSubmit", prompt="Put it up.")
        handed = settled(daemon)
        nothing = await called(memory, "PostToolUse", tool_name="Bash")

    assert said == {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a lesson"}}
    assert nothing == {} and handed == []
    assert hooks(daemon) == [("SessionStart", "startup"), ("UserPromptSubmit", ""), ("PostToolUse", "")]
    assert settled(daemon) == [("inbox.delivered", "c1")]
    start = next(params for method, params in daemon.told if method == "hook")
    assert start["host"] == "claude-agent-sdk" and start["acknowledge"] is True
    assert start["payload"]["cwd"] == "/project" and start["payload"]["transcript_path"] == "/t/s1.jsonl"


async def test_what_is_said_at_a_start_and_at_its_prompt_goes_together(run_dir: Path) -> None:
    async with scripted(run_dir / "s") as daemon:
        daemon.packets = ["pinned", "a lesson"]
        said = await called(memory := a_memory(run_dir), "UserPromptSubmit", prompt="Put it up.")
        await called(memory, "Stop")

    assert said["hookSpecificOutput"]["additionalContext"] == "pinned\n\na lesson"
    assert settled(daemon) == [("inbox.delivered", "c1"), ("inbox.delivered", "c2")]


async def test_a_session_that_the_daemon_knows_goes_on(run_dir: Path) -> None:
    async with scripted(run_dir / "s") as daemon:
        daemon.known.add("s1")
        await called(a_memory(run_dir), "UserPromptSubmit", prompt="Go on.")

    assert hooks(daemon)[0] == ("SessionStart", "resume")


async def test_a_compaction_that_is_told_is_not_told_twice(run_dir: Path) -> None:
    async with scripted(run_dir / "s") as daemon:
        memory = a_memory(run_dir)
        daemon.packets = ["once more"]
        for event in ("PreCompact", "SessionStart", "PostCompact", "PostToolUse"):
            said = await called(memory, event, **({"source": "compact"} if event == "SessionStart" else {}))
            assert bool(said) is (event == "SessionStart")

    assert hooks(daemon) == [("PreCompact", ""), ("SessionStart", "compact"), ("PostCompact", ""), ("PostToolUse", "")]
    assert settled(daemon) == [("inbox.delivered", "c1")]


async def test_one_that_nobody_told_is_told_with_the_next_call_and_its_text_waits_for_a_place(run_dir: Path) -> None:
    async with scripted(run_dir / "s") as daemon:
        memory = a_memory(run_dir)
        daemon.packets = ["once more"]
        said = [await called(memory, event) for event in ("PreCompact", "SubagentStop", "PostToolUse")]

    assert said == [{}, {}, {}]
    assert hooks(daemon)[2:] == [("SessionStart", "compact"), ("PostToolUse", "")]
    assert settled(daemon) == [("inbox.release", "c1")]


async def test_a_subagent_is_told_of_and_gets_nothing(run_dir: Path) -> None:
    async with scripted(run_dir / "s") as daemon:
        daemon.packets = ["a lesson"]
        said = await called(a_memory(run_dir), "PostToolBatch", agent_id="sub1", tool_calls=[])

    assert said == {} and hooks(daemon) == [("PostToolBatch", "")]


async def test_a_callback_that_is_given_up_gives_its_text_back(run_dir: Path) -> None:
    started = asyncio.Event()
    async with scripted(run_dir / "s") as daemon:
        memory = a_memory(run_dir)
        daemon.packets = ["pinned"]
        usual = memory._said

        async def slow(payload: Json, claims: Any) -> Any:
            if payload["hook_event_name"] == "UserPromptSubmit":
                started.set()
                await asyncio.Event().wait()
            return await usual(payload, claims)

        memory._said = slow
        calling = asyncio.create_task(called(memory, "UserPromptSubmit", prompt="Put it up."))
        await started.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await called(memory, "Notification")

    assert memory._sessions["s1"].said == []
    assert set(settled(daemon)) == {("inbox.release", "c1")}


async def test_a_payload_that_is_not_understood_is_silence(run_dir: Path) -> None:
    memory = a_memory(run_dir)

    assert await memory.called({"hook_event_name": "Stop"}, None, {}) == {}
    assert "KeyError" in memory._companion.problem


@pytest.mark.parametrize(
    ("size", "methods"),
    [(FRAME_BYTES // 2, ["hook"]), (FRAME_BYTES, ["hook"]), (LARGE_FRAME_BYTES, [])],
)
async def test_a_large_payload_goes_as_far_as_a_frame_takes_it(run_dir: Path, size: int, methods: list[str]) -> None:
    async with scripted(run_dir / "s") as daemon:
        memory = a_memory(run_dir)
        memory._session(BASE).begun = True
        await called(memory, "PostToolUse", tool_response="x" * size)

    assert memory._companion.problem == ""
    assert daemon.methods == methods


async def test_the_calls_of_a_recorded_session_reach_the_daemon_as_they_were(run_dir: Path) -> None:
    """With a prompt that was typed while a tool ran, and reached the same turn."""
    lines = (CAPTURE / "hook_payloads.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [json.loads(line) for line in lines]
    payloads = [one.get("input") or one.get("payload") or one for one in recorded]
    payloads = [one for one in payloads if one["hook_event_name"] != "PreToolUse"]
    async with scripted(run_dir / "s") as daemon:
        memory = a_memory(run_dir)
        daemon.packets = ["a lesson"]
        said = [await memory.called(payload, None, {}) for payload in payloads]
        heard = [params["payload"] for method, params in daemon.told if method == "hook"]

    assert [bool(one) for one in said] == [True] + [False] * (len(payloads) - 1)
    assert [one["hook_event_name"] for one in payloads].count("UserPromptSubmit") == 2
    assert heard[0]["hook_event_name"] == "SessionStart" and heard[1:] == payloads
    assert settled(daemon) == [("inbox.delivered", "c1")]


def test_ones_own_callbacks_go_first(run_dir: Path) -> None:
    from claude_agent_sdk import HookMatcher

    own = HookMatcher(hooks=[])
    memory = a_memory(run_dir)

    made = memory.hooks({"Stop": [own], "Notification": [own]})

    assert made["Stop"][0] is own and made["Stop"][1].hooks == [memory.called]
    assert made["Notification"] == [own] and len(made["UserPromptSubmit"]) == 1
