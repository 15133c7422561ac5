"""The stages of procedures, kept; and which memories wait to be judged."""

import pytest

from governance.contracts import EvidenceKind, EvidenceTrace, Stage
from governance.lives import Life, Lives, load_lives
from governance.migrations import queue_steps
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.entries import an_entry
from tests.support.fakes import FakeDatabase

ONE, TWO = a_memory_id(1), a_memory_id(2)
LIFE = Life(stage=Stage.CANDIDATE, since=START, reason="evidence")


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


async def test_a_stage_is_known_at_once_and_after_a_restart(database: FakeDatabase) -> None:
    lives = await load_lives(database)
    await lives.move(ONE, LIFE)
    await lives.move(TWO, LIFE)
    await lives.move(TWO, Life(stage=Stage.OBSERVED, since=START + 1, reason="corrected"))
    for now in (lives, await load_lives(database)):
        assert dict(now.stages) == {ONE: Stage.CANDIDATE, TWO: Stage.OBSERVED}
        assert now.of(ONE) == LIFE
    await lives.forget(ONE)
    for now in (lives, await load_lives(database)):
        assert (now.of(ONE), dict(now.stages)) == (None, {TWO: Stage.OBSERVED})


async def test_a_procedure_is_met_once(database: FakeDatabase) -> None:
    lives = await load_lives(database)
    await lives.move(ONE, LIFE)
    await lives.seen([ONE, TWO], START + 5)
    await lives.seen([TWO], START + 9)
    await lives.seen([], START + 9)
    for now in (lives, await load_lives(database)):
        assert now.of(ONE) == LIFE
        assert now.of(TWO) == Life(stage=Stage.ACTIVE, since=START + 5, reason="met")


async def test_who_holds_the_stages_holds_them_as_they_were(database: FakeDatabase) -> None:
    lives = await load_lives(database)
    held = lives.stages
    await lives.move(ONE, LIFE)
    assert held == {}


async def test_a_stage_that_is_not_known_shows_least(database: FakeDatabase) -> None:
    database.connection.execute("INSERT INTO procedure VALUES (?, 'golden', 1, 'later')", (ONE,))
    assert (await load_lives(database)).stages == {ONE: Stage.OBSERVED}


async def test_memories_with_telling_evidence_wait_once(database: FakeDatabase) -> None:
    lives: Lives = await load_lives(database)

    def told(kind: EvidenceKind, memory_id: str) -> EvidenceTrace:
        return EvidenceTrace(kind=kind, memory_id=memory_id, source_version=1, record_digest="d")

    lives.heard(
        [
            an_entry(evidence=(told(EvidenceKind.SEEN, a_memory_id(9)), told(EvidenceKind.REUSE, TWO))),
            an_entry(evidence=(told(EvidenceKind.SUCCESS, TWO), told(EvidenceKind.CORRECTION, ONE))),
            an_entry(),
        ]
    )
    assert (lives.taken(), lives.taken()) == ((ONE, TWO), ())
    lives.look_again([TWO])
    assert lives.taken() == (TWO,)
