"""Private records that a promoted entry takes the place of."""

import pytest

from governance.formation.contracts import Life, TombstoneLine
from governance.formation.queue import Queue
from governance.formation.store import items, memories, outbox
from governance.migrations import queue_steps
from governance.review import ItemKind, QueueItem, State
from governance.team import privates
from tests.support.builders import a_memory_id
from tests.support.fakes import FakeDatabase
from tests.support.formed import a_formed

KEY = b"k" * 32
NEW = "mem_" + "f" * 32


@pytest.fixture
def database():
    return FakeDatabase(queue_steps())


def test_the_life_of_a_record_ends_with_a_line_and_its_items(database):
    queue, connection = Queue(database, KEY), database.connection
    memories.put(connection, a_formed(1, version=3))
    item = QueueItem(
        item_id="note_1",
        kind=ItemKind.NOTE,
        pipeline="notes",
        workspace_key="ws_1",
        created_at=1,
        state=State.KEPT,
        record_id=a_memory_id(1),
    )
    items.insert(connection, item)
    for _ in range(2):
        privates.supersede(connection, queue, [a_memory_id(1)], NEW, 50)
    held = memories.of(connection, a_memory_id(1))
    assert held is not None
    assert (held.state, held.superseded_by, held.version) == (Life.SUPERSEDED, NEW, 4)
    (line,) = outbox.waiting(connection, 9)
    assert '"why":"superseded"' in line.line
    assert f'"supersededBy":"{NEW}"' in line.line
    assert TombstoneLine.__struct_config__.tag == line.kind
    now = items.get(connection, "note_1")
    assert now is not None
    assert now.state is State.SUPERSEDED


def test_a_record_that_formation_never_made_gets_its_line_all_the_same(database):
    privates.supersede(database.connection, Queue(database, KEY), [a_memory_id(2)], NEW, 50)
    assert [one.memory_id for one in outbox.waiting(database.connection, 9)] == [a_memory_id(2)]
    assert memories.of(database.connection, a_memory_id(2)) is None
