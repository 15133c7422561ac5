"""formation.md 9, items 1, 2 and 9: which messages a run of notes reads, what does not fit, and who may go on."""

from typing import Any

import msgspec
import pytest

from governance.formation.contracts import ExtractL1Request, Limits, Role, RunStatus
from governance.formation.notes import extract_l1
from tests.support.noting import a_message, a_model, a_request, a_setting, a_tool, submits


def conversation(said: int, tools: int = 30) -> ExtractL1Request:
    """`said` messages of user and assistant in turn, with all tool messages between them."""
    spoken = [a_message(place, role=Role.ASSISTANT if place % 2 else Role.USER) for place in range(said)]
    between = [a_tool(1000 + place, f"CANARY {place} of a tool body") for place in range(tools)]
    mixed = [spoken[0]]
    for place, one in enumerate(spoken[1:]):
        share = tools // (said - 1)
        mixed += between[place * share : (place + 1) * share]
        mixed.append(one)
    return a_request(*mixed[:-1], *between[(said - 1) * (tools // (said - 1)) :], mixed[-1])


@pytest.mark.promise("formation-01")
@pytest.mark.parametrize(("said", "new"), [(19, 19), (20, 20), (21, 20)])
async def test_item_01_window_of_19_20_21_messages_with_30_tool_messages_between(said: int, new: int) -> None:
    request = conversation(said)
    model = a_model(submits(), submits())
    first = await extract_l1(model, request, a_setting())
    assert len(first.coverage.new_ids) == new
    assert first.coverage.tool_count == 30
    assert first.coverage.total == said + 30
    sent = len(model.requests)
    assert sent == 1
    if said == 21:
        assert first.status is RunStatus.PARTIAL and first.continuation is not None
        assert request.messages[first.coverage.through].id == "m20"
        going_on = msgspec.structs.replace(request, continuation=first.continuation)
        second = await extract_l1(model, going_on, a_setting())
        assert second.coverage.new_ids == ("m20",)
        assert second.coverage.background_ids == tuple(f"m{place}" for place in range(15, 20))
        assert second.continuation is None
    else:
        assert first.status is RunStatus.COMPLETED and first.continuation is None
    assert "CANARY" not in msgspec.json.encode(model.requests).decode()


def sized(*lengths: int, **fields: Any) -> ExtractL1Request:
    return a_request(*(a_message(place, "x" * length) for place, length in enumerate(lengths)), **fields)


@pytest.mark.promise("formation-02")
async def test_item_02_of_120_001_characters_background_goes_first_then_the_last_whole_new_message() -> None:
    model = a_model(submits(), submits(), submits())
    oldest_goes = await extract_l1(model, sized(1, 60_000, 60_000, start_index=2), a_setting())
    assert oldest_goes.coverage.background_ids == ("m1",)
    all_go = await extract_l1(model, sized(1, 1, 60_001, 59_999, start_index=2), a_setting())
    assert (all_go.coverage.background_ids, all_go.coverage.new_ids) == ((), ("m2", "m3"))
    last_goes = await extract_l1(model, sized(1, 40_000, 40_000, 40_001, start_index=1), a_setting())
    assert (last_goes.coverage.background_ids, last_goes.coverage.new_ids) == ((), ("m1", "m2"))
    assert last_goes.continuation is not None and last_goes.continuation.next_index == 3
    assert all("x" * 40_001 not in request.messages[0].content for request in model.requests[2:])


@pytest.mark.promise("formation-02")
async def test_item_02_one_message_of_120_001_characters_fails_without_a_call() -> None:
    model = a_model()
    result = await extract_l1(model, sized(120_001), a_setting())
    assert (result.status, result.error and result.error.code) == (RunStatus.FAILED, "message-over-budget")
    assert (result.provenance.calls, model.requests, result.changes, result.continuation) == (0, [], (), None)
    fits = await extract_l1(a_model(submits()), sized(120_000), a_setting())
    assert fits.status is RunStatus.COMPLETED


@pytest.mark.promise("formation-09")
@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"scope_key": "ws_other"}, "scopeKey"),
        ({"stream_id": "s-other"}, "streamId"),
        ({"max_new_messages": 19}, "windowDigest"),
        ({"max_background_messages": 4}, "windowDigest"),
        ({"limits": Limits(max_input_chars=119_999)}, "windowDigest"),
        ({"messages": "edited"}, "snapshotDigest"),
        ({"messages": "appended"}, "snapshotDigest"),
        ({"model": "other"}, "modelId"),
    ],
)
async def test_item_09_a_continuation_is_refused_after_a_change_and_names_its_field(
    changed: dict[str, Any], field: str
) -> None:
    request = conversation(21)
    first = await extract_l1(a_model(submits()), request, a_setting())
    going_on = msgspec.structs.replace(request, continuation=first.continuation)
    model = a_model(submits())
    if changed.pop("model", None):
        model.script = msgspec.structs.replace(model.script, id="other")
    match changed.get("messages"):
        case "edited":
            edited = msgspec.structs.replace(request.messages[-1], content="Edited afterwards.")
            changed = {"messages": (*request.messages[:-1], edited)}
        case "appended":
            changed = {"messages": (*request.messages, a_message(99))}
    result = await extract_l1(model, msgspec.structs.replace(going_on, **changed), a_setting())
    assert result.status is RunStatus.FAILED and result.error is not None
    assert (result.error.code, result.error.field) == ("continuation-mismatch", field)
    assert field in result.error.problem
    assert (model.requests, result.continuation, result.changes) == ([], None, ())
    unchanged = msgspec.structs.replace(going_on, run_id="another attempt")
    assert (await extract_l1(a_model(submits()), unchanged, a_setting())).status is RunStatus.COMPLETED
