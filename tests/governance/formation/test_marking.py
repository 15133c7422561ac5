"""What a user asks to be remembered is noted once, whoever looks and however often it is said."""

import pytest

from governance.formation.contracts import Admission, Door, KnownRecord, RangeStatus
from governance.review import Act, Decision, Principal
from tests.support.checkpoints import Desk, said

NEVER = "Never push to main directly."
REMEMBER = "Remember: releases go out on Thursdays."


@pytest.fixture
def desk() -> Desk:
    desk = Desk(model=None)
    desk.gate.says = Admission(door=Door.CLOSED, reason="no-driver")
    return desk


async def waiting(desk: Desk) -> list[str]:
    return [text for (text,) in await desk.rows("SELECT text FROM queue WHERE state = 'pending' ORDER BY text")]


async def test_each_sentence_is_noted_once_however_often_it_is_said(desk: Desk) -> None:
    for session in ("s-one", "s-two", "s-three"):
        for place in range(4):
            spelled = NEVER if place % 2 else NEVER.upper().replace("NEVER", "Never")
            desk.tells(
                said(f"{spelled} And go on.", place, session=session), said(REMEMBER, place + 10, session=session)
            )
    results = [(await desk.run(20, session))[0] for session in ("s-one", "s-two", "s-three")]
    assert [len(one.pending) for one in results] == [2, 0, 0]
    assert results[1].rejected == {"already-known": 8} and results[1].status is RangeStatus.UNAVAILABLE
    assert len(await waiting(desk)) == 2


async def test_what_a_record_says_is_not_noted(desk: Desk) -> None:
    desk.known.records = [KnownRecord(memory_id="mem_1", text=REMEMBER, guarded=True)]
    desk.tells(said(REMEMBER, 1))
    assert (await desk.one(2)).pending == ()


async def test_an_index_that_cannot_be_asked_loses_nothing(desk: Desk) -> None:
    desk.known.broken = True
    desk.tells(said(REMEMBER, 1))
    assert len((await desk.one(2)).pending) == 1


async def test_what_was_kept_or_put_away_is_not_noted_again(desk: Desk) -> None:
    desk.tells(said(REMEMBER, 1), said(NEVER, 2))
    kept, archived = (await desk.one(3)).pending
    for item_id, act in ((kept, Act.KEEP), (archived, Act.ARCHIVE)):
        made = Decision(actor=Principal.HUMAN, kind=act, at=1, expected_revision=1, reason="so")
        await desk.queue.decide(item_id, made)
    desk.tells(said(REMEMBER, 1, session="s-two"), said(NEVER, 2, session="s-two"))
    assert (await desk.one(3, "s-two")).pending == ()
    assert await waiting(desk) == []


async def test_each_workspace_has_its_own(desk: Desk) -> None:
    desk.tells(said(REMEMBER, 1), said(REMEMBER, 2, workspace_key="ws_" + "b" * 32))
    assert len((await desk.one(3)).pending) == 2


async def test_what_only_the_agent_said_is_not_noted(desk: Desk) -> None:
    desk.tells(said(REMEMBER, 1, role="assistant"))
    assert (await desk.one(2)).pending == ()
