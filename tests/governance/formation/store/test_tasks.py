"""Tasks of the running agent: written once, found again, and answered once."""

import sqlite3

import msgspec
import pytest

from governance.formation.errors import StateFault
from governance.formation.store import tasks
from governance.formation.store.tasks import TaskKind, TaskRow, TaskState
from governance.migrations import queue_steps
from tests.support.clock import START
from tests.support.fakes import FakeDatabase


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


ROW = TaskRow(
    task_id="task_1",
    kind=TaskKind.CHECKPOINT,
    workspace_key="ws_1",
    session_id="s-one",
    from_seq=3,
    through_seq=9,
    binding="b" * 64,
    created_at=START,
    changed_at=START,
)


async def test_a_task_is_found_as_it_was_written_and_another_is_not(database: FakeDatabase) -> None:
    await database.write(lambda connection: tasks.put(connection, ROW))
    assert await database.read(lambda connection: tasks.of(connection, "task_1")) == ROW
    assert await database.read(lambda connection: tasks.of(connection, "task_2")) is None


async def test_the_same_task_again_changes_nothing_of_the_first(database: FakeDatabase) -> None:
    later = msgspec.structs.replace(ROW, binding="c" * 64, created_at=START + 1)

    def work(connection: sqlite3.Connection) -> None:
        tasks.put(connection, ROW)
        tasks.put(connection, later)

    await database.write(work)
    assert await database.read(lambda connection: tasks.of(connection, "task_1")) == ROW


async def test_a_task_is_done_once(database: FakeDatabase) -> None:
    def work(connection: sqlite3.Connection) -> None:
        tasks.put(connection, ROW)
        tasks.done(connection, "task_1", START + 5)
        tasks.done(connection, "task_1", START + 9)
        tasks.done(connection, "task_none", START + 9)

    await database.write(work)
    found = await database.read(lambda connection: tasks.of(connection, "task_1"))
    assert found == msgspec.structs.replace(ROW, state=TaskState.DONE, changed_at=START + 5)


@pytest.mark.parametrize("column", ["kind", "state"])
async def test_a_row_that_cannot_be_read_is_corrupt_and_not_absent(database: FakeDatabase, column: str) -> None:
    def work(connection: sqlite3.Connection) -> None:
        tasks.put(connection, ROW)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE agent_task SET {column} = 'other'")

    await database.write(work)
    with pytest.raises(StateFault) as found:
        await database.read(lambda connection: tasks.of(connection, "task_1"))
    assert found.value.code == "state-corrupt"
