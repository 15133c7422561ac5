"""Evidence and notes put together: whole, in order, labelled by whose words they are."""

from typing import Any

import msgspec

from governance.formation.context import ContextInput, Omitted, Part, select_evidence_context
from governance.formation.contracts import EvidenceNote, NoteFlag, NoteReview, ReviewStatus, Role, Use
from governance.formation.judging import judge, sealed
from governance.formation.windows import source_of
from tests.support.noting import a_message, a_packet, a_tool, candidate_of

ONE, TWO = a_message(1, "We use Postgres 16 in CI."), a_message(2, "The cache is warm.", Role.ASSISTANT)
PACKET = a_packet(ONE, TWO)
KEPT = NoteReview(status=ReviewStatus.KEPT)


def a_note(**fields: Any) -> EvidenceNote:
    (note,) = judge([candidate_of(ONE, content="CI uses Postgres 16.")], PACKET, "model").notes
    return sealed(msgspec.structs.replace(note, **{"review": KEPT, **fields}))


def given(*notes: EvidenceNote, **fields: Any) -> ContextInput:
    return ContextInput(**{"sources": PACKET.sources, "notes": notes, "budget_chars": 1000, **fields})


def test_words_are_labelled_by_whose_they_are_in_the_callers_order() -> None:
    note = a_note()
    backwards = given(note, sources=PACKET.sources[::-1])
    assert select_evidence_context(backwards).parts == (
        Part(id="m2", label="assistant_report", text="The cache is warm."),
        Part(id="m1", label="original", text="We use Postgres 16 in CI."),
        Part(id=note.id, label="human_interpretation", text="What was said\nCI uses Postgres 16."),
    )


def test_what_does_not_fit_is_left_out_whole_and_a_smaller_one_may_follow() -> None:
    found = select_evidence_context(given(budget_chars=len(TWO.content)))
    assert [part.id for part in found.parts] == ["m2"]
    assert found.omitted == (Omitted(id="m1", reason="over-budget"),)
    assert select_evidence_context(given(budget_chars=0)).parts == ()


def test_nothing_unconfirmed_stale_or_expired_is_given() -> None:
    changed = msgspec.structs.replace(a_note(), content="CI uses MySQL.")
    cases = [
        (a_note(review=NoteReview()), {}, "unconfirmed"),
        (a_note(review=NoteReview(status=ReviewStatus.ARCHIVED)), {}, "unconfirmed"),
        (a_note(flags=(NoteFlag.QUARANTINED,)), {}, "unconfirmed"),
        (a_note(flags=(NoteFlag.RECHECK,)), {}, "stale"),
        (a_note(), {"evidence": "0" * 64}, "stale"),
        (changed, {}, "stale"),
        (a_note(), {"expires": {a_note().id: 5}, "now": 5}, "expired"),
    ]
    for note, fields, reason in cases:
        found = select_evidence_context(given(note, sources=(), **fields))
        assert (found.parts, [one.reason for one in found.omitted]) == ((), [reason])
    fresh = given(a_note(), evidence=PACKET.evidence_digest, expires={"m1": 6}, now=5)
    assert len(select_evidence_context(fresh).parts) == 3


def test_a_tool_body_is_never_given() -> None:
    found = select_evidence_context(given(sources=(source_of(a_tool(3), 2, Use.NEW),)))
    assert (found.parts, found.omitted) == ((), (Omitted(id="m3", reason="unconfirmed"),))
