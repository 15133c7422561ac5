"""The door of episodes: the best met, of equal ones the latest, and only as sure as the gate is strict."""

from recall.came_up import LEAST, came_up, parted
from recall.contracts import MemoryKind, Origin, Scored, SourceName
from tests.support.builders import a_candidate, a_memory_id


def an_episode(number: int, sure: float, created_at: int = 1) -> Scored:
    candidate = a_candidate(
        "`make seal` failed: ended in success.",
        memory_id=a_memory_id(number),
        kind=MemoryKind.EPISODIC,
        origin=Origin.EXTRACTED,
        tags=("episode",),
        created_at=created_at,
    )
    return Scored(candidate=candidate, score=9.0, confidences={SourceName.EPISODIC: sure} if sure else {})


def chosen(*ranked: Scored, strictness: float = 1.0) -> str | None:
    _, episodes = parted(ranked, strictness)
    best = came_up(episodes)
    return None if best is None else best.candidate.memory_id


def test_records_of_other_kinds_are_none_of_its_business() -> None:
    record = Scored(candidate=a_candidate("Seal first."), score=1.0)
    records, episodes = parted([record, an_episode(1, 0.5)], 1.0)

    assert records == [record] and [(one.score, one.bar) for one in episodes] == [(0.5, LEAST)]


def test_the_closest_speaks_and_of_equal_ones_the_latest() -> None:
    assert chosen(an_episode(1, 0.5, 9), an_episode(2, 0.8, 1)) == a_memory_id(2)
    assert chosen(an_episode(1, 0.5, 1), an_episode(2, 0.5, 2), an_episode(3, 0.5, 2)) == a_memory_id(2)


def test_one_that_its_source_did_not_meet_is_silent() -> None:
    assert chosen() is None
    assert chosen(an_episode(1, 0.0)) is None
    assert chosen(an_episode(1, 0.49)) is None


def test_a_stricter_gate_asks_for_more() -> None:
    assert chosen(an_episode(1, 0.5), strictness=1.3) is None
    assert chosen(an_episode(1, 0.7), strictness=1.3) == a_memory_id(1)
    assert chosen(an_episode(1, 1.0), strictness=5.0) == a_memory_id(1)
