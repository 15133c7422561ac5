"""pydantic-ai: a capability.

    agent = Agent("anthropic:claude-sonnet-5", capabilities=[Memory(Companion(start=True))])

A text becomes a part of the newest request, behind what is in it. Once the model has answered, the message history
keeps it there: the history is all that a later run, or another process, has of a conversation, and so the text stands
at the same place in every later request. A request that fails leaves nothing behind. An agent without the capability is
left alone, one that is called by a tool too.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart

from host.frame import tags
from host.inprocess.companion import Companion
from host.inprocess.said import Listing, Part, Placed, Said, ours
from host.inprocess.turns import Turn, Turns

HOST = "pydantic-ai"


class Memory(AbstractCapability):
    """What was learned, at the step where it matters. One for any number of agents and runs."""

    def __init__(self, companion: Companion | None = None) -> None:
        super().__init__()
        self._turns = Turns(companion or Companion(), HOST, "pydantic-ai-slim")
        self._under_way: dict[
            int, Turn[UserPromptPart | None]
        ] = {}  # by the run's history: a run makes one request at a time

    def get_ordering(self) -> CapabilityOrdering:
        """Next to the model: what other capabilities add to the request stands before our text."""
        return CapabilityOrdering(position="innermost")

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """It has no form in a specification file: it holds a companion."""
        return None

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Called by the framework once a request, when it is complete."""
        turn = await self._turns.open(
            lambda: self._listing(ctx, request_context.messages),
            lambda _, handed: _put(ctx.messages, request_context, handed),
        )
        if turn is not None:
            self._under_way[id(ctx.messages)] = turn
        return request_context

    async def wrap_model_request(
        self, ctx: Any, *, request_context: Any, handler: Callable[[Any], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Called by the framework around a request, `before_model_request` included."""
        try:
            response = await handler(request_context)
        except BaseException:
            turn = self._under_way.pop(id(ctx.messages), None)
            if turn is not None:
                _take(ctx.messages, turn.request)
            self._turns.failed(turn)
            raise
        await self._turns.answered(self._under_way.pop(id(ctx.messages), None), lambda: tuple(_said(response)))
        return response

    def _listing(self, ctx: Any, messages: Sequence[ModelMessage]) -> Listing:
        texts = [_text(part) for message in messages for part in message.parts if isinstance(part, UserPromptPart)]
        anchors = tuple(tag for text in texts for tag in tags(text))
        return Listing(
            session=self._turns.session(ctx.conversation_id or ctx.run_id or ""),
            said=tuple(one for message in messages for one in _said(message)),
            anchors=anchors,
            model=ctx.model.model_name,
            placed=tuple(Placed(after=tag, text="") for tag in anchors),
            keeps=True,
        )


def _said(message: ModelMessage) -> Iterator[Said]:
    """What a message says. Instructions and reasoning are nobody's words in the conversation."""
    if isinstance(message, ModelResponse):
        texts = (part.content for part in message.parts if part.part_kind == "text")
        yield Said(part=Part.REPLY, text="".join(texts))
    for part in message.parts:
        match part.part_kind:
            case "user-prompt" if not ours(text := _text(part)):
                yield Said(part=Part.PROMPT, key=_moment(part), text=text)
            case "tool-call":
                yield Said(part=Part.CALL, key=part.tool_call_id, tool=part.tool_name, arguments=part.args)
            case "tool-return":
                text = part.content if isinstance(part.content, str) else part.model_response_str()
                ok = part.outcome == "success"
                yield Said(part=Part.RESULT, key=part.tool_call_id, tool=part.tool_name, text=text, ok=ok)
            case "retry-prompt" if part.tool_name:  # the same, of a failed call, in older versions
                text = part.content if isinstance(part.content, str) else part.model_response()
                yield Said(part=Part.RESULT, key=part.tool_call_id, tool=part.tool_name, text=text, ok=False)
            case "retry-feedback" | "retry-prompt":  # what the framework says of an answer that it cannot use
                yield Said(part=Part.PROMPT, key=_moment(part), text=str(part.content), user=False)
            case "compaction":
                yield Said(part=Part.SUMMARY, key=part.id or "", text=part.content or "")


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(
        one if isinstance(one, str) else getattr(one, "content", "") for one in part.content if _is_text(one)
    )


def _is_text(content: object) -> bool:
    return isinstance(content if isinstance(content, str) else getattr(content, "content", None), str)


def _moment(part: Any) -> str:
    return str(int(part.timestamp.timestamp() * 1_000_000))


def _put(history: list[ModelMessage], request_context: Any, handed: Placed | None) -> UserPromptPart | None:
    """Put the text behind everything in the newest request, and into the history: a result that is streamed takes that
    as it is when the stream begins. Raises TypeError when the newest message is no request: it has no place then."""
    if handed is None:
        return None
    newest, part = request_context.messages[-1], UserPromptPart(content=handed.text)
    if not isinstance(newest, ModelRequest):
        raise TypeError(f"the newest message is a {type(newest).__name__}")
    joined = _with(newest, part)
    place = max((place for place, one in enumerate(history) if isinstance(one, ModelRequest)), default=None)
    if place is not None:  # where others have changed the request alone, the history keeps its own
        history[place] = joined if history[place] is newest else _with(history[place], part)
    request_context.messages = [*request_context.messages[:-1], joined]
    return part


def _with(request: ModelRequest, part: UserPromptPart) -> ModelRequest:
    return replace(request, parts=[*request.parts, part])


def _take(history: list[ModelMessage], part: UserPromptPart | None) -> None:
    """Take the text out of the history again: its request has failed."""
    for place, message in enumerate(history):
        if any(one is part for one in message.parts):
            history[place] = replace(message, parts=[one for one in message.parts if one is not part])
