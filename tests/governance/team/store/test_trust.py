"""What a person answered about a repository, and what we wrote there: by repository, and by every byte."""

import sqlite3

import pytest

from governance.migrations import queue_steps
from governance.team.contracts.base import Bound, Directory, Owner, RepositoryBinding
from governance.team.store import bindings
from governance.team.store.trust import Known, Receipt, Trusted, has_receipt, known, receipt, set_trust, trust_of
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

DIGEST = "d" * 64


@pytest.fixture
def connection() -> sqlite3.Connection:
    return FakeDatabase(queue_steps()).connection


def bind(connection: sqlite3.Connection, repository: str, tree: str, workspace: str, at: int = START) -> None:
    owner = Owner(repository_key=repository, worktree_key=tree)
    binding = RepositoryBinding(
        format="remora-pre-repository-binding@v1",
        repository_key=repository,
        worktree_key=tree,
        public_repository_identity=None,
        root_realpath_digest=tree,
        common_directory_identity=Directory(device="1", inode="2"),
        memory_root=".remora-pre/memory",
    )
    bound = Bound(owner=owner, binding=binding, root=f"/{tree}", workspace_key=workspace)
    bindings.put(connection, bound, at)


def test_the_last_answer_counts_and_before_it_nobody_was_asked(connection: sqlite3.Connection) -> None:
    assert trust_of(connection, "r1") is None
    for said in (True, False):
        set_trust(connection, "r1", Trusted(trusted=said, via="terminal", at=START))
        assert trust_of(connection, "r1") == Trusted(trusted=said, via="terminal", at=START)
    assert trust_of(connection, "r2") is None


def test_a_receipt_is_of_one_repository_and_its_exact_bytes(connection: sqlite3.Connection) -> None:
    written = Receipt(repository_key="r1", memory_id="mem_1", digest=DIGEST, plan_id="plan-1")
    for _ in range(2):
        receipt(connection, written, START)

    assert has_receipt(connection, "r1", DIGEST)
    assert not has_receipt(connection, "r2", DIGEST) and not has_receipt(connection, "r1", "e" * 64)
    assert connection.execute("SELECT count(*) FROM team_receipt").fetchone() == (1,)
    assert has_receipt(connection, "r1", DIGEST, "mem_1") and not has_receipt(connection, "r1", DIGEST, "mem_2")


def test_recall_knows_repositories_by_the_names_that_it_has_for_them(connection: sqlite3.Connection) -> None:
    bind(connection, "r1", "t1", "ws_1")
    bind(connection, "r1", "t2", "ws_1")
    bind(connection, "r2", "t3", "ws_2")
    set_trust(connection, "r1", Trusted(trusted=True, via="terminal", at=START))
    set_trust(connection, "r2", Trusted(trusted=False, via="terminal", at=START))
    set_trust(connection, "r9", Trusted(trusted=True, via="terminal", at=START))  # it was moved: nobody's any more
    receipt(connection, Receipt(repository_key="r2", memory_id="mem_1", digest=DIGEST, plan_id="p"), START)

    assert known(connection) == Known(
        trusted={"ws_1": True, "ws_2": False},
        receipts=frozenset({("ws_2", DIGEST)}),
        directories=frozenset({("ws_1", "2"), ("ws_2", "2")}),
    )


def test_one_that_was_moved_is_asked_about_anew_and_keeps_its_receipts(connection: sqlite3.Connection) -> None:
    bind(connection, "before", "t1", "ws_1")
    set_trust(connection, "before", Trusted(trusted=True, via="terminal", at=START))
    receipt(connection, Receipt(repository_key="before", memory_id="mem_1", digest=DIGEST, plan_id="p"), START)
    bind(connection, "after", "t2", "ws_1", START + 1)

    found = known(connection)
    assert (found.trusted, found.receipts) == ({}, frozenset({("ws_1", DIGEST)}))
    set_trust(connection, "after", Trusted(trusted=True, via="terminal", at=START))
    assert known(connection).trusted == {"ws_1": True}


def test_a_binding_that_cannot_be_read_keeps_nothing_else_up(connection: sqlite3.Connection) -> None:
    bind(connection, "r1", "t1", "ws_1")
    set_trust(connection, "r1", Trusted(trusted=True, via="terminal", at=START))
    connection.execute("UPDATE team_binding SET document = '{'")

    assert known(connection).trusted == {"ws_1": True}
