"""Agents of three frameworks that a test drives alike: one tool that fails, one conversation that goes on.

Each is made as its documentation says, with the framework's own client of a model API. `say` runs one turn to its end
and raises what the framework raises.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest

from host.inprocess.companion import Companion
from tests.e2e.frameworks import FAILURE, PATIENCE, Json, Model

SYSTEM = "You help with uploads."
PROMPT = "Please put the release archive up."
CALL: Json = {"text": "I will upload it.", "tool_calls": [{"name": "upload", "input": {"name": "a.zip"}}]}
AGAIN: Json = {"text": "Once more.", "tool_calls": [{"name": "upload", "input": {"name": "b.zip"}}]}
DONE: Json = {"text": "It has to be split first."}


class Driver(Protocol):
    """One conversation with an agent that remembers. `host`: its name in the daemon's table."""

    host: str

    def __init__(self, model: Model, companion: Companion, **options: Any) -> None: ...

    async def say(self, prompt: str) -> str:
        """One turn; the agent's last words."""
        ...

    async def close(self) -> None:
        """Close the connections of the model's client."""
        ...


@asynccontextmanager
async def driven(driver: type[Driver], model: Model, companion: Companion, **options: Any) -> AsyncIterator[Any]:
    """A driver whose connections are closed at the end."""
    made = driver(model, companion, **options)
    try:
        yield made
    finally:
        await made.close()


class LangChain:
    """`create_agent`, its messages carried from turn to turn by hand."""

    host = "langchain"

    def __init__(self, model: Model, companion: Companion, **options: Any) -> None:
        from langchain.agents import create_agent

        from host.inprocess.langchain import Memory

        middleware = [*options.pop("middleware", ()), Memory(companion)]
        self.chat = langchain_model(model)
        self.agent = create_agent(
            self.chat, tools=[failing_tool()], system_prompt=SYSTEM, middleware=middleware, **options
        )
        self.messages: list[Any] = []

    async def say(self, prompt: str) -> str:
        done = await self.agent.ainvoke({"messages": [*self.messages, {"role": "user", "content": prompt}]})
        self.messages = done["messages"]
        return str(self.messages[-1].text)

    async def close(self) -> None:
        await self.chat._async_client.close()
        self.chat._client.close()


def langchain_model(model: Model) -> Any:
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model="claude-sonnet-5", base_url=model.url, api_key="dummy", max_retries=0)


def failing_tool() -> Any:
    from langchain_core.tools import ToolException, tool

    @tool
    def upload(name: str) -> str:
        """Upload an archive."""
        raise ToolException(FAILURE)

    upload.handle_tool_error = True
    return upload


class PydanticAi:
    """An `Agent` over Anthropic's messages, its history carried by hand."""

    host = "pydantic-ai"

    def __init__(self, model: Model, companion: Companion, **options: Any) -> None:
        from pydantic_ai import Agent, ModelRetry

        from host.inprocess.pydantic_ai import Memory

        self.chat = pydantic_model(model)
        capabilities = [*options.pop("capabilities", ()), Memory(companion)]
        self.agent: Any = Agent(self.chat, instructions=SYSTEM, capabilities=capabilities, **options)
        self.history: list[Any] = []

        @self.agent.tool_plain(retries=5)
        def upload(name: str) -> str:
            """Upload an archive."""
            raise ModelRetry(FAILURE)

        self.upload = upload

    async def say(self, prompt: str) -> str:
        done = await self.agent.run(prompt, message_history=self.history)
        self.history = done.all_messages()
        return str(done.output)

    async def close(self) -> None:
        await self.chat.client.close()


def pydantic_model(model: Model) -> Any:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(base_url=model.url, api_key="dummy", max_retries=0)
    return AnthropicModel("claude-sonnet-5", provider=AnthropicProvider(anthropic_client=client))


class OpenAiAgents:
    """`Runner.run` over the Responses API, its items carried by hand."""

    host = "openai-agents"

    def __init__(self, model: Model, companion: Companion, **options: Any) -> None:
        from host.inprocess.openai_agents import Memory

        self.memory = Memory(companion)
        self.agent = openai_agent(model, **options)
        self.items: list[Any] = []

    async def say(self, prompt: str) -> str:
        from agents import Runner

        items = [*self.items, {"role": "user", "content": prompt}]
        done = await Runner.run(self.agent, items, run_config=self.memory.run_config(), hooks=self.memory)
        self.items = done.to_input_list()
        return str(done.final_output)

    async def close(self) -> None:
        await self.agent.model._client.close()


def openai_agent(scripted: Model, **options: Any) -> Any:
    from agents import Agent, OpenAIResponsesModel, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)

    @function_tool(failure_error_function=lambda _, error: f"Error: {error}")
    def upload(name: str) -> str:
        """Upload an archive."""
        raise ValueError(FAILURE)

    client = AsyncOpenAI(base_url=f"{scripted.url}/v1", api_key="dummy", max_retries=0)
    chat = OpenAIResponsesModel("gpt-5.5", openai_client=client)
    return Agent(**({"name": "Uploader", "instructions": SYSTEM, "model": chat, "tools": [upload]} | options))


DRIVERS: tuple[type[Driver], ...] = (LangChain, PydanticAi, OpenAiAgents)


async def cancelled(saying: Awaitable[str], there: threading.Event) -> None:
    """Run a turn and cancel it once the model has its request."""
    task = asyncio.ensure_future(saying)
    assert await asyncio.to_thread(there.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
