"""What the items of OpenAI Agents say, and where a text stands among them. Needs the framework (extra `e2e`)."""

from pathlib import Path
from typing import Any

import pytest

from host.inprocess.companion import Companion
from host.inprocess.said import Part, Placed

pytestmark = pytest.mark.client


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    from host.inprocess.openai_agents import Memory

    return Memory(Companion(tmp_path, socket=tmp_path / "s"))


def said(memory: Any, *items: Any) -> list[tuple[Any, ...]]:
    each = [one for item in items for one in memory._said(item)]
    return [(one.part, one.key, one.text, one.tool, one.ok) for one in each]


def test_items_say_what_they_say(memory: Any) -> None:
    listed = said(
        memory,
        {"role": "user", "content": "Put it up."},
        {"role": "developer", "content": "You help."},
        {"role": "user", "content": [{"type": "input_text", "text": "Now."}, {"type": "input_image"}]},
        {"type": "reasoning", "summary": [{"text": "hm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will."}]},
        {"type": "function_call", "call_id": "c1", "name": "upload", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "***"},
        {"type": "shell_call", "call_id": "c3", "action": {"commands": ["make"]}},
        {"type": "web_search_call", "id": "w1", "action": {"query": "x"}},
        {"type": "compaction", "id": "s1", "encrypted_content": "…"},
    )

    assert listed == [
        (Part.PROMPT, "", "Put it up.", "", None),
        (Part.PROMPT, "", "Now.", "", None),
        (Part.REPLY, "", "I will.", "", None),
        (Part.CALL, "c1", "", "upload", None),
        (Part.CALL, "c2", "", "patch", None),
        (Part.CALL, "c3", "", "shell", None),
        (Part.SUMMARY, "s1", "", "", None),
    ]


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("It is up.", True),
        ("errors: 0, warnings: 2", True),
        ("Error: refused", False),
        ("ValueError: refused", False),
        ("Traceback (most recent call last):\n…", False),
        ("An error occurred while running the tool. Please try again.", False),
        ([{"type": "input_text", "text": "failed to connect"}], False),
        ([{"stdout": "all fine", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}], True),
        ([{"stdout": "", "stderr": "no rule", "outcome": {"type": "exit", "exit_code": 2}}], False),
    ],
)
def test_an_error_that_the_model_gets_as_a_result_is_one(memory: Any, output: Any, ok: bool) -> None:
    item = {"type": "function_call_output", "call_id": "c1", "output": output}

    ((part, key, _, _, told),) = said(memory, item)

    assert (part, key, told) == (Part.RESULT, "c1", ok)


def test_a_text_stands_behind_its_item_and_nowhere_else() -> None:
    from host.inprocess import openai_agents as adapter

    again = {"role": "user", "content": "Go on."}
    result = {"type": "function_call_output", "call_id": "c1", "output": "fine"}
    items = [again, {"role": "assistant", "content": "Yes."}, again, result]
    _, _, second, behind = adapter._anchors(items)

    whole = adapter._with(items, [Placed(after=second, text="early")], Placed(after=behind, text="now"))

    assert [adapter._text(item.get("content") or item.get("output")) for item in whole] == [
        *("Go on.", "Yes.", "Go on.", "early", "fine", "now"),
    ]
    assert {item["role"] for item in whole if item not in items} == {"user"}


async def test_a_request_that_is_not_understood_goes_out_as_it_is(memory: Any) -> None:
    from agents.run_config import CallModelData, ModelInputData

    given = ModelInputData(input=[{"role": "user", "content": "Hi."}], instructions="You help.")
    agent: Any = object()

    assert await memory.filter(CallModelData(model_data=given, agent=agent, context=None)) is given
    assert "AttributeError" in memory._turns.companion.problem
