"""A search sees one scope at one time: what is outside is neither found, nor counted, nor in the way."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall import lookup
from recall.analyzer import distinct
from recall.contracts import Flag, MemoryRecord, SourceName, Status
from recall.lookup import View
from tests.support.builders import a_memory, a_memory_id, a_scope, a_user_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.shelf import VIEW, Shelf

OTHER = a_workspace_scope("ws_other")


def numbered(texts: Sequence[str], start: int = 1, **fields: object) -> list[MemoryRecord]:
    return [a_memory(text, memory_id=a_memory_id(number), **fields) for number, text in enumerate(texts, start)]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_the_record_that_says_more_of_it_comes_first_and_scores_are_positive(shelf: Shelf) -> None:
    shelf.put(*numbered(["Consumer groups are named by team.", "Kafka consumer lag fires at 5000.", "Office hours."]))

    hits = shelf.search("kafka consumer lag")

    assert [hit.memory_id for hit in hits] == [a_memory_id(2), a_memory_id(1)]
    assert hits[0].score > hits[1].score > 0
    assert hits[0].confidence == 1.0 and 0 < hits[1].confidence < 0.5
    assert {hit.source for hit in hits} == {SourceName.LEXICAL}
    assert set(distinct("Kafka consumer lag fires at 5000.")) == set(hits[0].terms)


def test_other_scopes_cannot_fill_the_limit(shelf: Shelf) -> None:
    shelf.put(*numbered([f"Deploy checklist item {n}: deploy checklist." for n in range(300)], 100, scope=OTHER))
    shelf.put(a_memory("Deploy checklist for this service.", memory_id=a_memory_id(1)))

    assert shelf.ids("deploy checklist", limit=1) == [a_memory_id(1)]


def test_other_scopes_change_no_score(shelf: Shelf) -> None:
    shelf.put(*numbered(["Retry budget is 4000.", "The retry page.", "Budget of the year."]))
    before = shelf.search("retry budget page")

    shelf.put(*numbered([f"Retry retry budget {n}." for n in range(50)], 100, scope=OTHER))

    assert shelf.search("retry budget page") == before
    assert lookup.statistics(shelf.connection, ["retri", "budget"], VIEW).counts == {"retri": 2, "budget": 2}


def test_a_session_sees_its_workspace_and_its_user(shelf: Shelf) -> None:
    shelf.put(a_memory("Tabs in this project.", memory_id=a_memory_id(1)))
    shelf.put(a_memory("Tabs everywhere.", memory_id=a_memory_id(2), scope=a_user_scope()))
    shelf.put(a_memory("Tabs elsewhere.", memory_id=a_memory_id(3), scope=OTHER))

    assert sorted(shelf.ids("tabs")) == [a_memory_id(1), a_memory_id(2)]
    assert shelf.ids("tabs", view=View(scope=a_scope(workspace="", user=""), now=START)) == []
    assert lookup.statistics(shelf.connection, ["tab"], VIEW).counts == {"tab": 2}


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.ARCHIVED},
        {"flags": (Flag.QUARANTINED,)},
        {"flags": (Flag.CORRECTED,)},
        {"flags": (Flag.RECHECK,)},
        {"expires_at": START},
        {"valid_from": START + 1},
    ],
)
def test_what_may_not_be_shown_is_not_found_and_not_counted(shelf: Shelf, fields: dict[str, object]) -> None:
    shelf.put(
        a_memory("Old limit.", memory_id=a_memory_id(1), **fields), a_memory("New limit.", memory_id=a_memory_id(2))
    )

    assert shelf.ids("limit") == [a_memory_id(2)]
    assert lookup.statistics(shelf.connection, ["limit", "old"], VIEW) == lookup.TermStatistics(
        total=1, counts={"limit": 1}
    )
    assert [hit.memory_id for hit in lookup.by_id(shelf.connection, [a_memory_id(1)], VIEW)] == [a_memory_id(1)]


def test_time_decides_at_the_moment_of_the_search(shelf: Shelf) -> None:
    shelf.put(a_memory("Freeze until Monday.", memory_id=a_memory_id(1), valid_from=START, expires_at=START + 10))

    seen = [bool(shelf.ids("freeze", view=View(scope=a_scope(), now=START + at))) for at in (-1, 0, 9, 10)]

    assert seen == [False, True, True, False]


def test_many_expired_records_cannot_fill_the_depth(shelf: Shelf) -> None:
    shelf.put(*numbered([f"Limit limit {n}" for n in range(200)], 100, expires_at=START - 1))
    shelf.put(a_memory("The limit of all.", memory_id=a_memory_id(1)))

    assert shelf.ids("limit") == [a_memory_id(1)]


def test_rare_terms_are_asked_first_and_frequent_ones_left_out(shelf: Shelf) -> None:
    shelf.put(*numbered([f"common words number{n}" for n in range(lookup.POSTINGS + 10)], 100))
    shelf.put(a_memory("a needle of common make", memory_id=a_memory_id(1)))

    hits = shelf.search("common needle")

    assert [hit.memory_id for hit in hits] == [a_memory_id(1)]  # `common` would exceed the postings
    assert len(shelf.search("common")) == 50  # alone it is asked all the same


def test_equal_scores_are_ordered_by_id(shelf: Shelf) -> None:
    shelf.put(*reversed(numbered(["Same words here."] * 5)))

    assert shelf.ids("same words") == [a_memory_id(n) for n in range(1, 6)]


def test_a_word_still_being_typed_finds_what_it_may_become(shelf: Shelf) -> None:
    shelf.put(*numbered(["Kubernetes runs staging.", "Kubelet restarts.", "Nothing else."]))

    assert shelf.ids("kuber", prefix="kuber") == [a_memory_id(1)]
    assert sorted(shelf.ids("", prefix="kube")) == [a_memory_id(1), a_memory_id(2)]
    assert shelf.ids("kuber") == [] and shelf.ids("", prefix="%") == []


def test_a_title_counts_more_than_the_text(shelf: Shelf) -> None:
    shelf.put(
        a_memory("Use the blue host for the release of the service.", memory_id=a_memory_id(1), title="Deploy"),
        a_memory("The deploy of the release used the blue host once.", memory_id=a_memory_id(2)),
    )

    assert shelf.ids("deploy") == [a_memory_id(1), a_memory_id(2)]


def test_pinned_records_come_first_among_equals_then_by_priority_then_age(shelf: Shelf) -> None:
    shelf.put(
        a_memory("a", memory_id=a_memory_id(1), pinned=True, created_at=START - 2),
        a_memory("b", memory_id=a_memory_id(2), pinned=True, priority=90, created_at=START - 9),
        a_memory("c", memory_id=a_memory_id(3), pinned=True, priority=-1, created_at=START - 9),
        a_memory("d", memory_id=a_memory_id(4), pinned=True, created_at=START - 1),
        a_memory("e", memory_id=a_memory_id(5)),
        a_memory("f", memory_id=a_memory_id(6), pinned=True, expires_at=START),
    )

    order = [hit.memory_id for hit in lookup.pinned(shelf.connection, 10, VIEW)]

    assert order == [a_memory_id(n) for n in (3, 2, 4, 1)]
    assert len(lookup.pinned(shelf.connection, 2, VIEW)) == 2


def test_records_with_no_terms_are_kept_and_never_found(shelf: Shelf) -> None:
    shelf.put(a_memory("👍", memory_id=a_memory_id(1)), a_memory("the of and", memory_id=a_memory_id(2)))

    (first, second) = lookup.by_id(shelf.connection, [a_memory_id(1), a_memory_id(2)], VIEW)
    assert first.terms == second.terms == () and shelf.ids("the 👍 of") == []


def test_eligible_records_are_given_by_their_rows_in_the_order_asked(shelf: Shelf) -> None:
    shelf.put(
        a_memory("a", memory_id=a_memory_id(1)),
        a_memory("b", memory_id=a_memory_id(2), status=Status.ARCHIVED),
        a_memory("c", memory_id=a_memory_id(3), expires_at=START),
        a_memory("d", memory_id=a_memory_id(4)),
    )
    shelf.put(a_memory("e", memory_id=a_memory_id(5), scope=OTHER))

    found = lookup.eligible(shelf.connection, [4, 99, 5, 3, 2, 1, 4], 1, VIEW)

    assert [hit.memory_id for hit in found or ()] == [a_memory_id(4), a_memory_id(1)]
    assert lookup.eligible(shelf.connection, [1], 2, VIEW) is None  # rows of another making of the index


def test_looking_up_ids_costs_the_same_in_a_large_store(shelf: Shelf) -> None:
    asked = [a_memory_id(1)]
    shelf.put(*numbered(["One of few."]))
    few = shelf.steps(lambda: lookup.by_id(shelf.connection, asked, VIEW))
    shelf.put(*numbered([f"One of many {n}." for n in range(500)], 100))

    assert shelf.steps(lambda: lookup.by_id(shelf.connection, asked, VIEW)) <= few + 2


def test_a_candidate_says_which_hosts_hold_it_anyway(shelf: Shelf) -> None:
    shelf.put(a_memory("Run make gen first."))
    (own,) = shelf.search("make gen")
    shelf.connection.execute("UPDATE root SET provider = 'agents-md'")

    (theirs,) = shelf.search("make gen")

    assert own.loaded_by == () and "codex" in theirs.loaded_by


@settings(max_examples=80)
@given(st.text(max_size=60), st.text(max_size=12))
def test_no_text_is_a_syntax_error_and_every_text_finds_itself(text: str, prefix: str) -> None:
    kept = text.replace("\0", "").encode("utf-8", "replace").decode()
    shelf = Shelf()
    shelf.put(a_memory(f"marker {kept}"))

    for query in (text, f'"{text}', f"{text}*", f"({text}) NEAR {text}", f"tokens:{text}"):
        assert isinstance(shelf.ids(query), list)
    assert shelf.ids(kept) == [a_memory_id(1)] or not distinct(kept)
    assert isinstance(shelf.search("", prefix=prefix), list)
