"""An index says what it is, and hands over to the next one what must outlive it."""

import sqlite3

from recall.indexing import find_root
from recall.tables import SCHEMA, Carried, begin, carried, merge, meta, tidied, untidy, version
from tests.support.builders import a_memory, a_memory_id, a_user_scope
from tests.support.fakes import FakeDatabase
from tests.support.shelf import Shelf


def fresh() -> sqlite3.Connection:
    return FakeDatabase(SCHEMA).connection


def test_an_index_that_was_never_filled_says_nothing() -> None:
    connection = fresh()

    assert meta(connection) is None and version(connection) == ""
    assert carried(connection) == Carried(roots=[], files=[])


def test_roots_versions_and_the_epoch_go_on() -> None:
    shelf = Shelf()
    for text in ("One.", "Two."):
        shelf.put(a_memory(text), name="a.md")
    kept, connection = carried(shelf.connection), fresh()

    begin(connection, "reader", kept)

    found = meta(connection)
    assert found is not None and (found.reader, found.epoch) == ("reader", 2)
    assert connection.execute("SELECT relative, version, present FROM file").fetchall() == [("a.md", 2, 0)]
    root = find_root(connection, kept.roots[0].path)
    assert root is not None and root.id == kept.roots[0].id and not root.taken
    assert version(connection) == version(Shelf().connection)  # nothing is present yet


def test_broken_tables_hand_over_what_can_be_read() -> None:
    shelf = Shelf()
    shelf.put(a_memory("One."))
    shelf.connection.execute("DROP TABLE file")
    assert carried(shelf.connection) == Carried(epoch=1)

    shelf.connection.execute("DROP TABLE meta")
    assert carried(shelf.connection) == Carried()


def test_tables_of_an_older_format_hand_over_their_roots_and_versions() -> None:
    old = sqlite3.connect(":memory:")
    old.executescript(
        "CREATE TABLE root (id, path, folder, scope_kind, scope_key, origin, missing);"
        "CREATE TABLE file (id, root, relative, digest, version, stamp, refused, present);"
        "CREATE TABLE meta (key, value);"
        "INSERT INTO root VALUES (4, '/m', '/m', 'User', 'user', 'user', 0);"
        "INSERT INTO file VALUES (9, 4, 'a.md', 'd', 7, 's', NULL, 1);"
        "INSERT INTO meta VALUES ('analyzer', 'lexical_pre_v1 open')"
    )
    connection = fresh()

    begin(connection, "reader", carried(old))

    root = find_root(connection, "/m")
    assert root is not None and (root.id, root.scope, root.taken) == (4, a_user_scope(), False)
    assert connection.execute("SELECT relative, version, present FROM file").fetchall() == [("a.md", 7, 0)]


def test_words_of_records_that_are_gone_are_gone_when_all_is_merged() -> None:
    def stands(word: str) -> bool:
        query = "SELECT count(*) FROM posting_data WHERE instr(block, ?) > 0"
        return bool(shelf.connection.execute(query, (word.encode(),)).fetchone()[0])

    shelf = Shelf()
    for number, text in enumerate(("The lantern is blue.", "Something else.", "And more."), 1):
        shelf.put(a_memory(text, memory_id=a_memory_id(number)), name=f"{number}.md")
    assert untidy(shelf.connection) == ""
    shelf.drop("1.md")
    upto = untidy(shelf.connection)
    assert upto and stands("lantern")

    pages = -16
    while merge(shelf.connection, pages):
        pages = 16

    assert not stands("lantern")
    tidied(shelf.connection, "0")
    assert untidy(shelf.connection) == upto  # more has gone since
    tidied(shelf.connection, upto)
    assert untidy(shelf.connection) == ""
    assert shelf.ids("lantern") == [] and shelf.ids("something") == [a_memory_id(2)]


def test_the_schema_is_one_script_per_version() -> None:
    assert len(SCHEMA) == 1
