"""Of two facts of one range that cannot both hold, the later goes its way and the earlier waits for a person."""

from governance.formation.candidates import Candidate
from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import MemorySource
from governance.formation.correcting import apart
from tests.support.checkpoints import Desk, complete, item, said, worded

FIVE, SEVEN, NIGHT = "The retry limit is 5.", "The retry limit is 7.", "Backups are taken at night."


def a_fact(content: str, message: str, at: int) -> Candidate:
    source = MemorySource(session_id="s", message_id=message, event_seq=at, at=at, quote=content)
    return Candidate(content=content, sources=(source,), citations=())


def flags(*facts: Candidate) -> list[list[str]]:
    return [[str(flag) for flag in one.flags] for one in apart(facts)]


def test_the_earlier_of_two_that_cannot_both_hold_is_flagged_whatever_their_order() -> None:
    assert flags(a_fact(FIVE, "m1", 1), a_fact(NIGHT, "m2", 2), a_fact(SEVEN, "m3", 3)) == [["conflict"], [], []]
    assert flags(a_fact(SEVEN, "m3", 3), a_fact(FIVE, "m1", 1)) == [[], ["conflict"]]


def test_what_stands_in_one_message_is_a_list() -> None:
    assert flags(a_fact(FIVE, "m1", 1), a_fact(SEVEN, "m1", 1)) == [[], []]


def test_facts_of_different_things_are_left_alone() -> None:
    assert flags(a_fact(FIVE, "m1", 1), a_fact(NIGHT, "m2", 2)) == [[], []]
    assert apart([]) == []


async def test_a_correction_is_committed_and_what_it_corrects_is_left_to_a_person() -> None:
    desk = Desk(policy=CheckpointPolicy(min_sessions=0))
    desk.tells(said(FIVE, 1), said(SEVEN, 4))
    desk.answers(complete(item(FIVE, ("s-one#1", FIVE)), item(SEVEN, ("s-one#4", SEVEN))), worded(FIVE, SEVEN))
    result = await desk.one(6)
    assert (len(result.committed), len(result.pending)) == (1, 1)
    rows = await desk.rows("SELECT text, state, flags FROM queue ORDER BY text")
    assert rows == [(FIVE, "pending", '["conflict"]'), (SEVEN, "committed", "[]")]


async def test_what_denies_a_fact_that_was_committed_just_now_is_a_proposal_to_update_it() -> None:
    desk = Desk(policy=CheckpointPolicy(min_sessions=0))
    desk.tells(said(FIVE, 1), said(SEVEN, 4))
    desk.answers(complete(item(FIVE, ("s-one#1", FIVE))), worded(FIVE))
    (memory_id,) = (await desk.one(2)).committed
    desk.answers(complete(item(SEVEN, ("s-one#4", SEVEN))), worded(SEVEN))
    assert len((await desk.one(6)).pending) == 1
    assert await desk.rows("SELECT updates FROM queue WHERE state = 'pending'") == [(memory_id,)]
