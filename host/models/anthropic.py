"""Anthropic Messages (formation.md 4.2): one tool, one call of it, no thinking parameters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from governance.formation.contracts import ChatMessage, FinishReason, ModelRequest, ModelResponse, Usage
from host.config import FormationSettings
from host.models import key_variable
from host.models.endpoint import Endpoint, endpoint, key_of, refused
from host.models.post import post, unreadable
from host.models.wire import Answer, Called, Unreadable, counted, decoded, response

VENDOR = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"
ROUTE = "/messages"

FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
}


class _Block(msgspec.Struct):
    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: object = None


class _OutputDetails(msgspec.Struct):
    thinking_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _Message(msgspec.Struct):
    content: list[_Block]
    stop_reason: str | None = None
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, kw_only=True, slots=True)
class Anthropic:
    """A ModelDriver."""

    endpoint: Endpoint
    model: str
    environ: Mapping[str, str] = field(repr=False)  # with the key in it

    @property
    def id(self) -> str:
        return f"anthropic:{self.model}"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One call. Raises ModelError."""
        key = key_of(self.endpoint, self.environ)
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        content = await post(self.endpoint, headers, encode(request, self.model), request.timeout_ms)
        try:
            return decode(content, request)
        except Unreadable as error:
            raise unreadable(self.endpoint, str(error)) from None


def make(settings: FormationSettings, environ: Mapping[str, str]) -> Anthropic:
    """The driver of these settings. Raises ModelError (`configuration`).

    A base URL may end with the version or before it: both are in use.
    """
    if not settings.model:
        raise refused("No model is named.", "Set `formation.model` to what the provider calls it.")
    base = settings.base_url or VENDOR
    path = base.partition("?")[0].rstrip("/")
    route = ROUTE if path.endswith(("/v1", ROUTE)) else f"/v1{ROUTE}"
    return Anthropic(endpoint=endpoint(base, route, key_variable(settings)), model=settings.model, environ=environ)


def encode(request: ModelRequest, model: str) -> bytes:
    """The body of a call."""
    body: dict[str, object] = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "system": request.system,
        "messages": _merged(request.messages),
        "stream": False,
    }
    if request.tools:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": one.schema} for one in request.tools
        ]
        body["tool_choice"] = _choice(request.tool_choice)
    return msgspec.json.encode(body)


def _choice(choice: str) -> dict[str, object]:
    match choice:
        case "none":
            return {"type": "none"}
        case "auto":
            return {"type": "auto", "disable_parallel_tool_use": True}
        case _:
            return {"type": "tool", "name": choice, "disable_parallel_tool_use": True}


def _merged(messages: tuple[ChatMessage, ...]) -> list[dict[str, object]]:
    """Messages by turns: results of tools are the user's, and all that answer one turn stand in one."""
    merged = list[tuple[str, list[dict[str, object]]]]()
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        if not merged or merged[-1][0] != role:
            merged.append((role, []))
        merged[-1][1].extend(_blocks(message))
    return [{"role": role, "content": blocks} for role, blocks in merged if blocks]


def _blocks(message: ChatMessage) -> Iterator[dict[str, object]]:
    if message.role == "tool":
        yield {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": message.content}
        return
    if message.content:  # an empty text block is refused
        yield {"type": "text", "text": message.content}
    for call in message.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def decode(content: bytes, request: ModelRequest) -> ModelResponse:
    """The answer. Raises Unreadable."""
    told = decoded(content, _Message)
    calls = list[Called]()
    for block in told.content:
        if block.type == "tool_use":
            if not isinstance(block.input, dict):
                raise Unreadable("the arguments of its call are no object")
            calls.append(Called(id=block.id or "", name=block.name or "", arguments=block.input))
    answer = Answer(
        text="".join(block.text or "" for block in told.content if block.type == "text"),
        calls=calls,
        finish=FINISH.get(told.stop_reason or "", FinishReason.ERROR),
        usage=_usage(counted(told.usage, _Usage)),
        model=told.model or "",
    )
    return response(answer, request)


def _usage(told: _Usage | None) -> Usage | None:
    """What went in is what was read anew, written to the cache, and read from it."""
    if told is None or told.input_tokens is None or told.output_tokens is None:
        return None
    written, read = told.cache_creation_input_tokens or 0, told.cache_read_input_tokens
    return Usage(
        input_tokens=told.input_tokens + written + (read or 0),
        output_tokens=told.output_tokens,
        cached_input_tokens=read,
        reasoning_tokens=told.output_tokens_details.thinking_tokens if told.output_tokens_details else None,
    )
