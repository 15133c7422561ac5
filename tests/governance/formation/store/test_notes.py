"""Notes, windows and streams come back as they went in; what stands is not written over, and corrupt is not absent."""

import sqlite3

import msgspec
import pytest

from governance.formation.contracts import (
    Continuation,
    Coverage,
    EvidenceNote,
    NoteReview,
    Provenance,
    Rejected,
    RejectionCode,
    ReviewStatus,
)
from governance.formation.errors import StateFault
from governance.formation.judging import judge, sealed
from governance.formation.queue import Queue
from governance.formation.saving import Occasion, item_of
from governance.formation.store import notes
from governance.formation.store.notes import StreamRow, WindowRow, window_row
from governance.migrations import queue_steps
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.noting import SCOPE, STREAM, a_message, a_packet, candidate_of

ONE, TWO = a_message(1, "Wir nennen es Cafe\u0301 Nr. 7."), a_message(2)
PACKET = a_packet(ONE, TWO, background=1)
MADE = Provenance(algorithm_version="a", model_id="m", prompt_id="notes@1", prompt_hash="p", input_hash="i", calls=1)
CONTINUATION = Continuation(
    format="f",
    algorithm_version="a",
    prompt_hash="p",
    scope_key=SCOPE,
    stream_id=STREAM,
    model_id="m",
    window_digest="w",
    snapshot_digest="s",
    next_index=3,
)


@pytest.fixture
def connection() -> sqlite3.Connection:
    return FakeDatabase(queue_steps()).connection


def a_note(number: int = 2) -> EvidenceNote:
    message = ONE if number == 1 else TWO
    packet = a_packet(ONE, TWO)
    (note,) = judge([candidate_of(message)], packet, "model").notes
    return note


def a_row(at: int = START, **fields: object) -> WindowRow:
    rejected = (Rejected(index=1, code=RejectionCode.SCHEMA, detail="no title"),)
    row = window_row(PACKET, Coverage(total=2, from_=1, through=2), MADE, rejected, at)
    return msgspec.structs.replace(row, **fields)


def test_a_note_comes_back_character_for_character(connection: sqlite3.Connection) -> None:
    note = a_note(1)
    assert notes.put(connection, note, "win_1", START) == note
    assert notes.note_of(connection, note.id) == note
    assert "Cafe\u0301" in note.citations[0].quote  # two characters, as they were written
    assert notes.note_of(connection, "note_none") is None


def test_a_note_that_stands_is_not_written_over(connection: sqlite3.Connection) -> None:
    note = a_note()
    kept = sealed(msgspec.structs.replace(note, version=2, review=NoteReview(status=ReviewStatus.KEPT)))
    notes.put(connection, kept, "win_1", START)
    assert notes.put(connection, note, "win_2", START + 1) == kept
    assert notes.of_window(connection, "win_1") == (kept,) and notes.of_window(connection, "win_2") == ()


def test_a_decision_replaces_the_version_that_it_was_made_to(connection: sqlite3.Connection) -> None:
    note = a_note()
    notes.put(connection, note, "win_1", START)
    kept = sealed(msgspec.structs.replace(note, version=2, review=NoteReview(status=ReviewStatus.KEPT)))
    assert notes.replace(connection, kept, 1)
    assert not notes.replace(connection, msgspec.structs.replace(kept, version=3), 1)
    assert notes.note_of(connection, note.id) == kept
    assert not notes.replace(connection, msgspec.structs.replace(kept, id="note_none"), 1)


def test_the_notes_of_a_conversation_come_as_they_were_saved(connection: sqlite3.Connection) -> None:
    first, second = a_note(2), a_note(1)
    notes.put(connection, first, "win_1", START)
    notes.put(connection, second, "win_1", START + 1)
    assert notes.of_stream(connection, SCOPE, STREAM) == (first, second)
    assert notes.of_stream(connection, SCOPE, "s-two") == ()


def test_the_kept_notes_of_a_scope_are_those_that_a_person_kept(connection: sqlite3.Connection) -> None:
    kept = sealed(msgspec.structs.replace(a_note(1), version=2, review=NoteReview(status=ReviewStatus.KEPT)))
    queue = Queue(FakeDatabase(), b"k" * 32)
    occasion = Occasion(at=START, scope_key=SCOPE, stream_id=STREAM)
    for note in (kept, a_note(2)):
        notes.put(connection, note, "win_1", START)
        queue.put(connection, item_of(note, a_packet(ONE, TWO), occasion))
    connection.execute("UPDATE queue SET state = 'kept' WHERE item_id = ?", (kept.id,))
    assert notes.kept_in(connection, SCOPE) == (kept,)
    assert notes.kept_in(connection, "ws_other") == ()


def test_a_forgotten_note_leaves_nothing(connection: sqlite3.Connection) -> None:
    notes.put(connection, a_note(), "win_1", START)
    notes.forget(connection, a_note().id)
    assert notes.note_of(connection, a_note().id) is None


def test_a_window_names_its_sources_and_holds_no_text(connection: sqlite3.Connection) -> None:
    row = a_row()
    notes.put_window(connection, row)
    assert notes.window_of(connection, row.window_id) == row
    assert [(one.message_id, one.index, one.use) for one in row.descriptor] == [
        ("m1", 0, "background"),
        ("m2", 1, "new"),
    ]
    assert row.descriptor[0].evidence == ONE.evidence
    stored = "".join(str(cell) for line in connection.execute("SELECT * FROM note_window") for cell in line)
    assert "Cafe" not in stored and TWO.content not in stored
    notes.put(connection, a_note(), row.window_id, START)
    assert notes.window_of_note(connection, a_note().id) == row
    assert notes.window_of_note(connection, "note_none") is None and notes.window_of(connection, "win_none") is None


def test_a_window_noted_again_keeps_what_was_said_last_and_another_model_its_own(
    connection: sqlite3.Connection,
) -> None:
    notes.put_window(connection, a_row())
    later = a_row(START + 5, rejected=())
    notes.put_window(connection, later)
    assert notes.window_of(connection, later.window_id) == later
    other = window_row(PACKET, later.coverage, msgspec.structs.replace(MADE, model_id="n"), (), START)
    assert other.window_id != later.window_id


def test_a_conversation_goes_forward_only(connection: sqlite3.Connection) -> None:
    assert notes.stream_of(connection, SCOPE, STREAM) is None
    there = StreamRow(next_index=3, continuation=CONTINUATION, updated_at=START)
    notes.put_stream(connection, SCOPE, STREAM, there)
    notes.put_stream(connection, SCOPE, STREAM, StreamRow(next_index=2, continuation=None, updated_at=START + 1))
    assert notes.stream_of(connection, SCOPE, STREAM) == there
    end = StreamRow(next_index=9, continuation=None, updated_at=START + 2)
    notes.put_stream(connection, SCOPE, STREAM, end)
    assert notes.stream_of(connection, SCOPE, STREAM) == end
    assert notes.stream_of(connection, "ws_other", STREAM) is None


def test_noting_goes_on_after_the_last_message_wherever_it_stands(connection: sqlite3.Connection) -> None:
    messages = [a_message(number) for number in range(5)]
    row = StreamRow(next_index=3, continuation=None, updated_at=START, last_id="m2")
    notes.put_stream(connection, SCOPE, STREAM, row)
    there = notes.stream_of(connection, SCOPE, STREAM)
    assert there == row
    assert notes.place_in(there, messages) == 3
    assert notes.place_in(there, messages[2:]) == 1  # the log let go of the first ones
    assert notes.place_in(there, messages[:2]) == 2  # it is gone itself, and nothing follows
    assert notes.place_in(msgspec.structs.replace(row, last_id=""), messages) == 3
    assert notes.place_in(None, messages) == 0
    later = StreamRow(next_index=2, continuation=None, updated_at=START + 1, last_id="m3")
    notes.put_stream(connection, SCOPE, STREAM, later, began=1)
    assert notes.stream_of(connection, SCOPE, STREAM) == later
    notes.put_stream(connection, SCOPE, STREAM, StreamRow(next_index=1, continuation=None, updated_at=0), began=2)
    assert notes.stream_of(connection, SCOPE, STREAM) == later
    nothing_new = StreamRow(next_index=4, continuation=None, updated_at=START + 2)
    notes.put_stream(connection, SCOPE, STREAM, nothing_new)
    assert notes.stream_of(connection, SCOPE, STREAM) == msgspec.structs.replace(nothing_new, last_id="m3")


def test_what_cannot_be_read_is_a_fault_and_never_absent(connection: sqlite3.Connection) -> None:
    row = a_row()
    notes.put_window(connection, row)
    notes.put(connection, a_note(), row.window_id, START)
    going_on = StreamRow(next_index=1, continuation=CONTINUATION, updated_at=START)
    notes.put_stream(connection, SCOPE, STREAM, going_on)
    connection.execute("UPDATE note SET note = '{\"id\":'")
    connection.execute("UPDATE note_window SET descriptor = '[]'")
    connection.execute("UPDATE note_stream SET continuation = '{}'")
    for read in (
        lambda: notes.note_of(connection, a_note().id),
        lambda: notes.of_stream(connection, SCOPE, STREAM),
        lambda: notes.put(connection, a_note(), row.window_id, START),
        lambda: notes.window_of_note(connection, a_note().id),
        lambda: notes.stream_of(connection, SCOPE, STREAM),
    ):
        with pytest.raises(StateFault) as fault:
            read()
        assert fault.value.code == "state-corrupt"
