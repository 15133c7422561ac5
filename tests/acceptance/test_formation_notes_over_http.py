"""Notes through the real HTTP drivers: what goes over the wire, and what comes of the answers (formation.md 2.2, 4)."""

import json
from pathlib import Path

import pytest

from governance.formation.contracts import ExtractL1Result, RunStatus
from governance.formation.notes import extract_l1
from tests.support.models import HTTP, KEY, FakeModel, Http, Json
from tests.support.noting import (
    TOKEN,
    a_message,
    a_request,
    a_setting,
    a_tool,
    candidate_of,
    quoted_slices_hold,
)

SAID = a_message(1, "Releases go out on Thursdays — 每周四, “as agreed”.")
MESSAGES = (SAID, a_tool(2, "CANARY of a tool body"), a_message(3, f"The token is {TOKEN}."))
pytestmark = pytest.mark.promise("formation-01", "formation-10")
drivers = pytest.mark.parametrize("http", HTTP.values(), ids=list(HTTP))


async def noted(http: Http, folder: Path, reply: Json) -> tuple[ExtractL1Result, Json]:
    with FakeModel(reply, {"text": "a second attempt"}) as model:
        result = await extract_l1(http.made(model, folder), a_request(*MESSAGES), a_setting())
    (sent,) = model.requests  # one call, whatever came of it
    return result, sent


@drivers
async def test_notes_come_back_through_the_tool_and_nothing_private_went_out(http: Http, tmp_path: Path) -> None:
    reply = {"tool_calls": [{"name": "submit", "input": {"notes": [candidate_of(SAID)]}, "id": "c1"}]}
    result, sent = await noted(http, tmp_path, reply)
    assert (result.status, len(result.changes), result.rejected) == (RunStatus.COMPLETED, 1, ())
    assert quoted_slices_hold(result.changes[0].after, *MESSAGES)
    body = json.dumps(sent["body"], ensure_ascii=False)
    assert "每周四" in body and "messageId" in body
    assert not any(word in body for word in ("CANARY", TOKEN, KEY))
    assert "[secret:" in body


@drivers
async def test_notes_as_text_are_taken_too(http: Http, tmp_path: Path) -> None:
    text = f"Here you are:\n```json\n{json.dumps({'notes': [candidate_of(SAID)]})}\n```"
    result, _ = await noted(http, tmp_path, {"text": text})
    assert len(result.changes) == 1


@drivers
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ({"text": "Let us talk about the weather."}, "schema"),
        ({"tool_calls": [{"name": "search", "input": {"notes": []}, "id": "c1"}]}, "schema"),
        ({"status": 401, "error_type": "authentication_error"}, "configuration"),
        ({"status": 429, "error_type": "rate_limit_error"}, "rate-limited"),
        ({"status": 500, "error_type": "api_error"}, "unavailable"),
        ({"text": "[]", "usage": {"input_tokens": 5, "output_tokens": 8192}}, "length"),
    ],
    ids=["prose", "another tool", "401", "429", "500", "as many tokens as there may be"],
)
async def test_what_goes_wrong_over_the_wire_changes_nothing(
    http: Http, tmp_path: Path, reply: Json, code: str
) -> None:
    result, _ = await noted(http, tmp_path, reply)
    assert (result.status, result.error and result.error.code) == (RunStatus.FAILED, code)
    assert (result.changes, result.continuation, result.provenance.calls) == ((), None, 1)
    assert KEY not in repr(result)
