"""Responses (pure): a request into its body, an answer out of one. Nothing is stored at the provider."""

from collections.abc import Iterator

import msgspec

from governance.formation.contracts import ChatMessage, FinishReason, ModelRequest, ModelResponse, ToolSpec, Usage
from host.models.strict import strict
from host.models.wire import Answer, Called, counted, decoded, relaxed, response

ROUTE = "/responses"

INCOMPLETE = {"max_output_tokens": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    content: list[_Part] | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | dict[str, object] | None = None


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _InputDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _OutputDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Response(msgspec.Struct):
    status: str
    output: list[_Item] = []
    incomplete_details: _Incomplete | None = None
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()


def encode(request: ModelRequest, model: str, own: bool) -> bytes:
    """The body of a call. `own`: for the vendor's own endpoint."""
    body: dict[str, object] = {
        "model": model,
        "instructions": request.system,
        "input": [item for message in request.messages for item in _items(message)],
        "max_output_tokens": request.max_output_tokens,
        "store": False,
        "stream": False,
    }
    if request.tools:
        named = {"type": "function", "name": request.tool_choice}
        body["tools"] = [_tool(one, own) for one in request.tools]
        body["tool_choice"] = request.tool_choice if request.tool_choice in ("auto", "none") else named
        body["parallel_tool_calls"] = False
    return msgspec.json.encode(body)


def _items(message: ChatMessage) -> Iterator[dict[str, object]]:
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id or "", "output": message.content}
        return
    if message.content:
        yield {"role": message.role, "content": message.content}
    for call in message.tool_calls:
        arguments = msgspec.json.encode(call.arguments).decode()
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _tool(tool: ToolSpec, own: bool) -> dict[str, object]:
    narrow = strict(tool.schema) if own else None
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema if narrow is None else narrow,
        "strict": narrow is not None,  # this interface takes a tool as strict unless told
    }


def decode(content: bytes, request: ModelRequest, own: bool) -> ModelResponse:
    """The answer. Raises Unreadable."""
    told = decoded(content, _Response)
    parts = [part for item in told.output if item.type == "message" for part in item.content or ()]
    calls = [
        Called(id=item.call_id or "", name=item.name or "", arguments=item.arguments or "")
        for item in told.output
        if item.type == "function_call"
    ]
    answer = Answer(
        text="".join(part.text or "" for part in parts if part.type == "output_text"),
        calls=calls,
        finish=_finish(told, any(part.type == "refusal" for part in parts), bool(calls)),
        usage=_usage(counted(told.usage, _Usage)),
        model=told.model or "",
    )
    whole = response(answer, request)
    return relaxed(whole, request) if own else whole


def _finish(told: _Response, refuses: bool, calls: bool) -> FinishReason:
    match told.status:
        case "completed" if refuses:
            return FinishReason.CONTENT_FILTER
        case "completed":
            return FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        case "incomplete":
            why = told.incomplete_details.reason if told.incomplete_details else None
            return INCOMPLETE.get(why or "", FinishReason.ERROR)
        case _:
            return FinishReason.ERROR


def _usage(told: _Usage | None) -> Usage | None:
    if told is None or told.input_tokens is None or told.output_tokens is None:
        return None
    cached, reasoning = told.input_tokens_details, told.output_tokens_details
    return Usage(
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cached_input_tokens=cached.cached_tokens if cached else None,
        reasoning_tokens=reasoning.reasoning_tokens if reasoning else None,
    )
