"""Jobs in their table, and the ranges that wait."""

import sqlite3
from collections.abc import Iterator

import pytest

from governance.formation import jobs as policy
from governance.formation.contracts import JobState, Pipeline, Trigger
from governance.formation.errors import StateFault
from governance.formation.store import jobs
from governance.migrations import queue_steps
from tests.governance.formation.test_jobs import NOW, a_job


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None)
    for script in queue_steps():
        made.executescript(script)
    yield made
    made.close()


def formed(connection: sqlite3.Connection, session_id: str, through: int) -> None:
    connection.execute("INSERT OR REPLACE INTO cursor VALUES ('checkpoint', ?, ?, ?)", (session_id, through, NOW))


def test_a_job_comes_back_as_it_was_put(connection: sqlite3.Connection) -> None:
    job = a_job(waits=1, owner="run_1", reason="timeout", not_before=NOW)

    assert jobs.put(connection, job) == job
    assert jobs.of(connection, job.job_id) == job
    assert jobs.of(connection, "job_none") is None


def test_a_boundary_that_is_told_again_makes_no_second_job_and_changes_none(connection: sqlite3.Connection) -> None:
    job = jobs.put(connection, a_job())
    jobs.save(connection, policy.ended(job, [], NOW))

    assert jobs.put(connection, a_job()).state is JobState.DONE
    assert len(jobs.in_states(connection, JobState)) == 1


def test_a_session_has_one_waiting_job_which_moves_forward(connection: sqlite3.Connection) -> None:
    jobs.put(connection, a_job(1, boundary_seq=10))

    moved = jobs.put(connection, a_job(2, session_id="s-1", boundary_seq=25, trigger=Trigger.COMPACT))

    assert (moved.job_id, moved.boundary_seq) == ("job_1", 25)
    assert [one.boundary_seq for one in jobs.in_states(connection, [JobState.QUEUED])] == [25]


def test_one_that_runs_is_left_alone_and_another_waits_behind_it(connection: sqlite3.Connection) -> None:
    first = jobs.put(connection, a_job(1))
    jobs.change(connection, first, JobState.QUEUED, lambda job: policy.begun(job, "run_1", NOW))

    jobs.put(connection, a_job(2, session_id="s-1", boundary_seq=25))

    assert [one.state for one in jobs.in_states(connection, JobState)] == [JobState.RUNNING, JobState.QUEUED]


def test_a_change_is_only_made_from_the_expected_state(connection: sqlite3.Connection) -> None:
    job = jobs.put(connection, a_job())

    assert jobs.change(connection, job, JobState.RUNNING, lambda one: policy.again(one, NOW)) is None
    assert jobs.change(connection, job, JobState.QUEUED, lambda one: policy.begun(one, "run_1", NOW)) is not None
    assert jobs.change(connection, job, JobState.QUEUED, lambda one: policy.begun(one, "run_2", NOW)) is None


def test_a_range_waits_while_its_boundary_lies_beyond_the_cursor(connection: sqlite3.Connection) -> None:
    job = jobs.put(connection, a_job(boundary_seq=10))
    jobs.save(connection, policy.ended(job, [], NOW))

    (waits,) = jobs.waiting(connection)
    assert (waits.session_id, waits.from_seq, waits.through_seq, waits.state) == ("s-1", 0, 10, JobState.DONE)

    formed(connection, "s-1", 4)
    assert [one.from_seq for one in jobs.waiting(connection, (), "ws_1")] == [5]
    assert jobs.waiting(connection, (), "ws_2") == ()
    assert jobs.processed(connection, Pipeline.CHECKPOINT, "s-1") == 4

    formed(connection, "s-1", 10)
    assert jobs.waiting(connection) == ()


def test_a_range_in_which_nothing_was_said_waits_for_nobody(connection: sqlite3.Connection) -> None:
    jobs.put(connection, a_job(1, state=JobState.DONE, reason=policy.EMPTY))
    jobs.put(connection, a_job(2, state=JobState.DONE, reason=policy.NO_DRIVER))

    assert [one.reason for one in jobs.waiting(connection)] == [policy.NO_DRIVER]
    assert jobs.waiting(connection, [policy.NO_DRIVER]) == ()


def test_a_row_that_cannot_be_read_is_corrupt_and_not_absent(connection: sqlite3.Connection) -> None:
    jobs.put(connection, a_job())
    connection.execute("UPDATE job SET state = 'sleeping'")

    with pytest.raises(StateFault) as raised:
        jobs.of(connection, "job_1")

    assert raised.value.code == "state-corrupt"


def test_a_failed_job_is_over_when_a_later_one_has_formed_its_range(connection: sqlite3.Connection) -> None:
    jobs.put(connection, a_job(1, state=JobState.FAILED, reason=policy.POISON))
    jobs.put(connection, a_job(2, state=JobState.FAILED, reason=policy.POISON))
    formed(connection, "s-1", 9)
    assert jobs.passed(connection) == 0

    formed(connection, "s-1", 10)
    assert jobs.passed(connection) == 1

    assert [one.job_id for one in jobs.in_states(connection, [JobState.FAILED])] == ["job_2"]
