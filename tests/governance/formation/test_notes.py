"""A run over one window: what is sent, what is made of the answer, and what a run says about itself."""

import asyncio
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import (
    Continuation,
    ExtractL1Result,
    FinishReason,
    Limits,
    ModelResponse,
    Role,
    RunStatus,
    Usage,
)
from governance.formation.errors import AnswerFault, ParameterFault
from governance.formation.notes import (
    ALGORITHM,
    SUBMIT,
    NoteBatch,
    NoteTask,
    candidates_of,
    extract_l1,
    taken,
    task,
)
from governance.formation.prompts import Addition, load
from tests.support.clock import START, FakeClock
from tests.support.noting import (
    FORMATS,
    TOKEN,
    a_message,
    a_model,
    a_request,
    a_setting,
    a_tool,
    candidate_of,
    submits,
)

MESSAGES = (a_message(0), a_tool(1), a_message(2, role=Role.ASSISTANT), a_message(3))
REQUEST = a_request(*MESSAGES)


async def run(*answers: dict[str, Any], request: Any = REQUEST, **setting: Any) -> ExtractL1Result:
    return await extract_l1(a_model(*answers), request, a_setting(**setting))


async def test_a_run_asks_once_and_tells_what_it_was_made_of() -> None:
    model = a_model(submits(candidate_of(MESSAGES[0]), usage={"inputTokens": 9, "outputTokens": 2}))
    clock = FakeClock()
    result = await extract_l1(model, REQUEST, a_setting(now=clock.now))
    (sent,) = model.requests
    assert (sent.tools, sent.tool_choice, sent.system) == ((SUBMIT,), "submit", load("notes@1").text)
    assert (sent.max_output_tokens, sent.timeout_ms) == (8192, 180_000)
    assert "CANARY" not in sent.messages[0].content and "m2" in sent.messages[0].content
    assert result.status is RunStatus.COMPLETED and result.continuation is None and result.error is None
    made = result.provenance
    assert (made.algorithm_version, made.model_id, made.prompt_id, made.calls) == (ALGORITHM, model.id, "notes@1", 1)
    assert (made.usage, made.started_at, made.finished_at) == (Usage(input_tokens=9, output_tokens=2), START, START)
    assert (made.prompt_hash, len(made.input_hash)) == (load("notes@1").sha256, 64)
    assert made.prompt == load("notes@1").use
    assert result.unrepresented_source_ids == ("m2", "m3")
    assert result.promotion == "manual_review_required"
    assert result.packet is not None and result.changes[0].after.evidence_digest == result.packet.evidence_digest


async def test_json_text_is_taken_where_no_tool_was_called() -> None:
    result = await run({"json": {"notes": [candidate_of(MESSAGES[0])]}})
    assert len(result.changes) == 1 and result.provenance.usage is None


async def test_nothing_found_is_a_good_answer() -> None:
    result = await run(submits())
    assert (result.status, result.changes, result.rejected) == (RunStatus.COMPLETED, (), ())


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"text": "I would rather talk about the code."}, "schema"),
        ({"tool": "submit", "arguments": {"notes": "none"}}, "schema"),
        ({"tool": "search", "arguments": {"notes": []}}, "schema"),
        ({"json": {"notes": 3}}, "schema"),
        (submits(finish="length"), "length"),
        ({"text": '{"notes": [{"kind": "fact"}, {"ki'}, "length"),
        ({"text": "", "finish": "content_filter"}, "content_filter"),
        ({"text": "", "finish": "error"}, "error"),
        ({"error": "rate-limited"}, "rate-limited"),
        ({"error": "unavailable"}, "unavailable"),
        ({"error": "configuration"}, "configuration"),
        ({"error": "protocol"}, "protocol"),
        ({"error": "timeout"}, "timeout"),
    ],
)
async def test_a_run_that_fails_changes_nothing_and_says_why(answer: dict[str, Any], code: str) -> None:
    result = await run(answer, request=a_request(*MESSAGES, max_new_messages=1))
    assert (result.status, result.error and result.error.code) == (RunStatus.FAILED, code)
    assert (result.changes, result.continuation, result.packet, result.rejected) == ((), None, None, ())
    assert (result.coverage.from_, result.coverage.through, result.provenance.calls) == (0, 0, 1)


async def test_a_hanging_model_times_out() -> None:
    result = await run({"hang": True}, request=a_request(*MESSAGES, limits=Limits(timeout_ms=5)))
    assert (result.status, result.error and result.error.code) == (RunStatus.FAILED, "timeout")


async def test_a_run_that_is_called_off_is_cancelled() -> None:
    cancel, model = asyncio.Event(), a_model({"wait": "gate", **submits()})
    running = asyncio.ensure_future(extract_l1(model, REQUEST, a_setting(cancel=cancel)))
    await model.reached("gate")
    cancel.set()
    result = await running
    assert (result.status, result.changes, result.continuation) == (RunStatus.CANCELLED, (), None)
    assert result.provenance.calls == 1
    again = await extract_l1(model, REQUEST, a_setting(cancel=cancel))
    assert (again.status, again.provenance.calls) == (RunStatus.CANCELLED, 0)


async def test_a_cancelled_task_is_cancelled_as_usual() -> None:
    model = a_model({"wait": "gate", **submits()})
    running = asyncio.ensure_future(extract_l1(model, REQUEST, a_setting()))
    await model.reached("gate")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_without_anything_to_send_nobody_is_asked() -> None:
    model = a_model()
    for messages in ((), (a_tool(1), a_message(2, " "))):
        result = await extract_l1(model, a_request(*messages), a_setting())
        assert (result.status, result.coverage.through) == (RunStatus.COMPLETED, len(messages))
        assert (result.provenance.calls, result.provenance.usage, result.packet) == (0, None, None)
    assert model.requests == []


async def test_a_window_that_is_too_long_is_never_sent() -> None:
    model = a_model()
    request = a_request(a_message(1, "x" * 11), limits=Limits(max_input_chars=10))
    result = await extract_l1(model, request, a_setting())
    assert (result.error and result.error.code, model.requests) == ("message-over-budget", [])


async def test_a_bad_request_raises_before_any_call() -> None:
    model = a_model()
    with pytest.raises(ParameterFault):
        await extract_l1(model, {"runId": "r", "mode": "chat"}, a_setting())
    with pytest.raises(ParameterFault):
        await extract_l1(model, a_request(a_message(1), a_message(1)), a_setting())
    assert model.requests == []


async def test_only_the_continuation_says_go_on_and_it_goes_on_where_it_ended() -> None:
    request = a_request(*MESSAGES, max_new_messages=2)
    first = await run(submits(candidate_of(MESSAGES[0])), request=request)
    assert (first.status, first.coverage.through, first.coverage.remaining) == (RunStatus.PARTIAL, 3, 1)
    assert first.continuation is not None and first.continuation.format == FORMATS.continuation
    going_on = msgspec.structs.replace(request, continuation=first.continuation)
    second = await run(submits(), request=going_on)
    assert (second.status, second.coverage.from_, second.coverage.new_ids) == (RunStatus.COMPLETED, 3, ("m3",))
    assert second.coverage.background_ids == ("m0", "m2")
    read_again = msgspec.json.decode(msgspec.json.encode(first.continuation), type=Continuation)
    assert read_again == first.continuation


async def test_a_rejection_alone_makes_a_run_partial_without_a_continuation() -> None:
    result = await run(submits(candidate_of(MESSAGES[0]), "junk"))
    assert (result.status, result.continuation, len(result.changes)) == (RunStatus.PARTIAL, None, 1)


@pytest.mark.parametrize("place", [-1, 99, 2**40])
async def test_a_continuation_from_nowhere_is_refused(place: int) -> None:
    request = a_request(*MESSAGES, max_new_messages=2)
    first = await run(submits(), request=request)
    assert first.continuation is not None
    moved = msgspec.structs.replace(first.continuation, next_index=place)
    result = await run(request=msgspec.structs.replace(request, continuation=moved))
    assert result.error is not None and (result.error.code, result.error.field) == (
        "continuation-mismatch",
        "nextIndex",
    )


async def test_another_prompt_or_algorithm_is_another_run() -> None:
    request = a_request(*MESSAGES, max_new_messages=2)
    first = await run(submits(), request=request)
    assert first.continuation is not None
    going_on = msgspec.structs.replace(request, continuation=first.continuation)
    added = load("notes@1", Addition(source="user", text="Only builds."))
    other = await run(request=going_on, prompt=added)
    assert other.error is not None and other.error.field == "promptHash"
    older = msgspec.structs.replace(first.continuation, algorithm_version="notes_pre_v0")
    other = await run(request=msgspec.structs.replace(request, continuation=older))
    assert other.error is not None and other.error.field == "algorithmVersion"


async def test_secrets_leave_nothing_in_what_is_sent() -> None:
    model = a_model(submits())
    await extract_l1(model, a_request(a_message(1, f"The token is {TOKEN}, keep it.")), a_setting())
    assert TOKEN not in msgspec.json.encode(model.requests[0]).decode()
    assert "[secret:" in model.requests[0].messages[0].content


def handed(request: Any = REQUEST, **setting: Any) -> NoteTask:
    made = task(request, a_setting(**setting), "claude-code", "task_1")
    assert isinstance(made, NoteTask)
    return made


def answer(of: NoteTask, *notes: object, **fields: Any) -> dict[str, Any]:
    return {"format": FORMATS.batch, "taskId": of.task_id, "binding": of.binding, "notes": list(notes)} | fields


def test_a_task_shows_the_window_and_how_to_answer() -> None:
    made = handed()
    assert (made.format, made.contract["format"], made.task_id) == (FORMATS.task, FORMATS.batch, "task_1")
    assert made.instructions == load("notes@1").text
    assert "m2" in made.packet.material and "CANARY" not in made.packet.material
    assert TOKEN not in handed(a_request(a_message(1, f"token {TOKEN}"))).packet.material


def test_what_an_agent_noted_is_judged_like_a_models_answer() -> None:
    batch = answer(handed(), candidate_of(MESSAGES[0]), "junk", candidate_of(MESSAGES[0], content="There are 7 steps."))
    result = taken(REQUEST, batch, a_setting(), "claude-code")
    (note,) = [change.after for change in result.changes]
    assert (note.author, result.status) == ("agent", RunStatus.PARTIAL)
    assert [one.index for one in result.rejected][:1] == [1]
    made = result.provenance
    assert (made.model_id, made.calls, made.usage) == ("agent:claude-code", 0, None)
    typed = msgspec.convert(batch, NoteBatch)
    assert taken(REQUEST, typed, a_setting(), "claude-code").changes == result.changes


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"format": "other@v1"}, "schema"),
        ({"notes": "none"}, "schema"),
        ({"binding": "0" * 64}, "task-stale"),
        ({"binding": None}, "schema"),
    ],
)
def test_a_batch_that_does_not_fit_its_task_changes_nothing(fields: dict[str, Any], code: str) -> None:
    result = taken(REQUEST, answer(handed(), candidate_of(MESSAGES[0]), **fields), a_setting(), "codex")
    assert (result.status, result.error and result.error.code, result.changes) == (RunStatus.FAILED, code, ())


def test_a_batch_of_other_evidence_is_stale() -> None:
    batch = answer(handed(), candidate_of(MESSAGES[0]))
    edited = msgspec.structs.replace(MESSAGES[3], content="Edited afterwards.")
    for request in (
        a_request(*MESSAGES[:3], edited),
        a_request(*MESSAGES, max_background_messages=1),
        a_request(*MESSAGES, start_index=2),
        a_request(*MESSAGES, stream_id="s-two"),
        a_request(*MESSAGES, scope_key="ws_two"),
    ):
        result = taken(request, batch, a_setting(), "claude-code")
        assert result.error is not None and result.error.code == "task-stale"
    unchanged = taken(a_request(*MESSAGES, run_id="r2"), batch, a_setting(), "codex")
    assert unchanged.status is RunStatus.COMPLETED


def test_an_agents_run_goes_on_like_a_models() -> None:
    request = a_request(*MESSAGES, max_new_messages=1)
    first = taken(request, answer(handed(request)), a_setting(), "claude-code")
    assert first.continuation is not None
    going_on = msgspec.structs.replace(request, continuation=first.continuation)
    second = taken(going_on, answer(handed(going_on)), a_setting(), "claude-code")
    assert second.coverage.new_ids == ("m2",)
    other = taken(going_on, answer(handed(going_on)), a_setting(), "codex")
    assert other.error is not None and other.error.field == "modelId"


def test_there_is_no_task_where_there_is_nothing_to_note() -> None:
    for request, status in [
        (a_request(a_tool(1)), RunStatus.COMPLETED),
        (a_request(a_message(1, "x" * 20), limits=Limits(max_input_chars=10)), RunStatus.FAILED),
    ]:
        result = task(request, a_setting(), "claude-code", "task_1")
        assert isinstance(result, ExtractL1Result) and result.status is status
        batch = {"format": FORMATS.batch, "taskId": "t", "binding": "", "notes": []}
        assert taken(request, batch, a_setting(), "codex").status is status


def test_the_notes_of_an_answer_are_a_list() -> None:
    def said(text: str) -> ModelResponse:
        return ModelResponse(text=text, finish_reason=FinishReason.STOP)

    assert candidates_of(said('{"notes": [1]}')) == [1]
    for text in ('{"notes": {}}', '{"notes": "none"}'):
        with pytest.raises(AnswerFault) as fault:
            candidates_of(said(text))
        assert fault.value.code == "schema"
