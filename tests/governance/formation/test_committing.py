"""One transaction a segment: what is known gets a source, what waits a sighting, what is committed a record."""

import json

import msgspec
import pytest

from governance.formation.checkpoint_ports import CheckpointPolicy
from governance.formation.contracts import KnownRecord, MemorySource, RangeResult, RangeStatus, RecordLine, SightingLine
from governance.formation.store import memories
from governance.review import Act, Decision, Principal
from recall.contracts import MemoryKind, Origin, Scope
from tests.support.builders import WORKSPACE
from tests.support.checkpoints import DAY, USER, Desk, complete, item, said, worded

THURSDAYS = "We ship releases on Thursdays."
FACT = "Releases are shipped on Thursdays."
NIGHT = "Backups are taken at night."


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def tells(desk: Desk, session: str, text: str, words: str, gap: str | None = None, seq: int = 1) -> RangeResult:
    """A session in which one thing is said, proposed and worded."""
    desk.tells(said(text, seq, session=session))
    desk.answers(complete(item(words, (f"{session}#{seq}", text), gap=gap)), worded(words))
    return await desk.one(seq, session)


async def lines(desk: Desk, kind: str, of: type) -> list:
    rows = await desk.rows("SELECT line FROM outbox WHERE kind = ? ORDER BY number", kind)
    return [msgspec.json.decode(line, type=of) for (line,) in rows]


async def archive(desk: Desk, item_id: str) -> None:
    found = await desk.queue.get(item_id)
    assert found is not None
    no = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=1, expected_revision=found.revision, reason="no")
    await desk.queue.decide(item_id, no)


async def test_a_committed_fact_is_an_item_a_life_its_sources_and_a_record_to_be_written(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0, importance=70)
    result = await tells(desk, "s-one", THURSDAYS, FACT)
    (memory_id,) = result.committed
    stored = await desk.queue.get(memory_id)
    assert stored is not None
    assert (stored.state, stored.record_id, stored.pipeline, stored.text) == (
        "committed",
        memory_id,
        "checkpoint",
        FACT,
    )
    (citation,) = stored.citations
    assert (citation.quote, citation.session, citation.seq, citation.role) == (THURSDAYS, "s-one", 1, "user")
    life = await desk.database.read(lambda connection: memories.of(connection, memory_id))
    assert life is not None
    assert (life.team, life.user, life.agent, life.state) == (WORKSPACE, USER, "any", "live")
    (line,) = await lines(desk, "record", RecordLine)
    record = line.record
    assert (record.memory_id, record.text, record.origin) == (memory_id, FACT, Origin.EXTRACTED)
    assert (record.kind, record.scope.kind, record.scope.key) == (MemoryKind.SEMANTIC, Scope.WORKSPACE, WORKSPACE)
    assert record.importance == 70 and line.generation is not None


async def test_the_second_conversation_commits_the_item_that_waited_with_the_quotes_of_both(desk: Desk) -> None:
    first = await tells(desk, "s-one", THURSDAYS, FACT)
    ((waiting,),) = await desk.rows("SELECT item_id FROM queue")
    second = await tells(desk, "s-two", "releases are shipped on Thursdays", "Releases are shipped on Thursdays")
    assert second.committed == (waiting,)
    assert first.deferred and not first.committed
    (line,) = await lines(desk, "record", RecordLine)
    assert line.record.text == FACT
    assert [one.quote for one in line.sources] == [THURSDAYS, "releases are shipped on Thursdays"]
    decided = await desk.rows("SELECT kind, actor FROM decision WHERE item_id = ?", waiting)
    assert decided == [("meet-floor", "engine")]


async def test_what_is_committed_is_found_by_its_words_and_said_again_is_only_a_source(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    first = await tells(desk, "s-one", THURSDAYS, FACT)
    again = await tells(desk, "s-two", "releases are SHIPPED on Thursdays", "releases are shipped on Thursdays")
    assert (again.status, again.rejected) == (RangeStatus.SKIPPED, {"already-known": 1})
    assert await desk.count("queue") == await desk.count("memory") == 1
    (line,) = await lines(desk, "sighting", SightingLine)
    assert (line.memory_id, len(line.sources)) == (first.committed[0], 1)


async def test_the_same_in_other_words_is_known_before_any_index_has_it(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    first = await tells(
        desk, "s-one", "Our releases are shipped on every Thursday.", "Releases are shipped on Thursdays."
    )
    again = await tells(
        desk, "s-two", "The releases are shipped on Thursdays", "The releases are shipped on Thursdays."
    )
    assert again.rejected == {"already-known": 1} and await desk.count("queue") == 1
    desk.policy = CheckpointPolicy(min_sessions=0, dedupe=False)
    third = await tells(
        desk, "s-three", "The releases are shipped on Thursdays", "The releases are shipped on Thursdays."
    )
    assert first.committed and third.committed


@pytest.mark.parametrize("words", ["Agents may push to main without asking.", "We never ship releases on Thursdays."])
async def test_words_that_nobody_said_wait_for_a_person(desk: Desk, words: str) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    result = await tells(desk, "s-one", THURSDAYS, words)
    assert (result.committed, len(result.pending)) == ((), 1)
    assert await lines(desk, "record", RecordLine) == []


async def test_words_that_nobody_said_add_no_source_to_what_is_known(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    await tells(desk, "s-one", NIGHT, NIGHT)
    again = await tells(desk, "s-two", THURSDAYS, NIGHT)
    assert again.rejected == {"already-known": 1}
    assert await lines(desk, "sighting", SightingLine) == []


async def test_a_fact_of_another_workspace_is_another_fact(desk: Desk) -> None:
    await tells(desk, "s-one", THURSDAYS, FACT)
    desk.tells(said(THURSDAYS, 1, session="s-two", workspace_key="ws_" + "b" * 32))
    desk.answers(complete(item(FACT, ("s-two#1", THURSDAYS))), worded(FACT))
    result = await desk.one(1, "s-two")
    assert result.status is RangeStatus.DEFERRED and await desk.count("gap") == 2


async def test_a_record_that_a_person_wrote_covers_the_gap_and_ends_what_waited(desk: Desk) -> None:
    await tells(desk, "s-one", THURSDAYS, FACT)
    desk.known.records = [KnownRecord(memory_id="mem_hand", text=FACT, guarded=True)]
    desk.tells(said(THURSDAYS, 1, session="s-two"))
    desk.answers(complete(item(FACT, ("s-two#1", THURSDAYS))))
    await desk.one(1, "s-two")
    assert await desk.rows("SELECT state, covered_by FROM gap") == [("covered", "mem_hand")]
    assert await desk.rows("SELECT state FROM queue") == [("superseded",)]


async def test_another_number_is_a_proposal_to_update_and_is_never_committed(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=0)
    desk.known.records = [KnownRecord(memory_id="mem_old", text="The retry limit is 3.", guarded=False)]
    result = await tells(desk, "s-one", "The retry limit is 5.", "The retry limit is 5.")
    assert (result.status, result.committed, len(result.pending)) == (RangeStatus.EXTRACTED, (), 1)
    assert await desk.rows("SELECT state, updates, record_id FROM queue") == [("pending", "mem_old", None)]
    assert await desk.rows("SELECT state FROM memory") == [("waiting",)]
    again = await tells(desk, "s-two", "The retry limit is 5.", "The retry limit is 5.")
    assert again.rejected == {"already-known": 1} and await desk.count("queue") == 1


async def test_the_update_of_a_fact_that_waited_takes_its_place(desk: Desk) -> None:
    await tells(desk, "s-one", "The retry limit is 5.", "The retry limit is 5.")
    desk.known.records = [KnownRecord(memory_id="mem_old", text="The retry limit is 3.", guarded=False)]
    result = await tells(desk, "s-two", "The retry limit is 5.", "The retry limit is 5.")
    assert len(result.pending) == 1
    assert sorted(await desk.rows("SELECT state FROM queue")) == [("pending",), ("superseded",)]
    assert await desk.rows("SELECT state, covered_by FROM gap") == [("covered", result.pending[0])]


async def test_without_auto_commit_what_was_seen_often_enough_waits_for_a_person_once(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(auto_commit=False)
    await tells(desk, "s-one", THURSDAYS, FACT)
    second = await tells(desk, "s-two", THURSDAYS, FACT)
    assert (second.committed, len(second.pending)) == ((), 1)
    third = await tells(desk, "s-three", THURSDAYS, FACT)
    assert third.rejected == {"already-known": 1}
    assert sorted(await desk.rows("SELECT state FROM queue")) == [("pending",), ("superseded",)]
    assert await lines(desk, "record", RecordLine) == []
    sources: tuple[MemorySource, ...] = await desk.database.read(
        lambda connection: memories.sources(connection, second.pending[0])
    )
    assert {one.session_id for one in sources} == {"s-one", "s-two", "s-three"}


async def test_what_a_person_put_away_is_counted_and_not_proposed_again(desk: Desk) -> None:
    await tells(desk, "s-one", THURSDAYS, FACT)
    ((waiting,),) = await desk.rows("SELECT item_id FROM queue")
    await archive(desk, waiting)
    desk.tells(said(THURSDAYS, 1, session="s-two"))
    desk.answers(complete(item(FACT, ("s-two#1", THURSDAYS)), item(NIGHT, ("s-two#1", "nothing of it"))))
    result = await desk.one(1, "s-two")
    assert (result.status, result.calls) == (RangeStatus.SKIPPED, 1)
    assert result.rejected == {"quote-not-found": 1, "said-no": 1}
    assert await desk.rows("SELECT seen_count FROM tombstone") == [(1,)]
    assert await desk.count("queue") == 1


async def test_a_gap_that_a_person_put_away_is_not_shown_and_not_covered(desk: Desk) -> None:
    first = await tells(desk, "s-one", THURSDAYS, FACT)
    ((waiting,),) = await desk.rows("SELECT item_id FROM queue")
    await archive(desk, waiting)
    result = await tells(desk, "s-two", NIGHT, NIGHT, gap=first.deferred[0])
    assert result.status is RangeStatus.DEFERRED and result.deferred != first.deferred


async def test_what_nobody_said_again_for_ninety_days_is_let_go_of_with_its_words(desk: Desk) -> None:
    await tells(desk, "s-one", THURSDAYS, FACT)
    desk.clock.advance(millis=90 * DAY + 1)
    await tells(desk, "s-two", NIGHT, NIGHT)
    assert sorted(await desk.rows("SELECT state, content FROM gap")) == [("expired", ""), ("open", NIGHT)]
    assert await desk.rows("SELECT state FROM queue WHERE text = ?", FACT) == [("expired",)]
    assert await desk.count("sighting") == 1


async def test_turning_the_ledger_off_empties_it(desk: Desk) -> None:
    await tells(desk, "s-one", THURSDAYS, FACT)
    desk.policy = CheckpointPolicy(gap_max_age_days=0)
    result = await tells(desk, "s-two", NIGHT, NIGHT)
    assert (result.status, result.rejected) == (RangeStatus.SKIPPED, {"below-floor": 1})
    assert await desk.rows("SELECT state, content FROM gap") == [("expired", "")]
    assert await desk.count("sighting") == 0


async def test_a_request_to_remember_commits_a_fact_that_waited_in_its_own_words(desk: Desk) -> None:
    await tells(desk, "s-one", THURSDAYS, FACT)
    asked = "Remember: releases are shipped on Thursdays."
    desk.tells(said(asked, 3))
    desk.answers(complete(item(FACT, ("s-one#3", "releases are shipped on Thursdays"))), worded(FACT))
    result = await desk.one(4)
    assert len(result.committed) == 1
    assert sorted(await desk.rows("SELECT state FROM queue")) == [("committed",), ("superseded",)]
    (line,) = await lines(desk, "record", RecordLine)
    assert [one.event_seq for one in line.sources] == [1, 3]


async def test_the_floor_counts_conversations_however_many(desk: Desk) -> None:
    desk.policy = CheckpointPolicy(min_sessions=3)
    for session, status in (("a", RangeStatus.DEFERRED), ("b", RangeStatus.DEFERRED), ("c", RangeStatus.EXTRACTED)):
        assert (await tells(desk, session, THURSDAYS, FACT)).status is status


async def test_every_move_of_the_cursor_is_a_line_of_the_journal(desk: Desk) -> None:
    desk.gate.denies("s-one", (2, 3))
    await tells(desk, "s-one", THURSDAYS, FACT)
    await desk.run(5)
    rows = [
        json.loads(line) for (line,) in await desk.rows("SELECT line FROM outbox WHERE kind = 'cursor' ORDER BY number")
    ]
    assert [(row["fromSeq"], row["processedSeq"], row["status"]) for row in rows] == [
        (0, 1, "deferred"),
        (2, 3, "denied"),
        (4, 5, "skipped"),
    ]
