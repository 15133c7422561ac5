"""A checkpoint through the real HTTP drivers: what goes over the wire, and what comes of what a provider answers."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import RangeResult, RangeStatus
from tests.support.checkpoints import Desk, complete, item, running, said
from tests.support.models import HTTP, KEY, FakeModel, Http, Json

THURSDAYS = "We ship releases on Thursdays — 每周四."
FACT = "Releases are shipped on Thursdays."
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
PROPOSED = complete(item(FACT, ("s-one#1", "We ship releases on Thursdays")))
WORDED = {"results": [{"id": "i1", "verdict": "accept", "sentence": FACT}]}
drivers = pytest.mark.parametrize("http", HTTP.values(), ids=list(HTTP))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with running(tmp_path) as one:
        one.policy = CheckpointPolicy(min_sessions=0)
        one.tells(said(f"{THURSDAYS} The token is {SECRET}.", 1), said("CANARY of an answer", 2, role="tool"))
        yield one


def called(arguments: Json, **more: object) -> Json:
    return {"tool_calls": [{"name": "submit", "input": arguments, "id": "c1"}], **more}


async def formed(desk: Desk, http: Http, folder: Path, *replies: Json) -> tuple[RangeResult, list[Json]]:
    with FakeModel(*replies) as model:
        desk.model = http.made(model, folder)  # type: ignore[assignment]
        (result,) = await desk.run(3)
    return result, model.requests


@drivers
async def test_a_fact_is_proposed_and_worded_in_two_calls_and_nothing_private_goes_out(
    desk: Desk, http: Http, tmp_path: Path
) -> None:
    result, sent = await formed(desk, http, tmp_path, called(PROPOSED), called(WORDED))
    assert (result.status, result.calls, len(result.committed)) == (RangeStatus.EXTRACTED, 2, 1)
    bodies = [json.dumps(one["body"], ensure_ascii=False) for one in sent]
    assert len(bodies) == 2 and "每周四" in bodies[0] and "[secret:" in bodies[0]
    assert not any(word in body for body in bodies for word in (SECRET, KEY, "CANARY"))
    assert "shipped" not in bodies[1]  # the wording is made of the quotes alone


@drivers
async def test_the_same_as_text_in_a_fence_is_taken_too(desk: Desk, http: Http, tmp_path: Path) -> None:
    texts = [{"text": f"Here:\n```json\n{json.dumps(one)}\n```"} for one in (PROPOSED, WORDED)]
    result, _ = await formed(desk, http, tmp_path, *texts)
    assert len(result.committed) == 1


@drivers
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"status": 401, "error_type": "authentication_error"}, "configuration"),
        ({"status": 400, "error_type": "invalid_request_error"}, "configuration"),
        ({"status": 429, "error_type": "rate_limit_error"}, "rate-limited"),
        ({"status": 500, "error_type": "api_error"}, "unavailable"),
        ({"text": "x", "cut_bytes": 1}, "unavailable"),
    ],
    ids=["401", "400", "429", "500", "the line is cut"],
)
async def test_a_provider_that_fails_at_either_call_leaves_the_range_as_it_was(
    desk: Desk, http: Http, tmp_path: Path, reply: Json, reason: str
) -> None:
    for replies in ([reply], [called(PROPOSED), reply]):
        result, sent = await formed(desk, http, tmp_path, *replies)
        assert (result.status, result.reason) == (RangeStatus.UNAVAILABLE, reason)
        assert len(sent) == len(replies) == result.calls  # one attempt a call
    for table in ("cursor", "receipt", "failure", "queue", "outbox"):
        assert await desk.count(table) == 0
    result, _ = await formed(desk, http, tmp_path, called(PROPOSED), called(WORDED))
    assert result.status is RangeStatus.EXTRACTED


@drivers
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"text": "BANANA"}, "schema"),
        ({"tool_calls": [{"name": "search", "input": {}, "id": "c1"}]}, "schema"),
        (
            {
                "text": '{"status": "complete", "items": [{"content"',
                "usage": {"input_tokens": 5, "output_tokens": 8192},
            },
            "length",
        ),
    ],
    ids=["prose", "another tool", "cut before anything was whole"],
)
async def test_an_answer_that_cannot_be_used_counts_and_is_asked_for_once_more(
    desk: Desk, http: Http, tmp_path: Path, reply: Json, reason: str
) -> None:
    first, _ = await formed(desk, http, tmp_path, reply)
    second, _ = await formed(desk, http, tmp_path, reply)
    assert [(one.status, one.reason) for one in (first, second)] == [
        (RangeStatus.PENDING, reason),
        (RangeStatus.DISCARDED, reason),
    ]
    assert await desk.count("dead_letter") == 1
