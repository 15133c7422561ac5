"""Records enter and leave one transaction at a time; rows are never used again."""

import sqlite3

import pytest

from recall.contracts import Flag, MemoryRecord, Status
from recall.entries import Place, Root, entry
from recall.indexing import ensure_root
from recall.tally import Listings, Tally, token
from tests.support.builders import a_memory, a_memory_id
from tests.support.shelf import Shelf


@pytest.fixture
def connection() -> sqlite3.Connection:
    """Two roots with a file each, rows 1 and 2 of `file`."""
    connection = Shelf().connection
    for number in (1, 2):
        root = Root(path=f"/{number}", scope=a_memory().scope, origin=a_memory().origin)
        ensure_root(connection, root, Place(path=root.path, folder=root.path))
        connection.execute(
            "INSERT INTO file (root, relative, digest, version, stamp, present) VALUES (?, 'a.md', 'd', 1, 's', 1)",
            (number,),
        )
    return connection


def add(connection: sqlite3.Connection, *memories: MemoryRecord, root: int = 1, digest: str = "d") -> Listings:
    tally = Tally(connection, root)
    tally.add(root, [entry(memory, digest, (1, 1, 0, 1)) for memory in memories])
    return tally.settle()


def drop(connection: sqlite3.Connection, *rows: int) -> Listings:
    tally = Tally(connection, 1)
    tally.drop(rows)
    return tally.settle()


def standings(connection: sqlite3.Connection) -> list[tuple[int, str, int]]:
    return connection.execute("SELECT id, standing, searchable FROM record ORDER BY id").fetchall()


def test_a_record_is_listed_when_it_comes_and_unlisted_when_it_goes(connection: sqlite3.Connection) -> None:
    one, two = (a_memory(memory_id=a_memory_id(n)) for n in (1, 2))

    assert add(connection, one, two) == Listings([1, 2], [])
    assert drop(connection, 2) == Listings([], [2])
    assert add(connection, two) == Listings([3], [])  # a row of its own
    assert connection.execute("SELECT record, listed FROM listing").fetchall() == [(1, 1), (2, 1), (2, 0), (3, 1)]


def test_the_same_record_in_two_roots_is_live_once(connection: sqlite3.Connection) -> None:
    add(connection, a_memory(), root=2)
    assert add(connection, a_memory(), root=1) == Listings([2], [1])  # the root that was met first counts
    assert standings(connection) == [(1, "copy", 0), (2, "live", 1)]

    assert drop(connection, 2) == Listings([1], [2])


def test_one_id_that_says_two_things_is_nobodys(connection: sqlite3.Connection) -> None:
    add(connection, a_memory("One."))
    assert add(connection, a_memory("Two."), root=2, digest="e") == Listings([], [1])
    assert [standing for _, standing, _ in standings(connection)] == ["conflict", "conflict"]

    assert drop(connection, 1) == Listings([2], [1]) or standings(connection) == [(2, "live", 1)]


def test_one_file_on_two_branches_is_live_in_the_worktree_that_was_met_first(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE root SET origin = 'imported'")
    add(connection, a_memory("One."))
    assert add(connection, a_memory("Two."), root=2, digest="e") == Listings([], [])
    assert standings(connection) == [(1, "live", 1), (2, "copy", 0)]

    assert drop(connection, 1) == Listings([2], [1])


def test_two_files_of_a_repository_that_claim_one_id_are_nobodys(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE root SET origin = 'imported'")
    connection.execute("UPDATE file SET relative = 'b.md' WHERE id = 2")
    add(connection, a_memory("One."))
    add(connection, a_memory("Two."), root=2, digest="e")

    assert [standing for _, standing, _ in standings(connection)] == ["conflict", "conflict"]


def test_an_id_twice_in_one_root_is_nobodys(connection: sqlite3.Connection) -> None:
    assert add(connection, a_memory(), a_memory()) == Listings([], [])
    assert [standing for _, standing, _ in standings(connection)] == ["conflict", "conflict"]


def test_terms_belong_to_their_scope() -> None:
    assert token(7, "term") == "7~term"


# ------------------------------------------------------------------------------- versions of an entry in two worktrees


def two_worktrees(connection: sqlite3.Connection, origin: str = "imported") -> None:
    connection.execute("UPDATE root SET origin = ?, top = '/top'", (origin,))
    connection.execute("UPDATE file SET relative = 'entries/' || CASE id WHEN 1 THEN 'a.md' ELSE 'renamed.md' END")


@pytest.mark.promise("team-injectable")
@pytest.mark.parametrize("origin", ["imported", "reviewed"])
def test_one_entry_in_two_worktrees_is_no_conflict_though_a_branch_renamed_it(
    connection: sqlite3.Connection, origin: str
) -> None:
    two_worktrees(connection, origin)
    add(connection, a_memory("One."))
    add(connection, a_memory("Two."), root=2, digest="e")

    assert standings(connection) == [(1, "live", 1), (2, "copy", 0)]


@pytest.mark.promise("team-11")
def test_an_entry_that_one_branch_took_back_is_found_in_no_worktree(connection: sqlite3.Connection) -> None:
    """Its successor is seen from both."""
    two_worktrees(connection)
    add(connection, a_memory("One."))
    taken_back = a_memory("One.", status=Status.DEPRECATED, superseded_by=a_memory_id(9))
    assert add(connection, taken_back, root=2, digest="e") == Listings([], [1])
    assert standings(connection) == [(1, "copy", 0), (2, "live", 0)]

    assert drop(connection, 2) == Listings([1], [])  # that worktree is on another branch now


def test_a_poisoned_version_on_one_branch_takes_nothing_from_the_others(connection: sqlite3.Connection) -> None:
    two_worktrees(connection)
    add(connection, a_memory("One.", flags=(Flag.QUARANTINED,)))
    assert add(connection, a_memory("Two."), root=2, digest="e") == Listings([2], [])
    assert standings(connection) == [(1, "copy", 0), (2, "live", 1)]


def test_an_entry_twice_in_one_worktree_is_nobodys(connection: sqlite3.Connection) -> None:
    two_worktrees(connection)
    connection.execute("UPDATE file SET root = 1")
    add(connection, a_memory("One."))
    tally = Tally(connection, 1)
    tally.add(2, [entry(a_memory("Two."), "e", (1, 1, 0, 1))])
    tally.settle()

    assert [standing for _, standing, _ in standings(connection)] == ["conflict", "conflict"]
