"""What an agent asked for it has: it is read, and not handed over once more."""

import json
from typing import Any

import msgspec
import pytest

from governance.evidence import WHOLE
from host.asked import answers, share, told_by
from host.mcp.memory_tools import SEARCH
from host.mcp.wording import TEXT_BYTES, memory, told
from host.verbs import reach
from recall.contracts import EventPayload
from tests.support.asking import Asking
from tests.support.builders import SESSION, a_memory, a_memory_id
from tests.support.calling import Calling
from tests.support.world import FAILURE, LESSON

ID, OTHER = a_memory_id(1), a_memory_id(2)
LONG = "A long story. " * 200


def result(text: str, tool: str = "mcp__remora-pre__memory_search_pre") -> EventPayload:
    return EventPayload(text=text, tool="mcp:x", native_tool=tool, ok=True)


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__remora-pre__memory_search_pre",
        "mcp__remora_pre__memory_get_pre",
        "mcp__plugin_remora-pre_remora-pre__memory_get_pre",
        "memory_search_pre",
    ],
)
def test_results_of_our_own_tools_show_memories_as_document_or_as_text(tool: str) -> None:
    one, two = memory(a_memory("It is\n1.", memory_id=ID, title="Port")), memory(a_memory("Tea.", memory_id=OTHER))
    document = json.dumps({"note": "n", "memories": [msgspec.to_builtins(one), msgspec.to_builtins(two)]})

    assert answers(result(document, tool)) == {ID: "It is\n1.", OTHER: "Tea."}
    assert answers(result(told([one, two]), tool)) == {ID: "Port\nIt is\n1.", OTHER: "Tea."}
    assert answers(result(json.dumps({"memory": msgspec.to_builtins(one)}), tool)) == {ID: "It is\n1."}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"memories": 7}', '{"memories": [7, {"memoryId": 1}, {"memoryId": "x"}]}', "\ud800"],
)
def test_what_shows_no_memory_shows_none(text: str) -> None:
    assert answers(result(text)) == {}


@pytest.mark.parametrize("tool", ["Bash", "mcp__other__memory_search", "", None])
def test_the_same_words_from_another_tool_prove_nothing(tool: str | None) -> None:
    payload = EventPayload(text=json.dumps({"memory": {"memoryId": ID, "text": "x"}}), tool=tool, native_tool=tool)

    assert answers(payload) == {}


@pytest.mark.parametrize(
    ("text", "title", "shown", "expected"),
    [
        ("It is 1.", None, "It is 1.", WHOLE),
        ("It is 1.", "Port", "Port\nIt is 1.", WHOLE),
        ("It is 1.", "Port", "It is 1.", WHOLE),
        ("It is 1.", None, "It is 2.", 0),
        ("It is 1.", None, "Other\nIt is 1.", 0),
        ("It is <1>.", None, "It is ‹1›.", WHOLE),
        ("It is 1.", None, "", 0),
        ("It is 1.", None, "…", 0),
    ],
)
def test_a_record_is_covered_by_its_words_as_they_are_now(
    text: str, title: str | None, shown: str, expected: int
) -> None:
    assert share(a_memory(text, memory_id=ID, title=title), shown) == expected


def test_a_text_that_was_cut_covers_its_part() -> None:
    record = a_memory(LONG, memory_id=ID, title="T" * 300)
    cut = memory(record, TEXT_BYTES)

    for shown in (cut.text, f"{cut.title}\n{cut.text}"):
        assert 0 < share(record, shown) < WHOLE


@pytest.mark.promise("read-is-no-citation", "no-leak")
async def test_what_cannot_be_seen_or_reads_otherwise_now_is_not_covered(remora: Asking, folder: str) -> None:
    here = await remora.world.remember("It is 1.", folder)
    elsewhere = await remora.world.remember("It is 2.", remora.world.workspace("other"))
    scope = await reach(remora.world.parts, folder)
    shown = [{"memoryId": here, "text": "It is 1."}, {"memoryId": elsewhere, "text": "It is 2."}]

    found = await told_by(remora.world.parts.library, result(json.dumps({"memories": shown})), scope)
    stale = json.dumps({"memory": {"memoryId": here, "text": "It was 1."}})

    assert [(one.memory_id, one.ratio, one.fresh) for one in found] == [(here, WHOLE, True)]
    assert await told_by(remora.world.parts.library, result(stale), scope) == []


async def hook(caller: Calling, event: str, **fields: Any) -> bytes:
    payload = {"session_id": SESSION, "cwd": caller.folder, "hook_event_name": event} | fields
    return await caller.pass_on("claude-code", json.dumps(payload).encode())


@pytest.mark.parametrize("asks", [False, True])
async def test_a_memory_that_the_agent_asked_for_is_not_handed_over_once_more(
    remora: Asking, folder: str, asks: bool
) -> None:
    await remora.world.remember(LESSON, folder)
    caller = Calling(remora, folder)
    await hook(caller, "UserPromptSubmit", prompt="Please go on.", prompt_id="p1")
    if asks:
        one, arguments = SEARCH, {"query": "ECONNREFUSED 5433"}
        answer = await one.run(one.decode(arguments), caller)
        called = {"tool_name": f"mcp__remora-pre__{one.name}", "tool_use_id": "t1", "tool_input": arguments}
        shown = msgspec.json.encode(answer.document).decode()
        assert await hook(caller, "PostToolUse", **called, tool_response=shown) == b""
        assert await hook(caller, "PostToolBatch") == b""
    failing = {"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "make integration-test"}}
    await hook(caller, "PostToolUseFailure", **failing, error=FAILURE)

    given = await hook(caller, "PostToolBatch")

    assert (LESSON.split(",")[0] in given.decode()) is not asks
