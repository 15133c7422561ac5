"""Episodes are kept aside: no search finds them, no count knows them, and their source gets them all."""

from recall import lookup, records, survey
from recall.aside import aside
from recall.contracts import MemoryKind, Origin, Status
from recall.lookup import Search
from tests.support.builders import a_memory, a_memory_id, a_scope, a_workspace_scope
from tests.support.shelf import VIEW, Shelf

EPISODE = {"kind": MemoryKind.EPISODIC, "origin": Origin.EXTRACTED, "tags": ("episode", "success")}


def a_shelf() -> Shelf:
    shelf = Shelf()
    shelf.put(
        a_memory("Seal before release.", memory_id=a_memory_id(1), created_at=1),
        a_memory("`make seal` failed.", memory_id=a_memory_id(2), created_at=2, **EPISODE),
        a_memory("`make seal` failed again.", memory_id=a_memory_id(3), created_at=3, **EPISODE),
        a_memory("`make seal` was archived.", memory_id=a_memory_id(4), status=Status.ARCHIVED, **EPISODE),
        a_memory("A seal that a person told of.", memory_id=a_memory_id(5), kind=MemoryKind.EPISODIC),
    )
    theirs = a_workspace_scope("ws_other")
    shelf.put(a_memory("`make seal` failed there.", memory_id=a_memory_id(6), scope=theirs, **EPISODE), folder="/other")
    return shelf


def test_only_their_own_question_finds_them_newest_first_and_nobody_elses() -> None:
    shelf = a_shelf()

    assert [one.memory_id for one in aside(shelf.connection, VIEW)] == [a_memory_id(3), a_memory_id(2)]


def test_a_search_by_words_neither_finds_nor_counts_them() -> None:
    shelf = a_shelf()

    found = lookup.search(shelf.connection, Search(terms=("seal", "make"), limit=50), VIEW)

    assert {one.memory_id for one in found.candidates} == {a_memory_id(1), a_memory_id(5)}
    assert (found.statistics.total, found.statistics.counts) == (2, {"seal": 2})
    assert survey.left_out(shelf.connection, ("seal",), VIEW)[0].memory_id == a_memory_id(4)


def test_they_are_records_like_any_other_to_who_names_them() -> None:
    shelf = a_shelf()
    ids = [a_memory_id(2), a_memory_id(4), a_memory_id(6)]

    assert list(records.digests(shelf.connection, ids, a_scope())) == [a_memory_id(2)]
    assert records.one(shelf.connection, a_memory_id(2), a_scope()) is not None
    assert len(records.page(shelf.connection, a_scope(), 50, None).records) == 5
