"""What a run leaves behind: all of it or nothing, each note once, and nothing that was said no to."""

from typing import Any

import msgspec
import pytest

from governance.formation.contracts import (
    EvidenceNote,
    EvidenceRef,
    ExtractL1Result,
    NoteReview,
    ReviewStatus,
    RunStatus,
)
from governance.formation.judging import sealed
from governance.formation.markers import marked_notes
from governance.formation.notes import extract_l1
from governance.formation.queue import Queue, QueueFilter
from governance.formation.saving import Occasion, Saving, Standing, prepare
from governance.formation.store import notes
from governance.migrations import queue_steps
from governance.review import Act, Decision, ItemFlag, ItemKind, Principal, State
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.noting import (
    POISON,
    SCOPE,
    STREAM,
    a_candidate,
    a_message,
    a_model,
    a_request,
    a_setting,
    candidate_of,
    submits,
)

MESSAGES = tuple(a_message(number) for number in range(3))
OCCASION = Occasion(at=START, scope_key=SCOPE, stream_id=STREAM, conversation_key="root")


async def a_run(*candidates: object, messages: Any = MESSAGES, **fields: Any) -> ExtractL1Result:
    return await extract_l1(a_model(submits(*candidates)), a_request(*messages, **fields), a_setting())


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


@pytest.fixture
def saving(database: FakeDatabase) -> Saving:
    return Saving(database=database, queue=Queue(database, b"k" * 32))


def count(database: FakeDatabase, table: str) -> int:
    (number,) = database.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(number)


async def test_a_run_is_notes_items_window_and_place_at_once(saving: Saving, database: FakeDatabase) -> None:
    result = await a_run(candidate_of(MESSAGES[0]), candidate_of(MESSAGES[1]), "junk", max_new_messages=2)
    saved = await saving.save(result, OCCASION)
    assert saved.ids() == tuple(change.after.id for change in result.changes)
    assert database.writes == 1
    row = await database.read(lambda connection: notes.window_of(connection, saved.window_id or ""))
    assert row is not None and (row.rejected, row.provenance) == (result.rejected, result.provenance)
    place = await database.read(lambda connection: notes.stream_of(connection, SCOPE, STREAM))
    assert place is not None and (place.next_index, place.last_id) == (2, "m1")
    assert place.continuation == result.continuation
    item = await saving.queue.get(saved.ids()[0])
    note = saved.notes[0].note
    assert item is not None
    assert (item.kind, item.state, item.text, item.title) == (ItemKind.NOTE, State.PENDING, note.content, note.title)
    assert (item.workspace_key, item.conversation_key, item.pipeline) == (SCOPE, "root", "notes")
    (cited,) = item.citations
    assert (cited.quote, cited.start, cited.end) == (MESSAGES[0].content, 0, len(MESSAGES[0].content))
    assert (cited.session, cited.seq, cited.role, cited.at) == (STREAM, 0, "user", START)


async def test_saved_again_nothing_of_a_note_changes(saving: Saving, database: FakeDatabase) -> None:
    result = await a_run(candidate_of(MESSAGES[0]), candidate_of(MESSAGES[1]))
    first = (await saving.save(result, OCCASION)).notes[0].note
    kept = sealed(msgspec.structs.replace(first, version=2, review=NoteReview(status=ReviewStatus.KEPT)))
    await database.write(lambda connection: notes.replace(connection, kept, 1))
    keep = Decision(actor=Principal.HUMAN, kind=Act.KEEP, at=START, expected_revision=1, reason="yes")
    await saving.queue.decide(first.id, keep)
    before = database.connection.execute("SELECT * FROM note ORDER BY note_id").fetchall()
    for later in range(3):
        again = await saving.save(result, msgspec.structs.replace(OCCASION, at=START + later))
        assert [one.standing for one in again.notes] == [Standing.SAME, Standing.SAME]
        assert again.notes[0].note == kept
    assert database.connection.execute("SELECT * FROM note ORDER BY note_id").fetchall() == before
    item = await saving.queue.get(first.id)
    assert item is not None and (item.state, item.revision) == (State.KEPT, 2)


async def test_what_was_said_no_to_is_counted_and_not_saved(saving: Saving, database: FakeDatabase) -> None:
    result = await a_run(candidate_of(MESSAGES[0]))
    (note_id,) = (await saving.save(result, OCCASION)).ids()
    archive = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=START, expected_revision=1, reason="no")
    await saving.queue.decide(note_id, archive)
    elsewhere = tuple(
        msgspec.structs.replace(one, id=f"other-{one.id}", timestamp=START + 50 + place)
        for place, one in enumerate(MESSAGES)
    )
    again = await a_run(candidate_of(elsewhere[0]), messages=elsewhere)
    saved = await saving.save(again, msgspec.structs.replace(OCCASION, at=START + 9))
    assert [one.standing for one in saved.notes] == [Standing.BURIED]
    assert count(database, "note") == 1
    assert len((await saving.queue.list(QueueFilter(states=(State.PENDING,)))).items) == 0
    assert database.connection.execute("SELECT seen_count FROM tombstone").fetchall() == [(1,)]


async def test_a_forgotten_note_stays_gone(saving: Saving, database: FakeDatabase) -> None:
    result = await a_run(candidate_of(MESSAGES[0]))
    (note_id,) = (await saving.save(result, OCCASION)).ids()
    await database.write(lambda connection: notes.forget(connection, note_id))
    again = await saving.save(result, OCCASION)
    assert [one.standing for one in again.notes] == [Standing.BURIED]
    assert count(database, "note") == 0


@pytest.mark.parametrize("answer", [{"text": "no"}, {"error": "unavailable"}])
async def test_a_run_that_failed_leaves_nothing(saving: Saving, database: FakeDatabase, answer: dict[str, Any]) -> None:
    result = await extract_l1(a_model(answer), a_request(*MESSAGES), a_setting())
    assert result.status is RunStatus.FAILED
    saved = await saving.save(result, OCCASION)
    assert (saved.notes, saved.window_id) == ((), None)
    assert [count(database, table) for table in ("note", "note_window", "note_stream", "queue")] == [0, 0, 0, 0]


async def test_all_or_nothing_wherever_it_breaks(database: FakeDatabase) -> None:
    result = await a_run(candidate_of(MESSAGES[0]))
    points: list[str] = []

    def broken(point: str) -> None:
        points.append(point)
        raise RuntimeError(point)

    saving = Saving(database=database, queue=Queue(database, b"k" * 32), fault=broken)
    with pytest.raises(RuntimeError, match="notes-before-commit"):
        await saving.save(result, OCCASION)
    assert [count(database, table) for table in ("note", "note_window", "note_stream", "queue")] == [0, 0, 0, 0]
    whole = Saving(database=database, queue=saving.queue)
    assert len((await whole.save(result, OCCASION)).ids()) == 1
    assert points == ["notes-before-commit"]


async def test_a_window_without_anything_to_say_moves_the_place(saving: Saving, database: FakeDatabase) -> None:
    result = await a_run(messages=())
    saved = await saving.save(result, OCCASION)
    assert saved.window_id is None
    assert count(database, "note_stream") == 1 and count(database, "note_window") == 0


async def test_a_conversation_that_lost_its_beginning_goes_on_where_it_was(
    saving: Saving, database: FakeDatabase
) -> None:
    """The log let go of two messages; none of the later ones is passed over, and none is asked about again."""
    await saving.save(await a_run(messages=MESSAGES), OCCASION)
    later = (*MESSAGES[2:], a_message(3), a_message(4))
    row = await database.read(lambda connection: notes.stream_of(connection, SCOPE, STREAM))
    began = notes.place_in(row, later)
    result = await a_run(messages=later, start_index=began)
    assert result.coverage.new_ids == ("m3", "m4")
    await saving.save(result, msgspec.structs.replace(OCCASION, began=began))
    row = await database.read(lambda connection: notes.stream_of(connection, SCOPE, STREAM))
    assert row is not None and (row.last_id, notes.place_in(row, later)) == ("m4", 3)


async def test_what_is_found_in_passing_moves_no_place(saving: Saving, database: FakeDatabase) -> None:
    said = (a_message(1, "Always squash merge. Remember: releases go out on Thursdays."),)
    for _ in range(3):
        for run in marked_notes(said, SCOPE, STREAM, START):
            await saving.save(run, msgspec.structs.replace(OCCASION, moves=False))
    assert count(database, "note") == 2 and count(database, "note_stream") == 0


async def test_a_flagged_note_waits_with_its_flag_and_other_evidence_names_no_event(saving: Saving) -> None:
    order = a_message(1, f"{POISON} We deploy on Fridays.", evidence=(EvidenceRef(id="file.jsonl", version=1),))
    saved = await saving.save(await a_run(candidate_of(order), messages=(order,)), OCCASION)
    item = await saving.queue.get(saved.ids()[0])
    assert item is not None and ItemFlag.QUARANTINED in item.flags
    assert (item.citations[0].session, item.citations[0].seq) == ("", 0)


async def test_the_callers_transaction_takes_it_in(saving: Saving, database: FakeDatabase) -> None:
    prepared = prepare(await a_run(candidate_of(MESSAGES[0])), OCCASION)
    saved = await database.write(lambda connection: saving.save_in(connection, prepared))
    stored: EvidenceNote | None = await database.read(lambda connection: notes.note_of(connection, saved.ids()[0]))
    assert stored == saved.notes[0].note


REMEMBER = "Remember: releases go out on Thursdays."


@pytest.mark.parametrize(
    ("content", "quote", "state"),
    [
        ("Releases go out on Thursdays.", "releases go out on Thursdays", State.SUPERSEDED),
        ("Releases never go out on Thursdays.", "releases go out on Thursdays", State.PENDING),
        ("We squash merge.", "We squash merge", State.PENDING),
    ],
)
async def test_a_note_takes_the_place_of_the_sentence_that_was_noted_before_a_model_was_there(
    saving: Saving, content: str, quote: str, state: State
) -> None:
    said = (a_message(1, f"{REMEMBER} We squash merge."),)
    (run,) = marked_notes(said, SCOPE, STREAM, START)
    (by_rule,) = (await saving.save(run, msgspec.structs.replace(OCCASION, moves=False))).ids()
    (note,) = (await saving.save(await a_run(a_candidate(quote, "m1", content=content), messages=said), OCCASION)).ids()
    before, after = await saving.queue.get(by_rule), await saving.queue.get(note)
    assert before is not None and after is not None
    assert (before.state, after.state) == (state, State.PENDING)
