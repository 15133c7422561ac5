"""A model at work with tools: nothing counts before it submits, and whatever ends the run is said."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from governance.formation.contracts import (
    FinishReason,
    ModelRequest,
    ModelResponse,
    ToolCall,
    ToolSpec,
    Usage,
)
from governance.formation.errors import AnswerFault
from governance.formation.toolloop import MOST_CALLS, MOST_TOOLS, Ended, Opening, Pace, cleaned, run, total
from governance.formation.tools import SUBMIT, TEXT, tool
from host.models.scripted import Scripted
from tests.support.clock import FakeClock
from tests.support.drafting import call
from tests.support.noting import TOKEN, a_model

OPENING = Opening(system="Do it.", material="<material/>")


class Bench:
    """A desk that notes what was done, and refuses what is wrong."""

    tools: tuple[ToolSpec, ...] = (tool("write", "Writes.", {"text": TEXT}), tool(SUBMIT, "Ends.", {}))

    def __init__(self, reply: Mapping[str, object] | None = None) -> None:
        self.done: list[tuple[str, Mapping[str, object]]] = []
        self._reply = reply or {"ok": True}

    async def use(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
        if given.get("text") == "wrong":
            raise AnswerFault("over-limit", "It is too long.")
        self.done.append((name, given))
        return self._reply


class Turns:
    """A driver that gives whole responses, one a call."""

    id = "turns:test"

    def __init__(self, *responses: ModelResponse) -> None:
        self._responses = list(responses)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        return self._responses.pop(0)


def a_response(*names: str, **fields: Any) -> ModelResponse:
    calls = tuple(ToolCall(id=f"c{n}", name=name, arguments={"text": str(n)}) for n, name in enumerate(names))
    return ModelResponse(**({"text": "", "finish_reason": FinishReason.TOOL_CALLS, "tool_calls": calls} | fields))


def a_pace(**fields: Any) -> Pace:
    return Pace(now=FakeClock().now, **fields)


async def ran(*answers: Any, bench: Bench | None = None, **pace: Any) -> tuple[Ended, Bench, Scripted]:
    bench, model = bench or Bench(), a_model(*answers)
    return await run(model, OPENING, bench, a_pace(**pace)), bench, model


def code(ended: Ended) -> str:
    assert ended.error is not None
    return ended.error.code


async def test_the_run_is_over_when_it_submits() -> None:
    ended, bench, model = await ran(
        call("write", text="a"), call("write", text="b"), call(SUBMIT), call("write", text="c")
    )

    assert ended.error is None and ended.calls == 3 == len(model.requests)
    assert [name for name, _ in bench.done] == ["write", "write", SUBMIT]
    last = model.requests[2].messages
    assert [message.role for message in last] == ["user", "assistant", "tool", "assistant", "tool"]
    assert last[2].tool_call_id == last[1].tool_calls[0].id and json.loads(last[2].content) == {"ok": True}
    assert {one.tool_choice for one in model.requests} == {"auto"} and model.requests[0].timeout_ms == 180_000


async def test_what_a_tool_refuses_the_model_may_do_better() -> None:
    ended, bench, model = await ran(call("write", text="wrong"), call("write", text="right"), call(SUBMIT))

    assert ended.error is None and bench.done[0][1] == {"text": "right"}
    assert json.loads(model.requests[1].messages[-1].content) == {"refused": "over-limit", "problem": "It is too long."}


async def test_an_unknown_tool_is_told_once_and_ends_the_run_the_second_time() -> None:
    once, _, model = await ran(call("shell", command="ls"), call(SUBMIT))
    twice, bench, _ = await ran(call("write", text="a"), call("shell"), call("other"), call(SUBMIT))

    assert once.error is None and "submit, write" in model.requests[1].messages[-1].content
    assert (code(twice), twice.calls, len(bench.done)) == ("unknown-tool", 3, 1)


async def test_two_unknown_tools_in_one_answer_end_the_run() -> None:
    ended = await run(Turns(a_response("shell", "other", SUBMIT)), OPENING, Bench(), a_pace())

    assert code(ended) == "unknown-tool"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"text": "I am done."}, "no-submit"),
        ({"text": " "}, "empty"),
        (call(SUBMIT) | {"finish": "length"}, "length"),
        (call(SUBMIT) | {"finish": "content_filter"}, "content_filter"),
        (call(SUBMIT) | {"finish": "error"}, "error"),
        ({"error": "unavailable"}, "unavailable"),
        ({"error": "rate-limited", "retryAfterMs": 5}, "rate-limited"),
        ({"error": "configuration"}, "configuration"),
        ({"error": "protocol"}, "protocol"),
    ],
)
async def test_any_other_end_is_a_failure_that_is_named(answer: dict[str, Any], why: str) -> None:
    ended, bench, _ = await ran(call("write", text="a"), answer, call(SUBMIT))

    assert (code(ended), ended.calls) == (why, 2) and [name for name, _ in bench.done] == ["write"]


async def test_there_are_twelve_calls_and_the_last_must_submit() -> None:
    ended, _, model = await ran(*[call("write", text="a")] * (MOST_CALLS + 3))

    assert (code(ended), ended.calls, len(model.requests)) == ("too-many-calls", MOST_CALLS, MOST_CALLS)
    assert [one.tool_choice for one in model.requests[-2:]] == ["auto", SUBMIT]


async def test_one_answer_uses_a_bounded_number_of_tools() -> None:
    many = await run(Turns(a_response(*["write"] * (MOST_TOOLS + 1))), OPENING, Bench(), a_pace())
    some = await run(Turns(a_response(*["write"] * (MOST_TOOLS - 1), SUBMIT)), OPENING, Bench(), a_pace())

    assert code(many) == "too-many-calls" and some.error is None and some.calls == 1


async def test_it_is_called_off_between_and_within_calls() -> None:
    before, between, within = asyncio.Event(), asyncio.Event(), asyncio.Event()
    before.set()
    never, bench, asked = await ran(call(SUBMIT), cancel=before)
    assert (code(never), never.calls, asked.requests, bench.done) == ("cancelled", 0, [], [])

    class Stops(Bench):
        async def use(self, name: str, given: Mapping[str, object]) -> Mapping[str, object]:
            between.set()
            return await super().use(name, given)

    ended, _, _ = await ran(call("write", text="a"), call(SUBMIT), bench=Stops(), cancel=between)
    assert (code(ended), ended.calls) == ("cancelled", 1)

    model = a_model({"wait": "never", "text": ""})
    running = asyncio.ensure_future(run(model, OPENING, Bench(), a_pace(cancel=within)))
    await model.reached("never")
    within.set()
    assert code(await running) == "cancelled"


async def test_cancelling_the_task_is_not_an_answer() -> None:
    model = a_model({"wait": "never", "text": ""})
    running = asyncio.ensure_future(run(model, OPENING, Bench(), a_pace()))
    await model.reached("never")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_call_and_a_run_that_take_too_long_are_over() -> None:
    call_over, _, _ = await ran({"hang": True}, call_ms=1)
    run_over, _, _ = await ran({"hang": True}, run_ms=1)

    assert (code(call_over), code(run_over)) == ("timeout", "timeout")


async def test_what_the_model_is_told_holds_no_secret() -> None:
    _, _, model = await ran(
        call("write", text="a"), call(SUBMIT), bench=Bench({"text": f"key {TOKEN}", "all": [TOKEN]})
    )

    assert TOKEN not in model.requests[1].messages[-1].content and "[secret:" in model.requests[1].messages[-1].content
    assert cleaned({"n": 1, "deep": ({"x": TOKEN},)}) == {"n": 1, "deep": [{"x": "[secret:github-token]"}]}


async def test_usage_is_summed_and_unknown_when_one_call_reported_none() -> None:
    known = {"usage": Usage(input_tokens=5, output_tokens=2, cached_input_tokens=1)}
    both, _, _ = await ran(call("write", text="a") | known, call(SUBMIT) | known | {"model": "m-1"})
    half, _, _ = await ran(call("write", text="a") | known, call(SUBMIT))

    assert both.usage == Usage(input_tokens=10, output_tokens=4, cached_input_tokens=2) and both.model_id == "m-1"
    assert half.usage is None and total([]) is None
