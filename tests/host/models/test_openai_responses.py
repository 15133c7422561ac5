"""Responses: items in, items out, nothing stored."""

import json
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import ChatMessage, FinishReason, ToolCall, ToolSpec, Usage
from host.models.openai_responses import decode, encode
from host.models.wire import Unreadable
from tests.support.models import SUBMIT, a_request

Json = dict[str, Any]
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "submit", "arguments": '{"notes":[]}'}
SAYS = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]}
REFUSES = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
REASONS = {"type": "reasoning", "summary": [], "content": None, "name": None}


def sent(own: bool = False, **other: Any) -> Json:
    body: Json = json.loads(encode(a_request(**other), "m-1", own))
    return body


def an_answer(*items: Json, **other: Any) -> bytes:
    return json.dumps({"status": "completed", "model": "m-1-2026", "output": items, **other}).encode()


def test_what_is_sent() -> None:
    assert sent() == {
        "model": "m-1",
        "instructions": "You take notes.",
        "input": [{"role": "user", "content": "We ship on Thursdays."}],
        "max_output_tokens": 1_000,
        "store": False,
        "stream": False,
        "tools": [
            {
                "type": "function",
                "name": "submit",
                "description": "Hand in the notes.",
                "parameters": msgspec.to_builtins(SUBMIT.schema),
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "submit"},
        "parallel_tool_calls": False,
    }


def test_to_the_vendor_go_strict_tools() -> None:
    (tool,) = sent(own=True)["tools"]
    assert tool["strict"] is True and tool["parameters"]["required"] == ["notes", "why"]

    plain = ToolSpec(name="note", description="", schema={"type": "object"})
    (tool,) = sent(own=True, tools=(plain,), tool_choice="auto")["tools"]
    assert tool["strict"] is False and tool["parameters"] == {"type": "object"}


def test_no_temperature_and_no_tools_where_there_are_none() -> None:
    assert (
        not {"temperature", "tools", "tool_choice", "parallel_tool_calls"} & sent(tools=(), tool_choice="none").keys()
    )
    assert sent(tool_choice="auto")["tool_choice"] == "auto" and sent(tool_choice="none")["tool_choice"] == "none"


def test_a_conversation_with_tools_is_told_item_by_item() -> None:
    call = ToolCall(id="c1", name="read", arguments={"id": "s1"})
    messages = (
        ChatMessage(role="user", content="Go."),
        ChatMessage(role="assistant", content="I read.", tool_calls=(call,)),
        ChatMessage(role="tool", content="It says.", tool_call_id="c1"),
        ChatMessage(role="assistant", content="", tool_calls=(call,)),
    )
    read = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"id":"s1"}'}

    assert sent(messages=messages)["input"] == [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "I read."},
        read,
        {"type": "function_call_output", "call_id": "c1", "output": "It says."},
        read,
    ]


@pytest.mark.parametrize(
    ("content", "finish"),
    [
        (an_answer(SAYS), FinishReason.STOP),
        (an_answer(), FinishReason.STOP),
        (an_answer(REASONS, CALL), FinishReason.TOOL_CALLS),
        (an_answer(SAYS, REFUSES), FinishReason.CONTENT_FILTER),
        (an_answer(SAYS, status="incomplete", incomplete_details={"reason": "max_output_tokens"}), FinishReason.LENGTH),
        (
            an_answer(SAYS, status="incomplete", incomplete_details={"reason": "content_filter"}),
            FinishReason.CONTENT_FILTER,
        ),
        (an_answer(SAYS, status="incomplete", incomplete_details={"reason": "steered"}), FinishReason.ERROR),
        (an_answer(SAYS, status="incomplete", incomplete_details=None), FinishReason.ERROR),
        (an_answer(status="failed", error={"code": "server_error"}), FinishReason.ERROR),
        (an_answer(status="queued"), FinishReason.ERROR),
    ],
)
def test_how_an_answer_ended(content: bytes, finish: FinishReason) -> None:
    assert decode(content, a_request(), False).finish_reason is finish


def test_an_answer_is_read() -> None:
    usage = {
        "input_tokens": 90,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    told = decode(an_answer(REASONS, SAYS, SAYS, CALL, usage=usage), a_request(), False)

    assert told.text == "Hello.Hello." and told.model_id == "m-1-2026"
    assert told.tool_calls == (ToolCall(id="c1", name="submit", arguments={"notes": []}),)
    assert told.usage == Usage(input_tokens=90, output_tokens=12, cached_input_tokens=64, reasoning_tokens=5)


def test_nulls_of_a_strict_tool_are_left_out_at_the_vendor() -> None:
    content = an_answer({**CALL, "arguments": '{"notes": [], "why": null}'})

    assert decode(content, a_request(), True).tool_calls[0].arguments == {"notes": []}


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 1}, {"input_tokens": 1, "output_tokens": None}, []])
def test_counts_that_are_not_told_are_none_and_never_zero(usage: object) -> None:
    assert decode(an_answer(SAYS, usage=usage), a_request(), False).usage is None


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"status": 1}', b'{"status": "completed", "output": [1]}'])
def test_another_shape_is_no_answer(content: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(content, a_request(), False)
