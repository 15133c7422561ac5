"""What pydantic-ai's messages say, and how a text enters and leaves a history. Needs the framework (extra `e2e`)."""

from pathlib import Path
from typing import Any

import pytest

from host.inprocess.companion import Companion
from host.inprocess.said import Part, Placed

pytestmark = pytest.mark.client

HANDED = Placed(after="", text="a lesson")


def said(*messages: Any) -> list[tuple[Any, ...]]:
    from host.inprocess import pydantic_ai as adapter

    each = [one for message in messages for one in adapter._said(message)]
    return [(one.part, one.text, one.tool, one.ok, one.user) for one in each]


def test_messages_say_what_they_say() -> None:
    from pydantic_ai.messages import (
        ImageUrl,
        ModelRequest,
        ModelResponse,
        RetryFeedbackPart,
        RetryInfo,
        SystemPromptPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    feedback = RetryFeedbackPart("Again.", retry=RetryInfo(cause="model_retry", attempt=1, max_retries=2))
    image = ImageUrl("data:image/png;base64,AAAA")
    listed = said(
        ModelRequest(parts=[SystemPromptPart("You help."), UserPromptPart(["Put it up.", image, "Now."])]),
        ModelResponse(parts=[ThinkingPart("hm"), TextPart("I "), TextPart("will."), ToolCallPart("upload", {}, "c1")]),
        ModelRequest(parts=[ToolReturnPart("upload", "refused", "c1", outcome="failed"), feedback]),
        ModelRequest(parts=[ToolReturnPart("upload", {"up": True}, "c2")]),
    )

    assert listed == [
        (Part.PROMPT, "Put it up.\nNow.", "", None, True),
        (Part.REPLY, "I will.", "", None, True),
        (Part.CALL, "", "upload", None, True),
        (Part.RESULT, "refused", "upload", False, True),
        (Part.PROMPT, "Again.", "", None, False),
        (Part.RESULT, '{"up":true}', "upload", True, True),
    ]


class Context:
    """Stands for the framework's request context, as far as it is used."""

    def __init__(self, *messages: Any) -> None:
        self.messages = list(messages)


def test_a_text_enters_the_request_and_the_history_and_leaves_it_again() -> None:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from host.inprocess import pydantic_ai as adapter

    asked = ModelRequest(parts=[UserPromptPart("Put it up.")])
    history: list[Any] = [asked]
    context = Context(asked)

    part = adapter._put(history, context, HANDED)

    assert context.messages[-1] is history[-1] is not asked, "still one object where it was one"
    assert [one.content for one in history[-1].parts] == ["Put it up.", "a lesson"]
    assert len(asked.parts) == 1, "the caller's own object stays as it is"
    adapter._take(history, part)
    assert history == [asked]


def test_what_others_changed_in_the_request_alone_is_not_put_into_the_history() -> None:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from host.inprocess import pydantic_ai as adapter

    history: list[Any] = [ModelRequest(parts=[UserPromptPart("Put it up.")])]
    context = Context(ModelRequest(parts=[UserPromptPart("Put it up, politely.")]))

    adapter._put(history, context, HANDED)

    assert [one.content for one in history[-1].parts] == ["Put it up.", "a lesson"]
    assert [one.content for one in context.messages[-1].parts] == ["Put it up, politely.", "a lesson"]


def test_behind_an_answer_there_is_no_place() -> None:
    from pydantic_ai.messages import ModelResponse, TextPart

    from host.inprocess import pydantic_ai as adapter

    context = Context(ModelResponse(parts=[TextPart("I will.")]))
    with pytest.raises(TypeError, match="ModelResponse"):
        adapter._put([], context, HANDED)
    assert adapter._put([], context, None) is None


async def test_a_request_that_is_not_understood_goes_out_as_it_is(tmp_path: Path) -> None:
    from host.inprocess.pydantic_ai import Memory

    memory: Any = Memory(companion := Companion(tmp_path, socket=tmp_path / "s"))
    run = Context()

    async def answer(request: Any) -> Any:
        return (await memory.before_model_request(run, request), "answered")

    odd: Any = object()
    assert await memory.wrap_model_request(run, request_context=odd, handler=answer) == (odd, "answered")
    assert "AttributeError" in companion.problem
    assert memory.get_serialization_name() is None
