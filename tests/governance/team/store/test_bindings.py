"""What was bound, and what this installation drew once."""

import sqlite3

import msgspec
import pytest

from governance.migrations import queue_steps
from governance.team.errors import Kind, TeamFault
from governance.team.store import bindings, trust
from governance.team.store.bindings import Installation
from governance.team.store.trust import Receipt, Trusted
from tests.support.clock import START
from tests.support.fakes import FakeDatabase
from tests.support.team_recall import INSTALLATION, a_bound

OTHER = Installation(secret=b"o" * 32, uuid="db-two")


@pytest.fixture
def connection() -> sqlite3.Connection:
    return FakeDatabase(queue_steps()).connection


def fault(act) -> Kind:  # type: ignore[no-untyped-def]
    with pytest.raises(TeamFault) as found:
        act()
    return found.value.kind


def test_a_secret_is_drawn_once(connection: sqlite3.Connection) -> None:
    assert bindings.installation(connection, INSTALLATION) == INSTALLATION
    assert bindings.installation(connection, OTHER) == INSTALLATION
    assert bindings.installed(connection) == INSTALLATION


def test_before_it_is_drawn_there_is_none(connection: sqlite3.Connection) -> None:
    assert fault(lambda: bindings.installed(connection)) is Kind.STATE_NOT_OPEN


def test_a_secret_of_another_length_is_no_secret(connection: sqlite3.Connection) -> None:
    with pytest.raises(ValueError, match="31 bytes"):
        bindings.installation(connection, Installation(secret=b"s" * 31, uuid="db-one"))
    bindings.installation(connection, INSTALLATION)
    connection.execute("UPDATE team_secret SET value = x'00' WHERE name = 'names'")
    assert fault(lambda: bindings.installation(connection, OTHER)) is Kind.STATE_CORRUPT


def test_a_worktree_is_found_as_it_was_bound_last(connection: sqlite3.Connection) -> None:
    bound = a_bound()
    assert fault(lambda: bindings.needed(connection, bound.owner.worktree_key)) is Kind.BINDING_NOT_FOUND
    bindings.put(connection, bound, START)
    moved = msgspec.structs.replace(bound, workspace_key="ws_" + "b" * 32)
    bindings.put(connection, moved, START + 5)
    assert bindings.needed(connection, bound.owner.worktree_key) == moved
    row = connection.execute("SELECT bound_at, seen_at FROM team_binding").fetchall()
    assert row == [(START, START + 5)]


def test_every_worktree_that_was_bound_is_known(connection: sqlite3.Connection) -> None:
    top, tree, other = a_bound(), a_bound("/tree", "/project/.git"), a_bound("/else")
    for bound in (top, tree, other):
        bindings.put(connection, bound, START)
    assert set(bindings.all_bound(connection)) == {top, tree, other}


def test_a_binding_that_cannot_be_read_is_corrupt(connection: sqlite3.Connection) -> None:
    bindings.put(connection, a_bound(), START)
    connection.execute("UPDATE team_binding SET document = '{}'")
    assert fault(lambda: bindings.all_bound(connection)) is Kind.STATE_CORRUPT


def test_the_worktree_that_was_bound_last_is_found_and_what_was_said_can_be_forgotten(
    connection: sqlite3.Connection,
) -> None:
    top, tree, other = a_bound(), a_bound("/tree", "/project/.git"), a_bound("/else")
    key = top.owner.repository_key
    assert bindings.latest(connection, key) is None
    for at, bound in enumerate((tree, top, other)):
        bindings.put(connection, bound, START + at)
        named = bound.owner.repository_key
        trust.set_trust(connection, named, Trusted(trusted=True, via="terminal", at=START))
        made = Receipt(repository_key=named, memory_id="mem_1", digest="d" * 64, plan_id="plan-1")
        trust.receipt(connection, made, START)
    assert bindings.latest(connection, key) == top
    bindings.forget_trust(connection, key)
    assert trust.trust_of(connection, key) is None
    assert not trust.has_receipt(connection, key, "d" * 64)
    assert trust.trust_of(connection, other.owner.repository_key) is not None
    assert trust.has_receipt(connection, other.owner.repository_key, "d" * 64)
