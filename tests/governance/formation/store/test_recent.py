"""What was formed lately is found before any index has it; what a person put away is not."""

from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import Admission, Door, IsolationKey, Life
from governance.formation.store import memories
from governance.formation.store.recent import noted, proposed_by, recent
from governance.review import Act, Decision, Principal
from tests.support.builders import WORKSPACE
from tests.support.checkpoints import USER, Desk, complete, item, said, worded

TEXTS = ("Backups are taken at night.", "The gateway is called Marrow.", "Releases are shipped on Thursdays.")


async def a_desk() -> tuple[Desk, list[str]]:
    desk = Desk(policy=CheckpointPolicy(min_sessions=0))
    ids = []
    for place, text in enumerate(TEXTS):
        desk.clock.advance(millis=1)
        desk.tells(said(text, place))
        desk.answers(complete(item(text, (f"s-one#{place}", text))), worded(text))
        ids += (await desk.one(place)).committed
    return desk, ids


async def found(desk: Desk, limit: int = 9, **other: str) -> list[str]:
    key = IsolationKey(**({"team": WORKSPACE, "user": USER, "agent": "any"} | other))
    return [one.text for one in await desk.database.read(lambda connection: recent(connection, key, limit))]


async def test_the_newest_come_first_and_of_one_key() -> None:
    desk, _ = await a_desk()
    assert await found(desk) == list(reversed(TEXTS))
    assert await found(desk, limit=1) == [TEXTS[2]]
    for other in ({"team": "elsewhere"}, {"user": "else"}, {"agent": "else"}, {"user": ""}):
        assert await found(desk, **other) == []


async def test_what_was_put_away_or_replaced_is_not_among_them() -> None:
    desk, ids = await a_desk()
    no = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=1, expected_revision=1, reason="no")
    await desk.queue.decide(ids[0], no)
    await desk.database.write(lambda connection: memories.move(connection, ids[1], Life.SUPERSEDED, 2, ids[2]))
    assert await found(desk) == [TEXTS[2]]


async def test_notes_that_wait_or_were_kept_are_told_by_their_words() -> None:
    desk = Desk(model=None)
    desk.gate.says = Admission(door=Door.CLOSED, reason="no-driver")
    desk.tells(said("Remember: releases go out on Thursdays.", 1), said("Never push to main directly.", 2))
    (_, archived) = (await desk.one(3)).pending
    no = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=1, expected_revision=1, reason="no")
    await desk.queue.decide(archived, no)
    texts = await desk.database.read(lambda connection: noted(connection, WORKSPACE))
    assert texts == ("Remember: releases go out on Thursdays.",)
    assert await desk.database.read(lambda connection: noted(connection, "elsewhere")) == ()


async def test_notes_that_somebody_proposed_are_told_while_they_wait() -> None:
    desk = Desk(model=None)
    desk.gate.says = Admission(door=Door.CLOSED, reason="no-driver")
    desk.tells(said("Remember: releases go out on Thursdays.", 1), said("Never push to main directly.", 2))
    (first, archived) = (await desk.one(3)).pending
    no = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=1, expected_revision=1, reason="no")
    await desk.queue.decide(archived, no)
    (item,) = await desk.database.read(lambda connection: proposed_by(connection, WORKSPACE, "rule"))
    assert (item.item_id, item.text) == (first, "Remember: releases go out on Thursdays.")
    assert await desk.database.read(lambda connection: proposed_by(connection, WORKSPACE, "agent")) == ()
