"""A person's word as one transaction: all of it or nothing, whatever is decided about."""

import json
from typing import Any

import pytest

from governance.formation.contracts import EvidenceNote, FormedMemory, Life, Pipeline
from governance.formation.decisions import propose_evidence_note
from governance.formation.keeping import Keeping, Undecided, Wish, sources_of
from governance.formation.queue import Queue, Words, screened
from governance.formation.saving import Occasion, item_of
from governance.formation.store import items, memories, notes
from governance.migrations import queue_steps
from governance.review import Act, Decision, ItemFlag, Principal, QueueItem, RefusalCode, State, quotes_of
from recall.contracts import MemoryRecord, Millis, Origin, Scope, ScopeRef, Status
from tests.support.builders import a_memory, a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.noting import SCOPE, STREAM, a_body, a_message, a_packet

KEY = b"k" * 32
MADE, OLD = a_memory_id(1), a_memory_id(2)
SAID = "We ship the releases on Thursdays."
PACKET = a_packet(a_message(1, SAID))


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


@pytest.fixture
def keeping(database: FakeDatabase) -> Keeping:
    return Keeping(queue=Queue(database, KEY))


def a_note() -> EvidenceNote:
    note = propose_evidence_note(PACKET, a_body(SAID, "m1"))
    assert isinstance(note, EvidenceNote), note
    return note


def waits(database: FakeDatabase, keeping: Keeping, **fields: Any) -> QueueItem:
    """A note and its item, as they are saved."""
    note = a_note()
    item = screened(item_of(note, PACKET, Occasion(at=START, scope_key=SCOPE, stream_id=STREAM)))
    item = QueueItem(**{name: getattr(item, name) for name in item.__struct_fields__} | fields)
    keeping.queue.put(database.connection, item)
    notes.put(database.connection, note, "win_1", START)
    return item


def a_decision(kind: Act = Act.KEEP, at: Millis = START + 9, **fields: Any) -> Decision:
    given = {"actor": Principal.HUMAN, "expected_revision": 1, "reason": "because"} | fields
    return Decision(kind=kind, at=at, **given)


def a_wish(item: QueueItem, kind: Act = Act.KEEP, **fields: Any) -> Wish:
    given = {"user": "user", "packet": PACKET} | fields
    decision = given.pop("decision", a_decision(kind))
    return Wish(item=item, decision=decision, **given)


def a_record(text: str = SAID, memory_id: str = MADE, **fields: Any) -> MemoryRecord:
    scope = ScopeRef(kind=Scope.WORKSPACE, key=SCOPE)
    return a_memory(text, memory_id=memory_id, scope=scope, origin=Origin.REVIEWED, **fields)


def lines(database: FakeDatabase) -> list[Any]:
    rows = database.connection.execute("SELECT line FROM outbox ORDER BY number").fetchall()
    return [json.loads(line) for (line,) in rows]


def told(database: FakeDatabase) -> list[tuple[str, str, int]]:
    return [(one["line"], one["memoryId"], one["version"]) for one in lines(database)]


def test_a_kept_note_is_a_life_with_its_sources_and_two_lines(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping)
    after = keeping.made(database.connection, a_wish(item), a_record())
    assert (after.state, after.record_id, after.revision) == (State.KEPT, MADE, 2)
    life = memories.of(database.connection, MADE)
    assert life is not None
    assert (life.state, life.version, life.pipeline, life.session_id) == (Life.LIVE, 0, Pipeline.NOTES, STREAM)
    assert [one.quote for one in memories.sources(database.connection, MADE)] == [SAID]
    note = notes.note_of(database.connection, item.item_id)
    assert note is not None
    assert (note.version, note.review.status) == (2, "kept")
    assert told(database) == [("record", MADE, 0), ("decision", MADE, 0)]


def test_a_note_that_is_put_away_is_a_grave_and_two_lines(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping)
    after = keeping.unmade(database.connection, a_wish(item, Act.ARCHIVE))
    assert after.state is State.ARCHIVED
    assert told(database) == [("tombstone", item.item_id, 0), ("decision", item.item_id, 0)]
    assert lines(database)[0]["digest"] == keeping.queue.digest(SCOPE, item.text)
    assert keeping.queue.said_no(database.connection, screened(item))
    assert memories.of(database.connection, MADE) is None


def test_new_words_reach_item_note_and_record(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping)
    words = Words(text="The releases ship on Thursdays.", title="Release day")
    after = keeping.made(
        database.connection, a_wish(item, Act.EDIT_AND_KEEP, words=words), a_record(words.text, title=words.title)
    )
    note = notes.note_of(database.connection, item.item_id)
    assert note is not None
    assert (after.text, after.title) == (note.content, note.title) == (words.text, words.title)


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"decision": a_decision(expected_revision=2)}, RefusalCode.CONFLICT),
        ({"decision": a_decision(actor=Principal.AGENT)}, RefusalCode.REVIEWER_KIND),
        ({"packet": a_packet(a_message(1, "It reads otherwise now."))}, RefusalCode.EVIDENCE_STALE),
        (
            {"decision": a_decision(Act.EDIT_AND_KEEP), "words": Words(text="Ship at 09:30 on port 7070.")},
            RefusalCode.CITATION_INVALID,
        ),
    ],
)
async def test_what_does_not_hold_leaves_no_row(
    database: FakeDatabase, keeping: Keeping, wish: dict[str, Any], code: RefusalCode
) -> None:
    item = waits(database, keeping)
    before = "\n".join(database.connection.iterdump())
    with pytest.raises(Undecided) as refused:
        await database.write(lambda connection: keeping.made(connection, a_wish(item, **wish), a_record()))
    assert refused.value.refusal.code is code
    assert "\n".join(database.connection.iterdump()) == before


def test_what_is_out_of_date_can_be_put_away_all_the_same(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping)
    stale = a_packet(a_message(1, "It reads otherwise now."))
    assert keeping.unmade(database.connection, a_wish(item, Act.ARCHIVE, packet=stale)).state is State.ARCHIVED


def test_of_a_conversation_that_nobody_holds_a_note_can_be_kept_and_put_right(
    database: FakeDatabase, keeping: Keeping
) -> None:
    item = waits(database, keeping)
    words = Words(text="The releases ship on Thursdays.")
    wish = a_wish(item, Act.EDIT_AND_KEEP, packet=None, words=words)
    assert keeping.made(database.connection, wish, a_record(words.text)).text == words.text


def test_what_it_takes_the_place_of_is_superseded_with_its_item(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping)
    keeping.queue.put(
        database.connection,
        QueueItem(
            item_id=OLD,
            kind=item.kind,
            pipeline="checkpoint",
            workspace_key=SCOPE,
            created_at=START,
            state=State.COMMITTED,
            record_id=OLD,
        ),
    )
    old = FormedMemory(
        memory_id=OLD,
        pipeline=Pipeline.CHECKPOINT,
        claim="c",
        created_at=1,
        updated_at=1,
        team=SCOPE,
        user="user",
        agent="any",
        version=3,
    )
    memories.put(database.connection, old)
    keeping.made(database.connection, a_wish(item, replaces=(OLD,)), a_record())
    life = memories.of(database.connection, OLD)
    assert life is not None
    assert (life.state, life.superseded_by, life.version) == (Life.SUPERSEDED, MADE, 4)
    ended = items.get(database.connection, OLD)
    assert ended is not None
    assert ended.state is State.SUPERSEDED
    assert told(database)[-1] == ("tombstone", OLD, 4)


def test_what_was_written_by_hand_is_named_in_the_journal_too(database: FakeDatabase, keeping: Keeping) -> None:
    keeping.made(database.connection, a_wish(waits(database, keeping), replaces=(OLD,)), a_record())
    gone = lines(database)[-1]
    assert (gone["line"], gone["memoryId"], gone["version"], gone["supersededBy"]) == ("tombstone", OLD, 0, MADE)


def test_a_decision_about_a_record_is_its_next_version(database: FakeDatabase, keeping: Keeping) -> None:
    made = keeping.made(database.connection, a_wish(waits(database, keeping)), a_record())
    archive = a_wish(made, decision=a_decision(Act.ARCHIVE, START + 20, expected_revision=2))
    gone = keeping.settled(database.connection, archive, a_record(status=Status.ARCHIVED))
    life = memories.of(database.connection, MADE)
    assert life is not None
    assert (gone.state, life.state, life.version) == (State.ARCHIVED, Life.ARCHIVED, 1)
    assert [one[0] for one in told(database)[2:]] == ["record", "decision", "tombstone"]
    back = keeping.settled(
        database.connection, a_wish(gone, decision=a_decision(at=START + 30, expected_revision=3)), a_record()
    )
    life = memories.of(database.connection, MADE)
    assert life is not None
    assert (back.state, life.state, life.version) == (State.KEPT, Life.LIVE, 2)


def test_of_a_record_that_was_not_formed_only_the_decision_is_written(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping, record_id=OLD, item_id="rev_1")
    after = keeping.settled(database.connection, a_wish(item), a_record(memory_id=OLD))
    assert (after.state, told(database)) == (State.KEPT, [])
    assert (
        keeping.settled(
            database.connection, a_wish(after, Act.ARCHIVE, decision=a_decision(Act.ARCHIVE, expected_revision=2)), None
        ).state
        is State.ARCHIVED
    )


def test_a_person_clears_the_flag_of_the_screen(database: FakeDatabase, keeping: Keeping) -> None:
    item = waits(database, keeping, flags=(ItemFlag.QUARANTINED,))
    keeping.made(database.connection, a_wish(item), a_record())
    note = notes.note_of(database.connection, item.item_id)
    assert note is not None
    assert note.flags == ()


def test_quotes_become_sources_in_their_order(database: FakeDatabase, keeping: Keeping) -> None:
    (source,) = sources_of(quotes_of(waits(database, keeping)))
    assert (source.session_id, source.message_id, source.event_seq, source.quote) == (STREAM, "m1", 1, SAID)
