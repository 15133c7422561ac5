"""Faults that tools of this kind had, as data: what a checkpoint makes of them."""

import json
from pathlib import Path

import pytest

from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import RangeStatus
from governance.review import Act, Decision, Principal, State
from tests.support.checkpoints import Desk, complete, item, said, worded

CASES = Path(__file__).parents[1] / "data" / "cases"


@pytest.mark.promise("field-cases")
async def test_case_a_model_that_answers_the_conversation_gives_no_candidate_and_is_asked_again() -> None:
    case = json.loads((CASES / "model-answers-the-conversation.json").read_text(encoding="utf-8"))
    desk = Desk()
    desk.tells(*(said(text, place) for place, (_, text) in enumerate(case["given"]["turns"])))
    desk.answers(case["given"]["model_answer"])
    result = await desk.one(len(case["given"]["turns"]))
    then = case["then"]
    assert await desk.count("queue") == then["candidates"]
    assert (result.status is RangeStatus.PENDING) == (then["checkpoint_state"] == "failed")
    assert (await desk.rows("SELECT attempts < 2 FROM failure") == [(1,)]) == then["retries_left"]


@pytest.mark.promise("field-cases")
async def test_case_boot_prompts_and_sentinels_are_no_evidence() -> None:
    case = json.loads((CASES / "boot-prompts-and-sentinels.json").read_text(encoding="utf-8"))
    desk = Desk()
    desk.tells(*(said(text, place, role=role) for place, (role, text) in enumerate(case["given"]["turns"])))
    result = await desk.one(9)
    assert (result.status, desk.calls) == (RangeStatus.SKIPPED, 0)
    assert await desk.count("queue") == case["then"]["candidates"]


@pytest.mark.promise("field-cases")
async def test_case_a_rejected_candidate_stays_rejected() -> None:
    case = json.loads((CASES / "rejected-candidate-stays-rejected.json").read_text(encoding="utf-8"))
    desk = Desk(policy=CheckpointPolicy(min_sessions=0, auto_commit=False))
    for place, text in enumerate(case["given"]["rejected"]):
        desk.tells(said(text, place, session="s-before"))
        desk.answers(complete(item(text, (f"s-before#{place}", text))), worded(text))
        (item_id,) = (await desk.one(place, "s-before")).pending
        no = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=1, expected_revision=1, reason="no")
        archived = await desk.queue.decide(item_id, no)
        assert getattr(archived, "state", None) is State.ARCHIVED
    waiting = await desk.count("queue")
    for place, (_, text) in enumerate(case["when"]["turns"]):
        desk.tells(said(text, place))
        desk.answers(complete(item(text, (f"s-one#{place}", text))))
        assert (await desk.one(place)).rejected == {"said-no": 1}
    assert await desk.count("queue") - waiting == case["then"]["new_pending"]
    assert await desk.rows("SELECT seen_count FROM tombstone") == [(case["then"]["rejection_seen_count"],)]
