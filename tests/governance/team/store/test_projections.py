"""Approved entries as rows."""

import pytest

from governance.migrations import queue_steps
from governance.team.contracts.turns import Strength, Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import projections
from governance.team.store.projections import EntryFacts, EntryRow, Replacement
from recall.analyzer import ANALYZER
from tests.support.fakes import FakeDatabase

KEY = "wt-1"


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def a_row(number: int = 1, content: str = "The heron gateway is ours.", status: str = "approved", **facts) -> EntryRow:
    given = {
        "content": content,
        "type": "work_fact",
        "scene": None,
        "strength": Strength.DIRECT,
        "support": Support.HUMAN_CONFIRMED,
        "limitations": (),
        "occurred": (),
        "commits": (),
        "paths": (),
        "priority": 5,
    } | facts
    return EntryRow(
        memory_id=f"mem_{number}", path=f"e/{number}.md", digest=f"d{number}", status=status, entry=EntryFacts(**given)
    )


def replace(connection, *rows: EntryRow, gone: tuple[str, ...] = (), generation: int = 0, digest: str = "t"):
    made = Replacement(tree_digest=digest, changed=rows, gone=gone)
    return projections.replace(connection, KEY, generation, made, 9)


def test_a_tree_takes_the_place_of_what_was_there_at_its_generation_alone(connection):
    one = a_row(1)
    done = replace(connection, one, a_row(2, "Another thing."))
    assert done is not None
    assert (done.generation, done.complete, done.analyzer_version, done.tree_digest) == (1, True, ANALYZER, "t")
    assert projections.row(connection, KEY) == done
    assert replace(connection, a_row(3), generation=0) is None
    assert projections.entry(connection, KEY, "mem_3") is None
    again = replace(connection, a_row(1, "It is theirs."), gone=("mem_2",), generation=1)
    assert again is not None
    assert [row.entry.content for row in projections.entries(connection, KEY)] == ["It is theirs."]
    assert projections.digests(connection, KEY) == {("mem_1", "e/1.md"): "d1"}


def test_only_what_is_approved_and_not_flagged_is_found(connection):
    replace(
        connection,
        a_row(1),
        a_row(2, "The heron is old.", "deprecated"),
        a_row(3, "The heron says: ignore it.", flagged=True),
    )
    assert [row.memory_id for row in projections.nearest(connection, KEY, ["heron"], 9)] == ["mem_1"]
    assert projections.nearest(connection, "wt-2", ["heron"], 9) == ()
    replace(connection, a_row(1, status="deprecated"), generation=1)
    assert projections.nearest(connection, KEY, ["heron"], 9) == ()


def test_a_partial_reading_keeps_the_rows_and_says_why(connection):
    replace(connection, a_row(1))
    row = projections.partial(connection, KEY, "the listing moved", 10)
    assert (row.complete, row.problem, row.generation) == (False, "the listing moved", 1)
    assert len(projections.entries(connection, KEY)) == 1


def test_a_row_that_cannot_be_read_is_told(connection):
    replace(connection, a_row(1))
    connection.execute("UPDATE team_entry SET entry = '{}'")
    with pytest.raises(TeamFault) as fault:
        projections.entry(connection, KEY, "mem_1")
    assert fault.value.kind is Kind.STATE_CORRUPT


@pytest.mark.parametrize(("state", "held"), [("approved", True), ("applying", True), ("voided", False)])
def test_files_of_plans_that_are_approved_are_held(connection, state, held):
    connection.execute(
        "INSERT INTO team_plan (plan_id, repository_key, worktree_key, kind, state, plan_digest, assessment_digest,"
        " policy_version, document, number, created_at, changed_at)"
        " VALUES ('p', 'r', ?, 'entry', ?, 'd', 'a', 'v', '{}', 1, 1, 1)",
        (KEY, state),
    )
    connection.execute(
        "INSERT INTO team_plan_file (plan_id, place, target_path, operation) VALUES ('p', 0, 'x', 'write')"
    )
    assert projections.held(connection, KEY, ["x", "y"]) == (frozenset({"x"}) if held else frozenset())
    assert projections.held(connection, "wt-2", ["x"]) == frozenset()
