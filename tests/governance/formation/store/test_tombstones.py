"""What was said no to once: the same words, likeness, quotes, and what is forgotten but said again since."""

from typing import Any

import pytest

from governance.formation.store.tombstones import Grave, Met, Tombstones, Why
from governance.migrations import queue_steps
from governance.review import QUOTE, Citation, ItemKind, QueueItem
from recall.contracts import Millis
from tests.support.builders import WORKSPACE
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
TEXT = "Releases go out on Thursdays."


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


@pytest.fixture
def graves() -> Tombstones:
    return Tombstones(KEY)


def an_item(text: str = TEXT, pipeline: str = "notes", **fields: Any) -> QueueItem:
    given = {"item_id": "note_1", "kind": ItemKind.NOTE, "workspace_key": WORKSPACE, "created_at": START} | fields
    return QueueItem(text=text, pipeline=pipeline, **given)


def a_quote(quote: str, at: Millis = 0, role: str = "user") -> Citation:
    return Citation(kind=QUOTE, ref="m1", quote=quote, role=role, at=at)


def a_grave(text: str = TEXT, **fields: Any) -> Grave:
    given = {"workspace_key": WORKSPACE, "at": START, "item_id": "note_0"} | fields
    return Grave(text=text, **given)


@pytest.mark.parametrize(
    "text", [TEXT, "releases go  out on thursdays", "Releases go out\non Thursdays!", "Ｒeleases go out on Thursdays."]
)
def test_the_same_words_are_the_same_however_they_are_set(
    database: FakeDatabase, graves: Tombstones, text: str
) -> None:
    graves.bury(database.connection, a_grave())
    assert graves.met(database.connection, an_item(text)).buried == graves.digest(WORKSPACE, TEXT)
    assert graves.holds(database.connection, WORKSPACE, text)
    graves.lift(database.connection, WORKSPACE, text)
    assert graves.met(database.connection, an_item(text)) == Met()


def test_it_holds_in_its_workspace_and_what_is_the_users_holds_everywhere(
    database: FakeDatabase, graves: Tombstones
) -> None:
    graves.bury(database.connection, a_grave())
    assert graves.met(database.connection, an_item(workspace_key="elsewhere")) == Met()
    graves.bury(database.connection, a_grave(workspace_key=""))
    assert graves.met(database.connection, an_item(workspace_key="elsewhere")).buried is not None


@pytest.mark.parametrize(("pipeline", "buries"), [("checkpoint", True), ("batch", True), ("notes", False)])
def test_likeness_buries_what_nobody_reviews_and_links_a_note(
    database: FakeDatabase, graves: Tombstones, pipeline: str, buries: bool
) -> None:
    graves.bury(database.connection, a_grave("Always run the linter before a commit."))
    met = graves.met(database.connection, an_item("Always run the linter before the commit", pipeline))
    assert (met.buried is not None, met.near) == (buries, () if buries else ("note_0",))
    other = graves.met(database.connection, an_item("The staging port is 7070.", pipeline))
    assert other == Met()


def test_another_number_or_a_negation_is_another_claim(database: FakeDatabase, graves: Tombstones) -> None:
    graves.bury(database.connection, a_grave("The retry limit is 10."))
    graves.bury(database.connection, a_grave("Use the shared cache for builds."))
    for text in ("The retry limit is 20.", "Do not use the shared cache for builds."):
        assert graves.met(database.connection, an_item(text, "checkpoint")) == Met()


@pytest.mark.promise("forgotten-everywhere")
def test_what_is_forgotten_keeps_no_words_and_is_known_by_its_quotes(
    database: FakeDatabase, graves: Tombstones
) -> None:
    quote = "we ship on Thursdays, you know"
    graves.bury(database.connection, a_grave(why=Why.FORGOTTEN, quotes=(quote,)))
    stored = "\n".join(database.connection.iterdump())
    assert "Thursdays" not in stored
    repeats = an_item(
        "Shipping happens on one day of the week.", citations=(a_quote("We ship on Thursdays, you know."),)
    )
    assert graves.met(database.connection, repeats).buried == graves.digest(WORKSPACE, TEXT)
    quoting = an_item("Shipping day is fixed.", citations=(a_quote("releases go out on thursdays"),))
    assert graves.met(database.connection, quoting).buried is not None


def test_what_is_forgotten_is_known_by_its_words_however_they_are_joined(
    database: FakeDatabase, graves: Tombstones
) -> None:
    graves.bury(database.connection, a_grave("Compile tunnels beside rivers, not before 10:00.", why=Why.FORGOTTEN))
    assert "tunnels" not in "\n".join(database.connection.iterdump())
    for text in (
        "Compile the tunnels beside the rivers, not before 10:00.",
        "Beside rivers compile tunnels, not before 10:00",
    ):
        assert graves.met(database.connection, an_item(text)).buried is not None
    for text in (
        "Compile tunnels beside rivers, not before 11:00.",
        "Compile tunnels beside rivers before 10:00.",
        "Yes.",
    ):
        assert graves.met(database.connection, an_item(text)) == Met()


@pytest.mark.parametrize("text", ["Yes.", "It is so.", "好"])
def test_of_few_words_all_are_told(database: FakeDatabase, graves: Tombstones, text: str) -> None:
    graves.bury(database.connection, a_grave(text, why=Why.FORGOTTEN))
    assert graves.met(database.connection, an_item(text)).buried is not None
    assert graves.met(database.connection, an_item("That was it.")) == Met()


def test_of_what_was_put_away_a_quote_may_say_other_things(database: FakeDatabase, graves: Tombstones) -> None:
    graves.bury(database.connection, a_grave(quotes=("we ship on Thursdays after the smoke tests",)))
    other = an_item("Smoke tests come first.", citations=(a_quote("we ship on Thursdays after the smoke tests"),))
    assert graves.met(database.connection, other) == Met()


@pytest.mark.parametrize(
    ("citations", "buried", "returned"),
    [
        ((), True, False),
        ((a_quote("ship it", START - 1),), True, False),
        ((a_quote("ship it", START),), True, False),
        ((a_quote("ship it", START + 1, "assistant"),), True, False),
        ((a_quote("ship it", START + 1),), False, True),
    ],
)
def test_what_is_forgotten_comes_back_by_what_the_user_says_since(
    database: FakeDatabase, graves: Tombstones, citations: tuple[Citation, ...], buried: bool, returned: bool
) -> None:
    graves.bury(database.connection, a_grave(why=Why.FORGOTTEN))
    met = graves.met(database.connection, an_item(citations=citations))
    assert (met.buried is not None, met.returned) == (buried, returned)


def test_what_was_archived_does_not_come_back_by_being_said_again(database: FakeDatabase, graves: Tombstones) -> None:
    graves.bury(database.connection, a_grave())
    newer = an_item(citations=(a_quote(TEXT, START + 99),))
    assert graves.met(database.connection, newer).buried is not None
    assert graves.holds(database.connection, WORKSPACE, TEXT, START + 99)


def test_the_last_word_about_the_same_counts(database: FakeDatabase, graves: Tombstones) -> None:
    graves.bury(database.connection, a_grave(why=Why.FORGOTTEN))
    assert not graves.holds(database.connection, WORKSPACE, TEXT, START + 1)
    graves.bury(database.connection, a_grave(at=START + 5))
    assert graves.holds(database.connection, WORKSPACE, TEXT, START + 9)


def test_what_an_earlier_version_wrote_down_holds_still(database: FakeDatabase, graves: Tombstones) -> None:
    _, older = graves._digests(WORKSPACE, TEXT)
    database.connection.execute("INSERT INTO tombstone (digest, item_id, at) VALUES (?, NULL, ?)", (older, START))
    assert graves.met(database.connection, an_item()).buried == older
    graves.lift(database.connection, WORKSPACE, TEXT)
    assert graves.met(database.connection, an_item()) == Met()


def test_a_line_of_the_journal_brings_it_back_once(database: FakeDatabase, graves: Tombstones) -> None:
    for _ in range(2):
        graves.restore(database.connection, graves.digest(WORKSPACE, TEXT), Why.FORGOTTEN, START)
    assert database.connection.execute("SELECT count(*) FROM tombstone").fetchone() == (1,)
    assert graves.met(database.connection, an_item()).buried is not None


def test_without_words_nothing_is_buried(database: FakeDatabase, graves: Tombstones) -> None:
    graves.bury(database.connection, a_grave("  \n"))
    assert database.connection.execute("SELECT count(*) FROM tombstone").fetchone() == (0,)
    assert graves.met(database.connection, an_item("")) == Met()
