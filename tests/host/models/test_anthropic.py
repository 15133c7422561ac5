"""Messages: turns in, blocks out."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import ChatMessage, FinishReason, ToolCall, Usage
from governance.formation.errors import ModelError
from host.config import FormationSettings
from host.models.anthropic import decode, encode, make
from host.models.wire import Unreadable
from tests.support.models import SUBMIT, a_request

Json = dict[str, Any]
SAYS = {"type": "text", "text": "Hello."}
CALL = {"type": "tool_use", "id": "t1", "name": "submit", "input": {"notes": []}}


def sent(**other: Any) -> Json:
    body: Json = json.loads(encode(a_request(**other), "m-1"))
    return body


def an_answer(*blocks: Json, **other: Any) -> bytes:
    given = {"model": "m-1-2026", "content": blocks, "stop_reason": "end_turn", **other}
    return json.dumps(given).encode()


def test_what_is_sent() -> None:
    assert sent() == {
        "model": "m-1",
        "max_tokens": 1_000,
        "system": "You take notes.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "We ship on Thursdays."}]}],
        "stream": False,
        "tools": [
            {
                "name": "submit",
                "description": "Hand in the notes.",
                "input_schema": msgspec.to_builtins(SUBMIT.schema),
            }
        ],
        "tool_choice": {"type": "tool", "name": "submit", "disable_parallel_tool_use": True},
    }


def test_nothing_is_said_of_thinking_temperature_or_tools_that_are_not_there() -> None:
    assert not {"thinking", "temperature", "tools", "tool_choice"} & sent(tools=(), tool_choice="none").keys()


@pytest.mark.parametrize(
    ("choice", "told"), [("auto", {"type": "auto", "disable_parallel_tool_use": True}), ("none", {"type": "none"})]
)
def test_a_choice_is_told(choice: str, told: Mapping[str, object]) -> None:
    assert sent(tool_choice=choice)["tool_choice"] == told


def test_results_of_one_turn_stand_in_one_message_of_the_user() -> None:
    calls = tuple(ToolCall(id=f"t{n}", name="read", arguments={"id": n}) for n in (1, 2))
    messages = (
        ChatMessage(role="user", content="Go."),
        ChatMessage(role="assistant", content="", tool_calls=calls),
        ChatMessage(role="tool", content="One.", tool_call_id="t1"),
        ChatMessage(role="tool", content="Two.", tool_call_id="t2"),
        ChatMessage(role="user", content="Go on."),
        ChatMessage(role="assistant", content=""),
    )

    assert sent(messages=messages)["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"id": 1}},
                {"type": "tool_use", "id": "t2", "name": "read", "input": {"id": 2}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "One."},
                {"type": "tool_result", "tool_use_id": "t2", "content": "Two."},
                {"type": "text", "text": "Go on."},
            ],
        },
    ]


def test_an_answer_is_read() -> None:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 20,
        "output_tokens": 12,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    thinks = {"type": "thinking", "thinking": "…", "signature": "x"}
    told = decode(an_answer(thinks, SAYS, CALL, SAYS, usage=usage, stop_reason="tool_use"), a_request())

    assert told.text == "Hello.Hello." and told.model_id == "m-1-2026"
    assert told.finish_reason is FinishReason.TOOL_CALLS
    assert told.tool_calls == (ToolCall(id="t1", name="submit", arguments={"notes": []}),)
    assert told.usage == Usage(input_tokens=33, output_tokens=12, cached_input_tokens=20, reasoning_tokens=5)


def test_without_a_cache_what_went_in_is_what_was_read() -> None:
    told = decode(an_answer(SAYS, usage={"input_tokens": 10, "output_tokens": 12}), a_request())

    assert told.usage == Usage(input_tokens=10, output_tokens=12)


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 1}, {"output_tokens": 1}, {"input_tokens": {}}])
def test_counts_that_are_not_told_are_none_and_never_zero(usage: object) -> None:
    assert decode(an_answer(SAYS, usage=usage), a_request()).usage is None


@pytest.mark.parametrize("arguments", [None, [], "{}", 1])
def test_arguments_that_are_no_object_are_a_fault(arguments: object) -> None:
    with pytest.raises(Unreadable, match="no object"):
        decode(an_answer({**CALL, "input": arguments}), a_request())


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"content": "x"}', b'{"type": "error", "error": {}}'])
def test_another_shape_is_no_answer(content: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(content, a_request())


@pytest.mark.parametrize(
    ("base", "url", "variable"),
    [
        ("", "https://api.anthropic.com/v1/messages", "ANTHROPIC_API_KEY"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/messages", ""),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/messages", ""),
        ("https://gate.example/anthropic", "https://gate.example/anthropic/v1/messages", ""),
        ("https://gate.example/v1/messages?a=1", "https://gate.example/v1/messages?a=1", ""),
    ],
)
def test_where_it_is_called_and_with_whose_key(base: str, url: str, variable: str) -> None:
    driver = make(FormationSettings(driver="anthropic", model="m-1", base_url=base), {})

    assert driver.endpoint.url == url and driver.endpoint.key_variable == variable
    assert driver.id == "anthropic:m-1"


def test_a_model_must_be_named() -> None:
    with pytest.raises(ModelError, match=r"formation\.model"):
        make(FormationSettings(driver="anthropic"), {})
