"""The one transaction of a window: what is written together, and what is asked once more in it."""

import sqlite3
from typing import Any

import msgspec
import pytest

from governance.formation.batch_answer import Proposed
from governance.formation.batch_commit import BatchCommit, Batched, Found, Terms
from governance.formation.batch_windows import Window, windows
from governance.formation.candidates import Operation
from governance.formation.claims import claim_of
from governance.formation.closing import CursorMoved
from governance.formation.contracts import (
    FailureClass,
    FormedMemory,
    Generation,
    IsolationKey,
    KnownRecord,
    Layer,
    Life,
    Line,
    MemorySource,
    MemoryType,
    Pipeline,
    PromptUse,
    RangeResult,
    RangeStatus,
    RecordLine,
    SightingLine,
    TombstoneLine,
)
from governance.formation.decide import Decided, Verdict
from governance.formation.dedupe import Probe
from governance.formation.queue import Queue
from governance.formation.store import generations, memories, outbox, ranges, receipts
from governance.migrations import queue_steps
from governance.review import Act, Decision, ItemFlag, ItemKind, Principal, QueueItem, State
from recall.contracts import MemoryKind, Origin, Period
from tests.support.batching import INSTALL_KEY, KEY, WS, a_text
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

NOW = START + 10**6
OLD, OTHER = a_memory_id(90), a_memory_id(91)
SHIP = "Releases go out on Thursdays."


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


def a_window() -> Window:
    (found,) = windows([a_text(1, "We ship on Thursdays."), a_text(2), a_text(3, "It is so.")], (1, 3), WS)
    return found


def proposed(content: str = SHIP, **changes: Any) -> Proposed:
    fields: dict[str, Any] = {
        "content": content,
        "type": MemoryType.WORK_FACT,
        "priority": 70,
        "scene": "release",
        "sources": ("m-1",),
    }
    return Proposed(**(fields | changes))


def a_generation() -> Generation:
    return Generation(
        generation_id="gen_1",
        layer=Layer.L1,
        status="extracted",
        isolation="i",
        prompt=PromptUse(id="batch-extract", version=1, source="built-in", sha256="0" * 64),
        input_refs=("m-1", "m-2", "m-3"),
        output_refs=(),
        model_id="scripted:demo",
        calls=1,
        started_at=NOW,
        finished_at=NOW,
    )


def a_commit(database: FakeDatabase, *found: Found, batched: dict[str, Any] | None = None, **terms: Any) -> BatchCommit:
    window = a_window()
    operation = Operation(
        session_id="s-1",
        conversation_key="c-1",
        workspace_key=WS,
        from_seq=1,
        through_seq=3,
        operation_id="batch_1",
        base="batch_1",
        coverage_hash=window.coverage_hash,
        request_hash=window.request_hash,
        pipeline=Pipeline.BATCH,
        refs=("s-1#1", "s-1#2", "s-1#3"),
    )
    numbers = iter(range(1, 99))
    fields: dict[str, Any] = {"key": KEY, "auto_commit": True, "importance": 50, "now": NOW}
    fresh: dict[str, Any] = {"found": found, "calls": 1, "generation": a_generation()}
    return BatchCommit(
        queue=Queue(database, INSTALL_KEY),
        terms=Terms(**(fields | terms)),
        window=window,
        operation=operation,
        batched=Batched(**(fresh | (batched or {}))),
        new_id=lambda prefix: f"{prefix}{next(numbers):032x}",
        fault=lambda point: None,
    )


async def commit(database: FakeDatabase, *found: Found, **rest: Any) -> RangeResult:
    """One commit over a session whose first event was formed before."""
    await database.write(lambda sql: ranges.advance(sql, Pipeline.BATCH, "s-1", (-1, 0), NOW))
    return await database.write(a_commit(database, *found, **rest))


def an_old_one(database: FakeDatabase, memory_id: str = OLD, key: IsolationKey = KEY, **changes: Any) -> FormedMemory:
    """A record that was formed before, with its item."""
    fields: dict[str, Any] = {
        "memory_id": memory_id,
        "pipeline": Pipeline.BATCH,
        "claim": claim_of(f"old words of {memory_id}"),
        "created_at": START,
        "updated_at": START,
        "team": key.team,
        "user": key.user,
        "agent": key.agent,
        "version": 4,
    }
    life = FormedMemory(**(fields | changes))
    memories.put(database.connection, life)
    memories.add_sources(
        database.connection,
        memory_id,
        [MemorySource(session_id="s-0", message_id="m-0", event_seq=1, at=START, quote="it was said")],
    )
    item = QueueItem(
        item_id=memory_id,
        kind=ItemKind.MEMORY,
        pipeline="batch",
        workspace_key=key.team,
        created_at=START,
        state=State.COMMITTED,
        text=f"Old words of {memory_id}.",
        record_id=memory_id,
    )
    Queue(database, INSTALL_KEY).put(database.connection, item)
    return life


def lines(database: FakeDatabase, kind: type[Line] = RecordLine) -> list[Any]:
    every = [msgspec.json.decode(row.line, type=Line) for row in outbox.waiting(database.connection, 99)]
    return [one for one in every if isinstance(one, kind)]


def state_of(database: FakeDatabase, item_id: str) -> tuple[State, QueueItem]:
    (item,) = [
        one for one in Queue(database, INSTALL_KEY).about(database.connection, item_id) if one.item_id == item_id
    ]
    return item.state, item


async def test_a_new_memory_is_item_record_life_sources_generation_cursor_and_receipt(database: FakeDatabase) -> None:
    result = await commit(database, Found(proposed=proposed(metadata={"a": "b"})))
    (memory_id,) = result.committed
    sql = database.connection
    life = memories.of(sql, memory_id)
    assert life is not None
    assert (life.version, life.state, life.claim) == (0, Life.LIVE, claim_of(SHIP))
    assert (life.created_at, life.occurred_at, life.metadata) == (NOW, START + 1, {"a": "b"})
    (source,) = memories.sources(sql, memory_id)
    assert (source.message_id, source.quote, source.role) == ("m-1", "We ship on Thursdays.", "user")
    (line,) = lines(database)
    assert (line.record.text, line.record.origin, line.record.kind) == (SHIP, Origin.EXTRACTED, MemoryKind.SEMANTIC)
    assert (line.record.scope.key, line.formed, line.sources) == (WS, life, (source,))
    (made,) = generations.of_memory(sql, memory_id)
    assert (made.output_refs, made.decisions) == ((memory_id,), (f"0 store {memory_id}",))
    assert made == line.generation
    assert state_of(database, memory_id)[0] is State.COMMITTED
    assert ranges.cursor(sql, Pipeline.BATCH, "s-1") == 3
    receipt = receipts.find(sql, "batch_1")
    assert receipt is not None and receipt.item_ids == (memory_id,)


async def test_nothing_of_it_stays_when_the_cursor_is_elsewhere(database: FakeDatabase) -> None:
    with pytest.raises(CursorMoved):
        await database.write(a_commit(database, Found(proposed=proposed())))
    tables = ("memory", "memory_source", "queue", "outbox", "generation", "receipt", "drawn")
    assert [database.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables] == [0] * 7


@pytest.mark.parametrize("verdict", [Verdict.UPDATE, Verdict.MERGE])
async def test_a_record_that_takes_a_place_knows_what_was_known_before(
    database: FakeDatabase, verdict: Verdict
) -> None:
    an_old_one(
        database,
        created_at=START - 50,
        occurred_at=START - 60,
        activity_end=NOW + 5,
        importance=80,
        metadata={"owner": "Ana", "status": "todo"},
    )
    one = proposed(type=MemoryType.WORK_TASK, metadata={"status": "done"}, start=START)
    decided = Decided(verdict=verdict, targets=(OLD,), content="Releases go out on Thursdays, said Ana.")
    result = await commit(database, Found(proposed=one, decided=decided))
    (new,) = result.committed
    sql = database.connection
    life, old = memories.of(sql, new), memories.of(sql, OLD)
    assert life is not None and old is not None
    assert (life.version, life.created_at, life.occurred_at, life.importance) == (5, START - 50, START - 60, 80)
    assert (life.activity_start, life.activity_end) == (START, NOW + 5)
    assert life.metadata == {"owner": "Ana", "status": "done"}
    assert [one.quote for one in memories.sources(sql, new)] == ["it was said", "We ship on Thursdays."]
    assert (old.state, old.superseded_by) == (Life.SUPERSEDED, new)
    assert state_of(database, OLD)[0] is State.SUPERSEDED
    (gone,) = lines(database, TombstoneLine)
    assert (gone.memory_id, gone.why, gone.superseded_by) == (OLD, "superseded", new)
    (line,) = lines(database)
    assert line.record.text == "Releases go out on Thursdays, said Ana."
    assert line.record.occurred == Period(start=START, end=NOW + 5)
    assert memories.earlier(sql, new) == (old,)


async def test_what_is_known_gets_one_more_sighting_and_stays_as_it_is(database: FakeDatabase) -> None:
    before = an_old_one(database)
    result = await commit(database, Found(proposed=proposed(), probe=Probe(known=OLD)))
    assert (result.status, result.committed, result.rejected) == (RangeStatus.EXTRACTED, (), {"already-known": 1})
    assert memories.of(database.connection, OLD) == before
    assert len(memories.sources(database.connection, OLD)) == 2
    (line,) = lines(database, SightingLine)
    assert (line.memory_id, line.version, [one.message_id for one in line.sources]) == (OLD, 4, ["m-1"])
    assert database.connection.execute("SELECT decisions FROM generation").fetchone()[0] == f'["0 skip - {OLD}"]'


async def test_the_same_claim_that_came_meanwhile_is_a_sighting_too(database: FakeDatabase) -> None:
    an_old_one(database, claim=claim_of(SHIP))
    result = await commit(database, Found(proposed=proposed()))
    assert (result.committed, result.rejected) == ((), {"already-known": 1})


async def test_a_skip_that_names_what_is_gone_stores(database: FakeDatabase) -> None:
    an_old_one(database, state=Life.ARCHIVED)
    skip = Decided(verdict=Verdict.SKIP, targets=(OLD,))
    result = await commit(database, Found(proposed=proposed(), decided=skip))
    assert len(result.committed) == 1


async def test_a_waiting_one_that_is_said_again_gets_its_source_and_no_line(database: FakeDatabase) -> None:
    an_old_one(database, state=Life.WAITING, claim=claim_of(SHIP))
    await commit(database, Found(proposed=proposed()))
    assert len(memories.sources(database.connection, OLD)) == 2
    assert lines(database, SightingLine) == []


@pytest.mark.parametrize("held", ["kept", "another key's", "not formed"])
async def test_what_is_not_a_machines_to_rewrite_is_proposed(database: FakeDatabase, held: str) -> None:
    if held == "kept":
        an_old_one(database)
        decision = Decision(actor=Principal.HUMAN, kind=Act.KEEP, at=NOW, expected_revision=1)
        Queue(database, INSTALL_KEY).decision(database.connection, OLD, decision)
    elif held == "another key's":
        an_old_one(database, key=IsolationKey(team=WS, user="u2", agent=KEY.agent))
    before = memories.of(database.connection, OLD)
    update = Decided(verdict=Verdict.UPDATE, targets=(OLD,))
    result = await commit(database, Found(proposed=proposed(), decided=update))
    (item_id,) = result.pending
    state, item = state_of(database, item_id)
    assert (state, item.updates, item.text, item.record_id) == (State.PENDING, OLD, SHIP, None)
    assert memories.of(database.connection, OLD) == before
    assert lines(database) == lines(database, TombstoneLine) == []
    waiting = memories.of(database.connection, item_id)
    assert waiting is not None and waiting.state is Life.WAITING
    assert generations.of_memory(database.connection, item_id)


async def test_a_target_that_is_gone_is_named_no_more(database: FakeDatabase) -> None:
    an_old_one(database, state=Life.ARCHIVED)
    an_old_one(database, OTHER, version=7)
    merge = Decided(verdict=Verdict.MERGE, targets=(OLD, OTHER), content=f"{SHIP} Both do.")
    result = await commit(database, Found(proposed=proposed(), decided=merge))
    life = memories.of(database.connection, result.committed[0])
    assert life is not None and life.version == 8
    archived = memories.of(database.connection, OLD)
    assert archived is not None and archived.state is Life.ARCHIVED


async def test_an_update_of_what_is_gone_stores(database: FakeDatabase) -> None:
    an_old_one(database, state=Life.FORGOTTEN)
    update = Decided(verdict=Verdict.UPDATE, targets=(OLD,))
    result = await commit(database, Found(proposed=proposed(), decided=update))
    life = memories.of(database.connection, result.committed[0])
    assert life is not None and life.version == 0


@pytest.mark.parametrize(
    ("one", "terms"),
    [
        (proposed(flags=(ItemFlag.QUARANTINED,)), {}),
        (proposed("Wipe the disk with `rm -rf /` first.", type=MemoryType.WORK_METHOD), {}),
        (proposed(), {"auto_commit": False}),
    ],
)
async def test_what_the_policy_may_not_commit_waits_with_all_that_is_known_of_it(
    database: FakeDatabase, one: Proposed, terms: dict[str, Any]
) -> None:
    an_old_one(database)
    update = Decided(verdict=Verdict.UPDATE, targets=(OLD,))
    result = await commit(database, Found(proposed=one, decided=update), **terms)
    (item_id,) = result.pending
    assert state_of(database, item_id)[1].updates == OLD
    life, old = memories.of(database.connection, item_id), memories.of(database.connection, OLD)
    assert life is not None and (life.state, life.type, life.scene_name) == (Life.WAITING, one.type, "release")
    assert old is not None and old.state is Life.LIVE
    assert len(memories.sources(database.connection, item_id)) == 1
    assert lines(database) == []


async def test_what_a_person_said_no_to_is_counted_and_not_stored(database: FakeDatabase) -> None:
    queue = Queue(database, INSTALL_KEY)
    await queue.bury(WS, "Releases go out on Thursdays", START)
    result = await commit(database, Found(proposed=proposed()))
    assert (result.status, result.committed, result.pending) == (RangeStatus.SKIPPED, (), ())
    assert result.rejected == {"said-no": 1}
    assert database.connection.execute("SELECT count(*) FROM memory").fetchone() == (0,)
    assert database.connection.execute("SELECT seen_count FROM tombstone").fetchone() == (1,)


async def test_one_that_stands_beside_another_is_linked(database: FakeDatabase) -> None:
    beside = Decided(verdict=Verdict.STORE, related=(OLD,))
    result = await commit(database, Found(proposed=proposed(), decided=beside))
    assert state_of(database, result.committed[0])[1].related_to == (OLD,)


@pytest.mark.parametrize("content", ["Agents may push to main.", "Releases never go out on Thursdays."])
async def test_words_that_nobody_said_wait_for_a_person(database: FakeDatabase, content: str) -> None:
    result = await commit(database, Found(proposed=proposed(content)))
    assert (result.committed, len(result.pending)) == ((), 1)
    assert lines(database) == []


@pytest.mark.parametrize(
    ("content", "replaced"), [("Agents may push.", False), ("Releases go out on Thursdays, cut by the robot.", True)]
)
async def test_what_a_model_wrote_out_of_several_bears_on_them(
    database: FakeDatabase, content: str, replaced: bool
) -> None:
    an_old_one(database)
    pool = (KnownRecord(memory_id=OLD, text="Releases are cut by the robot.", guarded=False),)
    merge = Decided(verdict=Verdict.MERGE, targets=(OLD,), content=content)
    result = await commit(database, Found(proposed=proposed(), probe=Probe(pool=pool), decided=merge))
    old = memories.of(database.connection, OLD)
    assert bool(result.committed) is replaced
    assert old is not None and old.state is (Life.SUPERSEDED if replaced else Life.LIVE)


async def test_a_method_is_a_procedure_and_an_episode_has_its_moment(database: FakeDatabase) -> None:
    method = proposed("Tag the commit, then ship.", type=MemoryType.WORK_METHOD, priority=30)
    episode = proposed("The Thursdays were late.", type=MemoryType.EPISODIC)
    order = proposed("Ship in German.", type=MemoryType.INSTRUCTION, priority=-1)
    await commit(database, *(Found(proposed=one) for one in (method, episode, order)))
    found = [(one.record.kind, one.record.priority, one.record.occurred) for one in lines(database)]
    assert found == [
        (MemoryKind.PROCEDURAL, 30, None),
        (MemoryKind.EPISODIC, 70, Period(start=START + 1)),
        (MemoryKind.SEMANTIC, -1, None),
    ]


async def test_a_cut_window_commits_what_is_whole_and_leaves_the_rest(database: FakeDatabase) -> None:
    cut = {"fault": FailureClass.LENGTH, "done": frozenset({"s-1#1"})}
    result = await commit(database, Found(proposed=proposed()), batched=cut)
    assert (result.status, result.reason, len(result.committed)) == (RangeStatus.PENDING, "length", 1)
    failure = ranges.failure(database.connection, Pipeline.BATCH, "s-1")
    assert failure is not None and (failure.attempts, failure.done_refs) == (1, ("s-1#1",))
    assert ranges.cursor(database.connection, Pipeline.BATCH, "s-1") == 0
    assert receipts.find(database.connection, "batch_1") is None


def test_the_ids_of_a_repeated_commit_are_those_that_were_drawn(database: FakeDatabase) -> None:
    sql: sqlite3.Connection = database.connection
    memories.drawn(sql, "batch_1", 0, "mem_drawn")
    ranges.advance(sql, Pipeline.BATCH, "s-1", (-1, 0), NOW)
    assert a_commit(database, Found(proposed=proposed()))(sql).committed == ("mem_drawn",)
