"""What look-ups have read is used again while the tables stand as they are, and never for other tables."""

import sqlite3
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall import lookup
from recall.analyzer import distinct
from recall.contracts import Candidate
from recall.kept import Kept
from recall.lookup import Search, View
from recall.tables import meta
from tests.support.builders import a_memory, a_memory_id, a_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.shelf import VIEW, Shelf

WORDS = ("kafka", "lag", "retry", "page", "部署")
OTHER = a_workspace_scope("ws_other")


def kept_of(shelf: Shelf) -> Kept:
    found = meta(shelf.connection)
    assert found is not None
    return Kept(found.version, found.epoch)


def search(shelf: Shelf, query: str, kept: Kept | None, view: View = VIEW) -> list[Candidate]:
    return lookup.search(shelf.connection, Search(terms=distinct(query), limit=50), view, kept).candidates


def put(shelf: Shelf, name: str, texts: Sequence[str], first: int = 1) -> None:
    shelf.put(*(a_memory(text, memory_id=a_memory_id(n)) for n, text in enumerate(texts, first)), name=name)


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    put(shelf, "a.md", ["Kafka lag pages.", "The retry budget. Retry!", "Deploy page."])
    return shelf


def test_the_same_is_read_once(shelf: Shelf) -> None:
    before = search(shelf, "kafka retry page", None)
    kept = kept_of(shelf)
    first = shelf.steps(lambda: search(shelf, "kafka retry page", kept))

    again = shelf.steps(lambda: search(shelf, "page retry kafka", kept))

    assert again < first
    assert search(shelf, "kafka retry page", kept) == before


@pytest.mark.parametrize("table", ["posting", "posting_data", "record", "file"])
def test_a_table_that_broke_is_noticed_by_who_asks_the_same_again(shelf: Shelf, table: str) -> None:
    kept = kept_of(shelf)
    assert search(shelf, "kafka retry", kept)
    shelf.connection.execute("PRAGMA writable_schema = ON")
    shelf.connection.execute(f"DROP TABLE {table}")

    with pytest.raises(sqlite3.DatabaseError):
        search(shelf, "kafka retry", kept)


def test_a_record_that_is_read_anew_stands_beside_those_that_are_known(shelf: Shelf) -> None:
    kept = kept_of(shelf)
    search(shelf, "kafka", kept)

    assert search(shelf, "kafka retry deploy", kept) == search(shelf, "kafka retry deploy", None)


def test_nothing_is_used_of_another_version(shelf: Shelf) -> None:
    kept = kept_of(shelf)
    assert search(shelf, "kafka", kept)

    shelf.drop("a.md")
    put(shelf, "b.md", ["Kafka it is still."], first=9)

    assert [one.memory_id for one in search(shelf, "kafka", kept)] == [a_memory_id(9)]


def test_nothing_is_used_of_another_epoch_where_a_row_is_another_record(shelf: Shelf) -> None:
    kept = kept_of(shelf)
    assert search(shelf, "kafka retry", kept)
    found = meta(shelf.connection)
    assert found is not None
    other = Shelf()  # the same rows by number, and the same version by chance
    other.put(a_memory("Kafka of theirs.", memory_id=a_memory_id(9), scope=OTHER))
    other.put(a_memory("Kafka retry page.", memory_id=a_memory_id(8)))
    other.connection.execute("UPDATE meta SET value = ? WHERE key = 'version'", (found.version,))
    other.connection.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (str(found.epoch + 1),))

    assert [one.memory_id for one in search(other, "kafka retry", kept)] == [a_memory_id(8)]


def test_what_was_read_for_one_workspace_is_not_seen_from_another(shelf: Shelf) -> None:
    kept = kept_of(shelf)
    assert search(shelf, "kafka", kept)

    elsewhere = View(scope=a_scope(workspace="ws_other"), now=START)

    assert search(shelf, "kafka", kept, elsewhere) == []


def test_it_never_holds_more_than_there_is_room_for(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.kept.RECORDS", 2)
    monkeypatch.setattr("recall.kept.ROWS", 2)
    kept = Kept("v", 1)
    reads = kept.at("v", 1)
    reads.add("1~kafka", array("q", [1, 2]))
    assert kept.at("v", 1) is reads

    reads.add("1~lag", array("q", [3]))

    assert kept.at("v", 1) is not reads and not kept.at("v", 1).postings


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("ask"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)),
            st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)),
        ),
        min_size=4,
        max_size=12,
    )
)
def test_with_what_was_kept_the_answer_is_the_same(acts: list[tuple[str, str]]) -> None:
    """Whatever was read before, and whatever changed since."""
    shelf = Shelf()
    kept = kept_of(shelf)
    for what, text in acts:
        if what == "ask":
            assert search(shelf, text, kept) == search(shelf, text, None)
        else:
            texts = [f"{text} of {what}.", f"Page {text}"] if text else []
            put(shelf, f"{what}.md", texts, 10 * "ab".index(what) + 1)
            kept = kept_of(shelf) if len(text) % 2 else kept  # told of the change at once, or late
