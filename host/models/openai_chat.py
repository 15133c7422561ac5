"""Chat Completions (pure): a request into its body, an answer out of one."""

import msgspec

from governance.formation.contracts import ChatMessage, FinishReason, ModelRequest, ModelResponse, ToolSpec, Usage
from host.models.strict import strict
from host.models.wire import Answer, Called, Unreadable, counted, decoded, relaxed, response

ROUTE = "/chat/completions"

FINISH = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}


class _Function(msgspec.Struct):
    name: str
    arguments: str | dict[str, object] | None = None


class _Call(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _OutputDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()


def encode(request: ModelRequest, model: str, own: bool) -> bytes:
    """The body of a call. `own`: for the vendor's own endpoint."""
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": "system", "content": request.system}, *map(_message, request.messages)],
        "max_completion_tokens" if own else "max_tokens": request.max_output_tokens,
        "stream": False,
    }
    if request.tools:
        named = {"type": "function", "function": {"name": request.tool_choice}}
        body["tools"] = [_tool(one, own) for one in request.tools]
        body["tool_choice"] = request.tool_choice if request.tool_choice in ("auto", "none") else named
        body["parallel_tool_calls"] = False
    return msgspec.json.encode(body)


def _message(message: ChatMessage) -> dict[str, object]:
    told: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        told["content"] = message.content or None
        told["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": msgspec.json.encode(call.arguments).decode()},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        told["tool_call_id"] = message.tool_call_id
    return told


def _tool(tool: ToolSpec, own: bool) -> dict[str, object]:
    function: dict[str, object] = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    narrow = strict(tool.schema) if own else None
    if narrow is not None:
        function |= {"parameters": narrow, "strict": True}
    return {"type": "function", "function": function}


def decode(content: bytes, request: ModelRequest, own: bool) -> ModelResponse:
    """The answer. Raises Unreadable."""
    told = decoded(content, _Completion)
    if not told.choices:
        raise Unreadable("its answer holds no choice")
    choice = told.choices[0]
    message = choice.message
    finish = FINISH.get(choice.finish_reason or "", FinishReason.ERROR)
    if message.refusal and finish is not FinishReason.LENGTH:
        finish = FinishReason.CONTENT_FILTER
    functions = [(call.id or "", call.function) for call in message.tool_calls or ()]
    if message.function_call is not None and not functions:
        functions = [("", message.function_call)]
    answer = Answer(
        text=_text(message.content),
        calls=[Called(id=id_, name=one.name, arguments=one.arguments or "") for id_, one in functions],
        finish=finish,
        usage=_usage(counted(told.usage, _Usage)),
        model=told.model or "",
    )
    whole = response(answer, request)
    return relaxed(whole, request) if own else whole


def _text(content: str | list[_Part] | None) -> str:
    return "".join(part.text or "" for part in content) if isinstance(content, list) else content or ""


def _usage(told: _Usage | None) -> Usage | None:
    if told is None or told.prompt_tokens is None or told.completion_tokens is None:
        return None
    cached, reasoning = told.prompt_tokens_details, told.completion_tokens_details
    return Usage(
        input_tokens=told.prompt_tokens,
        output_tokens=told.completion_tokens,
        cached_input_tokens=cached.cached_tokens if cached else None,
        reasoning_tokens=reasoning.reasoning_tokens if reasoning else None,
    )
