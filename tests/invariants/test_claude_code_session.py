"""A whole Claude Code session through its hooks and its transcript: kept once, carried over a restart, told once."""

import asyncio
import json
from pathlib import Path

import pytest

from governance.contracts import AuditKind, EvidenceKind
from recall.contracts import EventType
from tests.support.claude_code import BEGUN, ClaudeCode, captured, said
from tests.support.world import FAILURE, LESSON, World, a_world


async def begun(world: World) -> ClaudeCode:
    """A session that has failed where LESSON helps."""
    await world.remember(LESSON)
    claude = ClaudeCode(world)
    await claude.hook("SessionStart", source="startup")
    await claude.hook("UserPromptSubmit", prompt="Good morning, please go on where we stopped.")
    await claude.fails(FAILURE)
    return claude


# ---------------------------------------------------------------------------------------------------- kept once


async def test_a_recorded_conversation_is_kept_whole_in_order_and_once(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", start=BEGUN) as world:
        claude = ClaudeCode(world, "00668c5b-f182-4277-8912-4d9133a4f0e7")
        for now, payload, records in captured("basic"):
            world.clock.set(now)
            claude.writes(*records)
            reply = await claude.heard(json.dumps(payload | {"transcript_path": str(claude.transcript)}).encode())
            assert reply.result == b""  # nothing was remembered, nothing is said

        heard = await claude.events()

    events = [(kind, told) for kind, told in heard if kind != EventType.SESSION_CLIENT]
    assert [told for kind, told in heard if kind == EventType.SESSION_CLIENT] == [
        {"version": "2.1.332"},
        {"version": "2.1.332", "model": "claude-opus-5-5"},
    ]
    assert [(kind, told.get("text", told.get("args", ""))[:40]) for kind, told in events] == [
        (EventType.SESSION_START, ""),
        (EventType.USER_MESSAGE, "Please check app.py using the project no"),
        (EventType.ASSISTANT_MESSAGE, "I will look at the notes and the code."),
        (EventType.TOOL_CALL, "/home/dev/project/.memory/notes.md"),
        (EventType.TOOL_RESULT, "011 memory line 11\n012 memory line 12\n01"),
        ("step/end", ""),
        (EventType.TOOL_CALL, "/home/dev/project/app.py"),
        (EventType.TOOL_CALL, "echo hello-from-bash && ls"),
        (EventType.TOOL_RESULT, "def add(a, b):\n    return a - b\n"),
        (EventType.TOOL_RESULT, "hello-from-bash\napp.py"),
        ("step/end", ""),
        (EventType.TOOL_CALL, "false"),
        (EventType.TOOL_RESULT, "Exit code 1"),
        ("step/end", ""),
        (EventType.ASSISTANT_MESSAGE, "All done: add() subtracts instead of add"),
        (EventType.TURN_END, ""),
        (EventType.SESSION_END, ""),
    ]
    assert [told["ok"] for kind, told in events if kind == EventType.TOOL_RESULT] == [True, True, True, False]


async def test_the_last_words_are_kept_once_though_transcript_and_stop_hook_both_tell_them(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        claude.replies("I start the container.")
        await claude.fails(FAILURE)
        claude.replies("All is well.", message_id="msg_2")
        await claude.hook("Stop", last_assistant_message="All is well.")
        await claude.hook("UserPromptSubmit", prompt="Thank you, and now the docs.", prompt_id="p2")

        assert await claude.replied() == ["I start the container.", "All is well."]


async def test_the_stop_hook_alone_tells_what_the_transcript_does_not_hold_yet(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        await claude.hook("Stop", last_assistant_message="All is well.")
        claude.replies("All is well.")
        await claude.hook("UserPromptSubmit", prompt="Thank you, and now the docs.", prompt_id="p2")

        assert await claude.replied() == ["All is well."]


async def test_hooks_that_come_at_once_tell_the_reply_before_them_once(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        claude.replies("Three things at once.")
        calls = [{"tool_name": "Read", "tool_use_id": f"t{number}", "tool_input": {}} for number in (1, 2, 3)]

        await asyncio.gather(*(claude.hook("PostToolUse", tool_response="x", **call) for call in calls))

        assert await claude.replied() == ["Three things at once."]
        assert [kind for kind, _ in await claude.events()].count(EventType.TOOL_RESULT) == 4


async def test_what_was_said_before_anybody_listened_is_not_told(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = ClaudeCode(world)
        claude.replies("Long ago.", at="2020-01-01T00:00:00.000Z")

        await claude.hook("UserPromptSubmit", prompt="Good morning.")

        assert await claude.replied() == []


# ---------------------------------------------------------------------------------------------------- a restart


@pytest.mark.promise("acknowledged-is-kept")
async def test_a_session_goes_on_after_a_restart_in_its_workspace_though_the_agent_has_moved(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        home = claude.cwd
    async with a_world(tmp_path / "data") as world:
        claude = ClaudeCode(world)
        claude.cwd = world.workspace("another")

        await claude.hook("PostToolUse", tool_name="Bash", tool_use_id="t9", tool_input={"command": "ls"})

        assert "pg-fixture" in await claude.given("PostToolBatch")
        assert {one.workspace for one in await claude.logged()} == {home}


async def test_a_batch_is_answered_though_it_is_the_first_thing_heard_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await begun(world)
    async with a_world(tmp_path / "data") as world:
        assert "pg-fixture" in await ClaudeCode(world).given("PostToolBatch")


@pytest.mark.promise("seen-only-delivered")
async def test_a_text_that_reached_the_model_before_a_crash_is_not_given_again(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        text = said(await claude.hook("PostToolBatch"))  # written to the host; then everything dies
        claude.puts_before_the_model(text)
    async with a_world(tmp_path / "data") as world:
        claude = ClaudeCode(world)
        await claude.fails(FAILURE)

        assert await claude.given("PostToolBatch") == ""
        (delivery,) = await world.audit(kind=AuditKind.DELIVERY)
        (row,) = await world.parts.evidence.of_session(world.parts.audit.ref("cc-1"))
        assert delivery.packet is not None
        assert ((row.memory_id,), row.kind) == (delivery.packet.items, EvidenceKind.SEEN)


async def test_a_hook_that_tells_nothing_new_after_a_restart_is_answered_all_the_same(tmp_path: Path) -> None:
    same = {"tool_name": "Bash", "tool_use_id": "t9", "tool_input": {"command": "ls"}, "tool_response": "x"}
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        text = said(await claude.hook("PostToolBatch"))
        await claude.hook("PostToolUse", **same)
        claude.puts_before_the_model(text)
    async with a_world(tmp_path / "data") as world:
        await ClaudeCode(world).hook("PostToolUse", **same)  # the host asks once more

        assert len(await world.audit(kind=AuditKind.DELIVERY)) == 1


async def test_a_text_that_was_lost_in_a_crash_is_given_once_its_lease_has_run_out(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        claude = await begun(world)
        assert said(await claude.hook("PostToolBatch"))  # and never written
        died = world.clock.now()
    async with a_world(tmp_path / "data", start=died + 31_000) as world:
        claude = ClaudeCode(world)
        await claude.hook("PostToolUse", tool_name="Bash", tool_use_id="t9", tool_input={"command": "ls"})

        assert "pg-fixture" in await claude.given("PostToolBatch")
