"""What is known already: the tiers, in their order, and what is left of them when one cannot be asked."""

import sqlite3
from collections.abc import Sequence

import pytest

from governance.formation.claims import claim_of
from governance.formation.contracts import FormedMemory, IsolationKey, KnownRecord, Life, Pipeline, RecordLine
from governance.formation.dedupe import TOP, Dedupe, Probe
from governance.formation.store import memories, outbox
from governance.migrations import queue_steps
from recall.contracts import Origin
from tests.support.batching import KEY, FakeLikeness
from tests.support.builders import a_memory, a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

SHIP = "Releases go out on Thursdays."
OTHER = IsolationKey(team=KEY.team, user="u2", agent=KEY.agent)


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


def a_life(number: int, text: str, key: IsolationKey = KEY, state: Life = Life.LIVE) -> FormedMemory:
    return FormedMemory(
        memory_id=a_memory_id(number),
        pipeline=Pipeline.BATCH,
        claim=claim_of(text),
        created_at=START,
        updated_at=START,
        team=key.team,
        user=key.user,
        agent=key.agent,
        state=state,
    )


def known(number: int, text: str) -> tuple[IsolationKey | None, KnownRecord]:
    return KEY, KnownRecord(memory_id=a_memory_id(number), text=text, guarded=False)


def unprojected(connection: sqlite3.Connection, number: int, text: str) -> None:
    life = a_life(number, text)
    memories.put(connection, life)
    record = a_memory(text, memory_id=life.memory_id, origin=Origin.EXTRACTED)
    line = RecordLine(memory_id=life.memory_id, version=0, record=record, formed=life, sources=(), at=START)
    outbox.put(connection, line, START)


async def probes(database: FakeDatabase, likeness: FakeLikeness, *contents: str) -> Sequence[Probe]:
    return (await Dedupe(likeness=likeness, memories=memories.Memories(database)).probe(contents, KEY)).probes


async def test_the_same_claim_is_known_and_nothing_else_is_asked(database: FakeDatabase) -> None:
    memories.put(database.connection, a_life(1, SHIP))
    likeness = FakeLikeness()
    (found,) = await probes(database, likeness, "releases go out on  thursdays")
    assert (found, likeness.asked) == (Probe(known=a_memory_id(1)), [])


async def test_a_claim_of_another_key_is_not_known(database: FakeDatabase) -> None:
    memories.put(database.connection, a_life(1, SHIP, OTHER))
    assert await probes(database, FakeLikeness(), SHIP) == (Probe(),)


async def test_a_candidate_that_is_near_is_known(database: FakeDatabase) -> None:
    likeness = FakeLikeness(records=[known(1, "The releases go out on Thursdays")])
    assert await probes(database, likeness, SHIP) == (Probe(known=a_memory_id(1)),)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("Limit is 10", "Limit is 20"),
        ("Use npm for this.", "Do not use npm for this."),
        ("Deploy window is Thursday 14:00 UTC.", "Deploy window is Tuesday 14:00 UTC."),
        ("Configure retry_limit in a.py", "Configure retry_limits in a.py"),
    ],
)
async def test_a_number_a_name_or_a_negation_makes_another_claim(database: FakeDatabase, said: str, held: str) -> None:
    (found,) = await probes(database, FakeLikeness(records=[known(1, held)]), said)
    assert found.known is None
    assert [one.memory_id for one in found.pool] == [a_memory_id(1)]


async def test_both_tiers_give_their_best_each_record_once(database: FakeDatabase) -> None:
    records = [known(number, f"Releases of part {number} go out weekly.") for number in range(1, 12)]
    likeness = FakeLikeness(records=records, broken=set())
    (found,) = await probes(database, likeness, SHIP)
    assert likeness.asked == ["by_meaning", "by_words"]
    assert len(found.pool) == len({one.memory_id for one in found.pool}) == TOP


async def test_full_text_is_asked_when_vectors_cannot_be(database: FakeDatabase) -> None:
    likeness = FakeLikeness(records=[known(1, "Releases go out by hand.")], broken={"by_meaning"})
    dedupe = Dedupe(likeness=likeness, memories=memories.Memories(database))
    found = await dedupe.probe([SHIP, "Releases are signed."], KEY)
    assert [len(one.pool) for one in found.probes] == [1, 1]
    assert found.shortfalls == ("vectors: broken",)
    assert likeness.asked == ["by_meaning", "by_words", "by_words"]  # what is broken is asked once


async def test_without_any_tier_there_are_no_candidates_and_the_same_claim_is_known_still(
    database: FakeDatabase,
) -> None:
    unprojected(database.connection, 1, SHIP)
    unprojected(database.connection, 2, "The releases are signed by Ana.")
    likeness = FakeLikeness(broken={"by_meaning", "by_words"})
    dedupe = Dedupe(likeness=likeness, memories=memories.Memories(database))
    found = await dedupe.probe([SHIP, "Releases are signed by Ana."], KEY)
    assert found.probes == (Probe(known=a_memory_id(1)), Probe())
    assert found.shortfalls == ("vectors: broken", "full-text: broken")


async def test_what_is_committed_and_not_in_the_index_yet_is_a_candidate_too(database: FakeDatabase) -> None:
    unprojected(database.connection, 1, "The releases go out on Thursdays!")
    unprojected(database.connection, 2, "Releases are signed by Ana.")
    unprojected(database.connection, 3, "Lunch is at noon.")
    near, like = await probes(database, FakeLikeness(), SHIP, "Releases are signed by Li.")
    assert near == Probe(known=a_memory_id(1))
    assert [one.memory_id for one in like.pool] == [a_memory_id(2), a_memory_id(1)]  # best first, lunch is none


async def test_what_waits_for_a_person_is_known_by_its_claim_alone(database: FakeDatabase) -> None:
    memories.put(database.connection, a_life(1, SHIP, state=Life.WAITING))
    memories.put(database.connection, a_life(2, "Gone.", state=Life.ARCHIVED))
    assert await probes(database, FakeLikeness(), SHIP, "Gone.") == (Probe(known=a_memory_id(1)), Probe())
