"""A gap keeps its words while it is open, counts conversations and no sightings, and is let go of when it is old."""

import pytest

from governance.formation.contracts import Gap, GapState, MemorySource
from governance.formation.errors import StateFault
from governance.formation.store import gaps
from governance.migrations import queue_steps
from tests.support.builders import WORKSPACE
from tests.support.fakes import FakeDatabase


def a_gap(number: int = 1, **fields: object) -> Gap:
    given = {
        "gap_id": f"gap_{number}",
        "workspace_key": WORKSPACE,
        "content": f"Fact number {number}.",
        "state": GapState.OPEN,
        "opened_at": number,
        "changed_at": number,
        "item_id": f"mem_{number}",
    } | fields
    return Gap(**given)  # type: ignore[arg-type]


def a_source(message: str = "m1", quote: str = "as it was said") -> MemorySource:
    return MemorySource(session_id="s", message_id=message, event_seq=1, at=1, quote=quote)


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def test_open_gaps_come_last_seen_first_and_of_one_workspace(connection) -> None:
    for one in (a_gap(1), a_gap(2), a_gap(3, workspace_key="other")):
        gaps.begin(connection, one)
    gaps.sight(connection, "gap_1", "c", [a_source()], 50)
    assert [one.gap_id for one in gaps.opened(connection, WORKSPACE)] == ["gap_1", "gap_2"]
    assert [one.gap_id for one in gaps.opened(connection, WORKSPACE, 1)] == ["gap_1"]


def test_a_conversation_is_one_sighting_with_all_that_was_said_in_it(connection) -> None:
    gaps.begin(connection, a_gap())
    gaps.sight(connection, "gap_1", "c", [a_source("m1")], 9)
    gaps.sight(connection, "gap_1", "c", [a_source("m1"), a_source("m2")], 5)
    gaps.sight(connection, "gap_1", "d", [a_source("m3")], 7)
    found = gaps.sightings(connection, "gap_1")
    assert [(one.conversation_key, one.at) for one in found] == [("d", 7), ("c", 9)]
    assert [source.message_id for source in found[1].refs] == ["m1", "m2"]


def test_a_covered_gap_keeps_no_words_and_no_quotes(connection) -> None:
    gaps.begin(connection, a_gap())
    gaps.sight(connection, "gap_1", "c", [a_source()], 9)
    gaps.cover(connection, "gap_1", "mem_9", 10)
    held = gaps.get(connection, "gap_1")
    assert held is not None and (held.state, held.covered_by, held.content) == (GapState.COVERED, "mem_9", "")
    assert gaps.sightings(connection, "gap_1") == () == gaps.opened(connection, WORKSPACE)


def test_a_gap_that_is_opened_anew_begins_without_witnesses(connection) -> None:
    gaps.begin(connection, a_gap())
    gaps.sight(connection, "gap_1", "c", [a_source()], 9)
    gaps.begin(connection, a_gap(opened_at=20, changed_at=20))
    assert gaps.sightings(connection, "gap_1") == ()
    held = gaps.get(connection, "gap_1")
    assert held is not None and (held.state, held.opened_at) == (GapState.OPEN, 20)


def test_a_gap_expires_by_its_last_sighting(connection) -> None:
    for number in (1, 2):
        gaps.begin(connection, a_gap(number))
    gaps.sight(connection, "gap_2", "c", [a_source()], 100)
    assert gaps.expire(connection, 50, 200) == ("mem_1",)
    assert gaps.expire(connection, 50, 200) == ()
    assert gaps.expire(connection, 100, 200) == ()
    assert gaps.expire(connection, 101, 200) == ("mem_2",)
    held = gaps.get(connection, "gap_1")
    assert held is not None and (held.state, held.content) == (GapState.EXPIRED, "")


@pytest.mark.parametrize("item_id", ["mem_1", "mem_9"])
def test_what_is_forgotten_leaves_no_words(connection, item_id: str) -> None:
    gaps.begin(connection, a_gap(1))
    gaps.sight(connection, "gap_1", "c", [a_source()], 9)
    if item_id == "mem_9":
        connection.execute("UPDATE gap SET covered_by = 'mem_9'")
    gaps.forget(connection, [item_id], 30)
    held = gaps.get(connection, "gap_1")
    assert held is not None and held.content == ""
    assert gaps.sightings(connection, "gap_1") == ()


def test_a_gap_whose_item_was_put_away_is_not_open(connection) -> None:
    gaps.begin(connection, a_gap())
    connection.execute(
        "INSERT INTO queue VALUES ('mem_1', 'memory', 'checkpoint', ?, NULL, 'archived', 2, '', '', '[]', '[]', '',"
        " NULL, '[]', NULL, '', '{}', 1, 2)",
        (WORKSPACE,),
    )
    assert gaps.opened(connection, WORKSPACE) == ()
    connection.execute("UPDATE queue SET state = 'deferred'")
    assert [one.gap_id for one in gaps.opened(connection, WORKSPACE)] == ["gap_1"]


@pytest.mark.parametrize("statement", ["UPDATE gap SET state = 'odd'", "UPDATE sighting SET refs = '[1'"])
def test_a_row_that_cannot_be_read_is_no_absence(connection, statement: str) -> None:
    gaps.begin(connection, a_gap())
    gaps.sight(connection, "gap_1", "c", [a_source()], 9)
    connection.execute(statement)
    with pytest.raises(StateFault) as caught:
        gaps.get(connection, "gap_1")
        gaps.sightings(connection, "gap_1")
    assert caught.value.code == "state-corrupt"
