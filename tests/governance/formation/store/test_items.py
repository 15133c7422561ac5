"""Rows of the review queue: they come back as they went in, and what cannot be read is not "absent"."""

import pytest

from governance.formation.errors import StateFault
from governance.formation.store import items
from governance.formation.store.items import QueueFilter
from governance.migrations import queue_steps
from governance.review import QUOTE, Act, Citation, Decision, ItemFlag, ItemKind, Principal, QueueItem, State
from tests.support.builders import WORKSPACE
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

ITEM = QueueItem(
    item_id="note_1",
    kind=ItemKind.NOTE,
    pipeline="notes",
    workspace_key=WORKSPACE,
    created_at=START,
    changed_at=START,
    text="We ship on Thursdays.",
    citations=(
        Citation(kind=QUOTE, ref="m1", quote="we ship", start=3, end=10, session="s", seq=4, role="user", at=9),
    ),
    flags=(ItemFlag.TRUNCATED_EVIDENCE,),
)
KEPT = Decision(actor=Principal.HUMAN, kind=Act.KEEP, at=START + 1, expected_revision=1, reason="yes")


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


def test_an_item_comes_back_whole_with_its_decisions(database: FakeDatabase) -> None:
    items.insert(database.connection, ITEM)
    assert items.get(database.connection, "note_1") == ITEM
    assert items.get(database.connection, "note_2") is None
    for _ in range(2):  # as a line of the journal that is read twice
        items.decide(database.connection, "note_1", KEPT)
    found = items.get(database.connection, "note_1")
    assert found is not None
    assert found.decisions == (KEPT,)


def test_an_item_stands_again_as_a_decision_left_it(database: FakeDatabase) -> None:
    items.insert(database.connection, ITEM)
    items.redo(database.connection, ITEM, State.KEPT, KEPT)
    found = items.get(database.connection, "note_1")
    assert found is not None
    assert (found.state, found.revision, found.changed_at, found.text) == (State.KEPT, 2, START + 1, ITEM.text)


def test_a_row_that_cannot_be_read_is_a_fault(database: FakeDatabase) -> None:
    items.insert(database.connection, ITEM)
    database.connection.execute("UPDATE queue SET citations = '[{\"kind\": 7}]'")
    with pytest.raises(StateFault, match="cannot be read") as caught:
        items.get(database.connection, "note_1")
    assert caught.value.code == "state-corrupt"


def test_an_item_can_be_left_without_a_word(database: FakeDatabase) -> None:
    items.insert(database.connection, ITEM)
    items.decide(database.connection, "note_1", KEPT)
    items.empty(database.connection, "note_1", (Citation(kind=QUOTE, ref="m1"),))
    stored = "\n".join(database.connection.iterdump())
    assert "ship" not in stored and "yes" not in stored


def test_a_filter_names_what_it_is_given(database: FakeDatabase) -> None:
    wanted = QueueFilter(states=(State.PENDING,), pipelines=("notes",), flagged=True)
    assert items.where(wanted) == (["state IN (?)", "pipeline IN (?)", "flags != '[]'"], ["pending", "notes"])
    assert items.where(QueueFilter()) == ([], [])
