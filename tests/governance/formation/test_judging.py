"""Candidates, each for itself: what becomes a note, what is rejected with which code, and what identifies a note."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.admit import Terms
from governance.formation.contracts import (
    EvidenceNote,
    NoteFlag,
    NoteReview,
    Rejected,
    RejectionCode,
    ReviewStatus,
    Role,
)
from governance.formation.judging import (
    AGENT,
    MODEL,
    body_in,
    body_of,
    judge,
    material,
    note_digest,
    note_id,
    proposed,
    sealed,
)
from governance.formation.oversize import compress_message
from tests.support.noting import (
    POISON,
    TOKEN,
    a_body,
    a_candidate,
    a_message,
    a_packet,
    candidate_of,
    quoted_slices_hold,
    truncated,
)

ONE = a_message(1, "We use Postgres 16 in CI.")
TWO = a_message(2, "The cache folder may be deleted.", Role.ASSISTANT)
PACKET = a_packet(ONE, TWO)


def only(candidate: object, packet: Any = PACKET) -> EvidenceNote:
    judged = judge([candidate], packet, MODEL)
    assert judged.rejected == ()
    return judged.notes[0]


def refused(candidate: object, packet: Any = PACKET) -> RejectionCode:
    judged = judge([candidate], packet, MODEL)
    assert judged.notes == ()
    return judged.rejected[0].code


def test_a_good_candidate_becomes_a_pending_note_with_its_quotes() -> None:
    note = only(candidate_of(ONE, title="  CI\n database ", content=" CI uses Postgres 16. "))
    assert (note.title, note.content) == ("CI database", "CI uses Postgres 16.")
    assert (note.version, note.author, note.review) == (1, MODEL, NoteReview())
    assert (note.evidence_digest, note.scope.scope_key) == (PACKET.evidence_digest, PACKET.scope_key)
    assert note.digest == note_digest(note)
    assert quoted_slices_hold(note, ONE, TWO)


@pytest.mark.parametrize(
    "candidate",
    [
        "a note",
        None,
        [],
        {},
        candidate_of(ONE, kind="rumour"),
        candidate_of(ONE, attribution="hearsay"),
        candidate_of(ONE, title=""),
        candidate_of(ONE, title="x" * 121),
        candidate_of(ONE, title=3),
        candidate_of(ONE, content=" \n"),
        candidate_of(ONE, content="x" * 2001),
        candidate_of(ONE, content="bell \x07"),
        candidate_of(ONE, content="half \ud83d"),
        candidate_of(ONE, citations=[]),
        candidate_of(ONE, citations=[{"messageId": "m1", "quote": "We use"}] * 9),
        candidate_of(ONE, citations=[{"messageId": "m1"}]),
        candidate_of(ONE, citations="m1"),
        candidate_of(ONE, citations=[{"messageId": "m1", "quote": "half \ud83d"}]),
        {name: value for name, value in candidate_of(ONE).items() if name != "attribution"},
    ],
)
def test_what_has_not_the_form_of_a_note_is_rejected_alone(candidate: object) -> None:
    judged = judge([candidate, candidate_of(ONE)], PACKET, MODEL)
    assert [(one.index, one.code) for one in judged.rejected] == [(0, RejectionCode.SCHEMA)]
    assert len(judged.notes) == 1


def test_further_members_and_offsets_of_a_candidate_are_passed_over() -> None:
    given = candidate_of(ONE, priority=3)
    given["citations"][0] |= {"start": 999, "end": -4}
    assert only(given).citations[0].start == 0


def test_a_rejection_tells_nothing_of_the_candidates_words() -> None:
    judged = judge([candidate_of(ONE, kind="SECRETWORD"), candidate_of(ONE, content=7)], PACKET, MODEL)
    assert len(judged.rejected) == 2
    assert not any("SECRETWORD" in one.detail for one in judged.rejected)


@pytest.mark.parametrize(
    ("candidate", "code"),
    [
        (a_candidate("We use", "m9"), RejectionCode.UNKNOWN_MESSAGE),
        (a_candidate("We use Postgres 15", "m1"), RejectionCode.QUOTE_NOT_FOUND),
        (a_candidate("We", "m1"), RejectionCode.QUOTE_TOO_SHORT),
        (a_candidate("The cache folder", "m2"), RejectionCode.ATTRIBUTION_MISMATCH),
        (candidate_of(ONE, attribution="assistant_report"), RejectionCode.ATTRIBUTION_MISMATCH),
        (candidate_of(ONE, content="We use Postgres 15 in CI."), RejectionCode.UNSUPPORTED_TOKEN),
        (candidate_of(ONE, content="Yesterday they said to use Postgres 16."), RejectionCode.RELATIVE_DATE),
    ],
)
def test_each_reason_has_its_code(candidate: dict[str, Any], code: RejectionCode) -> None:
    assert refused(candidate) is code


def test_the_ninth_and_later_are_over_the_limit_and_the_same_counts_once() -> None:
    messages = [a_message(number) for number in range(10)]
    packet = a_packet(*messages)
    judged = judge([candidate_of(one) for one in messages], packet, AGENT)
    assert [(one.index, one.code) for one in judged.rejected] == [(8, "over-limit"), (9, "over-limit")]
    again = candidate_of(messages[0], title="Otherwise called", content=messages[0].content.upper())
    judged = judge([candidate_of(messages[0]), again, candidate_of(messages[1])], packet, AGENT)
    assert [(one.index, one.code) for one in judged.rejected] == [(1, RejectionCode.DUPLICATE)]


def test_what_was_taken_out_cannot_be_quoted_in_any_way() -> None:
    said = a_message(3, f"Deploy with the token {TOKEN} on Fridays.")
    packet = a_packet(said)
    shown = material(packet)
    assert TOKEN not in shown and "[secret:" in shown
    assert refused(a_candidate(f"the token {TOKEN}", "m3", "There is a deploy token."), packet) is RejectionCode.SECRET
    half = a_candidate(f"the token {TOKEN[:12]}", "m3", "There is a deploy token.")
    assert refused(half, packet) is RejectionCode.SECRET
    placeholder = a_candidate("the token [secret:github-token] on", "m3", "There is a deploy token.")
    assert refused(placeholder, packet) is RejectionCode.QUOTE_NOT_FOUND
    assert only(a_candidate("on Fridays", "m3", "Deploys happen on Fridays."), packet).citations[0].end == len(
        said.content.rstrip(".")
    )


def test_nobody_wrote_the_line_over_a_gap() -> None:
    long = compress_message(a_message(3, "alpha beta " * 60), 300)
    gap = next(line for line in long.content.split("\n") if line.startswith("[…"))
    assert refused(a_candidate(gap, "m3", "Something was omitted."), a_packet(long)) is RejectionCode.QUOTE_NOT_FOUND
    written = a_message(4, "The log says […12 x…] or [… 12 characters omitted …] at times.")
    assert only(a_candidate("[… 12 characters omitted …]", "m4", "The log is cut."), a_packet(written))


def test_notes_on_cut_messages_and_on_orders_carry_a_flag() -> None:
    cut = truncated(3, "The limit is three.")
    assert only(candidate_of(cut), a_packet(cut)).flags == (NoteFlag.TRUNCATED_EVIDENCE,)
    order = a_message(4, f"{POISON} We deploy on Fridays.")
    assert NoteFlag.QUARANTINED in only(candidate_of(order), a_packet(order)).flags
    assert only(candidate_of(ONE)).flags == ()


def test_the_id_is_of_window_and_content_alone() -> None:
    note = only(candidate_of(ONE))
    again = judge([candidate_of(ONE)], PACKET, AGENT).notes[0]
    assert again.id == note.id and note.id.startswith("note_") and len(note.id) == 37
    others = [
        only(candidate_of(ONE, kind="lesson")),
        only(candidate_of(ONE, title="Another")),
        only(candidate_of(ONE, content="We use Postgres.")),
        only(candidate_of(ONE, attribution="plan")),
        only(a_candidate("Postgres 16", "m1", ONE.content)),
        only(candidate_of(ONE), a_packet(ONE)),
        only(candidate_of(ONE), msgspec.structs.replace(PACKET, stream_id="s-two")),
        only(candidate_of(ONE), msgspec.structs.replace(PACKET, scope_key="ws_other")),
    ]
    assert len({note.id, *(one.id for one in others)}) == 9
    assert note_id(body_in(note), PACKET) == note.id


def test_the_digest_changes_with_body_version_and_status_but_not_with_flags() -> None:
    note = only(candidate_of(ONE))
    kept = NoteReview(status=ReviewStatus.KEPT)
    for changed in ({"content": "x"}, {"version": 2}, {"review": kept}, {"evidence_digest": "0" * 64}, {"title": "y"}):
        assert note_digest(msgspec.structs.replace(note, **changed)) != note.digest
    flagged = msgspec.structs.replace(note, flags=(NoteFlag.RECHECK,), author=AGENT)
    assert sealed(flagged).digest == note.digest


def test_a_person_may_cite_background_alone() -> None:
    packet = a_packet(ONE, TWO, background=1)
    body = body_of(candidate_of(ONE))
    assert not isinstance(body, Rejected)
    code = proposed(body, packet, "human", Terms())
    assert isinstance(code, Rejected) and code.code is RejectionCode.BACKGROUND_ONLY
    assert isinstance(proposed(body, packet, "human", Terms(needs_new=False)), EvidenceNote)
    assert isinstance(proposed(a_body("We use", "m1"), PACKET, "human", Terms()), EvidenceNote)


def test_material_shows_day_role_use_and_cuts_one_line_a_message() -> None:
    cut = truncated(3, 'A "line"\nand another')
    lines = material(a_packet(ONE, cut, background=1)).split("\n")
    assert len(lines) == 4
    assert '"use":"background"' in lines[1] and '"day":"2026-05-28 Thursday"' in lines[1]
    assert '"truncated":true' in lines[2] and '\\"line\\"\\nand' in lines[2]
    assert "day" not in material(a_packet(a_message(4, timestamp=0)))


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["fact", "lesson", "x", None]),
        "title": st.text(max_size=130),
        "content": st.text(max_size=200) | st.just(ONE.content),
        "attribution": st.sampled_from(["user_statement", "plan", "x"]),
        "citations": st.lists(
            st.fixed_dictionaries(
                {"messageId": st.sampled_from(["m1", "m2", ""]), "quote": st.text() | st.just("We use")}
            )
        ),
    },
)


@given(st.lists(FIELDS | st.none() | st.text() | st.integers(), max_size=10))
def test_whatever_a_model_hands_over_each_candidate_is_a_note_or_a_rejection(candidates: list[object]) -> None:
    judged = judge(candidates, PACKET, MODEL)
    assert len(judged.notes) + len(judged.rejected) == len(candidates)
    assert [one.index for one in judged.rejected] == sorted({one.index for one in judged.rejected})
    for note in judged.notes:
        assert quoted_slices_hold(note, ONE, TWO) and note.digest == note_digest(note)
