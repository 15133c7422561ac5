"""A model at work with tools, until it submits (formation.md 3).

At most twelve calls a run, 180 s a call, 600 s a run. The tools write to memory only, so whatever ends the run before
`submit` leaves nothing behind: a failure, a cancellation, a cut answer, an unknown tool twice, or an end without it.
A tool that refuses says why, and the model may do better; what it is told is cleaned of secrets like all that leaves.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from governance.formation.calling import Stopped, asked
from governance.formation.contracts import (
    Cancel,
    ChatMessage,
    FinishReason,
    ModelDriver,
    ModelRequest,
    ModelResponse,
    RunError,
    ToolCall,
    ToolSpec,
    Usage,
)
from governance.formation.errors import AnswerFault, ModelError
from governance.formation.tools import SUBMIT
from governance.screen import redact
from recall.contracts import Frozen, Millis

MOST_CALLS, MOST_TOOLS = 12, 32  # calls of the model; tools used by one answer
CALL_MS, RUN_MS = 180_000, 600_000
OUTPUT_TOKENS = 8_192
UNKNOWN = 2  # the second unknown tool ends the run
CANCELLED, TIMEOUT = "cancelled", "timeout"
_BROKEN = {
    FinishReason.LENGTH: "The answer was cut at its greatest length.",
    FinishReason.CONTENT_FILTER: "The provider filtered the answer.",
    FinishReason.ERROR: "The provider ended the answer with an error.",
}


class Desk(Protocol):
    """What the tools work on."""

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...

    async def use(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        """What a tool answers. Raises AnswerFault where it refuses."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """`now`: epoch ms, asked between calls. `cancel`: calls the run off. Times in ms."""

    now: Callable[[], Millis]
    cancel: Cancel | None = None
    call_ms: int = CALL_MS
    run_ms: int = RUN_MS


class Opening(Frozen, frozen=True, kw_only=True):
    """What a run begins with. `material`: fenced, and cleaned of secrets."""

    system: str
    material: str


class Ended(Frozen, frozen=True, kw_only=True):
    """How a run ended. `error`: None when it submitted. `usage`: None when a call reported none."""

    error: RunError | None
    calls: int = 0
    usage: Usage | None = None
    model_id: str = ""


class _End(Exception):
    """The run is over without `submit`."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.error = RunError(code=code, problem=problem)


async def run(driver: ModelDriver, opening: Opening, desk: Desk, pace: Pace) -> Ended:
    """Let the model work until it submits. Everything that can go wrong with it is in the result; cancelling the task
    propagates."""
    work = _Work(driver, desk, pace)
    try:
        async with asyncio.timeout(pace.run_ms / 1000):
            await work.through(opening)
    except _End as end:
        return work.ended(end.error)
    except TimeoutError:
        return work.ended(RunError(code=TIMEOUT, problem=f"The run took longer than {pace.run_ms // 1000} s."))
    except ModelError as error:
        return work.ended(RunError(code=error.kind, problem=error.problem))
    return work.ended(None)


class _Work:
    def __init__(self, driver: ModelDriver, desk: Desk, pace: Pace) -> None:
        self._driver = driver
        self._desk = desk
        self._pace = pace
        self._known = {tool.name for tool in desk.tools}
        self._unknown = 0
        self._calls = 0
        self._reported: list[Usage | None] = []
        self._model_id = ""

    def ended(self, error: RunError | None) -> Ended:
        return Ended(error=error, calls=self._calls, usage=total(self._reported), model_id=self._model_id)

    async def through(self, opening: Opening) -> None:
        messages = [ChatMessage(role="user", content=opening.material)]
        for left in reversed(range(MOST_CALLS)):
            request = ModelRequest(
                system=opening.system,
                messages=tuple(messages),
                max_output_tokens=OUTPUT_TOKENS,
                timeout_ms=self._pace.call_ms,
                tools=self._desk.tools,
                tool_choice="auto" if left else SUBMIT,
            )
            response = await self._asked(request)
            _sound(response)
            messages.append(ChatMessage(role="assistant", content=response.text, tool_calls=response.tool_calls))
            for call in response.tool_calls:
                self._go_on()
                reply, over = await self._used(call)
                if over:
                    return
                messages.append(ChatMessage(role="tool", content=reply, tool_call_id=call.id))
        raise _End("too-many-calls", f"The model did not submit within {MOST_CALLS} calls.")

    async def _asked(self, request: ModelRequest) -> ModelResponse:
        """One call, which an event may call off."""
        self._go_on()
        self._calls += 1
        response = await asked(self._driver, request, self._pace.cancel)
        if isinstance(response, Stopped):
            raise _End(CANCELLED, "The run was called off.")
        self._reported.append(response.usage)
        self._model_id = response.model_id or self._model_id
        return response

    def _go_on(self) -> None:
        if self._pace.cancel is not None and self._pace.cancel.is_set():
            raise _End(CANCELLED, "The run was called off.")

    async def _used(self, call: ToolCall) -> tuple[str, bool]:
        """What the tool answers, and whether the run is over by that."""
        if call.name not in self._known:
            self._unknown += 1
            if self._unknown == UNKNOWN:
                raise _End("unknown-tool", "The model called a tool that there is not, for the second time.")
            known = ", ".join(sorted(self._known))
            return _refusal("unknown-tool", f"There is no tool of that name. There are {known}."), False
        try:
            reply = await self._desk.use(call.name, call.arguments)
        except AnswerFault as fault:
            return _refusal(fault.code, fault.problem), False
        return _encoded(reply), call.name == SUBMIT


def total(reported: Sequence[Usage | None]) -> Usage | None:
    """All calls together; None when there was none, or one of them reported nothing: what is not known is not 0."""
    known = [usage for usage in reported if usage is not None]
    if not known or len(known) < len(reported):
        return None
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in known),
        output_tokens=sum(usage.output_tokens for usage in known),
        cached_input_tokens=_sum([usage.cached_input_tokens for usage in known]),
        reasoning_tokens=_sum([usage.reasoning_tokens for usage in known]),
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _sound(response: ModelResponse) -> None:
    """Raises _End for an answer that nothing is done with."""
    if problem := _BROKEN.get(response.finish_reason):
        raise _End(response.finish_reason, problem)
    if not response.tool_calls:
        code = "no-submit" if response.text.strip() else "empty"
        raise _End(code, "The model ended without calling `submit`.")
    if len(response.tool_calls) > MOST_TOOLS:
        raise _End("too-many-calls", f"One answer calls more than {MOST_TOOLS} tools.")


def _refusal(code: str, problem: str) -> str:
    return _encoded({"refused": code, "problem": problem})


def _encoded(reply: Mapping[str, object]) -> str:
    return msgspec.json.encode(cleaned(reply)).decode()


def cleaned(value: object) -> object:
    """A JSON value without secrets in its texts."""
    match value:
        case str():
            return redact(value)[0]
        case Mapping():
            return {key: cleaned(item) for key, item in value.items()}
        case list() | tuple():
            return [cleaned(item) for item in value]
        case _:
            return value
