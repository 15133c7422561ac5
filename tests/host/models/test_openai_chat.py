"""Chat Completions: what is sent to the vendor and to others, and what is read."""

import json
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import ChatMessage, FinishReason, ToolCall, ToolSpec, Usage
from host.models.openai_chat import decode, encode
from host.models.wire import Unreadable
from tests.support.models import SUBMIT, a_request

Json = dict[str, Any]


def sent(own: bool = False, **other: Any) -> Json:
    body: Json = json.loads(encode(a_request(**other), "m-1", own))
    return body


def an_answer(message: Json, **other: Any) -> bytes:
    choice = {"index": 0, "finish_reason": other.pop("finish_reason", "stop"), "message": message}
    return json.dumps({"model": "m-1-2026", "choices": [choice], **other}).encode()


def test_to_others_goes_the_older_dialect() -> None:
    assert sent() == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "You take notes."},
            {"role": "user", "content": "We ship on Thursdays."},
        ],
        "max_tokens": 1_000,
        "stream": False,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "submit",
                    "description": "Hand in the notes.",
                    "parameters": msgspec.to_builtins(SUBMIT.schema),
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "submit"}},
        "parallel_tool_calls": False,
    }


def test_to_the_vendor_go_strict_tools_and_the_newer_bound() -> None:
    body = sent(own=True)
    function = body["tools"][0]["function"]

    assert body["max_completion_tokens"] == 1_000 and "max_tokens" not in body
    assert function["strict"] is True and function["parameters"]["required"] == ["notes", "why"]


def test_a_tool_without_a_strict_form_is_sent_plain() -> None:
    tool = ToolSpec(name="note", description="", schema={"type": "object", "additionalProperties": True})
    function = sent(own=True, tools=(tool,), tool_choice="auto")["tools"][0]["function"]

    assert "strict" not in function and function["parameters"] == {"type": "object", "additionalProperties": True}


@pytest.mark.parametrize("own", [False, True])
def test_no_temperature_and_no_tools_where_there_are_none(own: bool) -> None:
    body = sent(own, tools=(), tool_choice="none")

    assert not {"temperature", "tools", "tool_choice", "parallel_tool_calls"} & body.keys()


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_a_choice_is_told_by_its_word(choice: str) -> None:
    assert sent(tool_choice=choice)["tool_choice"] == choice


def test_a_conversation_with_tools_is_told_turn_by_turn() -> None:
    call = ToolCall(id="c1", name="read", arguments={"id": "s1"})
    messages = (
        ChatMessage(role="user", content="Go."),
        ChatMessage(role="assistant", content="", tool_calls=(call,)),
        ChatMessage(role="tool", content="It says 记住.", tool_call_id="c1"),
    )

    assert sent(messages=messages)["messages"][1:] == [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"id":"s1"}'}}],
        },
        {"role": "tool", "content": "It says 记住.", "tool_call_id": "c1"},
    ]


def test_an_answer_is_read() -> None:
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    told = decode(an_answer({"content": "Hello."}, usage=usage), a_request(), False)

    assert told.text == "Hello." and told.finish_reason is FinishReason.STOP and told.model_id == "m-1-2026"
    assert told.usage == Usage(input_tokens=90, output_tokens=12, cached_input_tokens=64, reasoning_tokens=5)


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": 1}, {"completion_tokens": 1}, {"prompt_tokens": "1", "completion_tokens": 1}, "much"],
)
def test_counts_that_are_not_told_are_none_and_never_zero(usage: object) -> None:
    assert decode(an_answer({"content": "x"}, usage=usage), a_request(), False).usage is None


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [{"id": "c", "function": {"name": "submit", "arguments": '{"notes": []}'}}]},
        {"tool_calls": [{"function": {"name": "submit", "arguments": {"notes": []}}}]},
        {"content": "", "function_call": {"name": "submit", "arguments": '{"notes": []}'}},
    ],
    ids=["usual", "an object, and no id", "the oldest"],
)
def test_a_call_is_read_in_each_of_its_forms(message: Json) -> None:
    told = decode(an_answer(message, finish_reason="tool_calls"), a_request(), False)

    assert [(call.name, call.arguments) for call in told.tool_calls] == [("submit", {"notes": []})]
    assert told.finish_reason is FinishReason.TOOL_CALLS


def test_nulls_of_a_strict_tool_are_left_out_at_the_vendor_alone() -> None:
    call = {"id": "c", "function": {"name": "submit", "arguments": '{"notes": [], "why": null}'}}
    content = an_answer({"tool_calls": [call]}, finish_reason="tool_calls")

    assert decode(content, a_request(), True).tool_calls[0].arguments == {"notes": []}
    assert decode(content, a_request(), False).tool_calls[0].arguments == {"notes": [], "why": None}


def test_text_in_parts_is_one_text() -> None:
    told = decode(
        an_answer({"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"text": "b"}]}), a_request(), True
    )

    assert told.text == "ab"


def test_a_refusal_is_one_but_for_a_cut_answer() -> None:
    refusal = {"content": None, "refusal": "No."}

    assert decode(an_answer(refusal), a_request(), True).finish_reason is FinishReason.CONTENT_FILTER
    cut = decode(an_answer(refusal, finish_reason="length"), a_request(), True)
    assert cut.finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize("content", [b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"error": {}}', b"[]", b"1"])
def test_another_shape_is_no_answer(content: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(content, a_request(), False)
