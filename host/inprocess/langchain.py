"""LangChain and LangGraph: a middleware for agents that `create_agent` makes.

    memory = Memory(Companion(start=True))
    agent = create_agent("claude-sonnet-5", tools=[…], middleware=[memory])

A text is put into the request alone, as a message of the user's behind the newest one: the conversation's own messages
stay as they are. Behind which message it stands is kept in the agent's state, with its checkpoints: in every later
request of the thread it stands at the same place again, in whatever process. An agent without the middleware, a
subagent too, is left alone.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from host.inprocess.companion import Companion
from host.inprocess.said import Listing, Part, Placed, Said, numbered, ours
from host.inprocess.turns import Turn, Turns
from host.namespace import name as named
from recall.canonical import text_digest

HOST = "langchain"
KEPT = named("memory", sep="_")  # the state's key: {"session": …, "placed": […]}
SUMMARY = "summarization"  # how LangChain marks the message that stands for older ones

State = TypedDict("State", {KEPT: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]})  # type: ignore[misc]  # the key is made, as every name of ours


class Memory(AgentMiddleware):
    """What was learned, at the step where it matters. One for any number of agents and threads."""

    state_schema = State

    def __init__(self, companion: Companion | None = None) -> None:
        super().__init__()
        self._turns = Turns(companion or Companion(), HOST, "langchain")

    @property
    def name(self) -> str:
        """An agent takes no two middlewares of one name."""
        return named("memory")

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Called by the framework around each request to the model."""
        turn = self._turns.open_sync(lambda: self._listing(request), lambda *texts: _with(request, *texts))
        if turn is None:
            return handler(request)
        try:
            response = handler(turn.request)
        except BaseException:
            self._turns.failed(turn)
            raise
        self._turns.answered_sync(turn, lambda: _reply(response))
        return _kept(request, response, turn)

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """The same in an agent that is run by a loop."""
        turn = await self._turns.open(lambda: self._listing(request), lambda *texts: _with(request, *texts))
        if turn is None:
            return await handler(request)
        try:
            response = await handler(turn.request)
        except BaseException:
            self._turns.failed(turn)
            raise
        await self._turns.answered(turn, lambda: _reply(response))
        return _kept(request, response, turn)

    def _listing(self, request: ModelRequest) -> Listing:
        kept: Mapping[str, Any] = request.state.get(KEPT) or {}
        model = getattr(request.model, "model_name", None) or getattr(request.model, "model", None)
        anchors = _anchors(request.messages)
        return Listing(
            session=kept.get("session") or self._session(request, anchors),
            said=tuple(one for message in request.messages for one in _said(message)),
            anchors=anchors,
            model=model if isinstance(model, str) else "",
            placed=tuple(msgspec.convert(one, Placed) for one in kept.get("placed", ())),
        )

    def _session(self, request: ModelRequest, anchors: Sequence[str]) -> str:
        """The thread; for an agent inside another one's graph, and one without a thread, its first message, which has
        an id of its own unless the program writes it anew each time."""
        info = getattr(request.runtime, "execution_info", None)
        thread = info.thread_id if info is not None and "|" not in info.checkpoint_ns else None
        first = request.messages[0].id if request.messages else None
        return self._turns.session(str(thread or first or (anchors[0] if anchors else "")))


def _said(message: BaseMessage) -> Iterator[Said]:
    """What a message says. System messages are nobody's words in the conversation. Ids of messages are not used: a
    program that has the conversation in a store of its own gives them anew each time."""
    text = str(message.text)
    match message:
        case HumanMessage() if not ours(text):
            summary = message.additional_kwargs.get("lc_source") == SUMMARY
            yield Said(part=Part.SUMMARY if summary else Part.PROMPT, text=text)
        case AIMessage():
            yield Said(part=Part.REPLY, text=text)
            for call in message.tool_calls:
                yield Said(part=Part.CALL, key=call["id"] or "", tool=call["name"], arguments=call["args"])
        case ToolMessage():
            ok = message.status != "error"
            yield Said(part=Part.RESULT, key=message.tool_call_id, tool=message.name or "", text=text, ok=ok)


def _reply(response: Any) -> list[Said]:
    messages = response.result if isinstance(response, ModelResponse) else [response]
    return [one for message in messages if isinstance(message, AIMessage) for one in _said(message)]


def _anchors(messages: Sequence[BaseMessage]) -> tuple[str, ...]:
    return numbered([_anchor(message) for message in messages])


def _anchor(message: BaseMessage) -> str:
    """What a message is known by in later requests."""
    if isinstance(message, ToolMessage):
        return f"result:{message.tool_call_id}"
    return text_digest(f"{message.type}\0{message.text}")[:32]


def _with(request: ModelRequest, placed: Sequence[Placed], handed: Placed | None) -> ModelRequest:
    """The request with every text behind the message that was the newest when it was handed over."""
    texts = placed if handed is None else (*placed, handed)
    messages: list[BaseMessage] = []
    for anchor, message in zip(_anchors(request.messages), request.messages, strict=True):
        messages.append(message)
        messages.extend(HumanMessage(content=one.text) for one in texts if one.after == anchor)
    return request.override(messages=messages) if texts else request


def _kept(request: ModelRequest, response: Any, turn: Turn[ModelRequest]) -> Any:
    """The response, and what the state is to keep beside it."""
    session, placed = turn.talk.owner.session, [msgspec.to_builtins(one) for one in turn.talk.placed]
    kept = {"session": session, "placed": placed}
    if kept == request.state.get(KEPT) or not isinstance(response, AIMessage | ModelResponse):
        return response
    model_response = response if isinstance(response, ModelResponse) else ModelResponse(result=[response])
    return ExtendedModelResponse(model_response=model_response, command=Command(update={KEPT: kept}))
