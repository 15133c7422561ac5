"""What we make of a statement's citations."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.team.assessing import assessed, basis, citations_digest, shown, strongest
from governance.team.contracts.rows import Cited, EvidenceRow
from governance.team.contracts.staging import Statement
from governance.team.contracts.turns import STRENGTHS, Strength, Support
from recall.canonical import text_digest

TASK = "extract-1"


def a_row(number: int, strength: Strength = Strength.DIRECT, *limits: str) -> EvidenceRow:
    return EvidenceRow(
        evidence_id=f"ev-{number}-x",
        kind="turn",
        pointer_digest=f"p{number}",
        display="turn",
        pointer="{}",
        strength=strength,
        limitations=limits,
    )


def of(*numbers: int, text: str = "We use uv.") -> Statement:
    return Statement(statement_id="s1", text=text, evidence_ids=tuple(f"ev-{number}-x" for number in numbers))


def bases(*rows: EvidenceRow):
    return {row.evidence_id: (basis(TASK, row),) for row in rows}


def test_the_strongest_that_is_cited_counts_and_every_limit():
    rows = (a_row(1, Strength.OBSERVED, "b"), a_row(2, Strength.DIRECT, "a"), a_row(3, Strength.DIRECT, "z"))
    made = assessed(of(1, 2), bases(*rows))
    assert (made.strength, made.limitations) == (Strength.DIRECT, ("a", "b"))
    assert made.support is Support.UNVERIFIED
    assert made.text_digest == text_digest("We use uv.")
    assert made.citations[0] == Cited(evidence_id="ev-1-x", pointer_digest="p1", task_id=TASK)


def test_a_statement_that_cites_nothing_is_unknown():
    made = assessed(of(), {})
    assert (made.strength, made.citations, made.limitations) == (Strength.UNKNOWN, (), ())
    assert made.citations_digest == citations_digest(())


def test_what_is_verified_by_itself_is_a_typed_fact():
    assert assessed(of(1), bases(a_row(1)), typed={"s1"}).support is Support.TYPED_FACT


def test_order_and_repetition_of_citations_change_no_digest():
    rows = bases(a_row(1), a_row(2), a_row(3))
    digests = {assessed(of(*order, 1), rows).citations_digest for order in itertools.permutations((1, 2, 3))}
    assert len(digests) == 1
    assert assessed(of(1, 2), rows).citations_digest not in digests


def test_the_text_is_digested_as_its_bytes_are():
    composed, combining = assessed(of(text="caf\u00e9"), {}), assessed(of(text="cafe\u0301"), {})
    assert composed.text_digest != combining.text_digest


def test_evidence_that_stands_for_nothing_is_an_error():
    with pytest.raises(KeyError):
        assessed(of(9), bases(a_row(1)))


def test_an_entry_shows_the_weakest_statement_and_all_limits():
    strong = assessed(of(1), bases(a_row(1, Strength.DIRECT, "a")))
    weak = assessed(of(2), bases(a_row(2, Strength.CONTEXTUAL, "b")), typed={"s1"})
    found = shown([strong, weak])
    assert (found.strength, found.limitations, found.support) == (Strength.CONTEXTUAL, ("a", "b"), Support.MIXED)
    assert shown([strong]).support is Support.UNVERIFIED
    assert shown([]).strength is Strength.UNKNOWN


@given(st.lists(st.sampled_from(STRENGTHS), min_size=1))
def test_strength_follows_the_table(strengths):
    assert strongest(strengths) is STRENGTHS[min(map(STRENGTHS.index, strengths))]
