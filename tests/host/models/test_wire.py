"""The check of an answer: arguments that are objects, counts that are numbers, and what a cut answer is."""

import msgspec
import pytest

from governance.formation.contracts import FinishReason, ToolCall, Usage
from host.models.wire import Answer, Called, Unreadable, counted, decoded, relaxed, response
from tests.support.models import a_request


class Shape(msgspec.Struct):
    number: int


def an_answer(arguments: object, finish: FinishReason = FinishReason.TOOL_CALLS, **other: object) -> Answer:
    given: dict[str, object] = {"text": "", "usage": None, "model": "m"}
    called = Called(id="1", name="submit", arguments=arguments)  # type: ignore[arg-type]  # what came in
    return Answer(calls=[called], finish=finish, **{**given, **other})  # type: ignore[arg-type]


def test_arguments_are_read() -> None:
    for arguments in ('{"notes": ["x"]}', {"notes": ["x"]}):
        told = response(an_answer(arguments), a_request())
        assert told.tool_calls == (ToolCall(id="1", name="submit", arguments={"notes": ["x"]}),)

    assert response(an_answer(""), a_request()).tool_calls[0].arguments == {}


@pytest.mark.parametrize("arguments", ["[]", "null", "1", '"x"', "{", '{"notes": [}', "[" * 5_000, '{"a": "\\ud800"}'])
def test_arguments_that_are_no_object_are_a_fault_of_the_protocol(arguments: str) -> None:
    with pytest.raises(Unreadable, match="no object") as caught:
        response(an_answer(arguments), a_request())

    assert "notes" not in str(caught.value) and "[[" not in str(caught.value)


def test_the_cut_arguments_of_a_cut_answer_are_handed_on_as_text() -> None:
    told = response(an_answer('{"notes": ["one", "tw', FinishReason.LENGTH), a_request())

    assert told.text == '{"notes": ["one", "tw' and told.tool_calls == () and told.finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize("finish", list(FinishReason))
def test_as_many_tokens_as_were_allowed_is_a_cut_answer(finish: FinishReason) -> None:
    at = Usage(input_tokens=1, output_tokens=1_000)
    below = Usage(input_tokens=1, output_tokens=999)

    assert response(an_answer("{}", finish, usage=at), a_request()).finish_reason is FinishReason.LENGTH
    assert response(an_answer("{}", finish, usage=below), a_request()).finish_reason is finish


def test_the_nulls_of_strict_tools_are_left_out() -> None:
    told = response(an_answer({"notes": [], "why": None}), a_request())

    assert relaxed(told, a_request()).tool_calls[0].arguments == {"notes": []}
    other = msgspec.structs.replace(told.tool_calls[0], name="other")
    kept = msgspec.structs.replace(told, tool_calls=(other,))
    assert relaxed(kept, a_request()) == kept


@pytest.mark.parametrize("content", [b"", b"<html>", b'{"number": 1', b"\xff", b"{" + b'"a":[' + b"[" * 100_000])
def test_what_is_not_json_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(Unreadable, match="not JSON"):
        decoded(content, Shape)


def test_another_shape_is_named_by_its_place() -> None:
    with pytest.raises(Unreadable, match=r"\$\.number"):
        decoded(b'{"number": "a secret"}', Shape)

    assert decoded(b'{"number": 1, "more": 2}', Shape) == Shape(1)


@pytest.mark.parametrize("raw", [b"", b"null", b'{"number": "x"}', b"[]"])
def test_counts_that_are_none_are_none(raw: bytes) -> None:
    assert counted(msgspec.Raw(raw), Shape) is None


def test_counts_are_read() -> None:
    assert counted(msgspec.Raw(b'{"number": 7}'), Shape) == Shape(7)
