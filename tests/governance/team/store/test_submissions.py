"""Stage records."""

import pytest

from governance.migrations import queue_steps
from governance.team.errors import Kind, TeamFault
from governance.team.store import submissions
from governance.team.store.submissions import Stage, StageState
from tests.support.fakes import FakeDatabase

PATH = (StageState.ADJUDICATING, StageState.AWAITING, StageState.DECIDING, StageState.COMPLETE)


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def get(connection):
    found = submissions.get(connection, "t", Stage.DRAFT)
    assert found is not None
    return found


def test_a_record_goes_its_way_once(connection):
    assert submissions.get(connection, "t", Stage.DRAFT) is None
    submissions.begin(connection, "t", Stage.DRAFT, "d", 1)
    for at, state in enumerate(PATH, start=2):
        before = get(connection)
        after = submissions.move(connection, before, state, f"outcome {at}", at)
        assert (after.state, after.outcome, after.at, after.changed_at) == (state, f"outcome {at}", 1, at)
        with pytest.raises(TeamFault):
            submissions.move(connection, before, state, "", at)
    with pytest.raises(TeamFault):
        submissions.move(connection, get(connection), StageState.ADJUDICATING, "", 9)
    assert submissions.get(connection, "t", Stage.SKILL) is None


def test_another_document_may_come_while_nothing_was_taken_in_and_not_after(connection):
    submissions.begin(connection, "t", Stage.DRAFT, "one", 1)
    submissions.begin(connection, "t", Stage.DRAFT, "one", 2)
    assert get(connection).at == 1
    assert submissions.met(connection, "t", Stage.DRAFT, "two") is None
    submissions.begin(connection, "t", Stage.DRAFT, "two", 3)
    assert get(connection).document_digest == "two"
    submissions.move(connection, get(connection), StageState.COMPLETE, "", 4)
    assert submissions.met(connection, "t", Stage.DRAFT, "two") == get(connection)
    for late in (submissions.met, lambda *given: submissions.begin(*given, 5)):
        with pytest.raises(TeamFault) as fault:
            late(connection, "t", Stage.DRAFT, "one")
        assert fault.value.kind is Kind.SUBMISSION_CONFLICT


def test_conflicts_are_counted_once_a_document(connection):
    for digest in ("x", "x", "y"):
        submissions.conflict(connection, "t", Stage.DRAFT, digest, 1)
    assert submissions.conflicts(connection, "t") == 2
    assert submissions.conflicts(connection, "u") == 0
    submissions.begin(connection, "t", Stage.DRAFT, "one", 1)
    submissions.forget(connection, "t", Stage.DRAFT)
    assert submissions.get(connection, "t", Stage.DRAFT) is None
