"""What a run saw of documents is remembered with the version that it had."""

import pytest

from governance.formation.contracts import DocumentMeta, DocumentVersion
from governance.formation.errors import AnswerFault
from governance.formation.shelf import LINE, MOST_FOUND, Shelf, before, whole
from tests.support.drafting import a_scene, a_skill

ONE, TWO = a_scene(1, version=4), a_scene(2, "Deploy to the harbour cluster.")


def test_what_was_not_looked_at_is_not_in_the_read_set() -> None:
    shelf = Shelf([ONE, TWO])

    assert len(shelf) == 2 and shelf.read_set == ()
    assert shelf.read(ONE.id) == ONE
    assert shelf.read_set == (DocumentVersion(id=ONE.id, version=4),)


def test_listing_sees_all_and_searching_those_that_are_found() -> None:
    shelf = Shelf([ONE, TWO])

    assert [line["id"] for line in shelf.found("harbour")] == [TWO.id]
    assert [seen.id for seen in shelf.read_set] == [TWO.id]
    assert [line["name"] for line in shelf.listed()] == ["Scene 2", "Scene 1"]  # the hotter one first
    assert len(shelf.read_set) == 2
    assert shelf.found("zebra") == []


def test_a_search_finds_at_most_ten() -> None:
    shelf = Shelf([a_scene(number, "The same words.") for number in range(1, 30)])

    assert len(shelf.found("same words")) == MOST_FOUND == len(shelf.read_set)


def test_a_document_is_changed_only_after_it_was_read() -> None:
    shelf = Shelf([ONE])
    shelf.listed()

    with pytest.raises(AnswerFault) as unread:
        shelf.changing(ONE.id)
    with pytest.raises(AnswerFault) as unknown:
        shelf.read("doc_none")
    shelf.read(ONE.id)

    assert (unread.value.code, unknown.value.code) == ("not-read", "unknown-document")
    assert shelf.changing(ONE.id) == ONE


def test_a_document_is_shown_with_what_one_must_know_of_it() -> None:
    assert before(ONE).version == 4 and before(ONE).id == ONE.id
    assert set(whole(ONE)) == {"id", "name", "summary", "content"}
    assert whole(a_skill(writable=False, resources=("a.sh",)))["resources"] == ["a.sh"]
    assert whole(a_skill(writable=False))["writable"] is False


def test_a_run_reads_so_much_and_what_it_did_not_get_it_does_not_change() -> None:
    big = [a_skill(f"skill-{number}", "x" * 60_000) for number in range(3)]
    shelf = Shelf(big)
    for one in (big[0], big[1], big[1]):  # again costs nothing
        shelf.read(one.id)

    with pytest.raises(AnswerFault) as full:
        shelf.read(big[2].id)
    with pytest.raises(AnswerFault) as unread:
        shelf.changing(big[2].id)

    assert (full.value.code, unread.value.code) == ("over-budget", "not-read")
    assert [seen.id for seen in shelf.read_set] == sorted([big[0].id, big[1].id])
    (line,) = Shelf([a_skill(meta=DocumentMeta(summary="s" * 1024))]).listed()
    assert line["summary"] == "s" * LINE
