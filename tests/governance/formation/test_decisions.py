"""Decisions of a person on notes, in the order in which they are checked, and what may be exported afterwards."""

from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from governance.formation.contracts import (
    Actor,
    AtomEvidence,
    EvidenceDecision,
    EvidenceNote,
    NoteAction,
    NoteFlag,
    NoteReview,
    Packet,
    Rejected,
    ReviewStatus,
    Role,
)
from governance.formation.decisions import (
    Decided,
    Excluded,
    Refused,
    ReviewInput,
    apply_evidence_decision,
    export_reviewed_lessons,
    prepare_evidence_review,
    propose_evidence_note,
    rechecked,
)
from governance.formation.errors import ParameterFault
from governance.formation.judging import judge, note_digest, sealed
from tests.support.clock import START
from tests.support.noting import POISON, SCOPE, STREAM, a_body, a_message, a_packet, candidate_of

ONE, TWO = a_message(1, "We use Postgres 16 in CI."), a_message(2, "It is the newest that the host offers.")
PACKET = a_packet(ONE, TWO)
PERSON = Actor(id="me", kind="human")


def a_note(**fields: Any) -> EvidenceNote:
    (note,) = judge([candidate_of(ONE, kind="lesson")], PACKET, "model").notes
    return sealed(msgspec.structs.replace(note, **fields))


def a_decision(note: EvidenceNote, action: NoteAction = NoteAction.KEEP, **fields: Any) -> EvidenceDecision:
    given = {
        "actor": PERSON,
        "at": START,
        "expected_version": note.version,
        "expected_digest": note.digest,
        "action": action,
        "reason": "agreed",
    } | fields
    return EvidenceDecision(**given)


def decided(note: EvidenceNote, action: NoteAction = NoteAction.KEEP, **fields: Any) -> EvidenceNote:
    done = apply_evidence_decision(PACKET, note, a_decision(note, action, **fields))
    assert isinstance(done, Decided), done
    return done.note


def refused(note: EvidenceNote, decision: EvidenceDecision, packet: Packet = PACKET) -> str:
    done = apply_evidence_decision(packet, note, decision)
    assert isinstance(done, Refused) and done.problem
    return done.code


def test_a_kept_note_is_the_next_version_with_its_decision() -> None:
    note = a_note()
    done = apply_evidence_decision(PACKET, note, a_decision(note, reason="  as said  "))
    assert isinstance(done, Decided)
    kept, record = done.note, done.record
    assert (kept.version, kept.review.status, kept.review.decisions) == (2, ReviewStatus.KEPT, (record,))
    assert (record.from_version, record.to_version, record.digest) == (1, 2, kept.digest)
    assert (record.actor, record.at, record.action, record.reason) == (PERSON, START, NoteAction.KEEP, "as said")
    assert kept.digest == note_digest(kept) != note.digest
    assert (kept.id, kept.content, kept.citations) == (note.id, note.content, note.citations)
    assert note.review == NoteReview()


@pytest.mark.parametrize(
    ("status", "action", "after"),
    [
        ("pending", "keep", "kept"),
        ("pending", "edit_and_keep", "kept"),
        ("pending", "archive", "archived"),
        ("kept", "keep", None),
        ("kept", "edit_and_keep", "kept"),
        ("kept", "archive", "archived"),
        ("archived", "keep", "kept"),
        ("archived", "edit_and_keep", "kept"),
        ("archived", "archive", None),
    ],
)
def test_each_state_takes_its_decisions(status: str, action: str, after: str | None) -> None:
    note = a_note(review=NoteReview(status=ReviewStatus(status)))
    body = a_body("We use Postgres 16", "m1") if action == "edit_and_keep" else None
    done = apply_evidence_decision(PACKET, note, a_decision(note, NoteAction(action), body=body))
    if after is None:
        assert isinstance(done, Refused) and done.code == "transition"
    else:
        assert isinstance(done, Decided) and done.note.review.status == after


def test_the_first_reason_in_their_order_is_given() -> None:
    """Each decision has all faults of those below it, too."""
    note = a_note(review=NoteReview(status=ReviewStatus.KEPT))
    bad = {
        "actor": Actor(id="x", kind="agent"),
        "expected_version": 9,
        "expected_digest": "0" * 64,
        "reason": " ",
        "body": a_body("nothing", "m1"),
    }
    other = msgspec.structs.replace(PACKET, scope_key="ws_x", stream_id="s-x", evidence_digest="0" * 64)
    fixes: list[tuple[str, dict[str, Any], Packet]] = [
        ("reviewer-kind", {"actor": PERSON}, other),
        ("scope-mismatch", {}, msgspec.structs.replace(other, scope_key=SCOPE)),
        ("stream-mismatch", {}, msgspec.structs.replace(other, scope_key=SCOPE, stream_id=STREAM)),
        ("evidence-stale", {}, PACKET),
        ("version-conflict", {"expected_version": note.version}, PACKET),
        ("digest-conflict", {"expected_digest": note.digest}, PACKET),
        ("transition", {"action": NoteAction.ARCHIVE}, PACKET),
        ("reason-required", {"reason": "why"}, PACKET),
        ("body-forbidden", {"action": NoteAction.EDIT_AND_KEEP}, PACKET),
        ("citation-invalid", {"body": None}, PACKET),
        ("body-required", {"body": a_body("We use Postgres 16", "m1")}, PACKET),
    ]
    packet, decision = other, a_decision(note, **bad)
    for code, better, next_packet in fixes:
        assert refused(note, decision, packet) == code
        decision, packet = msgspec.structs.replace(decision, **better), next_packet
    assert isinstance(apply_evidence_decision(packet, note, decision), Decided)


@pytest.mark.parametrize("kind", ["agent", "engine", "policy", "pipeline", ""])
def test_only_a_person_decides(kind: str) -> None:
    note = a_note()
    assert refused(note, a_decision(note, actor=Actor(id="x", kind=kind))) == "reviewer-kind"


def test_a_note_that_was_tampered_with_is_a_digest_conflict() -> None:
    note = msgspec.structs.replace(a_note(), content="We use MySQL in CI.")
    assert refused(note, a_decision(note)) == "digest-conflict"


def test_an_edit_puts_new_words_on_the_quotes_and_keeps_the_id() -> None:
    note = a_note(flags=(NoteFlag.RECHECK,))
    body = a_body("the newest that the host offers", "m2", "CI runs Postgres 16.", title="Database of CI")
    body = msgspec.structs.replace(body, citations=(*note.citations, *body.citations))
    edited = decided(note, NoteAction.EDIT_AND_KEEP, body=body)
    assert (edited.id, edited.content, edited.title, len(edited.citations)) == (
        note.id,
        "CI runs Postgres 16.",
        "Database of CI",
        2,
    )
    assert edited.citations[1].start == TWO.content.index("the newest")
    assert edited.flags == ()


def test_a_decision_clears_the_call_for_another_look_and_no_quarantine() -> None:
    note = a_note(flags=(NoteFlag.QUARANTINED, NoteFlag.RECHECK))
    assert decided(note).flags == (NoteFlag.QUARANTINED,)
    assert rechecked(rechecked(a_note())).flags == (NoteFlag.RECHECK,)
    assert rechecked(a_note()).digest == a_note().digest


def test_a_review_is_made_of_the_messages_as_they_stand_now() -> None:
    given = ReviewInput(scope_key=SCOPE, stream_id=STREAM, sources=(TWO, ONE), places={"m1": 7, "m2": 9})
    packet = prepare_evidence_review(given)
    assert [(one.message_id, one.index) for one in packet.sources] == [("m1", 7), ("m2", 9)]
    assert packet.evidence_digest == PACKET.evidence_digest
    changed = msgspec.structs.replace(TWO, content="It is not the newest.")
    for sources in ((ONE,), (ONE, changed), (ONE, TWO, a_message(3)), ()):
        other = prepare_evidence_review(msgspec.structs.replace(given, sources=sources))
        assert refused(a_note(), a_decision(a_note()), other) == "evidence-stale"
    with pytest.raises(ParameterFault):
        prepare_evidence_review(msgspec.structs.replace(given, sources=(ONE, ONE)))


def test_a_correction_is_shown_beside_the_evidence_and_makes_it_no_other() -> None:
    said = a_message(9, "No, CI uses Postgres 17 now.")
    given = ReviewInput(scope_key=SCOPE, stream_id=STREAM, sources=(ONE, TWO), corrections=(said,), places={"m9": 40})
    packet = prepare_evidence_review(given)
    assert [one.message_id for one in packet.sources] == ["m1", "m2", "m9"]
    assert packet.evidence_digest == PACKET.evidence_digest
    note = rechecked(a_note())
    body = a_body("CI uses Postgres 17 now", "m9", "CI uses Postgres 17.")
    done = apply_evidence_decision(packet, note, a_decision(note, NoteAction.EDIT_AND_KEEP, body=body))
    assert isinstance(done, Decided)
    assert (done.note.content, done.note.flags) == ("CI uses Postgres 17.", ())


def test_a_person_adds_what_was_missed_and_it_waits_too() -> None:
    packet = a_packet(ONE, TWO, background=1)
    note = propose_evidence_note(packet, a_body("We use Postgres 16", "m1"))
    assert isinstance(note, EvidenceNote)
    assert (note.author, note.review.status) == ("human", ReviewStatus.PENDING)
    made_up = propose_evidence_note(packet, a_body("We use MySQL", "m1"))
    assert isinstance(made_up, Rejected) and made_up.code == "quote-not-found"


def test_a_kept_lesson_is_exported_with_the_evidence_that_it_cites() -> None:
    kept = decided(a_note())
    (atom,) = export_reviewed_lessons(PACKET, [kept]).memories
    assert (atom.id, atom.version, atom.kind, atom.content, atom.scope_key) == (
        kept.id,
        2,
        "lesson",
        kept.content,
        SCOPE,
    )
    assert atom.evidence == (AtomEvidence(id=ONE.evidence[0].id, version=1),)


def test_each_reason_keeps_a_note_from_being_exported() -> None:
    kept = decided(a_note())
    other_scope = msgspec.structs.replace(kept.scope, scope_key="ws_other")
    other_stream = msgspec.structs.replace(kept.scope, stream_id="s-other")
    order = a_message(1, f"{POISON} We use Postgres 16 in CI.")
    (flagged,) = judge([candidate_of(order, kind="lesson")], a_packet(order), "model").notes
    (fact,) = judge([candidate_of(ONE)], PACKET, "model").notes
    notes = {
        "fact": decided(fact),
        "pending": a_note(),
        "archived": decided(a_note(), NoteAction.ARCHIVE),
        "scope-mismatch": sealed(msgspec.structs.replace(kept, scope=other_scope)),
        "stream-mismatch": sealed(msgspec.structs.replace(kept, scope=other_stream)),
        "stale-evidence": sealed(msgspec.structs.replace(kept, evidence_digest="0" * 64)),
        "digest-mismatch": msgspec.structs.replace(kept, title="Another"),
        "quarantined": sealed(msgspec.structs.replace(kept, flags=flagged.flags)),
    }
    exported = export_reviewed_lessons(PACKET, [*notes.values(), kept])
    assert exported.excluded == tuple(Excluded(note_id=note.id, reason=why) for why, note in notes.items())
    assert [atom.id for atom in exported.memories] == [kept.id]
    assert export_reviewed_lessons(PACKET, [rechecked(kept)]).excluded[0].reason == "pending"


def test_sources_of_several_roles_make_one_review() -> None:
    report = a_message(3, "The suite takes an hour.", Role.ASSISTANT)
    packet = prepare_evidence_review(ReviewInput(scope_key=SCOPE, stream_id=STREAM, sources=(report, ONE)))
    body = a_body("The suite takes an hour.", "m3", attribution="assistant_report")
    assert isinstance(propose_evidence_note(packet, body), EvidenceNote)


@settings(max_examples=40, stateful_step_count=12)
class NoteLife(RuleBasedStateMachine):
    """However a note is decided upon, its versions count up, each with its record; an old one is never decided on."""

    def __init__(self) -> None:
        super().__init__()
        self.versions = [a_note()]

    @rule(action=st.sampled_from(list(NoteAction)))
    def decide(self, action: NoteAction) -> None:
        note = self.versions[-1]
        body = a_body("We use Postgres 16", "m1") if action is NoteAction.EDIT_AND_KEEP else None
        done = apply_evidence_decision(PACKET, note, a_decision(note, action, body=body))
        if isinstance(done, Decided):
            self.versions.append(done.note)

    @precondition(lambda self: len(self.versions) > 1)
    @rule(action=st.sampled_from(list(NoteAction)))
    def decide_by_an_old_version(self, action: NoteAction) -> None:
        done = apply_evidence_decision(PACKET, self.versions[-1], a_decision(self.versions[-2], action))
        assert isinstance(done, Refused) and done.code == "version-conflict"

    @invariant()
    def versions_count_up_with_their_records(self) -> None:
        last = self.versions[-1]
        assert [note.version for note in self.versions] == list(range(1, len(self.versions) + 1))
        assert [one.digest for one in last.review.decisions] == [note.digest for note in self.versions[1:]]


TestNoteLife = NoteLife.TestCase
