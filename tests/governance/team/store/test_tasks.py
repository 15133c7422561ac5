"""Tasks, their chunks and their evidence, as rows."""

import sqlite3

import msgspec
import pytest

from governance.migrations import queue_steps
from governance.team.contracts.base import Owner
from governance.team.contracts.rows import ChunkState, ChunkTurn, EvidenceRow, Task, TaskKind, TaskState
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind, TeamFault
from governance.team.store import tasks
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

OWNER = Owner(repository_key="r" * 64, worktree_key="w" * 64)
SIBLING = Owner(repository_key="r" * 64, worktree_key="v" * 64)
TASK = Task(
    task_id="extract-1",
    kind=TaskKind.RECALL,
    owner=OWNER,
    state=TaskState.PENDING,
    source_digest="d" * 64,
    document="{}",
    created_at=START,
    changed_at=START,
    session_key="session-a",
)
TURNS = (
    ChunkTurn(turn_key="t1", revision=1, payload_digest="p1"),
    ChunkTurn(turn_key="t2", revision=3, payload_digest="p2"),
)


@pytest.fixture
def connection() -> sqlite3.Connection:
    return FakeDatabase(queue_steps()).connection


def held(connection: sqlite3.Connection, task_id: str, *turns: ChunkTurn, owner: Owner = OWNER) -> Task:
    """A task with a chunk of these turns."""
    task = msgspec.structs.replace(TASK, task_id=task_id, owner=owner)
    tasks.put(connection, task)
    tasks.put_chunk(connection, task_id, owner, turns, START)
    return task


def test_a_task_is_found_as_it_was_written(connection: sqlite3.Connection) -> None:
    assert tasks.put(connection, TASK)
    assert tasks.get(connection, "extract-1") == TASK
    assert tasks.get(connection, "extract-2") is None


def test_the_same_task_again_leaves_the_first_as_it_is(connection: sqlite3.Connection) -> None:
    tasks.put(connection, TASK)
    assert not tasks.put(connection, msgspec.structs.replace(TASK, document='{"a":1}'))
    assert tasks.get(connection, "extract-1") == TASK


@pytest.mark.parametrize(("owner", "kind"), [(SIBLING, TaskKind.RECALL), (OWNER, TaskKind.SHARE)])
def test_a_task_of_another_worktree_or_kind_is_not_found(
    connection: sqlite3.Connection, owner: Owner, kind: TaskKind
) -> None:
    tasks.put(connection, TASK)
    assert tasks.needed(connection, "extract-1", OWNER, TaskKind.RECALL, TaskKind.SHARE) == TASK
    assert tasks.needed(connection, "extract-1", OWNER) == TASK
    with pytest.raises(TeamFault) as found:
        tasks.needed(connection, "extract-1", owner, kind)
    assert found.value.kind is Kind.TASK_NOT_FOUND


def test_a_move_that_comes_late_changes_nothing(connection: sqlite3.Connection) -> None:
    tasks.put(connection, TASK)
    one = msgspec.structs.replace(
        TASK, state=TaskState.CLAIMED, token="a", epoch=1, holder="one", lease_until=START + 5
    )
    two = msgspec.structs.replace(one, token="b", holder="two")
    assert tasks.moved(connection, TASK, one)
    assert not tasks.moved(connection, TASK, two)
    assert tasks.get(connection, "extract-1") == one


def test_tasks_are_listed_and_counted_by_worktree_kind_and_state(connection: sqlite3.Connection) -> None:
    shared = msgspec.structs.replace(TASK, task_id="share-1", kind=TaskKind.SHARE, created_at=START + 1)
    done = msgspec.structs.replace(TASK, task_id="extract-2", state=TaskState.SUBMITTED, created_at=START + 2)
    other = msgspec.structs.replace(TASK, task_id="extract-3", owner=SIBLING)
    for one in (done, shared, TASK, other):
        tasks.put(connection, one)
    key = OWNER.worktree_key
    assert tasks.listed(connection, key) == (TASK, shared, done)
    assert tasks.listed(connection, key, TaskKind.RECALL) == (TASK, done)
    assert tasks.listed(connection, key, TaskKind.RECALL, {TaskState.PENDING}) == (TASK,)
    assert tasks.counts(connection, key) == {"recall.pending": 1, "recall.submitted": 1, "share.pending": 1}


def test_what_came_of_a_task_is_found_by_it(connection: sqlite3.Connection) -> None:
    child = msgspec.structs.replace(TASK, task_id="adjudicate-1", kind=TaskKind.ADJUDICATION, parent="extract-1")
    for one in (TASK, child):
        tasks.put(connection, one)
    assert tasks.children(connection, "extract-1") == (child,)
    assert tasks.children(connection, "adjudicate-1") == ()


def test_a_document_can_be_written_anew(connection: sqlite3.Connection) -> None:
    tasks.put(connection, TASK)
    tasks.document(connection, "extract-1", '{"b":2}')
    assert tasks.get(connection, "extract-1") == msgspec.structs.replace(TASK, document='{"b":2}')


def test_a_chunk_keeps_its_turns_in_order(connection: sqlite3.Connection) -> None:
    held(connection, "extract-1", *TURNS)
    tasks.put_chunk(connection, "extract-1", OWNER, TURNS[::-1], START + 1)
    assert tasks.chunk_turns(connection, "extract-1") == TURNS
    assert tasks.chunk(connection, "extract-1") is ChunkState.PENDING
    assert tasks.chunk(connection, "none") is None


@pytest.mark.parametrize("start", list(ChunkState))
@pytest.mark.parametrize("to", list(ChunkState))
def test_a_chunk_moves_as_its_table_says(connection: sqlite3.Connection, start: ChunkState, to: ChunkState) -> None:
    allowed = {
        ("pending", "drafted"),
        ("pending", "extracted"),
        ("pending", "stale"),
        ("drafted", "extracted"),
        ("drafted", "stale"),
    }
    held(connection, "extract-1", *TURNS)
    if start is not ChunkState.PENDING:
        tasks.move_chunk(connection, "extract-1", start, START)
    if start is to:
        assert not tasks.move_chunk(connection, "extract-1", to, START)
    elif (start, to) in allowed:
        assert tasks.move_chunk(connection, "extract-1", to, START)
        assert tasks.chunk(connection, "extract-1") is to
    else:
        with pytest.raises(TeamFault) as found:
            tasks.move_chunk(connection, "extract-1", to, START)
        assert found.value.kind is Kind.STATE_CORRUPT
        assert tasks.chunk(connection, "extract-1") is start


def test_a_task_without_a_chunk_has_none_to_move(connection: sqlite3.Connection) -> None:
    tasks.put(connection, TASK)
    assert not tasks.move_chunk(connection, "extract-1", ChunkState.EXTRACTED, START)


@pytest.mark.parametrize(
    ("state", "dealt_with"),
    [
        *((ChunkState.PENDING, False), (ChunkState.DRAFTED, True)),
        *((ChunkState.EXTRACTED, True), (ChunkState.STALE, False)),
    ],
)
def test_turns_of_a_chunk_that_was_answered_were_dealt_with(
    connection: sqlite3.Connection, state: ChunkState, dealt_with: bool
) -> None:
    held(connection, "extract-1", *TURNS)
    tasks.move_chunk(connection, "extract-1", state, START)
    found = tasks.finished(connection, OWNER.worktree_key, ["t2", "t1", "t9"])
    assert found == (frozenset({("t1", 1), ("t2", 3)}) if dealt_with else frozenset())
    assert tasks.finished(connection, SIBLING.worktree_key, ["t1", "t2"]) == frozenset()


def test_open_tasks_are_found_by_their_turns(connection: sqlite3.Connection) -> None:
    one = held(connection, "extract-1", TURNS[0])
    held(connection, "extract-2", TURNS[1])
    held(connection, "extract-3", TURNS[0], owner=SIBLING)
    done = held(connection, "extract-4", *TURNS)
    tasks.moved(connection, done, msgspec.structs.replace(done, state=TaskState.SUBMITTED))
    assert tasks.holding(connection, OWNER.worktree_key, ["t1", "t9"]) == (one,)
    assert tasks.holding(connection, OWNER.worktree_key, []) == ()


def test_evidence_keeps_its_order_beyond_nine(connection: sqlite3.Connection) -> None:
    rows = tuple(
        EvidenceRow(
            evidence_id=f"ev-{number}-{'a' * 12}",
            kind="turn",
            pointer_digest="p" * 64,
            display=f"turn {number} “ja”",
            pointer="{}",
            strength=Strength.DIRECT,
            limitations=("source-local-only",),
            turn_key=f"t{number}",
            turn_revision=number,
        )
        for number in range(1, 13)
    )
    tasks.put_evidence(connection, "extract-1", rows)
    tasks.put_evidence(connection, "extract-1", rows[:2])
    assert tasks.evidence(connection, "extract-1") == rows
    assert tasks.evidence(connection, "extract-2") == ()


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("UPDATE team_task SET state = 'other'", lambda c: tasks.get(c, "extract-1")),
        ("UPDATE team_task SET kind = 'other'", lambda c: tasks.listed(c, OWNER.worktree_key)),
        ("UPDATE team_chunk SET state = 'other'", lambda c: tasks.chunk(c, "extract-1")),
    ],
)
def test_a_row_that_cannot_be_read_is_corrupt_and_not_absent(  # type: ignore[no-untyped-def]
    connection: sqlite3.Connection, statement: str, reads
) -> None:
    held(connection, "extract-1", *TURNS)
    connection.execute(statement)
    with pytest.raises(TeamFault) as found:
        reads(connection)
    assert found.value.kind is Kind.STATE_CORRUPT


def test_evidence_that_cannot_be_read_is_corrupt(connection: sqlite3.Connection) -> None:
    row = EvidenceRow(
        evidence_id="ev-1-a",
        kind="turn",
        pointer_digest="p",
        display="d",
        pointer="{}",
        strength=Strength.DIRECT,
        limitations=(),
    )
    for column, value in (("strength", "'firm'"), ("limitations", "'{}'")):
        connection.execute("DELETE FROM team_evidence")
        tasks.put_evidence(connection, "extract-1", [row])
        connection.execute(f"UPDATE team_evidence SET {column} = {value}")
        with pytest.raises(TeamFault) as found:
            tasks.evidence(connection, "extract-1")
        assert found.value.kind is Kind.STATE_CORRUPT
