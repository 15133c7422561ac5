"""pydantic-ai, what is its own: the history keeps the text, but not of a request that failed; streams; delegates."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.framework_drivers import CALL, DONE, PROMPT, PydanticAi, driven, pydantic_model
from tests.e2e.frameworks import LESSON, Model, Remora, conversation, instructions, packets, remora

pytestmark = pytest.mark.client

THANKS = "Thank you, that helps a lot."
WELCOME = {"text": "You are welcome."}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remora]:
    with remora(tmp_path_factory.mktemp("shared"), lesson="") as one:
        yield one


@pytest.fixture
def here(shared: Remora, tmp_path: Path) -> Remora:
    own = shared.at(tmp_path / "project")
    own.remember(LESSON)
    return own


def counts(model: Model) -> list[int]:
    return [len(packets(body)) for body in model.requests]


async def test_a_history_that_was_stored_goes_on_in_another_process(here: Remora) -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    with Model([CALL, DONE, WELCOME]) as model:
        async with driven(PydanticAi, model, here.companion()) as driver:
            await driver.say(PROMPT)
            stored = ModelMessagesTypeAdapter.dump_json(driver.history)
        async with driven(PydanticAi, model, here.companion()) as driver:
            driver.history = ModelMessagesTypeAdapter.validate_json(stored)
            await driver.say(THANKS)

    assert counts(model) == [0, 1, 1]
    before, after = (json.dumps(conversation(body)) for body in model.requests[1:])
    assert after.startswith(before[:-3])
    assert here.settled() == ["claimed", "delivered"] and len(here.sessions()) == 1
    told = here.events()
    assert [payload["source"] for kind, payload in told if kind == "session/start"] == ["startup", "resume"]
    assert [payload["text"] for kind, payload in told if kind == "user/message"] == [PROMPT, THANKS]


async def test_a_request_that_failed_leaves_no_text_and_the_next_one_gets_it(here: Remora) -> None:
    from pydantic_ai import capture_run_messages

    with Model([CALL, {"status": 500, "text": "overloaded"}, DONE]) as model:
        async with driven(PydanticAi, model, here.companion()) as driver:
            with capture_run_messages() as left, pytest.raises(Exception, match=r"500|overloaded"):
                await driver.say(PROMPT)
            assert not packets({"messages": json.loads(json.dumps(left, default=repr))})
            driver.history = list(left)
            await driver.say("Try that again, please.")

    assert counts(model) == [0, 1, 1]
    assert here.settled() == ["claimed", "released", "claimed", "delivered"] and len(here.sessions()) == 1


async def test_a_streamed_answer_is_an_answer(here: Remora) -> None:
    silent = CALL | {"text": ""}  # a stream ends with the first text
    with Model([silent, DONE, WELCOME]) as model:
        async with driven(PydanticAi, model, here.companion()) as driver:
            async with driver.agent.run_stream(PROMPT) as stream:
                said = await stream.get_output()
            driver.history = stream.all_messages()
            await driver.say(THANKS)

    assert said == DONE["text"]
    assert counts(model) == [0, 1, 1]
    assert here.settled() == ["claimed", "delivered"]
    said_by_agent = [payload["text"] for kind, payload in here.events() if kind == "assistant/message"]
    assert said_by_agent == [DONE["text"], WELCOME["text"]]


async def test_what_other_capabilities_add_stands_before_the_text(here: Remora) -> None:
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

    def reminding(messages: list[ModelMessage]) -> list[ModelMessage]:
        if not isinstance(messages[-1], ModelRequest):
            return messages
        note = UserPromptPart("It is Monday.")
        return [*messages[:-1], ModelRequest(parts=[*messages[-1].parts, note])]

    with Model([CALL, DONE]) as model:
        async with driven(PydanticAi, model, here.companion(), capabilities=[ProcessHistory(reminding)]) as driver:
            await driver.say(PROMPT)

    assert counts(model) == [0, 1]
    newest = conversation(model.requests[1])[-1]["content"]
    assert newest[-2]["text"] == "It is Monday." and LESSON in newest[-1]["text"]


async def test_an_agent_that_is_called_by_a_tool_is_left_alone(here: Remora) -> None:
    from pydantic_ai import Agent

    over = {"text": "Over to it.", "tool_calls": [{"name": "delegate", "input": {"task": PROMPT}}]}
    with Model([over, CALL, DONE, DONE]) as model:
        async with driven(PydanticAi, model, here.companion()) as driver:
            inner: Any = Agent(pydantic_model(model), instructions="You are the second one.")
            inner.tool_plain(retries=5)(driver.upload)

            @driver.agent.tool_plain
            async def delegate(task: str) -> str:
                """Let another agent do it."""
                return str((await inner.run(task)).output)

            await driver.say(PROMPT)
            await inner.model.client.close()

    inside = [body for body in model.requests if "second one" in instructions(body)]
    assert len(inside) == 2 and not any(packets(body) for body in inside)
    assert [payload["tool"] for kind, payload in here.events() if kind == "tool/call"] == ["delegate"]
