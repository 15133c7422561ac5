"""What LangChain's messages say, and where a text comes to stand among them. Needs the framework (extra `e2e`)."""

from pathlib import Path
from typing import Any

import pytest

from host.inprocess.companion import Companion
from host.inprocess.said import Part, Placed

pytestmark = pytest.mark.client


def said(*messages: Any) -> list[tuple[Any, ...]]:
    from host.inprocess import langchain as adapter

    each = [one for message in messages for one in adapter._said(message)]
    return [(one.part, one.key, one.text, one.tool, one.ok) for one in each]


def test_messages_say_what_they_say() -> None:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    call = {"name": "upload", "args": {"name": "a.zip"}, "id": "c1"}
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    listed = said(
        SystemMessage("You help."),
        HumanMessage("Put it up.", id="h1"),
        AIMessage([thought, {"type": "text", "text": "I will."}], tool_calls=[call]),
        ToolMessage("refused", tool_call_id="c1", name="upload", status="error"),
        ToolMessage([{"type": "text", "text": "fine"}], tool_call_id="c2", name="upload"),
    )

    assert listed == [
        (Part.PROMPT, "", "Put it up.", "", None),
        (Part.REPLY, "", "I will.", "", None),
        (Part.CALL, "c1", "", "upload", None),
        (Part.RESULT, "c1", "refused", "upload", False),
        (Part.RESULT, "c2", "fine", "upload", True),
    ]


def test_a_summary_is_nobodys_prompt() -> None:
    from langchain_core.messages import HumanMessage

    summary = HumanMessage("So far…", id="s1", additional_kwargs={"lc_source": "summarization"})

    assert said(summary) == [(Part.SUMMARY, "", "So far…", "", None)]


def test_a_text_stands_behind_its_message_and_nowhere_else() -> None:
    from langchain.agents.middleware.types import ModelRequest
    from langchain_core.messages import AIMessage, HumanMessage

    from host.inprocess import langchain as adapter

    messages = [HumanMessage("One.", id="h1"), AIMessage("Two."), HumanMessage("Three.", id="h2")]
    model: Any = None
    request = ModelRequest(model=model, messages=list(messages))
    first, _, last = adapter._anchors(messages)
    earlier, gone = Placed(after=first, text="early"), Placed(after="h0", text="gone")
    now = Placed(after=last, text="now")

    whole = adapter._with(request, [earlier, gone], now)

    assert [message.text for message in whole.messages] == ["One.", "early", "Two.", "Three.", "now"]
    assert [message.type for message in whole.messages] == ["human", "human", "ai", "human", "human"]
    assert request.messages == messages, "the framework's own list stays as it is"
    assert adapter._with(request, [], None) is request


def test_a_request_that_is_not_understood_goes_out_as_it_is(tmp_path: Path) -> None:
    from host.inprocess.langchain import Memory

    odd: Any = object()
    memory = Memory(companion := Companion(tmp_path, socket=tmp_path / "s"))

    assert memory.wrap_model_call(odd, lambda request: (request, "answered")) == (odd, "answered")
    assert "AttributeError" in companion.problem
