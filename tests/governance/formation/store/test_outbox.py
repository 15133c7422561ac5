"""The outbox: what was committed waits in its order, and keeps no words once it was written."""

import sqlite3
from collections.abc import Iterator

import msgspec
import pytest

from governance.formation.contracts import Line
from governance.formation.store import outbox
from governance.migrations import queue_steps
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.formed import a_record_line, a_tombstone


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None)
    for script in queue_steps():
        made.executescript(script)
    yield made
    made.close()


def test_lines_wait_in_the_order_of_their_commits(connection: sqlite3.Connection) -> None:
    numbers = [outbox.put(connection, a_record_line(number), START) for number in (3, 1, 2)]

    found = outbox.waiting(connection, 10)

    assert [one.number for one in found] == numbers
    assert [one.memory_id for one in found] == [a_memory_id(number) for number in (3, 1, 2)]
    assert msgspec.json.decode(found[0].line, type=Line) == a_record_line(3)
    assert [one.number for one in outbox.waiting(connection, 1, numbers[0])] == [numbers[1]]
    assert outbox.depth(connection) == 3


def test_what_is_done_waits_no_more_and_keeps_no_words(connection: sqlite3.Connection) -> None:
    number = outbox.put(connection, a_record_line(), START)

    outbox.done(connection, number, START + 1)

    assert outbox.waiting(connection, 10) == () and outbox.depth(connection) == 0
    assert connection.execute("SELECT line, done_at FROM outbox").fetchall() == [("", START + 1)]


def test_what_is_forgotten_is_not_written_any_more_but_that_it_is(connection: sqlite3.Connection) -> None:
    outbox.put(connection, a_record_line(1), START)
    outbox.put(connection, a_record_line(2), START)
    outbox.put(connection, a_tombstone(1, "forgotten"), START)

    outbox.forget(connection, a_memory_id(1), START)

    assert [(one.memory_id, one.kind) for one in outbox.waiting(connection, 10)] == [
        (a_memory_id(2), "record"),
        (a_memory_id(1), "tombstone"),
    ]


def test_what_was_done_long_ago_is_let_go_and_its_number_is_not_used_again(connection: sqlite3.Connection) -> None:
    number = outbox.put(connection, a_record_line(), START)
    outbox.done(connection, number, START)

    outbox.prune(connection, START + 1)

    assert connection.execute("SELECT count(*) FROM outbox").fetchone() == (0,)
    assert outbox.put(connection, a_record_line(), START) > number
