"""The tools on formation, over the service of a whole remora: a task, an answer, and what the agent reads of both."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.config import FormationSettings
from host.errors import RemoraError
from host.mcp.formation_tools import CHECKPOINT, EXTRACT, SHOWN, STAGE, Handed, Taken
from host.mcp.tool import Tool
from host.namespace import SCRIPT, tool
from tests.support.asking import Asking
from tests.support.builders import SESSION
from tests.support.calling import Calling, Told
from tests.support.growing import LESSON, QUOTE, SAYS, batch, note, talk
from tests.support.world import a_world


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with a_world(tmp_path / "data", formation=FormationSettings()) as world:
        yield Asking(world)


async def call(one: Tool[Any], caller: Calling | Told, **arguments: Any) -> tuple[Any, str]:
    answer = await one.run(one.decode(arguments), caller)
    return answer.document, answer.text


async def a_caller(remora: Asking, *texts: str) -> Calling:
    return Calling(remora, await talk(remora, *(texts or (LESSON,))))


@pytest.mark.parametrize("by", [CHECKPOINT, EXTRACT], ids=lambda one: one.part)
async def test_the_agent_gets_a_task_and_stages_what_it_noted(remora: Asking, by: Tool[Any]) -> None:
    caller = await a_caller(remora)
    handed, text = await call(by, caller, sessionId=SESSION)

    assert isinstance(handed, Handed) and handed.task is not None
    for part in (LESSON, tool("memory_stage"), handed.task["taskId"], handed.task["binding"], '"notes"'):
        assert part in text
    assert text.index(handed.task["instructions"][:40]) < text.index(LESSON)
    taken, said = await call(STAGE, caller, document=batch(handed.task, note(SAYS, QUOTE, handed.task)))

    assert isinstance(taken, Taken) and len(taken.items) == 1
    assert said == f"Taken: 1 waits for the user, who decides with: {SCRIPT} review"
    after, none = await call(by, caller, sessionId=SESSION)
    assert after.task is None and none.startswith("There is no")


async def test_the_answer_is_written_down_as_the_clients(remora: Asking) -> None:
    caller = await a_caller(remora)
    caller.agent = "claude-code"
    handed, _ = await call(EXTRACT, caller, sessionId=SESSION)
    await call(STAGE, caller, document=batch(handed.task, note(SAYS, QUOTE, handed.task)))

    rows = await remora.world.parts.kept.read(
        lambda connection: connection.execute("SELECT provenance FROM note_window").fetchall()
    )
    assert [json.loads(row[0])["modelId"] for row in rows] == ["agent:claude-code"]


async def test_what_is_not_taken_is_told_with_why(remora: Asking) -> None:
    caller = await a_caller(remora)
    handed, _ = await call(EXTRACT, caller, sessionId=SESSION)
    good = note(SAYS, QUOTE, handed.task)
    bad = good | {"citations": [good["citations"][0] | {"quote": "Run the tests first"}]}

    with pytest.raises(RemoraError) as fault:
        await call(STAGE, caller, document=batch(handed.task, bad))
    taken, said = await call(STAGE, caller, document=batch(handed.task, good, bad))

    assert "quote-not-found" in str(fault.value) and "Mend them" in str(fault.value)
    assert len(taken.items) == 1
    assert len(taken.refused) == 1 and taken.refused[0].startswith("note 1: quote-not-found")
    assert said.endswith(taken.refused[0])


async def test_what_is_left_says_how_to_go_on(remora: Asking) -> None:
    caller = await a_caller(remora, *(f"Say {number}: {LESSON}" for number in range(12)))
    handed, _ = await call(EXTRACT, caller, sessionId=SESSION)

    _, said = await call(STAGE, caller, document=batch(handed.task))

    assert said == f"Nothing new.\n4 messages are left: ask {tool('memory_extract')} again."


async def test_ranges_that_wait_still_are_told() -> None:
    noted = {"noted": {"notes": ["note_1", "note_2"]}, "waiting": 2}
    caller = Told({"formation.stage": noted})
    taken, said = await call(STAGE, caller, document={"taskId": "task_1"})
    assert said.splitlines() == [
        f"Taken: 2 wait for the user, who decides with: {SCRIPT} review",
        f"2 ranges still wait: ask {tool('memory_checkpoint')} again.",
    ]
    assert taken.waiting == 2
    (asked,) = caller.asked
    assert asked[1] == {"batch": {"taskId": "task_1"}, "workspace": "/project", "agent": "a-client"}


async def test_documents_are_a_task_too(remora: Asking) -> None:
    caller = await a_caller(remora)
    none, said = await call(EXTRACT, caller, layer="l2")
    handed, text = await call(EXTRACT, caller, layer="skill", sessionId=SESSION)

    assert none.task is None and "keep some in the review" in said
    assert handed.task is not None and LESSON in text and "changes" in text
    assert handed.task["taskId"] in text


async def test_why_there_is_no_range_is_told() -> None:
    ran = {"results": [{"status": "unavailable", "reason": "workspace-off"}], "waiting": 1}
    handed, said = await call(CHECKPOINT, Told({"checkpoint.run": ran}))
    assert (said, handed.waiting) == ("There is no range to note: workspace-off.", 1)
    _, said = await call(CHECKPOINT, Told({"checkpoint.run": {"results": [{"status": "no-range"}]}}))
    assert said == "There is no range to note: nothing waits."


async def test_arguments_that_do_not_fit_are_said() -> None:
    for arguments in ({"layer": "l4"}, {"session": "s-one"}):
        with pytest.raises(RemoraError) as fault:
            EXTRACT.decode(arguments)
        assert "memory_extract_pre" in str(fault.value)
    with pytest.raises(RemoraError):
        STAGE.decode({"batch": "text"})


async def test_of_many_that_were_not_taken_the_first_are_listed() -> None:
    many = [{"index": number, "code": "duplicate"} for number in range(3_000)]
    taken, said = await call(
        STAGE, Told({"formation.stage": {"noted": {"rejected": many}}}), document={"taskId": "task_1"}
    )
    assert len(taken.refused) == SHOWN + 1
    assert said.endswith("and 2992 more")
