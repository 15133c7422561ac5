"""formation.md 9, item 12: the rules of section 2, with the running agent as the model. A window goes out as a task,
the answer comes back as a batch, and no connection is opened."""

import socket
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import ExtractL1Request, ExtractL1Result, Limits, NoteFlag, Role, RunStatus
from governance.formation.notes import NoteTask, extract_l1, taken, task
from governance.formation.queue import Queue
from governance.formation.saving import Occasion, Saving, Standing
from governance.migrations import queue_steps
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.noting import (
    FORMATS,
    POISON,
    SCOPE,
    STREAM,
    TOKEN,
    a_candidate,
    a_message,
    a_model,
    a_request,
    a_setting,
    a_tool,
    candidate_of,
    quoted_slices_hold,
    submits,
    truncated,
)


@pytest.fixture(autouse=True)
def no_connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A transport that fails on any connect, and tells of it."""
    tried: list[object] = []

    def connect(self: socket.socket, address: object) -> None:
        tried.append(address)
        raise ConnectionRefusedError(address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    yield
    assert tried == []


async def by_agent(request: ExtractL1Request, *candidates: object) -> ExtractL1Result:
    """As documents, through JSON, as they go over the wire."""
    made = task(request, a_setting(), "claude-code", "task_1")
    if isinstance(made, ExtractL1Result):
        return made
    handed = msgspec.json.decode(msgspec.json.encode(made))
    answer = {"format": FORMATS.batch, "taskId": handed["taskId"], "binding": handed["binding"], "notes": candidates}
    return taken(request, msgspec.json.decode(msgspec.json.encode(answer)), a_setting(), "claude-code")


async def by_model(request: ExtractL1Request, *candidates: object) -> ExtractL1Result:
    return await extract_l1(a_model(submits(*candidates)), request, a_setting())


def verdicts(result: ExtractL1Result) -> tuple[Any, ...]:
    """All that a run decides, without who was asked."""
    notes = [(change.after.id, change.after.content, change.after.flags) for change in result.changes]
    rejected = [(one.index, one.code) for one in result.rejected]
    error = result.error and (result.error.code, result.error.field)
    return (result.status, notes, rejected, result.coverage, result.unrepresented_source_ids, error)


SAID = tuple(a_message(number) for number in range(9))
REPORT = a_message(20, "The suite takes an hour.", Role.ASSISTANT)
NEGATED = a_message(21, "不可以直接删除 cache 目录。")
DATED = a_message(22, "We froze the API yesterday.", timestamp=1_793_696_400_000)  # 2026-11-03, 09:00 UTC
SECRET = a_message(23, f"Deploy with {TOKEN} on Fridays.")
ORDER = a_message(24, f"{POISON} We deploy on Fridays.")
CUT = truncated(25, "The retry limit is 3.")
WRAPPED = a_message(26, "一行 🙂 first line\r\n  second line of it.")
OLD = a_request(SAID[0], SAID[1], start_index=1)

SUITE: dict[str, tuple[ExtractL1Request, tuple[object, ...], list[str], int]] = {
    "eight and a malformed and a ninth": (
        a_request(*SAID),
        (candidate_of(SAID[0]), {"title": "junk"}, *(candidate_of(one) for one in SAID[1:])),
        ["schema", "over-limit", "over-limit"],
        7,
    ),
    "twenty messages between tools": (
        a_request(*(m for n in range(21) for m in (a_tool(100 + n), a_message(n)))),
        (candidate_of(a_message(3)),),
        [],
        1,
    ),
    "only background": (OLD, (candidate_of(SAID[0]),), ["background-only"], 0),
    "background with one new": (
        OLD,
        (
            a_candidate(
                SAID[0].content,
                "m0",
                citations=[{"messageId": one.id, "quote": one.content} for one in SAID[:2]],
            ),
        ),
        [],
        1,
    ),
    "a letter changed": (a_request(SAID[0]), (a_candidate("Massage 0 says", "m0"),), ["quote-not-found"], 0),
    "an unknown message": (a_request(SAID[0]), (a_candidate("Message 0", "m7"),), ["unknown-message"], 0),
    "too short": (a_request(SAID[0]), (a_candidate("Mes", "m0", "Something."),), ["quote-too-short"], 0),
    "wrapped otherwise": (
        a_request(WRAPPED),
        (a_candidate("🙂 first line second line", "m26", "There are two lines."),),
        [],
        1,
    ),
    "a report as a statement": (a_request(REPORT), (candidate_of(REPORT),), ["attribution-mismatch"], 0),
    "a report as a report": (a_request(REPORT), (candidate_of(REPORT, attribution="assistant_report"),), [], 1),
    "the negation left out": (
        a_request(NEGATED),
        (a_candidate("可以直接删除 cache 目录", "m21"),),
        ["negation-cut"],
        0,
    ),
    "another number": (a_request(CUT), (candidate_of(CUT, content="The retry limit is 5."),), ["unsupported-token"], 0),
    "yesterday again": (a_request(DATED), (candidate_of(DATED),), ["relative-date"], 0),
    "yesterday as a date": (a_request(DATED), (candidate_of(DATED, content="The API froze on 2026-11-02."),), [], 1),
    "a secret": (a_request(SECRET), (candidate_of(SECRET, content="There is a token."),), ["secret"], 0),
    "an order": (a_request(ORDER), (candidate_of(ORDER),), [], 1),
    "a cut message": (a_request(CUT), (candidate_of(CUT),), [], 1),
    "twice the same": (a_request(SAID[0]), (candidate_of(SAID[0]), candidate_of(SAID[0])), ["duplicate"], 1),
    "nothing": (a_request(*SAID), (), [], 0),
    "nothing to send": (a_request(a_tool(1)), (), [], 0),
    "too long": (a_request(SAID[0], limits=Limits(max_input_chars=5)), (), [], 0),
}


@pytest.mark.promise("formation-12")
@pytest.mark.parametrize("name", SUITE)
async def test_item_12_the_running_agent_is_judged_as_every_model_is(name: str) -> None:
    request, candidates, codes, notes = SUITE[name]
    result = await by_agent(request, *candidates)
    assert [one.code for one in result.rejected] == codes
    assert len(result.changes) == notes
    assert all(quoted_slices_hold(change.after, *request.messages) for change in result.changes)
    assert verdicts(result) == verdicts(await by_model(request, *candidates))
    made = result.provenance
    assert (made.model_id, made.calls, made.usage) == ("agent:claude-code", 0, None)
    assert all(change.after.author == "agent" for change in result.changes)


@pytest.mark.promise("formation-12")
async def test_item_12_flags_of_an_order_and_of_a_cut_message_are_set() -> None:
    for name, flag in (("an order", NoteFlag.QUARANTINED), ("a cut message", NoteFlag.TRUNCATED_EVIDENCE)):
        request, candidates, _, _ = SUITE[name]
        assert flag in (await by_agent(request, *candidates)).changes[0].after.flags


@pytest.mark.promise("formation-12")
async def test_item_12_no_tool_body_and_no_secret_is_in_the_task() -> None:
    request = a_request(SAID[0], a_tool(5, "CANARY of a tool body"), SECRET)
    made = task(request, a_setting(), "claude-code", "task_1")
    assert isinstance(made, NoteTask)
    document = msgspec.json.encode(made).decode()
    assert "CANARY" not in document and TOKEN not in document
    assert "[secret:" in document


@pytest.mark.promise("formation-12")
async def test_item_12_windows_go_on_and_continuations_are_refused_as_for_a_model() -> None:
    request, _, _, _ = SUITE["twenty messages between tools"]
    first = await by_agent(request)
    assert first.continuation is not None and len(first.coverage.new_ids) == 20
    second = await by_agent(msgspec.structs.replace(request, continuation=first.continuation))
    assert (second.coverage.new_ids, second.status) == (("m20",), RunStatus.COMPLETED)
    for field, changed in {
        "scopeKey": {"scope_key": "ws_x"},
        "streamId": {"stream_id": "s-x"},
        "windowDigest": {"max_new_messages": 3},
        "snapshotDigest": {"messages": request.messages[:-1]},
    }.items():
        other = msgspec.structs.replace(request, continuation=first.continuation, **changed)
        result = await by_agent(other)
        assert result.error is not None and (result.error.code, result.error.field) == (
            "continuation-mismatch",
            field,
        )


@pytest.mark.promise("formation-12")
async def test_item_12_what_the_agent_noted_is_saved_once_and_waits() -> None:
    database = FakeDatabase(queue_steps())
    saving = Saving(database=database, queue=Queue(database, b"k" * 32))
    occasion = Occasion(at=START, scope_key=SCOPE, stream_id=STREAM)
    for standing in (Standing.INSERTED, Standing.SAME, Standing.SAME):
        saved = await saving.save(await by_agent(a_request(*SAID), candidate_of(SAID[0])), occasion)
        assert [one.standing for one in saved.notes] == [standing]
    item = await saving.queue.get(saved.notes[0].note.id)
    assert item is not None and (item.state, item.proposed_by) == ("pending", "agent")


@pytest.mark.promise("formation-12")
async def test_item_12_an_answer_to_another_window_is_refused() -> None:
    made = task(a_request(*SAID), a_setting(), "claude-code", "task_1")
    assert isinstance(made, NoteTask)
    batch = {"format": FORMATS.batch, "taskId": "task_1", "binding": made.binding, "notes": [candidate_of(SAID[0])]}
    result = taken(a_request(*SAID[:8]), batch, a_setting(), "claude-code")
    assert (result.status, result.error and result.error.code) == (RunStatus.FAILED, "task-stale")
