"""The tables after any history are those of a fresh index over the same files."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.contracts import Flag, MemoryRecord, Origin, ScopeRef, Status
from recall.entries import FileChange, Place, Root
from recall.indexing import (
    agree,
    apply,
    ensure_root,
    find_root,
    known_files,
    look_anew,
    recomputed,
    scopes,
    set_missing,
    set_taken,
    unfinished,
    versions,
)
from recall.tables import version
from tests.support.builders import a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.shelf import Shelf

PLACE = Place(path="/memory/x", folder="/memory/x")


def root_of(scope: ScopeRef, provider: str = "") -> Root:
    return Root(path=PLACE.path, scope=scope, origin=Origin.USER, provider=provider)


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
    assert version(lived.connection) == recomputed(lived.connection)


@given(steps)
def test_the_journal_tells_every_record_that_can_be_searched(
    history: list[tuple[tuple[str, str], list[MemoryRecord] | None]],
) -> None:
    shelf, told = Shelf(), dict[int, int]()
    for (folder, name), content in history:
        if content is None:
            shelf.drop(name, folder)
        else:
            shelf.put(*content, name=name, folder=folder)

    rows = shelf.connection.execute("SELECT seq, record, listed FROM listing ORDER BY seq").fetchall()

    for _, record, listed in rows:
        assert listed != told.get(record, 0)  # in, out, and in again: never twice the same
        told[record] = listed
    searchable = {row for (row,) in shelf.connection.execute("SELECT id FROM record WHERE searchable = 1")}
    assert {record for record, listed in told.items() if listed} == searchable
    assert [seq for seq, _, _ in rows] == list(range(1, len(rows) + 1))


@given(st.permutations(["a.md", "b.md", "c.md"]), st.permutations(["a.md", "b.md", "c.md"]))
def test_the_version_is_the_same_whatever_the_order(one: list[str], other: list[str]) -> None:
    seen = []
    for order in (one, other):
        shelf = Shelf()
        for name in order:
            shelf.put(a_memory(f"Of {name}.", memory_id=a_memory_id(ord(name[0]))), name=name)
        seen.append(version(shelf.connection))

    assert seen[0] == seen[1] == recomputed(shelf.connection) != version(Shelf().connection)


def test_the_version_changes_exactly_when_a_files_content_does() -> None:
    shelf, memory = Shelf(), a_memory("Stays.", memory_id=a_memory_id(1))
    shelf.put(memory, name="a.md")
    first = version(shelf.connection)

    shelf.put(memory, name="a.md")
    assert version(shelf.connection) == first
    shelf.put(a_memory("Goes.", memory_id=a_memory_id(1)), name="a.md")
    second = version(shelf.connection)
    shelf.drop("a.md")
    third = version(shelf.connection)
    shelf.put(memory, name="a.md")

    assert len({first, second, third, version(shelf.connection)}) == 4
    assert known_files(shelf.connection, 1)["a.md"].version == 3  # it went on rising
    assert third == version(Shelf().connection)


def test_the_journal_keeps_the_newest_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.tally.JOURNAL", 3)
    shelf = Shelf()
    for number in range(5):
        shelf.put(a_memory("One.", memory_id=a_memory_id(number)))

    assert shelf.connection.execute("SELECT seq FROM listing ORDER BY seq").fetchall() == [(3,), (4,), (5,)]


def test_what_was_compared_with_rows_that_are_gone_is_left_alone() -> None:
    shelf = Shelf()
    shelf.put(a_memory("One."), name="a.md")
    before = counted(shelf.connection), version(shelf.connection)
    (change,) = [FileChange("a.md", "d" * 64, "s", dropped=(7,), seen=(7,))]

    applied = apply(shelf.connection, 1, [change])

    assert applied.stale == ["a.md"]
    assert (counted(shelf.connection), version(shelf.connection)) == before


def test_one_file_on_two_branches_is_live_once_and_no_conflict() -> None:
    shelf = Shelf()
    for folder, text in (("/main", "Build with make."), ("/worktree", "Build with ninja.")):
        shelf.put_legacy(f"# Build\n{text}\n", name="CLAUDE.md", folder=folder)

    assert [hit.payload for hit in shelf.search("build make ninja")] == ["Build with make."]
    assert counted(shelf.connection)["scope"] == [(1, 4)]


def test_a_root_is_one_row_and_a_new_scope_has_its_files_read_again() -> None:
    connection = Shelf().connection
    first = ensure_root(connection, root_of(a_workspace_scope()), PLACE)
    apply(connection, first.id, [FileChange("a.md", "d", "s")])
    set_taken(connection, first.id)
    before = version(connection)

    again = ensure_root(connection, root_of(a_workspace_scope()), PLACE)
    moved = ensure_root(connection, root_of(a_user_scope()), PLACE)

    assert again.taken and again.id == first.id == moved.id and not moved.taken
    assert moved.scope == a_user_scope() and moved.says(root_of(a_user_scope()), PLACE)
    assert connection.execute("SELECT stamp, version FROM file").fetchall() == [("", 1)]
    assert version(connection) == recomputed(connection) != before
    assert ensure_root(connection, root_of(a_user_scope(), "claude-md"), PLACE).provider == "claude-md"


def test_missing_and_taken_are_states_of_the_root() -> None:
    connection = Shelf().connection
    root = ensure_root(connection, root_of(a_workspace_scope()), PLACE)
    begun = unfinished(connection)

    set_missing(connection, root.id, True)
    away = unfinished(connection)
    set_missing(connection, root.id, False)
    set_taken(connection, root.id)

    assert begun == {a_workspace_scope()} == scopes(connection) and away == unfinished(connection) == frozenset()
    found = find_root(connection, PLACE.path)
    assert found and found.taken and not found.missing and find_root(connection, "/elsewhere") is None


def test_versions_of_another_index_are_taken_over_where_the_files_say_the_same() -> None:
    shelf = Shelf()
    for name in ("a.md", "b.md"):
        shelf.put(a_memory(f"Of {name}."), name=name)
    path = shelf.connection.execute("SELECT path FROM root").fetchone()[0]
    theirs = [
        (name, digest if name == "a.md" else "other", 5) for name, digest, _ in versions(shelf.connection, path, None)
    ]

    agree(shelf.connection, path, theirs)
    agree(shelf.connection, "/elsewhere", theirs)

    assert {name: file.version for name, file in known_files(shelf.connection, 1).items()} == {"a.md": 5, "b.md": 1}
    assert version(shelf.connection) == recomputed(shelf.connection)
    assert [one[2] for one in versions(shelf.connection, path, ["a.md"])] == [5]


def test_files_that_are_looked_at_anew_have_no_stamp_and_their_records_no_mark() -> None:
    shelf = Shelf()
    for name in ("a.md", "b.md"):
        shelf.put(a_memory(memory_id=a_memory_id(ord(name[0]))), name=name)
    (path,) = (row[0] for row in shelf.connection.execute("SELECT path FROM root"))

    def left() -> list[tuple[str, str, str]]:
        return shelf.connection.execute(
            "SELECT relative, stamp, mark FROM file f JOIN record r ON r.file = f.id ORDER BY relative"
        ).fetchall()

    look_anew(shelf.connection, path, {"a.md"})
    assert [bool(stamp or mark) for _, stamp, mark in left()] == [False, True]
    look_anew(shelf.connection, "/another", None)
    look_anew(shelf.connection, path, None)
    assert [bool(stamp or mark) for _, stamp, mark in left()] == [False, False]
