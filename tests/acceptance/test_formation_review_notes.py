"""formation.md 9, items 7 and 8: a note that was decided upon, and the evidence that it is bound to."""

from typing import Any

import msgspec
import pytest

from governance.formation.contracts import (
    Actor,
    EvidenceDecision,
    EvidenceNote,
    ExtractL1Result,
    NoteAction,
    NoteKind,
    Packet,
    ReviewStatus,
)
from governance.formation.decisions import (
    Decided,
    Exclusion,
    Refused,
    ReviewInput,
    apply_evidence_decision,
    export_reviewed_lessons,
    prepare_evidence_review,
    rechecked,
)
from governance.formation.judging import body_in, sealed
from governance.formation.notes import extract_l1
from governance.formation.queue import Queue
from governance.formation.saving import Occasion, Saving, Standing
from governance.formation.store import notes
from governance.migrations import queue_steps
from governance.review import Act, Decision, Principal, Refusal
from host.database import open_database
from tests.support.clock import START
from tests.support.noting import (
    POISON,
    SCOPE,
    STREAM,
    a_message,
    a_model,
    a_request,
    a_setting,
    candidate_of,
    submits,
)

MESSAGES = tuple(a_message(number) for number in range(4))
PERSON = Actor(id="me", kind="human")


async def a_run(*candidates: object, messages: Any = MESSAGES) -> ExtractL1Result:
    return await extract_l1(a_model(submits(*candidates)), a_request(*messages), a_setting())


def a_decision(note: EvidenceNote, action: NoteAction = NoteAction.KEEP, **fields: Any) -> EvidenceDecision:
    given = {
        "actor": PERSON,
        "at": START,
        "expected_version": note.version,
        "expected_digest": note.digest,
        "action": action,
        "reason": "agreed with the team",
    } | fields
    return EvidenceDecision(**given)


def kept(packet: Packet, note: EvidenceNote, action: NoteAction = NoteAction.KEEP) -> EvidenceNote:
    done = apply_evidence_decision(packet, note, a_decision(note, action))
    assert isinstance(done, Decided)
    return done.note


@pytest.mark.promise("formation-07")
async def test_item_07_keep_a_note_run_the_same_window_again_the_saved_note_is_unchanged(tmp_path: Any) -> None:
    """Over a real file: the store is read back as it was."""
    async with open_database(tmp_path / "governance.db", queue_steps()) as database:
        saving = Saving(database=database, queue=Queue(database, b"k" * 32))
        occasion = Occasion(at=START, scope_key=SCOPE, stream_id=STREAM)
        result = await a_run(candidate_of(MESSAGES[0]), candidate_of(MESSAGES[1]))
        first = (await saving.save(result, occasion)).notes[0].note
        assert result.packet is not None
        after = kept(result.packet, first)
        assert await database.write(lambda connection: notes.replace(connection, after, first.version))

        for round_ in range(3):
            again = await a_run(candidate_of(MESSAGES[0]), candidate_of(MESSAGES[1]))
            saved = await saving.save(again, msgspec.structs.replace(occasion, at=START + round_))
            assert saved.notes[0].standing is Standing.SAME
            assert saved.notes[0].note == after
        stored = await database.read(lambda connection: notes.note_of(connection, first.id))
        assert stored == after
        assert (stored.version, stored.review.status) == (2, ReviewStatus.KEPT)


@pytest.mark.promise("formation-07")
async def test_item_07_a_decision_of_an_old_version_or_digest_or_of_an_agent_is_refused() -> None:
    result = await a_run(candidate_of(MESSAGES[0]))
    note, packet = result.changes[0].after, result.packet
    assert packet is not None
    after = kept(packet, note)
    old_version = a_decision(after, NoteAction.ARCHIVE, expected_version=1)
    old_digest = a_decision(after, NoteAction.ARCHIVE, expected_digest=note.digest)
    by_agent = a_decision(after, NoteAction.ARCHIVE, actor=Actor(id="claude", kind="agent"))
    codes = []
    for decision in (old_version, old_digest, by_agent):
        refused = apply_evidence_decision(packet, after, decision)
        assert isinstance(refused, Refused)
        codes.append(refused.code)
    assert codes == ["version-conflict", "digest-conflict", "reviewer-kind"]


def review_of(*messages: Any) -> Packet:
    return prepare_evidence_review(ReviewInput(scope_key=SCOPE, stream_id=STREAM, sources=messages))


@pytest.mark.promise("formation-08")
async def test_item_08_reordered_sources_are_the_same_evidence_and_changed_ones_are_stale() -> None:
    result = await a_run(candidate_of(MESSAGES[0], kind="lesson"))
    note = result.changes[0].after
    for order in (MESSAGES, MESSAGES[::-1], (*MESSAGES[2:], *MESSAGES[:2])):
        assert review_of(*order).evidence_digest == note.evidence_digest
    edited = msgspec.structs.replace(MESSAGES[1], content=MESSAGES[1].content + " And more.")
    for packet in (
        review_of(*MESSAGES[:3]),
        review_of(*MESSAGES, a_message(9)),
        review_of(MESSAGES[0], edited, *MESSAGES[2:]),
    ):
        refused = apply_evidence_decision(packet, note, a_decision(note))
        assert isinstance(refused, Refused) and refused.code == "evidence-stale"


@pytest.mark.promise("formation-08")
async def test_item_08_export_gives_each_of_the_eight_reasons_once_and_never_a_kept_fact() -> None:
    orders = a_message(7, f"{POISON} Retries end after step7.")
    messages = (*MESSAGES, orders)
    lessons = [candidate_of(message, kind="lesson") for message in messages]
    result = await a_run(
        candidate_of(MESSAGES[0], title="As a fact", content="step0 comes first."), *lessons, messages=messages
    )
    packet, made = result.packet, [change.after for change in result.changes]
    assert packet is not None and len(made) == 6
    fact, one, two, three, four, flagged = made
    assert fact.kind is NoteKind.FACT
    scope = msgspec.structs.replace(one.scope, scope_key="ws_other")
    stream = msgspec.structs.replace(one.scope, stream_id="s-other")
    offered = [
        kept(packet, fact),
        one,
        kept(packet, two, NoteAction.ARCHIVE),
        sealed(msgspec.structs.replace(kept(packet, three), evidence_digest="0" * 64)),
        sealed(msgspec.structs.replace(kept(packet, three), scope=scope)),
        sealed(msgspec.structs.replace(kept(packet, three), scope=stream)),
        msgspec.structs.replace(kept(packet, three), content="Changed behind our back."),
        kept(packet, flagged),
        kept(packet, four),
    ]
    exported = export_reviewed_lessons(packet, offered)
    assert [one.reason for one in exported.excluded] == [
        "fact",
        "pending",
        "archived",
        "stale-evidence",
        "scope-mismatch",
        "stream-mismatch",
        "digest-mismatch",
        "quarantined",
    ]
    assert sorted(one.reason for one in exported.excluded) == sorted(Exclusion)
    assert [atom.id for atom in exported.memories] == [four.id]
    assert all(atom.kind is NoteKind.LESSON for atom in exported.memories)
    assert export_reviewed_lessons(packet, [rechecked(kept(packet, four))]).memories == ()


@pytest.mark.promise("reviewed-stays")
async def test_extraction_run_again_three_times_changes_no_byte_of_a_reviewed_note(tmp_path: Any) -> None:
    """A note that was kept, one that was edited, one that was archived, and one that waits."""
    tables = ("note", "queue", "decision", "tombstone", "note_stream")

    def bytes_of(connection: Any) -> list[Any]:
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]

    async with open_database(tmp_path / "governance.db", queue_steps()) as database:
        queue = Queue(database, b"k" * 32)
        saving = Saving(database=database, queue=queue)
        occasion = Occasion(at=START, scope_key=SCOPE, stream_id=STREAM)
        result = await a_run(*(candidate_of(message) for message in MESSAGES))
        saved = await saving.save(result, occasion)
        assert result.packet is not None
        body = msgspec.structs.replace(body_in(saved.notes[1].note), title="In a person's words")
        acts = [(NoteAction.KEEP, None), (NoteAction.EDIT_AND_KEEP, body), (NoteAction.ARCHIVE, None)]
        for one, (action, words) in zip(saved.notes, acts, strict=False):
            done = apply_evidence_decision(result.packet, one.note, a_decision(one.note, action, body=words))
            assert isinstance(done, Decided)
            after = done.note
            assert await database.write(lambda connection, after=after: notes.replace(connection, after, 1))
            act = Act(action.value.replace("_", "-"))
            made = Decision(actor=Principal.HUMAN, kind=act, at=START, expected_revision=1, reason="reviewed")
            assert not isinstance(await queue.decide(one.note.id, made), Refusal)
        before = await database.read(bytes_of)

        for later in range(1, 4):
            again = await a_run(*(candidate_of(message) for message in MESSAGES))
            saved = await saving.save(again, msgspec.structs.replace(occasion, at=START))
            assert {one.standing for one in saved.notes} == {Standing.SAME}, later
            assert await database.read(bytes_of) == before
