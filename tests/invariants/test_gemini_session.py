"""A Gemini CLI session at the real host: hooks that name no call, no message and no agent, and the session file that
does. What the real client does is in tests/e2e/test_gemini_memory.py."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.hooks import Hooks
from tests.support.world import FAILURE, LESSON, World, a_world

Json = dict[str, Any]
SUMMARY = "<state_snapshot>\n<overall_goal>Release.</overall_goal>\n</state_snapshot>"


class GeminiCli:
    """Tells hooks of one session and writes its file."""

    def __init__(self, world: World) -> None:
        self.world, self.hooks, self.cwd = world, Hooks(world.parts), world.workspace()
        self.file: Path = world.folder / "session.jsonl"
        self._at = 0
        self.writes({"sessionId": "g-1", "projectHash": "0" * 64, "startTime": "2030-01-01T00:00:00Z", "kind": "main"})

    def writes(self, *records: Json) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    def message(self, kind: str, name: str, text: str = "", **fields: Any) -> Json:
        return {"id": name, "type": kind, "timestamp": self._now(), "content": [{"text": text}], **fields}

    def _now(self) -> str:
        self._at += 1
        return f"2030-01-01T00:{self._at // 60:02d}:{self._at % 60:02d}.000Z"

    async def hook(self, event: str, **fields: Any) -> str:
        """One hook call; the text that its answer puts before the model."""
        base = {"session_id": "g-1", "cwd": self.cwd, "hook_event_name": event, "timestamp": self._now()}
        told = base | {"transcript_path": str(self.file)} | fields
        reply = await self.hooks.heard("gemini-cli", json.dumps(told).encode())
        await reply.written()
        for runtime in self.world.parts.sessions.agents("g-1"):
            await self.world.settled(runtime)
        assert isinstance(reply.result, bytes)
        return json.loads(reply.result)["hookSpecificOutput"]["additionalContext"] if reply.result else ""

    async def ran(self, command: str, output: str = "fine", tool: str = "run_shell_command") -> str:
        given = {"command": command} if tool == "run_shell_command" else {"prompt": command}
        return await self.hook("AfterTool", tool_name=tool, tool_input=given, tool_response={"llmContent": output})

    async def failed(self, command: str) -> str:
        return await self.ran(command, f"Output: {FAILURE}\nExit Code: 1")

    async def logged(self, kind: str) -> list[Json]:
        events = await self.world.parts.eventlog.replay("g-1")
        return [json.loads(bytes(one.payload)) for one in events if one.event_type == kind]


@pytest.fixture
async def gemini(tmp_path: Path) -> AsyncIterator[GeminiCli]:
    async with a_world(tmp_path / "data") as world:
        await world.remember(LESSON)
        cli = GeminiCli(world)
        await cli.hook("SessionStart", source="startup")
        await cli.hook("BeforeAgent", prompt="Good morning to you.")
        cli.writes(cli.message("user", "u1", "Good morning to you."), cli.message("gemini", "m1", "I run them."))
        yield cli


@pytest.mark.promise("client-next-request")
async def test_tools_that_end_at_once_are_one_step_and_bring_the_lesson_once(gemini: GeminiCli) -> None:
    answers = await asyncio.gather(gemini.ran("echo a"), gemini.failed("make integration-test"), gemini.ran("echo b"))

    assert [LESSON in answer for answer in sorted(answers)] == [False, False, True]
    (runtime,) = gemini.world.parts.sessions.agents("g-1")
    assert runtime.step == 1
    gemini.writes(gemini.message("gemini", "m2", "So."))
    assert await gemini.ran("echo c") == ""
    assert runtime.step == 2
    assert Counter(call["args"] for call in await gemini.logged("tool/call")) == {
        **{"echo a": 1, "make integration-test": 1, "echo b": 1, "echo c": 1}
    }
    assert [said["text"] for said in await gemini.logged("assistant/message")] == ["I run them.", "So."]


@pytest.mark.promise("client-compaction")
async def test_after_a_compression_the_lesson_comes_again_once(gemini: GeminiCli) -> None:
    assert LESSON in await gemini.failed("make integration-test")
    gemini.writes(gemini.message("gemini", "m2"))
    assert await gemini.failed("make integration-test") == ""

    compressed = {
        "$set": {"messages": [gemini.message("user", "n1", SUMMARY), gemini.message("gemini", "n2", "Got it.")]}
    }
    gemini.writes(compressed, gemini.message("gemini", "m3"))
    answers = [await gemini.failed("make integration-test") for _ in range(2)]
    gemini.writes(compressed)

    assert sum(LESSON in answer for answer in answers) == 1
    assert [told["text"] for told in await gemini.logged("session/compact")] == [SUMMARY]


@pytest.mark.promise("no-leak")
async def test_what_a_subagent_does_is_its_own_and_it_is_given_nothing(gemini: GeminiCli) -> None:
    task = {"tool_name": "invoke_agent", "tool_input": {"prompt": "Run the tests."}}
    await gemini.hook("BeforeTool", **task)
    inside = await gemini.failed("make integration-test")
    await gemini.hook("AfterTool", **task, tool_response={"llmContent": "They fail."})

    assert inside == ""
    agents = {runtime.scope.agent_id for runtime in gemini.world.parts.sessions.agents("g-1")}
    assert len(agents) == 2 and "main" in agents
    gemini.writes(gemini.message("gemini", "m2"))
    assert LESSON in await gemini.failed("make integration-test")
