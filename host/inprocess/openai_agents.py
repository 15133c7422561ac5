"""OpenAI Agents: an input filter and run hooks in one object, for one conversation.

    memory = Memory(Companion(start=True))
    result = await Runner.run(agent, "…", run_config=memory.run_config(), hooks=memory)

A text is put into the request alone, as an input item of the user's behind the newest one: what the SDK keeps of the
conversation stays as it is. In every later request of the conversation it stands at the same place again, for as long
as this object lives; one that is made anew begins a new context window. An agent that is called as a tool inherits the
run's filter and is left alone all the same.
"""

import asyncio
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents import RunConfig, RunHooks, default_tool_error_function
from agents.run_config import CallModelData, ModelInputData

from host.inprocess.companion import Companion
from host.inprocess.said import Listing, Part, Placed, Said, numbered, ours
from host.inprocess.turns import Turn, Turns
from recall.canonical import text_digest

HOST = "openai-agents"
# The SDK gives the model an error's text in place of a result, and says nowhere that it is one. How such texts begin:
ERRORS = re.compile(
    r"\s*(?:error\b|exception\b|failed\b|failure\b|traceback \(most recent|\w+(?:Error|Exception):)", re.I
)
RESULT = "_call_output"  # how the types of results end
Item = Mapping[str, Any]


class Memory(RunHooks):
    """What was learned, at the step where it matters, in one conversation: one run at a time."""

    def __init__(self, companion: Companion | None = None, session: str = "") -> None:
        """`session`: the conversation's own id; empty: one is made."""
        super().__init__()
        self._turns = Turns(companion or Companion(), HOST, "openai-agents")
        self._session = self._turns.session(session)
        self._turn: Turn[list[Any]] | None = None
        self._open: frozenset[str] = frozenset()  # calls that the model has made, and whose results it has not seen
        self._task: asyncio.Task[Any] | None = None
        self._failed = default_tool_error_function(None, Exception())

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """A run configuration with the filter in it. One that `config` has goes first."""
        config = config or RunConfig()
        own = config.call_model_input_filter

        async def both(data: CallModelData) -> ModelInputData:
            if own is not None:
                given = own(data)
                data = replace(data, model_data=await given if inspect.isawaitable(given) else given)
            return await self.filter(data)

        return replace(config, call_model_input_filter=both)

    async def filter(self, data: CallModelData) -> ModelInputData:
        """Called by the framework before each request to the model."""
        items = data.model_data.input
        if self._open and not self._open & {str(_field(item, "call_id")) for item in items if _is_result(item)}:
            return data.model_data  # an agent that one of those calls runs
        self._open = frozenset()
        if self._turn is not None and _moved_on(items, self._turn.handed):  # a run without our hooks
            before, self._turn = self._turn, None
            await self._turns.answered(before, tuple)
        self._give_up()
        turn = await self._turns.open(lambda: self._listing(data), lambda *texts: _with(items, *texts))
        if turn is None:
            return data.model_data
        self._turn = turn
        self._watch()
        return ModelInputData(input=turn.request, instructions=data.model_data.instructions)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """Called by the framework when a run begins, and after a handoff."""
        self._open = frozenset()
        self._give_up()

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Called by the framework when the model has answered."""
        turn, self._turn = self._turn, None
        said: list[Said] = []

        def reply() -> list[Said]:
            said.extend(one for item in response.output for one in self._said(item))
            return said

        await self._turns.answered(turn, reply)
        self._open = frozenset(one.key for one in said if one.part is Part.CALL)

    def _watch(self) -> None:
        """A task that ends with a request under way has seen it fail: no hook is called for that."""
        task = asyncio.current_task()
        if task is not None and task is not self._task:
            self._task = task
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        if task is self._task:
            self._task = None
            self._give_up()

    def _give_up(self) -> None:
        """What was handed over and never answered waits again."""
        turn, self._turn = self._turn, None
        self._turns.failed(turn)

    def _listing(self, data: CallModelData) -> Listing:
        items = data.model_data.input
        model = data.agent.model
        return Listing(
            session=self._session,
            said=tuple(one for item in items for one in self._said(item)),
            anchors=_anchors(items),
            model=model if isinstance(model, str) else getattr(model, "model", None) or "",
            whole=False,  # the server may keep the rest
        )

    def _said(self, item: Any) -> Iterator[Said]:
        """What an item says. Instructions, reasoning and what the server runs itself are left out."""
        kind, call_id = str(_field(item, "type") or "message"), str(_field(item, "call_id") or "")
        match kind:
            case "message" if _field(item, "role") in ("user", "assistant"):
                text = _text(_field(item, "content"))
                if not ours(text):
                    yield Said(part=Part.PROMPT if _field(item, "role") == "user" else Part.REPLY, text=text)
            case "compaction":
                yield Said(part=Part.SUMMARY, key=str(_field(item, "id") or ""))
            case _ if call_id and _is_result(item):
                output = _field(item, "output")
                text = _text(output)
                ok = not (text.startswith(self._failed) or ERRORS.match(text) or _exits_badly(output))
                yield Said(part=Part.RESULT, key=call_id, text=text, ok=ok)
            case _ if call_id and kind.endswith("_call"):
                given = (_field(item, name) for name in ("arguments", "input", "action", "operation"))
                arguments: Any = next((one for one in given if one), None)
                plain = arguments.model_dump() if hasattr(arguments, "model_dump") else arguments
                tool = str(_field(item, "name") or kind.removesuffix("_call"))
                yield Said(part=Part.CALL, key=call_id, tool=tool, arguments=plain)


def _field(item: Any, name: str) -> Any:
    """A field of an item, be it the dictionary of an input or the object of an output."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _is_result(item: Any) -> bool:
    return str(_field(item, "type")).endswith(RESULT)


def _text(content: Any) -> str:
    """The text of a message or of a result; of a shell's, what it printed."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = (_field(part, name) for part in parts for name in ("text", "stdout", "stderr"))
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _exits_badly(output: Any) -> bool:
    """Whether one of a shell's commands ended with another code than 0."""
    parts = output if isinstance(output, list | tuple) else ()
    return any(_field(_field(part, "outcome"), "exit_code") not in (None, 0) for part in parts)


def _anchors(items: Sequence[Any]) -> tuple[str, ...]:
    return numbered([_anchor(item) for item in items])


def _anchor(item: Any) -> str:
    """What an item is known by in later requests: a call's id, else what it says."""
    if call_id := _field(item, "call_id"):
        return f"{_field(item, 'type')}:{call_id}"
    text = _text(_field(item, "content"))
    return text_digest(f"{_field(item, 'type')}\0{_field(item, 'role')}\0{text}")[:32]


def _moved_on(items: Sequence[Any], handed: Placed | None) -> bool:
    """Whether the model has answered since: what it said stands behind the place, or the place was sent long ago."""
    anchors = _anchors(items)
    if handed is None or handed.after not in anchors:
        return True
    since = items[anchors.index(handed.after) + 1 :]
    return any(_field(item, "role") == "assistant" or _is_result(item) for item in since)


def _with(items: Sequence[Any], placed: Sequence[Placed], handed: Placed | None) -> list[Any]:
    """The items with every text behind the one that was the newest when it was handed over."""
    texts = placed if handed is None else (*placed, handed)
    whole: list[Any] = []
    for anchor, item in zip(_anchors(items), items, strict=True):
        whole.append(item)
        whole.extend({"role": "user", "content": one.text} for one in texts if one.after == anchor)
    return whole
