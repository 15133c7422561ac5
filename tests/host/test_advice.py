"""What feedback comes to: counted from the evidence that its packets had, proposed, and never more than that."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.contracts import AuditEntry, AuditKind, CandidateTrace
from host.advice import Advice, Opinion, Point, Proposal, advise
from recall.attention import MORE
from recall.contracts import Attention
from tests.support.builders import a_memory_id
from tests.support.entries import a_trace, an_entry

QUIET, NORMAL, EAGER = Attention.QUIET, Attention.NORMAL, Attention.EAGER
SPARED = MORE[QUIET] - 0.1  # nats beyond the calibrated bar that quiet would not have been satisfied with
SURE = MORE[QUIET] + 0.1


def a_word(
    opinion: str, number: int = 1, beyond: float | None = SPARED, held: Attention = NORMAL, **fields: Any
) -> AuditEntry:
    """Feedback on a packet of its own, which stood so many nats beyond the bar of the point that held."""
    memory_id = fields.pop("memory_id", a_memory_id(number))
    return an_entry(
        **{
            "kind": AuditKind.FEEDBACK,
            "outcome": opinion,
            "reason": opinion,
            "packet": a_trace(number, items=(memory_id,)),
            "memory_id": memory_id if "packet" in fields else None,
            "candidates": () if beyond is None else (a_row(memory_id, beyond, fields.pop("door", "evidence")),),
            "versions": {"confidence": "confidence_pre_v1" + ("" if held is NORMAL else f"/{held}")},
        }
        | fields
    )


def a_row(memory_id: str, beyond: float, door: str | None = "evidence") -> CandidateTrace:
    return CandidateTrace(memory_id=memory_id, score=1, rank=1, kept=beyond >= 0, margin=round(beyond * 1e6), door=door)


def missed(number: int, short: float) -> AuditEntry:
    """A memory that should have come, and came so near to the bar."""
    return a_word("missed", number, packet=None, memory_id=a_memory_id(number), candidates=(a_row("m", -short, None),))


def words(*counts: tuple[str, int, float]) -> list[AuditEntry]:
    """So many packets of which that was said, with evidence so far beyond the bar."""
    every = [(opinion, beyond) for opinion, count, beyond in counts for _ in range(count)]
    return [a_word(opinion, number, beyond) for number, (opinion, beyond) in enumerate(every)]


def to_quiet(advice: Advice) -> bool:
    return Proposal(kind="attention", count=advice.opinions["noise"], attention=QUIET) in advice.proposals


def test_without_feedback_there_is_nothing_to_say() -> None:
    assert advise([], NORMAL) == Advice()


def test_seven_of_nine_are_noise_and_quiet_would_have_given_three() -> None:
    advice = advise(words(("noise", 6, SPARED), ("noise", 1, SURE), ("useful", 2, SURE)), NORMAL)

    assert advice.judged == 9 and advice.opinions == {"noise": 7, "useful": 2}
    assert advice.points == (
        Point(attention=QUIET, given=3, noise=1, useful=2),
        Point(attention=NORMAL, given=9, noise=7, useful=2),
        Point(attention=EAGER, given=9, noise=7, useful=2),
    )
    assert advice.proposals == (Proposal(kind="attention", count=7, attention=QUIET),)


@pytest.mark.parametrize(
    ("said", "proposed"),
    [
        ([("noise", 4, SPARED)], False),  # too few
        ([("noise", 5, SPARED)], True),
        ([("noise", 4, SPARED), ("useful", 5, SURE)], False),  # less than half
        ([("noise", 5, SPARED), ("useful", 5, SURE)], True),
        ([("noise", 9, SURE)], False),  # quiet would have given it too
        ([("noise", 6, SPARED), ("useful", 3, SPARED)], False),  # it would cost half of what it spares
        ([("noise", 7, SPARED), ("useful", 3, SPARED)], True),
        ([("late", 9, SPARED)], False),  # right, if too late: no reason to be quieter
    ],
)
def test_a_quieter_point_is_proposed_when_it_spares_more_than_it_loses(
    said: list[tuple[str, int, float]], proposed: bool
) -> None:
    advice = advise(words(*said), NORMAL)
    assert [one for one in advice.proposals if one.kind == "attention"] == (
        [Proposal(kind="attention", count=advice.opinions["noise"], attention=QUIET)] if proposed else []
    )


def test_from_eager_the_next_step_is_normal_and_from_quiet_there_is_none() -> None:
    eager = [a_word("noise", number, beyond=1.0, held=EAGER) for number in range(6)]
    assert [one.attention for one in advise(eager, EAGER).proposals] == [NORMAL]
    quiet = [a_word("noise", number, beyond=1.0, held=QUIET) for number in range(6)]
    assert advise(quiet, QUIET).proposals == ()


def test_what_was_followed_is_not_proposed_again() -> None:
    said = words(("noise", 9, SPARED))
    assert to_quiet(advise(said, NORMAL)) and not to_quiet(advise(said, QUIET))


def test_the_doors_have_their_own_measure_and_a_pinned_memory_has_none() -> None:
    answers = [a_word("noise", number, beyond=MORE[QUIET] / 2, door="answer") for number in range(6)]
    assert advise(answers, NORMAL).points[0].given == 6  # beyond what quiet adds at that door
    for beyond in (None, -5.0):  # and what was shown again, with more of it, was given below the bar
        asked_for = [a_word("noise", number, beyond=beyond) for number in range(6)]
        assert [point.given for point in advise(asked_for, NORMAL).points] == [6, 6, 6]


def test_what_was_given_because_of_a_reply_is_spared_by_quiet_however_sure_it_was() -> None:
    replies = [a_word("noise", number, beyond=99.0, trigger="reply") for number in range(6)]
    advice = advise(replies, NORMAL)
    assert [point.given for point in advice.points] == [0, 6, 6] and to_quiet(advice)


def test_the_last_word_on_a_packet_counts() -> None:
    newest_first = [a_word("useful", 1), a_word("noise", 1), a_word("noise", 2)]
    assert advise(newest_first, NORMAL).opinions == {"noise": 1, "useful": 1}


@pytest.mark.parametrize(
    ("short", "noise", "proposed"),
    [
        ([0.5, 0.5, 0.5], 0, True),
        ([0.5, 0.5], 0, False),  # too few
        ([0.5, 0.5, 9.0, 9.0], 0, True),  # half
        ([0.5, 9.0, 9.0], 0, False),  # eager would not have shown them either
        ([0.5, 0.5, 0.5], 5, False),  # there is noise enough
    ],
)
def test_a_more_eager_point_is_proposed_when_it_would_have_shown_what_was_missed(
    short: list[float], noise: int, proposed: bool
) -> None:
    entries = [missed(number, nats) for number, nats in enumerate(short, start=50)]
    advice = advise(entries + words(("noise", noise, SURE)), NORMAL)

    assert advice.missed == len(short) and advice.reached == sum(nats < -MORE[EAGER] for nats in short)
    assert (Proposal(kind="attention", count=advice.reached, attention=EAGER) in advice.proposals) is proposed
    assert advise(entries, EAGER).missed == sum(nats > -MORE[EAGER] for nats in short)  # the others would come now


def test_a_memory_that_was_left_out_for_another_reason_than_the_bar_speaks_for_no_other_bar() -> None:
    advice = advise([missed(number, -1.0) for number in range(5)], NORMAL)
    assert (advice.missed, advice.reached, advice.proposals) == (5, 0, ())


def test_a_memory_that_is_noise_again_and_again_is_named_until_it_is_muted() -> None:
    said = [a_word("noise", number, SURE, memory_id=a_memory_id(7)) for number in range(3)]
    assert advise(said, NORMAL).proposals == (Proposal(kind="mute", count=3, memory_id=a_memory_id(7)),)
    assert advise(said[:2], NORMAL).proposals == ()
    assert advise(said, NORMAL, frozenset({a_memory_id(7)})).proposals == ()


@pytest.mark.parametrize("opinion", ["wrong", "harmful"])
def test_a_memory_that_is_wrong_is_named_at_once(opinion: str) -> None:
    about = a_word(opinion, packet=None, candidates=(), memory_id=a_memory_id(7))
    assert advise([about], NORMAL).proposals == (Proposal(kind="look", count=1, memory_id=a_memory_id(7)),)


def test_what_a_person_did_is_no_opinion() -> None:
    assert advise([a_word("muted", packet=None), a_word("pinned", packet=None)], NORMAL) == Advice()


@given(
    st.lists(
        st.tuples(st.sampled_from(list(Opinion)), st.floats(0, 20), st.sampled_from(list(Attention)), st.booleans())
    ),
    st.sampled_from(list(Attention)),
)
def test_a_quieter_point_never_gives_more(
    said: list[tuple[Opinion, float, Attention, bool]], attention: Attention
) -> None:
    entries = [
        a_word(opinion, number, beyond, held, door="answer" if answer else "evidence")
        for number, (opinion, beyond, held, answer) in enumerate(said)
    ]
    advice = advise(entries, attention)
    counts = [(point.given, point.noise, point.useful) for point in advice.points]
    assert all(a <= b for quiet, wide in pairwise(counts) for a, b in zip(quiet, wide, strict=True))
    assert advice.judged == len(said)
