"""The tables after any history are those of a fresh index over the same files."""

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import Flag, MemoryRecord, Origin, Status
from recall.entries import Place
from recall.indexing import SCHEMA, analyzer_of, ensure_root, find_root, publish, reset, set_missing, stored_version
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.shelf import Shelf

PLACE = Place(path="/memory/x", folder="/memory/x")
Files = dict[tuple[str, str], list[MemoryRecord]]
History = list[tuple[tuple[str, str], list[MemoryRecord] | None]]


def counted(connection: sqlite3.Connection) -> dict[str, object]:
    """What the searches stand on, with row numbers left out."""

    def rows(query: str) -> list[tuple[object, ...]]:
        return sorted(connection.execute(query).fetchall())

    tokens = rows("SELECT term, records FROM df")
    postings = [
        (term, connection.execute("SELECT count(*) FROM posting WHERE posting MATCH ?", (f'"1~{term}"',)).fetchone()[0])
        for term, _ in tokens
    ]
    return {
        "df": tokens,
        "postings": postings,
        "scope": rows("SELECT records, length FROM scope WHERE records > 0"),
        "records": rows("SELECT memory_id, digest, standing, searchable, byte_start, byte_end, terms FROM record"),
    }


records = st.builds(
    a_memory,
    text=st.sampled_from(["alpha beta", "beta gamma", "gamma 备份 alpha", "delta"]),
    memory_id=st.integers(1, 3).map(a_memory_id),
    status=st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.REVOKED]),
    flags=st.sampled_from([(), (), (Flag.CORRECTED,)]),
)
files = st.tuples(st.sampled_from(["/one", "/two"]), st.sampled_from(["a.md", "b.md"]))
steps = st.lists(st.tuples(files, st.none() | st.lists(records, max_size=3)), max_size=8)


@given(steps)
def test_counts_postings_and_standings_follow_any_history(
    history: list[tuple[tuple[str, str], list[MemoryRecord] | None]],
) -> None:
    lived, present = Shelf(), Files()
    for (folder, name), content in history:
        if content is None:
            lived.drop(name, folder)
            present.pop((folder, name), None)
        else:
            lived.put(*content, name=name, folder=folder)
            present[folder, name] = content

    fresh = Shelf()
    for folder in dict.fromkeys(folder for (folder, _), _ in history):  # roots count in the order they were met
        fresh.drop("", folder)
    for (folder, name), content in present.items():
        fresh.put(*content, name=name, folder=folder)

    assert counted(lived.connection) == counted(fresh.connection)


def test_a_root_is_one_row_and_a_new_scope_has_its_files_read_again() -> None:
    connection = Shelf().connection
    first = ensure_root(connection, PLACE, a_workspace_scope(), Origin.USER)
    connection.execute(
        "INSERT INTO file (root, relative, digest, version, stamp, present) VALUES (1, 'a', 'd', 3, 's', 1)"
    )

    again = ensure_root(connection, PLACE, a_workspace_scope(), Origin.USER)
    moved = ensure_root(connection, PLACE, a_user_scope(), Origin.USER)

    assert first == again and moved.id == first.id and moved.scope == a_user_scope()
    assert connection.execute("SELECT stamp, version FROM file").fetchall() == [("", 3)]


def test_missing_is_a_state_of_the_root() -> None:
    connection = Shelf().connection
    root = ensure_root(connection, PLACE, a_workspace_scope(), Origin.USER)

    set_missing(connection, root.id, True)

    found = find_root(connection, PLACE.path)
    assert found and found.missing and find_root(connection, "/elsewhere") is None


def test_a_reset_keeps_versions_and_survives_broken_tables() -> None:
    shelf = Shelf()
    shelf.put(a_memory("One."), name="a.md")
    shelf.put(a_memory("Two."), name="a.md")
    version = publish(shelf.connection)

    reset(shelf.connection)

    assert shelf.connection.execute("SELECT version, present FROM file").fetchall() == [(2, 0)]
    assert shelf.ids("two") == [] and analyzer_of(shelf.connection) is not None
    shelf.put(a_memory("Two."), name="a.md")
    assert publish(shelf.connection) == version == stored_version(shelf.connection)

    shelf.connection.execute("DROP TABLE file")
    reset(shelf.connection)
    assert {row[0] for row in shelf.connection.execute("SELECT name FROM sqlite_master")} >= {"file", "record", "df"}


def test_the_schema_is_one_script_per_version() -> None:
    assert len(SCHEMA) == 1
