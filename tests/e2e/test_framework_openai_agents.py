"""OpenAI Agents, what is its own: streams, stored sessions, other filters, agents as tools, runs without our hooks."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.framework_drivers import CALL, DONE, PROMPT, OpenAiAgents, driven, openai_agent
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


async def test_a_streamed_answer_is_an_answer(here: Remora) -> None:
    from agents import Runner

    with Model([CALL, DONE]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            memory = driver.memory
            run = Runner.run_streamed(driver.agent, PROMPT, run_config=memory.run_config(), hooks=memory)
            async for _ in run.stream_events():
                pass

    assert run.final_output == DONE["text"] and counts(model) == [0, 1]
    assert here.settled() == ["claimed", "delivered"]


async def test_what_the_sdk_stores_of_a_session_holds_no_text_and_the_next_run_shows_it_at_its_place(
    here: Remora, tmp_path: Path
) -> None:
    from agents import Runner, SQLiteSession

    stored = SQLiteSession("s1", tmp_path / "sessions.db")
    with Model([CALL, DONE, WELCOME]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            options: Any = {"hooks": driver.memory, "session": stored}
            for prompt in (PROMPT, THANKS):
                await Runner.run(driver.agent, prompt, run_config=driver.memory.run_config(), **options)
    items = await stored.get_items()
    stored.close()

    assert not packets({"input": items})
    assert counts(model) == [0, 1, 1]
    before, after = (json.dumps(conversation(body)) for body in model.requests[1:])
    assert after.startswith(before[:-1])
    assert here.settled() == ["claimed", "delivered"]


async def test_a_filter_of_ones_own_goes_first(here: Remora) -> None:
    from agents import RunConfig, Runner
    from agents.run_config import CallModelData, ModelInputData

    def dated(data: CallModelData[Any]) -> ModelInputData:
        note: Any = {"role": "user", "content": "It is Monday."}
        return ModelInputData(input=[*data.model_data.input, note], instructions=data.model_data.instructions)

    with Model([CALL, DONE]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            config = driver.memory.run_config(RunConfig(call_model_input_filter=dated, workflow_name="uploads"))
            await Runner.run(driver.agent, PROMPT, run_config=config, hooks=driver.memory)

    assert config.workflow_name == "uploads"
    *_, note, text = conversation(model.requests[1])
    assert note["content"] == "It is Monday." and LESSON in text["content"] and text["role"] == "user"


async def test_an_agent_that_is_called_as_a_tool_is_left_alone(here: Remora) -> None:
    from agents import Runner

    over = {"text": "Over to it.", "tool_calls": [{"name": "delegate", "input": {"input": PROMPT}}]}
    with Model([over, CALL, DONE, CALL, DONE]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            inner = openai_agent(model, instructions="You are the second one.", model=driver.agent.model)
            tool = inner.as_tool("delegate", "Let another agent do it.")
            outer = driver.agent.clone(tools=[*driver.agent.tools, tool])
            await Runner.run(outer, PROMPT, run_config=driver.memory.run_config(), hooks=driver.memory)

    inside = [body for body in model.requests if "second one" in instructions(body)]
    assert len(inside) == 2 and not any(packets(body) for body in inside)
    assert counts(model) == [0, 0, 0, 0, 1], "and the agent that called it gets its own at its next failure"
    assert [payload["tool"] for kind, payload in here.events() if kind == "tool/call"] == ["delegate", "upload"]


async def test_without_our_hooks_a_text_is_settled_with_the_next_request(here: Remora) -> None:
    from agents import Runner

    with Model([CALL, CALL, DONE]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            await Runner.run(driver.agent, PROMPT, run_config=driver.memory.run_config())

    assert counts(model) == [0, 1, 1]
    assert here.settled() == ["claimed", "delivered"]
    results = [payload["ok"] for kind, payload in here.events() if kind == "tool/result"]
    assert results == [False, False]


@pytest.mark.parametrize("kept", [{"conversation_id": "conv_1"}, {"auto_previous_response_id": True}])
async def test_where_the_server_keeps_the_conversation_a_text_is_sent_once(here: Remora, kept: dict[str, Any]) -> None:
    from agents import Runner

    with Model([CALL, CALL, DONE]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            options: Any = {"run_config": driver.memory.run_config(), "hooks": driver.memory} | kept
            await Runner.run(driver.agent, PROMPT, **options)

    assert counts(model) == [0, 1, 0] and here.settled() == ["claimed", "delivered"]
    turn = ["assistant/message", "tool/call", "tool/result", "step/end"]
    assert [kind for kind, _ in here.events()][3:] == [*turn, *turn, "assistant/message", "turn/end"]


async def test_a_conversation_that_is_taken_up_by_a_new_object_is_a_new_window(here: Remora) -> None:
    from agents import Runner

    from host.inprocess.openai_agents import Memory

    with Model([CALL, DONE, CALL, DONE]) as model:
        async with driven(OpenAiAgents, model, here.companion()) as driver:
            items: Any = PROMPT
            for _ in range(2):
                memory = Memory(here.companion(), session="chat 1")
                done = await Runner.run(driver.agent, items, run_config=memory.run_config(), hooks=memory)
                items = [*done.to_input_list(), {"role": "user", "content": "And the nightly archive, please."}]

    assert counts(model) == [0, 1, 1, 1]
    assert packets(model.requests[1]) != packets(model.requests[2]) == packets(model.requests[3])
    assert len(here.sessions()) == 1 and here.settled() == ["claimed", "delivered"] * 2
    starts = [payload["source"] for kind, payload in here.events() if kind == "session/start"]
    assert starts == ["startup", "startup"]
