"""What the drivers share beside the call itself (pure): the check of an answer, and what a cut one is.

A cut answer is no fault of the protocol: the cut arguments of its tool call are handed on as text, of which the answer
parser keeps what is whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from governance.formation.contracts import FinishReason, ModelRequest, ModelResponse, ToolCall, Usage
from host.models.strict import strict, without_nulls

LARGEST_ANSWER = 4 * 1024 * 1024  # bytes

Kind = TypeVar("Kind")


class Unreadable(ValueError):
    """The answer is not of the protocol: what of it is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """A tool call as it came. `arguments`: JSON text, or already an object."""

    id: str
    name: str
    arguments: str | dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer as it came."""

    text: str
    calls: Sequence[Called]
    finish: FinishReason
    usage: Usage | None
    model: str


def decoded(content: bytes, kind: type[Kind]) -> Kind:
    """The answer as `kind`. Raises Unreadable."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise Unreadable(f"its answer has another shape: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable("its answer is not JSON") from None


def counted(raw: msgspec.Raw, kind: type[Kind]) -> Kind | None:
    """What the provider counted; None: nothing, or not in numbers. Counts are no reason to lose an answer."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.DecodeError:
        return None


def response(answer: Answer, request: ModelRequest) -> ModelResponse:
    """What the pipeline gets. Raises Unreadable: the arguments of a whole answer's call are no object.

    As many tokens as were allowed is a cut answer, whatever the provider calls it.
    """
    full = answer.usage is not None and answer.usage.output_tokens >= request.max_output_tokens
    finish = FinishReason.LENGTH if full else answer.finish
    text, calls = answer.text, list[ToolCall]()
    for called in answer.calls:
        arguments = _object(called.arguments)
        if arguments is not None:
            calls.append(ToolCall(id=called.id, name=called.name, arguments=arguments))
        elif finish is FinishReason.LENGTH:
            text = str(called.arguments)
        else:
            raise Unreadable(f"the arguments of its call are no object ({len(str(called.arguments))} characters)")
    return ModelResponse(
        text=text, finish_reason=finish, tool_calls=tuple(calls), usage=answer.usage, model_id=answer.model
    )


def relaxed(whole: ModelResponse, request: ModelRequest) -> ModelResponse:
    """The response without the nulls that strict tools made it say."""
    schemas = {tool.name: tool.schema for tool in request.tools if strict(tool.schema) is not None}
    calls = [
        msgspec.structs.replace(call, arguments=without_nulls(call.arguments, schemas.get(call.name, {})))
        for call in whole.tool_calls
    ]
    return msgspec.structs.replace(whole, tool_calls=tuple(calls))


def _object(arguments: str | dict[str, object]) -> dict[str, object] | None:
    if isinstance(arguments, dict):
        return arguments
    if not arguments.strip():  # some say nothing at all for a call without arguments
        return {}
    try:
        return msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
