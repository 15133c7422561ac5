"""LangChain, what is its own: programs without a loop, threads that outlive a process, retries, summaries."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.framework_drivers import AGAIN, CALL, DONE, PROMPT, LangChain, driven, failing_tool, langchain_model
from tests.e2e.frameworks import LESSON, Json, Model, Remora, conversation, instructions, packets, remora

pytestmark = pytest.mark.client

THREAD: Any = {"configurable": {"thread_id": "thread 1"}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remora]:
    with remora(tmp_path_factory.mktemp("shared"), lesson="") as one:
        yield one


@pytest.fixture
def here(shared: Remora, tmp_path: Path) -> Remora:
    own = shared.at(tmp_path / "project")
    own.remember(LESSON)
    return own


def asked(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


def an_agent(model: Model, here: Remora, **options: Any) -> Any:
    """An agent with a middleware of its own, as another process would make it."""
    from langchain.agents import create_agent

    from host.inprocess.langchain import Memory

    middleware = [*options.pop("middleware", ()), Memory(here.companion())]
    return create_agent(langchain_model(model), tools=[failing_tool()], middleware=middleware, **options)


def counts(model: Model) -> list[int]:
    return [len(packets(body)) for body in model.requests]


def test_a_program_without_a_loop_is_served_too(here: Remora) -> None:
    with Model([CALL, AGAIN, DONE]) as model:
        done = an_agent(model, here).invoke(asked(PROMPT))

    assert counts(model) == [0, 1, 1]
    assert LESSON in json.dumps(conversation(model.requests[1])[-1])
    assert here.settled() == ["claimed", "delivered"]
    assert set(done) == {"messages"}, "what the state keeps of ours is nobody's business"
    assert LESSON not in json.dumps([message.text for message in done["messages"]])


def test_a_request_that_fails_without_a_loop_gives_the_text_back(here: Remora) -> None:
    with Model([CALL, {"status": 500, "text": "overloaded"}]) as model, pytest.raises(Exception, match=r"500|error"):
        an_agent(model, here).invoke(asked(PROMPT))

    assert here.settled() == ["claimed", "released"]


def test_an_agent_that_tries_again_has_the_text_in_the_try_that_is_answered(here: Remora) -> None:
    from langchain.agents.middleware import ModelRetryMiddleware

    outside = [ModelRetryMiddleware(max_retries=1, initial_delay=0)]
    with Model([CALL, {"status": 500, "text": "overloaded"}, DONE]) as model:
        agent = an_agent(model, here, middleware=outside)
        agent.invoke(asked(PROMPT), THREAD)

    assert counts(model) == [0, 1, 1]
    assert here.settled() == ["claimed", "released", "claimed", "delivered"]
    assert len(here.sessions()) == 1
    assert [kind for kind, _ in here.events()].count("user/message") == 1


def test_a_thread_goes_on_in_another_process_with_its_texts_at_their_places(here: Remora) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    saver = InMemorySaver()
    with Model([CALL, DONE, {"text": "You are welcome."}]) as model:
        an_agent(model, here, checkpointer=saver).invoke(asked(PROMPT), THREAD)
        an_agent(model, here, checkpointer=saver).invoke(asked("Thank you, that helps a lot."), THREAD)

    assert counts(model) == [0, 1, 1]
    before, after = (json.dumps(conversation(body)) for body in model.requests[1:])
    assert after.startswith(before[:-3])
    assert here.settled() == ["claimed", "delivered"] and len(here.sessions()) == 1
    told = here.events()
    assert [payload["source"] for kind, payload in told if kind == "session/start"] == ["startup", "resume"]
    assert [payload["text"] for kind, payload in told if kind == "user/message"][1:] == ["Thank you, that helps a lot."]


def test_a_program_that_carries_its_messages_itself_stays_in_one_session(here: Remora) -> None:
    with Model([CALL, DONE, {"text": "You are welcome."}]) as model:
        agent = an_agent(model, here)
        done = agent.invoke(asked(PROMPT))
        agent.invoke({"messages": [*done["messages"], {"role": "user", "content": "Thank you, that helps a lot."}]})

    assert counts(model) == [0, 1, 1] and len(here.sessions()) == 1


def test_when_a_summary_takes_the_place_of_the_messages_the_lesson_comes_once_more(here: Remora) -> None:
    from langchain.agents.middleware import SummarizationMiddleware

    summary: Json = {"when": "summary", "tools": False, "text": "The user wants an archive uploaded.", "repeat": True}
    with Model([summary, CALL, DONE, CALL, DONE]) as model:
        shorter = SummarizationMiddleware(langchain_model(model), trigger=("messages", 5), keep=("messages", 1))
        from langgraph.checkpoint.memory import InMemorySaver

        agent = an_agent(model, here, middleware=[shorter], checkpointer=InMemorySaver())
        agent.invoke(asked(PROMPT), THREAD)
        agent.invoke(asked("And now the nightly archive, please."), THREAD)

    own = [body for body in model.requests if "tools" in body]
    (before,), (seeded,), (kept,) = [packets(body) for body in own[1:]]
    assert before != seeded == kept, "once more at the start of the new window, and then no more"
    assert not packets(own[0])
    assert [kind for kind, _ in here.events()].count("session/compact") == 1
    assert here.settled() == ["claimed", "delivered"] * 2


@pytest.mark.parametrize("config", [THREAD, {}])
def test_a_program_that_writes_the_whole_conversation_anew_each_time_names_its_thread(
    here: Remora, config: Any
) -> None:
    """As a server does that has it in a store of its own: the messages have other ids each time."""
    thanks = {"role": "user", "content": "Thank you, that helps a lot."}
    with Model([CALL, DONE, {"text": "You are welcome."}]) as model:
        agent = an_agent(model, here)
        done = agent.invoke(asked(PROMPT), config)
        kept = [message.model_copy(update={"id": None}) for message in done["messages"]]
        agent.invoke({"messages": [*kept, thanks]}, config)

    assert len(here.sessions()) == (1 if config else 2)
    if config:
        assert counts(model) == [0, 1, 1] and packets(model.requests[1]) == packets(model.requests[2])
        told = [payload["text"] for kind, payload in here.events() if kind == "user/message"]
        assert told == [PROMPT, thanks["content"]]


def test_an_agent_that_is_a_node_of_another_graph_keeps_its_texts_from_turn_to_turn(here: Remora) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph

    with Model([CALL, DONE, {"text": "You are welcome."}]) as model:
        graph = StateGraph(MessagesState)
        graph.add_node("helper", an_agent(model, here))
        graph.add_edge(START, "helper")
        whole = graph.compile(checkpointer=InMemorySaver())
        for prompt in (PROMPT, "Thank you, that helps a lot."):
            whole.invoke(asked(prompt), THREAD)

    assert counts(model) == [0, 1, 1] and packets(model.requests[1]) == packets(model.requests[2])
    assert here.settled() == ["claimed", "delivered"] and len(here.sessions()) == 1


def test_a_subagent_without_the_middleware_is_left_alone(here: Remora) -> None:
    from langchain.agents import create_agent
    from langchain_core.tools import tool

    with Model(
        [
            {"text": "Over to it.", "tool_calls": [{"name": "delegate", "input": {"task": PROMPT}}]},
            CALL,
            AGAIN,
            DONE,
            DONE,
        ]
    ) as model:
        inner = create_agent(langchain_model(model), tools=[failing_tool()], system_prompt="You are the second one.")

        @tool
        def delegate(task: str) -> str:
            """Let a subagent do it."""
            return str(inner.invoke(asked(task))["messages"][-1].text)

        from host.inprocess.langchain import Memory

        create_agent(langchain_model(model), tools=[delegate], middleware=[Memory(here.companion())]).invoke(
            asked(PROMPT)
        )

    inside = [body for body in model.requests if "second one" in instructions(body)]
    assert len(inside) == 3 and not any(packets(body) for body in inside)
    assert [payload["tool"] for kind, payload in here.events() if kind == "tool/call"] == ["delegate"]


async def test_a_streamed_answer_is_an_answer(here: Remora) -> None:
    with Model([CALL, DONE]) as model:
        async with driven(LangChain, model, here.companion()) as driver:
            async for _ in driver.agent.astream(asked(PROMPT), stream_mode="messages"):
                pass

    assert counts(model) == [0, 1] and here.settled() == ["claimed", "delivered"]
