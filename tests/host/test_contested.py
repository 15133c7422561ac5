"""Facts that contradict each other in a pass: an inference yields to a person's word, and a conflict says so."""

from pathlib import Path
from typing import Any

import pytest

from host.contested import MOST, contest_of, noted, standing
from host.contracts import Claimed
from recall.contracts import Candidate, Origin, Ranked, Scored, Shown, Status
from recall.rank import RankPolicy, rank
from tests.support.builders import a_candidate, a_memory_id, a_prompt
from tests.support.clock import START
from tests.support.world import a_world

EIGHT, NINE = "The staging port is 8443", "The staging port is 9443"


def a_fact(text: str, number: int, **fields: Any) -> Candidate:
    return a_candidate(text, memory_id=a_memory_id(number), **fields)


NOTHING = Shown()


def through(*candidates: Candidate, shown: Shown = NOTHING) -> Ranked:
    contest = contest_of(candidates, shown, START)
    return noted(rank(standing(candidates, contest), shown, RankPolicy(), START), contest)


def why(ranked: Ranked) -> dict[str, tuple[str, ...]]:
    return {one.candidate.memory_id: one.reasons for one in ranked.ranked}


@pytest.mark.promise("conflicts-as-such")
def test_an_inference_never_takes_the_place_of_what_a_person_said_however_new_it_is() -> None:
    ranked = through(
        a_fact(EIGHT, 1, created_at=1), a_fact(NINE, 2, created_at=START, origin=Origin.EXTRACTED, score=9.0)
    )

    assert why(ranked) == {a_memory_id(1): ()}
    assert [(drop.id, drop.reason) for drop in ranked.dropped] == [(a_memory_id(2), "overruled")]


@pytest.mark.promise("conflicts-as-such")
def test_of_two_things_that_persons_said_the_one_that_is_shown_names_the_other() -> None:
    ranked = through(a_fact(EIGHT, 1, created_at=1), a_fact(NINE, 2, created_at=2))

    assert why(ranked)[a_memory_id(2)] == (f"in conflict with {a_memory_id(1)}",)


def test_what_replaced_another_or_agrees_with_it_is_in_no_conflict() -> None:
    gone = a_fact(EIGHT, 1, status=Status.SUPERSEDED, superseded_by=a_memory_id(2))

    assert why(through(gone, a_fact(NINE, 2))) == {a_memory_id(2): ()}
    assert why(through(a_fact(NINE, 1), a_fact("Ask Ana about the staging port.", 2)))[a_memory_id(1)] == ()
    assert through() == Ranked(ranked=())


def test_what_a_person_took_out_stands_against_nothing() -> None:
    corrected = Shown(corrected=frozenset({a_memory_id(1)}))
    ranked = through(a_fact(EIGHT, 1), a_fact(NINE, 2, origin=Origin.EXTRACTED), shown=corrected)

    assert why(ranked) == {a_memory_id(2): ()}


def test_only_some_of_many_are_named() -> None:
    many = [a_fact(f"The staging port is {8000 + number}", number) for number in range(1, 9)]
    scored = tuple(Scored(candidate=one, score=1.0) for one in many)

    (reason,) = noted(Ranked(ranked=scored), contest_of(many, NOTHING, START)).ranked[0].reasons

    assert reason.count("mem_") == MOST


@pytest.mark.promise("conflicts-as-such")
@pytest.mark.parametrize("origin", [Origin.USER, Origin.EXTRACTED])
async def test_a_session_that_asks_is_told_of_the_conflict_or_of_the_persons_word(
    tmp_path: Path, origin: Origin
) -> None:
    async with a_world(tmp_path / "data") as world:
        said = await world.remember("The staging port of billing is 8443", created_at=1)
        other = await world.remember("The staging port of billing is 9443", created_at=2, origin=origin)
        await world.feed(a_prompt("What is the staging port of billing?", workspace=world.workspace()))

        claim = await world.claim()

        assert isinstance(claim, Claimed)
        if origin is Origin.USER:
            assert f"in conflict with {said}" in claim.packet.rendered
        else:
            assert [item.memory_id for item in claim.packet.items] == [said] and other not in claim.packet.rendered
