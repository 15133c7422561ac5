"""The tool `hook`: the daemon's answer as it is, or nothing."""

import json
from typing import Any

import pytest

from host.mcp.hook_tool import HOOK
from host.mcp.hosts import CLAUDE_CODE, hook_input
from tests.support.asking import Asking
from tests.support.builders import SESSION
from tests.support.calling import Calling, Told
from tests.support.world import FAILURE, LESSON

OUTPUT = '{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"x"}}'


async def said(arguments: dict[str, Any], caller: Any) -> str:
    answer = await HOOK.run(HOOK.decode(arguments), caller)
    assert answer.document is None
    return answer.text


async def test_a_hook_is_passed_on_and_its_answer_is_exactly_what_the_daemon_says() -> None:
    caller = Told(hooked=OUTPUT.encode())

    assert await said({"host": "codex", "session_id": "s1", "hook_event_name": "Stop"}, caller) == OUTPUT
    assert caller.asked == [("codex", {"session_id": "s1", "hook_event_name": "Stop"})]


@pytest.mark.parametrize("arguments", [{}, {"host": 7, "session_id": "s"}, {"host": "codex"}, {"session_id": "s"}])
async def test_what_is_no_hook_call_is_nothing_and_reaches_nobody(arguments: dict[str, Any]) -> None:
    caller = Told(hooked=b"{}")

    assert await said(arguments, caller) == ""
    assert caller.asked == []


async def test_unknown_fields_are_never_refused() -> None:
    caller = Told()

    assert await said({"host": "codex", "session_id": "s", "a_new_field": [1, {"x": None}]}, caller) == ""
    assert caller.asked == [("codex", {"session_id": "s", "a_new_field": [1, {"x": None}]})]


def sent(event: str, folder: str, **fields: str) -> dict[str, Any]:
    """The arguments as Claude Code fills them in: absent fields are empty texts."""
    own = {"session_id": SESSION, "cwd": folder, "hook_event_name": event} | fields
    asked = hook_input(CLAUDE_CODE, event)
    return {name: asked[name] if name == "host" else own.get(name, "") for name in asked}


async def test_a_failure_told_by_a_hook_brings_the_memory_at_the_next_boundary(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON, folder)
    caller = Calling(remora, folder)
    tool_input = json.dumps({"command": "make integration-test"})
    failure = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": tool_input, "error": FAILURE}

    first = await said(sent("UserPromptSubmit", folder, prompt="Please go on.", prompt_id="p1"), caller)
    told = await said(sent("PostToolUseFailure", folder, **failure, is_interrupt="false"), caller)
    given = await said(sent("PostToolBatch", folder), caller)

    assert (first, told) == ("", "")
    output = json.loads(given)["hookSpecificOutput"]
    assert output["hookEventName"] == "PostToolBatch"
    assert LESSON.split(".")[0] in output["additionalContext"]
